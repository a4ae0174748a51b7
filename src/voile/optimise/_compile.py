"""Compiled loops: numba behind one typed door, so that the rest of the room stays typed."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

from voile.errors import MissingExtra

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """The function as machine code that releases the interpreter lock; cached on disk.

    Reassociation of sums stays off: a certificate's rounding bounds rest on the order written.
    """
    return _compiled(function)


def compiled_loosely(function: F) -> F:
    """The same with fused and reordered sums, for a solver whose answer is repaired anyway.

    A division by zero gives an infinity, as in NumPy: the solver looks at what it got and stops.
    """
    flags = {"contract", "reassoc", "arcp"}
    return _compiled(function, fastmath=flags, error_model="numpy")


def _compiled(function: F, **options: Any) -> F:
    try:
        from numba import njit
    except ImportError as missing:
        raise MissingExtra("numba", extra="places") from missing
    return cast(F, njit(nogil=True, cache=True, **options)(function))


def in_slices(work: Callable[[int, slice], None], count: int) -> int:
    """Run work(worker, slice) on all cores over equal slices of `count`; how many there were.

    OMP_NUM_THREADS lowers the number of cores, as it does for matrix products: one of several
    processes at work takes its own.
    """
    workers = max(1, min(_threads(), count))
    cuts = [count * i // workers for i in range(workers + 1)]
    parts = [slice(low, high) for low, high in itertools.pairwise(cuts)]
    if workers == 1:
        work(0, parts[0])
        return 1
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, i, part) for i, part in enumerate(parts)]:
            done.result()
    return workers


def _threads() -> int:
    cores, told = os.cpu_count() or 1, os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, int(told)) if told.isdigit() and int(told) > 0 else cores
