"""Releases made for an audit, kept on disk as they come so that nothing is made twice."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voile.core.randomness import Generator, seeded_rng
from voile.files import add_line
from voile.progress import tell

PART = 250
"""Texts released at a time; what an interruption can cost."""


@dataclass(frozen=True)
class Made:
    """Releases in order, and the seconds their making took (kept ones included)."""

    drawn: list[Any]
    seconds: float


def make_releases(
    draw: Callable[[Sequence[str], Generator], Sequence[Any]],
    texts: Sequence[str],
    *,
    identity: str,
    seed: int,
    folder: Path | None = None,
    what: str = "texts released",
) -> Made:
    """Release every text, part by part; parts found in `folder` are read, not made again.

    `identity` names all that the law depends on; with the texts and the seed it gives the file
    its name, so a change of any of them starts afresh. Draws are seeded part by part: these
    releases are for measuring, not for handing on. `what` names them while they are made.
    """
    digest = digest_of(identity, str(seed), *texts)
    path = folder / f"{digest[:24]}.jsonl" if folder else None
    kept = {entry["part"]: entry for entry in kept_entries(path) if "drawn" in entry}
    drawn: list[Any] = []
    seconds = 0.0
    for number, start in enumerate(range(0, len(texts), PART)):
        chosen = texts[start : start + PART]
        entry = kept.get(number)
        if entry is None or len(entry["drawn"]) != len(chosen):
            mixed = hashlib.sha256(f"{digest} {number}".encode()).digest()
            began = time.perf_counter()
            fresh = list(draw(chosen, seeded_rng(int.from_bytes(mixed[:8], "little"))))
            took = time.perf_counter() - began
            entry = {"part": number, "seconds": took, "drawn": fresh}
            keep_entry(path, entry)
        drawn += entry["drawn"]
        seconds += float(entry["seconds"])
        tell(what, done=len(drawn), total=len(texts))
    return Made(drawn, seconds)


def digest_of(*words: str) -> str:
    """A name for what these words make."""
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()


def kept_entries(path: Path | None) -> Iterable[Any]:
    """The entries of a file, in the order in which they were kept; a line cut off is left out."""
    if path is None or not path.exists():
        return
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:
                continue


def keep_entry(path: Path | None, entry: Any) -> None:
    """Add an entry to the file, which is for its owner alone: it holds private texts or draws."""
    if path is not None:
        add_line(path, json.dumps(entry))
