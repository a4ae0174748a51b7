"""Which privacy a mechanism on labelled records has: of the label, given features, of the record.

Three bounds of one shape, ln Pr[z | one] − ln Pr[z | other] ≤ ε, over different pairs:

- *label DP*: same features, two labels;
- *label DP-CF*: two labels, the features drawn from P(·|label) (Busa-Fekete et al., ICML 2023);
- *local DP*: any two records.

Local DP implies the other two: a mixture of bounded ratios is bounded (Cor. 5.3 of Sekiguchi et
al.). Label DP-CF does **not** imply label DP, although their Theorem 5.2 says so: y ⊕ h(x) with
h(X) a fair coin under either label has CF-ε 0 and, at fixed x, reveals y. So all three are
computed, none inferred.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats
from voile.errors import require


@dataclass(frozen=True)
class LabelPrivacy:
    """The three tight epsilons of one mechanism; `conditional` is relative to a stated P."""

    label: float
    conditional: float
    local: float

    def __str__(self) -> str:
        return (
            f"label DP ε = {self.label:.4g}, label DP-CF ε = {self.conditional:.4g}, "
            f"local DP ε = {self.local:.4g}"
        )


def label_privacy(joint: Floats, law: Floats) -> LabelPrivacy:
    """All three, from the joint P[x, y] and the law K[x, y, z].

    The counterexample to "CF implies label DP", y ⊕ h(x):

    >>> xor = np.zeros((2, 2, 2))
    >>> for x in (0, 1):
    ...     for y in (0, 1):
    ...         xor[x, y, x ^ y] = 1.0
    >>> print(label_privacy(np.full((2, 2), 0.25), xor))
    label DP ε = inf, label DP-CF ε = 0, local DP ε = inf
    """
    return LabelPrivacy(label_epsilon(law), conditional_epsilon(joint, law), local_epsilon(law))


def label_epsilon(law: Floats) -> float:
    """Largest, over x, y, y' and z, of ln K(z|x, y) − ln K(z|x, y')."""
    return max(_largest_log_ratio(at_x) for at_x in law)


def local_epsilon(law: Floats) -> float:
    """Largest, over records (x, y), (x', y') and z, of ln K(z|x, y) − ln K(z|x', y')."""
    return _largest_log_ratio(law.reshape(-1, law.shape[2]))


def conditional_epsilon(joint: Floats, law: Floats) -> float:
    """Largest, over y, y' and z, of ln Pr[z|y] − ln Pr[z|y'], with Pr[z|y] = Σ_x P(x|y) K(z|x, y).

    Labels without mass under P are left out: they have no features to be drawn.
    """
    require(law.shape[:2] == joint.shape, "law", f"of shape {(*joint.shape, '…')}", law.shape)
    mass = joint.sum(axis=0)
    seen = mass > 0
    given_label = np.einsum("xy,xyz->yz", joint[:, seen] / mass[seen], law[:, seen])
    return _largest_log_ratio(given_label)


def log_ratios(posteriors: Floats, prior: Floats) -> Floats:
    """The revealing ratio ln r(x; y, y') = ln [P(y|x)/P(y)] − ln [P(y'|x)/P(y')], shape (n, y, y').

    By Bayes' rule this is ln P(x|y) − ln P(x|y'): how strongly the features alone speak for y
    against y'. Features leak where it is above 0 (Corollary 4.2).

    >>> log_ratios(np.array([[0.9, 0.1]]), np.array([0.5, 0.5]))[0].round(3)
    array([[ 0.   ,  2.197],
           [-2.197,  0.   ]])
    """
    with np.errstate(divide="ignore"):
        lift = np.log(posteriors) - np.log(prior)
    with np.errstate(invalid="ignore"):
        ratios = lift[:, :, None] - lift[:, None, :]
    return np.where(np.isnan(ratios), 0.0, ratios)  # two impossible labels: no news between them


def effective_conditional_epsilon(posteriors: Floats, prior: Floats, *, epsilon: float) -> float:
    """The CF-ε of randomised response beside clear features: ε + max over x, y, y' of ln r.

    Exact: Pr[(x, ỹ)|y]/Pr[(x, ỹ)|y'] = r(x; y, y')·R(ỹ|y)/R(ỹ|y'), and for every pair the answer
    ỹ = y gives the second factor e^ε. Infinite where the features determine the label.
    """
    return epsilon + max(0.0, float(log_ratios(posteriors, prior).max()))


def _largest_log_ratio(table: Floats) -> float:
    """Largest, over rows i, j and columns, of ln t[i] − ln t[j]; 0/0 is no ratio."""
    seen = table[:, table.max(axis=0) > 0]
    lowest = seen.min(axis=0)
    if not seen.size:
        return 0.0
    if (lowest == 0).any():
        return float("inf")
    return float(np.log(seen.max(axis=0) / lowest).max())
