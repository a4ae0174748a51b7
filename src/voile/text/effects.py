"""What a law does to words, from public lists alone: shares kept, and the words kept most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.core.mechanism import Mechanism
from voile.text.stopwords import STOPWORDS
from voile.text.vocabularies import Vocabulary
from voile.text.watched import WATCHED

SHOWN = 3
"""So many words of each class are named."""
OWN_LIST = "your list"


@dataclass(frozen=True)
class Expected:
    """The share kept and the best attacker's success, on public word frequencies.

    The attacker knows mechanism and frequencies and chooses among the most frequent words; what it
    reaches is known for laws with a closed form.
    """

    kept: float
    attacker: float | None = None
    attacker_without: float | None = None
    candidates: int | None = None


@dataclass(frozen=True)
class WatchedClass:
    """Watched words of one class: those that are kept most, and how many were looked at."""

    kind: str
    looked_at: int
    unknown: int
    most: tuple[tuple[str, float], ...]


def expected(law: Mechanism, words: Vocabulary) -> Expected:
    """What a law does to words as they occur."""
    from voile.leakage.words import best_guess, kept_share
    from voile.mechanisms._word_law import WordLaw

    frequencies = words.frequencies()
    kept = kept_share(law, frequencies)
    if not isinstance(law, WordLaw):
        return Expected(kept)
    candidates = min(2000, len(words))
    success, before = best_guess(law, frequencies, candidates=candidates)
    return Expected(kept, success, before, candidates)


def watched(
    law: Mechanism,
    words: Vocabulary,
    own: Sequence[str] = (),
    *,
    keep_stopwords: bool = False,
    keep_unknown: bool = False,
) -> tuple[WatchedClass, ...]:
    """For each class of watched words those that are kept most, and how many were looked at.

    The probabilities are those of the law itself, and 1 for what never meets it: stop words and
    words outside the vocabulary, where these are kept. Else words outside the vocabulary are all
    released as the unknown word would be, and are counted only. Empty for a law without a closed
    form.
    """
    from voile.leakage.words import kept_chances

    lists = {OWN_LIST: tuple(own)} if own else {}
    found = []
    for kind, listed in (lists | WATCHED).items():
        known = [word for word in listed if word in words.positions]
        unknown = [word for word in listed if word not in words.positions]
        places = np.array([words.positions[word] for word in known], dtype=np.intp)
        chances = kept_chances(law, places)
        if chances is None:
            return ()
        if keep_stopwords:
            chances = np.where([word in STOPWORDS for word in known], 1.0, chances)
        shown = known + unknown if keep_unknown else known
        chances = np.append(chances, np.ones(len(shown) - len(known)))
        order = np.argsort(-chances, kind="stable")[:SHOWN]
        most = tuple((shown[i], float(chances[i])) for i in order)
        found.append(WatchedClass(kind, len(known), len(unknown), most))
    return tuple(found)
