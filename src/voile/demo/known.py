"""What the demo's reader of whole messages knows: the mechanism, and public messages."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from voile.adapt.levels import Levels, adapt, frontier, meets
from voile.core.arrays import Indices
from voile.demo.reader_results import Adapted
from voile.demo.readers import Knowledge, Reading, names_evaluator, read_release
from voile.mechanisms import word_truncated_exponential
from voile.mechanisms._neighbours import cache_folder, neighbours_of
from voile.mechanisms._word_law import WordLaw
from voile.text.building import load_vocabulary
from voile.text.reading import texts_of
from voile.text.sample_messages import messages, names_and_places
from voile.text.sequences import corpus, read_words
from voile.text.settings import TextSettings
from voile.text.tiers import tiers

LONGEST = 80
ROUNDS = 5


class Known:
    """The vocabulary, its tiers by the list of names, and public messages to learn from."""

    def __init__(self, listed: Path, *, epsilon: float, count: int) -> None:
        self.epsilon = epsilon
        self.words = load_vocabulary(TextSettings("text", epsilon))
        close = tiers(self.words, pipeline=str(listed)).close
        self.levels: Indices = np.where(close, 1, 2).astype(np.intp)
        self.levels[[self.words.positions[name] for name in sorted(names_and_places())]] = 0
        self.neighbours = neighbours_of(self.words.embedding, cache=cache_folder())
        texts = [message.text for message in messages(count, seed=1)]
        self.public = [sequence.words[:LONGEST] for sequence in read_words(texts, self.words)]

    def build(self, epsilon: float) -> WordLaw:
        """The mechanism at an epsilon."""
        return word_truncated_exponential(
            self.words.embedding, epsilon=epsilon, neighbours=self.neighbours
        )

    def knowledge(self, count: int | None = None) -> Knowledge:
        """What so many public messages teach, or all of them."""
        return Knowledge.of(self.public[:count], vocabulary=len(self.levels))

    def read(
        self, original: Path, released: Path, *, strengths: tuple[float, ...] = (1.0,)
    ) -> Reading:
        """Read a release whose levels were drawn with these strengths, times ε."""
        before, after = (texts_of(path, "text") for path in (original, released))
        texts = corpus(
            read_words(before, self.words),
            read_words(after, self.words),
            self.words,
            longest=LONGEST,
            most_candidates=len(self.levels),
        )
        laws = tuple(self.build(strength * self.epsilon) for strength in strengths)
        return read_release(texts, laws, self.knowledge(), levels=self.levels)

    def adapt(self, *, target: float) -> Adapted:
        """Turn names down, on public messages alone, until few enough of them are read."""
        learned = len(self.public) * 3 // 4
        evaluate = names_evaluator(
            self.public[learned:],
            self.knowledge(learned),
            self.build,
            epsilon=self.epsilon,
            levels=self.levels,
            vectors=self.words.embedding.points,
        )
        levels = Levels(start=(1.0, 1.0), free=(True, True), last_step=0.1)
        state = adapt(levels, evaluate, most_rounds=ROUNDS)
        chosen = meets(state.rounds, delta=target) or state.best
        return Adapted(state.rounds, chosen, tuple(frontier(state.rounds)), target)
