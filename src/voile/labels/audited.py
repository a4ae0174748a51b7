"""What an audit of labels found, and its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from voile.audit.finding import Verdict
from voile.audit.label_classes import ClassLeakage
from voile.audit.label_counts import LeakageAt
from voile.audit.label_features import FeatureShare
from voile.audit.labels import LabelAudit
from voile.labels.charts import feature_chart, label_leakage_chart
from voile.leakage.bounds import Interval
from voile.report.drawing import percent
from voile.report.model import Report, Table, Value, worst_verdict
from voile.report.result import SILENT, Result
from voile.report.words import ONE_ATTACKER, OWN_FIGURES, TESTED, counted, sentence


@dataclass(frozen=True)
class LeakageAtEpsilon(LeakageAt):
    """The same, and what it says of epsilon as a bound on the whole release.

    The effective epsilons are of the whole release, once as the classifiers see it, once as
    counting proves it.
    """

    effective_epsilon_estimate: float
    effective_epsilon_at_least: float
    verdict: Verdict
    failure_probability: float

    @classmethod
    def of(cls, point: LeakageAt, audit: LabelAudit) -> LeakageAtEpsilon:
        """One epsilon of an audit."""
        finding = audit.finding(point.epsilon)
        return cls(
            **vars(point),
            effective_epsilon_estimate=audit.effective(point.epsilon),
            effective_epsilon_at_least=finding.lower,
            verdict=finding.verdict,
            failure_probability=finding.failure_probability,
        )

    @property
    def proved(self) -> float:
        """Ln of how far the features alone move the odds for some record: counted, at least."""
        return self.effective_epsilon_at_least - self.epsilon

    @property
    def surest(self) -> float:
        """The same for the record of which the classifiers are surest: an estimate."""
        return self.effective_epsilon_estimate - self.epsilon


@dataclass(frozen=True)
class LeakingLine:
    """A record whose label leaks: where it stands in the file, how much, and how surely it is read.

    `leakage` is how much surer of the truth the features make an attacker who has the noisy label,
    `believed` how sure of it somebody is who has the features alone.
    """

    line: int
    leakage: float
    believed: float


@dataclass(frozen=True, repr=False, eq=False)
class AuditedLabels(Result):
    """Figures, features, and what was odd about the file; no value of a record."""

    records: int
    classes: int
    guess: float
    """How often a blind guess is right."""
    classifier: str
    log_loss: Mapping[str, float]
    nats: float
    """What the features say about the label: the mean of ln P(y|x)/P(y) on records not seen."""
    auc: float
    """How well the features rank the records of a class above the others; 0.5 is chance."""
    epsilons: tuple[LeakageAtEpsilon, ...]
    features: tuple[FeatureShare, ...]
    by_class: tuple[ClassLeakage, ...]
    worst_lines: tuple[LeakingLine, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    strict: bool = field(default=False, metadata=SILENT)

    @property
    def verdict(self) -> Verdict:
        """The worst verdict on an epsilon, read as a bound on the whole release."""
        return worst_verdict([point.verdict for point in self.epsilons])

    @property
    def violated(self) -> bool:
        """Whether features were shown to leak beyond epsilon, if `strict` asked for it."""
        return self.strict and self.verdict is Verdict.VIOLATED

    def _records(self) -> Iterator[dict[str, Any]]:
        return map(_in_a_frame, self.epsilons)

    def _report(self) -> Report:
        first = self.epsilons[0]
        return Report(
            title="Audit of a labelled file",
            about=TESTED,
            answer=self._answer(),
            verdict=self.verdict,
            because=self._because(),
            guarantee=(
                "The claim that was tested: noise on the label at ε, read as a bound on what the "
                "whole release (features as they are, and the noisy label) says of the label.",
                "The attacker is a linear classifier and boosted trees, stacked (the better one "
                f"by itself: {self.classifier}), cross-fitted: judged on "
                f"{counted(self.records, 'record')} that it had not seen when it guessed. How it "
                "read each column stands in the table of features; where cells are not all written "
                "alike, their spelling was read too.",
                f"A blind guess is right {percent(self.guess)} of the time, one from the features "
                f"alone {percent(first.features_alone)}; they say {self.nats:.3g} nats about the "
                f"label and rank it with an AUC of {self.auc:.3f}.",
            ),
            not_protected=(
                "What the features say of the label: noise on the label does not touch them.",
                "The order of rows, and what a cell's spelling says beyond its length, ends, "
                "blanks, noughts in front, decimals, capitals and words for what is missing.",
                ONE_ATTACKER,
                OWN_FIGURES,
            ),
            notes=tuple(sentence(text) for text in (*self.notes, *self.warnings)),
            cards=(
                ("records", f"{self.records:,}"),
                ("classes", str(self.classes)),
                ("blind guess", percent(self.guess)),
                ("features alone", percent(first.features_alone)),
            ),
            tables=self._tables(),
            for_owner=self._for_owner(),
            draw=lambda: (
                label_leakage_chart(self.epsilons),
                *((feature_chart(self.features),) if self.features else ()),
            ),
            terms=(
                "epsilon",
                "odds",
                "expected leakage",
                "unexpected leakage",
                "conditional epsilon",
                "label DP",
                "attacker",
                "interval",
            ),
        )

    def _answer(self) -> str:
        told = self._most_unexpected()
        guessed = (
            f"At ε = {told.epsilon:g} the label is guessed {percent(told.total.value)} of the time "
            "by somebody who sees the features"
        )
        if told.unexpected.value > 0 and percent(told.total.value) != percent(told.expected):
            return f"{guessed}, not the {percent(told.expected)} that ε announces."
        return f"{guessed}, no more often than ε announces."

    def _because(self) -> str:
        told = self._most_unexpected()
        if self.verdict is not Verdict.VIOLATED:
            return (
                "Counting on held-out records did not show that the features move the odds beyond "
                "ε. That is not a proof: a better classifier may."
            )
        return (
            "Counting on held-out records shows that the features alone move the odds between "
            f"labels at least e^{told.proved:.2f}-fold for some record (wrong with probability at "
            f"most {told.failure_probability:g}; an estimate for the surest record is "
            f"e^{told.surest:.2f}); read as a bound on the whole release, ε is broken."
        )

    def _most_unexpected(self) -> LeakageAtEpsilon:
        return max(self.epsilons, key=lambda point: point.unexpected.value)

    def _tables(self) -> tuple[Table, ...]:
        guessed = tuple(
            (p.epsilon, p.expected, p.total.value, p.total.lower, p.total.upper)
            for p in self.epsilons
        )
        shares = tuple((s.name, s.read, s.nats, s.auc, s.lost) for s in self.features)
        return (
            Table(
                "How often the label is guessed when its noisy copy and the features are released "
                "(in fact, with a 95 % interval)",
                ("ε", "announced", "in fact", "from", "to"),
                guessed,
                bars="in fact",
            ),
            Table(
                "What the features add to ε, and what that makes of it (effective ε: of the whole "
                "release)",
                _ADDED,
                tuple(_added(point) for point in self.epsilons),
            ),
            Table(
                "Which features carry it (by itself, and what all of them lose without it)",
                ("feature", "read as", "nats", "AUC", "nats lost"),
                shares,
            ),
            Table(
                "How well each class is picked out by the features alone, at few false alarms "
                "(with 95 % intervals)",
                _CLASSES,
                tuple(_class(one) for one in self.by_class),
            ),
        )

    def _for_owner(self) -> tuple[Table, ...]:
        """Where the records stand that leak most; a page that is handed on does not point there."""
        if not self.worst_lines:
            return ()
        rows = tuple((worst.line, worst.leakage, worst.believed) for worst in self.worst_lines)
        caption = f"Records that leak most at ε = {self.epsilons[0].epsilon:g}, by line"
        return (Table(caption, ("line", "leakage", "read off the features"), rows),)


_ADDED = (
    "ε",
    "unexpected",
    "answer adds",
    "of at most",
    "effective ε ≥",
    "estimated",
    "verdict",
)


def _added(point: LeakageAtEpsilon) -> tuple[Value, ...]:
    return (
        point.epsilon,
        point.unexpected.value,
        point.advantage.value,
        point.advantage_bound,
        point.effective_epsilon_at_least,
        point.effective_epsilon_estimate,
        str(point.verdict),
    )


_CLASSES = (
    "class",
    "share",
    "AUC",
    "found at 1 %",
    "at 0.1 %",
    "false alarms in fact",
    "lift at 1 %",
)


def _class(one: ClassLeakage) -> tuple[Value, ...]:
    found = (_within(one.found_1), _within(one.found_01))
    alarms = " / ".join(percent(share.value) for share in (one.alarms_1, one.alarms_01))
    return (one.number, one.share, one.auc, *found, alarms, one.lift)


def _within(share: Interval) -> str:
    low, high = (f"{100 * end:.3g}" for end in (share.lower, share.upper))
    return f"{percent(share.value)} ({low}–{high})"


def _in_a_frame(point: LeakageAtEpsilon) -> dict[str, Value]:
    """Estimates by their values; the interval of the total beside it."""
    row: dict[str, Value] = {
        name: value.value if isinstance(value, Interval) else value
        for name, value in vars(point).items()
    }
    ends: dict[str, Value] = {"total_lower": point.total.lower, "total_upper": point.total.upper}
    return row | ends | {"verdict": str(point.verdict)}
