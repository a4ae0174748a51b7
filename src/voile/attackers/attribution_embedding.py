"""Attribution by nearness in an embedding: a sentence encoder, or a mechanism's own latents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.attackers.attribution import check_trials
from voile.core.arrays import Floats, Indices
from voile.errors import require

Encoder = Callable[[Sequence[str]], Any]
"""Texts in, one vector each out."""


@dataclass(frozen=True)
class NearestEmbedding:
    """The candidate whose embedding makes the smallest angle with the release's (TeDA, eq. 3).

    The *external* attack: any sentence encoder reads texts and releases. An encoder must map
    equal texts to equal vectors; the same release is encoded once.

    >>> import numpy as np
    >>> def letters(texts):
    ...     return np.array([[text.count(c) for c in "abc"] for text in texts], dtype=float)
    >>> attack = NearestEmbedding(letters)
    >>> attack.scores(["aab", "ccc"], np.array([[0, 1]]), ["cb"]).round(3)
    array([[0.316, 0.707]])
    """

    encode: Encoder
    name: str = "embedding"

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """Cosines; an empty release scores all candidates alike."""
        check_trials(pool, sets, releases)
        distinct = {text: row for row, text in enumerate(dict.fromkeys(releases))}
        vectors = _rows(self.encode(list(distinct)), len(distinct))
        rows = np.fromiter((distinct[text] for text in releases), dtype=np.intp)
        blank = np.array([not text.strip() for text in releases])
        used = np.unique(sets)
        known = np.zeros((len(pool), vectors.shape[1]))
        known[used] = _rows(self.encode([pool[i] for i in used]), len(used))
        table = _cosines(known, sets, vectors[rows])
        table[blank] = 0.0
        return table


@dataclass(frozen=True)
class NearestLatent:
    """The candidate whose latent, before noise, is nearest to the noisy latent released.

    The *internal* attack on mechanisms that add noise to a vector (ADePT, DP-BART): here a
    release is the noisy vector itself, before any decoding. For Gaussian noise of one scale the
    nearest latent is the likeliest source, so no attack on the vector does better.

    >>> import numpy as np
    >>> attack = NearestLatent(lambda texts: np.array([[float(len(t))] for t in texts]))
    >>> attack.scores(["a", "aaaa"], np.array([[0, 1]]), [[3.2]]).round(2)
    array([[-4.84, -0.64]])
    """

    latent: Encoder
    name: str = "internal"

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """Minus the squared Euclidean distances."""
        check_trials(pool, sets, releases)
        used, inverse = np.unique(sets, return_inverse=True)
        known = _rows(self.latent([pool[i] for i in used]), len(used))
        found = np.asarray(releases, dtype=np.float64)
        places = inverse.reshape(sets.shape)
        table = np.empty(sets.shape)
        for row, column in np.ndindex(sets.shape):  # a row at a time: vectors may be long
            apart = found[row] - known[places[row, column]]
            table[row, column] = -(apart @ apart)
        return table


def _rows(vectors: Any, count: int) -> Floats:
    table = np.asarray(vectors, dtype=np.float64)
    fits = table.ndim == 2 and len(table) == count
    require(fits, "an encoder", f"a vector for each of {count} texts", f"shape {table.shape}")
    return table


def _cosines(known: Floats, sets: Indices, found: Floats) -> Floats:
    def unit(table: Floats) -> Floats:
        lengths = np.linalg.norm(table, axis=1, keepdims=True)
        return table / np.where(lengths > 0, lengths, 1.0)

    known, found = unit(known), unit(found)
    return np.column_stack([np.einsum("ij,ij->i", found, known[column]) for column in sets.T])
