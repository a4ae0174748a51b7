"""A language model that weighs the likeliest readings again, as much as public text says it helps.

It reads draws and public text alone, so that what it chooses is post-processing. How much its word
counts beside that of the public text is chosen where the truth is public: on held-out public texts
that were put through the same laws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from voile.core.arrays import Floats, Indices, Items
from voile.restoring.ngrams import NGrams
from voile.restoring.reader import Observed, Readings
from voile.restoring.reranking import SHARES, Sentences, list_sentences, read_again
from voile.text.states import States

MOST_WEIGHED = 60
"""On so many held-out public texts it is seen how much the model helps."""
Scores = Callable[[Sequence[str]], Floats]


@dataclass(frozen=True)
class ModelUsed:
    """Which model, what its word counts (0: nothing), and words right on held-out public text."""

    name: str
    share: float
    texts: int
    with_it: float
    without: float


@dataclass(frozen=True, eq=False)
class Reranker:
    """The model by its name, how texts are written for it, and what its word counts, once known."""

    name: str
    states: States
    ngrams: NGrams
    used: ModelUsed | None = None
    given: Scores | None = None
    """What scores texts instead of the model of that name."""

    @property
    def wanted(self) -> bool:
        """Whether it is to be asked."""
        return self.used is not None and self.used.share > 0

    def read(self, texts: Observed, found: Readings) -> Indices:
        """What was read, with the words that the model prefers."""
        assert self.used is not None
        sentences = self._listed(texts, found)
        return self._again(found.words, sentences, self._scored(sentences), self.used.share)

    def weighed(self, texts: Observed, found: Readings, places: Items, truth: Items) -> Reranker:
        """The same with the share that reads most words right where the truth is known."""
        sentences = self._listed(texts, found)
        models = self._scored(sentences)
        tried = {0.0: found.words}
        tried |= {share: self._again(found.words, sentences, models, share) for share in SHARES}
        right = {share: float((words[places] == truth).mean()) for share, words in tried.items()}
        best = max(right, key=lambda share: (right[share], -share))
        used = ModelUsed(self.name, best, len(texts.ends), right[best], right[0.0])
        return replace(self, used=used)

    def _listed(self, texts: Observed, found: Readings) -> list[Sentences]:
        assert found.lattice is not None
        edge, end = self.states.edge, self.states.end
        return list_sentences(texts, found.lattice, self.ngrams, edge=edge, end=end)

    def _again(
        self, words: Indices, sentences: list[Sentences], models: list[Floats], share: float
    ) -> Indices:
        unread = self.states.vocabulary.unknown
        return read_again(words, sentences, models, share, unread=unread)

    def _scored(self, sentences: list[Sentences]) -> list[Floats]:
        """What the model says of each reading of each sentence; each writing is scored once."""
        rows = [[self.states.written(row.tolist()) for row in s.words] for s in sentences]
        each = list(dict.fromkeys(text for texts in rows for text in texts))
        scores = (self.given or _scores(self.name))(each) if each else np.empty(0)
        known = dict(zip(each, scores.tolist(), strict=True))
        return [np.array([known[text] for text in texts]) for texts in rows]


@lru_cache(maxsize=1)
def _scores(name: str) -> Scores:
    """A model is loaded once a process."""
    from voile.rewriting.likelihood import text_likelihood
    from voile.rewriting.trained_here import language_named

    language = language_named(name)
    return lambda texts: text_likelihood(language, texts)
