"""What word laws do at many strengths at once: curves to choose an epsilon by.

One pass over the distances serves all strengths, in single precision: good to draw, and to find a
strength that is then looked at exactly (`voile.leakage.words`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.errors import require
from voile.leakage.words import representative_words
from voile.mechanisms._embedding import Embedding
from voile.mechanisms._word_law import LARGEST_EXPONENT

_BLOCK_ROWS = 64

Singles = NDArray[np.float32]


@dataclass(frozen=True)
class WordCurves:
    """Shares at each strength: words kept, the watched word kept most, how far words move.

    `moved` is E d(X, Y) over E d(X, U), for a word X of the public frequencies, its release Y and
    a word U drawn blindly: 0 where nothing changes, 1 where nothing of the meaning is left.
    `watched` is None where no word is watched.
    """

    epsilons: tuple[float, ...]
    kept: tuple[float, ...]
    watched: tuple[float, ...] | None
    moved: tuple[float, ...]


def word_curves(
    embedding: Embedding,
    frequencies: Floats,
    epsilons: Sequence[float],
    *,
    watched: Indices,
    beta: float | None = 0.001,
    count: int = 256,
) -> WordCurves:
    """What TEM does to words at each strength; `beta` None: the exponential law, not truncated.

    Shares are over `count` words that stand for equal shares of the frequencies. Each weight is
    exp(−min((ε/2)·d, cap)), a word's own is 1, so its chance to be kept is one over the sum.
    """
    require(len(epsilons) > 0, "epsilons", "at least one", "none")
    cap = _cap(len(embedding), beta)
    standing, counts = np.unique(representative_words(frequencies, count), return_counts=True)
    rows = np.union1d(standing, watched)
    shares = np.zeros(len(embedding))
    shares[standing] = counts / counts.sum()
    looked = np.zeros(len(embedding), dtype=bool)
    looked[watched] = True
    kept, moved, most = (np.zeros(len(epsilons)) for _ in range(3))
    blind = 0.0
    for block, distances in _distances(embedding, rows):
        blind += float(shares[block] @ distances.mean(axis=1, dtype=np.float64))
        for place, epsilon in enumerate(epsilons):
            weights = _weights(distances, epsilon, cap)
            totals = weights.sum(axis=1, dtype=np.float64)
            kept[place] += float(shares[block] @ (1 / totals))
            far = np.einsum("ij,ij->i", weights, distances, dtype=np.float64) / totals
            moved[place] += float(shares[block] @ far)
            chances = np.where(looked[block], 1 / totals, 0.0)
            most[place] = max(most[place], float(chances.max()))
    moved /= max(blind, np.finfo(float).tiny)
    return WordCurves(
        tuple(map(float, epsilons)),
        tuple(kept.tolist()),
        tuple(most.tolist()) if len(watched) else None,
        tuple(np.minimum(moved, 1.0).tolist()),
    )


def reader_curve(
    embedding: Embedding,
    frequencies: Floats,
    epsilons: Sequence[float],
    *,
    beta: float | None = 0.001,
    candidates: int = 2000,
) -> tuple[float, ...]:
    """Success of the best attacker at each strength: Σ_y max_x π(x)·K(y|x), as `best_guess` has it.

    The secret is one of the `candidates` most frequent words. Costs one exponential for each
    candidate, word of the vocabulary and strength.
    """
    cap = _cap(len(embedding), beta)
    order = np.argsort(-frequencies, kind="stable")[:candidates]
    prior = frequencies / frequencies[order].sum()
    best = np.zeros((len(epsilons), len(embedding)), dtype=np.float32)
    for block, distances in _distances(embedding, order):
        for place, epsilon in enumerate(epsilons):
            weights = _weights(distances, epsilon, cap)
            totals = weights.sum(axis=1, dtype=np.float64)
            weights *= (prior[block] / totals).astype(np.float32)[:, None]
            np.maximum(best[place], weights.max(axis=0), out=best[place])
    return tuple(best.sum(axis=1, dtype=np.float64).tolist())


def strengths(nearest: float, *, count: int = 33) -> tuple[float, ...]:
    """Strengths worth looking at where nearest words are so far apart: odds e^2 to e^30 there.

    >>> strengths(2.0, count=2)
    (1.0, 15.0)
    """
    require(0 < nearest < math.inf, "the distance of nearest words", "> 0", nearest)
    return tuple(np.geomspace(2 / nearest, 30 / nearest, count).tolist())


def _cap(size: int, beta: float | None) -> float:
    if beta is None:
        return LARGEST_EXPONENT
    return min(LARGEST_EXPONENT, math.log((1 - beta) * (size - 1) / beta))


def _distances(embedding: Embedding, rows: Indices) -> Iterator[tuple[Indices, Singles]]:
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = rows[start : start + _BLOCK_ROWS]
        yield block, (np.sqrt(embedding.squared(block)) * embedding.step).astype(np.float32)


def _weights(distances: Singles, epsilon: float, cap: float) -> Singles:
    table = distances * np.float32(-0.5 * epsilon)
    np.maximum(table, np.float32(-cap), out=table)
    return np.exp(table, out=table)
