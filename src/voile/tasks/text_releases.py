"""Releases made for an audit, kept on disk as they come so that nothing is made twice."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from voile.core.randomness import Generator, seeded_rng

PART = 250
"""Texts released at a time; what an interruption can cost."""


@dataclass(frozen=True)
class Made:
    """Releases in order, and the seconds their making took (kept ones included)."""

    texts: list[str]
    seconds: float


def make_releases(
    rewrite: Callable[[Sequence[str], Generator], Sequence[str]],
    texts: Sequence[str],
    *,
    identity: str,
    seed: int,
    folder: Path | None = None,
    progress: Callable[[int], None] = lambda count: None,
) -> Made:
    """Release every text, part by part; parts found in `folder` are read, not made again.

    `identity` names all that the law depends on; with the texts and the seed it gives the file
    its name, so a change of any of them starts afresh. Draws are seeded part by part: these
    releases are for measuring, not for handing on.
    """
    content = "\0".join([identity, str(seed), *texts])
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    path = folder / f"{digest[:24]}.jsonl" if folder else None
    released: list[str] = []
    seconds = 0.0
    for number, start in enumerate(range(0, len(texts), PART)):
        chosen = texts[start : start + PART]
        kept = _kept(path, number, len(chosen))
        if kept is None:
            mixed = hashlib.sha256(f"{digest} {number}".encode()).digest()
            began = time.perf_counter()
            fresh = list(rewrite(chosen, seeded_rng(int.from_bytes(mixed[:8], "little"))))
            kept = (fresh, time.perf_counter() - began)
            _keep(path, number, *kept)
        released += kept[0]
        seconds += kept[1]
        progress(len(chosen))
    return Made(released, seconds)


def _kept(path: Path | None, number: int, count: int) -> tuple[list[str], float] | None:
    if path is None or not path.exists():
        return None
    for line in path.read_text(encoding="utf-8").split("\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # a line cut off by a crash is made again
        if entry["part"] == number and len(entry["texts"]) == count:
            return entry["texts"], float(entry["seconds"])
    return None


def _keep(path: Path | None, number: int, texts: list[str], seconds: float) -> None:
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    entry = {"part": number, "seconds": seconds, "texts": texts}
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps(entry, ensure_ascii=False))
