"""The whole road on made-up data: protect, audit, adapt, design; text, places, labels."""

from __future__ import annotations

import json
import shutil
import textwrap
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from voile.audit.finding import Verdict
from voile.core.randomness import seeded_rng
from voile.demo.rooms import ROOMS, Plan, missing
from voile.errors import CannotWrite, InvalidInput, writing
from voile.jobs.settings import Seed
from voile.options import Option, current_call, use_case
from voile.progress import say, tell
from voile.report.blocks import SIGNS
from voile.report.model import Report, Table, combined
from voile.report.provenance import provenance_of
from voile.report.result import SILENT, Result
from voile.report.words import counted

SEEDED = "seeded: not for release"


@dataclass(frozen=True)
class Step:
    """One step: the command that does it, what its report says first, and the result itself."""

    room: str
    title: str
    command: str
    found: tuple[str, ...]
    result: Result
    seconds: float
    report: Report = field(metadata=SILENT)


@dataclass(frozen=True)
class Skipped:
    """A room that cannot be entered, and what to install."""

    room: str
    reason: str


@dataclass(frozen=True, repr=False, eq=False)
class Demo(Result):
    """What was found in every room, what could not be entered, and where it all lies."""

    folder: str
    report_page: str | None
    randomness: str
    seconds: float
    steps: tuple[Step, ...]
    skipped: tuple[Skipped, ...]

    def _report(self) -> Report:
        """Where everything lies, the last line being the report."""
        return Report(
            title="The demo",
            answer=(
                f"{len(self.steps)} steps in {self.seconds:.0f} s; the commands above work in "
                f"{self.folder}/, where all files are."
            ),
            notes=(
                *((SEEDED,) if self.randomness == SEEDED else ()),
                *((f"Report: {self.report_page}",) if self.report_page else ()),
            ),
        )


@use_case("demo")
def demo(
    *,
    out: Annotated[Path, Option("Folder to write into.", "Output", writes=True)] = Path("demo"),
    room: Annotated[
        tuple[str, ...], Option("Only some of start, text, places, labels.", shown=True)
    ] = tuple(ROOMS),
    seed: Seed = None,
) -> Demo:
    """Go the whole road on made-up data: protect, audit, adapt, design; end with one report.

    Example: `voile demo --out demo`

    Draws are cryptographic unless a seed is given; everything else is repeatable. A room that
    lacks an extra is left out with the line that installs it: the first one needs the base alone.
    """
    target = Path(out)
    strange = [name for name in room if name not in ROOMS]
    if strange:
        raise InvalidInput(f"a room must be {', '.join(ROOMS)}, got {strange[0]!r}")
    if seed is not None:
        seeded_rng(seed)  # refuse a wrong one before anything is done
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise CannotWrite(f"cannot make the folder {target}: {problem.strerror}") from problem
    begun = time.monotonic()
    steps: list[Step] = []
    skipped: list[Skipped] = []
    for name in room:
        say(f"\n{ROOMS[name].heading}")
        reason = missing(name, ROOMS[name].needs)
        if reason:
            skipped.append(_left_out(name, reason))
        else:
            steps += _steps(name, target, seed)
    reason = missing("report", ("altair", "vl_convert"))
    if reason:
        skipped.append(_left_out("report", reason))
    page = None if reason or not steps else str(_write_page(steps, target))
    drawn = "secure" if seed is None else SEEDED
    seconds = time.monotonic() - begun
    result = Demo(str(target), page, drawn, seconds, tuple(steps), tuple(skipped))
    _write_summary(result, target)
    return result


def _left_out(room: str, reason: str) -> Skipped:
    say(f"  left out: {reason}")
    return Skipped(room, reason)


def _steps(room: str, folder: Path, seed: int | None) -> Iterator[Step]:
    """What is done in a room, told as it is done."""
    plans = ROOMS[room].plans(folder, seed)
    plan: Plan | None = next(plans)
    while plan is not None:
        step = _step(room, plan)
        yield step
        try:
            plan = plans.send(step.result)
        except StopIteration:
            plan = None


def _step(room: str, plan: Plan) -> Step:
    """Announce a plan, do it, and say what was found."""
    say(f"▸ {plan.title}")
    say(f"  $ {plan.command}")
    tell(plan.title)
    begun = time.monotonic()
    result = plan.work()
    report = _report_of(result, plan)
    verdict = () if report.verdict is None else (SIGNS[report.verdict],)
    found = (*report.in_clear, " ".join((*verdict, report.answer)))
    for line in found:
        say(_wrapped(line))
    return Step(room, plan.title, plan.command, found, result, time.monotonic() - begun, report)


def _wrapped(line: str) -> str:
    """A sentence in the width of the terminal, set off from the commands."""
    width = min(100, shutil.get_terminal_size((80, 24)).columns)
    indent = "  "
    return textwrap.fill(
        line, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


# ── the page ───────────────────────────────────────────────────────────────────────────────────


def _report_of(result: Result, plan: Plan) -> Report:
    """The result's own report under the step's title.

    The data is made up: the whole command may stand there, and hashes under a key that nobody
    was shown need not.
    """
    found = result.report()
    digests = tuple(digest for digest in found.provenance.digests if not digest.keyed)
    made = replace(found.provenance, command=plan.command, digests=digests)
    return replace(found, title=plan.title, provenance=made)


def demo_report(steps: Sequence[Step]) -> Report:
    """One report of all steps. Their claims differ, so there is no verdict on all of them."""
    provenance = provenance_of(current_call(), releases=True)
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
    rows = tuple((s.title, s.command, s.report.verdict or "–") for s in steps)
    return Table(ROOMS[room].heading, ("step", "command", "claim"), rows)


def _write_page(steps: Sequence[Step], folder: Path) -> Path:
    from voile.report import write_report

    return write_report(demo_report(steps), folder / "report.html")


def _write_summary(result: Demo, folder: Path) -> None:
    path = folder / "summary.json"
    text = json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    with writing(path):
        path.write_text(text + "\n", encoding="utf-8")
