"""What one secret is, in the words of a sentence: one of them, two of them, one among many."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RUN = re.compile(r"any (\d+) (.+)s in a row")
_TRACE = "whole trace"
_TAIL = re.compile(r" (?:of|that|in|with|for) ")


@dataclass(frozen=True)
class Words:
    """A granularity ("one word", "any 10 locations in a row") and the unit of its distances.

    >>> Words("one location", "km").pair(1.0), Words("one label", "change").pair(None)
    ('Two locations 1 km apart', 'Any two labels')
    >>> Words("one whole trace", "km").pair(0.5)
    'Two whole traces no place of which differs by more than 0.5 km'
    """

    granularity: str
    unit: str

    @property
    def noun(self) -> str:
        """One secret, without its article."""
        run = _RUN.fullmatch(self.granularity)
        if run is None:
            return self.granularity.removeprefix("one ")
        return run[2] if run[1] == "1" else f"run of {run[1]} {run[2]}s"

    def pair(self, distance: float | None) -> str:
        """Two secrets so far apart; any two where there is no farther."""
        if distance is None:
            return f"Any two {plural(self.noun)}"
        apart = f"{distance:g} {self.unit}"
        if self._is_long:
            return f"Two {plural(self.noun)} {self._of_which} differs by more than {apart}"
        return f"Two {plural(self.noun)} {apart} apart"

    def candidates(self, count: int, within: float | None) -> str:
        """That a secret is one of so many, all so near each other."""
        one = f"the {self.noun} is one of {count} equally likely ones"
        if within is None:
            return one
        if self._is_long:
            return f"{one}, {self._of_which} differs by more than {within:g} {self.unit},"
        return f"{one} within {within:g} {self.unit} of each other"

    @property
    def _is_long(self) -> bool:
        """Whether a secret has several places, each of which may differ."""
        return self.noun == _TRACE or self.noun.startswith("run of ")

    @property
    def _of_which(self) -> str:
        return "no place of which"


def plural(noun: str) -> str:
    """Several of a thing: what stands before a clause takes the s, and the clause follows.

    >>> [plural(noun) for noun in ("distinct word of a file", "name or identifier that was found")]
    ['distinct words of a file', 'names or identifiers that were found']
    >>> plural("category"), plural("address"), plural("run of 10 locations")
    ('categories', 'addresses', 'runs of 10 locations')
    """
    clause = _TAIL.search(noun)
    head, tail = (noun, "") if clause is None else (noun[: clause.start()], noun[clause.start() :])
    heads = " or ".join(_several(word) for word in head.split(" or "))
    return heads + tail.replace(" that was ", " that were ", 1)


def _several(word: str) -> str:
    if re.search(r"[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return f"{word}es" if re.search(r"(?:s|x|z|ch|sh)$", word) else f"{word}s"
