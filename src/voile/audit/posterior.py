"""Probabilistically bounded posterior leakage: how often an attacker's odds move too far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from voile.attackers.attack import SequenceAttack, hidden
from voile.attackers.learning import Learned
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

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of triples over each epsilon, a mean over groups: what the findings bracket."""
        return tuple(float(share) for share in self.leakage.shares.mean(axis=0))


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
    learned: Learned | None = None,
    owners: Indices | None = None,
) -> PosteriorAudit:
    """Whether Pr[leakage > ε] ≤ δ over random pairs of candidates and releases, for an attacker.

    mPL paper, Definition 4 (PBmPL). Each sequence is one group and one independent draw, or all
    sequences of one of the `owners` are, whose share is the mean of theirs; the interval on the
    share is Hoeffding's over groups, its failure probability divided over the epsilons. `sensitive`
    picks the positions that hold secrets (default: all); the prior is what the same attacker
    believes with those positions hidden, unless `log_prior` states one. With `counted` only some of
    them are measured. The verdict is about *this attacker*: a stronger one
    may do more, so it is never "holds". An attacker that was trained comes with what it `learned`,
    see `verdicts`.

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
    return verdicts(leakage, delta=delta, failure_probability=failure_probability, learned=learned)


def verdicts(
    leakage: PosteriorLeakage,
    *,
    delta: float,
    failure_probability: float = 0.01,
    learned: Learned | None = None,
) -> PosteriorAudit:
    """The findings that a measured leakage supports at a tolerance delta.

    The leakage counts what an attacker *claims* to have learned. Where the truth does not bear out
    that it learned anything (`learned` is not shown above zero), its claims are its own error: the
    lower end is then 0, and the finding open.
    """
    groups = len(leakage.shares)
    idle = learned is not None and not learned.shown(failure_probability)
    share_of_failure = failure_probability / len(leakage.epsilons)
    findings, logs, needed = [], [], []
    for k, epsilon in enumerate(leakage.epsilons):
        mean = float(leakage.shares[:, k].mean())
        lower, upper = chernoff_interval(
            mean=mean, clusters=groups, failure_probability=share_of_failure
        )
        overall = leakage.violation_shares[k]
        findings.append(
            Finding(
                question=f"Share of (pair, release) triples with leakage over {epsilon:g}, "
                "a mean over groups:",
                claim=delta,
                lower=0.0 if idle else lower,
                upper=upper,
                failure_probability=share_of_failure,
                samples=groups,
                unit="triple",
                detail=f"observed {mean:.4g} over {groups:,} groups, {leakage.releases:,} "
                f"releases, {leakage.triples:,} triples"
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
    )


def beyond(audit: PosteriorAudit, control: PosteriorAudit) -> PosteriorAudit:
    """The same findings, each lower end less what the attacker's own error may be at most.

    The control is the same kind of attacker where releases carry nothing: its upper ends bound how
    often leakage is claimed that is none. Both intervals hold together if their failure
    probabilities were shared.
    """
    findings = tuple(
        replace(
            found,
            lower=max(0.0, found.lower - own.upper),
            detail=f"{found.detail}; in the control at most {own.upper:.4g}",
        )
        for found, own in zip(audit.findings, control.findings, strict=True)
    )
    return replace(audit, findings=findings)


def supremum(leakage: PosteriorLeakage, *, claim: float, unit: str = "unit") -> Finding:
    """The largest leakage seen, against a claim: violated if it is above, open otherwise."""
    return Finding(
        question="Largest posterior leakage seen:",
        claim=claim,
        lower=float(np.nextafter(leakage.supremum * (1 - 1e-12), 0)),
        samples=leakage.releases,
        unit=unit,
    )
