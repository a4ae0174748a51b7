"""An array that follows from a public vocabulary, kept in a file of its owner's."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from voile.files import make_private_folder, open_private
from voile.files.ownership import require_own
from voile.mechanisms._neighbour_table import cache_told

Array = Any


def kept_array(path: Path, make: Callable[[], Array], good: Callable[[Array], bool]) -> Array:
    """The array of a file if it is `good`, else made and put there in one move."""
    if path.exists():
        require_own(path)
        try:
            stored = np.load(path, allow_pickle=False)
        except (OSError, ValueError):
            stored = np.empty(0)
        if good(stored):
            return stored
    made = make()
    part = path.with_name(f".{path.stem}.{os.getpid()}.npy")
    with cache_told(path.parent):
        make_private_folder(path.parent)
        require_own(path.parent)
        with open_private(part, "wb") as file:
            np.save(file, made)
        os.replace(part, path)
    return made
