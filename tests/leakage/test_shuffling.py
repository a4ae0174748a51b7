"""Amplification by shuffling: above the clones' exact divergence, and never without a shuffle."""

import math

import numpy as np
import pytest
from scipy.stats import binom

import voile
from voile.errors import InvalidInput
from voile.leakage.shuffling import amplified_epsilon, shuffle


def exact_delta(epsilon, local, records):
    """δ(ε) between (A + Δ, C − A + 1 − Δ) and its mirror image: the clones, summed exactly.

    C ~ Bin(n − 1, e^−ε₀) others are clones, A ~ Bin(C, 1/2) of one kind, and the record itself
    is of its own kind with probability e^ε₀/(e^ε₀ + 1). What lies in C's tails counts whole.
    """
    share = math.exp(-local)
    low, high = binom.ppf([1e-15, 1 - 1e-15], records - 1, share).astype(int)
    total = binom.cdf(low - 1, records - 1, share) + binom.sf(high, records - 1, share)
    own = math.exp(local) / (math.exp(local) + 1)
    for clones in range(low, high + 1):
        ones = np.arange(clones + 2)
        up, stay = binom.pmf(ones - 1, clones, 0.5), binom.pmf(ones, clones, 0.5)
        first = own * up + (1 - own) * stay
        second = (1 - own) * up + own * stay
        gap = np.maximum(first - math.exp(epsilon) * second, 0).sum()
        total += float(binom.pmf(clones, records - 1, share) * gap)
    return total


@pytest.mark.parametrize(
    ("local", "records", "delta"), [(0.5, 600, 1e-3), (1.0, 1_000, 1e-4), (2.0, 4_000, 1e-6)]
)
def test_the_closed_form_is_above_the_exact_divergence_and_a_liar_below_it_is_not(
    local, records, delta
):
    claimed = amplified_epsilon(local, records=records, delta=delta)
    assert 0 < claimed < local
    assert exact_delta(claimed, local, records) <= delta
    assert exact_delta(claimed / 8, local, records) > delta  # a planted factor


def test_it_falls_with_records_and_never_exceeds_the_local_epsilon():
    found = [amplified_epsilon(1.0, records=10**k, delta=1e-6) for k in range(1, 8)]
    assert found == sorted(found, reverse=True)
    assert found[0] == 1.0
    assert found[-1] < 0.01
    assert amplified_epsilon(50.0, records=1_000, delta=1e-6) == 50.0


def test_amplification_comes_with_the_shuffle():
    mechanism = voile.mechanisms.sampled_column(
        [voile.mechanisms.randomised_response([0, 1], epsilon=1.0)]
    )
    reports = mechanism.release(np.zeros((5_000, 1), dtype=int), voile.seeded_rng(1))
    made = shuffle(reports, mechanism.guarantee, delta=1e-6, rng=voile.seeded_rng(2))
    assert made.guarantee.delta == 1e-6
    assert made.guarantee.epsilon < 0.5
    assert "before they were shuffled" in made.guarantee.outside[-1]
    assert np.array_equal(np.sort(made.rows[:, 1]), np.sort(reports[:, 1]))
    assert not np.array_equal(made.rows, reports)


def test_a_claim_without_shuffling_is_broken_by_reading_a_place():
    """The first row of an unshuffled file tells its record's bit with odds e^ε₀."""
    claimed = amplified_epsilon(1.0, records=5_000, delta=1e-6)
    law = voile.mechanisms.randomised_response([0, 1], epsilon=1.0).probabilities()
    gap = float(np.maximum(law[0] - math.exp(claimed) * law[1], 0).sum())
    assert gap > 0.2  # the δ that the liar would need; it says 1e-6


def test_bad_input():
    rr = voile.mechanisms.randomised_response([0, 1], epsilon=1.0)
    rows = np.zeros((10, 2), dtype=int)
    with pytest.raises(InvalidInput, match="one record"):
        shuffle(rows, rr.guarantee, delta=1e-6, rng=voile.seeded_rng(1))
    whole = voile.mechanisms.sampled_column([rr]).guarantee
    with pytest.raises(InvalidInput, match="at least one"):
        shuffle(rows[:0], whole, delta=1e-6, rng=voile.seeded_rng(1))
    for delta in (0.0, 1.0, math.nan):
        with pytest.raises(InvalidInput):
            amplified_epsilon(1.0, records=10, delta=delta)
    central = voile.Guarantee(1.0, voile.metrics.discrete(), "one record", delta=1e-3)
    with pytest.raises(InvalidInput, match="without δ"):
        shuffle(rows, central, delta=1e-6, rng=voile.seeded_rng(1))
