"""Sums and differences of two numbers: a stay is when one left less when one came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from voile.attackers.label_reading import Block
from voile.core.arrays import Floats, Indices

MOST_NUMBERS = 8
"""Of more columns not all pairs are tried: there are too many that tell by chance."""
KEPT = 4
BINS = 16


@dataclass(frozen=True)
class Pair:
    """first + sign·second of two columns, and how it is scaled for a linear classifier."""

    first: int
    second: int
    sign: int
    middle: float
    width: float

    def of(self, blocks: Sequence[Block]) -> Floats:
        """The sum or difference for each record, NaN where one of the two is missing."""
        return np.asarray(
            blocks[self.first].dense[:, 0] + self.sign * blocks[self.second].dense[:, 0]
        )

    def block(self, blocks: Sequence[Block]) -> Block:
        """The same as a column that classifiers read."""
        from scipy.sparse import csr_array

        values = self.of(blocks)
        scaled = np.where(np.isnan(values), 0.0, (values - self.middle) / self.width)
        return Block(csr_array(scaled[:, None]), values[:, None])


def telling_pairs(blocks: Sequence[Block], labels: Indices) -> tuple[Pair, ...]:
    """The pairs of numbers, four at most, that say more of the label than both numbers do.

    By the mutual information of sixteen even bins with the label, beyond what chance gives twice
    over, on the records that a classifier is fitted to.
    """
    numbers = [at for at, block in enumerate(blocks) if block.number]
    if not 2 <= len(numbers) <= MOST_NUMBERS:
        return ()
    alone = {at: _told(blocks[at].dense[:, 0], labels) for at in numbers}
    chance = (BINS - 1) * len(np.unique(labels)) / len(labels)
    found = []
    for first, second in combinations(numbers, 2):
        for sign in (-1, 1):
            values = Pair(first, second, sign, 0.0, 1.0).of(blocks)
            told = _told(values, labels)
            if told > max(alone[first], alone[second]) + chance:
                there = values[~np.isnan(values)]
                middle, width = float(there.mean()), float(there.std())
                found.append((told, Pair(first, second, sign, middle, width or 1.0)))
    found.sort(key=lambda one: -one[0])
    return tuple(pair for _, pair in found[:KEPT])


def with_pairs(blocks: Sequence[Block], pairs: Sequence[Pair]) -> list[Block]:
    """The columns, and the pairs of them that were chosen."""
    return [*blocks, *(pair.block(blocks) for pair in pairs)]


def _told(values: Floats, labels: Indices) -> float:
    """Mutual information of a number's even bins, what is missing being one, with the label."""
    there = values[~np.isnan(values)]
    if not len(there):
        return 0.0
    cuts = np.unique(np.quantile(there, np.linspace(0, 1, BINS + 1)[1:-1], method="nearest"))
    bins = np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values, side="right"))
    joint = np.zeros((len(cuts) + 2, int(labels.max()) + 1))
    np.add.at(joint, (bins, labels), 1 / len(labels))
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / apart[seen])).sum())
