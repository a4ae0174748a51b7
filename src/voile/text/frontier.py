"""The result of a comparison, and the answer to "which one should I take?"."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

SHAPE = "shape"
"""The attack on what rewriters of words leave in clear."""


@dataclass(frozen=True)
class Shown:
    """What one attack showed: ε_emp with its interval, and the most it could have shown."""

    attack: str
    lower: float
    middle: float
    upper: float
    ceiling: float
    success: float
    note: str = ""
    is_evidence: bool = True
    """False for a judge that did not compare: what it failed to show says nothing."""


@dataclass(frozen=True)
class Cell:
    """One rewriter at one epsilon: how distinguishable, how useful, how fast."""

    mechanism: str
    epsilon: float
    granularity: str
    basis: str
    text_epsilon: float
    shown: tuple[Shown, ...]
    f1: float | None
    attribute_f1: float | None
    similarity: float | None
    empty: int
    seconds: float
    rows_per_second: float

    @property
    def worst(self) -> Shown:
        """The attack that showed most."""
        return max(self.shown, key=lambda s: (s.lower, s.middle))


@dataclass(frozen=True)
class Comparison:
    """All cells, and the clean texts' own scores as yardsticks."""

    cells: tuple[Cell, ...]
    trials: int
    candidates: int
    temperature: float
    failure_probability: float
    texts: int
    duplicates: int
    clean_f1: float | None
    clean_attribute_f1: float | None
    symmetric: bool
    seed: int

    @property
    def attacks(self) -> tuple[str, ...]:
        """The attacks that were made on any cell, each once."""
        return tuple(dict.fromkeys(s.attack for cell in self.cells for s in cell.shown))

    def to_json(self) -> dict[str, Any]:
        """Plain values for a file or another program."""
        return asdict(self)


def recommend(
    comparison: Comparison, *, target: float | None = None, least_f1: float | None = None
) -> tuple[Cell | None, str]:
    """The most useful cell that no attack here showed above the target, and a sentence on it.

    "Not above" means that the upper end of every attack's interval stays below the target; a
    statement about these attacks, not a promise about all. Where no attack looked at what stands
    in clear, nothing is recommended: such attacks show little whatever the release gives away.
    """
    if SHAPE not in comparison.attacks:
        return None, (
            "nothing can be recommended on these attacks' word: the number of words, punctuation "
            "and case, which rewriters of words leave in clear, were not part of them; add "
            f"{SHAPE} to --attacks"
        )
    fit = [
        cell
        for cell in comparison.cells
        if (target is None or _upper(cell) <= target)
        and (least_f1 is None or (cell.f1 is not None and cell.f1 >= least_f1))
    ]
    if fit:
        best = max(fit, key=lambda c: (c.f1 or 0.0, c.similarity or 0.0, -c.worst.middle))
        use = f", F1 {best.f1:.3f}" if best.f1 is not None else ""
        return best, (
            f"{best.mechanism} at ε = {best.epsilon:g} for {best.granularity}: no attack here "
            f"shows more than {_top(best)}{use}; others may, so treat it as the best of these, "
            "not as safe"
        )
    calm = min(comparison.cells, key=_upper)
    useful = max(comparison.cells, key=lambda c: c.f1 or 0.0)
    return None, (
        "no mechanism and epsilon here meets this: the least distinguishable is "
        f"{calm.mechanism} at ε = {calm.epsilon:g} (up to {_top(calm)}"
        f"{_f1(calm)}), the most useful {useful.mechanism} at ε = {useful.epsilon:g} (up to "
        f"{_top(useful)}{_f1(useful)}); try other epsilons or more trials"
    )


def _f1(cell: Cell) -> str:
    return f", F1 {cell.f1:.3f}" if cell.f1 is not None else ""


def _upper(cell: Cell) -> float:
    """The most that any attack may have shown; one that is no evidence shows no limit."""
    return max((s.upper for s in cell.shown if s.is_evidence), default=float("inf"))


def _top(cell: Cell) -> str:
    value = _upper(cell)
    return "∞" if value == float("inf") else f"{value:.2f}"
