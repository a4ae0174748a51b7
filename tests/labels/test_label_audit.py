"""Estimates against known truth: coverage, proofs by counting, and attackers that may not cheat."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

pytest.importorskip("sklearn")

from voile.attackers import label_classifier
from voile.attackers.label_beliefs import cross_fit
from voile.attackers.label_classifier import fit_classifier
from voile.audit import label_counts as counts
from voile.audit import label_features
from voile.audit import labels as audit
from voile.audit.finding import Verdict
from voile.audit.label_features import feature_shares, fit_half
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput
from voile.leakage.labels import (
    attack_utility,
    label_only_utility,
    response_law,
    unexpected_advantage,
    with_features,
)
from voile.leakage.labels_privacy import log_ratios

JOINT = np.array([[0.30, 0.05], [0.15, 0.10], [0.05, 0.35]])
POSTERIORS = JOINT / JOINT.sum(axis=1, keepdims=True)


def draw(joint: np.ndarray, count: int, rng: np.random.Generator):
    place = rng.choice(joint.size, size=count, p=joint.ravel())
    return place // joint.shape[1], place % joint.shape[1]


def gaussian(count: int, shift: float, rng: np.random.Generator, dimensions: int = 2):
    labels = rng.integers(2, size=count)
    features = rng.normal(size=(count, dimensions))
    features[:, 0] += shift * labels
    return list(features.T), labels


# ── intervals ──────────────────────────────────────────────────────────────────────────────────

REPLICATES = 300
FEWEST = int(binom.ppf(1e-9, REPLICATES, 0.95))
"""An interval that covers at least 95 % of the time falls below this once in 10⁹."""


def covered(shrink: float, *, quantity: str) -> int:
    epsilon = 1.0
    law = with_features(response_law(2, epsilon=epsilon), features=3)
    truth = {
        "total": attack_utility(JOINT, law),
        "unexpected": unexpected_advantage(JOINT, law, epsilon=epsilon),
    }[quantity]
    hits = 0
    for seed in range(REPLICATES):
        rng = seeded_rng(seed)
        cells, labels = draw(JOINT, 400, rng)
        point = counts.counted_leakage(POSTERIORS[cells], labels, epsilons=[epsilon])[0]
        found = getattr(point, quantity)
        low = found.value - shrink * (found.value - found.lower)
        high = found.value + shrink * (found.upper - found.value)
        hits += low <= truth <= high
    return hits


@pytest.mark.parametrize("quantity", ["total", "unexpected"])
def test_intervals_cover_the_truth(quantity):
    assert covered(1.0, quantity=quantity) >= FEWEST


def test_an_interval_that_is_too_narrow_is_caught():
    assert covered(0.3, quantity="total") < FEWEST


def test_success_is_the_mean_over_answers_not_one_draw():
    cells, labels = draw(JOINT, 5000, seeded_rng(3))
    exact = counts.attack_success(POSTERIORS[cells], labels, epsilon=0.7)
    response = response_law(2, epsilon=0.7)
    rng = seeded_rng(4)
    answers = np.where(rng.random(5000) < response[labels, labels], labels, 1 - labels)
    guess = (POSTERIORS[cells] * response[:, answers].T).argmax(axis=1)
    assert abs(exact.mean() - (guess == labels).mean()) < 6 * 0.5 / np.sqrt(5000)


# ── proofs by counting ─────────────────────────────────────────────────────────────────────────


def one_hot(cells: np.ndarray) -> list[np.ndarray]:
    return list(np.eye(3)[cells].T)


@pytest.mark.parametrize("seed", range(6))
def test_the_counted_ratio_never_exceeds_the_true_one(seed):
    rng = seeded_rng(seed)
    cells, labels = draw(JOINT, 600, rng)
    truth = float(log_ratios(POSTERIORS, JOINT.sum(axis=0)).max())
    halved = fit_half(one_hot(cells), labels, classes=2, rng=rng)
    found = audit.support_log_ratio(halved, failure_probability=1e-9)
    assert found <= truth


def test_the_counted_ratio_comes_near_the_true_one_with_many_records():
    rng = seeded_rng(1)
    cells, labels = draw(JOINT, 20_000, rng)
    truth = float(log_ratios(POSTERIORS, JOINT.sum(axis=0)).max())
    halved = fit_half(one_hot(cells), labels, classes=2, rng=rng)
    found = audit.support_log_ratio(halved, failure_probability=1e-9)
    assert truth - 0.5 < found <= truth


def test_features_without_a_word_about_the_label_are_never_accused():
    for seed in range(4):
        rng = seeded_rng(seed)
        features, labels = gaussian(300, 0.0, rng, dimensions=8)
        halved = fit_half(features, labels, classes=2, rng=rng)
        assert audit.support_log_ratio(halved, failure_probability=1e-9) == 0.0


def test_counting_on_the_records_that_were_fitted_would_accuse_the_innocent(monkeypatch):
    """The planted bug: no split. Boosted trees repeat the labels they saw."""
    everything = lambda labels, rng: (np.arange(len(labels)), np.arange(len(labels)))  # noqa: E731
    monkeypatch.setattr(label_features, "halves", everything)
    rng = seeded_rng(0)
    features, labels = gaussian(300, 0.0, rng, dimensions=8)
    halved = fit_half(features, labels, classes=2, rng=rng)
    monkeypatch.setattr(type(halved.model), "posteriors", lambda model, rows: memory(model, rows))
    assert audit.support_log_ratio(halved, failure_probability=1e-9) > 0


def memory(model, rows):
    """Beliefs of the trees as they were fitted, before anybody calibrated them on other records."""
    return np.maximum(dict(model.members)["boosted trees"](model.blocks(rows)), 1e-9)


# ── the whole audit ────────────────────────────────────────────────────────────────────────────


def true_total(shift: float, epsilon: float) -> float:
    """Two normals `shift` apart: ln-likelihood ratio N(±shift²/2, shift²), answer ±ε."""
    keep = 1 / (1 + np.exp(-epsilon))
    mean, deviation = shift**2 / 2, shift
    right = keep * norm.sf(-epsilon, mean, deviation)
    return float(right + (1 - keep) * norm.sf(epsilon, mean, deviation))


def test_audit_of_two_normals_meets_the_integral():
    rng = seeded_rng(8)
    features, labels = gaussian(3000, 2.0, rng)
    found = audit.audit_labels(features, labels, classes=2, epsilons=[0.1, 2.0], rng=rng, folds=3)
    for point in found.at:
        truth = true_total(2.0, point.epsilon)
        assert point.total.value == pytest.approx(truth, abs=0.03)
        assert point.believed == pytest.approx(truth, abs=0.03)
        assert found.finding(point.epsilon).verdict is Verdict.VIOLATED
        assert found.finding(point.epsilon).lower > point.epsilon
        assert point.advantage.value <= point.advantage_bound
    assert found.at[0].unexpected.lower > 0.2
    assert len(found.ranked) == 3000
    assert found.gains[found.ranked[0]] == found.gains.max()


def test_audit_of_noise_finds_nothing():
    rng = seeded_rng(9)
    features, labels = gaussian(1000, 0.0, rng)
    found = audit.audit_labels(
        features, labels, classes=2, epsilons=[1.0], rng=rng, folds=3,
        failure_probability=1e-9,
    )  # fmt: skip
    point = found.at[0]
    assert point.unexpected.value < 0.02
    assert found.finding(1.0).verdict is Verdict.OPEN


def test_audit_of_three_classes():
    rng = seeded_rng(10)
    labels = rng.integers(3, size=900)
    features = list((rng.normal(size=(900, 2)) + 1.5 * np.eye(3)[labels][:, :2]).T)
    found = audit.audit_labels(features, labels, classes=3, epsilons=[0.5], rng=rng, folds=3)
    point = found.at[0]
    assert point.expected == pytest.approx(label_only_utility(found.prior, epsilon=0.5))
    assert point.total.value > point.expected + 0.1


def test_beliefs_come_from_classifiers_that_have_not_seen_the_record():
    rng = seeded_rng(11)
    features = list(rng.normal(size=(20, 300)))
    labels = rng.integers(2, size=300)
    honest = cross_fit(features, labels, classes=2, rng=rng, folds=3, only="boosted trees")
    score = (honest.posteriors.argmax(axis=1) == labels).mean()
    cheat = fit_classifier(features, labels, classes=2, rng=rng, only="boosted trees")
    cheating = (memory(cheat, features).argmax(axis=1) == labels).mean()
    assert score < 0.65 < 0.8 < cheating  # noise: 0.65 is over 5 standard errors from 0.5


def test_few_records_and_overconfidence_are_said_aloud():
    rng = seeded_rng(12)
    features, labels = gaussian(120, 4.0, rng)
    found = audit.audit_labels(features, labels, classes=2, epsilons=[1.0], rng=rng, folds=2)
    assert any("goes beyond the data" in text for text in found.warnings)
    rare = np.concatenate([np.zeros(100, dtype=int), np.ones(20, dtype=int)])
    found = audit.audit_labels(
        list(rng.normal(size=(2, 120))), rare, classes=2, epsilons=[1.0], rng=rng, folds=2
    )
    assert any("rarest class has 20 records" in text for text in found.warnings)


def test_calibration_mends_a_classifier_that_is_too_sure():
    rng = seeded_rng(13)
    labels = rng.integers(2, size=4000)
    right = rng.random(4000) < 0.8
    said = np.where(right, labels, 1 - labels)
    raw = np.where(said[:, None] == np.arange(2), 0.9999, 0.0001)  # right 80 % of the time
    weights, shift, loss = label_classifier._stacked([raw], labels)
    logits = weights[0] * np.log(raw) + shift
    sure = 1 / (1 + np.exp(-np.abs(logits[:, 0] - logits[:, 1])))
    assert sure.mean() == pytest.approx(0.8, abs=0.03)
    assert loss == pytest.approx(-(0.8 * np.log(0.8) + 0.2 * np.log(0.2)), abs=0.02)


def test_the_feature_that_carries_the_label_comes_first_and_its_twin_is_seen():
    rng = seeded_rng(14)
    labels = rng.integers(2, size=800)
    signal = labels * 2.0 + rng.normal(size=800)
    features = [rng.normal(size=800), signal, signal, rng.normal(size=800)]
    halved = fit_half(features, labels, classes=2, rng=rng)
    shares = feature_shares(halved, names=["noise", "signal", "twin", "other"], rng=rng)
    first, third = shares[0], shares[2]
    assert {first.name, shares[1].name} == {"signal", "twin"}
    assert first.nats is not None
    assert third.nats is not None
    assert first.nats == pytest.approx(0.33, abs=0.1)  # of two normals two deviations apart
    assert first.auc == pytest.approx(norm.cdf(np.sqrt(2)), abs=0.06)
    assert first.lost < first.nats / 2  # the twin stands in
    assert third.nats < 0.05
    assert third.read == "a number"


def test_too_few_records_of_a_class_are_refused():
    features = [np.zeros(30)]
    labels = np.array([0] * 28 + [1] * 2)
    with pytest.raises(InvalidInput, match="records of each class must be"):
        cross_fit(features, labels, classes=2, rng=seeded_rng(1))
