"""Names by a list of them, where no language model is at hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from voile.errors import InvalidInput
from voile.files.encodings import lines_of


@dataclass(frozen=True)
class Found:
    """A name in a text, as a spaCy entity describes it."""

    start_char: int
    end_char: int
    label_: str = "PERSON"


@dataclass(frozen=True)
class Marked:
    """A text's names."""

    ents: tuple[Found, ...]


@dataclass(frozen=True)
class NameList:
    """Finds the names of a list wherever they stand as whole words, whatever their case.

    It answers `pipe` as a spaCy pipeline does, and can take its place in tiers. It knows no
    context: "Paris" is a name also where a person is meant, "may" also where it is no month; a
    name that is not listed is not found.

    >>> names = NameList(("Ann", "New York"))
    >>> [(e.start_char, e.end_char) for doc in names.pipe(["ann left New York"]) for e in doc.ents]
    [(0, 3), (9, 17)]
    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not any(name.strip() for name in self.names):
            raise InvalidInput("a list of names must hold at least one, got none")

    def pipe(self, texts: Iterable[str]) -> Iterator[Marked]:
        """The names of each text, in order, the longest where two begin alike."""
        listed = sorted({name.strip() for name in self.names if name.strip()}, key=len)[::-1]
        any_name = "|".join(re.escape(name) for name in listed)
        pattern = re.compile(rf"(?<!\w)(?:{any_name})(?!\w)", re.IGNORECASE)
        for text in texts:
            yield Marked(tuple(Found(*match.span()) for match in pattern.finditer(text)))


def read_name_list(path: str | Path) -> NameList:
    """A text file with a name on each line."""
    return NameList(tuple(lines_of(path, what="a list of names must be a readable file")))
