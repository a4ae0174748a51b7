"""The result of a comparison: a cell for each mechanism and epsilon, and its report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from voile.audit.finding import Verdict
from voile.core.rounding import at_least, at_most
from voile.report.model import Chart, Report, Table, Value
from voile.report.result import SILENT, Result
from voile.report.words import ONE_ATTACKER, OWN_FIGURES, TESTED, counted, sentence
from voile.text.game import ALIKE

NO_CLAIM = "none"
"""The basis of a mechanism that promises nothing."""


@dataclass(frozen=True)
class Shown:
    """What one attack showed: ε_emp with its interval, and the most it could have shown."""

    attack: str
    lower: float
    middle: float
    upper: float
    ceiling: float
    success: float
    sure: float = 0.0
    """What it shows by the guesses it is sure of, on trials its threshold was not chosen on."""
    spoke: float = 1.0
    """The share of trials in which it was sure."""
    note: str = ""
    is_evidence: bool = True
    """False for a judge that did not compare: what it failed to show says nothing."""

    @property
    def at_least(self) -> float:
        """The larger of its two bounds from below; both hold together."""
        return max(self.lower, self.sure)

    def __str__(self) -> str:
        whole = f"{at_least(self.lower)} – {or_endless(self.upper)}"
        if self.lower >= self.ceiling:
            whole = f"≥ {at_least(self.lower)}"
        return whole if self.sure <= self.lower else f"{whole}; sure: ≥ {at_least(self.sure)}"


@dataclass(frozen=True)
class Cell:
    """One rewriter at one epsilon: how distinguishable, how useful, how fast.

    A rewriter of the user's own may have no epsilon, promise nothing, and count nothing.
    """

    mechanism: str
    epsilon: float | None
    granularity: str
    basis: str
    text_epsilon: float | None
    shown: tuple[Shown, ...]
    f1: float | None
    attribute_f1: float | None
    similarity: float | None
    empty: int
    seconds: float
    rows_per_second: float
    claim: float | None = None
    """The ε that is promised for one text, where an attack on texts can refute it."""
    alike: bool = False
    """Whether it is the user's own, released texts again, and none in two ways."""

    @property
    def worst(self) -> Shown:
        """The attack that showed most."""
        return max(self.shown, key=lambda s: (s.at_least, s.middle))

    @property
    def most(self) -> float:
        """The most that any attack may have shown here; one that is no evidence sets no limit."""
        told = [max(s.upper, s.sure) for s in self.shown if s.is_evidence]
        return max(told, default=float("inf"))

    @property
    def called(self) -> str:
        """The mechanism and its epsilon, in words."""
        if self.epsilon is None:
            return self.mechanism
        return f"{self.mechanism} at ε = {self.epsilon:g}"

    def by(self, attack: str) -> Shown | None:
        """What this attack showed, if it was made."""
        return next((s for s in self.shown if s.attack == attack), None)


@dataclass(frozen=True)
class Chosen:
    """The mechanism and epsilon that were recommended."""

    mechanism: str
    epsilon: float | None


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Result):
    """All cells, the clean texts' own scores as yardsticks, and the answer if one was asked for."""

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
    answer: str | None = None
    chosen: Chosen | None = None
    caution: str = ""
    own: tuple[str, ...] = ()
    """Mechanisms that are the user's own."""
    folder: str = field(default="", metadata=SILENT)
    """Where the table, the charts and the releases were written."""

    @property
    def attacks(self) -> tuple[str, ...]:
        """The attacks that were made on any cell, each once."""
        return tuple(dict.fromkeys(s.attack for cell in self.cells for s in cell.shown))

    def _records(self) -> Iterator[dict[str, Any]]:
        """A row for each cell and attack."""
        for cell in self.cells:
            own = {name: value for name, value in vars(cell).items() if name != "shown"}
            yield from ({**own, **vars(shown)} for shown in cell.shown)

    def table(self) -> Table:
        """A row for each cell; F1 where it was measured."""
        useful = any(cell.f1 is not None for cell in self.cells)
        hidden = any(cell.attribute_f1 is not None for cell in self.cells)
        columns = ["mechanism", "ε", "counted for", "basis", "ε_emp at least"]
        columns += (["F1"] if useful else []) + (["attribute F1"] if hidden else [])
        return Table(
            "All mechanisms and epsilons",
            (*columns, "similarity", "rows/s"),
            tuple((*_row(cell, useful, hidden),) for cell in self.cells),
        )

    def _attack_table(self) -> Table:
        rows = tuple(
            (cell.mechanism, cell.epsilon, *(_said(cell.by(name)) for name in self.attacks))
            for cell in self.cells
        )
        return Table(
            "ε_emp by attack: at least – what it shows at most if it always guesses; “≥” at its "
            "ceiling; “sure” where it guesses only when it is",
            ("mechanism", "ε", *self.attacks),
            rows,
        )

    def _report(self) -> Report:
        """The answer, and the table behind it."""
        return Report(
            title="Rewriters compared",
            about=TESTED,
            answer=self._told(),
            verdict=Verdict.VIOLATED if self.broken else Verdict.OPEN,
            because=self._broken_words() if self.broken else self.caution,
            guarantee=(self._game(), *self._own_words()),
            not_protected=(ONE_ATTACKER, OWN_FIGURES),
            tables=(self.table(), self._attack_table()),
            draw=self.charts,
            notes=tuple(self._notes()),
            terms=("epsilon", "empirical epsilon", "ceiling", "attacker", "interval", "F1"),
        )

    @property
    def broken(self) -> tuple[Cell, ...]:
        """Cells that promise an epsilon for one text and were shown to exceed it."""
        return tuple(
            cell
            for cell in self.cells
            if cell.claim is not None and cell.worst.at_least > cell.claim
        )

    def _broken_words(self) -> str:
        cell = max(self.broken, key=lambda cell: cell.worst.at_least)
        return (
            f"{cell.mechanism} promises ε = {cell.claim:g} for {cell.granularity}; "
            f"{cell.worst.attack} shows at least {at_least(cell.worst.at_least)}."
            + (f" {ALIKE}" if cell.alike else "")
        )

    def _told(self) -> str:
        if self.answer is not None:
            return f"Take {self.answer}." if self.chosen else sentence(self.answer)
        calm = min(self.cells, key=lambda cell: cell.most)
        most = calm.most
        if most == float("inf"):
            return (
                "No attack here puts a limit on what it shows of any of these: more trials would."
            )
        return (
            f"{calm.called} is the hardest to attack here: no attack shows an epsilon above "
            f"{or_endless(most)} for one text."
        )

    def _game(self) -> str:
        form = " (symmetric form)" if self.symmetric else ""
        ceiling = max(s.ceiling for cell in self.cells for s in cell.shown)
        return (
            f"The game: {counted(self.trials, 'trial')} for each row, with {self.candidates} "
            f"candidates; all intervals hold together with probability "
            f"{1 - self.failure_probability:g}, and no attack could show more than "
            f"{at_most(ceiling)}{form}. Nominal epsilons count what each mechanism counts (a "
            "word, a token, a text), empirical ones always one text."
        )

    def _own_words(self) -> Iterator[str]:
        for name in self.own:
            basis = next(cell.basis for cell in self.cells if cell.mechanism == name)
            yield f"{name} is your own: " + (
                "it promises nothing, and nothing is proved of it."
                if basis == NO_CLAIM
                else "what it promises is claimed, and nothing here has checked it."
            )

    def _notes(self) -> Iterator[str]:
        if self.clean_f1 is not None:
            yield f"F1 of the clean texts: {self.clean_f1:.3f}."
        for cell in self.cells:
            if cell.alike:
                yield f"{cell.called}: {ALIKE}"
            for s in cell.shown:
                if s.note:
                    yield f"{cell.called}, {s.attack}: {s.note}."
        if self.folder:
            yield (
                f"Wrote {self.folder}/ (comparison.json, comparison.csv, charts; releases and "
                "encodings for another run)."
            )

    def charts(self) -> list[Chart]:
        """What is drawn of it."""
        from voile.text.comparison_charts import comparison_charts

        return comparison_charts(self.cells, chosen=self.chosen)


def _row(cell: Cell, useful: bool, hidden: bool) -> Iterator[Value]:
    yield from (
        cell.mechanism,
        cell.epsilon,
        cell.granularity or None,
        cell.basis,
        cell.worst.at_least,
    )
    if useful:
        yield cell.f1
    if hidden:
        yield cell.attribute_f1
    yield from (cell.similarity, cell.rows_per_second)


def _said(shown: Shown | None) -> Value:
    return None if shown is None else str(shown)


def or_endless(value: float) -> str:
    """A number that is at most so much, or the sign for one without end."""
    return "∞" if value == float("inf") else at_most(value)
