"""Whether texts have the lengths of others: then the ones were made from the others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

_LOOKED_AT = 2000
"""So many texts are compared in their order."""
_TELLING, _MANY, _TEXTS = 5, 10, 20
"""Fewer lengths tell nothing, fewer than many little; nor do fewer texts, in another order."""
_BY_CHANCE = 0.25
"""Below this share of what chance leaves between two samples, they are one."""


def same_lengths(released: Iterable[str], public: Iterable[str]) -> bool:
    """Whether nine in ten of the first texts have equal lengths, or all of them in another order.

    Let c_k be how many texts have k words, on average of the two. Two samples of one kind of text
    differ there by about sqrt(4 c_k / π) texts. Where they differ by less than a quarter of that in
    all, over ten lengths or more, or over fewer not at all, the public texts are no sample of their
    own.

    >>> texts = ["a " * (n % 17 + 1) for n in range(200)]
    >>> same_lengths(texts, texts[::-1]), same_lengths(texts, texts[::3])
    (True, False)
    """
    ours, theirs = _Lengths(released), _Lengths(public)
    pairs = list(zip(ours.first, theirs.first, strict=False))
    alike = sum(a == b for a, b in pairs)
    if len({a for a, _ in pairs}) >= _TELLING and alike > 0.9 * len(pairs):
        return True
    counts, others = ours.counts, theirs.counts
    if len(counts) < _TELLING or counts.total() < _TEXTS:
        return False
    each = [(counts[length], others[length]) for length in counts.keys() | others.keys()]
    apart = sum(abs(a - b) for a, b in each)
    by_chance = sum(math.sqrt(2 * (a + b) / math.pi) for a, b in each)
    return apart <= (_BY_CHANCE * by_chance if len(counts) >= _MANY else 0)


class _Lengths:
    """How many words texts have, read once: of the first in their order, of all as counts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.first: list[int] = []
        self.counts: Counter[int] = Counter()
        for length in (len(text.split()) for text in texts):
            if len(self.first) < _LOOKED_AT:
                self.first.append(length)
            self.counts[length] += 1
