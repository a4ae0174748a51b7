"""From latitude and longitude to kilometres on a plane, and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voile.core.arrays import Floats
from voile.errors import InvalidInput, MissingExtra, require
from voile.metrics.great_circle import EARTH_RADIUS
from voile.places.geodesy import LARGEST_REACH, mean_place, too_wide


def check_degrees(latitudes: Floats, longitudes: Floats) -> None:
    """Latitudes in [-90, 90], longitudes in [-180, 180], all finite; counts, never values."""
    bad = ~(np.isfinite(latitudes) & np.isfinite(longitudes))
    if bad.any():
        raise InvalidInput(
            f"coordinates must be finite numbers, {int(bad.sum())} of {len(bad)} "
            "rows are not; drop or mend those rows"
        )
    outside = (np.abs(latitudes) > 90) | (np.abs(longitudes) > 180)
    if outside.any():
        raise InvalidInput(
            f"latitudes must lie in [-90, 90] and longitudes in [-180, 180], {int(outside.sum())} "
            f"of {len(outside)} rows do not; are the two columns swapped?"
        )


@dataclass(frozen=True)
class Projection:
    """Azimuthal equidistant around a centre, on the WGS 84 ellipsoid, in km.

    Distances from the centre are exact, others never too short: see `geodesy.stretch` for how much
    too long (4 parts in a million within 30 km). The centre may be anywhere, poles included.

    >>> around = Projection(41.9, 12.5)
    >>> around.to_km(np.array([41.9]), np.array([12.5])).round(6) + 0.0
    array([[0., 0.]])
    """

    latitude: float
    longitude: float

    def __post_init__(self) -> None:
        for name in ("latitude", "longitude"):  # numpy's numbers print themselves otherwise
            object.__setattr__(self, name, float(getattr(self, name)))
        ok = abs(self.latitude) <= 90 and abs(self.longitude) <= 180
        require(ok, "the centre", "a latitude within ±90 and a longitude within ±180", "another")

    @cached_property
    def _transformer(self) -> Any:
        try:
            from pyproj import Transformer
        except ImportError as missing:
            raise MissingExtra("pyproj", extra="places") from missing
        plane = (
            f"+proj=aeqd +lat_0={self.latitude!r} +lon_0={self.longitude!r} +datum=WGS84 +units=km"
        )
        return Transformer.from_crs("EPSG:4326", plane, always_xy=True)

    def transform(self, longitude: float, latitude: float) -> tuple[float, float]:
        """X and y in km of one place, given as PROJ takes it."""
        x, y = self._transformer.transform(longitude, latitude)
        return x, y

    def to_km(self, latitudes: Floats, longitudes: Floats) -> Floats:
        """Rows of x (east) and y (north) in km; far places too, where distances no longer hold."""
        lat, lon = np.asarray(latitudes, dtype=float), np.asarray(longitudes, dtype=float)
        check_degrees(lat, lon)
        x, y = self._transformer.transform(lon, lat)
        points = np.stack([np.asarray(x, dtype=float), np.asarray(y, dtype=float)], axis=1)
        # Opposite the centre every direction is right and PROJ may give none.
        return np.where(np.isfinite(points), points, np.pi * EARTH_RADIUS["km"])

    def to_degrees(self, points: Floats) -> tuple[Floats, Floats]:
        """Latitudes and longitudes of rows of x and y."""
        lon, lat = self._transformer.transform(points[:, 0], points[:, 1], direction="INVERSE")
        return np.asarray(lat, dtype=float), np.asarray(lon, dtype=float)


def projection_around(latitudes: Floats, longitudes: Floats) -> Projection:
    """The projection centred on the middle of the places' bounding box in the plane.

    That box is drawn around the mean of their unit vectors, so a map may lie across the
    antimeridian or hold a pole. One that is too wide for a plane is refused.
    """
    lat, lon = np.asarray(latitudes, dtype=float), np.asarray(longitudes, dtype=float)
    check_degrees(lat, lon)
    first = Projection(*mean_place(lat, lon))
    points = first.to_km(lat, lon)
    if np.linalg.norm(points, axis=1).max() > LARGEST_REACH:
        raise too_wide()
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    (latitude,), (longitude,) = first.to_degrees(middle[None])
    return Projection(latitude, longitude)
