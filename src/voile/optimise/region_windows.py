"""The windows of a region: one taken out of the sparse rows, solved, looked at, put back.

A window is taken out of the rows as a small dense table of the outputs that matter in it, with a
ring of two nodes around it that stays as it is; its constraints are those of the ring's cells and
its own, so that the state obeys *all* constraints of the region at every moment.

An interior-point answer is feasible but for a residual that is a tiny share of the slacks it began
with. No lift over the whole region mends that here (it would cost every output its constant): each
window is solved at a strength a hair below what the next one may have, and what does not obey all
constraints at the next strength, looked at one by one, is not taken. So window k is solved inside
the cone of `inside(k)`·ε, which grows with k, and every state before it lies inside that cone.

Windows have four colours, as the squares of two chessboards: between two of one colour lies
another window, so that neither holds a coefficient that the other's constraints know. All of one
colour can be solved for at once, anywhere (`Asked` is what travels), with the answer that they
have one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.errors import require
from voile.optimise.block_solver import solve_blocks
from voile.optimise.cones import Surroundings, gradient_cones
from voile.optimise.region_problem import RegionProblem
from voile.optimise.region_start import Rows
from voile.optimise.splines import SplineGrid
from voile.optimise.windows import around_window

Window = tuple[slice, slice]
MOST = 400
"""Outputs that take part in a window at most: those with the most mass there."""
SEEN = 2e-4
"""Mean probability in a window above which an output takes part."""
WORTH = 1e-5
"""Of all people: windows with fewer keep what they began with."""
MARGIN, HALVED = 2e-3, 100
"""Of ε: how far inside the first window is solved; half as far after so many windows."""


@dataclass(eq=False)
class State:
    """What is kept while it goes on: the table, and how many windows and sweeps are behind."""

    table: Rows
    sweeps: int = 0
    done: int = 0
    """Windows of the sweep that is under way."""
    windows: int = 0
    rejected: int = 0
    gained: float = 0.0

    def record(self) -> dict[str, Any]:
        """What a file must hold so that the descent can go on: the rest is worked out anew."""
        names = ("sweeps", "done", "windows", "rejected", "gained")
        return {"values": self.table.values, **{name: getattr(self, name) for name in names}}

    @staticmethod
    def again(table: Rows, kept: Mapping[str, Any]) -> State:
        """The state of a record, for the very same problem."""
        values = np.ascontiguousarray(kept["values"], dtype=float)
        same = values.shape == table.values.shape
        require(same, "what was kept", f"{len(table.values):,} numbers", values.shape)
        names = ("sweeps", "done", "windows", "rejected")
        counts = {name: int(kept[name]) for name in names}
        return State(replace(table, values=values), gained=float(kept["gained"]), **counts)


@dataclass(frozen=True, eq=False)
class Asked:
    """All that the solve of a window needs: a few MB, whatever the region's size.

    `nodes` are those of the window and its ring, `free` the window's among them, `bumps` and
    `floor` (outputs, nodes) what stands there, `now` and `then` the strengths to solve and to look
    at it with.
    """

    nodes: Indices
    free: Indices
    outputs: Indices
    bumps: Floats
    floor: Floats
    costs: Floats
    index: Indices
    rows: Floats
    now: float
    then: float
    p: float


def solved(_: object, asked: Asked) -> Floats:
    """The coefficients of least cost for one window; the first argument is what engines share."""
    cones = gradient_cones(asked.index, asked.rows, len(asked.nodes), epsilon=asked.now, p=asked.p)
    begin = asked.bumps + asked.floor
    inner, offset = around_window(cones, begin, asked.free)
    start = begin[:, asked.free]
    around = Surroundings(offset, start.sum(axis=0), start)
    found = solve_blocks(asked.costs, inner, tolerance=2e-3, iterations=45, around=around)
    return found.coefficients


class Run:
    """One descent: the windows of a sweep, what each asks for, and what is made of the answer."""

    def __init__(
        self, problem: RegionProblem, grid: SplineGrid, state: State, strength: float, p: float
    ) -> None:
        self.problem, self.grid, self.state, self.p = problem, grid, state, p
        self.strength = strength
        self.numbers = grid.numbers
        self.index, self.weight = grid.basis(problem.places)
        self.cells, _ = grid.locate(problem.places)
        self.shares = state.table.shares

    def windows(self, side: int, sweep: int) -> list[list[Window]]:
        """The windows of a sweep in which people are, colour by colour, most people first."""
        found: list[list[tuple[float, Window]]] = [[], [], [], []]
        for colour, window in _windows(self.numbers.shape, side, sweep):
            share = float(self.problem.prior[self._people(window)].sum())
            if share > WORTH:
                found[colour].append((share, window))
        found.sort(key=lambda colour: -sum(share for share, _ in colour))
        return [[w for _, w in sorted(colour, key=lambda s: -s[0])] for colour in found if colour]

    def _people(self, window: Window) -> Indices:
        """The places whose law the window's coefficients are part of."""
        inside = [
            (self.cells[:, axis] > w.start - 3) & (self.cells[:, axis] < w.stop)
            for axis, w in enumerate(window)
        ]
        return np.flatnonzero(inside[0] & inside[1])

    def asked(self, window: Window, number: int) -> Asked:
        """What the solve of the window that comes as number so-and-so needs."""
        from voile.optimise._region_rows import gather

        table = self.state.table
        block, free = self._block(window)
        nodes = np.ascontiguousarray(self.numbers[block].ravel())
        outputs = self._outputs(nodes[free])
        bumps = np.zeros((len(outputs), len(nodes)))
        gather(nodes, table.rows, table.listed, table.values, self._local(outputs), bumps)
        floor = self.shares[outputs][:, None] * self._left(nodes)[None, :]
        now, then = (self.strength * inside(number + k) for k in (0, 1))
        costs = self._costs(window, nodes[free], outputs)
        index, rows = self._constraints(block)
        return Asked(nodes, free, outputs, bumps, floor, costs, index, rows, now, then, self.p)

    def take(self, asked: Asked, coefficients: Floats) -> None:
        """Keep what was found for a window if it gains and obeys, or a part of the way to it."""
        from voile.optimise._region_rows import scatter

        state, table = self.state, self.state.table
        state.windows += 1
        checked = gradient_cones(
            asked.index, asked.rows, len(asked.nodes), epsilon=asked.then, p=self.p
        )
        mine, under = asked.bumps[:, asked.free], asked.floor[:, asked.free]
        for part in (1.0, 0.9, 0.5):
            new = np.maximum(mine + part * (coefficients - mine - under), 0.0)
            new *= mine.sum(axis=0) / new.sum(axis=0)  # the floor, which all share, stays
            trial = asked.bumps + asked.floor
            trial[:, asked.free] = new + under
            gain = float((asked.costs * (mine - new)).sum())
            if gain > 0 and obeys(trial, checked.index, checked.matrix):
                free, local = asked.nodes[asked.free], self._local(asked.outputs)
                scatter(free, table.rows, table.listed, table.values, local, new)
                state.gained += gain
                return
        state.rejected += 1

    def _local(self, outputs: Indices) -> NDArray[np.int32]:
        """The number of each output among some, −1 for others."""
        local = np.full(len(self.shares), -1, dtype=np.int32)
        local[outputs] = np.arange(len(outputs))
        return local

    def _block(self, window: Window) -> tuple[Window, Indices]:
        """The window with its ring, and which of that block's nodes are the window's."""
        block = tuple(
            slice(max(0, w.start - 2), min(n, w.stop + 2))
            for w, n in zip(window, self.numbers.shape, strict=True)
        )
        inside = np.zeros(self.numbers[block].shape, dtype=bool)
        inside[
            tuple(
                slice(w.start - b.start, w.stop - b.start)
                for w, b in zip(window, block, strict=True)
            )
        ] = True
        return (block[0], block[1]), np.flatnonzero(inside.ravel())

    def _constraints(self, block: Window) -> tuple[Indices, Floats]:
        """Value and gradient in Bernstein form on the block's cells, by its own numbers."""
        shape = tuple(b.stop - b.start for b in block)
        steps = self.grid.steps
        small = SplineGrid(
            (0.0, 0.0),
            tuple((n - 2) * step for n, step in zip(shape, steps, strict=True)),
            tuple(n - 2 for n in shape),
            2,
            self.grid.tension,
        )
        index, rows = small.rows()
        order = np.empty(small.size, dtype=np.intp)  # its numbers → row by row, as blocks are
        order[small.numbers.ravel()] = np.arange(small.size)
        return order[index], rows

    def _outputs(self, free: Indices) -> Indices:
        """The outputs that matter in a window, and stand at each of its nodes."""
        from voile.optimise._region_rows import masses

        table = self.state.table
        mass, seen = np.zeros(len(self.shares)), np.zeros(len(self.shares), dtype=np.int64)
        masses(free, table.rows, table.listed, table.values, mass, seen)
        mass[seen < len(free)] = 0.0
        best = np.argsort(-mass, kind="stable")[:MOST]
        return np.sort(best[mass[best] > SEEN * len(free)])

    def _left(self, nodes: Indices) -> Floats:
        """What some rows leave for the floor."""
        table = self.state.table
        return np.array(
            [1.0 - table.values[table.rows[n] : table.rows[n + 1]].sum() for n in nodes]
        )

    def _costs(self, window: Window, free: Indices, outputs: Indices) -> Floats:
        """c[y, i] = Σ_x π(x)·B_i(x)·loss(x, y) for the window's coefficients."""
        here = self._people(window)
        place = np.full(self.grid.size, -1)
        place[free] = np.arange(len(free))
        weights = np.zeros((len(here), len(free) + 1))
        rows = np.broadcast_to(np.arange(len(here))[:, None], self.index[here].shape)
        weights[rows, place[self.index[here]]] = self.weight[here]
        weights = weights[:, :-1] * self.problem.prior[here, None]
        return np.ascontiguousarray(self.problem.losses.between(here, outputs).T @ weights)


def inside(window: int) -> float:
    """Of ε: the strength of a window by its number.

    >>> inside(0), round(inside(10**6), 6)
    (0.998, 1.0)
    """
    return 1 - MARGIN / (1 + window / HALVED)


def obeys(table: Floats, index: Indices, matrix: Floats) -> bool:
    """Whether all outputs' functions obey all constraints."""
    for row in table:
        slacks = np.einsum("mdl,ml->md", matrix, row[index])
        if not (slacks[:, 0] >= np.sqrt((slacks[:, 1:] ** 2).sum(axis=1))).all():
            return False
    return True


def _windows(shape: tuple[int, ...], side: int, sweep: int) -> Iterator[tuple[int, Window]]:
    """The windows of a sweep with their colours, shifted by halves and quarters from one to one."""
    shift = (0, side // 2, side // 4, 3 * side // 4)[sweep % 4]
    spans = [[slice(max(0, a), min(n, a + side)) for a in range(-shift, n, side)] for n in shape]
    for i, first in enumerate(spans[0]):
        for j, second in enumerate(spans[1]):
            if (first.stop - first.start) * (second.stop - second.start) >= 9:
                yield 2 * (i % 2) + j % 2, (first, second)
