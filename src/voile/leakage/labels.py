"""What a release lets an attacker guess of a label, and how much of it epsilon did not announce.

A *joint* is the table P(x, y): a row for each value of the features, a column for each label. A
*law* is a mechanism as an array K[x, y, z] = Pr[release z | features x, label y]. The attacker
sees z and nothing else, knows P and K, and names a label. Everything here is exact for finite
tables; what is estimated from records lives in `voile.audit.labels`.

Source: Sekiguchi et al., *Label Differential Privacy can Release Unexpected Leakage* (2025),
sections 3 and 4; Wu et al., *Does Label Differential Privacy Prevent Label Inference Attacks?*
(AISTATS 2023). docs/explanation/label-leakage.md says where this differs from them, and why.
"""

from __future__ import annotations

import math

import numpy as np

from voile.core.arrays import Floats
from voile.errors import require


def response_law(classes: int, *, epsilon: float) -> Floats:
    """Randomised response as a table R[y, ỹ]: e^ε/(e^ε + k − 1) on the diagonal.

    >>> response_law(2, epsilon=1.0).round(4)
    array([[0.7311, 0.2689],
           [0.2689, 0.7311]])
    """
    require(classes >= 2, "classes", ">= 2", classes)
    require(epsilon >= 0, "epsilon", ">= 0", epsilon)
    other = math.exp(-epsilon)
    table = np.where(np.eye(classes) == 1, 1.0, other)
    return np.asarray(table / (1 + (classes - 1) * other))


def label_only(response: Floats, *, features: int) -> Floats:
    """The law of a mechanism that releases the randomised label and no feature."""
    law: Floats = np.broadcast_to(response, (features, *response.shape)).copy()
    return law


def with_features(response: Floats, *, features: int) -> Floats:
    """The law of a mechanism that releases the features as they are beside the label.

    Release z = (x, ỹ) has position x·k + ỹ.
    """
    classes, released = response.shape
    law = np.zeros((features, classes, features, released))
    for x in range(features):
        law[x, :, x, :] = response
    return law.reshape(features, classes, features * released)


def attack_utility(joint: Floats, law: Floats) -> float:
    """EAU of the best attacker: Σ_z max_y Σ_x P(x, y)·K(z|x, y) (section 3).

    The supremum over randomised attackers is the Bayes rule, since accuracy is linear in the
    attacker. Costs one pass over the law.

    >>> joint = np.array([[0.45, 0.05], [0.05, 0.45]])
    >>> warner = response_law(2, epsilon=1.0)
    >>> round(attack_utility(joint, label_only(warner, features=2)), 4)
    0.7311
    >>> round(attack_utility(joint, with_features(warner, features=2)), 4)
    0.9
    """
    return float(_per_label(joint, law).max(axis=0).sum())


def individual_attack_utility(joint: Floats, law: Floats) -> Floats:
    """IEAU at each x: how often the best attacker is right about records with these features.

    The attacker is the one of `attack_utility`, who sees z only, ties broken evenly; so the mean
    of this under P(x) is the EAU. (Taking the supremum anew at each x, as the paper's definition
    reads literally, would hand x to an attacker who was not given it.) Rows of P without mass
    are NaN.
    """
    posterior = _per_label(joint, law)
    best = posterior == posterior.max(axis=0)
    guess = best / best.sum(axis=0)
    mass = joint.sum(axis=1)
    right = np.einsum("xy,xyz,yz->x", joint, law, guess)
    return np.asarray(np.divide(right, mass, out=np.full(len(mass), np.nan), where=mass > 0))


def label_only_utility(prior: Floats, *, epsilon: float) -> float:
    """The most that any ε-private release of the label alone lets an attacker guess.

    max over m of e^ε/(e^ε + m − 1) · (the m largest prior probabilities together).

    For two labels this is the EAU of Warner's response, the baseline of the paper. For more it
    can exceed the EAU of k-ary response when the prior is skewed: with one label almost never
    seen, answering among the other two is as private and tells more. It is the optimum of the
    linear program max Σ_y π(y) K(y|y) over ε-private K (Ghazi et al., NeurIPS 2021, theorem 3),
    so it is what ε alone announces, and Theorem 5.1 holds against it for any number of labels.

    >>> round(label_only_utility(np.array([0.5, 0.5]), epsilon=1.0), 6)
    0.731059
    """
    _check_prior(prior)
    tops = np.cumsum(np.sort(prior)[::-1])
    other = math.exp(-epsilon)
    return float((tops / (1 + np.arange(len(prior)) * other)).max())


def response_utility(prior: Floats, *, epsilon: float) -> float:
    """EAU of k-ary randomised response of the label alone: Σ_ỹ max_y π(y) R(ỹ|y)."""
    _check_prior(prior)
    return float((prior[:, None] * response_law(len(prior), epsilon=epsilon)).max(axis=0).sum())


def unexpected_advantage(joint: Floats, law: Floats, *, epsilon: float) -> float:
    """UEAdv = EAU(M) − the most that ε announces (definition 4.1).

    Positive: the release tells more than ε-privacy of the label would suggest. At most 0 for
    every mechanism with ε-Label DP-CF (Theorem 5.1): given the label, its release is then an
    ε-private channel of the label alone, and no such channel beats `label_only_utility`.

    >>> joint = np.array([[0.45, 0.05], [0.05, 0.45]])
    >>> warner = response_law(2, epsilon=1.0)
    >>> round(unexpected_advantage(joint, with_features(warner, features=2), epsilon=1.0), 4)
    0.1689
    """
    return attack_utility(joint, law) - label_only_utility(joint.sum(axis=0), epsilon=epsilon)


def belief_gain(posteriors: Floats, prior: Floats, response: Floats) -> Floats:
    """IUEAdv for every record, label and answer: P(y|x, ỹ) − P(y|ỹ), shape (n, y, ỹ).

    With A = R(ỹ|y), B = R(ỹ|1−y), p = P(y|x), q = P(y), two labels (Proposition 4.1):
    A·p/(A·p + B·(1−p)) − A·q/(A·q + B·(1−q)).

    >>> gain = belief_gain(np.array([[0.9, 0.1]]), np.array([0.5, 0.5]), response_law(2, epsilon=1))
    >>> round(float(gain[0, 0, 0]), 6)
    0.229671
    """
    informed = posteriors[:, :, None] * response
    naive = prior[:, None] * response
    return np.asarray(
        informed / informed.sum(axis=1, keepdims=True) - naive / naive.sum(axis=0, keepdims=True)
    )


def belief_gain_bound(posteriors: Floats, prior: Floats, *, epsilon: float) -> Floats:
    """e^ε · TV(P(·|x), P), which |P(y|x, ỹ) − P(y|ỹ)| never exceeds; two labels: e^ε·|p − q|.

    Proposition 4.1 for any number of labels. Along the line from P to P(·|x) the belief in y
    moves at the rate Σ_j d_j c_j with c_j = R_j(1[j=y] − T)/R̄, T the belief and R̄ the mean
    likelihood; Σ_j d_j = 0, so it is at most TV·(max c − min c) ≤ TV·max R / min R.

    >>> belief_gain_bound(np.array([[0.9, 0.1]]), np.array([0.5, 0.5]), epsilon=1.0).round(6)
    array([1.087313])
    """
    apart = 0.5 * np.abs(posteriors - prior).sum(axis=1)
    return np.asarray(math.exp(epsilon) * apart)


def mean_belief_gain(
    posteriors: Floats, prior: Floats, labels: np.ndarray, response: Floats
) -> Floats:
    """Each record's leakage: Σ_ỹ R(ỹ|y)·(P(y|x, ỹ) − P(y|ỹ)) for the label y it has.

    How much more surely an attacker believes the truth because the features came along, on
    average over the answers that randomised response gives. Negative where the features mislead.
    """
    rows = np.arange(len(labels))
    gain = belief_gain(posteriors, prior, response)[rows, labels]
    return np.asarray((response[labels] * gain).sum(axis=1))


def advantage(joint: Floats, law: Floats) -> float:
    """Wu's advantage: accuracy with x and z, minus accuracy with x alone.

    Σ_{x,z} max_y P(x, y) K(z|x, y) − Σ_x max_y P(x, y): what the *release* adds for somebody who
    has the features already. ε-label privacy bounds it whatever P is: see `advantage_bound`.
    """
    with_release = (joint[:, :, None] * law).max(axis=1).sum()
    return float(with_release - joint.max(axis=1).sum())


def advantage_bound(epsilon: float, *, delta: float = 0.0) -> float:
    """Wu's bound on their advantage under (ε, δ)-label privacy: 1 − 2(1 − δ)/(1 + e^ε).

    >>> [round(advantage_bound(e), 3) for e in (0.1, 0.5, 1.0, 2.0)]
    [0.05, 0.245, 0.462, 0.762]
    """
    require(epsilon >= 0, "epsilon", ">= 0", epsilon)
    require(0 <= delta <= 1, "delta", "between 0 and 1", delta)
    # tanh form: exact for small ε, no overflow for large.
    return math.tanh(epsilon / 2) + delta * (1 - math.tanh(epsilon / 2))


def tight_advantage_bound(epsilon: float, *, classes: int) -> float:
    """The largest advantage that some P reaches: max over m ≤ k of (E−1)(m−1)/(m(E+m−1)), E = e^ε.

    Given x the best ε-private channel is right with probability max_m S_m·E/(E+m−1), S_m the m
    largest of P(·|x), and x alone with S_1 ≥ S_m/m; the difference is largest at S_m = 1 and even
    probabilities, where it is reached. For two labels this is half of Wu's bound.

    >>> round(tight_advantage_bound(1.0, classes=2), 4), round(advantage_bound(1.0), 4)
    (0.2311, 0.4621)
    """
    require(classes >= 2, "classes", ">= 2", classes)
    m = np.arange(1, classes + 1)
    other = math.exp(-epsilon)
    return float(((1 - other) * (m - 1) / (m * (1 + (m - 1) * other))).max())


def _per_label(joint: Floats, law: Floats) -> Floats:
    """P(y, z), shape (labels, releases)."""
    good = joint.ndim == 2 and law.ndim == 3 and law.shape[:2] == joint.shape
    require(good, "law", f"of shape {(*joint.shape, 'releases')}", law.shape)
    _check_prior(joint)
    return np.asarray(np.einsum("xy,xyz->yz", joint, law))


def _check_prior(prior: Floats) -> None:
    good = bool((prior >= 0).all()) and abs(float(prior.sum()) - 1) < 1e-9
    require(good, "probabilities", "non-negative and sum to 1", f"a sum of {prior.sum():.6g}")
