"""The remap over a vocabulary: the best of all maps, and no less private than the draw."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voile
from voile.errors import CannotWrite, InvalidInput
from voile.mechanisms import santext_plus, word_exponential, word_remap, word_truncated_exponential
from voile.mechanisms import word_remap as _constructor
from voile.mechanisms._embedding import Embedding

pytest.importorskip("numba")


def dense(law, prior):
    """Σ_x π(x) K(y|x) c(x, y') for all y and y', from the law that is drawn from."""
    words = law.embedding
    everything = np.arange(len(words))
    points = words.points
    lengths = np.linalg.norm(points, axis=1)
    lengths[lengths == 0] = 1
    cosines = (points @ points.T) / np.outer(lengths, lengths)
    joint = prior[:, None] * np.exp(law.log_prob(everything, everything))
    return joint.T @ ((1 - cosines) / 2)


def random_words(seed: int, size: int) -> Embedding:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(size, 3))
    points[rng.integers(size)] = points[0]  # two words at one place
    points[rng.integers(size)] = 0  # a word without a direction
    return Embedding.of(points)


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(3, 25), st.floats(0.05, 30), st.booleans())
def test_it_is_the_dense_remap(seed: int, size: int, epsilon: float, truncated: bool) -> None:
    words = random_words(seed, size)
    make = word_truncated_exponential if truncated else word_exponential
    law = make(words, epsilon=epsilon, neighbours=4)
    rng = np.random.default_rng(seed)
    prior = rng.random(size) ** 3
    prior[rng.random(size) < 0.3] = 0
    prior[rng.integers(size)] = 0.2
    prior /= prior.sum()
    targets = word_remap(law, prior=prior).targets
    costs = dense(law, prior)
    rows = np.arange(size)
    allowed = np.where((prior > 0)[None, :] | np.eye(size, dtype=bool), costs, np.inf)
    assert np.isfinite(allowed[rows, targets]).all(), "a word without a prior was chosen"
    assert costs[rows, targets] == pytest.approx(allowed.min(axis=1), rel=1e-9, abs=1e-13)
    assert costs[rows, targets].sum() <= costs[rows, rows].sum() + 1e-12


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.floats(0.1, 10))
def test_probabilities_merge_and_ratios_never_grow(seed: int, epsilon: float) -> None:
    law = word_exponential(random_words(seed, 12), epsilon=epsilon)
    better = word_remap(law, prior=np.random.default_rng(seed).random(12))
    every = np.arange(12)
    before, after = np.exp(law.log_prob(every, every)), np.exp(better.log_prob(every, every))
    merged = np.zeros_like(before)
    for y, target in enumerate(better.targets):
        merged[:, target] += before[:, y]
    assert after == pytest.approx(merged, abs=1e-14)
    assert better.guarantee is law.guarantee
    used = np.unique(better.targets)
    logs = np.log(after[:, used])
    gaps = np.abs(logs[:, None] - logs[None]).max(axis=2)
    assert (gaps <= epsilon * law.space.distances() + 1e-9).all()


def test_draws_are_the_law_s_own_sent_to_their_targets() -> None:
    law = word_exponential(random_words(3, 20), epsilon=2.0)
    better = word_remap(law, prior=np.ones(20))
    secrets = np.arange(20).repeat(50)
    drawn = law.release(secrets, voile.seeded_rng(1))
    assert better.release(secrets, voile.seeded_rng(1)).tolist() == better.targets[drawn].tolist()


def test_without_information_one_word_is_left_and_with_all_of_it_every_word() -> None:
    words = Embedding.of(np.random.default_rng(2).normal(size=(50, 8)))
    prior = np.random.default_rng(3).random(50)
    vague = word_remap(word_exponential(words, epsilon=1e-4), prior=prior)
    assert len(np.unique(vague.targets)) == 1
    sharp = word_remap(word_exponential(words, epsilon=60.0), prior=prior)
    assert sharp.targets.tolist() == list(range(50))


def tied_words() -> Embedding:
    """The corners, edges and faces of a cube around 0: hardly a choice that is not a tie."""
    return Embedding.of(np.stack(np.meshgrid(*[[-1, 0, 1]] * 3), axis=-1).reshape(-1, 3))


def targets_of(words: Embedding, prior) -> list[int]:
    return word_remap(word_exponential(words, epsilon=3.0), prior=prior).targets.tolist()


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    module = sys.modules[_constructor.__module__]
    cases = [(random_words(4, 40), 1 / np.arange(1, 41)), (tied_words(), np.ones(27))]
    whole = [targets_of(*case) for case in cases]
    for rows in (1, 3, 10):
        monkeypatch.setattr(module, "_BLOCK_ELEMENTS", rows * 40)
        assert [targets_of(*case) for case in cases] == whole


def test_ties_are_decided_by_position_on_any_processor() -> None:
    """Two words in one direction: the first is taken; and a whole map, number by number."""
    words = Embedding.of([[1.0, 1.0], [3.0, 3.0], [2.0, 2.0], [-1.0, 0.0]])
    assert targets_of(words, [1, 0, 0, 0]) == [0, 1, 2, 0]  # not dearer: a word stays itself
    assert targets_of(words, [0, 1, 1, 0]) == [0, 1, 2, 1]
    points = np.random.default_rng(9).integers(-64, 65, size=(600, 7)) / 64
    points[300:320] = 2 * points[:20]
    found = targets_of(Embedding.of(points), 1 / np.arange(1.0, 601))
    assert len(set(found)) == 193
    assert hashlib.sha256(str(found).encode()).hexdigest()[:16] == "c1fe8a91ee7b7482"


def test_the_cache_is_used_told_apart_and_mended(tmp_path: Path) -> None:
    law = word_exponential(random_words(5, 10), epsilon=1.0)
    prior = np.ones(10)
    first = word_remap(law, prior=prior, cache=tmp_path).targets
    (kept,) = tmp_path.iterdir()
    np.save(kept, np.zeros(10, dtype=int))  # planted: it must be read, not computed again
    assert word_remap(law, prior=prior, cache=tmp_path).targets.tolist() == [0] * 10
    kept.write_bytes(b"damaged")
    assert word_remap(law, prior=prior, cache=tmp_path).targets.tolist() == first.tolist()
    word_remap(law, prior=prior + np.arange(10), cache=tmp_path)
    word_remap(word_exponential(law.embedding, epsilon=1.1), prior=prior, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    (tmp_path / "a file").write_text("")
    with pytest.raises(CannotWrite, match="VOILE_CACHE"):
        word_remap(law, prior=prior, cache=tmp_path / "a file" / "below")


@pytest.mark.parametrize(
    "prior", [np.ones(9), np.zeros(10), -np.ones(10), np.full(10, np.nan), np.full(10, np.inf)]
)
def test_bad_priors(prior) -> None:
    law = word_exponential(random_words(6, 10), epsilon=1.0)
    with pytest.raises(InvalidInput, match="prior"):
        word_remap(law, prior=prior)


def test_a_law_that_cannot_release_every_word_is_refused() -> None:
    partial = santext_plus(random_words(7, 10), epsilon=1.0).law
    with pytest.raises(InvalidInput, match="every word"):
        word_remap(partial, prior=np.ones(10))


def test_a_planted_wrong_map_is_dearer() -> None:
    """The comparison with the dense table has teeth: one target moved and the cost shows it."""
    law = word_exponential(random_words(8, 15), epsilon=3.0)
    prior = np.full(15, 1 / 15)
    better = word_remap(law, prior=prior)
    costs = dense(law, prior)
    wrong = better.targets.copy()
    wrong[4] = costs[4].argmax()
    planted = dataclasses.replace(better, targets=wrong)
    rows = np.arange(15)
    assert costs[rows, planted.targets].sum() > costs[rows, better.targets].sum() + 1e-6
