"""Whether a mechanism that knows its own law keeps its claim between given secrets."""

from __future__ import annotations

import numpy as np

from voile.audit.finding import Finding
from voile.core.arrays import Floats, Indices, Items
from voile.core.mechanism import ROUNDING, ExactMechanism, log_prob_error
from voile.core.metric import Metric
from voile.errors import InvalidInput, require

_AT_ONCE = 2**22
"""Differences that are held together: 32 MB."""


def nearest_pairs(items: Items, metric: Metric, *, count: int) -> tuple[Indices, Indices, Floats]:
    """The `count` closest pairs at a distance above zero, closest first.

    Near pairs are where mechanisms break: a wrong constant that far pairs hide is glaring there.
    Costs one pass over all distances, in blocks.
    """
    require(count >= 1, "count", ">= 1", count)
    first, second = np.empty(0, np.intp), np.empty(0, np.intp)
    distances = np.empty(0)
    for rows, block in metric.blocks(items, items):
        furthest = distances[-1] if len(distances) == count else np.inf
        i, j = np.nonzero((block > 0) & (block < furthest))
        above = i + rows.start < j
        i, j = i[above], j[above]
        distances = np.append(distances, block[i, j])
        chosen = np.argsort(distances, kind="stable")[:count]
        first = np.append(first, i + rows.start)[chosen]
        second = np.append(second, j)[chosen]
        distances = distances[chosen]
    return first, second, distances


def ratio(
    mechanism: ExactMechanism, secrets: Items, *, releases: Items, pairs: int = 10_000
) -> Finding:
    """The largest |ln K(y|x) − ln K(y|x')| / d(x, x') over the nearest pairs and given releases.

    The perturbation–privacy ratio of the AIPO paper (section 5), with pairs chosen by distance
    and not at random. A computation, but over these pairs only: it can refute a claim, not
    confirm it. What the logarithms may be off by, as the mechanism states it, is taken off each
    difference first, so that no claim is refuted by rounding.

    >>> import numpy as np, voile
    >>> blur = voile.mechanisms.planar_laplace(epsilon=0.8, step=0.5)
    >>> places = np.random.default_rng(1).normal(size=(50, 2))
    >>> print(ratio(blur, places, releases=blur.release(places, voile.seeded_rng(1))).verdict)
    open
    """
    claim = mechanism.guarantee
    secrets = np.asarray(secrets)
    first, second, distances = nearest_pairs(secrets, claim.metric, count=pairs)
    if not len(distances):
        raise InvalidInput("secrets must hold at least two at a distance above zero")
    log_law = mechanism.log_prob(secrets, releases)
    require(not np.isnan(log_law).any(), "log-probabilities", "numbers", "NaN")
    per_pair = _surely_apart(log_law, first, second, log_prob_error(mechanism)) / distances
    worst = int(per_pair.argmax())
    over = int((per_pair > claim.epsilon).sum())
    return Finding(
        question=f"Largest odds change over the {len(distances):,} nearest pairs:",
        claim=claim.epsilon,
        lower=max(0.0, float(per_pair[worst])),
        unit=claim.metric.unit,
        detail=(
            f"{over:,} pairs over the claim; the worst is {distances[worst]:.4g} "
            f"{claim.metric.unit} apart"
        ),
    )


def _surely_apart(log_law: Floats, first: Indices, second: Indices, error: float) -> Floats:
    """The largest difference of two rows that no error in them explains, for each pair of rows."""
    largest = np.empty(len(first))
    step = max(1, _AT_ONCE // log_law.shape[1])
    for start in range(0, len(first), step):
        here = slice(start, start + step)
        one, other = log_law[first[here]], log_law[second[here]]
        size = np.maximum(np.abs(one), np.abs(other))
        with np.errstate(invalid="ignore"):
            gaps = np.abs(one - other) - 2 * error - ROUNDING * np.maximum(size, 1.0)
        gaps[np.isneginf(one) & np.isneginf(other)] = 0.0
        gaps[np.isneginf(one) ^ np.isneginf(other)] = np.inf
        largest[here] = gaps.max(axis=1)
    return largest
