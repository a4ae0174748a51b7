"""The array types that the whole library speaks in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Weights = NDArray[np.uint64]
Indices = NDArray[np.intp]
Items = NDArray[Any]


def immutable(array: NDArray[Any]) -> NDArray[Any]:
    """A copy that nobody can write to, nor make writeable again: its memory is a bytes object."""
    return np.frombuffer(array.tobytes(), dtype=array.dtype).reshape(array.shape)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, read-only from here on."""
    array.flags.writeable = False
    return array
