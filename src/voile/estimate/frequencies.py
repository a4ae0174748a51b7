"""How often each secret occurs in the population, from what was released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Items
from voile.core.channel import Channel
from voile.errors import InvalidInput, require
from voile.estimate.debiasing import checked_counts, output_counts, unbiased_scores
from voile.estimate.intervals import Estimate, contradicted, impossible, interval

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The share of each secret, with an interval for each: `confidence` is of one, not of all.

    `gap` is how far the mean log-likelihood of a record is from its maximum at most, where the
    estimate is one of largest likelihood.
    """

    secrets: Items
    shares: Floats
    lower: Floats
    upper: Floats
    confidence: float
    records: int
    ground: str
    gap: float | None = None

    def __len__(self) -> int:
        return len(self.shares)

    def __getitem__(self, position: int) -> Estimate:
        return Estimate(
            float(self.shares[position]),
            float(self.lower[position]),
            float(self.upper[position]),
            self.confidence,
            self.records,
            self.ground,
        )


def unbiased_frequencies(
    channel: Channel,
    releases: Sequence[Any] | Items | None = None,
    *,
    counts: Indices | None = None,
    confidence: float = CONFIDENCE,
) -> Frequencies:
    """Shares whose mean over the noise is the truth: the channel's matrix, inverted.

    A share may come out below 0 or above 1: cutting it off would bias sums of many, so it is left,
    unless chance cannot have done it (`contradicted`): then the channel is not the one that drew,
    and that is refused. Give the releases themselves or how often each output occurs.

    >>> import voile
    >>> warner = voile.mechanisms.randomised_response(["ill", "well"], epsilon=np.log(3))
    >>> print(unbiased_frequencies(warner, counts=np.array([400, 600]))[0])
    0.3 (95 % 0.2389 to 0.3622)
    """
    found = _counts(channel, releases, counts)
    table = unbiased_scores(channel)
    if any(contradicted(scores, found, times=len(table)) for scores in table):
        raise impossible(channel.guarantee.epsilon)
    return _inverted(channel, table, found, confidence)


def _inverted(channel: Channel, table: Floats, found: Indices, confidence: float) -> Frequencies:
    each = [interval(scores, found, confidence=confidence) for scores in table]
    return Frequencies(
        channel.space.items,
        np.array([one.value for one in each]),
        np.array([one.lower for one in each]),
        np.array([one.upper for one in each]),
        confidence,
        int(found.sum()),
        each[0].ground,
    )


def likeliest_frequencies(
    channel: Channel,
    releases: Sequence[Any] | Items | None = None,
    *,
    counts: Indices | None = None,
    confidence: float = CONFIDENCE,
    gap: float = 1e-7,
    steps: int = 20_000,
) -> Frequencies:
    """The shares under which the releases are likeliest: iterative Bayesian update.

    f_x ← f_x · Σ_y p̂_y K(y|x) / (fK)_y, which is EM (Agrawal and Aggarwal 2001; ElSalamouny and
    Palamidessi 2020). The likelihood is concave, and its mean over records is at most
    max_x Σ_y p̂_y K(y|x)/(fK)_y − 1 below its maximum: the iteration ends when that is below `gap`.
    Shares lie between 0 and 1, biased but often closer to the truth than unbiased ones.

    The interval is that of the unbiased estimate, which holds the population's share whatever is
    estimated beside it, within [0, 1] and widened to the estimate itself. Where the matrix has no
    inverse nothing is known of a single share, and its interval is [0, 1].
    """
    found = _counts(channel, releases, counts)
    law = channel.probabilities()
    seen = found / found.sum()
    shares, left = _likeliest(law, seen, gap, steps)
    try:
        plain = _inverted(channel, unbiased_scores(channel), found, confidence)
        lower = np.clip(np.minimum(plain.lower, shares), 0.0, 1.0)
        upper = np.clip(np.maximum(plain.upper, shares), 0.0, 1.0)
        ground = plain.ground
    except InvalidInput as problem:
        lower, upper, ground = np.zeros(len(shares)), np.ones(len(shares)), f"none: {problem}"
    records = int(found.sum())
    return Frequencies(channel.space.items, shares, lower, upper, confidence, records, ground, left)


def likeliest_shares(law: Floats, counts: Indices, *, steps: int = 3_000) -> Floats:
    """The likeliest shares of secrets under a table K[x, y]; see `likeliest_frequencies`."""
    return _likeliest(law, counts / counts.sum(), 1e-6, steps)[0]


def likeliest_of_many(law: Floats, counts: Indices, start: Floats, *, steps: int) -> Floats:
    """The likeliest shares for each row of counts, all begun at `start`: resamples of one release.

    The same update as in `likeliest_frequencies`, as products of whole tables.
    """
    seen = counts / counts.sum(axis=1, keepdims=True)
    shares = np.tile(start, (len(counts), 1))
    for _ in range(steps):
        moved = shares * (np.divide(seen, shares @ law, where=seen > 0, out=np.zeros_like(seen))
                          @ law.T)  # fmt: skip
        done = float(np.abs(moved - shares).max()) < 1e-6
        shares = moved
        if done:
            break
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _likeliest(law: Floats, seen: Floats, gap: float, steps: int) -> tuple[Floats, float]:
    used = seen > 0
    law, seen = law[:, used], seen[used]
    require(bool(law.any(axis=0).all()), "releases", "possible under the channel", "others")
    shares = np.full(len(law), 1 / len(law))
    left = np.inf
    for _ in range(steps):
        factor = law @ (seen / (shares @ law))
        left = max(0.0, float(factor.max()) - 1)
        if left <= gap:
            break
        shares = shares * factor
        shares /= shares.sum()
    return shares, left


def unbiased_mean(
    channel: Channel,
    values: Sequence[float] | Floats,
    releases: Sequence[Any] | Items | None = None,
    *,
    counts: Indices | None = None,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """The population's mean of a number that each secret has: a level, or 1 inside a region.

    Σ_x values[x]·f̂_x with unbiased f̂. Its interval is for that one number, and much narrower than
    those of the shares would add up to.

    >>> import voile
    >>> line = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean())
    >>> noisy = voile.mechanisms.geometric(line, epsilon=1.0)
    >>> print(unbiased_mean(noisy, [0.0, 1.0, 2.0], counts=np.array([300, 400, 300])))
    1 (95 % 0.924 to 1.076)
    """
    found = _counts(channel, releases, counts)
    given = np.asarray(values, dtype=np.float64)
    fits = given.shape == (len(channel.space),) and bool(np.isfinite(given).all())
    require(fits, "values", f"{len(channel.space)} finite numbers", f"shape {given.shape}")
    return interval(given @ unbiased_scores(channel), found, confidence=confidence)


def _counts(
    channel: Channel, releases: Sequence[Any] | Items | None, counts: Indices | None
) -> Indices:
    if (releases is None) == (counts is None):
        raise InvalidInput("give either releases or counts, and not both")
    found = output_counts(channel, releases) if releases is not None else counts
    assert found is not None
    return checked_counts(channel, found)
