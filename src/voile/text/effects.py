"""What a law does to words, from public lists alone: shares kept, and the words kept most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voile.core.mechanism import Mechanism
from voile.text import Vocabulary
from voile.text.stopwords import STOPWORDS
from voile.text.watched import WATCHED

SHOWN = 3
"""So many words of each class are named."""
OWN_LIST = "your list"


def expected(law: Mechanism, words: Vocabulary) -> dict[str, Any]:
    """The share kept and the best attacker's success, on public word frequencies."""
    from voile.leakage.words import best_guess, kept_share
    from voile.mechanisms._word_law import WordLaw

    frequencies = words.frequencies()
    answer: dict[str, Any] = {"kept": kept_share(law, frequencies)}
    if isinstance(law, WordLaw):
        candidates = min(2000, len(words))
        success, before = best_guess(law, frequencies, candidates=candidates)
        answer |= {"attacker": success, "attacker_without": before, "candidates": candidates}
    return answer


def watched(
    law: Mechanism,
    words: Vocabulary,
    own: Sequence[str] = (),
    *,
    keep_stopwords: bool = False,
    keep_unknown: bool = False,
) -> list[dict[str, Any]]:
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
            return []
        if keep_stopwords:
            chances = np.where([word in STOPWORDS for word in known], 1.0, chances)
        shown = known + unknown if keep_unknown else known
        chances = np.append(chances, np.ones(len(shown) - len(known)))
        order = np.argsort(-chances, kind="stable")[:SHOWN]
        found.append(
            {
                "class": kind,
                "looked_at": len(known),
                "unknown": len(unknown),
                "most": [[shown[i], float(chances[i])] for i in order],
            }
        )
    return found
