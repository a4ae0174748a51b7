"""GeoDataFrames of points: degrees as columns, points again when they come back."""

from __future__ import annotations

from typing import Any

from voile.errors import InvalidInput
from voile.files.tables.pandas_table import PandasTable, frame_table

DEGREES = 4326
"""The reference system of latitudes and longitudes in degrees, by its EPSG number."""


def geo_table(data: Any) -> PandasTable:
    """A GeoDataFrame or GeoSeries of points as a table with the columns `lat` and `lon`.

    Points of another reference system are turned into degrees and back. The points stand where no
    column does, so that nothing but `lat` and `lon` speaks of them; a height is left out.
    """
    import geopandas
    import pandas

    series = isinstance(data, geopandas.GeoSeries)
    points = data if series else data.geometry
    found = points.dropna()
    if not (found.geom_type == "Point").all():
        wrong = int((found.geom_type != "Point").sum())
        raise InvalidInput(f"geometries must be points, {wrong} are not; take their centroids")
    crs, name = points.crs, points.name
    degrees = points if crs is None else points.to_crs(DEGREES)
    others = {} if series else {c: data[c] for c in data.columns if c != name}
    if {"lat", "lon"} & set(others):
        raise InvalidInput(
            "a GeoDataFrame must not have columns named lat or lon beside its points"
        )
    frame = pandas.DataFrame({**others, "lat": degrees.y, "lon": degrees.x}, index=data.index)

    def give_back(made: Any) -> Any:
        if not {"lat", "lon"} <= set(made.columns):
            return made  # the points were dropped
        lat, lon = made["lat"], made["lon"]
        known = None if crs is None else DEGREES
        rebuilt = geopandas.GeoSeries.from_xy(lon, lat, index=made.index, crs=known)
        rebuilt = rebuilt.where(lat.notna() & lon.notna())
        if crs is not None:
            rebuilt = rebuilt.to_crs(crs)
        if series:
            return rebuilt.rename(name)
        rest = made.drop(columns=["lat", "lon"])
        return geopandas.GeoDataFrame(rest, geometry=rebuilt.rename(name))

    return frame_table(frame, "the GeoDataFrame", give_back)
