"""What an audit of a design found, and its report."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from voile.audit.finding import Finding, Verdict
from voile.core.arrays import Floats
from voile.places.charts import street_lines
from voile.places.design_report import REPEATED, TERMS, certificate_chart, likely_place
from voile.places.designs import PlacesDesign
from voile.places.point_charts import before_after_map
from voile.places.usefulness import Use
from voile.report.charts_common import bar_chart, interval_chart
from voile.report.drawing import percent
from voile.report.model import Chart, Report, Table, promised, worst_verdict
from voile.report.result import SILENT, Result
from voile.report.words import ONE_ATTACKER, OWN_FIGURES, ground, sentence

SHOWS_ROWS = "This page shows places as they were before the release: do not hand it on."


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
    markov_error: float | None = None
    traces_attacked: int | None = None
    use: Use | None = None


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
            f"after one report, the best guess of a person's place is {attack.with_prior:.2f} km "
            f"off on average, instead of {attack.blind:.2f} km before.",
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
            f"{self.attack.without_prior:.2f} km off."
        ]
        if files is None:
            return said
        said.append(
            f"On the {files.rows:,} rows given: displaced {files.mean_displacement:.2f} km on "
            f"average; the Bayes guess is {files.bayes_error:.2f} km off."
        )
        if files.use is not None:
            said += used(files.use)
        if files.not_an_output:
            said.append(f"{files.not_an_output:,} released rows are not outputs of this mechanism.")
        if files.markov_error is not None:
            said.append(
                f"Reading whole traces (Markov chain, {files.traces_attacked:,} traces attacked): "
                f"{files.markov_error:.2f} km off."
            )
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
        rows: list[tuple[str, float | int]] = [("mean displacement (km)", self.attack.displacement)]
        if self.files is not None:
            rows += [
                ("rows compared", self.files.rows),
                ("mean displacement of the rows given (km)", self.files.mean_displacement),
                ("released rows that are no output of this mechanism", self.files.not_an_output),
            ]
        return [
            tested,
            Table("How far releases lie from the truth", ("what", "value"), tuple(rows)),
        ]


def used(use: Use) -> list[str]:
    """What the rows are still good for, in sentences."""
    said = [
        f"Counts of areas of {use.area_km:g} km: {percent(use.areas_misplaced)} of the rows would "
        "have to change area for them to be right."
    ]
    if use.nearest_kept is not None:
        what = "the nearest public place" if use.nearest == 1 else f"{use.nearest} nearest places"
        said.append(f"Of {what}, {percent(use.nearest_kept)} stay the same.")
    if use.own_loss is not None:
        said.append(f"Your own loss: {use.own_loss:.4g} on average.")
    return said


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
    if files is not None and files.markov_error is not None:
        guesses.append(("rows given, whole traces", files.markov_error))
    return bar_chart(
        guesses,
        name="guesses",
        title="How far off the best guess is",
        alt=(
            f"Expected distance between a person's place and the best guess of it: "
            f"{attack.blind:.3g} km before any release, {attack.with_prior:.3g} km after one. The "
            "attacker knows where people tend to be (the prior), unless it is said otherwise."
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
