"""What is promised for a finished release of labelled records."""

from __future__ import annotations

from dataclasses import replace

from voile.files.columns_in_clear import ColumnsInClear
from voile.jobs import JobReport
from voile.jobs.release import Columns as ColumnsReleased
from voile.jobs.release import Rows
from voile.labels.handing import Handing, Shuffling
from voile.labels.law import Draws
from voile.labels.protection import Protection
from voile.labels.recipes import Recipe
from voile.labels.released import LabelBounds, ProtectedLabels, Shape


def described(
    report: JobReport,
    protection: Protection,
    draws: Draws,
    recipe: Recipe,
    clear: ColumnsInClear,
    where: str | None,
    seed: int | None,
    handing: Handing,
) -> ProtectedLabels:
    """What was promised for the finished job."""
    strongest = protection.strongest()
    guarantee = replace(strongest, outside=(*strongest.outside, *_unread(report)))
    explained = tuple(guarantee.explain(candidates=len(recipe.classes)).splitlines())
    shuffled = None
    if handing.shuffle:
        shuffled = Shuffling.of(protection, records=report.rows, delta=handing.delta)
        explained = (*explained, shuffled.sentence())
    return ProtectedLabels(
        domain="labels",
        mechanism=protection.name,
        guarantee=guarantee,
        columns=_columns(recipe, protection, clear),
        drawn=_drawn(recipe, protection, clear),
        rows=Rows.of(report),
        seed=seed,
        explanation=explained,
        recipe=where,
        learned_from_private=recipe.learned,
        draws=draws,
        epsilon=LabelBounds.of(protection),
        kept_cells=protection.kept,
        shape=_shape(recipe, clear) if protection.typical else None,
        shuffled=shuffled,
        memo=handing.memo is not None,
        protection=protection,
        by=recipe,
    )


def _drawn(recipe: Recipe, protection: Protection, clear: ColumnsInClear) -> tuple[str, ...]:
    """The columns that draws speak of; the recipe names them, which is public."""
    features = () if protection.passes_features else recipe.columns
    names = (recipe.label, *(column.name for column in features))
    left = () if protection.sampler is not None else clear.dropped  # whose job drops them all
    return tuple(name for name in names if name not in left)


def _columns(recipe: Recipe, protection: Protection, clear: ColumnsInClear) -> ColumnsReleased:
    """What passed and what was left out; a column that reports speak of was not."""
    found = ColumnsReleased.of(clear)
    if protection.sampler is None:
        return found
    drawn = _drawn(recipe, protection, clear)
    left = tuple(clear.shown[name] for name in clear.dropped if name not in drawn)
    return replace(found, dropped=left)


def _shape(recipe: Recipe, clear: ColumnsInClear) -> Shape | None:
    """How many rows of typical records differ in what is drawn and not dropped, and where."""
    cells, columns = recipe.cells, recipe.columns
    if cells is None:
        return None
    kept = [j for j, column in enumerate(columns) if column.name not in clear.dropped]
    different = cells.different(kept)
    return Shape(
        different_rows=different * len(recipe.classes),
        typical_records=different,
        features_that_vary=tuple(columns[j].name for j in cells.telling() if j in kept),
    )


def _unread(report: JobReport) -> tuple[str, ...]:
    broken = report.skipped + report.masked
    if not broken:
        return ()
    return (f"that {broken:,} rows could not be read as records, and are left out or blank",)
