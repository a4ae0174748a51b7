"""Places on a plane: what a mechanism on a box takes, and what it refuses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Items
from voile.errors import InvalidInput, require

_DEGREES = frozenset(["lat", "latitude", "lon", "lng", "long", "longitude"])


def plane_points(
    places: Sequence[Any] | Items, low: Sequence[float], high: Sequence[float], *, unit: str
) -> Floats:
    """Rows of finite coordinates, none farther off the box than the box is wide (its diagonal).

    What lies farther is in another unit or on another map: moved to the border in silence, a file
    of degrees would become one point.
    """
    columns = " ".join(str(name).lower() for name in getattr(places, "columns", ()))
    named = set(re.split(r"[^a-z]+", columns))
    points = np.asarray(places, dtype=np.float64)
    base, top = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    ok = points.ndim == 2 and points.shape[1] == len(base)
    require(ok, "places", f"rows of {len(base)} coordinates", f"shape {points.shape}")
    bad = int((~np.isfinite(points)).any(axis=1).sum())
    require(bad == 0, "places", "finite", f"{bad} rows with NaN or infinity")
    beyond = np.linalg.norm(points - np.clip(points, base, top), axis=1)
    far = int((beyond > np.linalg.norm(top - base)).sum())
    if far or named & _DEGREES:
        given = f"{far} of {len(points)} rows" if far else "columns named as degrees"
        raise InvalidInput(
            f"places must be {unit} on the mechanism's plane, at most its diagonal away from it, "
            f"got {given} that are not; for degrees use design.release(places) of the design that "
            "holds the mechanism"
        )
    return points
