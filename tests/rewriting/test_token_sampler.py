"""The token law: exact, bounded for all logits, and the published shortcuts caught."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voile
from laws import FALSE_ALARM, p_value
from voile.audit import sampler as sampler_audit
from voile.core.weights import TOTAL
from voile.errors import InvalidInput
from voile.rewriting.dp_mlm import ROBERTA_BOUNDS
from voile.rewriting.dp_paraphrase import GPT2_BOUNDS
from voile.rewriting.dp_prompt import FLAN_T5_BOUNDS
from voile.rewriting.token_law import settled
from voile.rewriting.token_sampler import ReleasedSampler, TokenSampler

EPSILONS = (0.01, 0.1, 1.0, 10.0, 100.0, 250.0, 2500.0, 1e6)


@pytest.mark.parametrize(
    ("bounds", "numerator"),
    [(GPT2_BOUNDS, 176.21), (FLAN_T5_BOUNDS, 53.42), (ROBERTA_BOUNDS, 39.028)],
)
def test_temperatures_of_the_fact_sheet(bounds, numerator):
    """T = 2Δ/ε with the published clipping ranges."""
    for epsilon in (1.0, 10.0, 250.0):
        found = TokenSampler(epsilon, *bounds).temperature
        assert found == pytest.approx(numerator / epsilon, abs=0.006 / epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_law_is_softmax_of_clipped_scaled_logits(epsilon):
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(6, 50)) * 8
    found = np.exp(TokenSampler(epsilon, -3.0, 5.0).log_law(logits))
    exponents = np.clip(logits, -3, 5) * epsilon / 16
    exact = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    assert np.abs(found - exact).max() < 1e-6
    large = exact > 1e-6
    assert np.abs(np.log(found[large] / exact[large])).max() < 1e-5


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_aligned_rows_lose_nothing_to_a_drift(epsilon):
    """A softmax does not see a shift of a whole row; clipping that is aligned does not either."""
    rng = np.random.default_rng(3)
    logits = rng.normal(size=(6, 50)) * 2
    drifted = logits + rng.normal(size=(6, 1)) * 100
    sampler = TokenSampler(epsilon, -3.0, 5.0, aligned=True)
    found = np.exp(sampler.log_law(drifted))
    exponents = np.maximum(logits - logits.max(axis=1, keepdims=True), -8) * epsilon / 16
    exact = np.exp(exponents)
    exact /= exact.sum(axis=1, keepdims=True)
    assert np.abs(found - exact).max() < 1e-6
    fixed = np.exp(TokenSampler(epsilon, -3.0, 5.0).log_law(np.array([[-40.0, -30.0, -20.0]])))
    assert fixed == pytest.approx(np.full((1, 3), 1 / 3)), "fixed bounds make noise of this row"


def worst_pair(size, toward, lower, upper):
    """Two rows as far apart as clipping allows: one token up and the rest down, and reversed."""
    first = np.full((1, size), lower)
    second = np.full((1, size), upper)
    first[0, toward], second[0, toward] = upper, lower
    return first, second


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("size", [2, 7, 50_000])
def test_the_worst_rows_stay_within_epsilon_in_the_integers(epsilon, size):
    """The bound over all logits whatsoever is reached by these two rows; exact integers."""
    sampler = TokenSampler(epsilon, -3.0, 5.0)
    first, second = (sampler.weights(row)[0] for row in worst_pair(size, 1, -3.0, 5.0))
    assert sum(first.tolist()) == TOTAL
    assert int(first.min()) > 0
    gaps = np.abs(np.log(first.astype(float)) - np.log(second.astype(float)))
    assert gaps.max() <= epsilon
    if epsilon <= 10 and size == 2:
        assert gaps.max() >= 0.99 * epsilon / 2, "wastes the budget"


@given(
    st.sampled_from(EPSILONS),
    st.integers(2, 40),
    st.integers(0, 2**31),
    st.booleans(),
    st.booleans(),
)
def test_no_two_rows_exceed_epsilon(epsilon, size, seed, wild, aligned):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(8, size)) * 10.0 ** rng.integers(-2, 4)
    if wild:
        logits[0, 0], logits[1, 0], logits[2, 0] = np.nan, np.inf, -np.inf
        logits[3], logits[4], logits[5] = np.nan, np.inf, -np.inf
    law = TokenSampler(epsilon, -2.0, 3.0, aligned).log_law(logits)
    assert (law[:, None] - law[None]).max() <= epsilon


def test_float32_softmax_would_lose_tokens_where_this_does_not():
    """From ε ≈ 206 on, e^(−ε/2) is 0 in float32: an impossible token is an infinite epsilon."""
    logits = np.array([[-3.0, 5.0]])
    scaled = (logits * 300.0 / 16).astype(np.float32)
    plain = np.exp(scaled - scaled.max())
    assert plain[0, 0] == 0
    assert int(TokenSampler(300.0, -3.0, 5.0).weights(logits).min()) > 0


@pytest.mark.parametrize("epsilon", [1.0, 40.0])
def test_draws_follow_the_law(epsilon):
    logits = np.random.default_rng(5).normal(size=(1, 12)) * 4
    sampler = TokenSampler(epsilon, -3.0, 5.0)
    law = np.exp(sampler.log_law(logits)[0])
    many = np.vstack([logits + 50, np.repeat(logits, 60_000, axis=0)])
    assert len(sampler.draw(many, voile.seeded_rng(6))) == 60_001
    drawn = sampler.draw(many, voile.seeded_rng(6), rows=np.arange(60_000, 0, -1))
    counts = np.bincount(drawn, minlength=12)
    assert p_value(counts, law / law.sum()) > FALSE_ALARM
    assert sampler_audit(drawn, law / law.sum()).verdict == "open"
    liar = ReleasedSampler(epsilon, -3.0, 5.0, top_k=1)
    drawn = liar.draw(np.repeat(logits, 60_000, axis=0), voile.seeded_rng(6))
    assert p_value(np.bincount(drawn, minlength=12), law / law.sum()) < FALSE_ALARM


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 10.0, 30.0, 60.0, 1000.0])
@pytest.mark.parametrize("size", [2, 3, 1000, 49_152, 2**22])
def test_no_weight_is_below_what_all_texts_have_in_common(epsilon, size):
    """The worst row: all tokens but one at the upper bound. Below, integers would wrap around."""
    sampler = TokenSampler(epsilon, -3.0, 5.0)
    row = np.full((1, size), 5.0)
    row[0, 1] = -3.0
    common = sampler.common(size)
    smallest = int(sampler.weights(row).min())
    assert common <= smallest
    if epsilon <= 10 and size > 40_000:
        assert common >= 0.9999 * smallest  # and hardly anything is lost


@pytest.mark.parametrize("epsilon", [0.5, 8.0, 400.0])
def test_each_token_is_found_for_exactly_its_weight_in_targets(epsilon):
    """Both parts of the law, to the unit: what is common to all texts, and what lies beyond."""
    logits = np.random.default_rng(1).normal(size=(2, 7)) * 4
    sampler = TokenSampler(epsilon, -3.0, 5.0)
    common = sampler.common(7)
    assert (common > 0) == (epsilon < 80)
    for row, weights in enumerate(sampler.weights(logits)):
        ends = 7 * common + np.cumsum(weights - np.uint64(common), dtype=np.uint64)
        starts = np.concatenate([[np.uint64(7 * common)], ends[:-1]])
        assert ends[-1] == 2**62
        targets = np.concatenate([starts, ends - np.uint64(1)])
        assert sampler.at(logits, np.full(14, row), targets).tolist() == [*range(7)] * 2
    if common:
        shared = np.arange(7, dtype=np.uint64) * np.uint64(common)
        for targets in (shared, shared + np.uint64(common - 1)):
            assert settled(targets, common=common, size=7).tolist() == [*range(7)]
            assert sampler.at(logits, np.zeros(7, dtype=int), targets).tolist() == [*range(7)]
        first = np.array([7 * common], dtype=np.uint64)
        assert settled(first, common=common, size=7).tolist() == [-1]


def test_published_shortcuts_break_the_bound():
    first, second = worst_pair(9, 1, -3.0, 5.0)
    topped = ReleasedSampler(10.0, -3.0, 5.0, top_k=3)
    with np.errstate(invalid="ignore"):
        gaps = np.abs(topped.log_law(first) - topped.log_law(second))
    assert np.isposinf(gaps).any(), "a top-k support depends on the text"
    free = ReleasedSampler(10.0, -3.0, 5.0, clipped=False)
    assert np.abs(free.log_law(30 * first) - free.log_law(30 * second)).max() > 10.0


def test_bad_input():
    for bad in (0, -1.0, float("inf"), float("nan")):
        with pytest.raises(InvalidInput, match="epsilon"):
            TokenSampler(bad, 0.0, 1.0)
    with pytest.raises(InvalidInput, match="lower < upper"):
        TokenSampler(1.0, 1.0, 1.0)
    with pytest.raises(InvalidInput, match="a row for each draw"):
        TokenSampler(1.0, 0.0, 1.0).weights(np.zeros(3))
