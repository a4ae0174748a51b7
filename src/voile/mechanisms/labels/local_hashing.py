"""A random hash of the label, released by randomised response: for domains of any size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Items
from voile.core.channel import Channel
from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator
from voile.core.space import Space
from voile.errors import require, require_epsilon
from voile.mechanisms._records import label_space

_LARGEST_FIELD = 10_007
"""Of hash values: beyond it an epsilon is so large that the label itself might be released."""


@dataclass(frozen=True, eq=False)
class LocalHashing:
    """See `local_hashing`. A release is a row (a₁, …, a_t, b, answer) of whole numbers."""

    space: Space
    answers: Channel
    """From the hash of the label to the hash that is released."""
    guarantee: Guarantee

    @property
    def own(self) -> float:
        """How often a report supports its own label."""
        return float(self.answers.probabilities()[0, 0])

    @property
    def other(self) -> float:
        """How often a report supports any other label: its hash is uniform, whatever the label."""
        return 1 / self.field

    @property
    def field(self) -> int:
        """The prime of which hash values are remainders."""
        return len(self.answers.space)

    @cached_property
    def _digits(self) -> Indices:
        """The labels' positions, written to the base of the field."""
        places = max(1, math.ceil(math.log(len(self.space)) / math.log(self.field) - 1e-12))
        powers = self.field ** np.arange(places)
        return np.asarray(np.arange(len(self.space))[:, None] // powers % self.field)

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """A hash function for each secret, and its noisy hash."""
        digits = self._digits[self.space.index(secrets)]
        seeds = rng.integers(self.field, size=(len(digits), digits.shape[1] + 1))
        drawn = self.answers.draw(_hashes(seeds, digits, self.field), rng)
        return np.concatenate([seeds, drawn[:, None]], axis=1)

    def log_prob(self, secrets: Sequence[Any] | Items, releases: Sequence[Any] | Items) -> Floats:
        """The law ln K(release | secret): a uniform hash function, then randomised response."""
        rows, law = self._rows(releases), self.answers.log_probabilities()
        digits = self._digits[self.space.index(secrets)]
        uniform = -(digits.shape[1] + 1) * math.log(self.field)
        hashed = np.stack([_hashes(rows[:, :-1], one[None], self.field) for one in digits])
        return np.asarray(uniform + law[hashed, rows[:, -1]])

    def support(self, releases: Sequence[Any] | Items) -> Indices:
        """How many of the reports support each label: whose answer is its hash."""
        rows = self._rows(releases)
        return np.array(
            [
                int((_hashes(rows[:, :-1], one[None], self.field) == rows[:, -1]).sum())
                for one in self._digits
            ],
            dtype=np.intp,
        )

    def _rows(self, releases: Sequence[Any] | Items) -> Indices:
        rows = np.asarray(releases)
        width = self._digits.shape[1] + 2
        good = rows.ndim == 2 and rows.shape[1] == width and rows.dtype.kind in "iu"
        good = good and bool(((rows >= 0) & (rows < self.field)).all())
        must = f"rows of {width} whole numbers below {self.field}"
        require(good, "releases", must, f"shape {rows.shape}")
        return rows.astype(np.intp)


def _hashes(seeds: Indices, digits: Indices, field: int) -> Indices:
    """Σ a_i·digit_i + b in the field."""
    return np.asarray(((seeds[:, :-1] * digits).sum(axis=1) + seeds[:, -1]) % field)


def local_hashing(
    labels: Sequence[Any] | Items, *, epsilon: float, granularity: str = "one value"
) -> LocalHashing:
    """Draw a hash function h at random, release h and h(label) by randomised response.

    Optimal local hashing (Wang et al. 2017, section 4.4) with hash values in the prime field
    nearest to e^ε + 1 and h(x) = Σ a_i·x_i + b over the digits x_i of the label's position. Two
    labels differ in a digit, so their hashes are independent and uniform over the draw of h: a
    report supports a label other than its own with probability 1/field, and estimates have no bias.
    The function is drawn without a look at the label, so the bound is randomised response's, whose
    integers are certified: ε-local DP. The variance of a share is that of `unary_encoding`, and a
    report is a few numbers for any number of labels. To count supports costs labels × reports.

    >>> oracle = local_hashing(list(range(5000)), epsilon=1.0)
    >>> oracle.field, round(oracle.own, 4), oracle.guarantee.epsilon
    (3, 0.5761, 1.0)
    """
    from voile.metrics.discrete_distance import discrete

    epsilon = require_epsilon(epsilon)
    space = label_space(labels, least=2)
    wanted = min(math.exp(min(epsilon, 20.0)) + 1, float(_LARGEST_FIELD))
    field = min(
        (n for n in range(2, int(2 * wanted) + 3) if _is_prime(n)), key=lambda n: abs(n - wanted)
    )
    same = np.eye(field)
    answers = Channel.build(
        Space(list(range(field)), metric=discrete()),
        lambda strength: strength * same,
        epsilon=epsilon,
        granularity=granularity,
    )
    return LocalHashing(space, answers, answers.guarantee)


def _is_prime(number: int) -> bool:
    return all(number % d for d in range(2, math.isqrt(number) + 1))


def examples() -> list[LocalHashing]:
    """A few labels, at two strengths."""
    return [
        local_hashing(list("abcd"), epsilon=1.0),
        local_hashing(list(range(12)), epsilon=1.5),
    ]
