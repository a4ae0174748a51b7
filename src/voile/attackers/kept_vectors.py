"""Vectors of texts on disk, so that nothing is encoded twice."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.files import make_private_folder, open_private

_ENDING = ".vectors"


class KeptVectors:
    """Vectors of `width` 32-bit floats in a folder, found by a digest of their text.

    Each process adds to a file of its own, in records of one size, so that several may work at
    once, and a record that a crash cut off spoils nothing. No text is written, but a vector tells
    much of its text: keep the folder as you keep the texts.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     KeptVectors(Path(folder), width=2).add(["to rome"], np.array([[0.6, 0.8]]))
    ...     again = KeptVectors(Path(folder), width=2)
    ...     again.find("to rome"), again.find("to oslo")
    (array([0.6, 0.8], dtype=float32), None)
    """

    def __init__(self, folder: Path, *, width: int) -> None:
        self.folder = folder
        self._record = np.dtype([("key", "V16"), ("vector", "<f4", (width,))])
        self._places: dict[bytes, NDArray[np.float32]] = {}
        self._own: Path | None = None
        for path in sorted(folder.glob(f"*{_ENDING}")) if folder.is_dir() else ():
            whole = path.stat().st_size // self._record.itemsize
            if whole:
                table: Any = np.memmap(path, dtype=self._record, mode="r", shape=(whole,))
                keys = [key.tobytes() for key in np.asarray(table["key"])]
                self._places.update(zip(keys, table["vector"], strict=True))

    def find(self, text: str) -> NDArray[np.float32] | None:
        """The vector of this text, if it was added."""
        found = self._places.get(_key(text))
        return None if found is None else np.array(found)

    def add(self, texts: Sequence[str], vectors: NDArray[Any]) -> None:
        """Write these down; they are found from the next start on."""
        if self._own is None:
            make_private_folder(self.folder)
            self._own = self.folder / f"{os.getpid()}-{secrets.token_hex(4)}{_ENDING}"
        table = np.empty(len(texts), dtype=self._record)
        table["key"] = np.frombuffer(b"".join(map(_key, texts)), dtype="V16")
        table["vector"] = vectors
        with open_private(self._own, "ab") as file:
            file.write(table.tobytes())


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
