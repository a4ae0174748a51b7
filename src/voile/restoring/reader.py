"""Releases of words read as a whole, under a public prior and the law that they were drawn by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from voile.core.arrays import Floats, Indices, Items
from voile.mechanisms._embedding import Embedding
from voile.mechanisms._word_law import WordLaw
from voile.restoring.candidates import MOST, Candidates, Lists, normalisers
from voile.restoring.ngrams import NGrams


@dataclass(frozen=True, eq=False)
class Observed:
    """Texts one after another, as states of the prior where they are known, draws where not.

    `ends` is where each text ends. `known` holds states: words in clear, signs; −1 where a word was
    drawn. `drawn` holds what came out, `laws` which law drew it, `cases` how it was written (0 …)
    or −1 where that tells nothing.
    """

    ends: Indices
    known: Indices
    drawn: Indices
    laws: Indices
    cases: Indices


@dataclass(frozen=True, eq=False)
class Readings:
    """What was read at each place that was drawn; −1 elsewhere, and where a draw is left as it is.

    `words` are the likeliest ones, or those of least expected loss; `plain` the likeliest by
    general frequencies alone, without context. `left_out` bounds the share of the
    belief (without context) outside the candidates. `evidence` is, for each text, ln of its
    probability under the prior, and without context.
    """

    words: Indices
    plain: Indices
    left_out: Floats
    evidence: Floats
    lattice: Lattice | None = None


@dataclass(frozen=True, eq=False)
class Lattice:
    """The best candidates of each place, likeliest first, and what their draws say of them.

    `chances` are K(y | x), times how x is written; a state that is known stands alone.
    """

    words: Items
    chances: Floats
    widths: Indices

    @classmethod
    def of(cls, places: int) -> Lattice:
        """Room for the candidates of so many places."""
        from voile.restoring._windows import REFINED

        shape = (places, REFINED)
        words = np.full(shape, -1, dtype=np.int32)
        return cls(words, np.zeros(shape), np.zeros(places, dtype=np.int64))


class Reader:
    """P(x_1 … x_L | y_1 … y_L) ∝ Π P(x_t | x_(t−2), x_(t−1))·K(y_t | x_t), place by place.

    K is the law itself: weights over normalisers, both exact to rounding. Each x_t ranges over the
    200 candidates of y_t. Marginals under pairs are exact over these but that a word believed less
    than 10⁻⁴ passes on its back-off alone; the twelve best of each place are then weighed again
    with triples, if there are any. Texts of more than 1,024 words are read in windows that
    overlap by 64.

    `edge` is the state before and after a text, `unread` the unknown word, which tells a reader
    nothing and is never handed out. Where it is the likeliest, the draw is left as it is if the law
    keeps it half of the time or more; else the next best word is taken.
    """

    def __init__(
        self,
        laws: list[WordLaw | None],
        ngrams: NGrams,
        *,
        general: Floats,
        case_shares: Floats,
        edge: int,
        unread: int,
        cache: Path | None = None,
    ) -> None:
        self.ngrams, self.general, self.case_shares = ngrams, general, case_shares
        self.edge, self.unread = edge, unread
        self.laws, self.cache = laws, cache
        self._embedding: Embedding = next(law for law in laws if law is not None).embedding
        self._lists = Lists(min(MOST, len(self._embedding)))
        self._candidates: dict[int, Candidates] = {}

    @cached_property
    def _directions(self) -> Floats:
        lengths = np.sqrt(self._embedding.squared_norms)[:, None]
        return np.asarray(self._embedding.points / np.where(lengths > 0, lengths, 1))

    def _rows(self, law: int, drawn: Indices) -> Indices:
        if law not in self._candidates:
            chosen = self.laws[law]
            assert chosen is not None  # what no law drew is known
            prior = self.ngrams.unigram[: len(self._embedding)]
            totals = normalisers(chosen, cache=self.cache)
            self._candidates[law] = Candidates(chosen, prior, totals, self._lists)
        return self._candidates[law].rows(drawn)

    def read(
        self, texts: Observed, *, serving: bool, tied: bool = False, listed: bool = False
    ) -> Readings:
        """All places of all texts: words of least loss if `serving`, else the likeliest.

        With `tied`, equal draws of a text are one draw, of one word: they are read together
        (`_passes.tie`). What context gains is told from the places as they stand. With `listed`
        the best candidates of each place are handed out as well.
        """
        from voile.restoring._windows import Listed, Places, read_texts

        size = len(texts.known)
        rows = np.full(size, -1, dtype=np.int64)
        told = texts.known < 0
        for law in np.unique(texts.laws[told]):
            here = told & (texts.laws == law)
            rows[here] = self._rows(int(law), texts.drawn[here])
        found = Readings(
            words=np.full(size, -1, dtype=np.int64),
            plain=np.full(size, -1, dtype=np.int64),
            left_out=np.where(told, np.append(self._lists.left_out, 0.0)[rows], 0.0),
            evidence=np.zeros((len(texts.ends), 2)),
            lattice=Lattice.of(size) if listed else None,
        )
        if told.any():
            lists = self._lists
            candidates = Listed(
                lists.words, lists.chances, lists.widths, self.case_shares, self.general,
                self._directions,
            )  # fmt: skip
            places = Places(texts.ends, texts.known, texts.drawn, rows, texts.cases)
            room = found.lattice or Lattice.of(0)
            read_texts(
                places, self.ngrams.chain, candidates, self.edge, self.unread, serving, tied,
                found.words, found.plain, found.evidence, room.words, room.chances, room.widths,
            )  # fmt: skip
        return found
