"""One text of very many words, drawn and read: work and memory grow as its length, not faster.

`benchmarks/long_text.py` does it with a million; here work is counted, not timed: calls of Python
functions, and the windows that compiled loops read.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voile

pytest.importorskip("numba")

WORDS = [f"w{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(120)]
SHORT, TIMES = 3_000, 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("long")
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(len(WORDS), 3))
    lines = [f"{w} {' '.join(map(str, row))}" for w, row in zip(WORDS, vectors, strict=True)]
    (made / "vectors.txt").write_text("\n".join(lines) + "\n")
    rows = "\n".join(" ".join(rng.choice(WORDS, size=12)) for _ in range(300))
    (made / "public.csv").write_text(f"text\n{rows}\n")
    return made


def long_text(words: int) -> str:
    """Sentences, commas, a number and an address here and there, and no end in sight."""
    rng = np.random.default_rng(words)
    signs = np.array(["", "", "", ",", ".", " 12", " a@b.example"])
    chosen, after = rng.choice(WORDS, size=words), rng.integers(len(signs), size=words)
    return " ".join(w + s for w, s in zip(chosen.tolist(), signs[after].tolist(), strict=True))


def read_one(folder: Path, text: str, **options: Any) -> str:
    release = voile.text.protect(
        [text], epsilon=3.0, vocabulary=str(folder / "vectors.txt"), seed=1, no_cache=True,
        mechanism="word-exponential", **options,
    )  # fmt: skip
    (found,) = release.data
    return str(found)


def counted(work: Callable[[], str]) -> tuple[int, int]:
    """Python functions that were called, and the most memory that was held at once."""
    calls = 0

    def seen(frame: Any, event: str, arg: Any) -> None:
        nonlocal calls
        calls += event == "call"

    tracemalloc.start()
    sys.setprofile(seen)
    try:
        work()
        return calls, tracemalloc.get_traced_memory()[1]
    finally:
        sys.setprofile(None)
        tracemalloc.stop()


@pytest.mark.parametrize("consistent", [None, "document"])
def test_work_and_memory_grow_with_the_length(folder: Path, consistent: str | None) -> None:
    """A quadratic step would make it sixteen times as much for four times the words."""
    how = {"restore": "reading", "public": str(folder / "public.csv"), "consistent": consistent}
    read_one(folder, long_text(50), **how)  # compiled
    base = counted(lambda: read_one(folder, long_text(50), **how))
    short, long = (
        counted(lambda n=n: read_one(folder, long_text(n), **how)) for n in (SHORT, TIMES * SHORT)
    )
    for before, one, four in zip(base, short, long, strict=True):
        assert four - before < 1.25 * TIMES * (one - before)


def test_compiled_loops_read_window_by_window(folder: Path, monkeypatch) -> None:
    """What a window holds is bounded, so that the loops inside are linear in the text."""
    from voile.restoring import _windows

    sizes = []
    plain = _windows.pair_beliefs

    def watched(words, *rest):
        sizes.append(len(words))
        return plain(words, *rest)

    monkeypatch.setattr(_windows, "pair_beliefs", watched)
    monkeypatch.setattr(_windows, "read_texts", _windows.read_texts.py_func)
    text = " ".join(np.random.default_rng(3).choice(WORDS, size=1300))
    out = read_one(folder, text, restore="reading")
    assert len(out.split()) == 1300
    most = _windows.WINDOW + 2 * _windows.OVERLAP
    reads = [size for size in sizes if size > 100]
    assert max(reads) <= most
    assert sum(reads) <= 1300 + 2 * _windows.OVERLAP * len(reads)
