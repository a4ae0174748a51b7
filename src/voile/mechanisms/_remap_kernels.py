"""The sums behind a remap, in a fixed order: the same to the last bit on any processor.

A library's matrix product adds in an order that depends on the processor, the shape of the block
and the number of threads, and its last bit then decides between two words that serve equally
well. Here every sum runs over its words, or its coordinates, from first to last; what a processor
does side by side are different sums.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voile.mechanisms._word_kernels import exp_minus, njit

Array = Any

_TILE = 512
"""Words that are worked on together, so that their vectors stay in the processor's cache."""

_ROUNDING = 2.0**-46
"""Bound on the error of a product of two vectors, for up to 100 coordinates and as a rule more."""


@njit(cache=True, nogil=True)
def weigh(table: Array, rate: float, cap: float, totals: Array) -> None:
    """Squared distances become weights exp(−min(rate·√S, cap)) in place; their sums by row."""
    for row in range(table.shape[0]):
        weights = table[row]
        for j in range(len(weights)):
            weights[j] = exp_minus(min(rate * math.sqrt(weights[j]), cap))
        total = 0.0
        for j in range(len(weights)):
            total += weights[j]
        totals[row] = total


@njit(cache=True, nogil=True)
def add_multiples(factors: Array, rows: Array, sums: Array) -> None:
    """sums[k] += Σ_i factors[i]·rows[i, k], over i in increasing order, four at a step."""
    fours = len(factors) - len(factors) % 4
    for i in range(0, fours, 4):
        a, b, c, d = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
        first, second, third, fourth = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        for k in range(len(sums)):
            sums[k] = (((sums[k] + a * first[k]) + b * second[k]) + c * third[k]) + d * fourth[k]
    for i in range(fours, len(factors)):
        for k in range(len(sums)):
            sums[k] += factors[i] * rows[i, k]


@njit(cache=True, nogil=True)
def mean_directions(table: Array, scaled: Array, means: Array) -> None:
    """means[y] = Σ_x table[y, x]·scaled[x], over x in increasing order."""
    means[:] = 0.0
    for first in range(0, table.shape[1], _TILE):
        here = slice(first, min(first + _TILE, table.shape[1]))
        for row in range(table.shape[0]):
            add_multiples(table[row, here], scaled[here], means[row])


@njit(cache=True, nogil=True)
def best_aims(means: Array, aims: Array, own: Array, best: Array) -> None:
    """The aim (a column) with the largest product with each mean, −1 where `own` is as good.

    Products that differ by less than their rounding are equal, and the first of equals is taken:
    words in one direction are tied, however their coordinates were rounded.
    """
    best[:] = -1
    reached, slack = np.empty(len(means)), np.empty(len(means))
    for row in range(len(means)):
        reached[row], slack[row] = 0.0, 0.0
        for k in range(means.shape[1]):
            reached[row] += means[row, k] * own[row, k]
            slack[row] += _ROUNDING * abs(means[row, k])
    for first in range(0, aims.shape[1], _TILE):
        columns = np.ascontiguousarray(aims[:, first : first + _TILE])
        products = np.empty(columns.shape[1])
        for row in range(len(means)):
            products[:] = 0.0
            add_multiples(means[row], columns, products)
            for j in range(len(products)):
                if products[j] > reached[row] + slack[row]:
                    reached[row], best[row] = products[j], first + j
