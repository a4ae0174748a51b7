"""Words at scale: what is drawn is what is stated, over the whole vocabulary."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import voile
from voile.mechanisms import word_truncated_exponential
from voile.mechanisms._embedding import Embedding
from voile.mechanisms._neighbours import neighbours_of
from voile.mechanisms._word_law import WordLaw

pytest.importorskip("numba")
from voile.mechanisms import _word_kernels as kernels


@st.composite
def laws(draw: st.DrawFn) -> WordLaw:
    """Random vocabularies, duplicates and ties included, on a coarse grid or a fine one."""
    size, dimension = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    vectors = rng.normal(size=(size, dimension)) * draw(st.sampled_from([0.01, 1.0, 30.0]))
    if draw(st.booleans()):
        vectors = np.rint(vectors)
    epsilon = draw(st.sampled_from([0.05, 1.0, 4.0, 60.0]))
    gamma = draw(st.sampled_from([0.0, 0.7, 3.0, math.inf]))
    return word_truncated_exponential(
        Embedding.of(vectors), epsilon=epsilon, gamma=gamma, neighbours=draw(st.integers(1, 45))
    )


@given(laws())
@settings(max_examples=60, deadline=None)
def test_the_law_is_the_closed_form(law: WordLaw) -> None:
    """Exact rational probabilities against exp(−min(rate·√S, cap)), to 2^−44."""
    for word in range(len(law.embedding)):
        row = law.exact_row(word)
        assert sum(row) == 1
        squared = law.embedding.squared(np.array([word]))[0]
        ideal = np.exp(-np.minimum(law.rate * np.sqrt(squared), law.cap))
        ideal /= math.fsum(ideal)
        assert np.allclose([float(p) for p in row], ideal, rtol=2**-44, atol=0)


@given(laws())
@settings(max_examples=60, deadline=None)
def test_the_bound_holds_between_all_pairs_and_rows_at_distance_zero_are_equal(
    law: WordLaw,
) -> None:
    everything = np.arange(len(law.embedding))
    logs = law.log_prob(everything, everything)
    distances = law.space.distances()
    for x in everything:
        gaps = np.abs(logs - logs[x]).max(axis=1)
        assert (gaps <= law.guarantee.epsilon * distances[x] + 1e-13).all()
        for twin in np.flatnonzero(distances[x] == 0):
            assert law.exact_row(int(twin)) == law.exact_row(int(x))


def feed(law: WordLaw, word: int, first: int, *, accept: int = 0) -> int:
    """What the sampler makes of chosen bits: the word released, or −1 if it starts over."""
    near = law.neighbours
    near.ensure(np.array([word]))
    drawn = np.full(1, -1, dtype=np.intp)
    bits = np.array([first, accept << 2, 0], dtype=np.uint64)
    kernels.draw(
        np.array([word]), np.array([0, 1]), law.embedding.coordinates, law.embedding.coordinates,
        near.index, near.squared, law.rate, law.cap, bits, drawn, 0,
    )  # fmt: skip
    return int(drawn[0])


@pytest.mark.parametrize("kept", [1, 7, 23, 24])
@pytest.mark.parametrize("tied", [False, True])
def test_each_word_is_proposed_by_exactly_its_integers(kept: int, tied: bool) -> None:
    """The first and the last integer of every interval, for near words and for the tail.

    With ties some words beyond the near list are as far as its last one: they must still come.
    """
    rng = np.random.default_rng(1)
    grid = rng.integers(-1, 2, size=(24, 2)).astype(float)
    words = Embedding.of(grid if tied else rng.normal(size=(24, 3)))
    law = word_truncated_exponential(words, epsilon=3.0, neighbours=kept)
    for word in (0, 11):
        proposals, _ = law.law(word)
        near = law.neighbours.index[word].tolist()
        tail = int(proposals[near[-1]])
        total = sum(int(proposals[i]) for i in near) + (24 * tail if kept < 24 else 0)
        shift = 64 - (total - 1).bit_length()
        start = 0
        for i in near:
            width = int(proposals[i])
            assert feed(law, word, start << shift) == i
            assert feed(law, word, (start + width - 1) << shift) == i
            start += width
        if kept < 24:
            for other in range(24):  # the whole vocabulary, near words refused
                expected = -1 if other in near else other
                assert proposals[other] == tail or other in near
                assert feed(law, word, start << shift) == expected
                assert feed(law, word, (start + tail - 1) << shift) == expected
                start += tail
        assert start == total
        if total < 1 << (64 - shift):
            assert feed(law, word, start << shift) == -1  # beyond the total: start over


def test_acceptance_compares_every_binary_place() -> None:
    """Bernoulli of a double: decided by its first 62 places, then by its next 62."""
    chance = float(Fraction(2**52 + 1, 2**90))  # places 38 to 90
    exact = Fraction(chance)
    first = int(exact * 2**62)
    rest = exact * 2**62 - first
    assert 0 < rest < 1

    def accepted(*bits: int) -> bool:
        words = np.array([b << 2 for b in bits], dtype=np.uint64)
        return bool(kernels.bernoulli(chance, words, 0)[0])

    assert accepted(first - 1, 0)
    assert not accepted(first + 1, 0)
    second = int(rest * 2**62)
    assert rest * 2**62 == second  # 124 places are all of them
    assert accepted(first, second - 1)
    assert not accepted(first, second)
    assert kernels.bernoulli(1.0, np.array([2**64 - 1], dtype=np.uint64), 0)[0]


def test_the_tail_weighs_as_many_bounds_as_there_are_words() -> None:
    """|V|·B, not |V ∖ near|·B: with the second, tail words come out too rarely."""
    size, kept, bound = 10, 4, Fraction(3)
    near = [Fraction(9), Fraction(7), Fraction(5), bound]
    accept = Fraction(1, 2)

    def law(tail_words: int) -> tuple[Fraction, Fraction]:
        """Probabilities of the first near word and of one tail word, rejections repeated."""
        total = sum(near) + tail_words * bound
        one_near = near[0] / total
        one_tail = tail_words * bound / total / size * accept
        released = sum(near) / total + (size - kept) * one_tail
        return one_near / released, one_tail / released

    stated = sum(near) + (size - kept) * bound * accept
    assert law(size) == (near[0] / stated, bound * accept / stated)
    assert law(size - kept)[1] < bound * accept / stated


def chi_square_p(counts: np.ndarray, expected: np.ndarray) -> float:
    """The p-value over about 40 cells of equal mass; an impossible outcome gives 0."""
    if counts[expected == 0].any():
        return 0.0
    order = np.argsort(-expected)
    counts, expected = counts[order], expected[order]
    share = expected.sum() / 40
    groups = np.unique((np.cumsum(expected) - expected) // share, return_inverse=True)[1]
    seen = np.bincount(groups, weights=counts)
    due = np.bincount(groups, weights=expected)
    return float(chi2.sf(((seen - due) ** 2 / due).sum(), len(due) - 1))


@pytest.mark.parametrize(("size", "epsilon"), [(50, 2.0), (5000, 1.0), (5000, 6.0)])
def test_draws_follow_the_law_and_a_liar_is_caught(size: int, epsilon: float) -> None:
    """χ², false alarm 1e-9: 400,000 draws catch a strength that is 10 % off.

    Its log-probabilities are then off by about 0.04 at ε = 1, the hardest case: a noncentrality of
    0.04²·400,000 = 640 where 40 cells need 140 to be caught all but once in 1e9.
    """
    vectors = np.random.default_rng(size).normal(size=(size, 10))
    law = word_truncated_exponential(Embedding.of(vectors), epsilon=epsilon, neighbours=64)
    draws = 400_000
    released = law.release(np.full(draws, 7), voile.seeded_rng(5))
    expected = draws * np.exp(law.log_prob([7], np.arange(size))[0])
    assert chi_square_p(np.bincount(released, minlength=size), expected) > 1e-9
    liar = dataclasses.replace(law, rate=1.1 * law.rate)
    lied = liar.release(np.full(draws, 7), voile.seeded_rng(5))
    assert chi_square_p(np.bincount(lied, minlength=size), expected) < 1e-9


def test_two_constructions_of_one_channel_agree() -> None:
    """The small table of the core and the law without a table, to the core's rounding."""
    words = Embedding.of(np.random.default_rng(3).normal(size=(60, 5)))
    table = voile.mechanisms.truncated_exponential(words.space, epsilon=3.0).probabilities()
    law = word_truncated_exponential(words, epsilon=3.0, neighbours=8)
    everything = np.arange(60)
    assert np.allclose(np.exp(law.log_prob(everything, everything)), table, rtol=1e-6, atol=0)


@given(st.integers(0, 2**32), st.integers(1, 300))
@settings(max_examples=15, deadline=None)
def test_distances_are_exact_integers_whatever_computes_them(seed: int, dimension: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(9, dimension)) * 1000
    words = Embedding.of(vectors)
    whole = words.coordinates.astype(object)
    for i in range(9):
        exact = ((whole - whole[i]) ** 2).sum(axis=1)
        assert words.squared(np.array([i]))[0].tolist() == exact.tolist()
        assert [kernels.squared_distance(words.coordinates[i], c) for c in words.coordinates] == (
            exact.tolist()
        )
    assert np.abs(words.points * words.step - vectors).max() <= words.step / 2


@given(st.integers(0, 2**32), st.integers(2, 200), st.integers(1, 200))
@settings(max_examples=30, deadline=None)
def test_near_lists_are_the_nearest_with_ties_in_order(seed: int, size: int, kept: int) -> None:
    grid = np.random.default_rng(seed).integers(-2, 3, size=(size, 2)).astype(float)
    words = Embedding.of(grid)
    near = neighbours_of(words, kept=kept)
    near.ensure(np.arange(size))
    for word in range(size):
        squared = words.squared(np.array([word]))[0]
        order = np.lexsort((np.arange(size), squared))[:kept]
        assert near.index[word].tolist() == order.tolist()
        assert near.squared[word].tolist() == squared[order].tolist()


def test_golden_truncation_of_the_paper() -> None:
    """Carvalho et al., theorem 3: 400,000 words, ε = 2, β = 0.001 give γ = 19.806."""
    vectors = np.zeros((400_000, 1), dtype=np.float32)
    vectors[1] = 1
    law = word_truncated_exponential(Embedding.of(vectors), epsilon=2.0, neighbours=1)
    assert law.cap == pytest.approx(19.8060, abs=5e-5)  # (ε/2)·γ at ε = 2
