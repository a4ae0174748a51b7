"""How a mechanism for places was solved for, and all that a design says of itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from voile.core.arrays import Floats, Indices, Items
from voile.errors import BadFile

LARGEST_EPSILON = 100.0
"""Above this a place 100 m off may be e^10 less likely: no privacy worth the name."""


@dataclass(frozen=True, kw_only=True)
class Solved:
    """What solving found. No guarantee rests on it: a loaded design has it on its file's word.

    `cells` and `spline_cells` are rows and columns; `losses` hold what other methods cost on the
    same map; `stopped` names what an interrupt cut short.
    """

    method: str = "not stated"
    loss: float | None = None
    lower_bound: float | None = None
    seconds: float | None = None
    losses: Mapping[str, float] = field(default_factory=dict)
    cells: tuple[int, int] | None = None
    map: str = "not described"
    spline_cells: tuple[int, int] | None = None
    spline_capped: bool = False
    bound_seconds: float | None = None
    stopped: str = ""


NOT_STATED = Solved()


def gap_of(loss: float | None, bound: float | None) -> float | None:
    """How far above the optimum a loss can be at most, as a share of the bound.

    >>> gap_of(1.2, 1.0), gap_of(1.2, None)
    (0.19999999999999996, None)
    """
    if loss is None or bound is None or bound <= 0:
        return None
    return max(0.0, loss / bound - 1)


@dataclass(frozen=True)
class Priced:
    """One epsilon, the method that was solved, its loss, and what none can go below."""

    epsilon: float
    method: str
    loss: float
    lower_bound: float | None


@dataclass(frozen=True, kw_only=True)
class DesignFacts(Solved):
    """A design as JSON holds it: how it was solved, and what follows from its own numbers."""

    epsilon: float
    p: float | Literal["inf"]
    unit: str
    certificate: float
    basis: str
    gap: float | None
    outputs: int
    resolution: float
    distance: str
    stretch: float
    reach: float
    saved: str | None = None
    sweep: tuple[Priced, ...] = ()


def solved_from(stated: Mapping[str, Any]) -> Solved:
    """What a file says, as far as this version knows it; words and numbers, or it is refused."""
    try:
        found: dict[str, Any] = {name: _number(stated.get(name)) for name in _NUMBERS}
        found |= {name: _pair(stated.get(name)) for name in ("cells", "spline_cells")}
        found |= {name: str(stated[name]) for name in _WORDS if name in stated}
        losses = {str(name): float(loss) for name, loss in dict(stated.get("losses", {})).items()}
        solved = Solved(losses=losses, spline_capped=bool(stated.get("spline_capped")), **found)
    except (TypeError, ValueError) as problem:
        raise BadFile("a design must say in words and numbers how it was solved") from problem
    loss, bound = solved.loss, solved.lower_bound
    if loss is not None and bound is not None and loss < bound - 1e-6 * abs(bound):
        raise BadFile("a design must lose at least its lower bound, and the file says less")
    return solved


def map_from(arrays: Mapping[str, Items]) -> tuple[Floats, Floats, Indices]:
    """Places of the plane, a weight for each, and streets between them, or the file is refused."""
    places, prior = (np.asarray(arrays[name], dtype=float) for name in ("places", "prior"))
    streets = np.asarray(arrays["streets"], dtype=np.intp).reshape(-1, 2)
    if places.ndim != 2 or places.shape[1] != 2 or not np.isfinite(places).all():
        raise BadFile("the places of a design's map must be rows of two finite numbers")
    total = prior.sum() if prior.shape == (len(places),) and (prior >= 0).all() else 0.0
    if not 0 < total < np.inf:
        raise BadFile(
            "the prior of a design must be a weight of at least 0 for each place, not all 0"
        )
    if ((streets < 0) | (streets >= len(places))).any():
        raise BadFile("the streets of a design's map must lead from one of its places to another")
    return places, prior, streets


_WORDS = ("method", "map", "stopped")
_NUMBERS = ("loss", "lower_bound", "seconds", "bound_seconds")


def _number(value: Any) -> float | None:
    found = None if value is None else float(value)
    if found is not None and not math.isfinite(found):
        raise ValueError("not finite")
    return found


def _pair(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    first, second = value
    return int(first), int(second)
