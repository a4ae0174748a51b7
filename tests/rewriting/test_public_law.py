"""Laws without clipping: exact in integers, nearest to the model, and planted liars caught."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws import FALSE_ALARM, p_value
from voile.core.randomness import seeded_rng
from voile.core.weights import TOTAL
from voile.errors import InvalidInput
from voile.rewriting.public_law import BandSampler, MixtureSampler, nearest_within, softmax
from voile.rewriting.token_sampler import TokenSampler

EPSILONS = (0.01, 0.5, 3.0, 13.0, 26.0, 2500.0)


def wild_logits(seed, size, *, wild):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(8, size)) * 10.0 ** rng.integers(-2, 4)
    if wild:
        logits[0, 0], logits[1, 0], logits[2, 0] = np.nan, np.inf, -np.inf
        logits[3], logits[4], logits[5] = np.nan, np.inf, -np.inf
    return logits


def largest_gap(weights):
    """The largest log-ratio between any two rows, from the integers."""
    ordered = [sorted(column) for column in weights.T.tolist()]
    return max(math.log(column[-1]) - math.log(column[0]) for column in ordered)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("size", [2, 7, 49_152])
def test_the_mixture_states_the_exact_bound_of_its_integers(epsilon, size):
    """One token for sure, and another one: the worst two rows there are."""
    sampler = MixtureSampler(epsilon)
    sure = np.full((2, size), -1e6)
    sure[0, 0] = sure[1, 1] = 1e6
    weights = sampler.weights(sure)
    assert [sum(row) for row in weights.tolist()] == [TOTAL, TOTAL]
    assert int(weights[1, 0]) == sampler.common(size) >= 2**24
    gap = largest_gap(weights)
    assert gap <= sampler.stated(size) * (1 + 1e-12) <= epsilon * (1 + 1e-12)
    assert gap >= min(0.9999 * epsilon, 26.3), "wastes the budget"


def test_the_mixture_is_its_closed_form():
    logits = np.random.default_rng(1).normal(size=(5, 40)) * 3
    for epsilon in (0.5, 3.0, 8.0):
        share = 40 / (40 + math.exp(epsilon) - 1)
        exact = (1 - share) * softmax(logits, 0.7) + share / 40
        found = np.exp(MixtureSampler(epsilon, 0.7).log_law(logits))
        assert np.abs(np.log(found / exact)).max() < 1e-9
        assert math.log(1 + (1 - share) * 40 / share) == pytest.approx(epsilon, abs=1e-12)


@given(st.sampled_from(EPSILONS), st.integers(2, 40), st.integers(0, 2**31), st.booleans())
def test_no_two_rows_exceed_epsilon_whatever_the_logits(epsilon, size, seed, wild):
    logits = wild_logits(seed, size, wild=wild)
    public = np.repeat(wild_logits(seed + 1, size, wild=wild)[seed % 8][None], 8, axis=0)
    for sampler in (MixtureSampler(epsilon), BandSampler(epsilon), BandSampler(epsilon, 2.0, 3.0)):
        weights = sampler.weights(logits, public)
        assert {sum(row) for row in weights.tolist()} == {TOTAL}
        assert largest_gap(weights) <= sampler.stated(size) * (1 + 1e-12)
        assert sampler.stated(size) <= epsilon
        assert int(weights.min()) >= max(2**24, sampler.common(size))


@given(st.sampled_from([0.2, 3.0, 9.0]), st.integers(2, 30), st.integers(0, 2**31))
def test_no_weight_leaves_the_band(epsilon, size, seed):
    sampler = BandSampler(epsilon)
    logits, public = (wild_logits(seed + i, size, wild=False) for i in (0, 1))
    low, high = sampler.band(public)
    weights = sampler.weights(logits, public)
    assert (low <= weights).all()
    assert (weights <= high).all()
    for least, most in zip(low.ravel().tolist(), high.ravel().tolist(), strict=True):
        assert most <= math.exp(epsilon) * least


def divergence(a, b):
    return float((a * np.log(a / b)).sum())


@given(st.floats(0.1, 8.0), st.integers(2, 12), st.integers(0, 2**31))
def test_it_is_the_nearest_law_in_the_band(epsilon, size, seed):
    """Nearer than others in the band, in both relative entropies: the mixture, and random ones."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.full(size, 0.5), size=2) + 1e-9
    p, q = p / p.sum(), q / q.sum()
    low = (TOTAL * math.exp(-epsilon / 3) * q).astype(np.uint64)
    high = np.minimum(low * math.exp(epsilon), float(TOTAL)).astype(np.uint64)
    found = nearest_within(p[None], low[None], high[None])[0] / TOTAL
    others = [nearest_within(rng.dirichlet(np.ones(size))[None], low[None], high[None])[0] / TOTAL]
    others += [0.5 * found + 0.5 * others[0]]
    if (np.exp(2 * epsilon / 3) * q >= p).all():  # then the plain mixture with q is in the band too
        share = math.exp(-epsilon / 3)
        others.append((1 - share) * p + share * q)
    for other in others:
        inside = (other * TOTAL >= low * 0.999999) & (other * TOTAL <= high * 1.000001)
        if inside.all():
            assert divergence(p, found) <= divergence(p, other) + 1e-6
            assert divergence(found, p) <= divergence(other, p) + 1e-6


def test_a_token_the_public_law_expects_is_free_and_others_are_reached():
    """Where text and public law agree nothing is lost; where they differ a token gains e^(3ε/4)."""
    public = np.array([[6.0, 0, 0, 0, -9.0]])
    agrees, differs = np.array([[6.0, 0, 0, 0, 0]]), np.array([[0.0, 0, 0, 0, 20.0]])
    sampler = BandSampler(3.0, 0.5, 1.0)
    assert np.exp(sampler.log_law(agrees, public))[0, 0] > 0.99
    uniform = MixtureSampler(3.0, 0.5)
    assert np.exp(uniform.log_law(agrees))[0, 0] < 0.85
    q = (1 - 2**-8) * softmax(public, 1.0)[0, 4] + 2**-8 / 5
    assert np.exp(sampler.log_law(differs, public))[0, 4] == pytest.approx(
        q * np.exp(9 / 4), rel=0.01
    )


def test_draws_follow_the_law():
    rng = np.random.default_rng(5)
    logits, public = rng.normal(size=(2, 1, 12)) * 3
    for sampler in (MixtureSampler(2.0), BandSampler(2.0)):
        law = np.exp(sampler.log_law(logits, public)[0])
        rows = np.zeros(30_000, dtype=int)
        drawn = sampler.draw(logits, seeded_rng(6), rows=rows, public=public)
        counts = np.bincount(drawn, minlength=12)
        assert p_value(counts, law / law.sum()) > FALSE_ALARM
        other = np.exp(sampler.log_law(logits[:, ::-1], public)[0])
        assert p_value(counts, other / other.sum()) < FALSE_ALARM


@pytest.mark.parametrize("size", [5, 49_152])
def test_a_clipped_token_states_what_its_integers_give(size):
    """ε/2 + ln(V − 1) where that is less than ε, and never more than 26.34."""
    for epsilon in (2.0, 8.0, 20.0, 30.0, 60.0, 2500.0):
        sampler = TokenSampler(epsilon, -1.0, 1.0)
        rows = np.full((3, size), -1.0)
        rows[0, 0] = rows[2, 1] = 1.0
        rows[1] = -rows[0]
        gap = largest_gap(sampler.weights(rows))
        assert gap <= sampler.stated(size) <= epsilon
        assert gap >= 0.998 * sampler.stated(size), "overstated"
    assert 24 * TokenSampler(2500.0, -1.0, 1.0).stated(49_152) <= 632.2


@dataclass(frozen=True)
class HalfFloor(MixtureSampler):
    """A planted mistake: a floor one bit too low."""

    def common(self, size):
        return super().common(size) >> 1


def test_a_floor_one_bit_too_low_is_caught():
    sure = np.array([[50.0, 0, 0, 0], [0, 50.0, 0, 0]])
    honest, liar = MixtureSampler(3.0), HalfFloor(3.0)
    assert largest_gap(honest.weights(sure)) <= 3.0
    assert largest_gap(liar.weights(sure)) > 3.5
    assert liar.stated(4) == 3.0  # what it says stays the same


def test_bad_input():
    for law in (MixtureSampler, BandSampler):
        for bad in (0, -1.0, float("inf"), float("nan"), 1e-4):
            with pytest.raises(InvalidInput, match="epsilon"):
                law(bad)
        with pytest.raises(InvalidInput, match="temperature"):
            law(1.0, 0.0)
        with pytest.raises(InvalidInput, match="a row for each draw"):
            law(1.0).weights(np.zeros(3), np.zeros(3))
    with pytest.raises(InvalidInput, match="public logits must be a row for each"):
        BandSampler(1.0).weights(np.zeros((2, 3)), np.zeros((1, 3)))
    with pytest.raises(InvalidInput, match="public logits"):
        BandSampler(1.0).weights(np.zeros((2, 3)))
    assert replace(BandSampler(1.0), epsilon=2.0).epsilon == 2.0
