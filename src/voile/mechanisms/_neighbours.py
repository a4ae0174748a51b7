"""The nearest words of each word, found exactly, on demand, and kept on disk."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Indices, Weights
from voile.errors import BadFile, CannotWrite, require
from voile.mechanisms._embedding import Embedding

_BLOCK_ELEMENTS = 2**22
"""Distances are found 32 MB at a time."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """K nearest outputs of each word: their numbers, exact squared distances, a check a row.

    Rows are computed when they are first asked for and then stay: in memory, or in a folder that
    processes share through the system's page cache. Two processes that compute the same row
    write the same bytes, and a row counts only once its check matches, so no lock is needed.
    """

    embedding: Embedding
    outputs: Indices
    index: NDArray[np.int32]
    squared: NDArray[np.int64]
    checks: Weights

    def ensure(self, words: Indices) -> None:
        """Compute the rows of these words that are missing."""
        from voile.mechanisms import _word_kernels as kernels

        missing = words[self.checks[words] == 0]
        if not len(missing):
            return
        step = max(1, _BLOCK_ELEMENTS // len(self.outputs))
        chosen = None if len(self.outputs) == len(self.embedding) else self.outputs
        blocks = [missing[start : start + step] for start in range(0, len(missing), step)]
        # Each process takes the blocks in an order of its own, so that several share the work.
        order = np.random.default_rng(os.getpid()).permutation(len(blocks))
        room = np.empty((min(step, len(missing)), len(self.outputs)))
        for block in (blocks[i] for i in order):
            rows = block[self.checks[block] == 0]
            if not len(rows):
                continue
            index = np.empty((len(rows), self.index.shape[1]), dtype=np.int32)
            squared = np.empty(index.shape, dtype=np.int64)
            distances = self.embedding.squared(rows, chosen, out=room[: len(rows)])
            kernels.nearest(distances, index, squared)
            self.index[rows], self.squared[rows] = index, squared
            checks = [kernels.checksum(i, s) for i, s in zip(index, squared, strict=True)]
            self.checks[rows] = np.array(checks, dtype=np.uint64)


def neighbours_of(
    embedding: Embedding,
    *,
    kept: int = 1024,
    outputs: Indices | None = None,
    cache: str | Path | None = None,
) -> Neighbours:
    """Room for the `kept` nearest outputs of every word, empty or as a folder holds it.

    `outputs` are positions in increasing order, all words unless given. The files are as long as
    the vocabulary but hold only the rows that were computed.
    """
    require(kept >= 1, "neighbours", ">= 1", kept)
    chosen = np.arange(len(embedding)) if outputs is None else outputs
    size, kept = len(embedding), min(kept, len(chosen))
    shape = (size, kept)
    if cache is None:
        return Neighbours(
            embedding,
            chosen,
            np.zeros(shape, dtype=np.int32),
            np.zeros(shape, dtype=np.int64),
            np.zeros(size, dtype=np.uint64),
        )
    restricted = "" if outputs is None else "-" + sha256(chosen.tobytes()).hexdigest()[:8]
    folder = Path(cache) / f"{embedding.digest[:24]}-{kept}{restricted}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return Neighbours(
            embedding,
            chosen,
            _shared(folder / "index.i32", np.int32, shape),
            _shared(folder / "squared.i64", np.int64, shape),
            _shared(folder / "checks.u64", np.uint64, (size,)),
        )
    except OSError as problem:
        raise CannotWrite(
            f"the cache {str(folder)!r} cannot be used: {problem.strerror or problem}; set "
            "VOILE_CACHE to a folder that can be written"
        ) from problem


def _shared(path: Path, kind: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    wanted = int(np.prod(shape)) * np.dtype(kind).itemsize
    with path.open("ab") as file:
        if file.tell() == 0:
            file.truncate(wanted)  # zeros that take no room until they are written
    if path.stat().st_size != wanted:
        raise BadFile(f"the cache {str(path)!r} is damaged; delete it")
    return np.memmap(path, dtype=kind, mode="r+", shape=shape)


def cache_folder() -> Path:
    """Where neighbours are kept: VOILE_CACHE, else the user's cache folder."""
    chosen = os.environ.get("VOILE_CACHE")
    if chosen:
        return Path(chosen) / "neighbours"
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "voile" / "neighbours"
