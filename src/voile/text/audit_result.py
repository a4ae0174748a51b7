"""What the audit of a released text found, as a typed value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from voile.attackers.corpus import Corpus
from voile.audit.documents import AttackRun, owners_of, strongest
from voile.audit.finding import Verdict
from voile.audit.posterior import PosteriorAudit
from voile.leakage.posterior import Exceedance, exceedance
from voile.report.model import Report
from voile.report.result import SILENT, Result


@dataclass(frozen=True)
class Tested:
    """Whether leakage over epsilon occurs in at most delta of the cases.

    A case is a secret, another word by what was believed beforehand, and what was released. Share
    and interval are both means over documents of the share of a document's cases: `share` and
    `upper` are what the attacker claims, `borne_out` and `lower` what held-out secrets bear out of
    it. It is told by the attacker and split that found most. `control_share` is what the same kind
    of attacker claims where releases carry nothing.
    """

    epsilon: float
    delta: float
    share: float
    borne_out: float
    lower: float
    upper: float
    verdict: Verdict
    control_share: float | None
    hoeffding_log10_failure: float
    groups_to_certify: int | None
    groups_to_show: int | None
    attacker: str
    seed: int
    is_evidence: bool = field(metadata=SILENT)
    """Whether the attacker was shown to have learned from the releases."""
    groups: int = field(metadata=SILENT)
    """Over how many documents or persons the mean was taken."""
    level: float = field(metadata=SILENT)
    """How surely it must be shown: the failure probability of its run."""

    @property
    def told(self) -> str:
        """What the interval says about delta, for this attacker."""
        if self.verdict == Verdict.VIOLATED:
            return "no: violated"
        if self.upper <= self.delta:
            return "yes, for this attacker"
        if not self.is_evidence:
            return "open: not shown to have learned"
        needed = self.groups_to_certify
        return f"open, {needed:,} documents tell" if needed else "open"


@dataclass(frozen=True)
class AttackerAt:
    """An attacker at one epsilon: its shares over the seeds, and how many of them violate."""

    attacker: str
    epsilon: float
    seeds: tuple[int, ...]
    mean_share: float
    deviation: float | None
    highest_share: float
    control_mean_share: float | None
    violated: int
    calibrated: int


@dataclass(frozen=True)
class Trust:
    """How often the attacker is right, how sure it is, and whether it is as sure as right."""

    accuracy: float
    confidence: float
    calibration_error: float
    trustworthy: bool


@dataclass(frozen=True)
class Learned:
    """What the right releases told the attacker of held-out secrets over shuffled ones."""

    gain: float
    p_value: float
    shown: bool
    documents: int


@dataclass(frozen=True, repr=False, eq=False)
class TextAudit(Result):
    """What attackers who read whole documents learned about single words: counts and shares.

    No word of any document is in it, except in `worst`, which is for the owner's eyes: it stays
    out of JSON and pages, and is empty unless it was asked for.
    """

    attacker: str
    sensitive: str
    documents: int
    unaligned: int
    unpaired_words: int
    candidates: int
    sensitive_words: int
    triples: int
    released_words: int
    groups: int
    supremum: float
    findings: tuple[Tested, ...]
    exceedance: tuple[Exceedance, ...]
    reliability: Trust
    learned: Learned | None
    runs: tuple[AttackerAt, ...]
    attacks: tuple[AttackRun, ...] = field(metadata=SILENT)
    counted: str = "documents"
    """Over what the means were taken: documents, different ones where there are copies, persons."""
    made: str | None = None
    """What was made of the draws before they were handed on: restored, remapped."""
    worst: tuple[tuple[float, str, str], ...] = field(default=(), metadata=SILENT)

    @property
    def trained_on(self) -> int:
        """How many documents an attacker was trained on."""
        return int(0.6 * self.documents)

    @property
    def lead(self) -> AttackRun:
        """The strongest run at the first epsilon, from which all but the findings is told."""
        return strongest(self.attacks, 0)

    @property
    def finding(self) -> Tested:
        """The one that the answer tells: violated at the largest epsilon, or else the last."""
        broken = [found for found in self.findings if found.verdict == Verdict.VIOLATED]
        return max(broken, key=lambda found: found.epsilon) if broken else self.findings[-1]

    @property
    def verdict(self) -> Verdict:
        """Violated if any claim is; otherwise open, since sampling never confirms one."""
        return self.finding.verdict

    @property
    def lower(self) -> float:
        """The least that the share of cases over `finding.epsilon` may be."""
        return self.finding.lower

    @property
    def upper(self) -> float:
        """The most that it may be, for this attacker."""
        return self.finding.upper

    def _records(self) -> tuple[Tested, ...]:
        return self.findings

    def _report(self) -> Report:
        from voile.text.audit_report import audit_report

        return audit_report(self)


def text_audit(
    attacks: Sequence[AttackRun],
    texts: Corpus,
    *,
    sensitive: str,
    persons: bool = False,
    made: str | None = None,
    written: Sequence[str] = (),
) -> TextAudit:
    """The answer from all attacks; with the worst pairs if it is given how words are written."""
    lead = strongest(attacks, 0)
    leakage, borne, trust = lead.audit.leakage, lead.audit.borne, lead.reliability
    return TextAudit(
        attacker=", ".join(dict.fromkeys(run.attacker for run in attacks)),
        sensitive=sensitive,
        documents=len(texts.sequences),
        unaligned=texts.unaligned,
        unpaired_words=texts.unpaired,
        candidates=len(texts.candidates),
        sensitive_words=sum(len(item.sensitive) for item in texts.sequences),
        triples=leakage.triples,
        released_words=leakage.releases,
        groups=lead.audit.groups,
        supremum=leakage.supremum,
        findings=tuple(_tested(strongest(attacks, k), k) for k in range(len(leakage.epsilons))),
        exceedance=exceedance(leakage.sample if borne is None else borne.sample),
        reliability=Trust(
            trust.accuracy, trust.confidence, trust.calibration_error, trust.trustworthy
        ),
        learned=_gain(lead.audit),
        runs=_by_attacker(attacks),
        attacks=tuple(attacks),
        counted=_counted(texts, persons),
        made=made,
        worst=tuple(
            (value, written[texts.candidates[one]], written[texts.candidates[other]])
            for value, one, other in (leakage.worst_pairs if written else ())
        ),
    )


def _counted(texts: Corpus, persons: bool) -> str:
    if persons:
        return "persons"
    copies = len(texts.sequences) > int(owners_of(texts.sequences).max()) + 1
    return "different documents" if copies else "documents"


def _gain(audit: PosteriorAudit) -> Learned | None:
    """What held-out secrets say of the attacker; None if it is exact."""
    if audit.learned is None:
        return None
    learned = audit.learned
    return Learned(learned.gain, learned.p_value, audit.is_evidence, learned.documents)


def _tested(run: AttackRun, k: int) -> Tested:
    """What a run found at its k-th epsilon."""
    audit = run.audit
    finding = audit.findings[k]
    return Tested(
        epsilon=audit.leakage.epsilons[k],
        delta=finding.claim,
        share=run.shares[k],
        borne_out=run.shares[k] if audit.borne is None else audit.borne.out[k],
        lower=finding.lower,
        upper=finding.upper,
        verdict=finding.verdict,
        control_share=None if run.control is None else run.control[k],
        hoeffding_log10_failure=audit.hoeffding_log10[k],
        groups_to_certify=audit.groups_to_certify[k],
        groups_to_show=audit.groups_to_show(k),
        attacker=run.attacker,
        seed=run.seed,
        is_evidence=audit.is_evidence,
        groups=audit.groups,
        level=finding.failure_probability * len(audit.findings),
    )


def _by_attacker(attacks: Sequence[AttackRun]) -> tuple[AttackerAt, ...]:
    """Each attacker at each epsilon: means and standard deviations over its seeds."""
    epsilons = attacks[0].audit.leakage.epsilons
    return tuple(
        _at([run for run in attacks if run.attacker == name], k, epsilon)
        for name in dict.fromkeys(run.attacker for run in attacks)
        for k, epsilon in enumerate(epsilons)
    )


def _at(runs: Sequence[AttackRun], k: int, epsilon: float) -> AttackerAt:
    shares = np.array([run.shares[k] for run in runs])
    controls = [run.control[k] for run in runs if run.control is not None]
    return AttackerAt(
        attacker=runs[0].attacker,
        epsilon=epsilon,
        seeds=tuple(run.seed for run in runs),
        mean_share=float(shares.mean()),
        deviation=float(shares.std(ddof=1)) if len(shares) > 1 else None,
        highest_share=float(shares.max()),
        control_mean_share=float(np.mean(controls)) if controls else None,
        violated=sum(run.audit.findings[k].verdict == Verdict.VIOLATED for run in runs),
        calibrated=sum(run.reliability.trustworthy for run in runs),
    )
