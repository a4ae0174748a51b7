"""The distinguishability audit of one black box: a program, or releases made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from voile.attackers.attribution import Attribution
from voile.audit.black_box import line_command
from voile.audit.distinguish import Attributed, Game, attribute, plan, plan_of_pairs
from voile.audit.empirical import shared
from voile.core.randomness import seeded_rng
from voile.errors import require
from voile.jobs import Engine, spread


@dataclass(frozen=True, eq=False)
class Calibration:
    """What each attack showed, on which game."""

    game: Game
    attributed: tuple[Attributed, ...]


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
) -> Calibration:
    """Audit releases that exist already, each used in one trial."""
    rng = seeded_rng(seed)
    game, chosen = plan_of_pairs(
        originals,
        releases,
        candidates=candidates,
        temperature=temperature,
        encode=encode,
        rng=rng,
    )
    return _attacked(game, chosen, attacks, delta, failure_probability, rng)


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
) -> Calibration:
    """Audit a program that reads lines and writes lines; it releases each trial's source anew.

    `copies` of it share the trials, each started on its own run of them. They must draw
    independently: a program with a fixed seed of its own may have one copy only.
    """
    require(copies >= 1, "copies", ">= 1", copies)
    rng = seeded_rng(seed)
    game = plan(
        texts,
        trials=trials,
        candidates=candidates,
        temperature=temperature,
        encode=encode,
        rng=rng,
    )
    size = -(-len(game.sources) // copies)
    runs = [game.sources[start : start + size] for start in range(0, len(game.sources), size)]
    common = (tuple(command), timeout)
    made = spread(_rewritten, runs, common=common, engine=engine)
    releases = [release for run in made for release in run]
    return _attacked(game, releases, attacks, delta, failure_probability, rng)


def _rewritten(common: tuple[tuple[str, ...], float], texts: Sequence[str]) -> list[str]:
    command, timeout = common
    return list(line_command(command, timeout=timeout)(texts))


def _attacked(
    game: Game,
    releases: Sequence[str],
    attacks: Sequence[Attribution],
    delta: float,
    failure_probability: float,
    rng: Any,
) -> Calibration:
    require(len(attacks) >= 1, "attacks", "at least one", "none")
    each = shared(failure_probability, among=len(attacks))
    found = [
        attribute(game, releases, attack, delta=delta, failure_probability=each, rng=rng)
        for attack in attacks
    ]
    return Calibration(game, tuple(found))
