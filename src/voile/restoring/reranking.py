"""The likeliest sentences weighed again by a language model that has read more than pairs.

Whatever the model says, it reads what was drawn and public text alone: post-processing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.restoring.ngrams import NGrams
from voile.restoring.reader import Lattice, Observed

BEST = 8
"""So many sentences are weighed again; the model's time grows with them."""
LONGEST = 40
"""Longer sentences are cut: of long ones the likeliest differ in a few words only."""
SHARES = (0.25, 0.5, 0.75, 1.0)
"""What the model's word may count beside that of the public text."""


@dataclass(frozen=True, eq=False)
class Sentences:
    """The likeliest readings of places `start` …, a row each; ln P of triples, and ln K."""

    start: int
    words: Indices
    prior: Floats
    drawn: Floats

    def chosen(self, model: Floats, share: float) -> Indices:
        """The word of each place that most of the belief over these sentences holds.

        The belief in one is ∝ P_triples^(1 − share)·P_model^share·K(y | x).
        """
        scores = self.drawn + (1 - share) * self.prior + share * model
        beliefs = np.exp(scores - scores.max())
        found = self.words[0].copy()
        for place, column in enumerate(self.words.T):
            kinds, which = np.unique(column, return_inverse=True)
            if len(kinds) > 1:
                found[place] = kinds[np.bincount(which, weights=beliefs).argmax()]
        return found


def list_sentences(
    texts: Observed, lattice: Lattice, ngrams: NGrams, *, edge: int, end: int, count: int = BEST
) -> list[Sentences]:
    """The likeliest readings of each sentence that has a word to be read, in the order of places.

    A sentence ends with the state `end`, with its text, or where it grows too long.
    """
    from voile.restoring._sentences import best_sentences

    found = []
    for low, high, before, after in _cut(texts, lattice, edge, end):
        if (texts.known[low:high] < 0).any():
            here = slice(low, high)
            words, prior, drawn = best_sentences(
                lattice.words[here], lattice.chances[here], lattice.widths[here], before, after,
                ngrams.chain, count,
            )  # fmt: skip
            found.append(Sentences(low, words, prior, drawn))
    return found


def _cut(
    texts: Observed, lattice: Lattice, edge: int, end: int
) -> Iterator[tuple[int, int, int, int]]:
    """Places of each sentence, and the states before and after it."""
    first = 0
    for last in texts.ends.tolist():
        low, before = first, edge
        for place in range(first, last):
            whole = texts.known[place] == end or place - low + 1 == LONGEST
            if whole or place == last - 1:
                after = edge if place == last - 1 else int(lattice.words[place + 1, 0])
                yield low, place + 1, before, after
                low, before = place + 1, int(lattice.words[place, 0])
        first = last


def read_again(
    words: Indices, sentences: Sequence[Sentences], models: Sequence[Floats], share: float, *,
    unread: int,
) -> Indices:  # fmt: skip
    """What was read, with the words that the model prefers; draws that are left stay so."""
    found = words.copy()
    for sentence, model in zip(sentences, models, strict=True):
        here = slice(sentence.start, sentence.start + sentence.words.shape[1])
        new = sentence.chosen(model, share)
        found[here] = np.where((found[here] >= 0) & (new != unread), new, found[here])
    return found
