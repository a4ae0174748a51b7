"""How texts are read: in one language, or each row in its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from voile.personal.spans import Span
from voile.text.languages import AUTO, LANGUAGES, detect, stopwords_of, title

LEFT = "names that may be words, left"


class Marks(NamedTuple):
    """What was seen in a text before its words: its language, its names, what is personal in it."""

    language: str
    names: tuple[tuple[int, int], ...]
    spans: Sequence[Span]
    left: Sequence[Span] = ()
    """Words that may be names found elsewhere, left where their capital says nothing."""

    def seen(self) -> Counter[str]:
        """The language, and words left that no span covers, for what is counted."""
        left = sum(
            not any(start < one.end and one.start < end for start, end, _ in self.spans)
            for one in self.left
        )
        counts = Counter({f"language {self.language}": 1})
        if left:
            counts[LEFT] = left
        return counts


@dataclass(frozen=True)
class Reading:
    """The language that rows are read in; "auto" takes each row's own, as detected.

    A row whose language is unclear (too short, mixed, emoji) is read as `unclear` says. Without
    `detects` no language is counted, and none is looked for unless rows are read in their own.
    """

    chosen: str = "en"
    unclear: str = "en"
    detects: bool = False
    named: tuple[str, ...] = ()
    """Under "auto", the languages that have a pipeline."""

    def languages_of(self, texts: Sequence[Any]) -> list[str]:
        """What each row is in; empty where that is unclear or not asked."""
        looks = self.detects or self.chosen == AUTO
        return detect(texts) if looks else [""] * len(texts)

    def read_as(self, language: str) -> str:
        """The language whose settings a row is read with."""
        if self.chosen != AUTO:
            return self.chosen
        return language or self.unclear

    def refusal(self, text: Any, language: str, *, names: bool) -> str:
        """Why a row cannot be read: it is no text, or nothing can read its language."""
        if not isinstance(text, str):
            missing = text is None or text != text
            return "the text is missing" if missing else "the text is not a string"
        if self.chosen != AUTO:
            return ""
        code = self.read_as(language)
        if code not in LANGUAGES:
            return f"the text is in {title(code)}, for which there are no settings"
        if names and code not in self.named:
            return f"the text is in {title(code)}, for which nothing finds names: give --pipeline"
        return ""

    def is_stopword(self, word: str, language: str) -> bool:
        """Whether a word is a stop word in the language that a row is read in."""
        return word in stopwords_of(self.read_as(language))
