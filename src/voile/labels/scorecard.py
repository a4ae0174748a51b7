"""A scorecard: points for each value of each column, whose sum is what a record says of a class."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.labels.columns import Column, matrix_of

Points = tuple[tuple[tuple[int, ...], ...], ...]
"""Of each score, column and code; one score for two classes, one a class for more."""
ONE, MOST = 1000, 50_000
"""Points to a unit of log-odds, and the most that a value can have: sums of hundreds of columns are
whole numbers that single precision holds exactly, so that a record's cell is the same anywhere."""
LARGEST = 1e30
"""Numbers beyond it are taken for it: trees are grown in single precision, and squares are summed.
"""
STRENGTH = 0.03
"""Of the regression, whose columns are scaled: the variance of a weight beforehand."""


def learn_points(
    columns: Sequence[Column], codes: Indices, labels: Indices, *, classes: int
) -> Points:
    """Points by a logistic regression on coded records; none if they have one class only.

    One sum over all columns tells a class where a tree of few leaves can ask for few of them.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    if len(np.unique(labels)) < classes:
        return ()
    parts = [column.decode(codes[:, j]) for j, column in enumerate(columns)]
    table, groups = matrix_of(columns, parts)
    table = np.clip(table, -LARGEST, LARGEST)
    scale = StandardScaler().fit(table)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # judged by its cells, converged or not
        model = LogisticRegression(C=STRENGTH, max_iter=200).fit(scale.transform(table), labels)
    return tuple(
        tuple(
            _whole((_every(column) - scale.mean_[at]) / scale.scale_[at], row[at])
            for column, at in zip(columns, groups, strict=True)
        )
        for row in model.coef_
    )


def scores(points: Points, codes: Indices) -> Floats:
    """The sum of points of each record, a column a score."""
    found = np.zeros((len(codes), len(points)))
    for score, card in enumerate(points):
        for j, of_code in enumerate(card):
            found[:, score] += np.array(of_code, dtype=np.float64)[codes[:, j]]
    return found


def fits(points: Points, columns: Sequence[Column], classes: int) -> bool:
    """Whether points are those of these columns and classes."""
    return len(points) in (0, 1 if classes == 2 else classes) and all(
        len(card) == len(columns)
        and all(
            len(of_code) == len(column) and max(map(abs, of_code), default=0) <= MOST
            for of_code, column in zip(card, columns, strict=True)
        )
        for card in points
    )


def _every(column: Column) -> Floats:
    """Each code of a column as it enters the regression, a row a code."""
    wide = column.wide(column.decode(np.arange(len(column))))
    return np.clip(wide, -LARGEST, LARGEST)


def _whole(values: Floats, weights: Floats) -> tuple[int, ...]:
    found = np.clip(np.rint(ONE * (values @ weights)), -MOST, MOST)
    return tuple(found.astype(int).tolist())
