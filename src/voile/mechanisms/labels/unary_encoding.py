"""A bit for each label, each drawn by itself: unary encoding for large domains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Items
from voile.core.channel import Channel
from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator
from voile.core.space import Space
from voile.core.weights import TOTAL
from voile.errors import require, require_epsilon
from voile.mechanisms._records import label_space
from voile.mechanisms._spread import outwards


@dataclass(frozen=True, eq=False)
class UnaryEncoding:
    """See `unary_encoding`. A release is a row of bits, one a label."""

    space: Space
    bit: Channel
    """From whether a bit is the label's own (0, 1) to the bit that is released."""
    guarantee: Guarantee

    @property
    def own(self) -> float:
        """How often a report supports its own label."""
        return float(self.bit.probabilities()[1, 1])

    @property
    def other(self) -> float:
        """How often a report supports any other label."""
        return float(self.bit.probabilities()[0, 1])

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """A row of bits for each secret, all drawn independently."""
        own = np.eye(len(self.space), dtype=np.intp)[self.space.index(secrets)]
        return self.bit.draw(own.ravel(), rng).reshape(own.shape)

    def log_prob(self, secrets: Sequence[Any] | Items, releases: Sequence[Any] | Items) -> Floats:
        """The law ln K(release | secret): a sum over the bits."""
        rows, law = self._bits(releases), self.bit.log_probabilities()
        alone = law[0][rows].sum(axis=1)
        moved = law[1][rows] - law[0][rows]
        return np.asarray(alone + moved[:, self.space.index(secrets)].T)

    def support(self, releases: Sequence[Any] | Items) -> Indices:
        """How many of the reports support each label: whose bit of it is set."""
        return np.asarray(self._bits(releases).sum(axis=0))

    def _bits(self, releases: Sequence[Any] | Items) -> Indices:
        rows = np.asarray(releases)
        good = rows.ndim == 2 and rows.shape[1] == len(self.space)
        good = good and bool(np.isin(rows, (0, 1)).all())
        require(good, "releases", f"rows of {len(self.space)} bits", f"shape {rows.shape}")
        return rows.astype(np.intp)


def unary_encoding(
    labels: Sequence[Any] | Items, *, epsilon: float, granularity: str = "one value"
) -> UnaryEncoding:
    """Set the bit of the own label with probability 1/2, of each other with q = 1/(e^ε + 1).

    Optimised unary encoding (Wang et al. 2017, section 4.3). Two labels differ in two bits, one of
    which is likelier set and one likelier not: the ratio of probabilities is at most
    (p/q)·((1 − q)/(1 − p)), e^ε here. That is computed from the integers that are sampled and
    rounded up: ε-local DP. A share is estimated with variance 4e^ε/(n(e^ε − 1)²) however many
    labels there are. Costs a draw for each bit; `design_response` needs one number a report.

    >>> import voile
    >>> oracle = unary_encoding(list(range(1000)), epsilon=1.0)
    >>> round(oracle.guarantee.epsilon, 6), round(oracle.own, 6), round(oracle.other, 6)
    (1.0, 0.5, 0.268941)
    >>> oracle.release([3, 7], voile.seeded_rng(1)).shape
    (2, 1000)
    """
    from voile.metrics.discrete_distance import discrete

    epsilon = require_epsilon(epsilon)
    space = label_space(labels, least=2)
    strength = min(epsilon, 40.0) * (1 - 2.0**-32)
    other = int(TOTAL / (np.exp(strength) + 1)) + 1
    bits = np.array([[TOTAL - other, other], [TOTAL // 2, TOTAL // 2]], dtype=np.uint64)
    reached = outwards(float(np.log(bits[1, 1] / other) + np.log(bits[0, 0] / bits[1, 0])))
    require(reached <= epsilon, "the certificate", f"at most {epsilon:g}", reached)
    free = Guarantee(float("inf"), discrete(), "one bit")
    choices = Space([0, 1], metric=discrete())
    bit = Channel(choices, np.array([0, 1]), bits, free)
    return UnaryEncoding(space, bit, Guarantee(epsilon, discrete(), granularity, Basis.CERTIFIED))


def examples() -> list[UnaryEncoding]:
    """A few labels, at two strengths."""
    return [
        unary_encoding(list("abcd"), epsilon=1.0),
        unary_encoding(list(range(9)), epsilon=2.5),
    ]
