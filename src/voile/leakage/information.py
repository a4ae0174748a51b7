"""Quantitative information flow, exactly: what a channel's integers tell an attacker of some gain.

An attacker with prior π guesses w and gains g(w, x) if the secret is x. Before the release the best
guess is worth V(π) = max over w of Σ π(x)·g(w, x), after it the sum of the same over y with
π(x)·K(y|x) for π(x) (Alvim et al., The Science of Quantitative Information Flow, 2020, definitions
3.2 and 5.2). All terms are
rational since K(y|x) is an integer over 2**62: vulnerabilities are fractions without rounding,
and logarithms are brackets that hold the true value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats
from voile.core.channel import Channel
from voile.core.weights import TOTAL
from voile.errors import require

Prior = Sequence[Any] | NDArray[Any] | None
"""Weights of the secrets, not all zero, taken exactly and normalised; None is a uniform prior."""
Gain = Sequence[Sequence[Any]] | NDArray[Any] | None
"""g[w, x], guesses by secrets; None gains 1 for the right secret and nothing otherwise."""


@dataclass(frozen=True)
class Bracket:
    """The true value lies between `lower` and `upper`."""

    lower: float
    upper: float

    def __str__(self) -> str:
        return f"between {self.lower:.6g} and {self.upper:.6g}"


def exact_prior(channel: Channel, prior: Prior) -> list[Fraction]:
    """A prior as exact rationals that sum to 1."""
    size = len(channel.space)
    if prior is None:
        return [Fraction(1, size)] * size
    given = [_rational(value) for value in prior]
    require(len(given) == size, "prior", f"{size} numbers", len(given))
    good = all(value >= 0 for value in given) and any(given)
    require(good, "prior", "non-negative and not all zero", "others")
    total = sum(given, Fraction(0))
    return [value / total for value in given]


def vulnerability(channel: Channel, prior: Prior = None, *, gain: Gain = None) -> Fraction:
    """What the best guess is worth before the release, V_g(π).

    >>> import voile
    >>> warner = voile.mechanisms.randomised_response(["ill", "well"], epsilon=1.0)
    >>> vulnerability(warner, [1, 3])
    Fraction(3, 4)
    """
    beliefs = exact_prior(channel, prior)
    if gain is None:
        return max(beliefs)
    rows = _gains(gain, len(beliefs))
    return max(sum((g * p for g, p in zip(row, beliefs, strict=True)), Fraction(0)) for row in rows)


def posterior_vulnerability(
    channel: Channel, prior: Prior = None, *, gain: Gain = None
) -> Fraction:
    """What the best guess is worth after the release, on average over releases.

    Costs secrets·outputs·guesses products of whole numbers, secrets·outputs without a gain.

    >>> import voile
    >>> warner = voile.mechanisms.randomised_response(["ill", "well"], epsilon=1.0)
    >>> round(float(posterior_vulnerability(warner)), 6)    # e / (e + 1)
    0.731059
    """
    whole, scale = _whole(exact_prior(channel, prior))
    joint = channel.weights.astype(object) * np.array(whole, dtype=object)[:, None]
    if gain is None:
        return Fraction(int(joint.max(axis=0).sum()), scale * TOTAL)
    rows = _gains(gain, len(whole))
    flat, unit = _whole([value for row in rows for value in row])
    table = np.array(flat, dtype=object).reshape(len(rows), len(whole))
    return Fraction(int(table.dot(joint).max(axis=0).sum()), scale * unit * TOTAL)


def min_entropy_leakage(channel: Channel, prior: Prior = None) -> Bracket:
    """Bits: log2 of how many times better a one-try guess becomes (Smith, 2009)."""
    after, before = posterior_vulnerability(channel, prior), vulnerability(channel, prior)
    return _log2(after / before)


def min_capacity(channel: Channel) -> Bracket:
    """Bits: the largest min-entropy leakage over all priors, log2 Σ_y max_x K(y|x).

    It is reached at the uniform prior, and no gain function's vulnerability grows by a larger
    factor at any prior ("miracle theorem", Alvim et al. 2012).

    >>> import voile
    >>> warner = voile.mechanisms.randomised_response(["ill", "well"], epsilon=1.0)
    >>> round(min_capacity(warner).upper, 6)    # log2(2e / (e + 1))
    0.548059
    """
    return _log2(Fraction(int(channel.weights.astype(object).max(axis=0).sum()), TOTAL))


def shannon_leakage(channel: Channel, prior: Prior = None) -> Bracket:
    """Bits: the mutual information of secret and release, Σ π_x K(y|x) log2(K(y|x) / p(y))."""
    weights = np.array([float(p) for p in exact_prior(channel, prior)])
    table = channel.probabilities()
    return _bits(float((weights * _divergences(table, weights @ table)).sum()), table)


def capacity(channel: Channel, *, gap: float = 1e-9, steps: int = 100_000) -> Bracket:
    """Bits: the largest Shannon leakage over all priors, by Blahut and Arimoto's iteration.

    At every prior π with output law q the capacity lies between I(π) and max_x KL(K(·|x) ‖ q)
    (Gallager 1968, theorem 4.5.1). The iteration π_x ← π_x·exp(KL(K(·|x) ‖ q)) closes the bracket;
    it ends when that is narrower than `gap`, or after `steps`: the bracket holds wherever it ends.

    >>> import voile
    >>> warner = voile.mechanisms.randomised_response(["ill", "well"], epsilon=1.0)
    >>> round(capacity(warner).lower, 6)
    0.160058
    """
    require(gap > 0, "gap", "> 0", gap)
    table = channel.probabilities()
    prior = np.full(len(table), 1 / len(table))
    low, high = 0.0, math.inf
    for _ in range(steps):
        told = _divergences(table, prior @ table)
        low, high = max(low, float((prior * told).sum())), min(high, float(told.max()))
        if high - low <= gap * math.log(2) / 2:
            break
        prior = prior * np.exp(told - told.max())
        prior /= prior.sum()
    return Bracket(_bits(low, table).lower, _bits(high, table).upper)


@dataclass(frozen=True, eq=False)
class Refinement:
    """Whether one channel is another one post-processed: then it leaks no more to anybody.

    If it is, `remap` is the post-processing and `off` the most that any entry is off by. If it is
    not, `gain` (guesses by secrets) is an attacker for whom it leaks more at the uniform prior, by
    `excess`, an exact number above 0.
    """

    holds: bool
    remap: Floats | None
    off: float
    gain: Floats | None
    excess: Fraction


def refines(coarse: Channel, fine: Channel, *, tolerance: float = 1e-8) -> Refinement:
    """Whether `coarse` = `fine` followed by a random remap R of its outputs, by a linear program.

    The program is min ‖fine·R − coarse‖₁ over stochastic R. Its dual variables Y, bounded by 1, are
    a gain function: Σ Y·coarse − Σ_y max_z (fineᵀY)[y, z] > 0 says that guessing z with gain
    Y[·, z] is worth more after `coarse` than after `fine` (the "coriaceous" theorem, McIver et al.
    2014). That is then recomputed in whole numbers: a refusal is a proof. An acceptance holds to
    `tolerance` in each entry, since weights are rounded to 2**-62 and R is the solver's.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, eye_array, hstack, kron, vstack

    rows = len(fine.space)
    require(len(coarse.space) == rows, "both channels", "of the same secrets", "others")
    start, goal = fine.probabilities(), coarse.probabilities()
    inner, outer = start.shape[1], goal.shape[1]
    size = rows * outer
    product = kron(coo_array(start), eye_array(outer))  # (R flattened) ↦ fine·R flattened
    rest = hstack([eye_array(size), -eye_array(size)])
    sums = kron(eye_array(inner), coo_array(np.ones((1, outer))))
    nothing = coo_array((inner, 2 * size))
    system: Any = vstack([hstack([product, rest]), hstack([sums, nothing])])
    found: Any = linprog(
        np.concatenate([np.zeros(inner * outer), np.ones(2 * size)]),
        A_eq=system.tocsr(),
        b_eq=np.concatenate([goal.ravel(), np.ones(inner)]),
        bounds=(0, None),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    require(found.status == 0, "the program of refinement", "solved", found.message)
    remap = np.clip(found.x[: inner * outer].reshape(inner, outer), 0.0, None)
    remap /= remap.sum(axis=1, keepdims=True)
    off = float(np.abs(start @ remap - goal).max())
    if off <= tolerance:
        return Refinement(True, remap, off, None, Fraction(0))
    gain = np.asarray(found.eqlin.marginals[:size]).reshape(rows, outer).T
    excess = posterior_vulnerability(coarse, gain=gain) - posterior_vulnerability(fine, gain=gain)
    require(
        excess > 0,
        "the comparison",
        "decided by the solver's answer",
        f"entries off by {off:.2g} and no attacker who gains",
        "raise the tolerance above it",
    )
    return Refinement(False, None, off, gain, excess)


# ── numbers ────────────────────────────────────────────────────────────────────────────────────


def _rational(value: Any) -> Fraction:
    try:
        return Fraction(value) if isinstance(value, int | Fraction) else Fraction(float(value))
    except (TypeError, ValueError, OverflowError):
        require(False, "a prior or gain", "finite numbers", "others")
        raise


def _gains(gain: Any, secrets: int) -> list[list[Fraction]]:
    rows = [[_rational(value) for value in row] for row in gain]
    good = bool(rows) and all(len(row) == secrets for row in rows)
    require(good, "gain", f"guesses by {secrets} secrets", f"{len(rows)} rows of another length")
    return rows


def _whole(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """Integers in proportion to rationals, and the number that they are divided by."""
    scale = math.lcm(*(value.denominator for value in values))
    return [int(value * scale) for value in values], scale


def _log2(value: Fraction) -> Bracket:
    """log2 of a rational >= 1: two correctly rounded logarithms of integers, moved outwards."""
    if value == 1:
        return Bracket(0.0, 0.0)
    near = (
        math.log2(value) if value < 2 else math.log2(value.numerator) - math.log2(value.denominator)
    )
    room = 2.0**-50 * max(1.0, math.log2(value.numerator))
    return Bracket(max(0.0, near - room), near + room)


def _divergences(table: Floats, law: Floats) -> Floats:
    """KL(K(·|x) ‖ law) for each secret, in nats."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = table * np.log(table / law)
    return np.asarray(np.where(table > 0, terms, 0.0).sum(axis=1))


def _bits(nats: float, table: Floats) -> Bracket:
    """Nats as bits, with room for what rounding may have moved.

    A term K·ln(K/q) is off by at most 8 units in the last place of K·(1 + |ln(K/q)|), a row of m
    terms that are summed in doubles by m units more; 16·m of them cover both.
    """
    smallest = float(table[table > 0].min())
    room = 16 * table.shape[1] * 2.0**-52 * (1 - math.log(smallest))
    return Bracket(max(0.0, (nats - room) / math.log(2)), (nats + room) / math.log(2))
