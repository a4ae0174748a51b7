"""The distinguishability audit of one black box: a program, or releases made elsewhere."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voile.attackers.attribution import Attribution
from voile.audit.black_box import line_command
from voile.audit.distinguish import Attributed, Game, attribute, plan, plan_of_pairs
from voile.audit.empirical import shared
from voile.core.randomness import seeded_rng
from voile.errors import require
from voile.jobs import Engine, Processes, spread
from voile.text.kept_releases import digest_of, keep_entry, kept_entries

Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Calibration:
    """What each attack showed, on which game, and how many releases an earlier run had made."""

    game: Game
    attributed: tuple[Attributed, ...]
    kept: int = 0


def calibrate_pairs(
    originals: Sequence[str],
    releases: Sequence[str],
    *,
    attacks: Sequence[Attribution],
    encode: Any = None,
    candidates: int = 2,
    temperature: float = -10_000.0,
    delta: float = 0.0,
    failure_probability: float = 0.01,
    seed: int = 0,
    progress: Say = lambda line: None,
) -> Calibration:
    """Audit releases that exist already, each used in one trial."""
    rng = seeded_rng(seed)
    progress("drawing candidate sets")
    game, chosen = plan_of_pairs(
        originals,
        releases,
        candidates=candidates,
        temperature=temperature,
        encode=encode,
        rng=rng,
    )
    found = _attacked(game, chosen, attacks, delta, failure_probability, rng, progress)
    return Calibration(game, found)


def calibrate_command(
    texts: Sequence[str],
    command: Sequence[str],
    *,
    attacks: Sequence[Attribution],
    encode: Any = None,
    trials: int = 10_000,
    candidates: int = 2,
    temperature: float = -10_000.0,
    delta: float = 0.0,
    failure_probability: float = 0.01,
    timeout: float = 3600.0,
    seed: int = 0,
    copies: int = 1,
    engine: Engine | None = None,
    folder: Path | None = None,
    progress: Say = lambda line: None,
) -> Calibration:
    """Audit a program that reads lines and writes lines; it releases each trial's source anew.

    `copies` of it share the trials, each started on its own run of them. What they write is kept
    in `folder` line by line, and a later call asks for the rest alone: the program is started
    anew then. Copies and starts must draw independently: a program with a fixed seed of its own
    may have one of each.
    """
    require(copies >= 1, "copies", ">= 1", copies)
    rng = seeded_rng(seed)
    progress("drawing candidate sets")
    game = plan(
        texts,
        trials=trials,
        candidates=candidates,
        temperature=temperature,
        encode=encode,
        rng=rng,
    )
    size = -(-len(game.sources) // copies)
    starts = range(0, len(game.sources), size)
    runs = [(number, game.sources[i : i + size]) for number, i in enumerate(starts)]
    here = copies == 1 and engine in (None, Processes(1))
    program = _Program(tuple(command), timeout, folder, progress if here else None)
    made = spread(_rewritten, runs, common=program, engine=engine)
    releases = [release for run, _ in made for release in run]
    found = _attacked(game, releases, attacks, delta, failure_probability, rng, progress)
    return Calibration(game, found, sum(kept for _, kept in made))


@dataclass(frozen=True)
class _Program:
    """What all runs share; it travels to a process or node."""

    command: tuple[str, ...]
    timeout: float
    folder: Path | None
    progress: Say | None


def _rewritten(program: _Program, run: tuple[int, Sequence[str]]) -> tuple[list[str], int]:
    """The releases of one run, and how many of them were found in the folder."""
    number, texts = run
    path = None
    if program.folder:
        identity = [*program.command, *map(_content, program.command), str(number)]
        path = program.folder / f"{digest_of(*identity, *texts)[:24]}.jsonl"
    releases = [str(entry) for entry in kept_entries(path)][: len(texts)]
    kept = len(releases)
    rest = line_command(program.command, timeout=program.timeout).stream(texts[kept:])
    for release in rest:
        keep_entry(path, release)
        releases.append(release)
        if program.progress:
            program.progress(f"{len(releases):,} of {len(texts):,} trials released")
    return releases, kept


def _content(word: str) -> str:
    """What a file named in the command holds: a program that was changed is another program."""
    try:
        with Path(word).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


def _attacked(
    game: Game,
    releases: Sequence[str],
    attacks: Sequence[Attribution],
    delta: float,
    failure_probability: float,
    rng: Any,
    progress: Say,
) -> tuple[Attributed, ...]:
    require(len(attacks) >= 1, "attacks", "at least one", "none")
    each = shared(failure_probability, among=len(attacks))
    found = []
    for attack in attacks:
        progress(f"{attack.name} attack on {len(game):,} releases")
        found.append(
            attribute(game, releases, attack, delta=delta, failure_probability=each, rng=rng)
        )
    return tuple(found)
