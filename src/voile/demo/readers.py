"""Exact readers of whole messages, for the demo: no training, only Bayes' rule on a chain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from voile.adapt.levels import Evaluate
from voile.attackers.attack import HIDDEN
from voile.attackers.corpus import Corpus
from voile.attackers.markov import MarkovPrior, fit_markov, markov_attack
from voile.core.arrays import Floats, Indices
from voile.mechanisms._word_law import WordLaw

Build = Callable[[float], WordLaw]
"""The mechanism at an epsilon."""
BATCH = 50


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What a reader knows beforehand: the words of public messages, and which follows which.

    `states` are vocabulary positions in order, `number` gives their places, −1 elsewhere.
    """

    states: Indices
    number: Indices
    chain: MarkovPrior

    @classmethod
    def of(cls, public: Sequence[Indices], *, vocabulary: int) -> Knowledge:
        """Learned from public messages, each given as vocabulary positions."""
        states = np.unique(np.concatenate(public))
        number = np.full(vocabulary, HIDDEN, dtype=np.intp)
        number[states] = np.arange(len(states))
        chain = fit_markov([number[words] for words in public], size=len(states))
        return cls(states, number, chain)


@dataclass(frozen=True)
class Reading:
    """How often a reader names the word that stood there.

    `blind` takes the most frequent word, `alone` uses the word's own release, `whole` reads the
    message. The same for the words that are names or places. No figure counts a word that the
    reader cannot know as named.
    """

    messages: int
    words: int
    blind: float
    alone: float
    whole: float
    names: int
    names_blind: float
    names_alone: float
    names_whole: float

    @property
    def names_read(self) -> float:
        """The share of names that the better of the two readers gets."""
        return max(self.names_alone, self.names_whole)


def read(
    known: Knowledge,
    log_table: Floats,
    releases: Sequence[Indices],
    truths: Sequence[Indices],
    *,
    is_name: Sequence[Indices],
) -> Reading:
    """Name every word of every message by Bayes' rule, forward–backward for whole messages.

    `log_table` holds ln K(release | state); releases are its columns.
    `truths` are states, −1 for a word that no public message holds, which all readers miss.
    """
    frequencies = known.chain.start
    attack = markov_attack(log_table, known.chain)
    alone = (log_table + np.log(frequencies)[:, None]).argmax(axis=0)
    top = int(frequencies.argmax())
    hits, totals = np.zeros((2, 3)), np.zeros(2)
    for start in range(0, len(releases), BATCH):
        some = range(start, min(start + BATCH, len(releases)))
        beliefs = attack.log_posteriors([releases[n] for n in some])
        for n, belief in zip(some, beliefs, strict=True):
            most_frequent = np.full(len(truths[n]), top)
            guesses = np.stack([most_frequent, alone[releases[n]], belief.argmax(axis=1)])
            right = guesses == truths[n]
            named = is_name[n]
            hits += np.stack([right.sum(axis=1), right[:, named].sum(axis=1)])
            totals += [right.shape[1], named.sum()]
    (blind, alone_right, whole), (n_blind, n_alone, n_whole) = (
        hits / np.maximum(totals, 1)[:, None]
    ).tolist()
    return Reading(
        messages=len(releases),
        words=int(totals[0]),
        blind=blind,
        alone=alone_right,
        whole=whole,
        names=int(totals[1]),
        names_blind=n_blind,
        names_alone=n_alone,
        names_whole=n_whole,
    )


def read_release(
    texts: Corpus, laws: Sequence[WordLaw], known: Knowledge, *, levels: Indices
) -> Reading:
    """Attack a release of whole messages; `laws` released the words of each of the `levels`.

    `levels` gives every word of the vocabulary its tier. It is public, and the reader uses it:
    a release tells its tier too. Words of tier 0 count as names.
    """
    words = [texts.candidates[item.secrets[item.sensitive]] for item in texts.sequences]
    shown = [item.releases[item.sensitive] for item in texts.sequences]
    if len(laws) == 1:
        table, columns = laws[0].log_prob(known.states, texts.seen), shown
    else:
        size = len(texts.seen)
        pairs = [levels[w] * size + s for w, s in zip(words, shown, strict=True)]
        used = np.unique(np.concatenate(pairs))
        columns = [np.searchsorted(used, p) for p in pairs]
        table = np.full((len(known.states), len(used)), -np.inf)
        for level, law in enumerate(laws):
            rows = np.flatnonzero(levels[known.states] == level)
            here = np.flatnonzero(used // size == level)
            released = texts.seen[used[here] % size]
            table[np.ix_(rows, here)] = law.log_prob(known.states[rows], released)
    truths = [known.number[w] for w in words]
    return read(known, table, columns, truths, is_name=[levels[w] == 0 for w in words])


def names_evaluator(
    messages: Sequence[Indices],
    known: Knowledge,
    build: Build,
    *,
    epsilon: float,
    levels: Indices,
    vectors: Floats,
    seed: int = 0,
) -> Evaluate:
    """Strengths of names and of words close to names → (share of names read, utility loss).

    `levels` gives every word of the vocabulary its tier: 0 names, 1 close to names, 2 the rest,
    which keeps ε. Which tier a word is in is public, and the reader uses it. The utility loss is
    the mean of (1 − cos)/2 between the vectors of a word and of what was released for it. The
    same uniform numbers serve all rounds, so that rounds differ by their strengths alone.
    """
    rng = np.random.default_rng(seed)
    words = np.concatenate(list(messages))
    uniforms = rng.random(len(words))
    cuts = np.cumsum([len(message) for message in messages])[:-1]
    truths = np.split(known.number[words], cuts)
    is_name = np.split(levels[words] == 0, cuts)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = vectors / np.where(lengths > 0, lengths, 1)
    kept: dict[tuple[int, float], tuple[Indices, Floats]] = {}

    def tier(level: int, strength: float) -> tuple[Indices, Floats]:
        """What is released for the words of a tier, and the table a reader holds for them."""
        if (level, strength) not in kept:
            law = build(strength * epsilon)
            here = levels[words] == level
            drawn = _drawn(law, words[here], uniforms[here])
            table = np.full((len(known.states), len(drawn)), -np.inf)
            rows = levels[known.states] == level
            table[rows] = law.log_prob(known.states[rows], drawn)
            kept[level, strength] = drawn, table
        return kept[level, strength]

    def evaluate(strengths: tuple[float, ...]) -> tuple[float, float]:
        released = np.empty(len(words), dtype=np.intp)
        columns = np.empty(len(words), dtype=np.intp)
        tables, width = [], 0
        for level, strength in enumerate((*strengths, 1.0)):
            drawn, table = tier(level, strength)
            here = levels[words] == level
            released[here] = drawn
            columns[here] = width + np.arange(len(drawn))
            tables.append(table)
            width += len(drawn)
        found = read(known, np.hstack(tables), np.split(columns, cuts), truths, is_name=is_name)
        near = np.einsum("ij,ij->i", directions[words], directions[released])
        return found.names_read, float((1 - near).mean() / 2)

    return evaluate


def _drawn(law: WordLaw, words: Indices, uniforms: Floats) -> Indices:
    """One release for each word by its law's inverse distribution function."""
    drawn = np.empty(len(words), dtype=np.intp)
    for word in np.unique(words):
        proposals, accepts = law.law(int(word))
        running = np.cumsum(proposals * accepts)
        here = words == word
        drawn[here] = np.searchsorted(running, uniforms[here] * running[-1], side="right")
    return drawn
