"""How much of what an attacker claims the truth bears out: a bound on real leakage, no opinion.

An attacker's odds are its own. If they err, leakage counted by them is leakage that is not there,
however well it does on the whole. What is true of odds is told by secrets that it never saw.

**Cases.** A case is a secret X with what was released, o, and another word X' drawn from what the
attacker believed beforehand, q(·|o), which looks at what is in clear alone. It is a violation where
the true odds between the two differ by more than e^(ε·d(X, X')) from q's. The attacker sees the
pair, not which of the two is the secret, and may say «i rather than j» with a weight c(i, j) in
[0, 1]. Let

    W = c(X, X') − e^(ε·d)·c(X', X).

Given o and the pair, X = i and X' = j has probability in proportion to p(i|o)·q(j|o), the other way
round to p(j|o)·q(i|o). The quotient of the two is how far the true odds are from q's. Where that is
at most e^(ε·d), the mean of W is at most 0; where it is more, W is at most 1. So

    P(a case is a violation) ≥ E[W],

whatever the attacker believes of o. Wrong odds make W smaller, never the bound wrong. X' need not
be drawn: the mean over it is summed.

**What q has wrong** counts as leakage in that bound, as it does in the paper's measure, whose prior
is the attacker's too. So the same is asked where the releases are those of other documents, drawn
at random, and carry nothing: what W shows there is q's own error (or what stands in clear and q
made nothing of), and the most that it may be is taken off. Of an error of q that shows only beside
the right releases nothing is known.

**Which weights.** For one j, a loss is Σᵢ q(i)·e^(ε·d)·c(i, j) at most. Pairs are claimed in the
order of how far the odds moved beyond ε·d, until that sum is 1, so that W stays in [−1, 1] and few
documents can show something. (Odds of e^(ε·d) are borne out by so many secrets or more: a claim
about far words at a large ε needs an exact law.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.attackers.attack import Observed, SequenceAttack, hidden
from voile.core.arrays import Floats, Indices
from voile.leakage.bounds import betting_lower
from voile.progress import tell

BATCH = 32
ENTRIES = 2**17
"""Of the table of pairs of a case that an attacker may claim; its likeliest words come first."""
DRAWN = 16
"""Cases of each secret in the sample."""
MOST_TOLD = 10**7
"""More groups than so many are not told as what would show something."""
_FARTHEST = 500.0
_LEAST = 1e-300


@dataclass(frozen=True)
class Borne:
    """Means over groups, a row a group and a column an epsilon.

    `claimed` is the share of cases in which the attacker's odds moved too far, `shown` the mean of
    W, which is at most `claimed` and on average at most the true share. `dealt` is that of W where
    releases are other documents': they carry nothing there, so what is above 0 is the prior's own
    error, or what stands in clear.
    """

    claimed: Floats
    shown: Floats
    dealt: Floats
    sample: Floats
    """How far the attacker's odds moved per unit of distance, in some cases drawn at random."""

    @property
    def out(self) -> tuple[float, ...]:
        """What is borne out at each epsilon, on average: what is shown, less what dealt shows."""
        found = self.shown.mean(axis=0) - np.maximum(self.dealt.mean(axis=0), 0.0)
        return tuple(float(share) for share in np.maximum(found, 0.0))

    def lower(self, k: int, *, failure_probability: float) -> float:
        """The least that the true share may be; `out` is its estimate."""
        return self._lower(k, failure_probability / 2)

    def _lower(self, k: int, each: float) -> float:
        """The same where each of two bounds may fail with this probability."""
        least = betting_lower(self.shown[:, k], low=-1, high=1, failure_probability=each)
        error = -betting_lower(-self.dealt[:, k], low=-1, high=1, failure_probability=each)
        return max(0.0, least - max(0.0, error))

    def groups_to_show(self, k: int, claim: float, *, failure_probability: float) -> int | None:
        """How many groups would show more than is claimed, if they are as these; None if none do.

        What is won in logarithms grows at least in proportion to their number: t times as many show
        with a failure probability of α what these show with one of α^(1/t).
        """
        count, each = len(self.shown), failure_probability / 2

        def enough(groups: int) -> bool:
            return self._lower(k, each ** (count / groups)) > claim

        below, above = count, max(count, MOST_TOLD)
        if enough(count) or not enough(above):
            return count if enough(count) else None
        while above - below > 1:
            middle = math.isqrt(below * above) if above > 2 * below else (below + above) // 2
            below, above = (below, middle) if enough(middle) else (middle, above)
        return above


def borne_out(
    attack: SequenceAttack,
    items: Sequence[Observed],
    dealt: Sequence[Observed],
    distances: Floats,
    *,
    epsilons: Sequence[float],
    counted: Sequence[Indices],
    groups: Indices,
) -> Borne:
    """Cases of documents that the attacker never saw, and of the same with others' releases.

    `dealt` are the same documents with releases that carry nothing (`others_releases`). `counted`
    are the secrets of each document that are looked at; `groups` says whose a document is: a mean
    over the secrets of a group is one independent quantity. Cost: four readings, and for each
    secret and epsilon a table of at most `ENTRIES`.

    >>> from voile.attackers.bayes import joint_bayes
    >>> attack = joint_bayes(np.log([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5]))
    >>> told, other = (Observed(np.array([y]), np.array([0]), np.array([0])) for y in (0, 1))
    >>> found = borne_out(attack, [told, other], [other, other], 1 - np.eye(2), epsilons=[0.5, 3],
    ...                   counted=[np.array([0])] * 2, groups=np.arange(2))
    >>> found.claimed.tolist(), found.shown.round(3).tolist()
    ([[0.5, 0.0], [0.5, 0.0]], [[0.5, 0.0], [-0.824, 0.0]])
    """
    rooms = [epsilon * distances for epsilon in epsilons]
    factors = [np.exp(np.minimum(room, _FARTHEST)) for room in rooms]

    rng = np.random.default_rng(0)  # chooses what is drawn in a picture, and hides nothing
    sample: list[Floats] = []

    def of_groups(read: Sequence[Observed], what: str) -> Floats:
        found = []
        for start in range(0, len(read), BATCH):
            part = read[start : start + BATCH]
            where = [item.sensitive for item in part]
            unseen = [hidden(item.releases, item.sensitive) for item in part]
            after = attack.log_posteriors([item.releases for item in part], where)
            before = attack.log_posteriors(unseen, where)
            for n, item in enumerate(part):
                if read is items:
                    sample.extend(
                        _drawn(after[n][at], before[n][at], int(item.secrets[at]), distances, rng)
                        for at in counted[start + n]
                    )
                cases = [
                    [
                        _case(after[n][at], before[n][at], int(item.secrets[at]), room, factor)
                        for room, factor in zip(rooms, factors, strict=True)
                    ]
                    for at in counted[start + n]
                ]
                found.append(np.mean(cases, axis=0))
            tell(what, done=start + len(part), total=len(read))
        table = np.array(found)
        return np.stack([table[groups == number].mean(axis=0) for number in np.unique(groups)])

    right = of_groups(items, "holding claims against the truth")
    empty = of_groups(dealt, "the same where releases carry nothing")
    return Borne(right[..., 0], right[..., 1], empty[..., 1], np.concatenate(sample))


def _drawn(
    after: Floats, before: Floats, truth: int, distances: Floats, rng: np.random.Generator
) -> Floats:
    """How far the odds of a secret moved against some other words, drawn from the prior."""
    total = np.cumsum(np.exp(before))
    other = np.minimum(np.searchsorted(total, rng.random(DRAWN) * total[-1]), len(total) - 1)
    moved = after - before
    away = distances[truth, other]
    return np.where(away > 0, np.abs(moved[other] - moved[truth]) / np.where(away > 0, away, 1), 0)


def _case(
    after: Floats, before: Floats, truth: int, room: Floats, factor: Floats
) -> tuple[float, float]:
    """Of one secret: the share of cases that are claimed, and the mean of W over the other word."""
    prior, moved = np.exp(before), after - before
    apart = room[truth] > 0
    claimed = float(prior[apart & (np.abs(moved - moved[truth]) > room[truth])].sum())
    size = len(after)
    most = min(size, max(1, ENTRIES // size))
    likely = np.sort(np.argpartition(-after, most - 1)[:most])
    others = np.flatnonzero(apart & (moved[truth] - moved > room[truth]))
    won = 0.0
    if len(others) and (own := np.flatnonzero(likely == truth)).size:
        beyond, losses = _claims(likely, others, moved, prior, room, factor)
        place = int(own[0])
        ahead = beyond > beyond[place]
        ahead[:place] |= beyond[:place] == beyond[place]
        left = 1.0 - np.where(ahead, losses, 0.0).sum(axis=0)
        won = float(
            (prior[others] * np.clip(left / np.maximum(losses[place], _LEAST), 0.0, 1.0)).sum()
        )
    _, against = _claims(likely, np.array([truth]), moved, prior, room, factor)
    return min(1.0, claimed), min(1.0, won) - min(1.0, float(against.sum()))


def _claims(
    first: Indices, second: Indices, moved: Floats, prior: Floats, room: Floats, factor: Floats
) -> tuple[Floats, Floats]:
    """Of pairs, i in `first` rather than j in `second`: how far beyond ε·d, and their losses."""
    pairs = np.ix_(first, second)
    beyond = moved[first][:, None] - moved[second][None, :] - room[pairs]
    claims = (beyond > 0) & (room[pairs] > 0)
    return beyond, np.where(claims, prior[first][:, None] * factor[pairs], 0.0)
