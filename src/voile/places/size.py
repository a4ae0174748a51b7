"""Whether a design fits into this machine's memory: asked before any work, not after an hour."""

from __future__ import annotations

from voile.errors import InvalidInput
from voile.optimise.memory import physical_memory

COARSE = 110
"""Cells of the coarse pass of `best`, which all outputs take part in."""


def require_tables(places: int, outputs: int) -> None:
    """Loss, law and their products: about four tables of places × outputs doubles."""
    _require(4 * 8 * places * outputs, f"{places:,} places and {outputs:,} outputs")


def require_solver(
    outputs: int, cells: tuple[int, int], *, method: str, against_aipo: bool
) -> None:
    """What the solver holds at once, for the method and for AIPO beside it.

    A spline has 27 rows of constraints a cell and output in about eight vectors, and a dense system
    of its coefficients in three; AIPO has 4 rows a cell.
    """
    count = cells[0] * cells[1]
    grid = {"best": min(count, COARSE), "laplace": 0, "laplace-remap": 0, "region": 0}.get(
        method, count
    )
    spline = 8 * 27 * 8 * outputs * grid + 24 * grid**2
    anchored = (8 * 4 * 8 * outputs * count + 24 * count**2) if against_aipo else 0
    advice = ", or leave out --against-aipo" if anchored > spline else ""
    _require(max(spline, anchored), f"{cells[1]}x{cells[0]} cells", advice)


def _require(needed: int, what: str, advice: str = "") -> None:
    memory = physical_memory()
    if memory is not None and needed > memory // 2:
        raise InvalidInput(
            f"a design must fit into half of this machine's memory ({memory / 2e9:.1f} GB), and "
            f"{what} need about {needed / 1e9:,.1f} GB; use fewer --cells (15x20 is usual: small ε "
            f"uses few outputs){advice}"
        )
