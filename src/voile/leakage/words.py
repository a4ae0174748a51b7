"""What an epsilon does to words: the share kept, and what the best attacker names."""

from __future__ import annotations

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.mechanism import ExactMechanism, Mechanism
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput, require
from voile.mechanisms._embedding import Embedding
from voile.mechanisms._word_law import WordLaw
from voile.mechanisms.spaces.word_remap import RemappedWords

_BLOCK_ROWS = 64


def representative_words(frequencies: Floats, count: int = 256) -> Indices:
    """Words at the middles of `count` equal shares of the frequencies: each stands for a share."""
    running = np.cumsum(frequencies)
    middles = (np.arange(count) + 0.5) / count * running[-1]
    return np.searchsorted(running, middles)


def kept_share(mechanism: Mechanism, frequencies: Floats, *, count: int = 256) -> float:
    """Expected share of words released as themselves, over public word frequencies.

    Computed from the law where it is known; otherwise from 20 draws of each word that stands
    for a share of the frequencies (a repeatable estimate, drawn for words of a public list).
    """
    words = representative_words(frequencies, count)
    if not isinstance(mechanism, WordLaw):
        repeated = np.repeat(words, 20)
        return float((mechanism.release(repeated, seeded_rng(0)) == repeated).mean())
    return _kept(mechanism.embedding, words, mechanism.rate, mechanism.cap)


def _kept(embedding: Embedding, words: Indices, rate: float, cap: float) -> float:
    unique, counts = np.unique(words, return_counts=True)
    kept = 0.0
    for start in range(0, len(unique), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        totals = _weights(embedding, unique[rows], rate, cap).sum(axis=1)
        kept += float((counts[rows] / totals).sum())  # a word's own weight is 1
    return kept / len(words)


def kept_chances(mechanism: Mechanism, words: Indices) -> Floats | None:
    """The probability of each of these words to be released as itself, from the law.

    None for a mechanism whose law has no closed form.
    """
    if isinstance(mechanism, WordLaw):
        return _own_shares(mechanism.embedding, words, mechanism.rate, mechanism.cap)
    if isinstance(mechanism, RemappedWords):
        return _remapped_shares(mechanism, words)
    if isinstance(mechanism, ExactMechanism):
        return np.array([float(np.exp(mechanism.log_prob([w], [w])[0, 0])) for w in words])
    return None


def _own_shares(embedding: Embedding, words: Indices, rate: float, cap: float) -> Floats:
    """A word's own weight is 1, so its share is one over the total."""
    totals = [_weights(embedding, rows, rate, cap).sum(axis=1) for rows in _blocks(words)]
    return 1 / np.concatenate([*totals, np.empty(0)])


def _remapped_shares(mechanism: RemappedWords, words: Indices) -> Floats:
    """The summed probability of all draws that the remap sends to the word itself."""
    law, answer = mechanism.law, np.empty(len(words))
    for place, word in enumerate(words):
        row = _weights(law.embedding, words[place : place + 1], law.rate, law.cap)[0]
        answer[place] = row[mechanism.targets == word].sum() / row.sum()
    return answer


def epsilon_for_most_kept(
    embedding: Embedding, words: Indices, *, most: float, beta: float | None = 0.001
) -> float:
    """The largest epsilon, to three digits, at which TEM keeps none of these words more often.

    `beta` None asks for the exponential mechanism without truncation. A word's own weight is 1 and
    every other weight exp(−min((ε/2)·d, cap)) falls as epsilon grows, so each word's chance to be
    kept grows with epsilon, and bisection finds the largest that will do.
    """
    require(0 < most < 1, "--max-kept", "between 0 and 1", most)
    require(len(words) > 0, "--max-kept", "used with watched words of the vocabulary", "none")
    size = len(embedding)
    cap = 41.0 if beta is None else min(41.0, float(np.log((1 - beta) * (size - 1) / beta)))

    lowest, epsilon = 2.0**-8, 2.0**12
    for rows in _blocks(words):
        distances = np.sqrt(embedding.squared(rows)) * embedding.step
        if _most_kept(distances, lowest, cap) > most:
            raise InvalidInput(
                f"no epsilon keeps every watched word at most {most:g} of the time in this "
                "vocabulary; ask for more, or use a larger vocabulary"
            )
        low, high = lowest, epsilon
        if _most_kept(distances, high, cap) <= most:
            continue
        for _ in range(24):
            middle = float(np.sqrt(low * high))
            low, high = (
                (low, middle) if _most_kept(distances, middle, cap) > most else (middle, high)
            )
        epsilon = low
    digits = 2 - int(np.floor(np.log10(epsilon)))
    return float(np.floor(epsilon * 10.0**digits) / 10.0**digits)


def _most_kept(distances: Floats, epsilon: float, cap: float) -> float:
    return float(1 / np.exp(-np.minimum(0.5 * epsilon * distances, cap)).sum(axis=1).min())


def _blocks(words: Indices) -> list[Indices]:
    return [words[start : start + _BLOCK_ROWS] for start in range(0, len(words), _BLOCK_ROWS)]


def best_guess(law: WordLaw, frequencies: Floats, *, candidates: int = 2000) -> tuple[float, float]:
    """Success of the best attacker who knows the law and the frequencies; and without a release.

    Σ_y max_x π(x)·K(y|x), computed over all outputs y, for a secret among the `candidates` most
    frequent words: no attacker who sees one released word names it more often. Without the
    release the best is max π. Costs candidates × vocabulary.
    """
    order = np.argsort(-frequencies, kind="stable")[:candidates]
    prior = frequencies[order] / frequencies[order].sum()
    best = np.zeros(len(law.embedding))
    for start in range(0, len(order), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        table = _weights(law.embedding, order[rows], law.rate, law.cap)
        table *= (prior[rows] / table.sum(axis=1))[:, None]
        np.maximum(best, table.max(axis=0), out=best)
    return float(best.sum()), float(prior.max())


def epsilon_for_kept(
    embedding: Embedding, frequencies: Floats, *, share: float, beta: float | None = 0.001
) -> float:
    """The epsilon at which TEM keeps this share of words, on public frequencies alone.

    `beta` None asks for the exponential mechanism without truncation. Bisection on the expected
    share, which grows with epsilon; 96 representative words.
    """
    require(0 < share < 1, "the share kept", "between 0 and 1", share)
    words = representative_words(frequencies, 96)
    unique, counts = np.unique(words, return_counts=True)
    distances = np.sqrt(embedding.squared(unique)).astype(np.float32) * np.float32(embedding.step)
    size = len(embedding)

    def kept(epsilon: float) -> float:
        cap = 41.0 if beta is None else float(np.log((1 - beta) * (size - 1) / beta))
        totals = np.exp(-np.minimum(np.float32(epsilon / 2) * distances, np.float32(cap)))
        return float((counts / totals.sum(axis=1, dtype=np.float64)).sum() / len(words))

    low, high = 2.0**-8, 2.0**12
    if not kept(low) < share < kept(high):
        raise InvalidInput(
            f"no epsilon keeps a share of {share:g} of these words; the vocabulary allows "
            f"{kept(low):.2g} to {kept(high):.4g}"
        )
    for _ in range(18):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if kept(middle) < share else (low, middle)
    return float(f"{np.sqrt(low * high):.3g}")


def _weights(embedding: Embedding, rows: Indices, rate: float, cap: float) -> Floats:
    """The ideal weights, within 2^−45 of what is drawn from: for shares, not for draws."""
    table = np.sqrt(embedding.squared(rows))
    table *= -rate
    np.maximum(table, -cap, out=table)
    return np.exp(table, out=table)
