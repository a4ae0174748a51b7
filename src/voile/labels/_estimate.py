"""What a released file says about the population: classes, features, means and a table."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require
from voile.estimate.debiasing import scores_of
from voile.estimate.frequencies import CONFIDENCE, likeliest_shares
from voile.estimate.intervals import (
    FEWEST,
    Estimate,
    bounded_interval,
    contradicted,
    impossible,
    interval,
    records_for,
)
from voile.files.source import open_source
from voile.jobs.settings import EachConfidence
from voile.labels.bins import middles
from voile.labels.estimated import EstimatedLabels, Share
from voile.labels.made_by import BESIDE, MadeBy, ReleasedFile
from voile.labels.reports import Reports, View, read_reports
from voile.labels.values import MISSING
from voile.options import Option, use_case

HALF_WIDTH = 0.02


@use_case("labels estimate")
def estimate(
    released: ReleasedFile,
    *,
    made_by: MadeBy = BESIDE,
    column: Annotated[
        str, Option("A feature: how often its values occur with each class.", shown=True)
    ] = "",
    confidence: EachConfidence = CONFIDENCE,
    half_width: Annotated[
        float, Option("Say how many records classes' intervals of ± this need.")
    ] = HALF_WIDTH,
) -> EstimatedLabels:
    """Shares of classes and features, and means, with intervals, from a released file.

    Example: `voile labels estimate released.csv --recipe public.json --column smoker`

    It reads the release alone, with its recipe and guarantee file, and costs no budget. Estimates
    are unbiased: a share may come out below 0; beside it stands the likeliest one, between 0 and 1.
    A feature of fewer than 100 reports is left out. Intervals are for records that are drawn
    independently of one population, and each holds by itself, not all at once.
    """
    require(0 < confidence < 1, "confidence", "between 0 and 1", confidence)
    require(half_width > 0, "half_width", "> 0", half_width)
    source = open_source(released)
    made = made_by.of(source)
    found = read_reports(source, made.recipe, made.protection)
    views = {view.name: view for view in found.views}
    if column and column not in views:
        known = ", ".join(views) or "none: its features stand in clear"
        raise InvalidInput(f"column must be a feature that was drawn ({known}), got another")
    classes, own, needed = _classes(found, confidence, half_width)
    features = [share for view in found.views for share in _features(found, view, confidence)]
    means = [one for view in found.views if (one := _mean(found, view, confidence)) is not None]
    return EstimatedLabels(
        mechanism=made.protection.name,
        records=found.records,
        confidence=confidence,
        classes=classes,
        features=tuple(features),
        means=(*own, *means),
        label_edges=found.recipe.edges,
        column=column,
        table=_table(found, views[column], confidence) if column else (),
        half_width=half_width,
        records_needed=needed,
        vouched=made.vouched,
        word=made.word,
    )


def _classes(
    found: Reports, confidence: float, half_width: float
) -> tuple[tuple[Share, ...], tuple[Share, ...], int | None]:
    """The share of each class: from the label's own channel, or from every report's.

    And the mean of a label that is a number, over the middles of its bins, if none may be missing.
    """
    names, channel = found.recipe.classes, found.label_channel()
    size = len(names)
    if channel is not None and found.labels is not None:
        laws = [(np.asarray(channel.probabilities()), np.eye(size), found.labels)]
    else:
        laws = [(view.law, np.tile(np.eye(size), len(view.names)), view.outputs)
                for view in found.views if len(view.outputs)]  # fmt: skip
    counts = [np.bincount(outputs, minlength=law.shape[1]) for law, _, outputs in laws]
    whole = np.concatenate(counts)
    likely = np.average(
        [a @ likeliest_shares(law, seen) for (law, a, _), seen in zip(laws, counts, strict=True)],
        axis=0,
        weights=[seen.sum() for seen in counts],
    )  # fmt: skip
    tables = [scores_of(law) for law, _, _ in laws]
    if any(table is None for table in tables):
        unknown = Estimate(float("nan"), 0.0, 1.0, confidence, int(whole.sum()), "none")
        return (
            tuple(
                Share("", name, unknown, float(one))
                for name, one in zip(names, likely, strict=True)
            ),
            (),
            None,
        )
    asked = np.hstack([a @ t for (_, a, _), t in zip(laws, tables, strict=True) if t is not None])
    _check(found, asked, whole)
    shares = tuple(
        Share("", name, interval(row, whole, confidence=confidence), float(one))
        for name, row, one in zip(names, asked, likely, strict=True)
    )
    means: tuple[Share, ...] = ()
    if found.recipe.edges and MISSING not in names:
        values = middles(found.recipe.edges)
        held = bounded_interval(values @ asked, whole, confidence=confidence)
        means = (Share(found.recipe.label, "mean", held, float(values @ likely)),)
    return shares, means, max(records_for(row, whole, half_width, confidence) for row in asked)


def _check(found: Reports, asked: Floats, seen: Indices) -> None:
    """Refuse releases that cannot come from the law that is said of them."""
    if any(contradicted(row, seen, times=len(asked)) for row in asked):
        raise impossible(found.epsilon)


def _features(found: Reports, view: View, confidence: float) -> list[Share]:
    size = len(found.recipe.classes)
    asked: Floats = np.repeat(np.eye(len(view.names)), size, axis=1)
    return _shares(found, view, asked, view.names, confidence)


def _table(found: Reports, view: View, confidence: float) -> tuple[Share, ...]:
    """The share of each value with each class."""
    pairs = [f"{value} & {name}" for value in view.names for name in found.recipe.classes]
    return tuple(_shares(found, view, np.eye(len(pairs)), tuple(pairs), confidence))


def _shares(
    found: Reports, view: View, asked: Floats, names: tuple[str, ...], confidence: float
) -> list[Share]:
    """The share of some secrets of a view, or of sums of them; nothing where none can be told."""
    seen: Indices = view.counts
    table = scores_of(view.law)
    if table is None or seen.sum() < FEWEST:
        return []
    _check(found, asked @ table, seen)
    likely = asked @ likeliest_shares(view.law, seen)
    return [
        Share(view.name, name, interval(row, seen, confidence=confidence), float(one))
        for name, row, one in zip(names, asked @ table, likely, strict=True)
    ]


def _mean(found: Reports, view: View, confidence: float) -> Share | None:
    """The mean of a number, over its levels or the middles of its groups of levels."""
    table, seen = scores_of(view.law), view.counts
    if view.values is None or table is None or seen.sum() < FEWEST:
        return None
    values = np.repeat(view.values, len(found.recipe.classes))
    likely = float(values @ likeliest_shares(view.law, seen))
    held = bounded_interval(values @ table, seen, confidence=confidence)
    return Share(view.name, "mean", held, likely)
