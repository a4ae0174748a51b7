"""A peer's estimates and ours: the same shares from the same reports."""

import numpy as np
import pytest

import voile
from voile.estimate import supported_frequencies, unbiased_frequencies

peer = pytest.importorskip("multi_freq_ldpy", reason="the peer is not installed")

SHARES = np.array([0.4, 0.3, 0.1, 0.1, 0.05, 0.05])
K, EPSILON = 6, 1.2


@pytest.fixture
def secrets():
    return np.repeat(np.arange(K), (2_000 * SHARES).astype(int))


def test_randomised_response(secrets):
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI

    channel = voile.mechanisms.randomised_response(range(K), epsilon=EPSILON)
    reports = channel.release(secrets, voile.seeded_rng(1))
    ours = unbiased_frequencies(channel, reports)
    theirs = GRR_Aggregator_MI(reports, K, EPSILON)
    clipped = np.clip(ours.shares, 0, None)
    assert clipped / clipped.sum() == pytest.approx(np.asarray(theirs), abs=1e-5)


def test_unary_encoding(secrets):
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI

    oracle = voile.mechanisms.unary_encoding(list(range(K)), epsilon=EPSILON)
    reports = oracle.release(secrets, voile.seeded_rng(2))
    ours = np.clip(supported_frequencies(oracle, reports).shares, 0, None)
    theirs = UE_Aggregator_MI(reports, EPSILON, True)
    assert ours / ours.sum() == pytest.approx(np.asarray(theirs), abs=1e-5)


def test_subset_selection(secrets):
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI

    oracle = voile.mechanisms.subset_selection(list(range(K)), epsilon=EPSILON)
    reports = oracle.release(secrets, voile.seeded_rng(3))
    ours = supported_frequencies(oracle, reports)
    clipped = np.clip(ours.shares, 0, None)
    theirs = SS_Aggregator_MI(list(reports), K, EPSILON)
    assert clipped / clipped.sum() == pytest.approx(np.asarray(theirs), abs=1e-5)


@pytest.mark.parametrize("name", ["unary_encoding", "local_hashing", "subset_selection"])
def test_variances(name):
    from multi_freq_ldpy.pure_frequency_oracles.Variance_PURE import VAR_Pure

    oracle = getattr(voile.mechanisms, name)(list(range(K)), epsilon=EPSILON)
    rng = voile.seeded_rng(4)
    secrets = np.repeat(np.arange(K), (2_000 * SHARES).astype(int))
    shares = np.array(
        [supported_frequencies(oracle, oracle.release(secrets, rng)).shares[4] for _ in range(120)]
    )
    # the population is fixed, so the spread is at most the peer's for sampled records
    expected = VAR_Pure(oracle.own, oracle.other, n=2_000, f=0.05)
    assert 0.4 < shares.var() / expected < 1.9
