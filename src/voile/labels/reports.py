"""A released file read as reports of known law: what estimates and learners work with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.core.channel import Channel
from voile.errors import BadFile, InvalidInput
from voile.files.rows import RowProblem
from voile.files.source import Source
from voile.labels.columns import Column, NumberColumn
from voile.labels.protection import Protection
from voile.labels.recipes import Recipe
from voile.labels.sampling import COLUMN, REPORT, grouped_codes
from voile.labels.values import MISSING, numbers_of, shown

if TYPE_CHECKING:
    from voile.estimate.marginal_bayes import MarginalBayes


@dataclass(frozen=True, eq=False)
class View:
    """One kind of report: of a feature (or a cell of features) together with the label.

    `law` is K[code·classes + class, output], `outputs` what was reported, `names` the codes' names,
    `known` how many public records had each code with each class, where the recipe says that.
    """

    name: str
    names: tuple[str, ...]
    values: Floats | None
    law: Floats
    outputs: Indices
    known: Floats | None = None

    @property
    def counts(self) -> Indices:
        """How often each output was reported."""
        return np.bincount(self.outputs, minlength=self.law.shape[1])


@dataclass(frozen=True, eq=False)
class Reports:
    """A release as reports: its views, and the released labels where they stand by themselves."""

    recipe: Recipe
    protection: Protection
    records: int
    views: tuple[View, ...]
    labels: Indices | None
    """Positions among the outputs of the label's channel; none where a report is joint."""

    @property
    def epsilon(self) -> float:
        """That of the law by which it is read."""
        return self.protection.strongest().epsilon

    def label_channel(self) -> Channel | None:
        """The channel of the label, where it has one of its own."""
        return None if self.labels is None else self.protection.channels[-1]

    def codes(self, values: tuple[NDArray[Any], ...]) -> Indices:
        """Clean records as codes of the views, a column a view."""
        recipe = self.recipe
        if self.protection.sampler is not None:
            return grouped_codes(recipe, values)
        if recipe.cells is not None and self.protection.typical:
            return recipe.cells.of(recipe.columns, values)[:, None]
        parts = [column.encode(part) for column, part in zip(recipe.columns, values, strict=True)]
        return np.stack(parts, axis=1)


def read_reports(source: Source, recipe: Recipe, protection: Protection) -> Reports:
    """The reports in a released file; refused if it cannot be a release by this recipe.

    Of typical records (cf) some columns may have been left out: the others are read.
    """
    wanted = _columns_of(recipe, protection)
    if protection.typical:
        wanted = [name for name in wanted if name == recipe.label or name in source.columns]
    absent = [name for name in wanted if name not in source.columns]
    if absent:
        raise InvalidInput(
            f"the file must be a release by this recipe and mechanism, and {len(absent)} of its "
            f"{len(wanted)} columns are missing"
        )
    kept: dict[str, list[Any]] = {name: [] for name in wanted}
    for line, row in source.rows():
        if isinstance(row, RowProblem):
            raise InvalidInput(f"{source.where(line)}: {row.reason}; a release has no such rows")
        for name in wanted:
            kept[name].append(row.get(name))
    if not kept[wanted[0]]:
        raise InvalidInput("the file must hold at least one released record, got none")
    if protection.sampler is not None:
        return _sampled(recipe, protection, kept)
    labels = _label_positions(recipe, protection.channels[-1], kept[recipe.label])
    if protection.passes_features:
        return Reports(recipe, protection, len(labels), (), labels)
    there = [at for at, column in enumerate(recipe.columns) if column.name in kept]
    parts = [_positions(recipe.columns[at], kept[recipe.columns[at].name]) for at in there]
    views = drawn_views(recipe, protection, parts, labels, there) if parts else ()
    return Reports(recipe, protection, len(labels), views, labels)


def _columns_of(recipe: Recipe, protection: Protection) -> list[str]:
    if protection.sampler is not None:
        return [COLUMN, REPORT]
    features = [] if protection.passes_features else [column.name for column in recipe.columns]
    return [recipe.label, *features]


def _sampled(recipe: Recipe, protection: Protection, kept: dict[str, list[Any]]) -> Reports:
    assert protection.sampler is not None
    column, report = (_whole(kept[name]) for name in (COLUMN, REPORT))
    channels = protection.channels
    sizes = np.array([len(channel.outputs) for channel in channels])
    fits = (column >= 1) & (column <= len(channels)) & (report >= 0)
    fits &= report < sizes[np.clip(column - 1, 0, len(channels) - 1)]
    if not fits.all():
        raise _stranger(int((~fits).sum()), len(fits))
    views = sampled_views(recipe, protection, column - 1, report)
    return Reports(recipe, protection, len(column), views, None)


def sampled_views(
    recipe: Recipe, protection: Protection, column: Indices, report: Indices
) -> tuple[View, ...]:
    """Reports of one column with the label: a view a column."""
    return tuple(
        View(
            one.name,
            _group_names(one, groups),
            _group_values(one, groups),
            channel.probabilities(),
            report[column == j],
            _group_counts(recipe, j),
        )
        for j, (one, groups, channel) in enumerate(
            zip(recipe.columns, recipe.groups, protection.channels, strict=True)
        )
    )


def drawn_views(
    recipe: Recipe,
    protection: Protection,
    parts: list[Indices],
    labels: Indices,
    there: Sequence[int] | None = None,
) -> tuple[View, ...]:
    """Released records as codes, and released labels: what each column, or the cell, tells.

    Of typical records the columns that are `there`; all unless said.
    """
    if protection.typical:
        every = range(len(recipe.columns)) if there is None else there
        return _cell_view(recipe, protection, parts, labels, every)
    return _column_views(recipe, protection, parts, labels)


def tables_model(views: Sequence[View], classes: int) -> MarginalBayes:
    """Naive Bayes on tables of feature and label, from reports and what the recipe says of them."""
    from voile.estimate.marginal_bayes import MarginalBayes, ReportLaw

    rows = [np.stack([np.full(len(v.outputs), j), v.outputs], 1) for j, v in enumerate(views)]
    model = MarginalBayes([ReportLaw(view.law, classes, view.known) for view in views])
    return model.fit(np.concatenate(rows))


def _column_views(
    recipe: Recipe, protection: Protection, parts: list[Indices], labels: Indices
) -> tuple[View, ...]:
    """Local DP: each column with the label, both drawn independently given the record."""
    response = protection.channels[-1]
    return tuple(
        View(
            column.name,
            _code_names(column),
            _levels(column),
            np.asarray(np.kron(channel.probabilities(), response.probabilities()), np.float64),
            part * len(response.outputs) + labels,
        )
        for column, channel, part in zip(recipe.columns, protection.channels, parts, strict=False)
    )


def _cell_view(
    recipe: Recipe,
    protection: Protection,
    parts: list[Indices],
    labels: Indices,
    there: Sequence[int],
) -> tuple[View, ...]:
    """Label DP-CF: the cell with the label; cells of one typical record are one output."""
    cells, response = protection.channels
    assert recipe.cells is not None
    typical = np.array(recipe.cells.typical, dtype=np.intp)[:, list(there)]
    different, merged = np.unique(typical, axis=0, return_inverse=True)
    law = np.zeros((len(typical), len(different)))
    np.add.at(law.T, merged.ravel(), cells.probabilities().T)
    places = {tuple(row): i for i, row in enumerate(different.tolist())}
    rows = np.stack(parts, axis=1)
    found = np.array([places.get(tuple(row), -1) for row in rows.tolist()], dtype=np.intp)
    if (found < 0).any():
        raise _stranger(int((found < 0).sum()), len(found))
    names = tuple(f"cell {i + 1}" for i in range(len(typical)))
    table = np.asarray(np.kron(law, response.probabilities()), np.float64)
    outputs = found * len(response.outputs) + labels
    counts = None if recipe.learned else recipe.cells.known()
    return (View("cell", names, None, table, outputs, counts),)


def _positions(column: Column, values: Sequence[Any]) -> Indices:
    """Released values as codes; each must be one that the recipe can show."""
    read = column.read(values)
    codes = column.encode(read)
    back = column.decode(codes)
    same = (read == back) | ((read != read) & (back != back))
    if not same.all():
        raise _stranger(int((~same).sum()), len(same))
    return codes


def _label_positions(recipe: Recipe, channel: Channel, values: Sequence[Any]) -> Indices:
    codes = recipe.label_codes(values)
    if recipe.edges:  # of all numbers in a bin one alone is released
        told, shown_as = numbers_of(list(values)), numbers_of(recipe.classes)
        gone = np.array([name == MISSING for name in recipe.classes])
        codes = np.where((told == shown_as[codes]) | gone[codes], codes, -1)
    names = {name: i for i, name in enumerate(channel.outputs.tolist())}
    classes = [names.get(name, -1) for name in recipe.classes]
    found = np.where(codes >= 0, np.array(classes, dtype=np.intp)[codes], -1)
    if (found < 0).any():
        raise _stranger(int((found < 0).sum()), len(found))
    return found.astype(np.intp)


def _whole(values: Sequence[Any]) -> Indices:
    try:
        numbers = np.array(list(map(float, values)))
    except (TypeError, ValueError):
        raise _stranger(1, len(values), "at least ") from None
    if not (np.isfinite(numbers) & (numbers == np.floor(numbers))).all():
        raise _stranger(1, len(values), "at least ")
    return numbers.astype(np.intp)


def _stranger(count: int, rows: int, about: str = "") -> BadFile:
    return BadFile(
        "every row must be one that this recipe, mechanism and epsilon can release, "
        f"{about}{count} of {rows} are not; give the recipe that lies beside the release, and "
        "its options"
    )


def _levels(column: Column) -> Floats | None:
    """The numbers that codes stand for; none for names, or if something may be missing."""
    if not isinstance(column, NumberColumn) or column.missing:
        return None
    return np.array(column.levels)


def _code_names(column: Column) -> tuple[str, ...]:
    """What each code of a column is called."""
    return tuple(
        shown(value) or MISSING for value in column.decode(np.arange(len(column))).tolist()
    )


def _group_names(column: Column, groups: Sequence[int]) -> tuple[str, ...]:
    """What a group of codes is called: a range of levels, or its categories."""
    names = _code_names(column)
    found = []
    for group in range(max(groups) + 1):
        members = [name for name, at in zip(names, groups, strict=True) if at == group]
        many = isinstance(column, NumberColumn) and len(members) > 2
        found.append(f"{members[0]} … {members[-1]}" if many else " | ".join(members))
    return tuple(found)


def _group_values(column: Column, groups: Sequence[int]) -> Floats | None:
    """The middle of each group of levels; none if something may be missing."""
    levels, at = _levels(column), np.array(groups)
    if levels is None:
        return None
    return np.array([levels[at == group].mean() for group in range(max(groups) + 1)])


def _group_counts(recipe: Recipe, at: int) -> Floats | None:
    """How many public records of each class fell into each group of a column; none if unknown."""
    if recipe.learned or not recipe.known or recipe.known[at].shape[1] != len(recipe.classes):
        return None
    return np.eye(max(recipe.groups[at]) + 1)[:, recipe.groups[at]] @ recipe.known[at]
