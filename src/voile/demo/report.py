"""The demo's closing report: a part for each room, built from the figures that were printed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from voile.audit.finding import Verdict
from voile.core.rounding import exp_upwards, odds_at_most
from voile.demo.steps import Found
from voile.labels.charts import label_leakage_chart
from voile.report import Provenance, Report, Table, combined
from voile.report.charts_common import bar_chart, frontier_chart
from voile.report.words import sentence

Facts = Mapping[str, Any]
AGAIN = "The same person reported again: each report spends ε anew."


def demo_report(
    found: Sequence[Found], *, folder: Path, seed: int | None, seconds: float
) -> Report:
    """One report of what the rooms found; it reads no record, only figures and the design."""
    parts = []
    for room, build in _BUILDERS.items():
        here = [f for f in found if f.plan.room == room]
        if here:
            part = build([f.facts for f in here], folder, _made(here, seed))
            parts.append(replace(part, tables=(_steps(here), *part.tables)))
    broken = sum(part.verdict == Verdict.VIOLATED for part in parts)
    told = f"{broken} of its promises" if broken else "none of its promises"
    answer = (
        f"On made-up people, places and records, voile released data in {len(parts)} ways and "
        f"then attacked them: {told} was found broken. How much still shows is measured below."
    )
    made = _provenance("voile demo", seed, seconds)
    return combined("What voile does", parts, answer=answer, provenance=made)


def _made(steps: Sequence[Found], seed: int | None) -> Provenance:
    command = f"voile demo --room {steps[0].plan.room}"
    return _provenance(command, seed, sum(step.seconds for step in steps))


def _steps(steps: Sequence[Found]) -> Table:
    rows = tuple((step.plan.title, step.plan.command or step.plan.note) for step in steps)
    return Table("The steps, and the command for each", ("step", "command"), rows)


def _provenance(command: str, seed: int | None, seconds: float) -> Provenance:
    from voile.version import __version__

    command += "" if seed is None else f" --seed {seed}"

    secure = "secure: a cryptographic generator, keyed by the operating system"
    return Provenance(
        version=__version__,
        command=command,
        randomness=secure if seed is None else f"seeded with {seed}: not for release",
        when=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        seconds=seconds,
    )


def _town(facts: Sequence[Facts], folder: Path, made: Provenance) -> Report:
    rows = facts[0]["mechanisms"]
    chosen = str(facts[0]["chosen"])
    errors = sorted(((str(r["mechanism"]), float(r["mean_error_km"])) for r in rows),
                    key=lambda row: row[1])  # fmt: skip
    broken = [row for row in rows if row["verdict"] != "holds"]
    return Report(
        title="A town: one promise, eight prices",
        answer=f"Eight mechanisms keep ε = 2 per km in a small town; the best is off by "
        f"{errors[0][1]:.2f} km on average, the worst by {errors[-1][1]:.2f} km.",
        verdict=Verdict.VIOLATED if broken else Verdict.HOLDS,
        because="Each certificate was computed over all pairs and outputs, from the integers that "
        "are drawn.",
        guarantee=("Two places 1 km apart: whatever is released, the odds between them change by "
                   "at most e^2 = 7.39×.",),
        not_protected=(AGAIN,),
        provenance=made,
        tables=(
            Table(
                "Eight mechanisms",
                ("mechanism", "claimed ε/km", "certified ε/km", "mean error (km)", "claim"),
                tuple(tuple(row.values()) for row in rows),
            ),
        ),
        draw=lambda: (
            bar_chart(
                errors, name="town", title="The same promise, the distance it costs",
                alt=f"Mean error in km at the same ε; {chosen}, highlighted, is the smallest.",
                axis="mean error (km)", columns=("mechanism", "mean error (km)"), strong=chosen,
            ),
        ),
        terms=("epsilon", "odds", "certified", "mechanism"),
    )  # fmt: skip


def _text(facts: Sequence[Facts], folder: Path, made: Provenance) -> Report:
    protected, useful, _, audit, apart, tuned, again = facts
    before, after = audit["reading"], again["reading"]
    names_before = max(before["names_alone"], before["names_whole"])
    names_after = max(after["names_alone"], after["names_whole"])
    epsilon = float(protected["epsilon"])
    rounds, chosen = tuned["rounds"], tuned["chosen"]
    tried = Table(
        "Rounds of the adaptation",
        ("strength of names", "strength near names", "names read", "utility loss"),
        tuple((*r["strengths"], r["violation"], r["utility_loss"]) for r in rounds),
    )
    read = [
        ("all words: blind guess", before["blind"]),
        ("all words: each by itself", before["alone"]),
        ("all words: whole messages", before["whole"]),
        ("names: same ε for all", names_before),
        ("names: after adapting", names_after),
    ]
    use = [
        ("topic, from originals", useful["topic_original"]),
        ("topic, from the release", useful["topic"]),
        ("topic, after adapting", again["topic"]),
        ("topic, by guessing", 0.25),
    ]
    return Report(
        title="Text: support messages",
        answer=f"Of names in 400 messages a reader got {100 * names_before:.0f} % back, and "
        f"{100 * names_after:.0f} % after adapting; {100 * again['topic']:.0f} % of other messages "
        "were still sorted right by topic.",
        verdict=Verdict.OPEN,
        because="The bound for one word is proved. What a reader of whole messages gets was "
        "measured with one reader; another may get more.",
        guarantee=(
            f"Whatever is released for a word, the odds between two words 1 unit apart change by "
            f"at most e^{epsilon:g} = {odds_at_most(exp_upwards(epsilon))} ({protected['basis']}).",
            f"{int(protected['words']):,} words were drawn anew over 50,000; "
            f"{100 * protected['changed']:.0f} % of them changed.",
        ),
        not_protected=(
            *(sentence(item) for item in protected["outside"]),
            "A whole message: its words add up, and context tells what one word does not.",
        ),
        provenance=made,
        notes=(
            f"Which of two messages a release comes from: {apart['attack']} shows an empirical ε "
            f"of at least {apart['lower']:.2f} for one text (ceiling {apart['ceiling']:.2f}).",
            "The reader knows the mechanism and has learned from other messages which word follows "
            "which; it is exact for that knowledge and was not trained.",
        ),
        draw=lambda: (
            bar_chart(
                read, name="read", title="How much a reader gets back",
                alt=f"Shares of words that were named: {_listed(read)}.",
                axis="share of words named", columns=("who reads what", "share"), shares=True,
                strong="names: after adapting",
            ),
            frontier_chart(
                tried, name="adapting", title="Names read against meaning lost, round by round",
                alt=f"{len(rounds)} rounds; the ringed one was chosen: names read "
                f"{100 * chosen['violation']:.1f} %, utility loss {chosen['utility_loss']:.3f}.",
                x="utility loss", y="names read", group=None,
                chosen=(chosen["utility_loss"], chosen["violation"]),
                levels=[(float(tuned["target"]), "one name in ten")],
                axes=("utility loss", "share of names read"),
            ),
            bar_chart(
                use, name="use", title="What the release is still good for",
                alt=f"Accuracy of a classifier on other messages: {_listed(use)}.",
                axis="accuracy", columns=("trained on", "accuracy"), shares=True,
                strong="topic, after adapting",
            ),
        ),
        terms=("epsilon", "odds", "proved", "attacker", "strength", "utility loss",
               "empirical epsilon", "ceiling"),
    )  # fmt: skip


def _places(facts: Sequence[Facts], folder: Path, made: Provenance) -> Report:
    from voile.places.design_report import design_report
    from voile.places.loading import load_design

    design = load_design(folder / "city.voile")
    base = replace(design_report(design), provenance=made)
    attack, files = facts[2]["attack"], facts[2]["files"]
    errors = [
        ("before any release", attack["blind"]),
        ("after one release", files["bayes_error"]),
        ("reading whole traces", files["markov_error"]),
    ]
    guesses = bar_chart(
        errors, name="guesses", title="How far off the best guess of a place is",
        alt=f"Mean error of the attacker's best guess in km: {_listed(errors, shares=False)}.",
        axis="km off", columns=("attacker", "km off"),
    )  # fmt: skip
    return replace(
        base,
        title="Places: pick-ups of a fleet",
        answer=f"Pick-ups can be reported {files['mean_displacement']:.1f} km off on average at "
        f"ε = {design.guarantee.epsilon:g} per km, and the best guess of the true place is "
        f"{files['bayes_error']:.1f} km off.",
        draw=lambda: (guesses, *base.charts),
    )


def _labels(facts: Sequence[Facts], folder: Path, made: Provenance) -> Report:
    audit, _, protected, compared = facts
    at = audit["audit"].epsilons
    points = compared["compared"].points
    table = Table(
        "Use against leakage",
        ("mechanism", "ε", "label guessed", "AUC"),
        tuple((p.mechanism, p.epsilon, p.leakage, p.auc) for p in points),
    )
    low = at[0]
    epsilon = float(protected["epsilon"])
    kept = protected["basis"] == "statistical" and protected["certified"] <= epsilon
    return Report(
        title="Labels: a table of patients",
        answer=f"Noise with ε = {low.epsilon:g} on a diagnosis promises at most "
        f"{100 * low.expected:.0f} % right guesses; the other columns make it "
        f"{100 * low.total.value:.0f} %, which protecting both together caps.",
        verdict=Verdict.HOLDS if kept else Verdict.OPEN,
        because=f"What was released keeps ε = {epsilon:g} for label and features together, "
        f"{protected['ground']}. Noise on the label alone would not: as a "
        f"bound on the whole release, ε = {low.epsilon:g} is {low.verdict}, at least "
        f"{low.effective_epsilon_at_least:.2f} being shown.",
        guarantee=(
            f"Released here: label and features together at ε = {epsilon:g}. Any two labels: "
            f"whatever is released, the odds between them change by at most e^{epsilon:g} = "
            f"{odds_at_most(exp_upwards(epsilon))}.",
        ),
        not_protected=tuple(sentence(item) for item in protected["outside"]),
        provenance=made,
        draw=lambda: (
            label_leakage_chart(at),
            frontier_chart(
                table, name="labels-frontier", title="A model's use against an attacker's success",
                alt="AUC of a model trained on the release against the share of labels guessed; "
                "a line for each way to protect, ε written at each point.",
                x="label guessed", y="AUC", group="mechanism", beside="ε",
            ),
        ),
        terms=("epsilon", "label DP", "expected leakage", "unexpected leakage",
               "conditional epsilon", "AUC", "statistical"),
    )  # fmt: skip


def _listed(rows: Sequence[tuple[str, float]], *, shares: bool = True) -> str:
    return "; ".join(
        f"{what} {100 * value:.0f} %" if shares else f"{what} {value:.1f}" for what, value in rows
    )


_BUILDERS: Mapping[str, Callable[[Sequence[Facts], Path, Provenance], Report]] = {
    "town": _town,
    "text": _text,
    "places": _places,
    "labels": _labels,
}
