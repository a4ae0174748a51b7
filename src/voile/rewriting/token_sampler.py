"""Drawing a token under a bound: the exponential mechanism on clipped logits, in integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Weights
from voile.core.weights import TOTAL, TOTAL_BITS, quantise
from voile.errors import InvalidInput, require, require_epsilon
from voile.rewriting.token_law import FLOOR, TokenLaw, check_table, upwards

ROUNDING = 4 * 2.0 ** (1 - FLOOR)
"""What rounding two weights to integers may add to the logarithm of their ratio, with room."""


@dataclass(frozen=True)
class TokenSampler(TokenLaw):
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

    def stated(self, size: int) -> float:
        """What one of `size` tokens costs at most: what the integers of two worst rows give.

        A token's share is largest where it alone stands at the upper bound and smallest where it
        alone stands at the lower one: with a = e^(strength/2) and V = `size`, a/(a + V − 1) and
        1/(1 + (V − 1)a), the latter raised to 2**-38. The logarithm of their ratio is ε for small
        ε, ε/2 + ln(V − 1) where a exceeds V, and never above 38·ln 2 = 26.34, whatever ε asks for.

        >>> [round(TokenSampler(e, -1.0, 1.0).stated(49_152), 2) for e in (2.0, 30.0, 2500.0)]
        [2.0, 25.79, 26.34]
        """
        half, others = self.strength(size) / 2, math.log(size - 1)
        largest = -float(np.logaddexp(0.0, others - half))
        smallest = -float(np.logaddexp(0.0, others + half))
        most = largest - max(smallest, (FLOOR - TOTAL_BITS) * math.log(2))
        raised = size * 2.0 ** (FLOOR - TOTAL_BITS)
        most = upwards(most + ROUNDING + 2 * raised)
        return most if most < 0.999 * self.epsilon else self.epsilon

    @property
    def temperature(self) -> float:
        """T = 2(upper − lower)/ε."""
        return 2 * (self.upper - self.lower) / self.epsilon

    def weights(self, logits: NDArray[Any], public: NDArray[Any] | None = None) -> Weights:
        """The law as integers, one row for each row of logits."""
        table = check_table(logits)
        if self.aligned:
            with np.errstate(invalid="ignore"):  # ∞ − ∞ is NaN, and clipped like any other
                table = table - (np.fmax.reduce(table, axis=1, keepdims=True) - self.upper)
        clipped = np.fmax(table, self.lower)  # of NaN and a number, the number
        np.minimum(clipped, self.upper, out=clipped)
        clipped *= self.strength(table.shape[1]) / (2 * (self.upper - self.lower))
        return quantise(clipped, floor=FLOOR)

    def strength(self, size: int) -> float:
        """Epsilon less what the floor and rounding may add for a vocabulary of this size."""
        raised = size * 2.0 ** (FLOOR - TOTAL_BITS)
        return self.epsilon * (1 - 2.0**-40) - ROUNDING - 2 * raised

    def common(self, size: int) -> int:
        """What each of `size` tokens weighs at least, whatever the logits are.

        The smallest share is e^(−ε/2)/size before the floor, which takes at most 2**-16 off it,
        and rounding, which takes less than as much again and two units.
        """
        return max(0, int(TOTAL / size * math.exp(-self.epsilon / 2) * (1 - 2.0**-15)) - 2)


@dataclass(frozen=True)
class ReleasedSampler(TokenLaw):
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

    def stated(self, size: int) -> float:
        """What was claimed for one token."""
        return self.epsilon

    @property
    def temperature(self) -> float:
        """T = 2(upper − lower)/ε, as if the bound held."""
        return 2 * (self.upper - self.lower) / self.epsilon

    def weights(self, logits: NDArray[Any], public: NDArray[Any] | None = None) -> Weights:
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
