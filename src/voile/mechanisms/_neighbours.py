"""The nearest words of each word, found exactly: a whole table on disk, or rows in memory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.errors import require
from voile.mechanisms._embedding import Embedding
from voile.mechanisms._neighbour_table import Index, Rows, Squared, TableFile

KEPT = 1024
"""Neighbours a word. More make a row dearer; fewer, the draws beyond them."""
SMALLEST_TABLE, LARGEST_TABLE = 2**25, 2**30
"""Bytes of a table worth a file: below, rows take a second at most; above, minutes and a disk."""
_BLOCK_ROWS = 64


@dataclass(frozen=True, eq=False)
class Neighbours:
    """K nearest outputs of each word: their numbers and exact squared distances.

    Either the whole table of a file, or rows that are computed when they are first asked for and
    stay in memory. Rows in memory follow the text, so they are never written.
    """

    embedding: Embedding
    outputs: Indices
    index: Index
    squared: Squared
    known: NDArray[np.bool_]

    def ensure(self, words: Indices) -> None:
        """Compute the rows of these words that are missing."""
        missing = words[~self.known[words]]
        done = 0
        for index, squared in self._finder.rows_of(missing, self.index.shape[1]):
            rows = missing[done : done + len(index)]
            self.index[rows], self.squared[rows] = index, squared
            self.known[rows] = True
            done += len(rows)

    @cached_property
    def _finder(self) -> _Finder:
        return _Finder(self.embedding, self.outputs)


class _Finder:
    """Finds rows on all cores, over coordinates laid out for it."""

    def __init__(self, embedding: Embedding, outputs: Indices) -> None:
        from voile.mechanisms import _neighbour_kernels as kernels

        self.points: Floats = embedding.points
        self.columns = np.ascontiguousarray(embedding.points[outputs].T)
        self.norms = embedding.squared_norms[outputs]
        self.sample = np.ascontiguousarray(self.columns[:, :: kernels.EVERY])
        self.sample_norms = np.ascontiguousarray(self.norms[:: kernels.EVERY])

    def rows_of(self, words: Indices, kept: int) -> Iterator[Rows]:
        """Blocks of rows, in the order of the words."""
        from voile.mechanisms import _neighbour_kernels as kernels

        def found(block: Indices) -> Rows:
            count = len(block)
            pairs = np.append(block, block[-1:]) if count % 2 else block  # the kernel takes two
            index = np.empty((len(pairs), kept), dtype=np.int32)
            squared = np.empty(index.shape, dtype=np.int64)
            kernels.nearest(
                self.points[pairs], self.columns, self.norms, self.sample, self.sample_norms,
                index, squared,
            )  # fmt: skip
            return index[:count], squared[:count]

        blocks = [words[i : i + _BLOCK_ROWS] for i in range(0, len(words), _BLOCK_ROWS)]
        if len(blocks) < 2:
            yield from map(found, blocks)
            return
        pool = ThreadPoolExecutor(os.cpu_count() or 1)
        try:
            yield from pool.map(found, blocks)
        finally:
            pool.shutdown(cancel_futures=True)  # whoever asked may have been stopped


def neighbours_of(
    embedding: Embedding,
    *,
    kept: int = KEPT,
    outputs: Indices | None = None,
    cache: str | Path | None = None,
    fill: bool = False,
    progress: Callable[[int, int], None] = lambda done, rows: None,
) -> Neighbours:
    """The `kept` nearest outputs of every word: the table in the folder `cache`, or room in memory.

    `outputs` are positions in increasing order, all words unless given. With `fill` a table that is
    not there is made, for all words at once, unless its size makes no sense (see SMALLEST_TABLE);
    `progress` is told of rows done, of how many.
    """
    require(kept >= 1, "neighbours", ">= 1", kept)
    chosen = np.arange(len(embedding)) if outputs is None else outputs
    shape = (len(embedding), min(kept, len(chosen)))
    if cache is not None:
        table = TableFile(Path(cache), _about(embedding, outputs), *shape)
        rows = table.read() if table.size >= SMALLEST_TABLE else None
        if rows is None and fill and SMALLEST_TABLE <= table.size <= LARGEST_TABLE:
            table.write(_told(_Finder(embedding, chosen), shape, progress))
            rows = table.read()
        if rows is not None:
            return Neighbours(embedding, chosen, *rows, np.ones(len(embedding), dtype=bool))
    return Neighbours(
        embedding,
        chosen,
        np.zeros(shape, dtype=np.int32),  # zeros that take no room until they are written
        np.zeros(shape, dtype=np.int64),
        np.zeros(len(embedding), dtype=bool),
    )


def _told(
    finder: _Finder, shape: tuple[int, int], progress: Callable[[int, int], None]
) -> Iterator[Rows]:
    """All rows, saying how far it is."""
    done, rows = 0, shape[0]
    progress(0, rows)
    for block in finder.rows_of(np.arange(rows), shape[1]):
        yield block
        done += len(block[0])
        progress(done, rows)


def _about(embedding: Embedding, outputs: Indices | None) -> str:
    chosen = b"all" if outputs is None else outputs.astype("<i8").tobytes()
    return sha256(embedding.digest.encode() + chosen).hexdigest()


def cache_folder() -> Path:
    """Where neighbours are kept: VOILE_CACHE, else the user's cache folder."""
    chosen = os.environ.get("VOILE_CACHE")
    if chosen:
        return Path(chosen) / "neighbours"
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "voile" / "neighbours"


def delete_telling_caches(folder: Path) -> str:
    """Delete what earlier versions kept, rows of the words of private texts; say so if they did."""
    found = [table.parent for table in folder.glob("*/checks.u64")]
    for old in found:
        shutil.rmtree(old, ignore_errors=True)
    left = [old for old in found if old.exists()]
    if left:
        return (
            f"{len(left)} caches of an earlier version list words of texts that were protected and "
            f"could not be deleted; delete them: {', '.join(map(str, left))}"
        )
    if not found:
        return ""
    return (
        f"deleted {len(found)} caches of an earlier version: they listed words of texts that were "
        "protected, which copies and backups of them still do"
    )
