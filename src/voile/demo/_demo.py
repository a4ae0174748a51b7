"""The whole road on made-up data: protect, audit, adapt, design; text, places, labels."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from voile.core.randomness import seeded_rng
from voile.errors import CannotWrite, InvalidInput
from voile.report.result import plain
from voile.demo.steps import Event, Found, Skipped, Steps, missing

ROOMS = ("town", "text", "places", "labels")
SEEDED = "seeded: not for release"


@dataclass(frozen=True)
class Demo:
    """What was found in every room, what could not be entered, and where it all lies."""

    folder: Path
    found: tuple[Found, ...]
    skipped: tuple[Skipped, ...]
    seed: int | None
    seconds: float
    report: Path | None = None

    def as_dict(self) -> dict[str, Any]:
        """All figures, for another program; no word, place or label of the data."""
        return {
            "folder": str(self.folder),
            "report": None if self.report is None else str(self.report),
            "randomness": "secure" if self.seed is None else SEEDED,
            "seconds": self.seconds,
            "steps": [
                {
                    "room": f.plan.room,
                    "title": f.plan.title,
                    "command": f.plan.command,
                    "note": f.plan.note,
                    "found": list(f.lines),
                    "facts": plain(f.facts),
                    "seconds": f.seconds,
                }
                for f in self.found
            ],
            "skipped": [{"room": s.room, "reason": s.reason} for s in self.skipped],
        }


def demo(
    folder: str | Path = "demo",
    *,
    seed: int | None = None,
    rooms: tuple[str, ...] = ROOMS,
    tell: Callable[[Event], None] = lambda event: None,
) -> Demo:
    """Go through the rooms whose extras are installed, and write everything into `folder`.

    `tell` hears of each plan before it is carried out and of what was found after it. Draws are
    cryptographic unless a seed is given; everything else is repeatable. A room that lacks an
    extra is left out with the line that installs it: the first one needs the base alone.
    """
    target = Path(folder)
    strange = [room for room in rooms if room not in ROOMS]
    if strange:
        raise InvalidInput(f"a room must be {', '.join(ROOMS)}, got {strange[0]!r}")
    if seed is not None:
        seeded_rng(seed)  # refuse a wrong one before anything is done
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise CannotWrite(f"cannot make the folder {target}: {problem.strerror}") from problem
    begun = time.monotonic()
    found: list[Found] = []
    skipped: list[Skipped] = []
    for room in rooms:
        for event in _entered(room, target, seed):
            if isinstance(event, Found):
                found.append(event)
            elif isinstance(event, Skipped):
                skipped.append(event)
            tell(event)
    reason = missing("report")
    report = None
    if reason:
        skipped.append(Skipped("report", reason))
        tell(skipped[-1])
    elif found:
        report = _reported(found, target, seed, time.monotonic() - begun)
    seconds = time.monotonic() - begun
    result = Demo(target, tuple(found), tuple(skipped), seed, seconds, report)
    _write_summary(result)
    return result


def _reported(found: Sequence[Found], folder: Path, seed: int | None, seconds: float) -> Path:
    from voile.report import write_report
    from voile.demo.report import demo_report

    made = demo_report(found, folder=folder, seed=seed, seconds=seconds)
    return write_report(made, folder / "report.html")


def _entered(room: str, folder: Path, seed: int | None) -> Iterator[Event]:
    """The events of one room, with the time each step took."""
    reason = missing(room)
    if reason:
        yield Skipped(room, reason)
        return
    steps: Steps = getattr(import_module(f"voile.demo.{room}"), f"{room}_steps")
    begun = time.monotonic()
    for event in steps(folder, seed):
        if isinstance(event, Found):
            now = time.monotonic()
            yield replace(event, seconds=now - begun)
            begun = now
        else:
            yield event


def _write_summary(result: Demo) -> None:
    path = result.folder / "summary.json"
    text = json.dumps(_plain(result.as_dict()), indent=2, ensure_ascii=False, allow_nan=False)
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as problem:
        raise CannotWrite(f"cannot write {path}: {problem.strerror or problem}") from problem


def _plain(value: Any) -> Any:
    """JSON's own types; null stands for an infinity, which JSON lacks."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, str | int | None):
        return value
    number = float(value)
    return number if math.isfinite(number) else None
