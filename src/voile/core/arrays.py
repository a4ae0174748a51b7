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


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, read-only from here on."""
    array.flags.writeable = False
    return array
