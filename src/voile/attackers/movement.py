"""How people move between places: sparse chains over squares or junctions, fitted to public trips.

A step from state x goes, with κ added counts (Dirichlet), where public steps from x went or to a
state as far off as public steps are long, alike in all directions; and, rarely, anywhere. How far
depends on how long the step took, where times are known: short, usual and long gaps have chains of
their own. So thousands of states need few trips, and a step costs what the matrix has entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from voile.attackers.markov import MarkovPrior
from voile.core.arrays import Floats, Indices

ADDED = 8.0
"""Counts that the lengths of steps are worth, against what was seen to follow a state. Compared, as
the reach of steps, on one half of public trips after fitting to the other."""
_ENTRIES = 1_500_000
"""Of a chain, at most: the reach of steps is shortened to that."""
_LONGER = 8.0
"""Gaps so many times the usual one, or so many times shorter, have a chain of their own."""
_FEWEST = 30
"""Steps that such a chain must have."""


@dataclass(frozen=True, eq=False)
class States:
    """Where people can be (km on a plane), and which of those are how far apart, within reach."""

    points: Floats
    spacing: float
    apart: sparse.csr_array
    """Km between states within reach, without the diagonal."""

    def __len__(self) -> int:
        return len(self.points)

    def member(self, places: Floats) -> Indices:
        """The state nearest each place."""
        return np.asarray(self._tree.query(places)[1], dtype=np.intp)

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self.points)


def reach_of_steps(trips: Sequence[Floats], spacing: float, count: int) -> float:
    """How far (km) a step of the chain may go: as 98 in 100 public ones, if so many fit."""
    steps = np.concatenate([np.linalg.norm(np.diff(trip, axis=0), axis=1) for trip in trips])
    usual = float(np.quantile(steps, 0.98)) if len(steps) else 0.0
    fits = spacing * float(np.sqrt(_ENTRIES / count / np.pi))
    return min(max(1.5 * spacing, usual), max(1.5 * spacing, fits))


def plane_states(points: Floats, *, spacing: float, reach: float) -> States:
    """States on open ground: distances are straight."""
    from scipy.spatial import cKDTree

    tree = cKDTree(points)
    apart = sparse.csr_array(tree.sparse_distance_matrix(tree, reach, output_type="coo_matrix"))
    apart.eliminate_zeros()
    return States(points, spacing, apart)


def street_states(points: Floats, streets: sparse.csr_array, *, reach: float) -> States:
    """Junctions as states; distances are along the streets (km), so that steps stay on the map."""
    from scipy.sparse.csgraph import dijkstra
    from scipy.spatial import cKDTree

    rows, columns, lengths = [], [], []
    for first in range(0, len(points), 500):
        block = np.arange(first, min(first + 500, len(points)))
        table = dijkstra(streets, directed=False, indices=block, limit=reach)
        row, column = np.nonzero(np.isfinite(table) & (table > 0))
        rows.append(block[row])
        columns.append(column)
        lengths.append(table[row, column])
    where = (np.concatenate(rows), np.concatenate(columns))
    apart = sparse.coo_array((np.concatenate(lengths), where), shape=(len(points), len(points)))
    nearest = np.asarray(cKDTree(points).query(points, k=2)[0])
    spacing = max(float(np.median(nearest[:, 1])), 0.01)
    return States(points, spacing, sparse.csr_array(apart))


@dataclass(frozen=True, eq=False)
class Movement:
    """Chains by how long a step takes; one where times are not known."""

    chains: tuple[MarkovPrior, ...]
    longest: tuple[float, ...] = ()
    """Up to which gap each chain but the last is used."""

    def steps(self, gaps: Floats | None, count: int) -> list[MarkovPrior]:
        """The chain of each of so many steps; of a place without a step, the one it starts by."""
        if gaps is None or not len(gaps) or not self.longest:
            return [self.chains[len(self.longest) // 2]] * count
        return [self.chains[k] for k in np.searchsorted(self.longest, gaps).tolist()]

    def tending_to(self, frequency: Floats) -> Movement:
        """The same, with other places where a person tends to be."""
        return replace(self, chains=tuple(replace(c, start=frequency) for c in self.chains))


def fit_movement(
    states: States, trips: Sequence[Floats], gaps: Sequence[Floats] | None = None
) -> Movement:
    """The chains of public trips: places in km, and the gaps between their times if known.

    >>> states = plane_states(np.array([[0.0, 0], [1, 0], [2, 0]]), spacing=1.0, reach=1.5)
    >>> moved = fit_movement(states, [np.array([[0.0, 0], [1, 0], [2, 0]])])
    >>> moved.chains[0].dense().sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0]
    """
    walks = [states.member(trip) for trip in trips]
    left = np.concatenate([walk[:-1] for walk in walks])
    right = np.concatenate([walk[1:] for walk in walks])
    been = np.bincount(np.concatenate(walks), minlength=len(states)).astype(float)
    near = states.apart.tocoo()
    close = near.data <= 1.5 * states.spacing
    left_of, right_of = near.row[close], near.col[close]
    beside = np.bincount(left_of, weights=been[right_of], minlength=len(states))
    frequency = been + 0.05
    frequency += 0.5 * beside / np.maximum(np.bincount(left_of, minlength=len(states)), 1)
    frequency /= frequency.sum()
    if gaps is None or not len(left):
        return Movement((_chain(states, left, right, frequency),))
    took = np.concatenate(list(gaps))
    usual = float(np.median(took))
    longest = [edge for edge in (usual / _LONGER, usual * _LONGER) if usual > 0]
    kind = np.searchsorted(longest, took)
    rare = [k for k in (2, 0) if longest and np.sum(kind == k) < _FEWEST]
    for k in rare:  # too few to learn from: they go with the usual ones
        del longest[min(k, 1)]
    kind = np.searchsorted(longest, took)
    chosen = [kind == k for k in range(len(longest) + 1)]
    chains = tuple(_chain(states, left[some], right[some], frequency) for some in chosen)
    return Movement(chains, tuple(longest))


def _chain(states: States, left: Indices, right: Indices, frequency: Floats) -> MarkovPrior:
    """Counts of steps, and the lengths of steps in all directions, as one sparse chain."""
    size = len(states)
    apart = states.apart.tocoo()
    rows: Indices = np.append(apart.row, np.arange(size)).astype(np.intp)
    columns: Indices = np.append(apart.col, np.arange(size)).astype(np.intp)
    ring = np.append(np.rint(apart.data / states.spacing), np.zeros(size)).astype(np.intp)
    rings = int(ring.max()) + 1
    went = _rings(states, left, right)
    inside = went[(went >= 0) & (went < rings)]
    shares = np.bincount(inside, minlength=rings) + 0.5
    shares /= shares.sum()
    alike = np.bincount(rows * rings + ring, minlength=size * rings)[rows * rings + ring]
    local = shares[ring] / alike
    local /= np.bincount(rows, weights=local, minlength=size)[rows]
    totals = np.bincount(left, minlength=size).astype(float)
    anywhere = float((np.sum(went < 0) + 0.5) / (len(went) + 1))
    entries = np.append(ADDED * (1 - anywhere) * local, np.ones(len(left)))
    entries /= (totals + ADDED * (1 - anywhere))[np.append(rows, left)]
    where = (np.append(rows, left), np.append(columns, right))
    seen = sparse.csr_array(sparse.coo_array((entries, where), shape=(size, size)))
    return MarkovPrior(frequency, seen, ADDED * anywhere / (totals + ADDED))


def _rings(states: States, left: Indices, right: Indices) -> Indices:
    """How many spacings each step went; -1 for those beyond the reach."""
    if not len(left):
        return np.empty(0, dtype=np.intp)
    away = np.asarray(states.apart[left, right]).ravel()
    rings = np.rint(away / states.spacing).astype(np.intp)
    rings[(away == 0) & (left != right)] = -1
    return rings


def smoothed(steps: Sequence[MarkovPrior], evidence: Floats) -> Floats:
    """The belief in each state at each place, by forward–backward: exact under the chains.

    `steps` has the chain between each two places, one less than there are, and one at least.
    """
    count, size = evidence.shape
    seen = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    forward = np.empty((count, size))
    current = steps[0].start[None]
    for place in range(count):
        if place:
            current = steps[place - 1].forward(forward[place - 1 : place])
        forward[place] = _whole(current[0] * seen[place])
    backward = np.ones(size)
    for place in reversed(range(count - 1)):
        backward = _whole(steps[place].backward((backward * seen[place + 1])[None])[0])
        forward[place] = _whole(forward[place] * backward)
    return forward


def _whole(row: Floats) -> Floats:
    return np.asarray(row / max(float(row.sum()), 1e-300))
