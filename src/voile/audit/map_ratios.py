"""The privacy loss of a law on a map, per km: between random places, close ones, all over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from voile.core.arrays import Floats
from voile.core.guarantee import Guarantee
from voile.optimise.region import RegionMechanism
from voile.optimise.smooth import SmoothMechanism

STEP = 0.01
"""Ten metres: close enough for a gradient, far above the resolution that places snap to."""
ROWS = 256
"""Random places whose pairs make one block."""
PAIRS = 4096
"""Close pairs in a block."""


class OnAMap(Protocol):
    """A mechanism on a box of a plane, with the distance that its ε is per."""

    @property
    def mechanism(self) -> Any:
        """`probabilities` and `snap` of points of the plane."""
        ...

    @property
    def box(self) -> tuple[Floats, Floats]:
        """The corners of the map."""
        ...

    @property
    def guarantee(self) -> Guarantee:
        """What one release promises."""
        ...

    def apart(self, first: Floats, second: Floats) -> Floats:
        """The distance between points, pair by pair."""
        ...


def random_blocks(places: int, *, seed: int) -> list[Callable[[OnAMap], tuple[float, int, int]]]:
    """All pairs of random places, in blocks that can be computed apart: see `random_ratio`."""
    starts = range(0, places - 1, ROWS)
    return [partial(_random_block, places=places, seed=seed, start=start) for start in starts]


def random_ratio(blocks: Sequence[tuple[float, int, int]]) -> tuple[float, float]:
    """The largest ratio of all blocks, and the share of pairs whose ratio is above the claim."""
    pairs = sum(count for _, _, count in blocks)
    return max(worst for worst, _, _ in blocks), sum(above for _, above, _ in blocks) / max(
        1, pairs
    )


def close_blocks(pairs: int, *, seed: int) -> list[Callable[[OnAMap], float]]:
    """The largest ratio over pairs 1 to 50 m apart, in blocks that each draw their own."""
    counts = [min(PAIRS, pairs - start) for start in range(0, pairs, PAIRS)]
    return [
        partial(_close_block, pairs=count, seed=seed, block=block)
        for block, count in enumerate(counts)
    ]


def _random_block(design: OnAMap, *, places: int, seed: int, start: int) -> tuple[float, int, int]:
    """Largest ratio, pairs above the claim, and pairs, of each place here with all later ones."""
    from scipy.spatial.distance import cdist

    low, high = design.box
    drawn = np.random.default_rng(seed).uniform(low, high, (places, len(low)))[start:]
    points = snapped(design, drawn)
    logs = log_law(design, points)
    gaps = cdist(logs[:ROWS], logs, "chebyshev")
    here, there = np.nonzero(np.triu(np.ones_like(gaps, dtype=bool), k=1))
    apart = design.apart(points[here], points[there])
    distinct = (points[here] != points[there]).any(axis=1)
    sure = np.maximum(gaps[here, there] - doubt(design), 0.0)
    ratio = (sure / apart)[distinct]
    above = int((ratio > design.guarantee.epsilon).sum())
    return float(ratio.max(initial=0.0)), above, len(ratio)


def _close_block(design: OnAMap, *, pairs: int, seed: int, block: int) -> float:
    rng = np.random.default_rng([seed, 1, block])
    low, high = design.box
    first = rng.uniform(low, high, (pairs, len(low)))
    turn = rng.normal(size=first.shape)
    turn *= rng.uniform(0.001, 0.05, (pairs, 1)) / np.linalg.norm(turn, axis=1, keepdims=True)
    first, second = snapped(design, first), snapped(design, first + turn)
    keep = (first != second).any(axis=1)
    first, second = first[keep], second[keep]
    gap = np.abs(log_law(design, first) - log_law(design, second)).max(axis=1)
    sure = np.maximum(gap - doubt(design), 0.0)
    return float((sure / design.apart(first, second)).max(initial=0.0))


def doubt(design: OnAMap) -> float:
    """What of a difference of logarithms may be rounding: a proved law is evaluated in doubles.

    Its probabilities are good to about 1e-11 of themselves, a region's to 1e-14; those of another
    certified law are the integers that are drawn by.
    """
    if isinstance(design.mechanism, SmoothMechanism):
        return 0.0
    return 1e-13 if isinstance(design.mechanism, RegionMechanism) else 1e-10


def snapped(design: OnAMap, points: Floats) -> Floats:
    """The points as a release sees them: on the map, and at its resolution."""
    return design.mechanism.snap(np.clip(points, *design.box))


def log_law(design: OnAMap, points: Floats) -> Floats:
    """Log-probabilities; below 1e-280, and where an output is never drawn, all alike."""
    return np.asarray(np.log(np.maximum(design.mechanism.probabilities(points), 1e-280)))


def local_ratios(design: OnAMap, *, cells: int = 600) -> Floats:
    """The largest |ln p_y(x) − ln p_y(x′)| / d(x, x′) around the middle of each cell of the map.

    x′ runs over eight directions, ten metres off; y over all outputs. Each value is the loss of
    real pairs, less what rounding may add to it where a law is proved and not certified, so none
    exceeds the claim unless the mechanism does.

    About `cells` cells, nearly square, a row of the answer for each row of cells from the south.
    Costs nine laws a cell.
    """
    low, high = design.box
    width, height = high - low
    columns = max(2, round(float(np.sqrt(cells * width / height))))
    rows = max(2, round(cells / columns))
    xs = low[0] + (np.arange(columns) + 0.5) * width / columns
    ys = low[1] + (np.arange(rows) + 0.5) * height / rows
    middles = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    centres = snapped(design, middles)
    before = log_law(design, centres)
    worst = np.zeros(len(centres))
    for angle in np.arange(8) * np.pi / 4:
        turned = STEP * np.array([np.cos(angle), np.sin(angle)])
        moved = snapped(design, centres + turned)
        apart = design.apart(moved, centres)
        gap = np.abs(log_law(design, moved) - before).max(axis=1)
        gap = np.maximum(gap - doubt(design), 0.0)
        different = (moved != centres).any(axis=1)
        ratio = np.divide(gap, apart, out=np.zeros_like(gap), where=different)
        worst = np.maximum(worst, ratio)
    return np.asarray(worst.reshape(rows, columns))
