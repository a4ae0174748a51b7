"""Records as rows of codes, a code a column: what mechanisms of several channels share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from voile.core.arrays import Indices, Items
from voile.core.channel import Channel
from voile.core.space import Space
from voile.errors import require

MOST_LISTED = 100_000


def secrets_of(channels: Sequence[Channel]) -> list[int]:
    """How many secrets each column has."""
    return [len(channel.space) for channel in channels]


def outputs_of(channels: Sequence[Channel]) -> list[int]:
    """How many outputs each column has."""
    return [len(channel.outputs) for channel in channels]


def record_space(channels: Sequence[Channel]) -> Space:
    """All records there are, where they are few enough to be listed."""
    from voile.metrics.discrete_distance import discrete

    sizes = secrets_of(channels)
    count = math.prod(sizes)
    require(count <= MOST_LISTED, "records", f"at most {MOST_LISTED:,} to be listed", count)
    return Space(np.indices(sizes).reshape(len(sizes), -1).T, metric=discrete())


def record_codes(values: Sequence[Any] | Items, sizes: Sequence[int]) -> Indices:
    """Rows of integer codes, each below the size of its column."""
    rows = np.asarray(values)
    good = rows.ndim == 2 and rows.shape[1] == len(sizes) and rows.dtype.kind in "iu"
    require(good, "records", f"rows of {len(sizes)} integer codes", f"shape {rows.shape}")
    inside = bool(((rows >= 0) & (rows < np.array(sizes))).all())
    require(inside, "codes", "below the number of values of their column", "others")
    return rows.astype(np.intp)


def label_space(labels: Sequence[Any] | Items, *, least: int = 1) -> Space:
    """Some labels, each of them once, in the discrete metric."""
    from voile.metrics.discrete_distance import discrete

    space = Space(labels, metric=discrete())
    require(space.items.ndim == 1, "labels", "a list of labels", f"{space.items.ndim} dimensions")
    repeated = len(space) - len(set(space.items.tolist()))
    require(repeated == 0, "labels", "distinct", f"{repeated} repeated")
    require(len(space) >= least, "labels", f"at least {least}, distinct", len(space))
    return space
