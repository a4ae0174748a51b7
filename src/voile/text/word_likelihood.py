"""How likely a release of words is under each text that it may have come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.text.released import Refused
from voile.text.tokens import Case, Token

MISREAD = 5.0
"""Nats that a sign or a letter's case costs that is not as it must be.

They are released as they are, so a text with others is impossible; but a drawn word such as
“o'clock” or “u.s.” is read back otherwise than it was written about once in a hundred words.
"""


@dataclass(frozen=True)
class Seen:
    """What a text shows, or would show if it were released: its words, signs and cases."""

    words: tuple[int, ...]
    signs: Counter[str]
    cases: tuple[Case | None, ...]

    def differences(self, other: Seen) -> int:
        """Signs and cases in which two texts of as many words differ; None is no case."""
        signs = sum(((self.signs - other.signs) + (other.signs - self.signs)).values())
        pairs = zip(self.cases, other.cases, strict=True)
        return signs + sum(a != b for a, b in pairs if a is not None and b is not None)


def word_likelihood(protector: Any) -> Callable[[Sequence[str], Sequence[Any]], Any]:
    """Ln K(release | text) of a protector whose law is known, and of what it leaves in clear.

    How many words there are is released as it is, so a text of another number of words is far less
    likely than any of the same number: the nearer the number, the likelier. (Not −∞: a drawn word
    such as “o'clock” may be read back as two.) Signs, spacing and case are released as they are
    too, and count `MISREAD` each where they differ. Where a word that repeats is drawn once, it
    counts once; a text in which one word had come out as two counts `MISREAD` for each too many.
    """
    once = protector.consistent is not None

    def law(texts: Sequence[str], releases: Sequence[Any]) -> Any:
        planned = dict.fromkeys(texts)
        before = {text: _planned(protector, text) for text in planned}
        after = {release: _read(protector, release) for release in dict.fromkeys(releases)}
        total = np.zeros(len(texts))
        places: dict[int, list[tuple[int, int]]] = {}
        for row, (text, release) in enumerate(zip(texts, releases, strict=True)):
            source, found = before[text], after[release]
            if len(source.words) != len(found.words):
                total[row] = -1e6 * abs(len(source.words) - len(found.words))
                continue
            total[row] = -MISREAD * source.differences(found)
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
    )


def _read(protector: Any, release: str) -> Seen:
    """What a release shows; a word without letters shows no case."""
    pieces = protector.tokenizer.split(release)
    tokens = [piece for piece in pieces if isinstance(piece, Token)]
    letters = [any(map(str.isalpha, release[token.start : token.end])) for token in tokens]
    return Seen(
        tuple(token.position for token in tokens),
        _signs([piece for piece in pieces if isinstance(piece, str)]),
        tuple(token.case if has else None for token, has in zip(tokens, letters, strict=True)),
    )


def _signs(gaps: Sequence[str]) -> Counter[str]:
    """All that stands between words but single spaces."""
    return Counter(gap for gap in gaps if gap != " ")
