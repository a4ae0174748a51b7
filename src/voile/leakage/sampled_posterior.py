"""Posterior leakage over chosen pairs, where all pairs are too many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator
from voile.core.space import Space
from voile.errors import require


@dataclass(frozen=True)
class PairSample:
    """Pairs of candidates and their distances; the first `near` of them are the nearest ones."""

    first: Indices
    second: Indices
    distances: Floats
    near: int


def sample_pairs(space: Space, *, near: int, uniform: int, rng: Generator) -> PairSample:
    """Two strata: pairs of a random item with its nearest neighbour, and uniform pairs.

    Violations gather among near pairs, which uniform pairs hardly ever are; shares over uniform
    pairs estimate the share over all pairs. Costs one block of distances a few near items.
    """
    require(len(space) > 1, "candidates", "at least two", len(space))
    require(near >= 1 and uniform >= 1, "near and uniform", ">= 1", (near, uniform))
    chosen = rng.permutation(len(space))[:near]
    first, second, apart = [], [], []
    for rows, block in space.metric.blocks(space.items[chosen], space.items):
        block[block == 0] = np.inf
        closest = block.argmin(axis=1)
        first.append(chosen[rows])
        second.append(closest)
        apart.append(block[np.arange(len(block)), closest])
    left, right = rng.integers(len(space), size=(2, uniform))
    between = _row_distances(space, left, right)
    keep = between > 0
    near_first, near_second = np.concatenate(first), np.concatenate(second)
    near_apart = np.concatenate(apart)
    real = np.isfinite(near_apart)
    return PairSample(
        np.concatenate([near_first[real], left[keep]]),
        np.concatenate([near_second[real], right[keep]]),
        np.concatenate([near_apart[real], between[keep]]),
        int(real.sum()),
    )


def _row_distances(space: Space, left: Indices, right: Indices, *, step: int = 256) -> Floats:
    """Distances of pairs, by small square blocks whose diagonals are wanted."""
    out = np.empty(len(left))
    for start in range(0, len(left), step):
        part = slice(start, start + step)
        block = space.metric.pairwise(space.items[left[part]], space.items[right[part]])
        out[part] = np.diagonal(block)
    return out


@dataclass(frozen=True)
class SampledLeakage:
    """Shares of violating triples among uniform and among near pairs, and the largest seen."""

    epsilons: tuple[float, ...]
    triples: int
    releases: int
    uniform_shares: tuple[float, ...]
    near_shares: tuple[float, ...]
    largest: float
    shares: Floats


def sampled_leakage(
    shifts: Floats | Iterable[Floats], pairs: PairSample, *, epsilons: Sequence[float]
) -> SampledLeakage:
    """Leakage over the sampled pairs and all releases; `largest` is a lower bound.

    >>> import numpy as np, voile
    >>> line = voile.Space([[0.0], [1.0], [3.0]], metric=voile.metrics.euclidean())
    >>> pairs = sample_pairs(line, near=3, uniform=50, rng=voile.seeded_rng(1))
    >>> sampled_leakage(np.array([[0.0, -1.0, -3.0]]), pairs, epsilons=[0.5]).largest
    1.0
    """
    thresholds = np.array(sorted(set(epsilons)), dtype=float)
    require(len(thresholds) > 0 and bool((thresholds > 0).all()), "epsilons", "numbers > 0",
            list(epsilons))  # fmt: skip
    order = np.argsort(pairs.first, kind="stable")  # neighbours in memory together
    first, second = pairs.first[order], pairs.second[order]
    inverse = 1 / pairs.distances[order]
    is_near = order < pairs.near
    count = np.zeros((2, len(thresholds)))
    releases, largest, shares = 0, 0.0, []
    for group in [shifts] if isinstance(shifts, np.ndarray) else shifts:
        rows = np.atleast_2d(np.asarray(group, dtype=np.float64))
        group_count = np.zeros(len(thresholds))
        for shift in rows:
            with np.errstate(invalid="ignore"):
                values = np.abs(shift[first] - shift[second]) * inverse
            values = np.nan_to_num(values, nan=0.0, posinf=np.inf)
            largest = max(largest, float(values.max()))
            over = values[None, :] > thresholds[:, None]
            uniform = (over & ~is_near).sum(axis=1)
            count[0] += uniform
            count[1] += (over & is_near).sum(axis=1)
            group_count += uniform
        releases += len(rows)
        shares.append(group_count / (max(1, int((~is_near).sum())) * len(rows)))
    uniform_pairs = max(1, int((~is_near).sum()))
    return SampledLeakage(
        epsilons=tuple(thresholds.tolist()),
        triples=len(order) * releases,
        releases=releases,
        uniform_shares=tuple((count[0] / (uniform_pairs * releases)).tolist()),
        near_shares=tuple((count[1] / (max(1, pairs.near) * releases)).tolist()),
        largest=largest,
        shares=np.array(shares),
    )
