"""Metric-normalised posterior leakage: how far releases move an attacker's odds, per distance.

For an attacker with prior π and posterior p after reading everything, let g = ln p − ln π over the
candidates. The leakage of a pair is |g_i − g_j| / d(i, j), and its supremum over pairs is the
Lipschitz constant of g (mPL paper, Definition 2, rewritten). For a single release that supremum
over all releases is the channel's certificate (Proposition 2).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require

TILE = 2**17
"""Leakages are computed about this many at a time: a megabyte, which stays in the cache."""
WORST_PAIRS = 10
OF_EACH = 1024
"""Values of each group in the sample: as many, however long it is, as in the mean of shares."""


@dataclass(frozen=True)
class PosteriorLeakage:
    """What a pass over (pair, release) triples found.

    A *release* here is one position of one observation: a row of beliefs over the candidates.
    `worst` is (release, candidate, candidate), and `worst_pairs` has the ten pairs that leak most
    among the worst pairs of each release, as (leakage, candidate, candidate): for the auditor's
    own screen. `shares` has the
    violation share of each group (a document, a trace) at each epsilon: groups are independent,
    triples are not.
    """

    epsilons: tuple[float, ...]
    triples: int
    releases: int
    violations: tuple[int, ...]
    supremum: float
    worst: tuple[int, int, int]
    worst_pairs: tuple[tuple[float, int, int], ...]
    shares: Floats
    sample: Floats

    @property
    def violation_shares(self) -> tuple[float, ...]:
        """The share of triples over each epsilon."""
        return tuple(count / max(1, self.triples) for count in self.violations)


@dataclass(frozen=True)
class Exceedance:
    """The share of triples whose leakage is above a value."""

    leakage: float
    share: float


def exceedance(sample: Floats, *, points: int = 80) -> tuple[Exceedance, ...]:
    """The share of a sample above each of some values: from all of it down to a single value.

    >>> exceedance(np.array([0.0, 1.0, 2.0, 3.0]), points=4)[1]
    Exceedance(leakage=1.0, share=0.5)
    """
    values = np.sort(sample[np.isfinite(sample)])
    if not len(values):
        return ()
    # evenly in the logarithm of the share, so that the tail is drawn as finely as the body
    above = np.unique(np.geomspace(1, len(values), points).round().astype(int))
    chosen = np.unique(np.append(values[len(values) - above], values[-1]))
    shares = 1 - np.searchsorted(values, chosen, side="right") / len(values)
    return tuple(Exceedance(float(x), float(y)) for x, y in zip(chosen, shares, strict=True))


def belief_shift(log_posterior: Floats, log_prior: Floats) -> Floats:
    """The shift ln posterior − ln prior, row by row; each candidate must have a prior."""
    if not np.isfinite(log_prior).all():
        raise InvalidInput(
            "every candidate must have a prior above zero, some have none; drop them or smooth "
            "the prior"
        )
    return np.asarray(log_posterior - log_prior)


def posterior_leakage(
    shifts: Floats | Iterable[Floats],
    distances: Floats,
    *,
    epsilons: Sequence[float],
    sample: int = 100_000,
) -> PosteriorLeakage:
    """Leakage over *all* pairs of candidates and all releases.

    `shifts` is one table of g (a row a release), or an iterable of such tables, one a group, so
    that memory does not grow with their number. Pairs at distance 0 are one secret and left out.
    Cost: pairs × releases, in tiles that fit the cache, on all cores. `sample` values are kept
    for a histogram, as many of each group, so that it tells the same as the mean of `shares`.

    >>> import numpy as np
    >>> channel = np.array([[0.72, 0.28], [0.28, 0.72]])
    >>> found = posterior_leakage(np.log(channel).T, np.array([[0.0, 1.0], [1.0, 0.0]]),
    ...                           epsilons=[1.0])
    >>> round(found.supremum, 5)
    0.94446
    """
    thresholds = _thresholds(epsilons)
    inverse, pairs = _inverse(distances)
    alone = isinstance(shifts, np.ndarray)
    groups = [shifts] if alone else shifts
    some = sample if alone else OF_EACH
    totals = np.zeros(len(thresholds), dtype=np.int64)
    best, worst, releases = 0.0, (0, 0, 0), 0
    leading: dict[tuple[int, int], float] = {}
    shares, kept = [], []
    rng = np.random.default_rng(0)  # only chooses which values the histogram shows
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for group in groups:
            rows = np.atleast_2d(np.asarray(group, dtype=np.float64))
            _check_rows(rows, len(inverse))
            counted = list(pool.map(lambda g: _one_release(g, inverse, thresholds), rows))
            per_release = np.array([counts for counts, _, _ in counted])
            totals += per_release.sum(axis=0)
            shares.append(per_release.sum(axis=0) / (pairs * len(rows)))
            for offset, (_, highest, place) in enumerate(counted):
                if highest > best:
                    best, worst = highest, (releases + offset, *place)
                if highest > leading.get(place, 0.0):
                    leading[place] = highest
            leading = dict(sorted(leading.items(), key=lambda item: -item[1])[:WORST_PAIRS])
            kept.append(_some_values(rows, inverse, rng, count=some))
            releases += len(rows)
    require(releases > 0, "shifts", "at least one release", "none")
    values = np.concatenate(kept)
    chosen = rng.permutation(len(values))[:sample]
    return PosteriorLeakage(
        epsilons=tuple(thresholds.tolist()),
        triples=pairs * releases,
        releases=releases,
        violations=tuple(int(count) for count in totals),
        supremum=best,
        worst=worst,
        worst_pairs=tuple((value, *place) for place, value in leading.items()),
        shares=np.array(shares),
        sample=values[chosen],
    )


def _thresholds(epsilons: Sequence[float]) -> Floats:
    values = np.array(sorted(set(epsilons)), dtype=float)
    good = len(values) > 0 and bool(((values > 0) & np.isfinite(values)).all())
    require(good, "epsilons", "finite numbers > 0", list(epsilons))
    return values


def _inverse(distances: Floats) -> tuple[Floats, int]:
    """1/d above the diagonal, 0 elsewhere; and how many pairs count."""
    table = np.asarray(distances, dtype=np.float64)
    square = table.ndim == 2 and table.shape[0] == table.shape[1]
    require(square, "distances", "a square table", f"shape {table.shape}")
    require(len(table) > 1, "candidates", "at least two", len(table))
    upper = np.triu(table, k=1)
    inverse = np.divide(1.0, upper, out=np.zeros_like(upper), where=upper > 0)
    pairs = int(np.count_nonzero(inverse))
    require(pairs > 0, "candidates", "at least two at a distance above zero", "none")
    return inverse, pairs


def _check_rows(rows: Floats, size: int) -> None:
    require(rows.shape[1] == size, "shifts", f"{size} candidates wide", rows.shape[1])
    if np.isnan(rows).any() or np.isposinf(rows).any():
        raise InvalidInput("shifts must be numbers or −inf, got NaN or +inf")


def _one_release(
    shift: Floats, inverse: Floats, thresholds: Floats
) -> tuple[Indices, float, tuple[int, int]]:
    """Violations at each threshold, the largest leakage and its pair, over all pairs."""
    size = len(shift)
    counts = np.zeros(len(thresholds), dtype=np.intp)
    best, place = 0.0, (0, 0)
    height = max(32, TILE // size)
    buffer = np.empty((height, size))
    certain = bool(np.isfinite(shift).all())
    for start in range(0, size, height):
        stop = min(start + height, size)
        values = buffer[: stop - start, : size - start]
        with np.errstate(invalid="ignore"):
            np.subtract(shift[start:stop, None], shift[None, start:], out=values)
            np.abs(values, out=values)
            np.multiply(values, inverse[start:stop, start:], out=values)
        if not certain:  # −inf − −inf, or 0 · inf where a pair does not count
            np.nan_to_num(values, copy=False, nan=0.0, posinf=np.inf)
        highest = float(values.max())
        if highest > best:
            i, j = np.unravel_index(int(values.argmax()), values.shape)
            best, place = highest, (start + int(i), start + int(j))
        for k, threshold in enumerate(thresholds):
            if highest <= threshold:
                break
            counts[k] += np.count_nonzero(values > threshold)
    return counts, best, place


def _some_values(rows: Floats, inverse: Floats, rng: np.random.Generator, *, count: int) -> Floats:
    """Leakage of random triples, for a histogram."""
    size = len(inverse)
    release = rng.integers(len(rows), size=count)
    i, j = rng.integers(size, size=(2, count))
    weight = inverse[np.minimum(i, j), np.maximum(i, j)]
    counts = weight > 0
    with np.errstate(invalid="ignore"):
        gaps = np.abs(rows[release, i] - rows[release, j])[counts] * weight[counts]
    return np.nan_to_num(gaps, nan=0.0, posinf=np.inf)
