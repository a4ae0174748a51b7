"""Information flow from a channel's integers: exact, and against qif."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voile
from voile.core.channel import Channel
from voile.core.guarantee import Guarantee
from voile.core.space import Space
from voile.errors import InvalidInput
from voile.leakage.information import (
    capacity,
    min_capacity,
    min_entropy_leakage,
    posterior_vulnerability,
    refines,
    shannon_leakage,
    vulnerability,
)

TOTAL = 2**62


def channel_of(table):
    """Any table of probabilities as a channel, without a claim."""
    space = Space(list(range(len(table))), metric=voile.metrics.discrete())
    outputs = np.arange(np.shape(table)[1])
    claim = Guarantee(math.inf, voile.metrics.discrete(), "one value")
    return Channel.from_probabilities(space, np.asarray(table, float), claim, outputs=outputs)


@st.composite
def tables(draw, rows=None):
    n = rows or draw(st.integers(2, 5))
    m = draw(st.integers(2, 5))
    cells = st.integers(0, 20)
    table = draw(st.lists(st.lists(cells, min_size=m, max_size=m), min_size=n, max_size=n))
    whole = np.array(table, dtype=float) + np.eye(n, m) + 1e-9
    return whole / whole.sum(axis=1, keepdims=True)


def test_vulnerability_is_a_rational_of_the_integers():
    channel = voile.mechanisms.randomised_response(list("abc"), epsilon=1.3)
    kept = int(channel.weights[0].max())
    assert posterior_vulnerability(channel) == Fraction(
        sum(int(column.max()) for column in channel.weights.T), 3 * TOTAL
    )
    assert abs(posterior_vulnerability(channel) - Fraction(kept, TOTAL)) < Fraction(1, 2**40)
    assert vulnerability(channel, [Fraction(1, 7), Fraction(4, 7), Fraction(2, 7)]) == Fraction(
        4, 7
    )


def test_closed_forms_of_randomised_response():
    k, epsilon = 4, 1.7
    channel = voile.mechanisms.randomised_response(list(range(k)), epsilon=epsilon)
    p = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    q = (1 - p) / (k - 1)
    assert min_capacity(channel).upper == pytest.approx(math.log2(k * p), abs=1e-8)
    shannon = math.log2(k) + p * math.log2(p) + (k - 1) * q * math.log2(q)
    found = capacity(channel)
    assert found.lower - 1e-8 <= shannon <= found.upper + 1e-8
    assert found.upper - found.lower < 2e-9
    assert shannon_leakage(channel).lower == pytest.approx(shannon, abs=1e-8)


@settings(max_examples=40, deadline=None)
@given(tables(), st.data())
def test_a_peer_finds_the_same(table, data):
    qif = pytest.importorskip("qif")
    n = len(table)
    raw = data.draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    gains = data.draw(
        st.lists(st.lists(st.integers(-3, 5), min_size=n, max_size=n), min_size=1, max_size=4)
    )
    channel = channel_of(table)
    pi = np.array(raw, float) / sum(raw)
    law = channel.probabilities()
    gain = np.array(gains, float)
    assert float(vulnerability(channel, raw, gain=gains)) == pytest.approx(
        qif.measure.g_vuln.prior(gain, pi), abs=1e-12
    )
    assert float(posterior_vulnerability(channel, raw, gain=gains)) == pytest.approx(
        qif.measure.g_vuln.posterior(gain, pi, law), abs=1e-12
    )
    assert min_entropy_leakage(channel, raw).upper == pytest.approx(
        qif.measure.bayes_vuln.min_entropy_leakage(pi, law), abs=1e-9
    )
    found = shannon_leakage(channel, raw)
    told = qif.measure.shannon.add_leakage(pi, law)
    assert found.lower - 1e-9 <= told <= found.upper + 1e-9
    assert min_capacity(channel).upper == pytest.approx(
        math.log2(qif.measure.bayes_vuln.mult_capacity(law)), abs=1e-9
    )


@settings(max_examples=25, deadline=None)
@given(tables())
def test_the_capacity_bracket_holds_and_no_prior_exceeds_it(table):
    channel = channel_of(table)
    found = capacity(channel, gap=1e-6, steps=20_000)
    assert 0 <= found.lower <= found.upper
    rng = np.random.default_rng(1)
    for prior in rng.dirichlet(np.ones(len(table)), size=20):
        assert shannon_leakage(channel, prior).lower <= found.upper
    early = capacity(channel, steps=1)  # stopped at once: a wide bracket, and a true one
    assert early.lower <= found.upper
    assert early.upper >= found.lower


def test_capacity_against_the_peer():
    qif = pytest.importorskip("qif")
    table = np.array([[0.9, 0.1, 0.0], [0.2, 0.5, 0.3], [0.0, 0.4, 0.6]])
    channel = channel_of(table)
    found = capacity(channel, gap=1e-8)
    peer, _ = qif.measure.shannon.add_capacity(channel.probabilities())
    assert found.lower - 1e-6 <= peer <= found.upper + 1e-6


@settings(max_examples=25, deadline=None)
@given(tables(rows=3), tables(rows=3))
def test_post_processing_refines_and_a_refusal_is_proved(first, second):
    fine = channel_of(first)
    remap = np.random.default_rng(3).dirichlet(np.ones(3), size=first.shape[1])
    coarse = channel_of(fine.probabilities() @ remap)
    verdict = refines(coarse, fine)
    assert verdict.holds
    assert verdict.off <= 1e-8
    assert posterior_vulnerability(coarse) <= posterior_vulnerability(fine) + Fraction(1, 2**40)
    other = channel_of(second)
    verdict = refines(other, fine)
    if not verdict.holds:
        assert verdict.excess > 0
        gain = verdict.gain
        more = posterior_vulnerability(other, gain=gain) - posterior_vulnerability(fine, gain=gain)
        assert more == verdict.excess


def test_refinement_against_the_peer():
    qif = pytest.importorskip("qif")
    strong = voile.mechanisms.randomised_response([0, 1, 2], epsilon=2.0)
    weak = voile.mechanisms.randomised_response([0, 1, 2], epsilon=1.0)
    for coarse, fine in ((weak, strong), (strong, weak)):
        peer = qif.refinement.refined_by(fine.probabilities(), coarse.probabilities())
        assert refines(coarse, fine).holds == bool(peer)


def test_a_planted_debiaser_that_reads_too_much_is_refused():
    """A liar who says «only merged outputs» and yet lets more through is told by its gain."""
    fine = voile.mechanisms.randomised_response([0, 1, 2, 3], epsilon=1.0)
    honest = fine.merged([0, 0, 1, 1], ["low", "high"])
    table = honest.probabilities().copy()
    table[0] += [0.03, -0.03]
    assert refines(honest, fine).holds
    liar = refines(channel_of(table), fine)
    assert not liar.holds
    assert liar.excess > Fraction(1, 1000)


@pytest.mark.parametrize(
    ("prior", "gain"),
    [([1, 2, 3], None), ([0, 0], None), ([-1, 2], None), (["a", 1], None), ([1, math.nan], None),
     (None, [[1]]), (None, []), (None, [[math.inf, 1]])],
)  # fmt: skip
def test_bad_input(prior, gain):
    channel = voile.mechanisms.randomised_response(["yes", "no"], epsilon=1.0)
    with pytest.raises(InvalidInput):
        posterior_vulnerability(channel, prior, gain=gain)


def test_channels_of_other_secrets_are_not_compared():
    two = voile.mechanisms.randomised_response([0, 1], epsilon=1.0)
    three = voile.mechanisms.randomised_response([0, 1, 2], epsilon=1.0)
    with pytest.raises(InvalidInput, match="same secrets"):
        refines(two, three)
