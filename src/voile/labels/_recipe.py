"""Making a recipe for labelled records from a public file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from voile.core.randomness import Generator, seeded_rng
from voile.errors import CannotWrite, require, require_epsilon
from voile.files.locations import Location, Overwrite, location
from voile.files.source import Source, open_source
from voile.jobs.workspace import writing
from voile.labels.bins import Cut
from voile.labels.cells import learn_cells
from voile.labels.columns import LEVELS, Column, NumberColumn
from voile.labels.mechanisms import MECHANISMS
from voile.labels.origin import origin_of
from voile.labels.reading import Label, Reading, table_from
from voile.labels.recipe_file import recipe_text
from voile.labels.recipes import Recipe, common_classes, draft_recipe, label_recipe, with_known
from voile.labels.table import Table
from voile.labels.values import MISSING
from voile.options import Data, Option, use_case
from voile.progress import tell
from voile.report.model import Report
from voile.report.result import SILENT, Result
from voile.report.words import counted

FEATURES_TOO = ("cf", "ldp", "sample")
"""Mechanisms that change features, and so need a coding of each."""
CELLS_SHARE, COLUMNS_SHARE = 0.3, 0.5
"""The label's part of ε for cf and ldp, where nobody says another."""
GAPS_AS_VALUES = Reading(on_error="mask")
AS_NAMES = Cut()


@dataclass(frozen=True, repr=False, eq=False)
class MadeRecipe(Result):
    """A recipe that was made from public records: what it fixes, and where it stands."""

    recipe: str | None
    """Its file; none if it was made from data in memory and not written."""
    label: str
    classes: tuple[str, ...]
    features: tuple[str, ...]
    with_missing: tuple[str, ...]
    cells: int | None
    records: int
    left_out: int
    """Records without a label, where `(missing)` is no class; or with gaps that were skipped."""
    content: Recipe = field(metadata=SILENT)

    def _report(self) -> Report:
        cells = "" if self.cells is None else f", {self.cells} cells of features"
        where = "" if self.recipe is None else f"{location(self.recipe).name}, "
        missing = ", ".join(self.with_missing)
        return Report(
            title="A recipe for labelled records",
            answer=(
                f"recipe: {where}from {counted(self.records, 'record')} that you say are public: "
                f"{len(self.classes)} classes, {counted(len(self.features), 'feature')}{cells}."
            ),
            guarantee=("Every release by it shows its ranges, names and typical records.",),
            notes=(
                *((f"With a code for missing values: {missing}.",) if missing else ()),
                *self._left_out_sentences(),
            ),
            about="What it fixes",
        )

    def _left_out_sentences(self) -> tuple[str, ...]:
        if not self.left_out:
            return ()
        return (
            f"LEFT OUT: {counted(self.left_out, 'record')} without a label, or with gaps that were "
            f'skipped. With "{MISSING}" among --classes a label that is missing is one of them; '
            "without it a release stops there.",
        )

    def _outputs(self) -> tuple[str, ...]:
        return () if self.recipe is None else (self.recipe,)


@use_case("labels recipe")
def recipe(
    public: Annotated[Data, Option("A PUBLIC file of such records.", reads="public")],
    *,
    label: Label,
    out: Annotated[
        Path | None, Option("Where to write it; else beside the file.", "Output", writes=True)
    ] = None,
    mechanism: Annotated[
        str, Option("What it is for: cf (with cells), ldp or sample.", "How strong", shown=True)
    ] = "cf",
    classes: Annotated[
        tuple[str, ...],
        Option("All classes there may be, a,b,c; else those in the file.", shown=True),
    ] = (),
    levels: Annotated[int, Option("Levels of a number.", "How strong")] = LEVELS,
    cells: Annotated[
        int | None, Option("For cf: into how many cells the features are cut.", "How strong")
    ] = None,
    epsilon: Annotated[
        float | None,
        Option("For cf: the epsilon of its releases, by which cells are counted.", "How strong"),
    ] = None,
    label_share: Annotated[
        float | None,
        Option("The label's own part of epsilon; 0.3 for cf, 0.5 for ldp.", "How strong"),
    ] = None,
    reading: Reading = GAPS_AS_VALUES,
    cut: Cut = AS_NAMES,
    seed: Annotated[int, Option("Of the split by which cells are learned.", "Running")] = 0,
    overwrite: Overwrite = False,
) -> MadeRecipe:
    """Fix ranges, categories, classes and cells from a PUBLIC file: releases show all of them.

    Example: `voile labels recipe last-years-open-data.csv --label diagnosis --out public.json`

    All of it is shown by every release that uses the recipe, extremes and rare names included. The
    same file, settings and seed give the same recipe.
    """
    mechanism = MECHANISMS.find(mechanism).name
    if epsilon is not None:
        epsilon = require_epsilon(epsilon)
    require(
        mechanism in FEATURES_TOO,
        "mechanism",
        "cf, ldp or sample",
        repr(mechanism),
        "rr and prior need the names of the classes alone: --classes",
    )
    edges = cut.at(epsilon)
    alone = not edges or set(classes) <= {MISSING}
    require(alone, "classes", f'none but "{MISSING}" beside --edges, which make them', "others")
    source = open_source(public, header=reading.header)
    target = _target(source, out, overwrite=overwrite)
    tell("reading public records")
    policy = reading.policy
    table = table_from(
        source,
        label=label,
        on_error=policy,
        drop=reading.drop,
        edges=edges,
        missing=MISSING in classes,
        person=reading.person,
    )
    made = drafted_recipe(
        table,
        seeded_rng(seed),
        mechanism=mechanism,
        classes=classes,
        levels=levels,
        cells=cells,
        epsilon=epsilon,
        label_share=label_share,
        edges=edges,
    )
    known = (label, *(column.name for column in made.columns))
    made = replace(made, made_from=origin_of(source, known))
    if target is not None:
        write_recipe(made, target, like=source)
    return MadeRecipe(
        recipe=None if target is None else str(target),
        label=made.label,
        classes=made.classes,
        features=tuple(column.name for column in made.columns),
        with_missing=tuple(column.name for column in made.columns if _missing(column)),
        cells=None if made.cells is None else len(made.cells),
        records=len(table),
        left_out=table.skipped,
        content=made,
    )


def _target(source: Source, out: Path | None, *, overwrite: bool) -> Location | None:
    """Where the recipe goes: as asked, or beside the file it is made from, if it is one."""
    if out is None and source.in_memory:
        return None
    named = f"{source.name}.recipe.json"
    target = source.location.beside(named) if out is None else location(out)
    if target.exists() and not overwrite:
        raise CannotWrite(f"{str(target)!r} exists already; choose another name or --overwrite")
    return target


def write_recipe(made: Recipe, target: Location, *, like: Source) -> None:
    """Write a recipe, readable by those who may read the source."""
    with writing(target):
        target.write(recipe_text(made).encode("utf-8"))
        if not like.in_memory:
            target.readable_like(like.location)


def _missing(column: Column) -> bool:
    return column.missing if isinstance(column, NumberColumn) else MISSING in column.categories


def drafted_recipe(
    table: Table,
    rng: Generator,
    *,
    mechanism: str,
    classes: Sequence[str] = (),
    levels: int = LEVELS,
    cells: int | None = None,
    epsilon: float | None = None,
    label_share: float | None = None,
    private: bool = False,
    edges: tuple[float, ...] = (),
) -> Recipe:
    """A recipe learned from a table: for rr and prior its classes, for cf with cells.

    Classes that fewer than five private records have become `(other)`. For sample with what public
    records know of each column; private ones are not asked.
    """
    if private and not classes and not edges:
        classes = common_classes(table)
    if mechanism not in FEATURES_TOO:
        return replace(label_recipe(table.label, classes or table.classes), learned=private)
    usual = CELLS_SHARE if mechanism == "cf" else COLUMNS_SHARE
    own = usual if label_share is None else label_share
    drafted = draft_recipe(
        table,
        levels=levels,
        label_share=own,
        classes=classes,
        private=private,
        edges=edges,
    )
    if mechanism == "sample" and not private:
        return with_known(drafted, table)
    if mechanism != "cf":
        return drafted
    codes = drafted.label_codes(table.labels)
    known = bool((codes >= 0).all())
    hint = "add the others, or (other)"
    require(known, "classes", "all that occur in the file", "others", hint)
    found = learn_cells(
        drafted.columns,
        table.columns,
        codes,
        classes=len(drafted.classes),
        rng=rng,
        cells=cells,
        epsilon=epsilon,
        private=private,
    )
    return replace(drafted, cells=found)
