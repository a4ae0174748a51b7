"""Texts as states of a language prior: words, and signs between words that say something."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from voile.text.plan import Plan
from voile.text.tokens import MOST_FORMS, Case, Tokenizer
from voile.text.vocabularies import Vocabulary

SIGNS = 4
"""States beside the words: a text's edge, the end of a sentence, a pause, a placeholder."""
PLACEHOLDER = re.compile(r"\[[A-Z][A-Z_ ]+\]")
_END, _PAUSE = frozenset(".!?…\n"), frozenset(',;:()"“”')

UNTOLD = -1
"""The case of a word whose casing says nothing: the first of a sentence."""


@dataclass(frozen=True, eq=False)
class States:
    """Words by their positions, the unknown word, then the signs; and how to see them in a text."""

    vocabulary: Vocabulary
    _seen: dict[str, tuple[int, ...]] = field(default_factory=dict, repr=False)

    @property
    def edge(self) -> int:
        """What stands before and after a text."""
        return self.vocabulary.unknown + 1

    @property
    def end(self) -> int:
        """The end of a sentence, or a line's."""
        return self.edge + 1

    @property
    def pause(self) -> int:
        """A comma and its like."""
        return self.edge + 2

    @property
    def placeholder(self) -> int:
        """What stands for an identifier."""
        return self.edge + 3

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return Tokenizer(self.vocabulary)

    def of(self, written: str) -> tuple[int, ...]:
        """What stands in clear, as states: words, signs, placeholders.

        >>> from voile.text.vocabularies import vocabulary
        >>> States(vocabulary(["cat", "dog"], [[0.0], [1.0]])).of(", dog [EMAIL]. ")
        (5, 1, 6, 4)
        """
        found = self._seen.get(written)
        if found is None:
            found = tuple(self._read(written))
            if len(self._seen) >= MOST_FORMS:
                self._seen.clear()
            if len(written) < 64:
                self._seen[written] = found
        return found

    def _read(self, written: str) -> Iterator[int]:
        last = 0
        for match in (*PLACEHOLDER.finditer(written), None):
            end = len(written) if match is None else match.start()
            for piece in self._tokenizer.split(written[last:end]):
                if not isinstance(piece, str):
                    yield piece.position
                elif not _END.isdisjoint(piece) or "<" in piece:
                    yield self.end
                elif not _PAUSE.isdisjoint(piece):
                    yield self.pause
            if match is not None:
                yield self.placeholder
                last = match.end()

    def written(self, states: Iterable[int]) -> str:
        """States as a line of text, for whoever reads texts.

        >>> from voile.text.vocabularies import vocabulary
        >>> States(vocabulary(["cat", "dog"], [[0.0], [1.0]])).written([1, 5, 0, 4])
        'dog, cat.'
        """
        words, signs = self.vocabulary.written, {self.end: ".", self.pause: ",", self.edge: ""}
        parts = (f" {words[s]}" if s < self.edge else signs.get(s, " this") for s in states)
        return "".join(parts).strip()

    def walk(self, plan: Plan) -> Iterator[tuple[int, int, Case | int]]:
        """A planned text in order: (state, −1, −1) in clear, (−1, number, case) for a draw."""
        fresh = True
        for piece in plan.settled():
            if isinstance(piece, int):
                yield -1, piece, UNTOLD if fresh else plan.drawn[piece].case
                fresh = False
            elif piece != " ":
                for state in self.of(piece):
                    yield state, -1, UNTOLD
                    fresh = state == self.end or (fresh and state > self.vocabulary.unknown)
