"""Documents whose words are yet to be drawn, and what a secret of theirs may be."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voile.attackers.attack import Observed
from voile.attackers.corpus import Corpus
from voile.core.arrays import Floats, Indices
from voile.core.keyed_streams import KeyedStreams, release_each
from voile.core.mechanism import ExactMechanism
from voile.core.randomness import Generator
from voile.errors import InvalidInput
from voile.mechanisms._embedding import Embedding

CLEAR = -1
"""The level of a word that is left as it is."""
_BLOCK = 64


@dataclass(frozen=True, eq=False)
class Document:
    """Words in order, by their positions in the vocabulary, and the level whose law draws each.

    Copies of a text have one `owner`.
    """

    words: Indices
    levels: Indices
    owner: int | None = None


@dataclass(frozen=True, eq=False)
class Secrets:
    """What may stand at a sensitive place: a word together with the level that it is drawn by.

    A release draws a word by the law of its level, and the level is decided in the text: the same
    word may be a name here and a word close to names there. So a secret is the pair, its law is
    exactly the one that draws it, and pairs of one word lie at distance 0, which nobody counts.
    """

    embedding: Embedding
    words: Indices
    levels: Indices
    written: tuple[str, ...] = ()
    """How each position of the embedding is written, where an attacker reads words."""

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def of(
        cls,
        documents: Sequence[Document],
        embedding: Embedding,
        *,
        drawn: int,
        most: int,
        written: tuple[str, ...] = (),
    ) -> Secrets:
        """The most frequent pairs of these documents; words of `drawn` levels are secrets."""
        codes = [
            d.words[_within(d, drawn)] * drawn + d.levels[_within(d, drawn)] for d in documents
        ]
        found, counts = np.unique(
            np.concatenate([*codes, np.empty(0, np.intp)]), return_counts=True
        )
        kept = np.sort(found[np.argsort(-counts, kind="stable")[:most]])
        if len(np.unique(kept // drawn)) < 2:
            raise InvalidInput(
                "no sensitive words found: an attack needs at least two different ones, got "
                f"{len(np.unique(kept // drawn))}; give more text, or another --pipeline"
            )
        return cls(embedding, kept // drawn, kept % drawn, written)

    def observed(self, document: Document, releases: Indices) -> Observed:
        """A document as an attacker meets it: releases by position in the vocabulary."""
        width = int(self.levels.max()) + 1
        own = self.words * width + self.levels
        code = document.words * width + document.levels
        place = np.minimum(np.searchsorted(own, code), len(own) - 1)
        known = _within(document, width) & (own[place] == code)
        secrets = np.where(known, place, CLEAR)
        return Observed(releases, secrets, np.flatnonzero(known), document.owner)

    def corpus(self) -> Corpus:
        """Candidates and everything that can be released, for attackers who read documents."""
        every = np.arange(len(self.embedding))
        return Corpus(
            self.embedding, (), self.words, every, self.levels,
            unaligned=0, unpaired=0, written=self.written,
        )  # fmt: skip

    @cached_property
    def directions(self) -> Floats:
        """A unit vector for each word of the vocabulary; a zero vector stays."""
        lengths = np.sqrt(self.embedding.squared_norms)[:, None]
        return np.asarray(self.embedding.points / np.where(lengths > 0, lengths, 1))

    def tables(
        self, laws: Sequence[ExactMechanism | None], columns: Indices, *, dtype: Any = np.float64
    ) -> tuple[Any, Floats]:
        """The logarithms ln K(y|x) of each secret at some releases, and its expected loss over all.

        The loss of y for x is (1 − cos(x, y))/2 (mPL paper, appendix E.2), which is linear in the
        direction of y: what a law costs at x is (1 − ⟨x̂, E[ŷ|x]⟩)/2, from its whole row.
        """
        logs, losses = np.empty((len(self), len(columns)), dtype), np.empty(len(self))
        every = np.arange(len(self.embedding))
        for level in np.unique(self.levels):
            law, rows = laws[level], np.flatnonzero(self.levels == level)
            assert law is not None  # a level in clear holds no secrets
            for some in np.split(rows, range(_BLOCK, len(rows), _BLOCK)):
                whole = law.log_prob(self.words[some], every)
                logs[some] = whole[:, columns]
                meant = np.exp(whole) @ self.directions
                losses[some] = (1 - (self.directions[self.words[some]] * meant).sum(axis=1)) / 2
        return logs, losses

    def constant_losses(self, target: int) -> Floats:
        """What each secret loses if this one word is released in every place."""
        return (1 - self.directions[self.words] @ self.directions[target]) / 2

    def best_constant(self, documents: Sequence[Document]) -> int:
        """The word that costs these documents least if it is released everywhere."""
        means = [
            self.directions[self.words[item.secrets[item.sensitive]]].mean(axis=0)
            for item in (self.observed(d, d.words) for d in documents)
            if len(item.sensitive)
        ]
        return int((self.directions @ np.mean(means, axis=0)).argmax())


def document_losses(items: Sequence[Observed], losses: Floats) -> Floats:
    """The mean loss over the secrets of each document that has any."""
    return np.array([losses[i.secrets[i.sensitive]].mean() for i in items if len(i.sensitive)])


def drawn(
    documents: Sequence[Document],
    laws: Sequence[ExactMechanism | None],
    source: Generator | int,
) -> list[Indices]:
    """What is released for each document: every word by the law of its level.

    With a seed each place has a stream of bits of its own, the same whatever the laws are: two
    strengths are then compared on the same luck.
    """
    words = np.concatenate([d.words for d in documents])
    levels = np.concatenate([d.levels for d in documents])
    after = words.copy()
    for level, law in enumerate(laws):
        here = np.flatnonzero(levels == level)
        if law is None or not len(here):
            continue
        if isinstance(source, int):
            key = hashlib.sha256(f"voile tuning {source}".encode()).digest()
            names = [int(place).to_bytes(8, "little") for place in here]
            after[here] = release_each(law, words[here], names, KeyedStreams(key))
        else:
            after[here] = law.release(words[here], source)
    return np.split(after, np.cumsum([len(d.words) for d in documents])[:-1])


def _within(document: Document, drawn: int) -> np.ndarray:
    return (document.levels >= 0) & (document.levels < drawn)
