"""Probabilistically bounded posterior leakage: how often an attacker's odds move too far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from voile.attackers.attack import SequenceAttack, hidden
from voile.attackers.learning import Learned
from voile.audit.borne_out import Borne
from voile.audit.finding import Finding
from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require
from voile.leakage.bounds import (
    chernoff_interval,
    groups_needed,
    hoeffding_log10_failure,
)
from voile.leakage.posterior import PosteriorLeakage, belief_shift, posterior_leakage
from voile.progress import tell

BATCH = 32


@dataclass(frozen=True)
class PosteriorAudit:
    """One finding for each epsilon, and the leakage they rest on.

    `hoeffding_log10` counts triples as if they were independent, as the paper does; the findings
    themselves rest on groups, which are.
    """

    findings: tuple[Finding, ...]
    leakage: PosteriorLeakage
    hoeffding_log10: tuple[float, ...]
    groups: int
    """Independent ones: over so many the findings take their means."""
    groups_to_certify: tuple[int | None, ...]
    learned: Learned | None = None
    is_evidence: bool = True
    """Whether the attacker is exact, or was shown to have learned from the releases."""
    borne: Borne | None = None
    """What held-out secrets bear out of the claims of an attacker that was trained."""

    @property
    def shares(self) -> tuple[float, ...]:
        """Over each epsilon the share that the findings bracket, a mean over groups.

        Of triples, or of the cases of an attacker that was trained (`borne_out`).
        """
        return tuple(float(share) for share in _counted(self.leakage, self.borne).mean(axis=0))

    def groups_to_show(self, k: int) -> int | None:
        """How many groups like these would show a violation at the k-th epsilon; None if none."""
        if self.borne is None:
            return None
        found = self.findings[k]
        return self.borne.groups_to_show(
            k, found.claim, failure_probability=found.failure_probability / 2
        )


def posterior(
    attack: SequenceAttack,
    sequences: Sequence[Indices],
    distances: Floats,
    *,
    epsilons: Sequence[float],
    delta: float,
    failure_probability: float = 0.01,
    sensitive: Sequence[Indices] | None = None,
    counted: Sequence[Indices] | None = None,
    log_prior: Floats | None = None,
    owners: Indices | None = None,
) -> PosteriorAudit:
    """Whether Pr[leakage > ε] ≤ δ over random pairs of candidates and releases, for an attacker.

    mPL paper, Definition 4 (PBmPL). Each sequence is one group and one independent draw, or all
    sequences of one of the `owners` are, whose share is the mean of theirs; the interval on the
    share is Hoeffding's over groups, its failure probability divided over the epsilons. `sensitive`
    picks the positions that hold secrets (default: all); the prior is what the same attacker
    believes with those positions hidden, unless `log_prior` states one. With `counted` only some of
    them are measured. The verdict is about *this attacker*: a stronger one
    may do more, so it is never "holds". Its odds are taken for the true ones, as those of an exact
    attacker are; those of one that was trained must be borne out, see `verdicts`.

    >>> import numpy as np
    >>> from voile.attackers.bayes import joint_bayes
    >>> attack = joint_bayes(
    ...     np.log([[0.72, 0.28], [0.28, 0.72]]), np.array([[0.01, 0.49], [0.49, 0.01]])
    ... )
    >>> seen = [np.array([0, 1])] * 30
    >>> audit = posterior(attack, seen, 1 - np.eye(2), epsilons=[1.0], delta=0.1)
    >>> audit.findings[0].verdict, round(audit.leakage.supremum, 5)
    (<Verdict.VIOLATED: 'violated'>, 1.84568)
    """
    require(0 < delta < 1, "delta", "in (0, 1)", delta)
    require(len(sequences) > 0, "sequences", "at least one", "none")
    if sensitive is not None and len(sensitive) != len(sequences):
        raise InvalidInput("sensitive must pick positions for each sequence")
    if counted is not None and len(counted) != len(sequences):
        raise InvalidInput("counted must pick positions for each sequence")

    secret = [np.arange(len(s)) for s in sequences] if sensitive is None else list(sensitive)
    chosen = secret if counted is None else list(counted)

    def shifts() -> Iterator[Floats]:
        used = [n for n in range(len(sequences)) if len(chosen[n])]
        for start in range(0, len(used), BATCH):
            batch = used[start : start + BATCH]
            where = [secret[n] for n in batch]
            after = attack.log_posteriors([sequences[n] for n in batch], where)
            if log_prior is None:
                unseen = [hidden(sequences[n], secret[n]) for n in batch]
                before = attack.log_posteriors(unseen, where)
                priors = [table[chosen[n]] for n, table in zip(batch, before, strict=True)]
            else:
                priors = [log_prior[None]] * len(batch)
            for n, table, prior in zip(batch, after, priors, strict=True):
                yield belief_shift(table[chosen[n]], prior)
            tell("measuring documents", done=start + len(batch), total=len(used))

    leakage = posterior_leakage(shifts(), distances, epsilons=epsilons)
    if owners is not None:
        whose = owners[[n for n in range(len(sequences)) if len(chosen[n])]]
        shares = [leakage.shares[whose == owner].mean(axis=0) for owner in np.unique(whose)]
        leakage = replace(leakage, shares=np.array(shares))
    return verdicts(leakage, delta=delta, failure_probability=failure_probability)


def verdicts(
    leakage: PosteriorLeakage,
    *,
    delta: float,
    failure_probability: float = 0.01,
    learned: Learned | None = None,
    borne: Borne | None = None,
) -> PosteriorAudit:
    """The findings that a measured leakage supports at a tolerance delta.

    The leakage counts what an attacker *claims* to have learned. Of one that was trained the lower
    end is what held-out secrets bear out (`borne`), and 0 where the truth does not show that it
    learned anything (`learned`); the upper end is of its claims.
    """
    shares = _counted(leakage, borne)
    groups = len(shares)
    idle = learned is not None and not learned.shown(failure_probability)
    share_of_failure = failure_probability / len(leakage.epsilons)
    findings, logs, needed = [], [], []
    for k, epsilon in enumerate(leakage.epsilons):
        mean = float(shares[:, k].mean())
        lower, upper = chernoff_interval(
            mean=mean, clusters=groups, failure_probability=share_of_failure
        )
        if borne is not None:
            lower = 0.0 if idle else borne.lower(k, failure_probability=share_of_failure / 2)
        overall = leakage.violation_shares[k]
        findings.append(
            Finding(
                question=f"Share of {_UNITS[borne is not None]} with leakage over {epsilon:g}, "
                "a mean over groups:",
                claim=delta,
                lower=lower,
                upper=upper,
                failure_probability=share_of_failure,
                samples=groups,
                unit="triple" if borne is None else "case",
                detail=f"{'observed' if borne is None else 'claimed'} {mean:.4g} over {groups:,} "
                f"groups, {leakage.releases:,} releases, {leakage.triples:,} triples"
                + (f"; the attacker {learned}: nothing is shown" if idle else ""),
            )
        )
        logs.append(hoeffding_log10_failure(samples=leakage.triples, delta=delta, share=overall))
        enough = mean < delta
        needed.append(
            groups_needed(delta=delta, share=mean, failure_probability=share_of_failure)
            if enough
            else None
        )
    return PosteriorAudit(
        tuple(findings),
        leakage,
        tuple(logs),
        groups,
        tuple(needed),
        learned,
        not idle,
        borne,
    )


_UNITS = ("(pair, release) triples", "cases (a secret, another word, what was released)")


def _counted(leakage: PosteriorLeakage, borne: Borne | None) -> Floats:
    """Of each group the share of its triples over each epsilon, or of its cases."""
    return leakage.shares if borne is None else borne.claimed


def supremum(leakage: PosteriorLeakage, *, claim: float, unit: str = "unit") -> Finding:
    """The largest leakage seen, against a claim: violated if it is above, open otherwise."""
    return Finding(
        question="Largest posterior leakage seen:",
        claim=claim,
        lower=float(np.nextafter(leakage.supremum * (1 - 1e-12), 0)),
        samples=leakage.releases,
        unit=unit,
    )
