"""The distinguishability game against one black box: a program, a function, or its releases."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from voile.attackers.attribution import Attribution
from voile.attackers.attribution_shadow import Release
from voile.audit.black_box import line_command
from voile.audit.distinguishing import Attributed, attacked
from voile.audit.games import Game, never_in_two_ways, plan, plan_of_pairs
from voile.core.randomness import Generator, seeded_rng
from voile.errors import require
from voile.jobs import Engine, spread
from voile.progress import tell
from voile.text.game import Playing
from voile.text.kept_releases import digest_of, keep_entry, kept_entries


@dataclass(frozen=True, eq=False)
class Attacked:
    """What each attack showed, on which game, and how many releases an earlier run had made."""

    game: Game
    attributed: tuple[Attributed, ...]
    kept: int = 0
    alike: bool = False
    """Whether texts were released again, and never in two ways."""


def attack_pairs(
    originals: Sequence[str],
    releases: Sequence[str],
    *,
    attacks: Sequence[Attribution],
    encode: Any = None,
    playing: Playing = Playing(),
    delta: float = 0.0,
) -> Attacked:
    """Audit releases that exist already, each used in one trial."""
    alike = never_in_two_ways(originals, releases)
    rng = seeded_rng(playing.seed)
    tell("drawing candidate sets")
    game, chosen = plan_of_pairs(
        originals,
        releases,
        candidates=playing.candidates,
        temperature=playing.temperature,
        encode=encode,
        equal_length=playing.equal_length,
        rng=rng,
    )
    return Attacked(game, _attacked(game, chosen, attacks, delta, playing, rng), alike=alike)


@dataclass(frozen=True)
class Program:
    """A program that reads lines and writes lines; `copies` of it share the trials.

    What they write is kept in `folder` line by line, and a later call asks for the rest alone: the
    program is started anew then. Copies and starts must draw independently: a program with a fixed
    seed of its own may have one of each.
    """

    command: tuple[str, ...]
    timeout: float = 3600.0
    copies: int = 1
    engine: Engine | None = None
    folder: Path | None = None

    def releases(self, texts: Sequence[str]) -> tuple[list[str], int]:
        """A release of each text, and how many of them were found in the folder."""
        require(self.copies >= 1, "copies", ">= 1", self.copies)
        size = -(-len(texts) // self.copies)
        runs = [(n, texts[i : i + size]) for n, i in enumerate(range(0, len(texts), size))]
        made = spread(_rewritten, runs, common=replace(self, engine=None), engine=self.engine)
        return [release for run, _ in made for release in run], sum(kept for _, kept in made)


Asking = Callable[[Release], Iterable[Attribution]]
"""From a mechanism that may be asked to the attacks that do."""


def attack_rewriter(
    texts: Sequence[str],
    releases_of: Callable[[Sequence[str]], tuple[list[str], int]],
    *,
    attacks: Sequence[Attribution],
    encode: Any = None,
    playing: Playing = Playing(),
    delta: float = 0.0,
    asking: Asking = lambda release: (),
) -> Attacked:
    """Audit whatever gives a release of each text; it releases each trial's source anew.

    `asking` makes the attacks that ask it, again and again, what it makes of every candidate.
    """
    rng = seeded_rng(playing.seed)
    tell("drawing candidate sets")
    game = plan(
        texts,
        trials=playing.trials,
        candidates=playing.candidates,
        temperature=playing.temperature,
        encode=encode,
        equal_length=playing.equal_length,
        rng=rng,
    )
    releases, kept = releases_of(game.sources)
    every = [*attacks, *asking(lambda texts: releases_of(texts)[0])]
    found = _attacked(game, releases, every, delta, playing, rng)
    return Attacked(game, found, kept, never_in_two_ways(game.sources, releases))


def _rewritten(program: Program, run: tuple[int, Sequence[str]]) -> tuple[list[str], int]:
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
        tell("trials released", done=len(releases), total=len(texts))
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
    playing: Playing,
    rng: Generator,
) -> tuple[Attributed, ...]:
    require(len(attacks) >= 1, "attacks", "at least one", "none")
    failure = playing.failure_probability
    found = attacked(game, releases, attacks, delta=delta, failure_probability=failure, rng=rng)
    return tuple(found)
