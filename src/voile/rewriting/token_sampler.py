"""Drawing a token under a bound: the exponential mechanism on clipped logits, in integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices, Weights
from voile.core.randomness import Generator, uniform_bits
from voile.core.weights import TOTAL, TOTAL_BITS, columns_at, quantise
from voile.errors import InvalidInput, require, require_epsilon

FLOOR = 24
"""No token's weight is below 2**24 of 2**62: rounding moves its logarithm by at most 2**-23."""
_AT_ONCE = 2**18
"""Weights that are worked on together: two megabytes."""


@dataclass(frozen=True)
class TokenSampler:
    """One token with probability ∝ exp(ε·clip(logit)/(2Δ)), Δ = upper − lower.

    Temperature sampling at T = 2Δ/ε, read as the exponential mechanism (Mattern et al. 2022;
    Utpala et al. 2023). Whatever text the logits came from, a clipped logit moves by at most Δ,
    so a weight by e^(ε/2) and their sum by e^(ε/2): together ε for one token.

    The law is integers that sum to 2**62, drawn exactly; no token has probability 0, where
    float32 softmax would lose tokens from ε ≈ 206 on and with them the guarantee. What that
    costs is inside ε: weights are raised to 2**-38, which adds at most V·2**-38 to a sum of 1,
    and rounded by one unit in 2**24; `strength` is ε less both. NaN and −∞ count as the lower
    bound, +∞ as the upper one. No top-k and no top-p: their support would depend on the text.

    `aligned` moves each row first, so that its largest logit is `upper`. A softmax does not see
    such a shift, but clipping does: a model's logits drift from token to token, and where a whole
    row lies below `lower`, fixed bounds draw any token alike at any ε. The proof asks only
    that what is exponentiated lies between the bounds, so ε is the same.

    >>> import numpy as np
    >>> sampler = TokenSampler(epsilon=10.0, lower=-1.0, upper=1.0)
    >>> sampler.temperature
    0.4
    >>> np.exp(sampler.log_law(np.array([[0.0, 1.0, 99.0]]))).round(4)
    array([[0.0394, 0.4803, 0.4803]])
    >>> low = np.array([[-9.0, -8.0, -9.5]])  # all below the bounds
    >>> np.exp(sampler.log_law(low)).round(2)
    array([[0.33, 0.33, 0.33]])
    >>> np.exp(TokenSampler(10.0, -1.0, 1.0, aligned=True).log_law(low)).round(2)
    array([[0.07, 0.9 , 0.02]])
    """

    epsilon: float
    lower: float
    upper: float
    aligned: bool = False

    def __post_init__(self) -> None:
        require_epsilon(self.epsilon)
        ok = math.isfinite(self.lower) and math.isfinite(self.upper) and self.lower < self.upper
        require(ok, "logit bounds", "finite, lower < upper", (self.lower, self.upper))
        require(self.epsilon >= 1e-3, "epsilon for one token", ">= 0.001", self.epsilon)

    @property
    def stated(self) -> float:
        """What one token costs at most: ε, or the floor's own bound where ε is larger.

        No weight is below 2**24 and none above 2**62, so no two laws differ by more than
        2**38 = e^26.34 at any token, whatever ε asks for.

        >>> TokenSampler(2.0, -1.0, 1.0).stated, round(TokenSampler(2500.0, -1.0, 1.0).stated, 2)
        (2.0, 26.34)
        """
        return min(self.epsilon, math.nextafter((TOTAL_BITS - FLOOR) * math.log(2), math.inf))

    @property
    def temperature(self) -> float:
        """T = 2(upper − lower)/ε."""
        return 2 * (self.upper - self.lower) / self.epsilon

    def weights(self, logits: NDArray[Any]) -> Weights:
        """The law as integers, one row for each row of logits."""
        table = np.asarray(logits, dtype=np.float64)
        require(table.ndim == 2, "logits", "a row for each draw", f"{table.ndim} dimensions")
        size = table.shape[1]
        require(2 <= size <= 2**22, "a vocabulary", "between 2 and 2**22 tokens", size)
        if self.aligned:
            with np.errstate(invalid="ignore"):  # ∞ − ∞ is NaN, and clipped like any other
                table = table - (np.fmax.reduce(table, axis=1, keepdims=True) - self.upper)
        clipped = np.fmax(table, self.lower)  # of NaN and a number, the number
        np.minimum(clipped, self.upper, out=clipped)
        clipped *= self.strength(size) / (2 * (self.upper - self.lower))
        return quantise(clipped, floor=FLOOR)

    def strength(self, size: int) -> float:
        """Epsilon less what the floor and rounding may add for a vocabulary of this size."""
        rounding = 4 * 2.0 ** (1 - FLOOR)
        raised = size * 2.0 ** (FLOOR - TOTAL_BITS)
        return self.epsilon * (1 - 2.0**-40) - rounding - 2 * raised

    def log_law(self, logits: NDArray[Any]) -> Floats:
        """ln of the probabilities that are drawn from."""  # noqa: D403
        return np.log(self.weights(logits)) - math.log(TOTAL)

    def common(self, size: int) -> int:
        """What each of `size` tokens weighs at least, whatever the logits are.

        The smallest share is e^(−ε/2)/size before the floor, which takes at most 2**-16 off it,
        and rounding, which takes less than as much again and two units.
        """
        return max(0, int(TOTAL / size * math.exp(-self.epsilon / 2) * (1 - 2.0**-15)) - 2)

    def draw(self, logits: NDArray[Any], rng: Generator, *, rows: Indices | None = None) -> Indices:
        """One token for each row of logits, or for each of `rows`, which may repeat a row."""
        return _drawn(self, logits, rng, rows=rows)

    def at(self, logits: NDArray[Any], rows: Indices, targets: Weights) -> Indices:
        """The token that each target, uniform below 2**62, stands for under the law of its row."""
        return _found(self, logits, rows, targets)


@dataclass(frozen=True)
class ReleasedSampler:
    """What published code draws from: plain softmax, perhaps unclipped, perhaps only the top k.

    Kept to reproduce published figures, and for the audit to refute. Neither variant has a
    bound: unclipped logits have no Δ, and the set of the k likeliest tokens depends on the text,
    so some tokens are possible under one text and impossible under another.
    """

    epsilon: float
    lower: float
    upper: float
    top_k: int | None = None
    clipped: bool = True

    @property
    def stated(self) -> float:
        """What was claimed for one token."""
        return self.epsilon

    @property
    def temperature(self) -> float:
        """T = 2(upper − lower)/ε, as if the bound held."""
        return 2 * (self.upper - self.lower) / self.epsilon

    def weights(self, logits: NDArray[Any]) -> Weights:
        """The law as integers; 0 outside the top k."""
        table = np.asarray(logits, dtype=np.float64)
        if np.isnan(table).any():
            raise InvalidInput("logits must be numbers, got NaN")
        if self.clipped:
            table = np.clip(table, self.lower, self.upper)
        table = table / self.temperature
        if self.top_k is not None and self.top_k < table.shape[1]:
            kth = np.partition(table, -self.top_k, axis=1)[:, [-self.top_k]]
            table = np.where(table >= kth, table, -np.inf)
        return quantise(table, floor=-1)

    def log_law(self, logits: NDArray[Any]) -> Floats:
        """ln of the probabilities; −inf for what cannot be drawn."""  # noqa: D403
        with np.errstate(divide="ignore"):
            return np.log(self.weights(logits)) - math.log(TOTAL)

    def common(self, size: int) -> int:
        """Nothing: outside the top k there are zeros, and unclipped logits know no bound."""
        return 0

    def draw(self, logits: NDArray[Any], rng: Generator, *, rows: Indices | None = None) -> Indices:
        """One token for each row of logits, or for each of `rows`, which may repeat a row."""
        return _drawn(self, logits, rng, rows=rows)

    def at(self, logits: NDArray[Any], rows: Indices, targets: Weights) -> Indices:
        """The token that each target, uniform below 2**62, stands for under the law of its row."""
        return _found(self, logits, rows, targets)


Sampler = TokenSampler | ReleasedSampler


def settled(targets: Weights, *, common: int, size: int) -> Indices:
    """The tokens that targets stand for whatever the logits are; −1 where those decide.

    Each token has `common` units at least: the first `common` · `size` targets go to them, in
    equal parts, and the others to what its weight has beyond.
    """
    if common == 0:
        return np.full(targets.shape, -1, dtype=np.intp)
    tokens = (targets // np.uint64(common)).astype(np.intp)
    return np.where(tokens < size, tokens, -1)


def _drawn(
    sampler: Sampler, logits: NDArray[Any], rng: Generator, *, rows: Indices | None
) -> Indices:
    wanted = np.arange(len(logits), dtype=np.intp) if rows is None else rows
    return sampler.at(logits, wanted, uniform_bits(rng, len(wanted), bits=TOTAL_BITS))


def _found(sampler: Sampler, logits: NDArray[Any], rows: Indices, targets: Weights) -> Indices:
    """One token for each target, exactly; the laws of a few rows at a time, which stay in cache."""
    size = logits.shape[1]
    common = sampler.common(size)
    chosen = settled(targets, common=common, size=size)
    asking = np.flatnonzero(chosen < 0)
    used, which = np.unique(rows[asking], return_inverse=True)
    step = max(1, _AT_ONCE // size)
    for start in range(0, len(used), step):
        here = (which >= start) & (which < start + step)
        laws = sampler.weights(logits[used[start : start + step]])
        laws -= np.uint64(common)
        np.cumsum(laws, axis=1, out=laws)
        beyond = targets[asking[here]] - np.uint64(common * size)
        chosen[asking[here]] = columns_at(laws, which[here] - start, beyond)
    return chosen
