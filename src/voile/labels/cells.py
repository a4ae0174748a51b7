"""Feature space cut into cells that speak about the label, with what is known of P(cell|label)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.core.randomness import Generator
from voile.errors import MissingExtra, require
from voile.labels.columns import Column, NumberColumn, matrix_of
from voile.labels.scorecard import LARGEST, Points, learn_points, scores
from voile.leakage.bounds import clopper_pearson

MANY = 1e9
"""Records that say as much as a share that is stated exactly."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A decision tree as plain arrays, a typical record for each leaf, and bounds on P(leaf|label).

    Records are placed by their codes, so every record has a cell, whatever is missing in it.
    `lower ≤ P(cell|label) ≤ upper` for all cells and labels together with probability at least
    1 − failure_probability, if records are independent draws.
    """

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    leaf: tuple[int, ...]
    typical: tuple[tuple[int, ...], ...]
    lower: Floats
    upper: Floats
    weights: Floats
    failure_probability: float
    points: Points = ()
    """Scores beside the columns, on which the tree may cut too."""

    def __len__(self) -> int:
        return len(self.typical)

    def of(self, columns: Sequence[Column], values: Sequence[NDArray[Any]]) -> Indices:
        """The cell of each record."""
        codes = np.stack([c.encode(v) for c, v in zip(columns, values, strict=True)], axis=1)
        return self._walk(_side_by_side(columns, codes, self.points)[0])

    def decode(self, cells: Indices, columns: Sequence[Column]) -> tuple[NDArray[Any], ...]:
        """The typical record of each cell, by column."""
        codes = np.array(self.typical, dtype=np.intp)[cells]
        return tuple(column.decode(codes[:, j]) for j, column in enumerate(columns))

    def different(self, kept: Sequence[int]) -> int:
        """How many typical records differ in these columns: all that is released of them."""
        return len({tuple(row[j] for j in kept) for row in self.typical})

    def telling(self) -> tuple[int, ...]:
        """The columns in which typical records differ; the others are one constant each."""
        codes = np.array(self.typical, dtype=np.intp)
        return tuple(np.flatnonzero((codes != codes[0]).any(axis=0)).tolist())

    def loss(self) -> Floats:
        """How much a change of cell misleads: the belief about the label it moves, and a little.

        TV(P(·|c), P(·|c')) at the middle of the bounds, plus 0.05 for any change, so that cells
        with the same belief are not exchanged for nothing.
        """
        middle = (self.lower + self.upper) / 2
        belief = middle / middle.sum(axis=1, keepdims=True)
        moved = 0.5 * np.abs(belief[:, None, :] - belief[None, :, :]).sum(axis=2)
        return np.asarray(moved + 0.05 * (1 - np.eye(len(belief))))

    def known(self) -> Floats:
        """What the bounds say of P(cell|label), as counts of records that would say as much.

        A share P of n records is bounded by about (P + z²/2n ± z√(P(1 − P)/n + z²/4n²))/(1 + z²/n)
        (Wilson's score interval), z the normal quantile of one bound's failure. Middles tell P if n
        is known, and widths, over all cells of a label, n if P is: one by the other, in turn.
        """
        middle, half = (self.lower + self.upper) / 2, (self.upper - self.lower) / 2
        z = NormalDist().inv_cdf(1 - self.failure_probability / (2 * middle.size)) ** 2
        wide = (half**2).sum(axis=0)
        plain = share = middle / middle.sum(axis=0)
        records = np.full(middle.shape[1], MANY)
        for _ in range(30):
            told = z * (share * (1 - share) + z / (4 * records)) / (1 + z / records) ** 2
            records = np.clip(told.sum(axis=0) / np.maximum(wide, 1e-300), 1e-3, MANY)
            left = np.maximum(middle * (1 + z / records) - z / (2 * records), 0.0)
            whole = left.sum(axis=0)
            share = np.where(whole > 0, left / np.where(whole > 0, whole, 1.0), plain)
        return np.asarray(share * np.where(wide > 0, records, MANY))

    def _walk(self, table: Floats) -> Indices:
        """Down the tree, with numbers in single precision as the tree was grown on them."""
        single = table.astype(np.float32)
        node = np.zeros(len(table), dtype=np.intp)
        feature, threshold = np.array(self.feature), np.array(self.threshold)
        left, right = np.array(self.left), np.array(self.right)
        rows = np.arange(len(table))
        while (inner := left[node] >= 0).any():
            below = single[rows, np.maximum(feature[node], 0)] <= threshold[node]
            node = np.where(inner, np.where(below, left[node], right[node]), node)
        return np.array(self.leaf, dtype=np.intp)[node]


def learn_cells(
    columns: Sequence[Column],
    values: Sequence[NDArray[Any]],
    labels: Indices,
    *,
    classes: int,
    rng: Generator,
    cells: int | None = None,
    epsilon: float | None = None,
    failure_probability: float = 1e-3,
    private: bool = False,
) -> Cells:
    """Grow a tree on one half of the records, bound P(leaf|label) from the other.

    The halves are separate so that the counts are binomial given the tree, and Clopper–Pearson
    intervals at failure_probability/(cells·labels) hold for all of them at once. Their number
    is `cells_for` these records and the epsilon of the releases, unless it is given. The tree is
    grown on codes, and on a scorecard of all columns that is learned from the first half too: one
    cut of a sum tells more than one of a column. A leaf's typical record is the one of the first
    half that is nearest to its median levels and commonest categories, so it lies in its own cell
    and does not contradict itself. From
    `private` records no single one is taken, and no scorecard: median levels and commonest
    categories are shown as they are, those of all records for a feature that no cut uses.
    """
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError as problem:
        raise MissingExtra("scikit-learn", extra="labels") from problem
    cells = cells_for(len(labels), epsilon) if cells is None else cells
    require(2 <= cells <= 64, "cells", "between 2 and 64", cells)
    codes = np.stack([c.encode(part) for c, part in zip(columns, values, strict=True)], axis=1)
    order = rng.permutation(len(labels))
    growing, counting = order[: len(order) // 2], order[len(order) // 2 :]
    points: Points = ()
    if not private:
        points = learn_points(columns, codes[growing], labels[growing], classes=classes)
    table, groups = _side_by_side(columns, codes, points)
    fewest = max(5, len(growing) // (8 * cells))
    tree = DecisionTreeClassifier(
        max_leaf_nodes=cells, min_samples_leaf=fewest, random_state=int(rng.integers(2**31))
    ).fit(table[growing], labels[growing])
    shape = tree.tree_
    leaves = np.flatnonzero(shape.children_left < 0)
    number = np.full(shape.node_count, -1, dtype=np.intp)
    number[leaves] = np.arange(len(leaves))
    bare = Cells(
        feature=tuple(shape.feature.tolist()),
        threshold=tuple(shape.threshold.tolist()),
        left=tuple(shape.children_left.tolist()),
        right=tuple(shape.children_right.tolist()),
        leaf=tuple(number.tolist()),
        typical=(),
        lower=np.empty(0),
        upper=np.empty(0),
        weights=np.empty(0),
        failure_probability=failure_probability,
        points=points,
    )
    at = bare._walk(table)  # the very function that later places records
    lower, upper = _bracket(
        at[counting], labels[counting], len(leaves), classes, failure_probability
    )
    inside = [codes[growing[at[growing] == leaf]] for leaf in range(len(leaves))]
    if private:
        cut = set(shape.feature[shape.feature >= 0].tolist())
        shaping = np.array([bool(cut & set(group.tolist())) for group in groups])
        everywhere = _middle(codes[growing], columns)
        typical = [np.where(shaping, _middle(part, columns), everywhere) for part in inside]
    else:
        typical = [_nearest(part, _middle(part, columns), columns) for part in inside]
    counts = np.bincount(at[counting], minlength=len(leaves)).astype(np.float64)
    return replace(
        bare,
        typical=tuple(tuple(row.tolist()) for row in typical),
        lower=lower,
        upper=upper,
        weights=counts + 1.0,
    )


def _side_by_side(
    columns: Sequence[Column], codes: Indices, points: Points
) -> tuple[Floats, tuple[Indices, ...]]:
    """Coded features and scores in one table, and which of it belongs to which feature."""
    parts = [column.decode(codes[:, j]) for j, column in enumerate(columns)]
    table, groups = matrix_of(columns, parts)
    return np.hstack([np.clip(table, -LARGEST, LARGEST), scores(points, codes)]), groups


def cells_for(records: int, epsilon: float | None) -> int:
    """How many cells: one for every thirty records, and four for each unit of ε, from 6 to 32.

    More cells are finer but known less well, and what is not known must be blurred; at a small ε
    most of what many cells say must be blurred anyway. Without an ε there are at most 16. Three are
    the fewest. The rule looks at public facts alone; it was set on Adult, 500 to 22,000 records.
    """
    most = 16 if epsilon is None else max(6, min(32, round(4 * epsilon)))
    return max(3, min(most, records // 30))


def _middle(codes: Indices, columns: Sequence[Column]) -> Indices:
    """The median level or commonest category of each column."""
    return np.array(
        [
            int(np.quantile(codes[:, j], 0.5, method="nearest"))
            if isinstance(column, NumberColumn)
            else int(np.bincount(codes[:, j]).argmax())
            for j, column in enumerate(columns)
        ],
        dtype=np.intp,
    )


def _nearest(codes: Indices, middle: Indices, columns: Sequence[Column]) -> Indices:
    """The record that differs least from the middle: 1 for a category, a share of the levels."""
    number = np.array([isinstance(column, NumberColumn) for column in columns])
    sizes = np.array([len(column) for column in columns])
    ways = np.unique(codes, axis=0)  # in a fixed order, whatever that of the records
    away = np.where(number, np.abs(ways - middle) / sizes, ways != middle).sum(axis=1)
    return np.asarray(ways[int(away.argmin())])


def _bracket(
    cells: Indices, labels: Indices, count: int, classes: int, failure: float
) -> tuple[Floats, Floats]:
    """Clopper–Pearson for every P(cell|label) at once; a label that was not seen is unknown."""
    seen = np.zeros((count, classes), dtype=np.intp)
    np.add.at(seen, (cells, labels), 1)
    total = seen.sum(axis=0)
    lower, upper = np.zeros((count, classes)), np.ones((count, classes))
    share = failure / (count * classes)
    for c, y in np.ndindex(count, classes):
        if total[y]:
            lower[c, y], upper[c, y] = clopper_pearson(
                successes=int(seen[c, y]), samples=int(total[y]), failure_probability=share
            )
    return lower, upper
