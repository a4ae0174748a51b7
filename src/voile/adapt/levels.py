"""Level-wise strengths (AmPL): perturb, audit, adapt, and keep the best round."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from voile import progress
from voile.errors import BadFile, CannotWrite, InvalidInput, require
from voile.files import write_private

Evaluate = Callable[[tuple[float, ...]], tuple[float, float]]
"""Strengths of the levels → (violation share, utility loss). Must use common random numbers:
equal strengths give equal answers, and near ones are compared on the same draws."""


@dataclass(frozen=True)
class Round:
    """One evaluation: the strengths tried, what the attacker found, what it cost."""

    strengths: tuple[float, ...]
    violation: float
    utility_loss: float
    loss: float


@dataclass(frozen=True)
class State:
    """Where the search stands; everything that is needed to go on, as plain values."""

    centre: Round
    step: float
    rounds: tuple[Round, ...]

    @property
    def best(self) -> Round:
        """The best round so far, not the last."""
        return min(self.rounds, key=lambda round_: round_.loss)


@dataclass(frozen=True)
class Levels:
    """Minimise λ1·violation + λ2·utility loss over strengths in [lowest, 1], one a level.

    mPL paper, Eq. 14. `free` says which levels may move: all of them is AmPL, the first only is
    AmPL-I; a privacy weight of 0 is AmPL-U. The search is a compass search: each step tries one
    level stronger or weaker by `step`, takes the first that lowers the loss, and halves `step`
    when none does. With common random numbers the loss is a deterministic function of a few
    bounded parameters, for which this converges without gradients (Kolda, Lewis and Torczon,
    2003, Theorem 3.3) at a handful of evaluations a step, each of which trains an attacker.
    """

    start: tuple[float, ...]
    free: tuple[bool, ...]
    privacy_weight: float = 1.0
    utility_weight: float = 1.0
    lowest: float = 0.05
    first_step: float = 0.25
    last_step: float = 0.03

    def __post_init__(self) -> None:
        inside = all(self.lowest <= value <= 1 for value in self.start)
        require(0 < self.lowest < 1, "lowest", "in (0, 1)", self.lowest)
        require(len(self.start) > 0 and inside, "start", f"strengths in [{self.lowest}, 1]",
                self.start)  # fmt: skip
        require(len(self.free) == len(self.start), "free", f"{len(self.start)} flags", self.free)
        weights = (self.privacy_weight, self.utility_weight)
        require(min(weights) >= 0 and max(weights) > 0, "weights", ">= 0, not both 0", weights)

    def init(self, evaluate: Evaluate) -> State:
        """Evaluate the starting strengths."""
        first = self.evaluated(self.start, evaluate)
        return State(first, self.first_step, (first,))

    def step(self, state: State, evaluate: Evaluate) -> State:
        """Poll around the centre: move to the first better neighbour, or halve the step."""
        rounds = list(state.rounds)
        known = {round_.strengths: round_ for round_ in rounds}
        for level, free in enumerate(self.free):
            for direction in (-1, 1) if free else ():
                moved = self._moved(state.centre.strengths, level, direction * state.step)
                if moved == state.centre.strengths:
                    continue
                found = known.get(moved)
                if found is None:
                    found = known[moved] = self.evaluated(moved, evaluate)
                    rounds.append(found)
                if found.loss < state.centre.loss:
                    return State(found, state.step, tuple(rounds))
        return State(state.centre, state.step / 2, tuple(rounds))

    def done(self, state: State, *, most_rounds: int) -> bool:
        """Whether the step has become small or the rounds are used up."""
        return state.step < self.last_step or len(state.rounds) >= most_rounds

    def _moved(self, strengths: tuple[float, ...], level: int, by: float) -> tuple[float, ...]:
        value = min(1.0, max(self.lowest, round(strengths[level] + by, 6)))
        return (*strengths[:level], value, *strengths[level + 1 :])

    def evaluated(self, strengths: tuple[float, ...], evaluate: Evaluate) -> Round:
        """What these strengths leak and cost, and what that is worth."""
        violation, utility_loss = evaluate(strengths)
        if not (math.isfinite(violation) and math.isfinite(utility_loss)):
            raise InvalidInput("evaluate must give finite numbers")
        loss = self.privacy_weight * violation + self.utility_weight * utility_loss
        return Round(strengths, violation, utility_loss, loss)


def adapt(
    levels: Levels,
    evaluate: Evaluate,
    *,
    most_rounds: int = 20,
    trace: str | os.PathLike[str] | None = None,
    about: Mapping[str, Any] | None = None,
) -> State:
    """Run the loop to its end; with `trace`, every step is saved and an old trace is continued.

    `about` says what the evaluations rest on, in values that JSON holds: a trace that rests on
    something else is refused, since its rounds cannot be compared.

    >>> levels = Levels(start=(1.0, 1.0), free=(True, True))
    >>> bowl = lambda s: ((s[0] - 0.4) ** 2, (s[1] - 0.7) ** 2)
    >>> [round(s, 2) for s in adapt(levels, bowl, most_rounds=60).best.strengths]
    [0.41, 0.69]
    """
    facts = dict(about or {})
    state = _read(trace, levels, facts) if trace is not None and Path(trace).exists() else None
    evaluate = _told(evaluate, begun=0 if state is None else len(state.rounds), most=most_rounds)
    if state is None:
        state = levels.init(evaluate)
        _write(trace, levels, facts, state)
    while not levels.done(state, most_rounds=most_rounds):
        state = levels.step(state, evaluate)
        _write(trace, levels, facts, state)
    return state


def _told(evaluate: Evaluate, *, begun: int, most: int) -> Evaluate:
    """The same, and what is told meanwhile says which round it is; a step may end beyond `most`."""
    numbers = count(begun + 1)

    def told(strengths: tuple[float, ...]) -> tuple[float, float]:
        number = next(numbers)
        progress.tell("rounds", done=number - 1, total=max(number, most))
        with progress.about(f"round {number} of {max(number, most)}"):
            return evaluate(strengths)

    return told


def together(
    levels: Levels,
    evaluate: Evaluate,
    rounds: Sequence[Round],
    *,
    delta: float,
    most_rounds: int = 5,
) -> tuple[Round, ...]:
    """All strengths lowered alike, the plainest way to leak less: what adapting has to beat.

    Bisection for the largest common strength whose violation share is at most delta; rounds that
    the search has evaluated are taken over. The first is the search's start.
    """
    known = {round_.strengths: round_ for round_ in rounds}
    found: list[Round] = []

    def at(strength: float) -> Round:
        strengths = (round(strength, 6),) * len(levels.start)
        found.append(known.get(strengths) or levels.evaluated(strengths, evaluate))
        return found[-1]

    low, high = levels.lowest, 1.0
    if at(high).violation <= delta:
        return tuple(found)
    if at(low).violation > delta:
        return tuple(found)
    for _ in range(most_rounds - 2):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle).violation <= delta else (low, middle)
    return tuple(found)


def meets(rounds: Sequence[Round], *, delta: float) -> Round | None:
    """The least utility loss among rounds whose violation share is at most delta, if any."""
    good = [round_ for round_ in rounds if round_.violation <= delta]
    return min(good, key=lambda round_: round_.utility_loss, default=None)


def frontier(rounds: Sequence[Round]) -> tuple[Round, ...]:
    """The rounds that no other round beats in both violation and utility loss."""
    chosen: list[Round] = []
    for candidate in sorted(rounds, key=lambda r: (r.violation, r.utility_loss)):
        if not chosen or candidate.utility_loss < chosen[-1].utility_loss:
            chosen.append(candidate)
    return tuple(chosen)


def _write(
    trace: str | os.PathLike[str] | None, levels: Levels, about: dict[str, Any], state: State
) -> None:
    if trace is None:
        return
    target = Path(trace)
    part = target.with_name(f".{target.name}.part")
    content = {"levels": asdict(levels), "about": about, "state": asdict(state)}
    try:
        write_private(part, json.dumps(content, indent=1) + "\n")
        os.replace(part, target)
    except OSError as problem:
        raise CannotWrite(f"cannot write {target}: {problem.strerror or problem}") from problem


def _read(trace: str | os.PathLike[str], levels: Levels, about: dict[str, Any]) -> State:
    try:
        content = json.loads(Path(trace).read_text(encoding="utf-8"))
        wanted = json.loads(json.dumps([asdict(levels), about]))
        same = [content["levels"], content.get("about", {})] == wanted
        rounds = tuple(_round_of(item) for item in content["state"]["rounds"])
        state = State(_round_of(content["state"]["centre"]), content["state"]["step"], rounds)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise BadFile(f"{trace} must be a trace of an adaptation; it is damaged") from problem
    if not same:
        raise BadFile(
            f"{trace} belongs to an adaptation with other settings or data; name another file"
        )
    return state


def _round_of(item: dict[str, object]) -> Round:
    strengths = item["strengths"]
    if not isinstance(strengths, list):
        raise TypeError
    numbers = (float(str(item[key])) for key in ("violation", "utility_loss", "loss"))
    return Round(tuple(float(value) for value in strengths), *numbers)
