r"""The worst joint leakage under a Markov prior: a bound for *every* release of a whole document.

Secrets X_1 … X_L follow a chain with start π and steps T, each is released by itself with law K. By
Bayes' rule the odds of X_l between i and j move by the likelihood ratio of *all* releases. Given
X_l, what is before, at and after l is independent, and releases can be anything, so that

    sup_y ln P(y|X_l=i)/P(y|X_l=j) = M(i,j) + B_(L−l)(i,j) + F_l(i,j)

with M(i,j) = max_y ln K(y|i)/K(y|j) and B, F the same suprema over what comes after and before.
(mPL paper, section 2.4, has an estimate by a learned attacker here.)

**After.** b_i(y_1 … y_m) = Σ_c T(i,c) w_c with w_c = K(y_1|c) b_c(y_2 … y_m). Two entries of w
differ by at most ln w_c/w_d ≤ φ(c,d) = M(c,d) + B_(m−1)(c,d). So B_m(i,j) is at most the maximum of
⟨T_i,w⟩/⟨T_j,w⟩ over all w > 0 with these ratios: a linear-fractional program. It is relaxed to
boxes, which have closed forms, and the least answer is taken:

- scale w so that its least entry is 1: then 1 ≤ w_c ≤ exp(max_d φ(c,d));
- scale w so that w_r = 1: then exp(−φ(r,c)) ≤ w_c ≤ exp(φ(c,r)); r the likeliest step of i or j.

Over a box the maximum has w_c at its upper end where T(i,c) > λ·T(j,c), at its lower end elsewhere,
λ the maximum itself; Dinkelbach's iteration finds it from below, and λ + max(0, ⟨T_i − λT_j, w⟩) /
⟨T_j, lower⟩ is above it for *any* λ, which is what is used. For local privacy (all distances 1) and
one box this is the backward leakage of Cao, Yoshikawa, Xiao and Xiong (ICDE 2017).

**Before**, the same with the reversed steps P(X_(t−1) = c | X_t = i), which differ from place to
place. The bounds grow with the number of releases, so that those for L cover shorter documents.

**Whatever the prior is**, what is before and after can add at most max M for each other secret.

Cost: (secrets)³ for each place and direction; 300 secrets take about half a second each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats
from voile.errors import InvalidInput, require

MOST_SECRETS = 500
"""Beyond this a bound takes minutes for each place."""
_LARGEST = 300.0
"""Ratios beyond e^300 are bounded by the largest alone."""
SLACK = 1e-7
"""More than log-probabilities and sums in doubles are off by; added to every logarithm."""


@dataclass(frozen=True)
class JointBound:
    """No release of a document moves the odds of two secrets by more than this, per distance.

    `joint` is for attackers whose prior is the chain, `any_prior` for all, `single` for somebody
    who sees one release. `pair` and `place` (from 0) are where `joint` is reached.
    """

    joint: float
    any_prior: float
    single: float
    length: int
    pair: tuple[int, int]
    place: int
    reached: float | None = None
    """What some release does reach: the worst leakage of all lies between this and `joint`."""


def joint_bound(
    ratios: Floats, start: Floats, steps: Floats, distances: Floats, *, length: int
) -> JointBound:
    """The bound of the module's head, for documents of at most `length` secrets.

    `ratios[i, j]` is M(i,j), see `largest_ratios`; pairs at distance 0 are one secret.

    >>> law = np.log([[0.72, 0.28], [0.28, 0.72]])
    >>> steps = np.array([[0.02, 0.98], [0.98, 0.02]])   # the example of the mPL paper
    >>> found = joint_bound(
    ...     largest_ratios(law), np.full(2, 0.5), steps, 1 - np.eye(2), length=2
    ... )
    >>> round(found.single, 5), round(found.joint, 5), round(found.any_prior, 5)
    (0.94446, 1.84568, 1.88892)
    """
    size = len(ratios)
    tables = {"ratios": ratios, "steps": steps, "distances": distances}
    for name, table in tables.items():
        require(table.shape == (size, size), name, f"{size} by {size}", table.shape)
    require(2 <= size <= MOST_SECRETS, "secrets", f"between 2 and {MOST_SECRETS}", size)
    require(length >= 1, "length", ">= 1", length)
    if not (np.isfinite(ratios).all() and (ratios >= -SLACK).all()):
        raise InvalidInput("largest ratios must be finite numbers >= 0")
    own = np.maximum(ratios, 0.0) + SLACK
    np.fill_diagonal(own, 0.0)
    after = _after(own, steps, length)
    before = _before(own, start, steps, length)
    apart = distances > 0
    require(bool(apart.any()), "secrets", "at least two at a distance above zero", "none")
    worst, pair, place = 0.0, (0, 0), 0
    for at in range(length):
        whole = own + after[length - 1 - at] + before[at]
        per = np.divide(whole, distances, out=np.zeros_like(whole), where=apart)
        if per.max() > worst:
            one, other = np.unravel_index(int(per.argmax()), per.shape)
            worst, pair, place = float(per.max()), (int(one), int(other)), at
    rest = (length - 1) * float(own.max())
    return JointBound(
        worst,
        float(((own + rest)[apart] / distances[apart]).max()),
        float((own[apart] / distances[apart]).max()),
        length,
        pair,
        place,
    )


def largest_ratios(log_law: Floats) -> Floats:
    """M(i,j) = max over releases y of ln K(y|i) − ln K(y|j), from a whole table of a law.

    >>> largest_ratios(np.log([[0.5, 0.5], [0.25, 0.75]])).round(3)
    array([[0.   , 0.693],
           [0.405, 0.   ]])
    """
    law = np.asarray(log_law, dtype=np.float64)
    return np.array([(row - law).max(axis=1) for row in law])


def _after(own: Floats, steps: Floats, length: int) -> list[Floats]:
    """Bounds on what 0, 1, … further releases say about a secret before them."""
    found = [np.zeros_like(own)]
    while len(found) < length:
        found.append(_stepped(np.ascontiguousarray(steps), own + found[-1]))
    return found


def _before(own: Floats, start: Floats, steps: Floats, length: int) -> list[Floats]:
    """The same of 0, 1, … releases before, with the steps of the reversed chain."""
    found, marginal = [np.zeros_like(own)], np.asarray(start, dtype=np.float64)
    while len(found) < length:
        joint = marginal[:, None] * steps
        marginal = joint.sum(axis=0)
        if not (marginal > 0).all():
            raise InvalidInput("every secret must be possible at every place; smooth the chain")
        found.append(_stepped(np.ascontiguousarray(joint.T / marginal[:, None]), own + found[-1]))
    return found


def _stepped(steps: Floats, ratios: Floats) -> Floats:
    """From bounds between entries of w to bounds between its means over each row of steps."""
    from voile.leakage._joint_kernel import stepped

    largest = float(ratios.max())
    if largest > _LARGEST:
        answer = np.full_like(ratios, largest)
    else:
        answer = np.minimum(stepped(steps, np.exp(ratios)) + SLACK, largest)
    np.fill_diagonal(answer, 0.0)
    return answer


def reached(
    bound: JointBound, law: Floats, start: Floats, steps: Floats, distances: Floats
) -> float:
    """The leakage of one release, found by climbing: what no bound may be below.

    At the bound's pair and place, each of the other releases in turn is made the one that tells the
    two secrets apart most, given the rest, until nothing changes. `law` has a column for each
    release to be tried; all of them, or some.
    """
    one, other = bound.pair
    columns = law / law.max(axis=0)
    after = [steps] * (bound.length - 1 - bound.place)
    before: list[Floats] = []
    marginal = np.asarray(start, dtype=np.float64)
    for _ in range(bound.place):
        joint = marginal[:, None] * steps
        marginal = joint.sum(axis=0)
        before.insert(0, joint.T / marginal[:, None])
    own = float(np.log(columns[one] / columns[other]).max())
    for chain in (after, before):
        own += _climbed(chain, columns, one, other)
    return own / float(distances[one, other])


def _climbed(chain: list[Floats], columns: Floats, one: int, other: int) -> float:
    """The largest log-ratio found of what releases along a chain say of its two starts."""
    said = [int((columns[one] / columns[other]).argmax())] * len(chain)
    best = 0.0
    for _ in range(10):
        messages = [np.ones(len(columns))]
        for steps, y in zip(reversed(chain), reversed(said), strict=True):
            messages.insert(0, steps @ (columns[:, y] * messages[0]))
        reach = [np.eye(len(columns))[k] for k in (one, other)]
        ratio = best
        for at, steps in enumerate(chain):
            reach = [row @ steps for row in reach]
            top, bottom = ((row * messages[at + 1]) @ columns for row in reach)
            said[at] = int((top / bottom).argmax())
            ratio = float(np.log(top[said[at]] / bottom[said[at]]))
            reach = [row * columns[:, said[at]] for row in reach]
        if ratio <= best + 1e-9:
            break
        best = ratio
    return best
