"""GeoDataFrames of points: degrees as columns, points again when they come back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from voile.errors import InvalidInput
from voile.files.geojson import HEIGHT, LAT, LON
from voile.files.tables.pandas_table import (
    PandasTable,
    frame_table,
    numbered,
    require_one_header,
)

DEGREES = 4326
"""The reference system of latitudes and longitudes in degrees, by its EPSG number."""
_CALLED = "the GeoDataFrame"


def geo_table(data: Any) -> PandasTable:
    """A GeoDataFrame or GeoSeries of points as a table with the columns `lat` and `lon`.

    Points of another reference system are turned into degrees and back; those of none stay as they
    are, and whoever takes them for places asks `says_where`. They stand in no column of
    their own, so that nothing but `lat`, `lon` and, where there is one, `altitude` speaks of them.
    """
    import geopandas
    import pandas

    series = isinstance(data, geopandas.GeoSeries)
    if not series:
        require_one_header(data, _CALLED)
    points = _points(data, series)
    crs, name = points.crs, points.name
    degrees = points if crs is None else points.to_crs(DEGREES)
    others = {} if series else {c: data[c] for c in data.columns if c != name}
    place = {LAT: degrees.y, LON: degrees.x}
    if degrees.has_z.any():
        place[HEIGHT] = degrees.z
    if place.keys() & set(others):
        raise InvalidInput(f"points must not stand beside columns named {', '.join(place)}")
    before = 0 if series else list(data.columns).index(name)

    def give_back(made: Any) -> Any:
        if not {LAT, LON} <= set(made.columns):
            return made  # the points were dropped
        rebuilt = _rebuilt(made, crs).rename(name)
        if series:
            return rebuilt
        rest = made.drop(columns=[column for column in place if column in made.columns])
        rest.insert(min(before, len(rest.columns)), name, rebuilt)
        return geopandas.GeoDataFrame(rest, geometry=name)

    frame = pandas.DataFrame({**others, **place}, index=data.index)
    table = frame_table(frame, _CALLED, give_back)
    own = {} if series else numbered([str(column) for column in data.columns])
    return replace(table, says_where=crs is not None, places={**table.places, **own})


def _points(data: Any, series: bool) -> Any:
    try:
        points = data if series else data.geometry
    except AttributeError:
        raise InvalidInput("a GeoDataFrame must have a geometry, this one has none set") from None
    wrong = int((points.dropna().geom_type != "Point").sum())
    if wrong:
        raise InvalidInput(f"geometries must be points, {wrong} are not; take their centroids")
    return points


def _rebuilt(frame: Any, crs: Any) -> Any:
    """Points from degrees, in the reference system that they came in."""
    import geopandas

    lat, lon = frame[LAT], frame[LON]
    known = None if crs is None else DEGREES
    points = geopandas.GeoSeries.from_xy(lon, lat, frame.get(HEIGHT), index=frame.index, crs=known)
    points = points.where(lat.notna() & lon.notna())
    return points if crs is None else points.to_crs(crs)
