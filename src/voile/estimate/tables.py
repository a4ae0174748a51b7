"""Two-way tables: how often two secrets occur together, each released by a channel of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.channel import Channel
from voile.errors import require
from voile.estimate.debiasing import unbiased_scores
from voile.estimate.frequencies import CONFIDENCE
from voile.estimate.intervals import FEWEST, NORMAL, quantile


@dataclass(frozen=True, eq=False)
class TwoWay:
    """The share of each pair of secrets (rows by columns), with an interval for each."""

    shares: Floats
    lower: Floats
    upper: Floats
    confidence: float
    records: int
    ground: str


def two_way_counts(first: Channel, second: Channel, releases: Indices) -> Indices:
    """How often each pair of outputs occurs among rows (output of first, output of second)."""
    rows = np.asarray(releases)
    good = rows.ndim == 2 and rows.shape[1] == 2 and rows.dtype.kind in "iu" and len(rows) > 0
    require(good, "releases", "rows of two positions of outputs", f"shape {rows.shape}")
    sizes = np.array([len(first.outputs), len(second.outputs)])
    inside = bool(((rows >= 0) & (rows < sizes)).all())
    require(inside, "releases", f"below {sizes.tolist()}", "others")
    flat = np.bincount(rows[:, 0] * sizes[1] + rows[:, 1], minlength=int(sizes.prod()))
    return flat.reshape(sizes).astype(np.intp)


def unbiased_table(
    first: Channel, second: Channel, counts: Indices, *, confidence: float = CONFIDENCE
) -> TwoWay:
    """Shares of pairs whose mean over the noise is the truth.

    Both are drawn independently given the record, so the scores multiply: f̂ = M₁ (C/n) M₂ᵀ, and a
    pair's variance is that of M₁[x, y]·M₂[x', y'] over records, from its own mean square.
    """
    table = np.asarray(counts)
    shape = (len(first.outputs), len(second.outputs))
    good = table.shape == shape and table.dtype.kind in "iu" and bool((table >= 0).all())
    require(good, "counts", f"whole numbers of shape {shape}", table.shape)
    records = int(table.sum())
    require(records >= FEWEST, "records", f">= {FEWEST} for a normal approximation", records)
    ours, theirs = unbiased_scores(first), unbiased_scores(second)
    seen = table / records
    shares = ours @ seen @ theirs.T
    squares = ours**2 @ seen @ (theirs**2).T
    deviation = np.sqrt(np.maximum(squares - shares**2, 0.0) / (records - 1))
    half = quantile(confidence) * deviation
    return TwoWay(shares, shares - half, shares + half, confidence, records, NORMAL)
