"""Helpers for tests of randomness: p-values, power, and spaces for Hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.stats import chi2, ncx2

import voile

FALSE_ALARM = 1e-9
"""Size of each statistical test; the suite has far fewer than a thousand."""


def p_value(counts: np.ndarray, law: np.ndarray) -> float:
    """Pearson's χ² with rare outcomes pooled; an impossible outcome seen is p = 0."""
    if counts[law == 0].any():
        return 0.0
    total = counts.sum()
    rare = total * law < 5
    seen = np.append(counts[~rare], counts[rare].sum())
    expected = total * np.append(law[~rare], law[rare].sum())
    kept = expected > 0
    if kept.sum() < 2:
        return 1.0
    statistic = ((seen[kept] - expected[kept]) ** 2 / expected[kept]).sum()
    return float(chi2.sf(statistic, kept.sum() - 1))


def draws_needed(law: np.ndarray, other: np.ndarray, *, miss: float = 1e-6) -> int:
    """Draws from `other` that the χ² test against `law` misses with probability `miss`."""
    freedom = len(law) - 1
    effect = float(((law - other) ** 2 / law).sum())
    threshold = chi2.isf(FALSE_ALARM, freedom)
    low, high = 1, 10**9
    while low < high:
        middle = (low + high) // 2
        if ncx2.cdf(threshold, freedom, middle * effect) < miss:
            high = middle
        else:
            low = middle + 1
    return low


coordinates = st.integers(-1000, 1000).map(lambda n: n / 8)
epsilons = st.floats(-6, 3).map(lambda power: 10.0**power)


@st.composite
def spaces(draw: st.DrawFn, *, most: int = 12) -> voile.Space:
    """Random points, possibly with duplicates, under a random true metric."""
    count = draw(st.integers(1, most))
    dimension = draw(st.integers(1, 3))
    row = st.lists(coordinates, min_size=dimension, max_size=dimension)
    points = np.array(draw(st.lists(row, min_size=count, max_size=count)))
    kind = draw(st.sampled_from(["l1", "l2", "l3.5", "max", "angular", "hamming", "discrete"]))
    if kind == "angular":
        points = np.column_stack([points, np.ones(count)])  # never the zero vector
        return voile.Space(points, metric=voile.metrics.angular())
    if kind == "hamming":
        return voile.Space(points.astype(int), metric=voile.metrics.hamming())
    if kind == "discrete":
        return voile.Space(points, metric=voile.metrics.discrete())
    p = {"l1": 1.0, "l2": 2.0, "l3.5": 3.5, "max": np.inf}[kind]
    return voile.Space(points, metric=voile.metrics.lp(p, unit="km"))


def brute_force_epsilon(space: voile.Space, weights: np.ndarray) -> float:
    """The certificate by three plain loops and exact rationals, for small channels."""
    from fractions import Fraction
    from math import inf, log

    worst = 0.0
    distances = space.distances()
    for x in range(len(space)):
        for other in range(len(space)):
            for a, b in zip(weights[x].tolist(), weights[other].tolist(), strict=True):
                if a == b:
                    continue
                if a == 0 or b == 0 or distances[x, other] == 0:
                    return inf
                ratio = Fraction(a, b)
                excess = float(ratio - 1)
                gap = np.log1p(excess) if abs(excess) < 0.5 else log(ratio)
                worst = max(worst, abs(gap) / distances[x, other])
    return worst
