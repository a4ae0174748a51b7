"""How likely a release of words is under each text that it may have come from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.text.released import Refused
from voile.text.tokens import Case, Token, case_of

MISREAD = 5.0
"""Nats that a sign or a letter's case costs that is not as it must be.

They are released as they are, so a text with others is impossible, unless somebody has tidied up
the release since.
"""
UNREAD = 20.0
"""Nats that a text costs of which the release as it stands cannot be one: more than words tell."""


@dataclass(frozen=True)
class Seen:
    """What a text shows, or would show if it were released: its words, signs and cases."""

    words: tuple[int, ...]
    signs: Counter[str]
    cases: tuple[Case | None, ...]
    around: re.Pattern[str] | None = None
    """What stands around the words, as a pattern of all releases that this text may have."""

    def reading(self, release: str, known: Mapping[str, int]) -> Seen | None:
        """The words of a release of this very text; None if it cannot be one."""
        match = None if self.around is None else self.around.fullmatch(release)
        if match is None:
            return None
        words = tuple(known.get(word.lower(), -1) for word in match.groups())
        cases = tuple(case_of(word) if has_letters(word) else None for word in match.groups())
        return None if -1 in words else Seen(words, self.signs, cases)

    def differences(self, other: Seen) -> int:
        """Signs and cases in which two texts of as many words differ; None is no case."""
        signs = sum(((self.signs - other.signs) + (other.signs - self.signs)).values())
        pairs = zip(self.cases, other.cases, strict=True)
        return signs + sum(a != b for a, b in pairs if a is not None and b is not None)


def word_likelihood(protector: Any) -> Callable[[Sequence[str], Sequence[Any]], Any]:
    """Ln K(release | text) of a protector whose law is known, and of what it leaves in clear.

    Of a given text all is known but the words that were drawn: what stands between them is as it
    was. So a release is read as that text would have it (“10,000” and “u.s.” are then the one word
    that was drawn, which a tokenizer takes for two about once in a hundred words). A release that
    cannot be read so costs `UNREAD` and is read by itself: a text of another number of words is
    then far less likely than any of the same number, the nearer the likelier, and signs, spacing
    and case count `MISREAD` each where they differ. Where a word that repeats is drawn once, it
    counts once; a text in which one word had come out as two counts `MISREAD` for each too many.
    """
    once = protector.consistent is not None
    known = protector.tokenizer.vocabulary.positions

    def law(texts: Sequence[str], releases: Sequence[Any]) -> Any:
        planned = dict.fromkeys(texts)
        before = {text: _planned(protector, text) for text in planned}
        after = {release: _read(protector, release) for release in dict.fromkeys(releases)}
        total = np.zeros(len(texts))
        places: dict[int, list[tuple[int, int]]] = {}
        for row, (text, release) in enumerate(zip(texts, releases, strict=True)):
            source, found = before[text], after[release]
            exact = source.reading(release, known)
            found = exact or found
            if len(source.words) != len(found.words):
                total[row] = -1e6 * abs(len(source.words) - len(found.words))
                continue
            total[row] = -MISREAD * source.differences(found) - (0.0 if exact else UNREAD)
            pairs: Any = zip(source.words, found.words, strict=True)
            if once:
                pairs = set(pairs)
                total[row] -= MISREAD * (len(pairs) - len(set(source.words)))
            for word, drawn in pairs:
                places.setdefault(word, []).append((row, drawn))
        for word, rows in places.items():
            ends, columns = np.unique([end for _, end in rows], return_inverse=True)
            values = protector.laws[0].log_prob([word], ends)[0]
            np.add.at(total, [row for row, _ in rows], values[columns.ravel()])
        return total

    return law


def _planned(protector: Any, text: str) -> Seen:
    """What would be released of a text beside its draws."""
    (plan,) = protector.plan([text])
    if isinstance(plan, Refused):
        return Seen((), Counter(), ())
    gaps = [piece for piece in plan.pieces if isinstance(piece, str)]
    return Seen(
        tuple(token.position for token in plan.drawn),
        _signs(gaps),
        tuple(token.case for token in plan.drawn),
        _pattern(plan.pieces),
    )


def _pattern(pieces: Sequence[Any]) -> re.Pattern[str]:
    """Gaps as they are, a word for each word; two that touched may have been set apart."""
    parts, touching = [], False
    for piece in pieces:
        gap = isinstance(piece, str)
        parts.append(re.escape(piece) if gap else r" ?(\S+?)" if touching else r"(\S+?)")
        touching = not gap
    return re.compile("".join(parts))


def has_letters(word: str) -> bool:
    """Whether case can be seen in it."""
    return any(map(str.isalpha, word))


def _read(protector: Any, release: str) -> Seen:
    """What a release shows; a word without letters shows no case."""
    pieces = protector.tokenizer.split(release)
    tokens = [piece for piece in pieces if isinstance(piece, Token)]
    letters = [has_letters(release[token.start : token.end]) for token in tokens]
    return Seen(
        tuple(token.position for token in tokens),
        _signs([piece for piece in pieces if isinstance(piece, str)]),
        tuple(token.case if has else None for token, has in zip(tokens, letters, strict=True)),
    )


def _signs(gaps: Sequence[str]) -> Counter[str]:
    """All that stands between words but single spaces."""
    return Counter(gap for gap in gaps if gap != " ")
