"""The words that a drawn word may have been: the likeliest under a prior, with the exact law."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput
from voile.mechanisms._kept_array import kept_array
from voile.mechanisms._word_law import WordLaw

MOST = 200
"""So many candidates of a word are kept."""
COMMON = 4096
"""So many of the commonest words are looked at, beside the nearest ones."""
SMALLEST = 1e-4
"""Candidates less likely than this beside the likeliest are left out."""
_BLOCK_ROWS = 256


class Lists:
    """Lists of candidates, of one law or several, in tables that grow by half."""

    def __init__(self, most: int) -> None:
        self.count = 0
        self.words = np.empty((0, most), dtype=np.int32)
        self.chances = np.empty((0, most))
        self.widths, self.left_out = np.empty(0, dtype=np.int64), np.empty(0)

    def add(self, count: int) -> slice:
        """Room for so many more lists."""
        needed, first = self.count + count, self.count
        if needed > len(self.widths):
            room = max(needed, 3 * len(self.widths) // 2)
            for name in ("words", "chances", "widths", "left_out"):
                old = getattr(self, name)
                new = np.zeros((room, *old.shape[1:]), dtype=old.dtype)
                new[:first] = old[:first]
                setattr(self, name, new)
        self.count = needed
        return slice(first, needed)


class Candidates:
    """For each drawn word y the words x with the largest π(x)·K(y|x), and K(y|x) itself.

    Looked for among the 1,024 words nearest to y and the 4,096 commonest; found when y is first
    met, then remembered. `left_out` of a list bounds the share of Σ_x π(x)·K(y|x) that it misses:
    what was looked at is summed, and all other words are at least as far as the farthest neighbour.
    """

    def __init__(self, law: WordLaw, prior: Floats, totals: Floats, lists: Lists) -> None:
        size = len(law.embedding)
        if len(law.neighbours.outputs) != size:
            raise InvalidInput("a law must be able to release every word to be read back")
        self.law, self.totals, self.lists = law, totals, lists
        self._rows = np.full(size, -1, dtype=np.int64)
        self._scale = prior / totals
        self._common = np.argsort(-self._scale, kind="stable")[:COMMON].astype(np.int32)
        self._is_common = np.zeros(size, dtype=np.bool_)
        self._is_common[self._common] = True

    def rows(self, drawn: Indices) -> Indices:
        """The list of each drawn word; those that are new are made."""
        from voile.restoring import _kernels as kernels

        new = np.unique(drawn[self._rows[drawn] < 0])
        near, lists = self.law.neighbours, self.lists
        near.ensure(new)
        room = lists.add(len(new))
        for start in range(0, len(new), _BLOCK_ROWS):
            rows = new[start : start + _BLOCK_ROWS]
            here = slice(room.start + start, room.start + start + len(rows))
            kernels.choose(
                near.index[rows], near.squared[rows], self._common, self._is_common,
                self.law.embedding.squared(rows, self._common), self._scale, self.totals,
                self.law.rate, self.law.cap, SMALLEST,
                lists.words[here], lists.chances[here], lists.widths[here], lists.left_out[here],
            )  # fmt: skip
        self._rows[new] = np.arange(room.start, room.stop)
        return self._rows[drawn]


def normalisers(law: WordLaw, *, cache: Path | None = None) -> Floats:
    """Z(x) = Σ_y exp(−min((ε/2)·d(x, y), cap)) for every word x: K(y|x) is a weight over Z(x).

    A weight is that of a pair whichever is the secret, so one half of the table is computed, in
    blocks that do not depend on the machine and are added in their order: the same sums anywhere.
    `cache` is a folder that keeps them; they follow from the public vocabulary and ε alone.
    """
    if cache is None:
        return _normalisers(law)
    key = hashlib.sha256(f"totals {law.embedding.digest} {law.rate!r} {law.cap!r}".encode())
    size = len(law.embedding)

    def good(stored: Floats) -> bool:
        whole = stored.shape == (size,) and stored.dtype == np.float64
        return bool(whole and (stored >= 1).all())

    path = cache / f"{key.hexdigest()[:24]}.npy"
    return np.asarray(kept_array(path, lambda: _normalisers(law), good))


def _normalisers(law: WordLaw) -> Floats:
    from voile.restoring import _kernels as kernels

    words = law.embedding
    size = len(words)

    def weighed(start: int) -> tuple[int, Floats, Floats]:
        rows = np.arange(start, min(start + _BLOCK_ROWS, size))
        table = words.squared(rows, np.arange(start, size))
        across, down = np.zeros(len(rows)), np.zeros(size - start)
        kernels.add_weights(table, law.rate, law.cap, across, down)
        return start, across, down

    totals = np.zeros(size)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for start, across, down in pool.map(weighed, range(0, size, _BLOCK_ROWS)):
            totals[start : start + len(across)] += across
            totals[start:] += down
    return totals
