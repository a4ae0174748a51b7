"""The truncated exponential law over a whole vocabulary, drawn exactly without its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Items, Weights
from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator, uniform_bits
from voile.core.space import Space
from voile.errors import BadFile, InvalidInput, OutsideSpace, require, require_epsilon
from voile.mechanisms._embedding import Embedding
from voile.mechanisms._neighbours import Neighbours, neighbours_of

LARGEST_EXPONENT = 41.0
"""No weight is smaller than e^−41 = 2^−59 of the largest: a floor, which keeps the bound."""

RELATIVE_ERROR = 2.0**-45
"""Bound on |ln(computed weight / exact weight)|, in units of 1.

The exponent is at most 41 and is the product of two correctly rounded numbers: off by at most
41·3·2^−53 < 2^−46. exp adds at most four units in the last place (any libm in use is better),
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

        rows = self._positions(secrets)
        if not len(rows):
            return rows
        order = np.argsort(rows, kind="stable")
        words, first = np.unique(rows[order], return_index=True)
        starts = np.append(first, len(rows))
        self.neighbours.ensure(words)
        near = self.neighbours
        drawn = np.empty(len(rows), dtype=np.intp)
        done = 0
        while done < len(rows):
            bits = uniform_bits(rng, 2**16 + 4 * min(len(rows) - done, 2**18), bits=64)
            done = kernels.draw(
                words, starts, self.embedding.coordinates, near.index, near.squared, near.checks,
                self.rate, self.cap, bits, drawn, done,
            )  # fmt: skip
            if done < 0:
                raise BadFile("the cache of neighbours is damaged; delete its folder")
        released = np.empty_like(drawn)
        released[order] = drawn
        return released

    def log_prob(self, secrets: Sequence[Any] | Items, releases: Sequence[Any] | Items) -> Floats:
        """ln K(release | secret), from the integers and acceptances that are drawn from.

        Costs one pass over the vocabulary for each distinct secret.
        """  # noqa: D403
        rows, columns = self._positions(secrets), self._positions(releases)
        answer = np.empty((len(rows), len(columns)))
        for word in np.unique(rows):
            proposals, accepts = self.law(int(word))
            masses = proposals * accepts
            answer[rows == word] = np.log(masses[columns]) - np.log(masses.sum())
        return answer

    def law(self, word: int) -> tuple[Weights, Floats]:
        """P and r over the whole vocabulary for one secret."""
        from voile.mechanisms import _word_kernels as kernels

        self.neighbours.ensure(np.array([word]))
        proposals = np.empty(len(self.embedding), dtype=np.uint64)
        accepts = np.empty(len(self.embedding))
        kernels.whole_row(
            word, self.embedding.coordinates, self.neighbours.index[word],
            self.neighbours.squared[word], self.rate, self.cap, proposals, accepts,
        )  # fmt: skip
        return proposals, accepts

    def exact_row(self, word: int) -> list[Fraction]:
        """K(·|word) as exact rational numbers; for small vocabularies and for tests."""
        proposals, accepts = self.law(word)
        masses = [int(p) * Fraction(r) for p, r in zip(proposals, accepts.tolist(), strict=True)]
        total = sum(masses)
        return [mass / total for mass in masses]

    def _positions(self, values: Sequence[Any] | Items) -> Indices:
        rows = np.asarray(values)
        whole = rows.ndim == 1 and (rows.dtype.kind in "iu" or rows.size == 0)
        require(whole, "words", "positions in the vocabulary", f"{rows.ndim}-d {rows.dtype}")
        strangers = int(((rows < 0) | (rows >= len(self.embedding))).sum())
        if strangers:
            raise OutsideSpace(
                f"words must be positions below {len(self.embedding)}, got {strangers} others"
            )
        return rows.astype(np.intp)


def word_law(
    words: Embedding,
    *,
    epsilon: float,
    gamma: float,
    neighbours: int,
    cache: str | Path | None,
    granularity: str,
) -> WordLaw:
    """The law exp(−(s/2)·min(d, γ)), s a hair below epsilon: what rounding costs is inside ε."""
    require_epsilon(epsilon)
    # Two numerators and two normalisers may each be off by RELATIVE_ERROR, at worst between two
    # words one step apart. The factor covers the rounding of the distance itself.
    rounding = 4 * RELATIVE_ERROR / words.step
    strength = epsilon * (1 - 2.0**-40) - rounding
    if strength < 0.999 * epsilon:
        raise InvalidInput(
            f"epsilon must be at least {1000 * rounding:.2g} for these vectors, got {epsilon:g}"
        )
    return WordLaw(
        words,
        Guarantee(epsilon, words.metric, granularity, Basis.PROVED),
        neighbours_of(words, kept=neighbours, cache=cache),
        rate=0.5 * strength * words.step,
        cap=min(0.5 * strength * gamma, LARGEST_EXPONENT),
    )
