"""Which columns hold a place and in which reference system; degrees of WGS 84 in between."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

import numpy as np

from voile.core.arrays import Floats
from voile.errors import InvalidInput, MissingExtra
from voile.files.source import Source
from voile.options import Option, Options

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_POINT = re.compile(
    rf"\s*(?:SRID\s*=\s*(\d+)\s*;)?\s*POINT\s*(?:Z|M|ZM)?\s*\(\s*({_NUMBER})\s+({_NUMBER})"
    rf"(?:\s+{_NUMBER}){{0,2}}\s*\)\s*",
    re.IGNORECASE,
)
_NORTH = frozenset(["lat", "latitude", "northing"])
_EAST = frozenset(["lon", "lng", "longitude", "easting"])
DECIMALS = 6
"""Of degrees as they are written: a tenth of a metre."""


def words_of(name: str) -> frozenset[str]:
    """The words of a column's name, in small letters.

    >>> sorted(words_of("pickupLatitude")), sorted(words_of("dropoff_lon"))
    (['latitude', 'pickup'], ['dropoff', 'lon'])
    """
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).lower()
    return frozenset(re.findall(r"[^\W_]+", parted))


@dataclass(frozen=True)
class Coordinates(Options):
    """Which columns hold the place: degrees, or what a named reference system has instead."""

    lat: Annotated[str, Option("The latitude column; with --crs, the northing.", shown=True)] = (
        "lat"
    )
    lon: Annotated[str, Option("The longitude column; with --crs, the easting.", shown=True)] = (
        "lon"
    )
    wkt: Annotated[
        str | None, Option("A column of POINT (x y) in place of the two.", shown=True)
    ] = None
    crs: Annotated[
        str | None,
        Option("Their reference system, such as EPSG:2263; else degrees of WGS 84.", shown=True),
    ] = None

    def __post_init__(self) -> None:
        lat, lon = words_of(self.lat), words_of(self.lon)
        swapped = (lat & _EAST and not lat & _NORTH) or (lon & _NORTH and not lon & _EAST)
        if self.wkt is None and (swapped or self.lat == self.lon):
            raise InvalidInput(
                "--lat must name the latitude (with --crs, the northing) and --lon the "
                f"longitude (the easting), got {self.lat!r} and {self.lon!r}; are they swapped?"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that hold the place."""
        return (self.lat, self.lon) if self.wkt is None else (self.wkt,)

    @property
    def wanted(self) -> str:
        """What a row must have to be a place."""
        if self.wkt is not None:
            within = "degrees within ±180 and ±90" if self.crs is None else f"in {self.crs}"
            return f"{self.wkt} must be POINT (x y), {within}, of no other SRID"
        if self.crs is None:
            return f"{self.lat} and {self.lon} must be degrees within ±90 and ±180"
        return f"{self.lat} and {self.lon} must be a northing and an easting of {self.crs}"

    def check(self, source: Source) -> None:
        """Refuse points whose reference system nobody names, or both they and `crs`."""
        known = source.says_where
        if known is False and self.crs is None:
            raise InvalidInput(
                f"the reference system of {source.name} must be known, and it names none; say "
                "--crs EPSG:4326 if it is degrees, or which one it is"
            )
        if known and self.crs is not None and self.names == DEGREES.names:
            raise InvalidInput(
                f"--crs must be left out: {source.name} names its reference system itself"
            )

    def check_release(self, source: Source) -> None:
        """Refuse rows in an order that tells their places, and types that would cut degrees."""
        if source.sorted_by_place:
            raise InvalidInput(
                f"{source.name} must not be sorted by place, and its spatial index has it so: "
                "releases keep the order of rows, which would tell what the noise hides. Shuffle "
                "it first: in Python, frame.sample(frac=1) of what geopandas reads"
            )
        if source.types is None or not (self.crs is None or _is_geographic(self.crs)):
            return
        from pyarrow import types

        for name in self.names:
            type_ = source.types.field(name).type
            if types.is_integer(type_):
                raise InvalidInput(
                    f"{name} must be of a type that holds degrees with their decimals, such as "
                    f"float64, and in {source.name} it is {type_}"
                )

    def degrees(self, columns: Sequence[Sequence[Any]]) -> Floats:
        """Rows of latitude and longitude; NaN where a row has no usable pair."""
        if self.wkt is not None:
            columns = _parsed(
                columns[0], 4326 if self.crs is None else _system(self.crs).to_epsg(100)
            )
        table = _numbers(*columns)
        if self.crs is not None:
            to_degrees, _ = _transformers(self.crs)
            lon, lat = to_degrees(table[:, 1], table[:, 0])
            table = np.stack([np.asarray(lat, float), np.asarray(lon, float)], axis=1)
        table[~(np.abs(table) <= (90.0, 180.0)).all(axis=1)] = np.nan
        return table

    def strays(self, degrees: Floats) -> int:
        """How many places lie outside the area that their reference system is for."""
        area = None if self.crs is None else _system(self.crs).area_of_use
        if area is None:
            return 0
        lat, lon = degrees.T
        within = (lon - area.west) % 360 <= ((area.east - area.west) % 360 or 360)
        return int((~(within & (lat >= area.south) & (lat <= area.north))).sum())

    def written(
        self,
        latitudes: Floats,
        longitudes: Floats,
        before: Sequence[Sequence[Any]],
        *,
        numbers: bool = False,
    ) -> Mapping[str, list[Any]]:
        """Degrees as the columns hold them: text where there was text, unless it is `numbers`."""
        digits, y, x = DECIMALS, latitudes, longitudes
        if self.crs is not None:
            _, from_degrees = _transformers(self.crs)
            x, y = (np.asarray(axis, float) for axis in from_degrees(longitudes, latitudes))
            digits = DECIMALS if _is_geographic(self.crs) else 2
        if self.wkt is not None:
            pairs = zip(x.tolist(), y.tolist(), strict=True)
            return {
                self.wkt: [
                    f"{named}POINT ({a:.{digits}f} {b:.{digits}f})"
                    for named, (a, b) in zip(map(_srid, before[0]), pairs, strict=True)
                ]
            }
        return {
            name: _shown(values, () if numbers else old, digits)
            for name, values, old in zip(self.names, (y, x), before, strict=True)
        }


DEGREES = Coordinates()
"""What holds where nothing is said: columns lat and lon."""


def _numbers(latitudes: Sequence[Any], longitudes: Sequence[Any]) -> Floats:
    count = len(latitudes)
    table = np.empty((count, 2))
    try:  # the usual case, without a call of ours for each row
        if _are_odd(latitudes) or _are_odd(longitudes):
            raise ValueError
        table[:, 0] = np.fromiter(map(float, latitudes), float, count)
        table[:, 1] = np.fromiter(map(float, longitudes), float, count)
    except (TypeError, ValueError, OverflowError):
        pairs = [_pair(*pair) for pair in zip(latitudes, longitudes, strict=True)]
        table = np.array(pairs, dtype=float).reshape(-1, 2)
    return table


def _pair(latitude: Any, longitude: Any) -> tuple[float, float]:
    try:
        if _are_odd((latitude, longitude)):
            return (np.nan, np.nan)
        return float(latitude), float(longitude)
    except (TypeError, ValueError, OverflowError):
        return (np.nan, np.nan)


def _are_odd(values: Sequence[Any]) -> bool:
    """Whether some are what Python takes for numbers and no file means: true, and 2_3."""
    kinds = set(map(type, values))
    if not kinds.isdisjoint((bool, np.bool_)):
        return True
    return str in kinds and "_" in "".join(value for value in values if type(value) is str)


def _parsed(texts: Sequence[Any], number: int | None) -> tuple[list[Any], list[Any]]:
    """Northings and eastings of WKT points; nothing where there is none, or in another system."""
    found = [_POINT.fullmatch(text) if isinstance(text, str) else None for text in texts]
    found = [m if m and (m[1] is None or int(m[1]) == number) else None for m in found]
    return [m and m[3] for m in found], [m and m[2] for m in found]


def _srid(text: Any) -> str:
    """What a WKT point says of its system: it stays so for the point that is released."""
    found = _POINT.fullmatch(text) if isinstance(text, str) else None
    return "" if found is None or found[1] is None else f"SRID={found[1]};"


def _shown(values: Floats, before: Sequence[Any], digits: int) -> list[Any]:
    if before and set(map(type, before)) <= {str}:
        return [f"{value:.{digits}f}" for value in values.tolist()]
    return [float(value) for value in np.round(values, digits)]


@cache
def _system(name: str) -> Any:
    try:
        from pyproj import CRS
        from pyproj.exceptions import CRSError
    except ImportError as missing:
        raise MissingExtra("pyproj", extra="places") from missing
    try:
        found = CRS.from_user_input(name)
    except CRSError:
        raise InvalidInput(
            f"--crs must be a reference system such as EPSG:2263, got {name!r}"
        ) from None
    if not (found.is_geographic or found.is_projected):
        raise InvalidInput(f"--crs must be of places on a map or in degrees, got {name!r}")
    return found


def _is_geographic(name: str) -> bool:
    return bool(_system(name).is_geographic)


@cache
def _transformers(name: str) -> tuple[Any, Any]:
    """To degrees of WGS 84 and back, both of eastings before northings."""
    from pyproj import Transformer

    system = _system(name)
    there = Transformer.from_crs(system, "EPSG:4326", always_xy=True)
    back = Transformer.from_crs("EPSG:4326", system, always_xy=True)
    return there.transform, back.transform
