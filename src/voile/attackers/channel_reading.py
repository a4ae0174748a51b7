"""Texts as a learned channel reads them: words, signs, and how each was written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.attackers.attribution_alignment import WordVectors
from voile.attackers.attribution_shape import case_of
from voile.core.arrays import Indices

WORD, SIGN, STRANGE = 0, 1, 2
"""A word with a vector; signs alone; a word without a vector."""
NONE, SPACES, WHITE = 0, 2, 3
"""What may stand before a word, beside one space."""
_ENDS = re.compile(r"^(\W*)(.*?)(\W*)$", re.DOTALL)
_SHORTENED = re.compile(r"(.+?)(n't|['’]\w+)")
_INNER = re.compile(r"\w+|\W")
_CASES = {"": 0, "words": 1, "capitalised": 2, "capitals": 3}
_CHUNK = re.compile(r"(\s*)(\S+)")


@dataclass(frozen=True, eq=False)
class Read:
    """A text as numbers: which words, and how each was written."""

    words: Indices
    cases: Indices
    gaps: Indices

    def at(self, places: Any) -> Read:
        """Some of its words."""
        return Read(self.words[places], self.cases[places], self.gaps[places])


class Reader:
    """Texts taken apart as vectors know their words: “mrs.” is one, “boston,” and “i'd” are two.

    What they do not know comes apart at its signs: “r&b” is three, of which one is a sign.
    """

    def __init__(self, word_vectors: WordVectors, texts: Sequence[str]) -> None:
        chunks = {chunk for text in texts for chunk in text.split()}
        forms = sorted({form for chunk in chunks for form in _forms(chunk)})
        vectors = np.asarray(word_vectors(forms), dtype=np.float64).reshape(len(forms), -1)
        has = np.asarray(np.isfinite(vectors).all(axis=1))
        self._number = {form: n for n, form in enumerate(forms)}
        self.vectors = np.where(has[:, None], vectors, 0.0)
        signs = np.array([not any(map(str.isalnum, form)) for form in forms], dtype=bool)
        self.kinds: Indices = np.where(has & ~signs, WORD, np.where(signs, SIGN, STRANGE))
        self._parts = {chunk: tuple(self._split(chunk)) for chunk in chunks}

    def read(self, text: str) -> Read:
        """A text, one of those that were told of at the start."""
        found, gaps = list[tuple[int, int]](), list[int]()
        for gap, chunk in _CHUNK.findall(text):
            parts = self._parts[chunk]
            found += parts
            gaps += [_gap(gap), *[NONE] * (len(parts) - 1)]
        numbers = np.array(found, dtype=np.intp).reshape(-1, 2)
        return Read(numbers[:, 0], numbers[:, 1], np.array(gaps, dtype=np.intp))

    def _split(self, chunk: str) -> Iterator[tuple[int, int]]:
        if self._known(chunk):
            yield self._numbered(chunk)
            return
        before, core, after = _ENDS.fullmatch(chunk).groups()  # type: ignore[union-attr]
        yield from map(self._numbered, before)
        shortened = _SHORTENED.fullmatch(core)
        if shortened and not self._known(core) and all(map(self._known, shortened.groups())):
            yield from map(self._numbered, shortened.groups())
        elif core:
            yield from map(self._numbered, [core] if self._known(core) else _INNER.findall(core))
        yield from map(self._numbered, after)

    def _known(self, form: str) -> bool:
        number = self._number.get(form.lower())
        return number is not None and self.kinds[number] == WORD

    def _numbered(self, form: str) -> tuple[int, int]:
        return self._number[form.lower()], _CASES[case_of(form)]


def _gap(space: str) -> int:
    """What stands before a word: nothing, a space, more than one, or other white."""
    if space in ("", " "):
        return len(space)
    return SPACES if not space.strip(" ") else WHITE


def _forms(chunk: str) -> Iterator[str]:
    """All pieces into which a chunk may come apart, in small letters."""
    low = chunk.lower()
    before, core, after = _ENDS.fullmatch(low).groups()  # type: ignore[union-attr]
    yield from (low, *before, *after)
    if core:
        yield from (core, *_INNER.findall(core))
        shortened = _SHORTENED.fullmatch(core)
        yield from shortened.groups() if shortened else ()
