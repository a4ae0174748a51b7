"""Label leakage on finite tables: closed forms, theorems, and the false one's counterexample."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from voile.errors import InvalidInput
from voile.leakage import labels as measure
from voile.leakage.labels_privacy import (
    conditional_epsilon,
    effective_conditional_epsilon,
    label_epsilon,
    label_privacy,
    local_epsilon,
    log_ratios,
)

ROUNDING = 1e-12


def random_joint(rng: np.random.Generator, features: int, classes: int) -> np.ndarray:
    return rng.dirichlet(np.full(features * classes, 0.7)).reshape(features, classes)


def random_law(rng: np.random.Generator, features: int, classes: int, releases: int) -> np.ndarray:
    return rng.dirichlet(np.full(releases, 0.8), size=(features, classes)) * 0.99 + 0.01 / releases


worlds = st.tuples(
    st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(2, 4), st.integers(1, 6)
)


def world(drawn: tuple[int, int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    seed, features, classes, releases = drawn
    rng = np.random.default_rng(seed)
    return random_joint(rng, features, classes), random_law(rng, features, classes, releases)


def test_golden_belief_gain_and_its_bound():
    posteriors, prior = np.array([[0.9, 0.1]]), np.array([0.5, 0.5])
    gain = measure.belief_gain(posteriors, prior, measure.response_law(2, epsilon=1.0))
    assert gain[0, 0, 0] == pytest.approx(0.229671, abs=5e-7)
    bound = measure.belief_gain_bound(posteriors, prior, epsilon=1.0)
    assert bound[0] == pytest.approx(1.087313, abs=5e-7)


def test_xor_has_no_conditional_leakage_and_no_label_privacy():
    xor = np.zeros((2, 2, 2))
    for x in (0, 1):
        for y in (0, 1):
            xor[x, y, x ^ y] = 1.0
    for prior in ([0.5, 0.5], [0.9, 0.1]):
        joint = np.full((2, 1), 0.5) * np.array(prior)
        found = label_privacy(joint, xor)
        assert found.conditional == 0.0
        assert found.label == math.inf
        assert found.local == math.inf
        # Theorem 5.1 holds for it all the same: z alone says nothing of y.
        assert measure.unexpected_advantage(joint, xor, epsilon=0.0) <= ROUNDING


@given(worlds, st.floats(0, 8))
def test_response_of_the_label_alone_has_no_unexpected_leakage(drawn, epsilon):
    joint, _ = world(drawn)
    features, classes = joint.shape
    law = measure.label_only(measure.response_law(classes, epsilon=epsilon), features=features)
    advantage = measure.unexpected_advantage(joint, law, epsilon=epsilon)
    assert advantage <= ROUNDING
    if classes == 2:
        assert advantage == pytest.approx(0.0, abs=ROUNDING)


@given(worlds)
def test_local_privacy_gives_both_others(drawn):
    joint, law = world(drawn)
    local = local_epsilon(law)
    assert conditional_epsilon(joint, law) <= local + ROUNDING  # Corollary 5.3
    assert label_epsilon(law) <= local + ROUNDING


@given(worlds)
def test_conditional_privacy_leaves_no_unexpected_leakage(drawn):
    joint, law = world(drawn)
    epsilon = conditional_epsilon(joint, law)
    assert measure.unexpected_advantage(joint, law, epsilon=epsilon) <= ROUNDING  # Theorem 5.1


def test_theorem_5_1_fails_for_three_labels_against_k_ary_response():
    """Why the baseline is not k-ary response beyond two labels: a rare label breaks it."""
    prior, epsilon = np.array([0.495, 0.495, 0.01]), 1.0
    two = measure.response_law(2, epsilon=epsilon)
    law = np.vstack([two, [[0.5, 0.5]]])[None]
    assert conditional_epsilon(prior[None], law) == pytest.approx(epsilon)
    k_ary = measure.response_utility(prior, epsilon=epsilon)
    assert measure.attack_utility(prior[None], law) > k_ary + 0.04
    assert measure.unexpected_advantage(prior[None], law, epsilon=epsilon) <= ROUNDING


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.floats(0.05, 4))
def test_label_only_utility_is_the_linear_program_over_all_private_channels(seed, classes, epsilon):
    prior = np.random.default_rng(seed).dirichlet(np.ones(classes))
    cost = np.zeros((classes, classes))
    np.fill_diagonal(cost, -prior)
    rows = []
    for z in range(classes):
        for y in range(classes):
            for other in range(classes):
                if y != other:
                    row = np.zeros((classes, classes))
                    row[y, z], row[other, z] = 1.0, -math.exp(epsilon)
                    rows.append(row.ravel())
    sums = np.kron(np.eye(classes), np.ones(classes))
    best = linprog(cost.ravel(), A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=sums,
                   b_eq=np.ones(classes))  # fmt: skip
    assert measure.label_only_utility(prior, epsilon=epsilon) == pytest.approx(-best.fun, abs=1e-7)


@settings(max_examples=30)
@given(worlds)
def test_no_attacker_beats_the_bayes_rule(drawn):
    """Linear program over all randomised attackers Pr[guess | release]."""
    joint, law = world(drawn)
    gain = np.einsum("xy,xyz->zy", joint, law)
    sums = np.kron(np.eye(len(gain)), np.ones(gain.shape[1]))
    best = linprog(-gain.ravel(), A_eq=sums, b_eq=np.ones(len(gain)))
    assert measure.attack_utility(joint, law) == pytest.approx(-best.fun, abs=1e-9)


@given(worlds)
def test_individual_utilities_average_to_the_whole(drawn):
    joint, law = world(drawn)
    each = measure.individual_attack_utility(joint, law)
    mean = float((joint.sum(axis=1) * each).sum())
    assert mean == pytest.approx(measure.attack_utility(joint, law), abs=1e-12)


@given(worlds, st.floats(0.01, 6))
def test_effective_epsilon_is_the_conditional_epsilon_of_the_whole_law(drawn, epsilon):
    joint, _ = world(drawn)
    posteriors = joint / joint.sum(axis=1, keepdims=True)
    prior = joint.sum(axis=0)
    law = measure.with_features(
        measure.response_law(joint.shape[1], epsilon=epsilon), features=len(joint)
    )
    direct = conditional_epsilon(joint, law)
    assert effective_conditional_epsilon(posteriors, prior, epsilon=epsilon) == pytest.approx(
        direct, rel=1e-9
    )
    assert label_epsilon(law) == pytest.approx(epsilon, rel=1e-9)


def test_a_feature_that_determines_the_label_has_infinite_ratio():
    ratios = log_ratios(np.array([[1.0, 0.0, 0.0]]), np.full(3, 1 / 3))
    assert ratios[0, 0, 1] == math.inf
    assert ratios[0, 1, 2] == 0.0  # between two impossible labels there is no news
    assert effective_conditional_epsilon(
        np.array([[1.0, 0.0]]), np.array([0.5, 0.5]), epsilon=1.0
    ) == math.inf  # fmt: skip


@given(worlds, st.floats(0.01, 5))
def test_belief_gain_stays_within_its_bound(drawn, epsilon):
    joint, _ = world(drawn)
    posteriors, prior = joint / joint.sum(axis=1, keepdims=True), joint.sum(axis=0)
    response = measure.response_law(joint.shape[1], epsilon=epsilon)
    gain = np.abs(measure.belief_gain(posteriors, prior, response)).max(axis=(1, 2))
    assert (gain <= measure.belief_gain_bound(posteriors, prior, epsilon=epsilon) + ROUNDING).all()


@given(worlds)
def test_advantage_stays_within_the_tight_bound_and_that_within_wus(drawn):
    joint, law = world(drawn)
    epsilon = label_epsilon(law)
    tight = measure.tight_advantage_bound(epsilon, classes=joint.shape[1])
    assert measure.advantage(joint, law) <= tight + ROUNDING
    assert tight <= measure.advantage_bound(epsilon) + ROUNDING


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_the_tight_advantage_bound_is_reached(classes):
    epsilon = 1.3
    best = 0.0
    for m in range(1, classes + 1):
        prior = np.where(np.arange(classes) < m, 1 / m, 0.0)
        response = np.full((classes, m), 1 / m)
        response[:m] = measure.response_law(m, epsilon=epsilon) if m > 1 else 1.0
        best = max(best, measure.advantage(prior[None], response[None]))
    assert best == pytest.approx(measure.tight_advantage_bound(epsilon, classes=classes), abs=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "bound"), [(0.1, 0.050), (0.5, 0.245), (1.0, 0.462), (2.0, 0.762)]
)
def test_wus_bound(epsilon, bound):
    assert measure.advantage_bound(epsilon) == pytest.approx(bound, abs=5e-4)
    delta = 0.01
    assert measure.advantage_bound(epsilon, delta=delta) == pytest.approx(
        1 - 2 * (1 - delta) / (1 + math.exp(epsilon))
    )


@given(worlds)
def test_post_processing_never_raises_leakage(drawn):
    joint, law = world(drawn)
    merged = np.stack([law[:, :, ::2].sum(axis=2), law[:, :, 1::2].sum(axis=2)], axis=2)
    assert measure.attack_utility(joint, merged) <= measure.attack_utility(joint, law) + ROUNDING
    before, after = label_privacy(joint, law), label_privacy(joint, merged)
    for name in ("label", "conditional", "local"):
        assert getattr(after, name) <= getattr(before, name) + ROUNDING


def test_a_record_leaks_more_the_surer_its_features_speak_the_truth():
    posteriors = np.array([[0.5, 0.5], [0.8, 0.2], [0.99, 0.01], [0.2, 0.8]])
    gains = measure.mean_belief_gain(
        posteriors, np.array([0.5, 0.5]), np.zeros(4, dtype=int), measure.response_law(2, epsilon=1)
    )
    assert gains[0] == pytest.approx(0.0, abs=1e-12)
    assert gains[2] > gains[1] > 0 > gains[3]


def test_wrong_shapes_and_sums_are_refused():
    with pytest.raises(InvalidInput, match="law must be of shape"):
        measure.attack_utility(np.full((2, 2), 0.25), np.ones((2, 3, 1)))
    with pytest.raises(InvalidInput, match="sum to 1"):
        measure.label_only_utility(np.array([0.5, 0.6]), epsilon=1.0)
    with pytest.raises(InvalidInput, match="epsilon must be >= 0"):
        measure.response_law(2, epsilon=-1)
