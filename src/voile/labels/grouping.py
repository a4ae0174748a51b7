"""How coarse the columns of a sampled release are, from epsilon, the records and public facts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import require, require_epsilon
from voile.labels.columns import Column, NumberColumn
from voile.labels.recipes import Recipe

FINEST = 16
_EVEN = 1e-3
"""How much evenness counts beside what groups say of the label, in nats."""


def grouped(recipe: Recipe, *, epsilon: float, records: int) -> Recipe:
    """The recipe with each column's codes merged into as few groups as its reports can bear.

    N = records/columns reports tell a share with variance c/N, c = min((2k − 2 + e^ε), 4e^ε) /
    (e^ε − 1)² for k classes. Each group adds such an error and takes off a bias that falls as the
    square of their number, so the best number grows as the cube root of N/c; a third of that, two
    to sixteen, is what served on Adult. Groups are runs of codes, numbers in their own
    order, categories in that of their public leaning to a class (by frequency where no class is
    known): the runs that keep most of the public information on the label, then the most even ones.
    """
    require_epsilon(epsilon)
    require(records >= 1, "records", ">= 1", records)
    if recipe.groups:
        return recipe
    varying = [column for column in recipe.columns if len(column) > 1]
    require(bool(varying), "a recipe for sampled columns", "with a feature that varies", "none")
    count = _groups_for(epsilon, records / len(varying), len(recipe.classes))
    tables = recipe.known or tuple(np.ones((len(column), 1)) for column in recipe.columns)
    return replace(
        recipe,
        groups=tuple(
            tuple(_runs(_order(column, table), table, count).tolist())
            for column, table in zip(recipe.columns, tables, strict=True)
        ),
    )


def merged(column: Column, count: int) -> Indices:
    """The group of each code of a column where nothing is known of it: so many even runs."""
    table = np.ones((len(column), 1))
    return _runs(_order(column, table), table, count)


def _groups_for(epsilon: float, reports: float, classes: int) -> int:
    top = math.exp(min(epsilon, 50.0))
    noise = min(2 * classes - 2 + top, 4 * top) / (top - 1) ** 2
    return int(min(FINEST, max(2, round((reports / noise) ** (1 / 3) / 3))))


def _order(column: Column, table: Floats) -> Indices:
    """The codes in the order in which runs of them are merged."""
    if isinstance(column, NumberColumn):
        return np.arange(len(table))
    mass = table.sum(axis=1)
    if table.shape[1] == 1 or len(table) < 3:
        return np.argsort(-mass, kind="stable")
    smooth = table + table.sum(axis=0) / mass.sum() * 2.0
    share = smooth / smooth.sum()
    rows, columns = share.sum(axis=1), share.sum(axis=0)
    apart = (share - np.outer(rows, columns)) / np.sqrt(np.outer(rows, columns))
    leaning = np.linalg.svd(apart)[0][:, 0] / np.sqrt(rows)  # correspondence analysis, first axis
    return np.argsort(leaning.round(9), kind="stable")


def _runs(order: Indices, table: Floats, count: int) -> Indices:
    """The group of each code: runs of the order, by dynamic programming over their ends."""
    size = len(order)
    if size <= count:
        return np.arange(size)
    mass = np.vstack([np.zeros(table.shape[1]), np.cumsum(table[order] + 1e-6, axis=0)])
    mass /= mass[-1].sum()
    gain = np.full((size + 1, size + 1), -np.inf)
    for start in range(size):
        part = mass[start + 1 :] - mass[start]
        whole = part.sum(axis=1)
        told = (part * np.log(part / whole[:, None])).sum(axis=1)
        gain[start, start + 1 :] = told - _EVEN * whole * np.log(whole)
    best = np.full((count + 1, size + 1), -np.inf)
    came = np.zeros((count + 1, size + 1), dtype=np.intp)
    best[0, 0] = 0.0
    for used in range(1, count + 1):
        reach = best[used - 1][:, None] + gain
        came[used], best[used] = reach.argmax(axis=0), reach.max(axis=0)
    groups, end = np.empty(size, dtype=np.intp), size
    for used in range(count, 0, -1):
        start = int(came[used, end])
        groups[order[start:end]] = used - 1
        end = start
    return groups


def column_probabilities(recipe: Recipe) -> Floats:
    """How often each column is drawn: alike, or by the root of what it is publicly known to tell.

    What a column tells is its groups' mutual information with the label in public records, less
    what chance gives; a tenth is shared evenly. A column of one group is never drawn.
    """
    sizes = np.array([max(groups) + 1 for groups in recipe.groups])
    free = (sizes > 1).astype(np.float64)
    require(bool(free.any()), "a recipe for sampled columns", "with a feature that varies", "none")
    even = free / free.sum()
    if not recipe.known or recipe.known[0].shape[1] == 1:
        return even
    told = free * np.sqrt([_told(t, g) for t, g in zip(recipe.known, recipe.groups, strict=True)])
    return even if not told.any() else np.asarray(0.9 * told / told.sum() + 0.1 * even)


def _told(table: Floats, groups: Sequence[int]) -> float:
    """Mutual information of group and class in nats, less its mean under independence."""
    merged = np.zeros((max(groups) + 1, table.shape[1]))
    np.add.at(merged, np.array(groups), table)
    total = merged.sum()
    share = merged / total
    apart = np.outer(share.sum(axis=1), share.sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = float(np.nansum(np.where(share > 0, share * np.log(share / apart), 0.0)))
    chance = (len(merged) - 1) * (table.shape[1] - 1) / (2 * total)
    return max(found - chance, 1e-5)
