"""The truncated exponential law over a whole vocabulary, drawn exactly without its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Items, Weights
from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator, uniform_bits
from voile.core.space import Space
from voile.errors import InvalidInput, require_epsilon
from voile.mechanisms._embedding import Coordinates, Embedding, positions_in
from voile.mechanisms._neighbours import Neighbours, neighbours_of

LARGEST_EXPONENT = 41.0
"""No weight is smaller than e^−41 = 2^−59 of the largest: a floor, which keeps the bound."""

RELATIVE_ERROR = 2.0**-45
"""Bound on |ln(computed weight / exact weight)|, in units of 1.

The exponent is at most 41 and is the product of two correctly rounded numbers: off by at most
41·3·2^−53 < 2^−46. The exponential (`exp_minus`) adds at most a unit and a half in the last place,
the quotient that makes an acceptance two: together below 2^−45.
"""


@dataclass(frozen=True, eq=False)
class WordLaw:
    """K(y|x) = P(y)·r(y) / Σ, where P are integers and r doubles, so a rational number.

    Secrets and releases are positions in the vocabulary. `release` and `log_prob` read the same
    P and r. See `word_truncated_exponential` for the proof.
    """

    embedding: Embedding
    guarantee: Guarantee
    neighbours: Neighbours
    rate: float
    cap: float

    @property
    def space(self) -> Space:
        """The words' positions and their metric."""
        return self.embedding.space

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """One position for each position, drawn exactly."""
        from voile.mechanisms import _word_kernels as kernels

        rows = positions_in(self.embedding, secrets)
        if not len(rows):
            return rows
        order = np.argsort(rows, kind="stable")
        words, first = np.unique(rows[order], return_index=True)
        starts = np.append(first, len(rows))
        self.neighbours.ensure(words)
        near = self.neighbours
        drawn = np.empty(len(rows), dtype=np.intp)
        done, each = 0, 4
        while done < len(rows):
            before = done
            bits = uniform_bits(rng, 2**10 + min(each * (len(rows) - done), 2**20), bits=64)
            done = kernels.draw(
                words, starts, self.embedding.coordinates, self._output_points,
                near.index, near.squared, self.rate, self.cap, bits, drawn, done,
            )  # fmt: skip
            each = max(each, len(bits) // max(1, done - before))  # where few tries are accepted
        released = np.empty_like(drawn)
        released[order] = near.outputs[drawn]
        return released

    def release_from(self, secrets: Sequence[Any] | Items, bits: Weights) -> Items:
        """One position for each, drawn from its own row of bits; −1 where they do not suffice.

        With more bits after the same ones the draw goes on where it stopped, so that a draw is a
        function of its stream: the first try in it that is accepted.
        """
        from voile.mechanisms import _word_kernels as kernels

        rows = positions_in(self.embedding, secrets)
        self.neighbours.ensure(np.unique(rows))
        near = self.neighbours
        drawn = np.empty(len(rows), dtype=np.intp)
        kernels.draw_each(
            rows, self.embedding.coordinates, self._output_points, near.index, near.squared,
            self.rate, self.cap, np.ascontiguousarray(bits), drawn,
        )  # fmt: skip
        return np.where(drawn < 0, drawn, near.outputs[drawn])

    @cached_property
    def _output_points(self) -> Coordinates:
        everything = len(self.neighbours.outputs) == len(self.embedding)
        points = self.embedding.coordinates
        return points if everything else points[self.neighbours.outputs]

    def log_prob(self, secrets: Sequence[Any] | Items, releases: Sequence[Any] | Items) -> Floats:
        """ln K(release | secret), from the integers and acceptances that are drawn from.

        Costs one pass over the vocabulary for each distinct secret.
        """  # noqa: D403
        rows, columns = (
            positions_in(self.embedding, secrets),
            positions_in(self.embedding, releases),
        )
        answer = np.empty((len(rows), len(columns)))
        for word in np.unique(rows):
            proposals, accepts = self.law(int(word))
            masses = proposals * accepts
            with np.errstate(divide="ignore"):
                answer[rows == word] = np.log(masses[columns]) - np.log(masses.sum())
        return answer

    def law(self, word: int) -> tuple[Weights, Floats]:
        """P and r over the whole vocabulary for one secret; 0 for what is never released."""
        from voile.mechanisms import _word_kernels as kernels

        self.neighbours.ensure(np.array([word]))
        near = self.neighbours
        proposals = np.zeros(len(self.embedding), dtype=np.uint64)
        accepts = np.zeros(len(self.embedding))
        some, chances = np.empty(len(near.outputs), dtype=np.uint64), np.empty(len(near.outputs))
        kernels.whole_row(
            self.embedding.coordinates[word], self._output_points, near.index[word],
            near.squared[word], self.rate, self.cap, some, chances,
        )  # fmt: skip
        proposals[near.outputs], accepts[near.outputs] = some, chances
        return proposals, accepts

    def exact_row(self, word: int) -> list[Fraction]:
        """K(·|word) as exact rational numbers; for small vocabularies and for tests."""
        proposals, accepts = self.law(word)
        masses = [int(p) * Fraction(r) for p, r in zip(proposals, accepts.tolist(), strict=True)]
        total = sum(masses)
        return [mass / total for mass in masses]


def word_law(
    words: Embedding,
    *,
    epsilon: float,
    gamma: float,
    neighbours: int | Neighbours,
    cache: str | Path | None,
    granularity: str,
    outputs: Indices | None = None,
) -> WordLaw:
    """The law exp(−(s/2)·min(d, γ)), s a hair below epsilon: what rounding costs is inside ε."""
    epsilon = require_epsilon(epsilon)
    # Two numerators and two normalisers may each be off by RELATIVE_ERROR, at worst between two
    # words one step apart. The factor covers the rounding of the distance itself.
    rounding = 4 * RELATIVE_ERROR / words.step
    strength = epsilon * (1 - 2.0**-40) - rounding
    if strength < 0.999 * epsilon:
        raise InvalidInput(
            f"epsilon must be at least {1000 * rounding:.2g} for these vectors, got {epsilon:g}"
        )
    near = (
        neighbours
        if isinstance(neighbours, Neighbours)
        else neighbours_of(words, kept=neighbours, outputs=outputs, cache=cache, fill=True)
    )
    return WordLaw(
        words,
        Guarantee(epsilon, words.metric, granularity, Basis.PROVED),
        near,
        rate=0.5 * strength * words.step,
        cap=min(0.5 * strength * gamma, LARGEST_EXPONENT),
    )
