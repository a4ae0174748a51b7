"""Made-up records from counts with noise: what a curator who sees every record could share.

Another trust model than that of `labels protect`: nothing is drawn for a record by itself, whoever
holds the file counts all of it. It is a yardstick for what trust is worth, and no release.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.core.falling_weights import SMALLEST_STEP, end, falling_weights, noise
from voile.core.guarantee import Basis, Guarantee
from voile.core.randomness import Generator
from voile.core.rounding import sum_upwards
from voile.errors import InvalidInput, require_epsilon
from voile.labels.columns import NumberColumn
from voile.labels.grouping import merged
from voile.labels.recipes import Recipe

NAME = "central DP"
TRUST = (
    "central DP is a yardstick of another trust model: a curator who sees every record counts "
    "them, adds noise and makes up records from the counts. No row is anybody's, so an attacker "
    "who reads them alone guesses; ε bounds one who knows all other records too."
)
WORTH = 4.0
"""So many times its noise a count should be where records are even: by it numbers are cut."""
CURATOR = "the curator, who counts every record (central trust model)"


@dataclass(frozen=True, eq=False)
class Synthetic:
    """Made-up records by column, their labels, and what was promised for each true record."""

    values: tuple[NDArray[np.generic], ...]
    labels: Indices
    guarantee: Guarantee


def synthetic_records(
    recipe: Recipe,
    values: tuple[NDArray[np.generic], ...],
    labels: Indices,
    *,
    epsilon: float,
    rng: Generator,
) -> Synthetic:
    """As many made-up records as there are, from noisy tables of each feature with the label.

    For d features that vary, d tables of counts (value, class) are taken. Another record in the
    place of one takes 1 from a cell of each table and adds 1 to another, so whole-number noise
    whose weights fall by at most e^(ε/2d) a step makes all tables together ε-DP, but for the chance
    2d·Pr[largest noise] that a changed count lies where the other file's cannot (δ, about 10⁻¹⁸).
    Weights are integers and drawn as such (`falling_weights`). The rest looks at no record again:
    every table is moved to the nearest one without negative counts for the mean of the tables'
    class counts, a label is drawn by those, and each feature by its table given the label,
    independently. That is the law of largest entropy with these tables (a star around the label).
    The number of records is not hidden. Costs the number of cells and of records.
    """
    from voile.metrics.discrete_distance import discrete

    epsilon = require_epsilon(epsilon)
    classes, count = len(recipe.classes), len(labels)
    varying = [j for j, column in enumerate(recipe.columns) if len(column) > 1]
    if not varying:
        raise InvalidInput("at least one feature must vary, all are constant")
    step = epsilon * (1 - 2.0**-40) / (2 * len(varying))
    if step < SMALLEST_STEP:
        raise InvalidInput(
            f"epsilon must leave {SMALLEST_STEP:g} for each count, got {step:.2g}; give more"
        )
    weights = falling_weights(step)
    cells = max(2, int(count * step / (WORTH * classes)))
    groups = [
        merged(c, cells) if isinstance(c, NumberColumn) else np.arange(len(c))
        for c in recipe.columns
    ]
    tables: dict[int, Floats] = {}
    for j in varying:
        code = groups[j][recipe.columns[j].encode(values[j])]
        size = int(groups[j].max()) + 1
        true = np.bincount(code * classes + labels, minlength=size * classes)
        noisy = true + np.array(noise(len(true), weights, rng))
        tables[j] = noisy.reshape(size, classes).astype(np.float64)
    share = nearest(np.mean([table.sum(axis=0) for table in tables.values()], axis=0), float(count))
    drawn = _choices(share / count, count, rng)
    made: list[NDArray[np.generic]] = []
    for j, column in enumerate(recipe.columns):
        codes = np.zeros(count, dtype=np.intp)
        for label in range(classes if j in tables else 0):
            here = np.flatnonzero(drawn == label)
            law = nearest(tables[j][:, label], 1.0 + share[label])
            codes[here] = _within(groups[j], _choices(law / law.sum(), len(here), rng), rng)
        made.append(column.decode(codes))
    parts = 2 * len(varying)
    guarantee = Guarantee(
        sum_upwards(*[step] * parts),
        discrete(),
        "one record",
        Basis.PROVED,
        delta=sum_upwards(*[end(weights)] * parts),
        outside=(CURATOR,),
    )
    return Synthetic(tuple(made), drawn, guarantee)


def nearest(counts: Floats, total: float) -> Floats:
    """The nearest counts (least squares) without negatives that sum to a total.

    >>> nearest(np.array([5.0, -1.0, 2.0]), 6.0).tolist()
    [4.5, 0.0, 1.5]
    """
    ordered = np.sort(counts)[::-1]
    over = (np.cumsum(ordered) - total) / np.arange(1, len(counts) + 1)
    last = int(np.flatnonzero(ordered > over)[-1])
    return np.asarray(np.maximum(counts - over[last], 0.0))


def _choices(law: Floats, count: int, rng: Generator) -> Indices:
    ends = np.cumsum(law)
    found = np.searchsorted(ends / ends[-1], rng.random(count), side="right")
    return np.asarray(np.minimum(found, len(law) - 1), dtype=np.intp)


def _within(groups: Indices, drawn: Indices, rng: Generator) -> Indices:
    """A code of each drawn group, all alike: levels of a number are even quantiles."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    return np.asarray(order[starts[drawn] + (rng.random(len(drawn)) * sizes[drawn]).astype(int)])
