"""Two ways to put places into a space of kilometres where noise is added: the globe, and a map.

On the **globe** a place is its point in space (WGS 84, height 0): three coordinates, for the whole
Earth alike. A chord is never longer than the shortest path along the surface, so what is ε-private
per km of space is ε-private per geodesic km. There is no centre, no border, no pole and no seam:
nothing about the map can be learned from private places, because there is none.

A public **map** (a box) is put on a plane, azimuthal equidistant, which lengthens distances by at
most σ within its reach (`geodesy.stretch`). Two coordinates need less noise than three: releases
fall 15 % closer at the same ε.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats
from voile.places.geodesy import reach_of, stretch
from voile.places.problems import box_edge
from voile.places.projection import Projection, check_degrees, projection_around

EQUATOR = 6378.137
"""The semi-major axis of WGS 84, km."""
_FLATTENING = 1 / 298.257223563
_SQUARED = _FLATTENING * (2 - _FLATTENING)
SHARPEST = EQUATOR * (1 - _SQUARED)
"""The smallest radius of curvature of the ellipsoid, km: along a meridian, on the equator."""


@dataclass(frozen=True)
class Globe:
    """The whole Earth in space."""

    dimensions: ClassVar[int] = 3
    stretch: ClassVar[float] = 1.0
    """No chord is longer than the path along the surface."""
    reach: ClassVar[float] = math.inf
    """There is no place beyond it."""

    def to_km(self, latitudes: Floats, longitudes: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Points in space, and which places are too far off: none."""
        lat, lon = np.asarray(latitudes, dtype=float), np.asarray(longitudes, dtype=float)
        check_degrees(lat, lon)
        a, b = np.radians(lat), np.radians(lon)
        across = EQUATOR / np.sqrt(1 - _SQUARED * np.sin(a) ** 2)
        x, y = across * np.cos(a) * np.cos(b), across * np.cos(a) * np.sin(b)
        points = np.stack([x, y, across * (1 - _SQUARED) * np.sin(a)], axis=1)
        return points, np.zeros(len(points), dtype=bool)

    def to_degrees(self, points: Floats) -> tuple[Floats, Floats]:
        """The place below or above each point in space (Bowring 1976, to nanometres near it)."""
        x, y, z = np.asarray(points, dtype=float).T
        polar = EQUATOR * (1 - _FLATTENING)
        out = np.hypot(x, y)
        angle = np.arctan2(z * EQUATOR, out * polar)
        second = _SQUARED / (1 - _SQUARED)
        lat = np.arctan2(
            z + second * polar * np.sin(angle) ** 3, out - _SQUARED * EQUATOR * np.cos(angle) ** 3
        )
        return np.clip(np.degrees(lat), -90, 90), np.degrees(np.arctan2(y, x))


@dataclass(frozen=True)
class BoxMap:
    """A public box south, west, north, east, on a plane; west may be above east."""

    box: tuple[float, float, float, float]
    dimensions: ClassVar[int] = 2

    @cached_property
    def projection(self) -> Projection:
        """Around the middle of the box."""
        return projection_around(*box_edge(self.box))

    @cached_property
    def reach(self) -> float:
        """How far from the centre (km) a place may lie."""
        border = self.projection.to_km(*box_edge(self.box))
        return reach_of(border.min(axis=0), border.max(axis=0))

    @property
    def stretch(self) -> float:
        """The most by which the plane lengthens a distance within reach."""
        return stretch(self.reach)

    def to_km(self, latitudes: Floats, longitudes: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Points on the plane, and which places are beyond its reach."""
        points = self.projection.to_km(latitudes, longitudes)
        return points, np.asarray(np.linalg.norm(points, axis=1) > self.reach)

    def to_degrees(self, points: Floats) -> tuple[Floats, Floats]:
        """Latitudes and longitudes of points on the plane, those far off it brought nearer.

        Half-way round the Earth a plane has no places; moving what was drawn is post-processing.
        """
        away = np.linalg.norm(points, axis=1, keepdims=True)
        return self.projection.to_degrees(points * np.minimum(1, 19_000 / np.maximum(away, 1.0)))


def carrier(box: Sequence[float] | None) -> Globe | BoxMap:
    """The globe, or the map of a box."""
    if box is None:
        return Globe()
    south, west, north, east = box
    return BoxMap((south, west, north, east))
