"""The demo's closing page: the report of each step, and a table of them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from voile.audit.finding import Verdict
from voile.demo.narration import HEADINGS
from voile.demo.steps import Step
from voile.report.model import Provenance, Report, Table, combined
from voile.report.words import counted


def demo_report(steps: Sequence[Step], *, provenance: Provenance) -> Report:
    """One report of all steps. Their claims differ, so there is no verdict on all of them."""
    parts = [step.report for step in steps]
    found = combined("What voile does", parts, answer=_answer(steps), provenance=provenance)
    rooms = dict.fromkeys(step.room for step in steps)
    overview = tuple(_overview(room, [s for s in steps if s.room == room]) for room in rooms)
    return replace(found, verdict=None, because="", tables=overview)


def _answer(steps: Sequence[Step]) -> str:
    made = sum(step.result.releases for step in steps)
    refuted = [f"“{s.title}”" for s in steps if s.report.verdict is Verdict.VIOLATED]
    told = "No claim was refuted."
    if refuted:
        told = f"A claim was refuted in {' and '.join(refuted)}, which says why."
    return (
        f"{counted(len(steps), 'step')} on made-up people, places and records, "
        f"{counted(made, 'release')} among them. {told} How much still shows is measured below, "
        "step by step."
    )


def _overview(room: str, steps: Sequence[Step]) -> Table:
    rows = tuple((s.title, s.command or s.note, s.report.verdict or "–") for s in steps)
    return Table(HEADINGS[room], ("step", "command", "claim"), rows)
