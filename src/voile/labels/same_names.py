"""Whether two columns of many names say the same: a ward left is the ward entered, or it is not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from voile.attackers.label_reading import FEW
from voile.core.arrays import Floats
from voile.labels.table import Table

MOST = 8
"""Of more columns not all pairs are tried."""


def same_names(table: Table) -> Iterator[tuple[str, Floats]]:
    """For each two columns of more than 32 names: where they agree, if some do and others do not.

    Few names are told apart by classifiers themselves, many only if somebody compares them.
    """
    names = [
        (name, values)
        for name, values in zip(table.names, table.columns, strict=True)
        if values.dtype.kind == "U" and len(np.unique(values)) > FEW
    ]
    if len(names) > MOST:
        return
    for (first, values), (second, others) in combinations(names, 2):
        same = values == others
        if 0 < same.sum() < len(same):
            yield f"{first} is {second}", same.astype(np.float64)
