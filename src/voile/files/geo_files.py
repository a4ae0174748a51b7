"""Files of points that GDAL reads (GeoPackage, GPX, FlatGeobuf) and GeoParquet: whole, and whole.

They are read into a GeoDataFrame and written from one, in the reference system that they came in;
nothing of theirs (layers' names, extents, styles, metadata) is carried over but rows and columns.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voile.errors import BadFile, CannotWrite, InvalidInput, VoileError, needs
from voile.files.disk import LocalFile
from voile.files.geojson import LAT, LON
from voile.files.in_memory import InMemory
from voile.files.locations import Location
from voile.files.tables.pandas_table import row_numbers

DRIVERS = {"gpkg": "GPKG", "fgb": "FlatGeobuf", "gpx": "GPX", "parquet": ""}
"""The endings of such files, and what GDAL calls their formats; Arrow writes Parquet."""
_TRACKS = ("track_fid", "track_seg_id")
_LAYER = "places"


@dataclass(frozen=True)
class GeoFile(InMemory):
    """A file of points, read whole; a record goes by its number."""

    place: Location | None = None
    sorted_by_place: bool = False

    @property
    def location(self) -> Location:
        """Where the file is."""
        assert self.place is not None
        return self.place

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.location.name

    def where(self, number: int) -> str:
        """A record by its number."""
        return f"feature {number}"


def open_geo_file(place: Location, ending: str) -> GeoFile:
    """The points of a file as rows; the place stands in `lat` and `lon`, in degrees."""
    from voile.files.tables.geo_table import geo_table

    frame = _read(_local(place), ending)
    if not len(frame):
        raise InvalidInput(f"{place.name} must hold at least one row, it holds none")
    table = geo_table(frame)
    if len(set(table.columns)) < len(table.columns):
        raise InvalidInput(f"{place.name} must have distinct column names, got some twice")
    return GeoFile(
        table, table.columns, place=place, sorted_by_place=_is_sorted(_local(place), ending)
    )


def _is_sorted(path: Path, ending: str) -> bool:
    """Whether the index of a FlatGeobuf put its points along a curve through the plane."""
    if ending != "fgb":
        return False
    import pyogrio

    return bool(pyogrio.read_info(path)["capabilities"]["fast_spatial_filter"])


def check_geo_output(target: Location, dropped: Collection[str]) -> None:
    """Refuse what no such file can be, or hold, before anything is drawn or charged."""
    if _ending(_local(target)) not in DRIVERS:
        raise InvalidInput(
            f"what was read from a file of points must be written to one: .{', .'.join(DRIVERS)}, "
            f"got {target.name!r}"
        )
    if {LAT, LON} & set(dropped):
        raise CannotWrite("a file of points must keep its points, and they were left out")


def write_geo_file(frame: Any, target: Location) -> None:
    """A GeoDataFrame as a file of the kind that its name says, for its owner alone so far."""
    path = _local(target)
    ending = _ending(path)
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))  # 0700
    try:
        made = folder / f"{_LAYER}.{ending}"
        with _said(path.name, CannotWrite, "cannot be written"):
            _write(frame, made, ending)
        made.chmod(0o600)
        made.replace(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_geoparquet(schema: Any) -> bool:
    """Whether a Parquet file says that it holds geometries."""
    return b"geo" in (schema.metadata or {})


def _read(path: Path, ending: str) -> Any:
    geopandas = _geopandas()
    with _said(path.name, BadFile, "cannot be read as points"):
        if ending == "parquet":
            frame = geopandas.read_parquet(path)
            # an index of names or keys is a column as any other: no index is written
            return frame.reset_index(drop=row_numbers(frame.index))
        import pyogrio

        layers = [name for name, kind in pyogrio.list_layers(path) if kind is not None]
        if ending == "gpx":  # it always has all five, most of them empty
            points = [name for name in layers if name.endswith("points")]
            layers = [name for name in points if len(_layer(path, name))]
        if len(layers) != 1:
            raise InvalidInput(
                f"{path.name} must hold one layer of points, it holds {len(layers)}; "
                "write the one that is meant to a file of its own"
            )
        return _layer(path, layers[0])


def _layer(path: Path, name: str) -> Any:
    """One layer, without columns that are empty throughout: GPX has dozens."""
    frame = _geopandas().read_file(path, layer=name, engine="pyogrio")
    empty = [c for c in frame.columns if c != "geometry" and frame[c].isna().all()]
    return frame.drop(columns=empty)


def _write(frame: Any, path: Path, ending: str) -> None:
    if ending == "parquet":
        frame.to_parquet(path, index=False)
        return
    layer, options = _LAYER, {}
    if ending == "fgb":  # an index would sort the rows
        options = {"SPATIAL_INDEX": "NO"}
    if ending == "gpx":
        tracks = set(_TRACKS) <= set(frame.columns)
        layer, options = ("track_points" if tracks else "waypoints"), {"GPX_USE_EXTENSIONS": "YES"}
        frame = frame if frame.crs is None else frame.to_crs(4326)
    frame.to_file(path, layer=layer, driver=DRIVERS[ending], engine="pyogrio", **options)


def _ending(path: Path) -> str:
    return path.suffix.removeprefix(".").lower()


def _local(place: Location) -> Path:
    if not isinstance(place, LocalFile):
        raise InvalidInput(
            f"a file of this kind must lie on a disk, got {place}; use .geojson, .csv or .parquet"
        )
    return place.path


def _geopandas() -> Any:
    with needs("geopandas", extra="geo"):
        import geopandas
        import pyogrio  # noqa: F401
    return geopandas


@contextmanager
def _said(name: str, kind: type[VoileError], what: str) -> Iterator[None]:
    """GDAL's and Arrow's errors in our words: theirs may hold some of the data."""
    try:
        yield
    except (VoileError, MemoryError):
        raise
    except OSError as problem:
        raise kind(f"{name} {what}: {problem.strerror or type(problem).__name__}") from problem
    except Exception as problem:
        raise kind(f"{name} {what}: {type(problem).__name__}") from problem
