"""Candidate sets follow the law of the paper's appendix C."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voile
from laws import FALSE_ALARM, p_value
from voile.audit import candidates as module
from voile.audit.candidates import candidate_sets, disjoint_sets, unit_rows
from voile.errors import InvalidInput


def plain_law(vectors, members, temperature):
    """Appendix C word by word: P(x|s) with its normaliser, the sum of logs, the Boltzmann law."""
    unit = unit_rows(vectors)
    distance = 1 - unit @ unit.T
    transition = np.exp(-distance) / np.exp(-distance).sum(axis=0)
    score = sum(np.log(transition[:, s]) for s in members)
    weight = np.exp(temperature * (score - score.mean()))
    weight[list(members)] = 0
    return weight / weight.sum()


@pytest.mark.parametrize("temperature", [-3.0, 0.0, 2.5])
def test_pairs_follow_the_law(temperature):
    vectors = np.random.default_rng(2).normal(size=(7, 3))
    draws = 40_000
    sets = candidate_sets(vectors, sets=draws, temperature=temperature, rng=voile.seeded_rng(3))
    assert p_value(np.bincount(sets[:, 0], minlength=7), np.full(7, 1 / 7)) > FALSE_ALARM
    for first in range(7):
        seen = np.bincount(sets[sets[:, 0] == first, 1], minlength=7)
        law = plain_law(vectors, [first], temperature)
        assert p_value(seen, law) > FALSE_ALARM
        wrong = plain_law(vectors, [first], temperature + 2.0)
        assert p_value(seen, wrong) < FALSE_ALARM, "the test would miss a wrong temperature"


def test_third_members_see_both_before_them():
    vectors = np.random.default_rng(4).normal(size=(6, 3))
    sets = candidate_sets(vectors, sets=60_000, size=3, temperature=-2.0, rng=voile.seeded_rng(5))
    chosen = (sets[:, 0] == 1) & (sets[:, 1] == 4)
    seen = np.bincount(sets[chosen, 2], minlength=6)
    assert p_value(seen, plain_law(vectors, [1, 4], -2.0)) > FALSE_ALARM
    assert p_value(seen, plain_law(vectors, [4], -2.0)) < FALSE_ALARM


@pytest.mark.parametrize("temperature", [-10_000.0, 10_000.0])
def test_the_papers_temperatures_are_nearly_the_furthest_and_nearest(temperature):
    """Appendix E: ±10,000 was chosen because it agrees with furthest and nearest neighbours."""
    vectors = unit_rows(np.random.default_rng(6).normal(size=(300, 20)))
    sets = candidate_sets(vectors, sets=2000, temperature=temperature, rng=voile.seeded_rng(7))
    cosine = vectors @ vectors.T
    np.fill_diagonal(cosine, -np.sign(temperature) * 9)
    best = (np.sign(temperature) * cosine).argmax(axis=1)
    assert (best[sets[:, 0]] == sets[:, 1]).mean() > 0.95


@given(
    st.integers(2, 12),
    st.data(),
    st.sampled_from([-1e4, -1.0, 0.0, 1.0, 1e4]),
    st.integers(0, 2**31),
)
def test_members_are_different_and_in_the_pool(count, data, temperature, seed):
    size = data.draw(st.integers(2, count))
    vectors = np.random.default_rng(seed).normal(size=(count, 3))
    vectors[0] = 0  # an empty text
    vectors[-1] = vectors[0]
    rng = voile.seeded_rng(seed)
    sets = candidate_sets(vectors, sets=9, size=size, temperature=temperature, rng=rng)
    assert all(len(set(row)) == size for row in sets.tolist())
    assert sets.min() >= 0
    assert sets.max() < count
    apart = disjoint_sets(vectors, size=size, temperature=temperature, rng=rng)
    assert len(apart) == count // size
    assert len(set(apart.ravel().tolist())) == apart.size


def test_blocks_do_not_change_the_draws(monkeypatch):
    vectors = np.random.default_rng(8).normal(size=(50, 4))
    whole = candidate_sets(vectors, sets=400, size=4, temperature=-5.0, rng=voile.seeded_rng(9))
    monkeypatch.setattr(module, "BLOCK", 60)
    parts = candidate_sets(vectors, sets=400, size=4, temperature=-5.0, rng=voile.seeded_rng(9))
    assert np.array_equal(whole, parts)


def test_a_large_pool_needs_no_square_table():
    """60,000 texts: a table of all pairs would be 29 GB."""
    vectors = np.random.default_rng(1).normal(size=(60_000, 4))
    sets = candidate_sets(vectors, sets=50, temperature=-100.0, rng=voile.seeded_rng(2))
    assert sets.shape == (50, 2)


def test_bad_input():
    rng = voile.seeded_rng(1)
    with pytest.raises(InvalidInput, match="candidates must be at most the 3 different texts"):
        candidate_sets(3, sets=1, size=4, temperature=0.0, rng=rng)
    with pytest.raises(InvalidInput, match="needs embeddings"):
        candidate_sets(3, sets=1, temperature=1.0, rng=rng)
    with pytest.raises(InvalidInput, match="finite"):
        candidate_sets(np.array([[np.nan], [1.0]]), sets=1, rng=rng)
    with pytest.raises(InvalidInput, match="at most 1 for 3 texts"):
        disjoint_sets(3, temperature=0.0, sets=2, rng=rng)
