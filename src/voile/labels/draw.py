"""Releasing a batch of labelled records: read, charge, draw, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Indices
from voile.core.randomness import Generator
from voile.errors import InvalidInput
from voile.files.arrow_columns import ArrowColumn
from voile.files.formats import format_of
from voile.files.tables.values import FrameColumn
from voile.jobs import (
    Batch,
    ColumnsInClear,
    Planned,
    Replaced,
    RowProblem,
    Source,
    Telling,
)
from voile.labels.columns import OTHER, Column, NumberColumn
from voile.labels.law import Law
from voile.labels.protection import Columns, Protection
from voile.labels.recipe_file import recipe_from
from voile.labels.recipes import Recipe
from voile.labels.sampling import COLUMN, REPORT
from voile.labels.values import ABSENT, MISSING, shown, written
from voile.ledger import Bill
from voile.ledger.amounts import Bools
from voile.ledger.people import person_name


@dataclass(frozen=True, eq=False)
class LabelReleaser:
    """Releases a batch: the label, and with cf and ldp the recipe's columns; the rest passes as is.

    No record is left out or emptied for what it holds, since that would tell it: with `masking`
    every value has a code, without it a value that has none stops the job. It always does for cf,
    whose bound speaks of records that the recipe's population may have. Nor is a record of nobody:
    who is named and who is not may hang together with the label.
    """

    law: Law
    clear: ColumnsInClear
    kinds: Mapping[str, type]
    masking: bool
    person: str | None = None
    """The column of persons, where a memo makes their reports permanent or a ledger charges."""
    shuffling: bool = False
    """Whether rows come out in a random order; then all of them are one batch."""

    @cached_property
    def protection(self) -> Protection:
        """How records are released, made in each process."""
        return self.law.protection()

    @cached_property
    def recipe(self) -> Recipe:
        """What fixes codes and names."""
        return recipe_from(self.law.recipe)

    def plan(self, batch: Batch) -> Planned:
        """Labels and features as codes, and what is wrong with the other rows."""
        labels = self.recipe.label_codes(batch.column(self.recipe.label))
        values = tuple(column.read(batch.column(column.name)) for column in self._drawn_columns)
        problems = self._problems(batch, labels, values)
        persons = self._persons(batch, problems)
        if self.shuffling and batch.part:
            raise InvalidInput("rows that are shuffled must be one part, and these are several")
        readable = np.ones(len(batch), dtype=np.bool_)
        readable[list(problems)] = False
        bound = self.protection.adding_up()
        cost = ((bound.epsilon, bound.delta, 1),)
        return Planned((labels, values, persons), lambda: Bill.alike(cost, readable), problems)

    def draw(self, planned: Planned, paid: Bools, rng: Generator) -> Replaced:
        """New values of the changed columns for the rows that are paid."""
        labels, values, persons = planned.secrets
        good = np.flatnonzero(paid)
        if self.protection.sampler is not None:
            own = [persons[place] for place in good] if persons else []
            told = self.protection.sampler.release(
                tuple(part[good] for part in values), labels[good], rng, own
            )
            return self._shuffled(_reports(told, good, len(paid)), good, rng)
        released: dict[str, Sequence[Any]] = {self.recipe.label: [None] * len(paid)}
        if len(good):
            drawn, answers = self.protection.draw(
                tuple(part[good] for part in values), labels[good], rng
            )
            for column, part in zip(self._drawn_columns, drawn, strict=True):
                released[column.name] = self._written(column.name, part, good, len(paid))
            names = np.array(self.recipe.classes)[answers]
            released[self.recipe.label] = self._written(self.recipe.label, names, good, len(paid))
        return self._shuffled(Replaced(released), good, rng)

    def _shuffled(self, released: Replaced, good: Indices, rng: Generator) -> Replaced:
        """The released rows in a random order among their places, whole rows at a time."""
        if not self.shuffling:
            return released
        order = good[rng.permutation(len(good))].tolist()
        columns: dict[str, Sequence[Any]] = {}
        for name, values in released.columns.items():
            moved = list(values)
            for place, origin in zip(good.tolist(), order, strict=True):
                moved[place] = values[origin]
            columns[name] = moved
        return Replaced(columns)

    def _persons(self, batch: Batch, problems: dict[int, RowProblem]) -> list[str]:
        """Whose each record is, for a memo or a ledger; at a record of nobody the job stops."""
        if self.person is None:
            return []
        found = [person_name(value) for value in batch.column(self.person)]
        problem = Telling(
            f"the column {self.person!r} names no person; name everybody in the file (records "
            "that are left out or emptied would tell their label, if it is why nobody is named)"
        )
        nobody = [place for place, name in enumerate(found) if name is None]
        problems |= dict.fromkeys([p for p in nobody if p not in problems], problem)
        return [name or "" for name in found]

    @property
    def _drawn_columns(self) -> list[Column]:
        return [] if self.protection.passes_features else list(self.recipe.columns)

    def _problems(self, batch: Batch, labels: Indices, values: Columns) -> dict[int, RowProblem]:
        unnamed = self.clear.strangers(batch.rows).items()
        found: dict[int, RowProblem] = {place: Telling(one.reason) for place, one in unnamed}
        if self.protection.typical or not self.masking:
            for column, part in zip(self.recipe.columns, values, strict=False):
                places = np.flatnonzero(column.unknown(part)).tolist()
                found |= dict.fromkeys(places, self._without_code(column, len(places)))
        strangers = np.flatnonzero(labels < 0).tolist()
        given = batch.column(self.recipe.label)
        for i in strangers:
            absent = written(given[i]).lower() in ABSENT
            what = "is missing" if absent else "is none of the recipe's classes"
            what = "is no number" if self.recipe.edges and not absent else what
            add = f", or add {MISSING if absent else OTHER!r} to the classes"
            found[i] = Telling(
                f"the label {what}; mend the file{'' if what == 'is no number' else add} (records "
                "that are left out would tell their label)"
            )
        return found

    def _without_code(self, column: Column, count: int) -> Telling:
        """What a record is told that has a value which no code of the recipe stands for."""
        what = "is no number" if isinstance(column, NumberColumn) else "is missing or unknown"
        reason = f"the feature {column.name!r} {what}, and the recipe has no code for that"
        if not self.protection.typical:
            return Telling(
                f"{reason}; mend the file, or use --on-error mask (it is taken for another value)"
            )
        return Telling(
            f"{reason} ({count:,} of the records read here): the bound of cf speaks of records "
            "such as the recipe's own, and of no others; make the recipe from public records that "
            "have such values too, or use ldp or sample with --on-error mask"
        )

    def _written(self, name: str, values: NDArray[Any], good: Indices, count: int) -> list[Any]:
        """Values in the column's type (see `kinds_of`), at their rows."""
        distinct, inverse = np.unique(values, return_inverse=True)
        kind = self.kinds.get(name, str)
        typed = [_typed(value, kind) for value in distinct.tolist()]
        found: list[Any] = [None] * count
        for place, code in zip(good.tolist(), inverse.tolist(), strict=True):
            found[place] = typed[code]
        return found


def _reports(drawn: Indices, good: Indices, count: int) -> Replaced:
    """Which column, from 1, and its report, at the rows that are paid."""
    table: list[list[Any]] = [[None] * count, [None] * count]
    for place, column, report in zip(good.tolist(), *drawn.T.tolist(), strict=True):
        table[0][place], table[1][place] = column + 1, report
    return Replaced(dict(zip((COLUMN, REPORT), table, strict=True)))


def kinds_of(source: Source, recipe: Recipe) -> dict[str, type]:
    """The type in which each released column is written, without a look at a private value.

    In CSV all are text, in Parquet and in a frame the column's own type says it, in JSON, in lists
    and in a frame's column of any objects the recipe, which is public.
    """
    if source.format in ("csv", "txt"):
        return {}
    names = [recipe.label, *(column.name for column in recipe.columns)]
    if source.types is not None:
        types = {name: source.types.field(name).type for name in names if name in source.columns}
        return {name: _kind_of_type(str(kind)) for name, kind in types.items()}
    found = {recipe.label: _kind_of_names(recipe.classes)}
    for column in recipe.columns:
        if isinstance(column, NumberColumn):
            whole = all(level.is_integer() for level in column.levels)
            found[column.name] = int if whole else float
        else:
            found[column.name] = _kind_of_names(column.categories)
    return found | (_kinds_in_memory(source, names) if source.in_memory else {})


def check_types(source: Source, recipe: Recipe, target: str, *, features: bool) -> None:
    """Refuse a Parquet output whose columns of whole numbers would cut what is released."""
    if source.types is None or format_of(target).kind != "parquet":
        return
    drawn = [c for c in recipe.columns if features and isinstance(c, NumberColumn)]
    broken = [c.name for c in drawn if not all(level.is_integer() for level in c.levels)]
    if _kind_of_names(recipe.classes) is float:
        broken.append(recipe.label)
    for name in broken:
        kind = str(source.types.field(name).type) if name in source.columns else ""
        if _kind_of_type(kind) is int:
            raise InvalidInput(
                f"{name} must be of a type that holds the recipe's numbers with their decimals, "
                f"such as float64, and in {source.name} it is {kind}; or write to .csv or .jsonl"
            )


def _kinds_in_memory(source: Source, names: Sequence[str]) -> dict[str, type]:
    """The kinds of columns that have a type of their own."""
    columns = next(source.pieces(size=1)).content.columns
    types: dict[str, str] = {}
    for name in names:
        column = columns.get(name)
        if isinstance(column, ArrowColumn):
            types[name] = str(column.array.type)
        elif isinstance(column, FrameColumn):
            types[name] = str(column.series.to_native().dtype).lower()
    return {name: _kind_of_type(kind) for name, kind in types.items() if kind != "object"}


def _kind_of_type(name: str) -> type:
    """What stands for an Arrow type or a frame's; whatever is no text is tried as a number."""
    if name.startswith("bool"):
        return bool
    if name.startswith(("int", "uint")):
        return int
    text = "string" in name or name.startswith(("str", "null", "categor", "enum"))
    return str if text else float


def _kind_of_names(names: Sequence[str]) -> type:
    """A number or a truth if each of the names is one as JSON records are read, else text."""
    proper = [name for name in names if name not in (MISSING, OTHER)]
    if proper and all(name in ("True", "False") for name in proper):
        return bool
    for kind in (int, float):
        try:
            if proper and all(str(kind(name)) == name for name in proper):
                return kind
        except ValueError:
            continue
    return str


def _typed(value: Any, kind: type) -> Any:
    """A released value in the column's own type; None for what is missing, if that is not text."""
    text = shown(value)
    if kind is str:
        return text
    if text in ("", MISSING):
        return None
    try:
        if kind is bool:
            return text in ("True", "1")
        number = float(text)
        return int(number) if kind is int and number.is_integer() else number
    except ValueError:
        return text
