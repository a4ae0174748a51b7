"""Noise added to word vectors, and the exact nearest words of the sum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Items
from voile.core.guarantee import Guarantee
from voile.core.lattice_laplace import FINEST, LARGEST_RATE, LatticeLaplace, finer, lattice_laplace
from voile.core.randomness import Generator, uniform_bits
from voile.core.space import Space
from voile.errors import require
from voile.mechanisms._embedding import Embedding, positions_in

_BLOCK_ELEMENTS = 2**22


@dataclass(frozen=True, eq=False)
class WordNoise:
    """Vector plus noise, released as its nearest word, or its second nearest.

    Noise is drawn on the lattice of `around`, whose distances the guarantee speaks of: the words
    themselves, or another image of them that `shape` turns back. `second` is Vickrey's t: 0 always
    takes the nearest word. What follows the noise looks at the noisy vector alone, so it is
    post-processing. The noise is `lattice_laplace`, drawn by integers.
    """

    embedding: Embedding
    guarantee: Guarantee
    around: Embedding
    shape: Floats | None = None
    second: float = 0.0

    @property
    def space(self) -> Space:
        """The words' positions under the metric of the guarantee."""
        return Space(np.arange(len(self.embedding)), metric=self.guarantee.metric)

    @cached_property
    def _parts(self) -> int:
        """How many steps of the noise make one of the vectors: more than one at a large ε."""
        return finer(self.guarantee.epsilon * self.around.step)

    @cached_property
    def _noise(self) -> LatticeLaplace:
        rate = self.guarantee.epsilon * self.around.step / self._parts
        low, high = FINEST / self.around.step, LARGEST_RATE / self.around.step
        fits = low <= self.guarantee.epsilon <= high
        between = f"between {low:.2g} and {high:.2g} for these vectors"
        require(fits, "epsilon", between, self.guarantee.epsilon)
        return lattice_laplace(self.around.coordinates.shape[1], rate)

    def release(self, secrets: Sequence[Any] | Items, rng: Generator) -> Items:
        """One position for each position."""
        rows = positions_in(self.embedding, secrets)
        released = np.empty(len(rows), dtype=np.intp)
        for part in self._blocks(len(rows)):
            noisy = self._noisy(rows[part], rng)
            released[part] = self._picked(noisy, rng)
        return released

    def _blocks(self, count: int) -> Iterator[slice]:
        step = max(1, _BLOCK_ELEMENTS // len(self.embedding))
        for start in range(0, count, step):
            yield slice(start, min(start + step, count))

    def _noisy(self, rows: Indices, rng: Generator) -> Floats:
        exact = self.around.coordinates[rows].astype(np.int64) * self._parts
        noisy = self._noise.add(exact, rng).astype(np.float64)
        points: Floats = noisy * (self.around.step / self._parts)
        return points if self.shape is None else points @ self.shape

    def _picked(self, noisy: Floats, rng: Generator) -> Indices:
        """The nearest word of each point; with probability t·d₁/(t·d₁ + (1−t)·d₂) the second."""
        points = noisy / self.embedding.step
        squared = self.embedding.squared_to(points)
        first: Indices = squared.argmin(axis=1)
        if self.second == 0:
            return first
        each = np.arange(len(first))
        nearest = _root(squared[each, first] + (points**2).sum(axis=1))
        squared[each, first] = np.inf
        other = squared.argmin(axis=1)
        runner = _root(squared[each, other] + (points**2).sum(axis=1))
        t = self.second
        weight = t * nearest + (1 - t) * runner
        stay = uniform_bits(rng, len(first), bits=53) * 2.0**-53 * weight < (1 - t) * runner
        return np.where(stay, first, other)


def _root(squared: Floats) -> Floats:
    return np.sqrt(np.maximum(squared, 0.0))
