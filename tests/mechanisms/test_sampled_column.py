"""One random column at the whole epsilon: the law, its bound, and a sampler that peeks."""

import numpy as np
import pytest

import voile
from laws import FALSE_ALARM, p_value
from voile.audit import ratio
from voile.errors import InvalidInput
from voile.estimate import unbiased_frequencies

rr = voile.mechanisms.randomised_response


def two(epsilon=1.0, probabilities=(0.75, 0.25)):
    return voile.mechanisms.sampled_column(
        [rr([0, 1, 2], epsilon=epsilon), rr([0, 1], epsilon=epsilon)], probabilities=probabilities
    )


ALL = np.array([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]])


def test_the_law_sums_to_one_and_is_tight():
    mechanism = two(1.3)
    logs = mechanism.log_prob(mechanism.space.items, ALL)
    assert np.exp(logs).sum(axis=1) == pytest.approx(np.ones(6))
    worst = float((logs[:, None] - logs[None]).max())
    assert 1.2999 < worst <= mechanism.guarantee.epsilon <= 1.3
    assert mechanism.guarantee.granularity == "one record"
    assert str(mechanism.guarantee.basis) == "certified"


def test_draws_follow_the_law():
    mechanism = two()
    drawn = mechanism.release(np.tile([[2, 1]], (60_000, 1)), voile.seeded_rng(1))
    counts = np.concatenate(mechanism.output_counts(drawn))
    law = np.exp(mechanism.log_prob([[2, 1]], ALL))[0]
    assert p_value(counts, law) > FALSE_ALARM


def test_shares_of_a_column_come_back():
    mechanism = two(2.0)
    records = np.array([[0, 0]] * 9_000 + [[1, 1]] * 6_000 + [[2, 1]] * 15_000)
    counts = mechanism.output_counts(mechanism.release(records, voile.seeded_rng(2)))
    assert sum(part.sum() for part in counts) == len(records)
    first = unbiased_frequencies(mechanism.channels[0], counts=counts[0], confidence=1 - 1e-9)
    assert (first.lower < [0.3, 0.2, 0.5]).all()
    assert (first.upper > [0.3, 0.2, 0.5]).all()


class Peeking:
    """A liar: it draws the column by the record's first value, and says the honest thing."""

    def __init__(self, honest):
        self.honest, self.space, self.guarantee = honest, honest.space, honest.guarantee
        self.ways = [two(1.0, (0.95, 0.05)), two(1.0, (0.05, 0.95)), two(1.0, (0.5, 0.5))]

    def release(self, secrets, rng):
        rows = np.asarray(secrets)
        out = np.empty((len(rows), 2), dtype=np.intp)
        for value, way in enumerate(self.ways):
            here = np.flatnonzero(rows[:, 0] == value)
            out[here] = way.release(rows[here], rng)
        return out

    def log_prob(self, secrets, releases):
        rows = np.asarray(secrets)
        return np.stack([self.ways[row[0]].log_prob(row[None], releases)[0] for row in rows])


def test_a_planted_sampler_that_picks_the_column_by_its_value_is_caught():
    honest = two()
    for mechanism, verdict in ((honest, "holds"), (Peeking(honest), "violated")):
        found = ratio(mechanism, honest.space.items, releases=ALL)
        assert (found.verdict == "violated") == (verdict == "violated")
    # and from its releases alone: records that agree in what they say of a column
    drawn = [
        Peeking(honest).release(np.tile([[value, 0]], (5_000, 1)), voile.seeded_rng(value))[:, 0]
        for value in (0, 1)
    ]
    assert p_value(np.bincount(drawn[0]), np.array([0.75, 0.25])) < FALSE_ALARM


def test_a_column_that_is_never_drawn_costs_nothing():
    mechanism = voile.mechanisms.sampled_column(
        [rr([0, 1], epsilon=1.0), rr([0, 1], epsilon=9.0)], probabilities=[1.0, 0.0]
    )
    assert mechanism.guarantee.epsilon <= 1.0
    drawn = mechanism.release(np.zeros((500, 2), dtype=int), voile.seeded_rng(3))
    assert not drawn[:, 0].any()


def test_bad_input():
    with pytest.raises(InvalidInput, match="at least one"):
        voile.mechanisms.sampled_column([])
    for bad in ([1.0], [-1.0, 2.0], [0.0, 0.0], [np.nan, 1.0]):
        with pytest.raises(InvalidInput):
            two(1.0, bad)
    mechanism = two()
    for rows in ([[0]], [[3, 0]], [[0.5, 0.5]]):
        with pytest.raises(InvalidInput):
            mechanism.release(np.array(rows), voile.seeded_rng(1))
    for rows in ([[2, 0]], [[1, 2]], [[0]]):
        with pytest.raises(InvalidInput):
            mechanism.output_counts(np.array(rows))
