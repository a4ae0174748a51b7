"""The loops of the lower bound: exact steps along one multiplier after another.

Single precision: what they find is a proposal, and the bound is computed from it in doubles.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices
from voile.optimise._compile import compiled_loosely

Singles = NDArray[np.float32]


@compiled_loosely
def normalise(row: Singles) -> None:
    """Logarithms of weights → of shares that sum to one."""
    most = row[0]
    for y in range(len(row)):
        most = max(most, row[y])
    total = np.float32(0.0)
    for y in range(len(row)):
        total += math.exp(row[y] - most)
    most += math.log(total)
    for y in range(len(row)):
        row[y] -= most


@compiled_loosely
def sweep(
    logs: Singles,
    multipliers: Singles,
    pairs: Indices,
    exponents: Floats,
    heat: Floats,
    backwards: bool,
) -> None:
    """One step along every multiplier, of all outputs side by side: see `lower_bounds`.

    `logs` (N, Y) are ln p_i(y), kept up to date; pairs that share their first place follow each
    other, and a place is normalised before its pairs are looked at.
    """
    count, last = len(pairs), -1
    for step in range(count):
        k = count - 1 - step if backwards else step
        i, j = pairs[k, 0], pairs[k, 1]
        if i != last:
            normalise(logs[i])
            last = i
        give = np.float32(math.exp(-exponents[k]) / heat[i])
        take = np.float32(1.0 / heat[j])
        allowed, size = np.float32(exponents[k]), np.float32(1.0) / (give + take)
        here, there, mine = logs[i], logs[j], multipliers[k]
        for y in range(len(here)):
            change = max((here[y] - allowed - there[y]) * size, -mine[y])
            mine[y] += change
            here[y] -= give * change
            there[y] += take * change
