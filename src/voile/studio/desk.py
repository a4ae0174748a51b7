"""What lies on the desk: the file that is open, and what was worked out for it."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from voile.errors import InvalidInput
from voile.files import open_private
from voile.files.column_guesses import Glance, glance
from voile.files.source import open_source

LARGEST_DROP = 2**29
"""Bytes of a file that is dropped on the page; a larger one is opened by its path."""

MOST_KEPT = 8
"""So many ways to look at the open file are remembered; each may hold a table of neighbours."""

Answer = TypeVar("Answer")


class Superseded(Exception):
    """A newer question of the same kind was asked; the older one needs no answer."""


@dataclass
class Latest:
    """One piece of work at a time of a kind, and of those that wait only the latest."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    asked: int = 0
    about: Any = None

    def do(self, work: Callable[[], Answer], about: Any = None) -> Answer:
        """Wait for what is going on, then work; refused if something newer came meanwhile.

        What is about the same thing is no newer: whoever asks again does not turn the first away.
        """
        self.asked += 1
        mine, self.about = self.asked, about
        with self.lock:
            if mine != self.asked and (about is None or about != self.about):
                raise Superseded
            return work()


@dataclass(frozen=True)
class Opened:
    """A file, and what was seen at a glance."""

    path: str
    name: str
    dropped: bool
    """Whether it was dropped on the page: then it is a copy, deleted at the end."""
    format: str
    glance: Glance


class Desk:
    """One file at a time; a folder of its own for dropped ones, deleted when the desk is left."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="voile-studio-"))  # for its owner alone
        self.opened: Opened | None = None
        self.kept: dict[Any, Any] = {}
        """What was worked out for the open file, by what was asked."""
        self._drops = 0

    def open_path(self, path: str) -> Opened:
        """Open a file of this machine; only its first rows are read."""
        return self._open(path, Path(path).name, dropped=False)

    async def open_drop(self, name: str, content: AsyncIterator[bytes]) -> Opened:
        """Open what was dropped on the page: kept for the owner alone, until the studio closes."""
        suffixes = "".join(Path(name).suffixes[-2:]).lower()
        plain = suffixes if suffixes.replace(".", "").isalnum() else ".csv"
        self._drops += 1
        target = self.folder / f"dropped-{self._drops}{plain}"
        size = 0
        try:
            with open_private(target, "wb") as file:
                async for block in content:
                    size += len(block)
                    if size > LARGEST_DROP:
                        raise InvalidInput(
                            f"a dropped file must have at most {LARGEST_DROP // 2**20} MB; open a "
                            "larger one by its path"
                        )
                    file.write(block)
        except BaseException:  # a part of it, on a disk that is full, or whose page was closed
            target.unlink(missing_ok=True)
            raise
        return self._open(str(target), Path(name).name, dropped=True)

    def _open(self, path: str, name: str, *, dropped: bool) -> Opened:
        source = open_source(path)
        self.opened = Opened(path, name, dropped, source.format, glance(source))
        self.kept = {}  # a new one: who still works on the file before keeps it in the old one
        return self.opened

    def need(self) -> Opened:
        """The file that is open."""
        if self.opened is None:
            raise InvalidInput("open a file first")
        return self.opened

    def once(self, key: Any, work: Callable[[str], Answer]) -> Answer:
        """What is worked out for the open file, kept for whoever asks the same again."""
        kept = self.kept  # before the path: another file that is opened meanwhile has its own
        path = self.need().path
        if key not in kept:
            made = work(path)
            while len(kept) >= MOST_KEPT:
                del kept[next(iter(kept))]
            kept[key] = made
        found: Answer = kept[key]
        return found

    def leave(self) -> None:
        """Delete what was dropped, and forget the rest."""
        self.kept.clear()
        self.opened = None
        shutil.rmtree(self.folder, ignore_errors=True)
