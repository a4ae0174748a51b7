"""Distances on the Earth, and how far a plane can be trusted to keep them.

Around a centre the azimuthal equidistant plane holds geodesic polar coordinates: a place at
geodesic distance s and azimuth α stands at distance s in direction α. There the plane's length
element is ds² + s²dα², the ellipsoid's ds² + m²dα² with the reduced length m: m″ + K·m = 0,
m(0) = 0, m′(0) = 1. The Gaussian curvature K of WGS 84 lies in (0, 1/b²], b the polar semi-axis,
largest on the equator, so by Sturm's comparison b·sin(s/b) ≤ m ≤ s. Disks of radius R < πb/2 are
convex, so for any two places in one, with d geodesic and D in the plane,

    d ≤ D ≤ d·(R/b)/sin(R/b).

docs/explanation/places-on-the-ellipsoid.md has the proof in full.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.errors import InvalidInput, MissingExtra, require

POLAR_AXIS = 6356.7523142
"""Of WGS 84, km, rounded down."""
LARGEST_REACH = 1500.0
"""Km from a map's centre; one plane then costs less than 1 % of ε."""
GEODESIC_ERROR = 1e-6
"""Km: a millimetre. PROJ takes all within 0.64 mm of the centre for the centre; elsewhere
projections and geodesics in doubles were never seen off by 1e-11."""


def stretch(radius: float) -> float:
    """The most by which the plane lengthens a distance within `radius` km of its centre.

    (R/b)/sin(R/b), rounded up.

    >>> round(1e6 * (stretch(30.0) - 1), 2)     # parts in a million
    3.71
    """
    require(0 < radius <= LARGEST_REACH, "a radius", f"> 0 and <= {LARGEST_REACH:g} km", radius)
    angle = radius / POLAR_AXIS
    return angle / math.sin(angle) * (1 + 2.0**-40)


def geodesic_km(
    latitudes: Floats, longitudes: Floats, to_latitudes: Floats, to_longitudes: Floats
) -> Floats:
    """The length of the shortest path on the ellipsoid between places, pair by pair."""
    metres = _ellipsoid().inv(longitudes, latitudes, to_longitudes, to_latitudes)[2]
    return np.asarray(metres, dtype=float) / 1000


def mean_place(latitudes: Floats, longitudes: Floats) -> tuple[float, float]:
    """Latitude and longitude of the mean of the places' unit vectors: no seam, no pole."""
    lat, lon = np.radians(latitudes), np.radians(longitudes)
    up = np.cos(lat)
    x, y, z = (float(a.mean()) for a in (up * np.cos(lon), up * np.sin(lon), np.sin(lat)))
    if math.hypot(x, y, z) < 0.5:
        raise too_wide()
    return math.degrees(math.atan2(z, math.hypot(x, y))), math.degrees(math.atan2(y, x))


def too_wide() -> InvalidInput:
    """What is said of a map that one plane cannot bear."""
    return InvalidInput(
        f"a map must lie within {LARGEST_REACH / 2:g} km of its centre, and this one does not: one "
        "plane cannot keep its distances; give a smaller area, or one map for each region (in a "
        "box, west and east may be swapped, or a junction may be misplaced)"
    )


@cache
def _ellipsoid() -> Any:
    try:
        from pyproj import Geod
    except ImportError as missing:
        raise MissingExtra("pyproj", extra="places") from missing
    return Geod(ellps="WGS84")


def reach_of(low: Floats, high: Floats) -> float:
    """Twice the distance of the farthest corner from the centre; refused if one is too far."""
    corner = np.maximum(np.abs(low), np.abs(high))
    reach = 2 * float(np.linalg.norm(corner))
    if not reach <= LARGEST_REACH:
        raise too_wide()
    return reach


def geodesic_epsilon(plane: float, lengthening: float) -> float:
    """ε per geodesic km of a mechanism of ε per km of the plane, rounded up."""
    return plane * lengthening * (1 + 2.0**-51)


def plane_epsilon(epsilon: float, lengthening: float) -> float:
    """The ε per km of the plane that keeps `epsilon` per geodesic km, rounded down."""
    return epsilon / lengthening * (1 - 2.0**-50)
