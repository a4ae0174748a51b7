"""Exact readers of whole messages, for the demo: no training, only Bayes' rule on a chain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from voile.adapt.levels import Evaluate
from voile.attackers.attack import HIDDEN
from voile.attackers.markov import MarkovPrior, fit_markov, markov_attack
from voile.core.arrays import Floats, Indices
from voile.domains.text.sequences import Corpus
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


def read(
    known: Knowledge,
    log_table: Floats,
    releases: Sequence[Indices],
    truths: Sequence[Indices],
    *,
    is_name: Sequence[Indices],
) -> Reading:
    """Name every word of every message by Bayes' rule, forward–backward for whole messages.

    `log_table` holds ln K(release | state); releases are its columns, `HIDDEN` where unclear.
    `truths` are states, −1 for a word that no public message holds, which all readers miss.
    A word whose release is unclear counts too: the rest of the message may tell it.
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
            blind = np.full(len(truths[n]), top)
            by_itself = np.where(releases[n] == HIDDEN, top, alone[releases[n]])
            right = np.stack([blind, by_itself, belief.argmax(axis=1)]) == truths[n]
            named = is_name[n]
            hits += np.stack([right.sum(axis=1), right[:, named].sum(axis=1)])
            totals += [right.shape[1], named.sum()]
    every, names = hits / np.maximum(totals, 1)[:, None]
    counts = totals.astype(int).tolist()
    return Reading(len(releases), counts[0], *every.tolist(), counts[1], *names.tolist())


def read_release(texts: Corpus, law: WordLaw, known: Knowledge, names: Indices) -> Reading:
    """Attack a release that a law made of whole messages; `names` are vocabulary positions."""
    truths, releases, is_name = [], [], []
    for item in texts.sequences:
        words = texts.candidates[item.secrets[item.sensitive]]
        truths.append(known.number[words])
        releases.append(item.releases[item.sensitive])
        is_name.append(np.isin(words, names))
    table = law.log_prob(known.states, texts.seen)
    return read(known, table, releases, truths, is_name=is_name)


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
        return found.names_whole, float((1 - near).mean() / 2)

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
