"""What an audit of a design found, and its report."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from voile.audit.finding import Finding, Verdict
from voile.core.arrays import Floats
from voile.places.charts import street_lines
from voile.places.design_report import REPEATED, TERMS, certificate_chart, likely_place
from voile.places.designs import PlacesDesign
from voile.places.followed import SHOWS_ROWS, Followed
from voile.places.lengths import length_words
from voile.places.point_charts import before_after_map, walks_map
from voile.report.charts_common import bar_chart, interval_chart
from voile.report.model import Chart, Report, Table, promised, worst_verdict
from voile.report.result import SILENT, Result
from voile.report.words import ONE_ATTACKER, OWN_FIGURES, ground, sentence


@dataclass(frozen=True)
class Guesses:
    """How far (km) the best guess of a place is off on average, and how far releases are."""

    with_prior: float
    without_prior: float
    blind: float
    displacement: float


@dataclass(frozen=True)
class AttackedRows:
    """The same for the very rows of a file and its release; for traces where some were named."""

    rows: int
    not_an_output: int
    mean_displacement: float
    bayes_error: float
    traces: Followed | None = None


@dataclass(frozen=True, repr=False, eq=False)
class Audited(Result):
    """Findings on the claim, the attacks in km, and those on a file's rows where one was given."""

    findings: tuple[Finding, ...]
    attack: Guesses
    files: AttackedRows | None
    design: PlacesDesign = field(metadata=SILENT)
    points: tuple[Floats, Floats] | None = field(default=None, metadata=SILENT)
    """The rows given, before and after, km on the map: for their owner's own page."""

    @property
    def verdict(self) -> Verdict:
        """Violated if anything says so; else what the computation says, not what sampling did."""
        if any(finding.verdict is Verdict.VIOLATED for finding in self.findings):
            return Verdict.VIOLATED
        return worst_verdict([f.verdict for f in self.findings if f.samples == 0])

    def _report(self) -> Report:
        """The certificate, the ratios and the attacks on a design."""
        guarantee, attack = self.design.guarantee, self.attack
        own = () if self.files is None else (OWN_FIGURES,)
        outside = tuple(sentence(item) for item in guarantee.outside)
        return Report(
            title="Audit of a mechanism for places",
            answer=f"ε = {guarantee.epsilon:g} per {guarantee.metric.unit} {_SAYS[self.verdict]}; "
            f"after one report, the best guess of a person's place is "
            f"{length_words(attack.with_prior)} off on average, instead of "
            f"{length_words(attack.blind)} before.",
            verdict=self.verdict,
            because=self._because(),
            guarantee=promised(guarantee),
            not_protected=(*outside, REPEATED, ONE_ATTACKER, *own),
            notes=tuple(self._notes()),
            tables=tuple(self._tables()),
            draw=partial(_charts, self),
            terms=(*TERMS, "attacker", "interval"),
            at_risk=() if self.points is None else (SHOWS_ROWS,),
        )

    def _because(self) -> str:
        broken = [f for f in self.findings if f.verdict is Verdict.VIOLATED]
        if not broken:
            return (
                f"{ground(self.design.guarantee.basis)} Ratios over random and close pairs found "
                "nothing against it."
            )
        return (
            f"{broken[0].question}: at least {broken[0].lower:.6g} per {broken[0].unit}, above "
            f"the claim of {broken[0].claim:g}."
        )

    def _notes(self) -> list[str]:
        files = self.files
        said = [
            f"Without knowing where people tend to be, the best guess is "
            f"{length_words(self.attack.without_prior)} off."
        ]
        if files is None:
            return said
        said.append(
            f"On the {files.rows:,} rows given: displaced {length_words(files.mean_displacement)} "
            f"on average; the Bayes guess is {length_words(files.bayes_error)} off."
        )
        if files.not_an_output:
            said.append(f"{files.not_an_output:,} released rows are not outputs of this mechanism.")
        if files.traces is not None:
            said += files.traces.sentences()
        return said

    def _tables(self) -> list[Table]:
        tested = Table(
            "What was tested",
            ("question", "at least", "at most", "claim", "samples", "verdict"),
            tuple(
                (f.question, f.lower, f.upper, f.claim, f.samples, str(f.verdict))
                for f in self.findings
            ),
        )
        rows: list[tuple[str, str | int]] = [
            ("mean displacement", length_words(self.attack.displacement))
        ]
        if self.files is not None:
            rows += [
                ("rows compared", self.files.rows),
                ("mean displacement of the rows given", length_words(self.files.mean_displacement)),
                ("released rows that are no output of this mechanism", self.files.not_an_output),
            ]
        lie = Table("How far releases lie from the truth", ("what", "value"), tuple(rows))
        traces = None if self.files is None else self.files.traces
        return [tested, lie, *(() if traces is None else traces.tables())]


_SAYS = {
    Verdict.HOLDS: "holds on the whole map",
    Verdict.VIOLATED: "is violated",
    Verdict.OPEN: "is neither proved nor refuted",
}
_SHORT = {
    "Privacy loss on the whole map": "whole map",
    "Largest ratio over random pairs (PPR)": "random pairs (PPR)",
    "Largest ratio over close pairs": "close pairs",
}


def _charts(found: Audited) -> list[Chart]:
    own = []
    if found.points is not None:
        traces = None if found.files is None else found.files.traces
        if traces is not None and traces.walks:
            own.append(walks_map(traces.walks))
        design = found.design
        lines = street_lines(design.places, design.streets, most=6000)
        own.append(before_after_map(*found.points, box=design.box, streets=lines))
    return [
        *own,
        guess_chart(found.attack, found.files),
        _finding_chart(found.findings),
        certificate_chart(found.design),
        likely_place(found.design),
    ]


def guess_chart(attack: Guesses, files: AttackedRows | None) -> Chart:
    """How far off the best guess is, attacker by attacker."""
    guesses = [
        ("before any release", attack.blind),
        ("after one release", attack.with_prior),
        ("… not knowing the prior", attack.without_prior),
    ]
    if files is not None:
        guesses.append(("rows given, one release", files.bayes_error))
    if files is not None and files.traces is not None:
        guesses.append(("rows given, whole traces", files.traces.guess_error_m / 1000))
    return bar_chart(
        guesses,
        name="guesses",
        title="How far off the best guess is",
        alt=(
            f"Expected distance between a person's place and the best guess of it: "
            f"{length_words(attack.blind)} before any release, {length_words(attack.with_prior)} "
            "after one. The attacker knows where people tend to be (the prior), unless it is said "
            "otherwise."
        ),
        axis="km off, on average",
        columns=("attacker", "km off"),
    )


def _finding_chart(findings: tuple[Finding, ...]) -> Chart:
    claim, unit = findings[0].claim, findings[0].unit
    return interval_chart(
        [(_SHORT.get(f.question, f.question), f.lower, f.lower, f.upper) for f in findings],
        name="findings",
        title="What was found, against the claim",
        alt=(
            f"Each row starts at the largest loss that was found and ends at the most that it can "
            f"be; the dashed line is the claim, {claim:g}."
        ),
        axis=f"privacy loss per {unit}",
        marks={"claim": claim},
        columns=("question", "found", "at least", "at most"),
    )
