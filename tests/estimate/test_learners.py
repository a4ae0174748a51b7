"""Learners that know the noise: the truth in the limit, better than blind ones, bad input."""

import numpy as np
import pytest

import voile
from voile.errors import InvalidInput, OutsideSpace

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from voile.estimate import ForwardLogistic, MarginalBayes, ReportLaw
from voile.estimate.forward_logistic import _loss

rr = voile.mechanisms.randomised_response


def noisy_labels(count=6_000, epsilon=1.0, seed=1):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(count, 3))
    truth = rng.random(count) < 1 / (1 + np.exp(-(1.5 * table[:, 0] - table[:, 1] - 1)))
    channel = rr(["no", "yes"], epsilon=epsilon)
    names = np.where(truth, "yes", "no")
    return table, names, channel.release(names, voile.seeded_rng(seed + 100)), channel


def test_forward_correction_finds_the_clean_law():
    table, names, released, channel = noisy_labels(20_000)
    found = ForwardLogistic(channel).fit(table, released)
    beliefs = found.predict_proba(table)[:, 1]
    exact = 1 / (1 + np.exp(-(1.5 * table[:, 0] - table[:, 1] - 1)))
    assert np.abs(beliefs - exact).mean() < 0.05
    blind = ForwardLogistic(rr(["no", "yes"], epsilon=30.0)).fit(table, released)
    assert np.abs(blind.predict_proba(table)[:, 1] - exact).mean() > 0.15  # a planted wrong channel
    assert roc_auc_score(names, beliefs) > 0.8
    assert set(found.predict(table)) <= {"no", "yes"}
    assert clone(found).channel is channel or clone(found).channel.guarantee == channel.guarantee


def test_the_gradient_is_the_slope_of_the_loss():
    table, _, released, channel = noisy_labels(200)
    ready = np.hstack([table, np.ones((200, 1))])
    answers = channel.space.index(released)
    weights = np.random.default_rng(2).normal(size=8)
    _, slope = _loss(weights, ready, answers, channel.probabilities(), 0.01)
    for i in range(8):
        step = np.zeros(8)
        step[i] = 1e-6
        up = _loss(weights + step, ready, answers, channel.probabilities(), 0.01)[0]
        down = _loss(weights - step, ready, answers, channel.probabilities(), 0.01)[0]
        assert slope[i] == pytest.approx((up - down) / 2e-6, abs=1e-6)


def reports(count, epsilon, seed=1):
    """Two columns, of which one tells the class; each record reports one of them."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(count) < 0.3).astype(int)
    telling = (rng.random(count) < np.where(truth, 0.8, 0.2)).astype(int)
    idle = rng.integers(3, size=count)
    channels = [rr(list(range(4)), epsilon=epsilon), rr(list(range(6)), epsilon=epsilon)]
    law = voile.mechanisms.sampled_column(channels)
    codes = np.stack([telling * 2 + truth, idle * 2 + truth], axis=1)
    laws = [ReportLaw(channel.probabilities(), 2) for channel in channels]
    drawn = law.release(codes, voile.seeded_rng(seed + 100))
    return laws, drawn, np.stack([telling, idle], 1), truth


def test_marginal_bayes_finds_the_tables():
    laws, rows, codes, truth = reports(60_000, 2.0)
    found = MarginalBayes(laws).fit(rows)
    assert found.tables_[0] == pytest.approx(
        np.array([[0.7 * 0.8, 0.3 * 0.2], [0.7 * 0.2, 0.3 * 0.8]]), abs=0.03
    )
    assert found.prior_[1] == pytest.approx(0.3, abs=0.03)
    assert roc_auc_score(truth, found.predict_proba(codes)[:, 1]) > 0.78
    assert found.predict_proba(codes).sum(axis=1) == pytest.approx(np.ones(len(codes)))


def test_reports_that_say_nothing_are_shrunk_to_nothing():
    laws, rows, codes, _ = reports(300, 0.05)
    found = MarginalBayes(laws).fit(rows)
    assert found.strength_ >= 300
    spread = np.log(found.predict_proba(codes)[:, 1])
    assert float(spread.max() - spread.min()) < 1.5


def test_the_order_of_reports_does_not_matter_much():
    laws, rows, codes, _ = reports(5_000, 1.0)
    one = MarginalBayes(laws).fit(rows).predict_proba(codes)
    other = MarginalBayes(laws).fit(rows[np.argsort(rows[:, 0], kind="stable")])
    assert other.predict_proba(codes) == pytest.approx(one, abs=0.25)


def test_bad_input():
    laws, rows, codes, _ = reports(100, 1.0)
    model = MarginalBayes(laws)
    for bad in ([], [[0]], [[2, 0]], [[0, 4]], [[0.5, 0.5]], [[0, -1]]):
        with pytest.raises(InvalidInput):
            model.fit(np.array(bad))
    model.fit(rows)
    for bad in (codes[:, :1], codes + 5, codes.astype(float)):
        with pytest.raises(InvalidInput):
            model.predict_proba(bad)
    table, _, released, channel = noisy_labels(50)
    with pytest.raises(InvalidInput):
        ForwardLogistic(channel).fit(table[:3], released[:3])
    with pytest.raises(InvalidInput, match="finite"):
        ForwardLogistic(channel).fit(np.full((50, 3), np.nan), released)
    with pytest.raises(OutsideSpace):
        ForwardLogistic(channel).fit(table, ["other"] * 50)
