"""Releasing a file of traces: all rows are looked at, then each trace is drawn as a whole.

A trace may lie in several parts, and parts may be drawn again by a restart. So the draws of a trace
come from the job's key and the trace's name alone (`voile.jobs.sharing`): whoever draws, draws the
same, and another job has another key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.core.keyed_streams import KeyedStreams
from voile.core.randomness import Generator
from voile.files.rows import RowProblem
from voile.jobs import Batch, BeyondBudget, ColumnsInClear, Planned, Replaced
from voile.ledger import Bill
from voile.ledger.amounts import Bools
from voile.ledger.people import person_name
from voile.places.columns import instant, refuse_mixed, time_kinds
from voile.places.coordinates import Coordinates
from voile.places.fallen import draw_errors
from voile.places.restoring import Restorer, restored
from voile.places.traces import Released, TraceLaw

DRAWN, WRONG, NOBODY, MIXED, UNPAID = range(5)
"""What became of a row."""


@dataclass(frozen=True, eq=False)
class Look:
    """A part's rows: whose trace each is, when, where (NaN for bad rows), and its person."""

    traces: Sequence[str | None]
    times: Floats | None
    degrees: Floats
    persons: Sequence[str | None]
    kinds: frozenset[str] = frozenset()
    """In which ways its times are told."""
    strays: int = 0
    """Places outside the area that their reference system is for."""


@dataclass(frozen=True)
class TraceLooking:
    """Looks at a part; nothing is random."""

    law: TraceLaw
    columns: Coordinates
    clear: ColumnsInClear
    person: str | None

    def look(self, batch: Batch) -> Look:
        """What the whole job must know of this part."""
        tracing = self.law.tracing
        assert tracing.trace is not None
        degrees = self.columns.degrees([batch.column(name) for name in self.columns.names])
        named = [_text(value) for value in batch.column(tracing.trace)]
        times, kinds = None, frozenset[str]()
        if tracing.time is not None:
            kinds = time_kinds(batch.column(tracing.time))
            times = np.array([instant(value) for value in batch.column(tracing.time)])
            degrees[~np.isfinite(times)] = np.nan
        good = np.isfinite(degrees).all(axis=1)
        good &= np.array([name is not None for name in named], dtype=bool)
        good[list(self.clear.strangers(batch.rows))] = False
        if good.any():
            far = self.law.ground.to_km(*degrees[good].T)[1]
            good[np.flatnonzero(good)[far]] = False
        degrees[~good] = np.nan
        persons: list[str | None] = [None] * len(batch)
        if self.person is not None:
            persons = [person_name(value) for value in batch.column(self.person)]
        return Look(named, times, degrees, persons, kinds, self.columns.strays(degrees[good]))


@dataclass(frozen=True)
class MakeTraceReleaser:
    """Makes the releasers of a job of traces (`SharesDraws`)."""

    law: TraceLaw
    columns: Coordinates
    clear: ColumnsInClear
    person: str | None
    numbers: bool = False
    """Whether coordinates are written as numbers even where they were text."""
    restorer: Restorer | None = None

    @property
    def looking(self) -> Callable[[], TraceLooking]:
        """All rows are looked at first: a trace's budget is shared among its places."""
        return partial(TraceLooking, self.law, self.columns, self.clear, self.person)

    def owed(self, looks: Sequence[Look]) -> tuple[Sequence[str], Bill]:
        """Each person's traces, as the sum of what their places may spend."""
        spent: dict[str, float] = {}
        for rows in _traces(looks).values():
            owners = _owners(looks, rows)
            if self._state(owners, frozenset()) == DRAWN:
                (owner,) = owners
                assert owner is not None  # who owes is asked only where persons are named
                spent[owner] = spent.get(owner, 0.0) + self.law.most(len(rows.parts))
        return list(spent), Bill.listed([((cost, 0.0, 1),) for cost in spent.values()])

    def told(
        self, key: bytes, looks: Sequence[Look], unpaid: frozenset[str]
    ) -> Callable[[], TraceReleaser]:
        """Releasers that know the whole release; each hands out its part of it."""
        tables = [np.full((len(look.degrees), 2), np.nan) for look in looks]
        states = [np.where(np.isfinite(look.degrees).all(axis=1), DRAWN, WRONG) for look in looks]
        totals: dict[int, Counter[str]] = {}
        sizes: set[tuple[int, int]] = set()
        streams, traces = KeyedStreams(key), _traces(looks)
        reader = None
        if self.restorer is not None:
            reader = self.restorer.fitted(
                max((len(rows.parts) for rows in traces.values()), default=1)
            )
        for name, rows in traces.items():
            where = list(zip(rows.parts, rows.places, strict=True))
            state = self._state(_owners(looks, rows), unpaid)
            if state != DRAWN:
                for part, row in where:
                    states[part][row] = state
                continue
            made = self._drawn(looks, rows, streams.rng(name.encode("utf-8", "surrogatepass")))
            made = made if reader is None else restored(reader, made, rows.times)
            for place, (part, row) in enumerate(where):
                tables[part][row] = made.latitudes[place], made.longitudes[place]
            totals.setdefault(where[0][0], Counter()).update(traces=1, draws=made.draws)
            sizes.add((made.draws, len(where)))
        if sizes:
            strays = sum(look.strays for look in looks)
            totals[min(totals)].update(draw_errors(self.law, sizes), strays=strays)
        problems = {
            WRONG: RowProblem(f"{self.columns.wanted}, in a trace, at a time where one is named"),
            NOBODY: RowProblem(f"the column {self.person!r} names no person in a row of its trace"),
            MIXED: RowProblem(
                f"a trace must be one person's, and {self.person!r} names several in this one"
            ),
            UNPAID: BeyondBudget(),
        }
        return partial(TraceReleaser, tables, states, totals, self.columns, problems, self.numbers)

    def _state(self, owners: Set[str | None], unpaid: frozenset[str]) -> int:
        """A trace is charged as a whole, so it is released only if all of it is one person's."""
        if self.person is None:
            return DRAWN
        if None in owners:
            return NOBODY
        return MIXED if len(owners) > 1 else UNPAID if owners & unpaid else DRAWN

    def _drawn(self, looks: Sequence[Look], rows: Rows, rng: Generator) -> Released:
        where = list(zip(rows.parts, rows.places, strict=True))
        degrees = np.array([looks[part].degrees[row] for part, row in where])
        return self.law.release(degrees[:, 0], degrees[:, 1], rows.times, rng)


@dataclass(frozen=True, eq=False)
class Rows:
    """Where the rows of a trace lie, in the order of their times."""

    parts: list[int]
    places: list[int]
    times: Floats | None


def _traces(looks: Sequence[Look]) -> dict[str, Rows]:
    """The good rows of each trace; refused where nothing says how their times compare."""
    refuse_mixed(frozenset[str]().union(*(look.kinds for look in looks)), "the file", "its --time")
    found: dict[str, list[tuple[int, int]]] = {}
    for part, look in enumerate(looks):
        good = np.isfinite(look.degrees).all(axis=1)
        for row in np.flatnonzero(good).tolist():
            name = look.traces[row]
            assert name is not None  # as looked at
            found.setdefault(name, []).append((part, row))
    made = {}
    for name, where in found.items():
        times = None
        if all(look.times is not None for look in looks):
            at = np.array([looks[p].times[r] for p, r in where])  # type: ignore[index]
            order: Indices = np.argsort(at, kind="stable")
            where, times = [where[i] for i in order], at[order]
        made[name] = Rows([p for p, _ in where], [r for _, r in where], times)
    return made


def _owners(looks: Sequence[Look], rows: Rows) -> Set[str | None]:
    """Whose rows a trace has."""
    where = zip(rows.parts, rows.places, strict=True)
    return {looks[part].persons[row] for part, row in where}


@dataclass(frozen=True, eq=False)
class TraceReleaser:
    """Hands out the rows of a part as they were drawn with their traces."""

    tables: Sequence[Floats] = field(repr=False)
    states: Sequence[Indices]
    totals: Mapping[int, Mapping[str, float]]
    columns: Coordinates
    problems: Mapping[int, RowProblem]
    numbers: bool

    def plan(self, batch: Batch) -> Planned:
        """Which rows were drawn, and what is wrong with the others."""
        states = self.states[batch.part]
        problems = {
            row: self.problems[int(states[row])] for row in np.flatnonzero(states != DRAWN).tolist()
        }
        before = tuple(batch.column(name) for name in self.columns.names)
        drawn = np.asarray(states == DRAWN)
        free = ((0.0, 0.0, 1),)  # the trace as a whole was charged for
        return Planned((batch.part, before), lambda: Bill.alike(free, drawn), problems)

    def draw(self, planned: Planned, paid: Bools, rng: Generator) -> Replaced:
        """The rows that are paid."""
        part, before = planned.secrets
        table = np.where(paid[:, None], self.tables[part], 0.0)
        totals = {"places": float(paid.sum()), **self.totals.get(part, {})}
        made = self.columns.written(table[:, 0], table[:, 1], before, numbers=self.numbers)
        return Replaced(made, totals)


def _text(value: Any) -> str | None:
    text = "" if value is None else str(value).strip()
    return text or None
