"""The whole road on made-up data: protect, audit, adapt, design; text, places, labels."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated

from voile.core.randomness import seeded_rng
from voile.demo.narration import Narrator
from voile.demo.steps import Event, Skipped, Step, Steps, missing
from voile.errors import CannotWrite, InvalidInput
from voile.options import Option, current_call, use_case
from voile.report.model import Report
from voile.report.provenance import provenance_of
from voile.report.result import Result

ROOMS = ("town", "text", "places", "labels")
SEEDED = "seeded: not for release"


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
        tuple[str, ...], Option("Only some of town, text, places, labels.", shown=True)
    ] = ROOMS,
    seed: Annotated[
        int | None, Option("Repeatable draws, for experiments: not for release.", "Running")
    ] = None,
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
    narrator = Narrator()
    for name in room:
        for event in _entered(name, target, seed):
            if isinstance(event, Step):
                steps.append(event)
            elif isinstance(event, Skipped):
                skipped.append(event)
            narrator.tell(event)
    reason = missing("report")
    page = None
    if reason:
        skipped.append(Skipped("report", reason))
        narrator.tell(skipped[-1])
    elif steps:
        page = str(_write_page(steps, target))
    drawn = "secure" if seed is None else SEEDED
    seconds = time.monotonic() - begun
    result = Demo(str(target), page, drawn, seconds, tuple(steps), tuple(skipped))
    _write_summary(result, target)
    return result


def _write_page(steps: Sequence[Step], folder: Path) -> Path:
    from voile.demo.report import demo_report
    from voile.report import write_report

    provenance, _ = provenance_of(current_call(), releases=True)
    return write_report(demo_report(steps, provenance=provenance), folder / "report.html")


def _entered(room: str, folder: Path, seed: int | None) -> Iterator[Event]:
    """The events of one room."""
    reason = missing(room)
    if reason:
        yield Skipped(room, reason)
        return
    steps: Steps = getattr(import_module(f"voile.demo.{room}"), f"{room}_steps")
    yield from steps(folder, seed)


def _write_summary(result: Demo, folder: Path) -> None:
    path = folder / "summary.json"
    text = json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as problem:
        raise CannotWrite(f"cannot write {path}: {problem.strerror or problem}") from problem
