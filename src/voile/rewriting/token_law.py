"""What every law of a token has in common: integers that are drawn from, and that are the law."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices, Weights
from voile.core.randomness import Generator, uniform_bits
from voile.core.weights import TOTAL, TOTAL_BITS, columns_at
from voile.errors import require

FLOOR = 24
"""No token's weight is below 2**24 of 2**62: rounding moves its logarithm by at most 2**-23."""
_AT_ONCE = 2**18
"""Weights that are worked on together: two megabytes."""


@dataclass(frozen=True)
class TokenLaw(ABC):
    """A law over the next token, given the logits that a model has for it.

    `public` are logits of the same model that has not read the private text: a row for each row of
    `logits`. Only laws that say `reads_public` look at them.
    """

    epsilon: float
    reads_public: ClassVar[bool] = False

    @abstractmethod
    def stated(self, size: int) -> float:
        """What one of `size` tokens costs at most: the bound of the integers, rounded up."""

    @abstractmethod
    def weights(self, logits: NDArray[Any], public: NDArray[Any] | None = None) -> Weights:
        """The law as integers that sum to 2**62, one row for each row of logits."""

    def common(self, size: int) -> int:
        """What each of `size` tokens weighs at least, whatever the logits are."""
        return 0

    def log_law(self, logits: NDArray[Any], public: NDArray[Any] | None = None) -> Floats:
        """ln of the probabilities that are drawn from; −inf for what cannot be drawn."""  # noqa: D403
        with np.errstate(divide="ignore"):
            return np.log(self.weights(logits, public)) - math.log(TOTAL)

    def draw(
        self,
        logits: NDArray[Any],
        rng: Generator,
        *,
        rows: Indices | None = None,
        public: NDArray[Any] | None = None,
    ) -> Indices:
        """One token for each row of logits, or for each of `rows`, which may repeat a row."""
        wanted = np.arange(len(logits), dtype=np.intp) if rows is None else rows
        targets = uniform_bits(rng, len(wanted), bits=TOTAL_BITS)
        return self.at(logits, wanted, targets, public)

    def at(
        self,
        logits: NDArray[Any],
        rows: Indices,
        targets: Weights,
        public: NDArray[Any] | None = None,
    ) -> Indices:
        """The token that each target, uniform below 2**62, stands for under the law of its row.

        The laws of a few rows at a time, which stay in cache.
        """
        size = logits.shape[1]
        common = self.common(size)
        chosen = settled(targets, common=common, size=size)
        asking = np.flatnonzero(chosen < 0)
        used, which = np.unique(rows[asking], return_inverse=True)
        step = max(1, _AT_ONCE // size)
        for start in range(0, len(used), step):
            these = used[start : start + step]
            here = (which >= start) & (which < start + step)
            laws = self.weights(logits[these], None if public is None else public[these])
            laws -= np.uint64(common)
            np.cumsum(laws, axis=1, out=laws)
            beyond = targets[asking[here]] - np.uint64(common * size)
            chosen[asking[here]] = columns_at(laws, which[here] - start, beyond)
        return chosen


def settled(targets: Weights, *, common: int, size: int) -> Indices:
    """The tokens that targets stand for whatever the logits are; −1 where those decide.

    Each token has `common` units at least: the first `common` · `size` targets go to them, in
    equal parts, and the others to what its weight has beyond.
    """
    if common == 0:
        return np.full(targets.shape, -1, dtype=np.intp)
    tokens = (targets // np.uint64(common)).astype(np.intp)
    return np.where(tokens < size, tokens, -1)


def check_table(logits: NDArray[Any]) -> Floats:
    """Logits as doubles, a row for each draw, over a vocabulary that the proofs allow."""
    table = np.asarray(logits, dtype=np.float64)
    require(table.ndim == 2, "logits", "a row for each draw", f"{table.ndim} dimensions")
    size = table.shape[1]
    require(2 <= size <= 2**22, "a vocabulary", "between 2 and 2**22 tokens", size)
    return table


def upwards(value: float) -> float:
    """A little more than a bound that doubles have computed."""
    return value * (1 + 2.0**-40)
