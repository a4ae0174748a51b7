"""GeoJSON: a collection of points with properties, read whole and written whole.

Inside, a feature is a line of its own, so that all else treats the file as it treats JSON lines.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Sequence
from typing import IO, Any

from voile.errors import BadFile, InvalidInput
from voile.files.rows import Row, RowProblem

LARGEST = 2**28
"""The bytes that a GeoJSON file may have, as it is read whole."""
LAT, LON, HEIGHT = "lat", "lon", "altitude"
"""The columns of a point; the height stands for itself, to be passed or dropped."""
HEAD, BETWEEN, TAIL = b'{"type": "FeatureCollection", "features": [\n', b",\n", b"\n]}\n"


def feature_lines(file: IO[bytes], name: str) -> IO[bytes]:
    """The features of a collection, one a line.

    Other members of the collection are left out: a `bbox` would say where the points were.
    """
    content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise BadFile(
            f"{name} must have at most {LARGEST:,} bytes, it has more; use .jsonl or .csv"
        )
    try:
        found: Any = json.loads(content)
        if found["type"] != "FeatureCollection" or not isinstance(found["features"], list):
            raise ValueError
        degrees = _in_degrees(found)
        lines = [json.dumps(feature) for feature in found["features"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadFile(f"{name} must be a GeoJSON FeatureCollection, it is not") from None
    if not degrees:
        raise InvalidInput(f"{name} must be in degrees of WGS 84, it names another system")
    return io.BytesIO("".join(line + "\n" for line in lines).encode("ascii"))


def _in_degrees(collection: Any) -> bool:
    """Whether an old file's reference system, if it names one, is that of GeoJSON."""
    named = json.dumps(collection.get("crs") or "CRS84")
    return "CRS84" in named or "4326" in named


def row_of(feature: Any) -> Row | RowProblem:
    """A feature's place and properties as one record."""
    if not isinstance(feature, dict) or feature.get("type") != "Feature":
        return RowProblem("not a GeoJSON feature")
    geometry, properties = feature.get("geometry"), feature.get("properties") or {}
    if not isinstance(properties, dict) or {LAT, LON, HEIGHT} & properties.keys():
        return RowProblem(
            f"its properties must not be named {LAT}, {LON} or {HEIGHT}, as its point has them; "
            "rename them, or take them out if they say the same"
        )
    place = _place(geometry)
    if place is None:
        return RowProblem("its geometry must be a point")
    own = {"id": feature["id"]} if "id" in feature and "id" not in properties else {}
    return {**own, **properties, **place}


def _place(geometry: Any) -> dict[str, Any] | None:
    if geometry is None:
        return {LAT: None, LON: None}
    if not isinstance(geometry, dict) or geometry.get("type") != "Point":
        return None
    numbers = geometry.get("coordinates")
    if not isinstance(numbers, list) or len(numbers) not in (2, 3):
        return None
    if not all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers):
        return None
    return dict(zip((LON, LAT, HEIGHT), numbers, strict=False))


def features_bytes(rows: Sequence[Row]) -> bytes:
    """Rows as features between commas."""
    return BETWEEN.join(_feature(row) for row in rows)


def _feature(row: Row) -> bytes:
    properties = {name: v for name, v in row.items() if name not in (LAT, LON, HEIGHT)}
    numbers = [_number(row.get(LON)), _number(row.get(LAT))]
    geometry: dict[str, Any] | None = None
    if None not in numbers:
        height = _number(row.get(HEIGHT))
        point = numbers if height is None else [*numbers, height]
        geometry = {"type": "Point", "coordinates": point}
    feature = {"type": "Feature", "geometry": geometry, "properties": properties}
    return json.dumps(feature, ensure_ascii=False).encode("utf-8")


def _number(value: Any) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(f"{LAT}, {LON} and {HEIGHT} must be numbers in GeoJSON, some are not")
    return number
