"""Formats and packings by name: each read, written, and bounded; others refused with advice."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import resource
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from releasers import Simple
from voile.errors import BadFile, InvalidInput, MissingExtra
from voile.jobs import OnError, open_source, run_job

MIB = 2**20


class Zstd:
    """Arrow's zstd under the names of the standard library's packers."""

    @staticmethod
    def compress(content: bytes) -> bytes:
        return pyarrow.Codec("zstd").compress(content, asbytes=True)

    @staticmethod
    def decompress(content: bytes) -> bytes:
        return pyarrow.CompressedInputStream(pyarrow.BufferReader(content), "zstd").read()

    @staticmethod
    def open(path: Path, _: str) -> Any:
        return pyarrow.CompressedOutputStream(str(path), "zstd")


PACKERS: dict[str, Any] = {"gz": gzip, "bz2": bz2, "xz": lzma, "zst": Zstd}


def same(batch):
    names = [name for name in ("lat", "lon", "text") if any(batch.column(name))]
    return {name: list(batch.column(name)) for name in names}


def released(path: Path, out: str, **options) -> Path:
    target = path.parent / out
    run_job(open_source(path), target, Simple(same), identity={}, batch_rows=2, **options)
    return target


# ── packings ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize(
    ("ending", "content"),
    [
        ("csv", "text\na\nb\nc\n"),
        ("tsv", "id\ttext\n1\ta\n2\tb\n3\tc\n"),
        ("jsonl", '{"text": "a"}\n{"text": "b"}\n{"text": "c"}\n'),
        ("txt", "a\nb\nc\n"),
    ],
)
def test_every_packing_of_every_format_goes_in_and_out(tmp_path, packing, ending, content) -> None:
    path = tmp_path / f"in.{ending}.{packing}"
    path.write_bytes(PACKERS[packing].compress(content.encode()))
    assert [row["text"] for _, row in open_source(path).rows()] == ["a", "b", "c"]
    out = released(path, f"out.{ending}.{packing}")
    assert PACKERS[packing].decompress(out.read_bytes()).decode() == content
    first = out.read_bytes()
    out.unlink()
    assert released(path, out.name).read_bytes() == first, "one release, one sequence of bytes"


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("start", [b"text\n", b'text\n"', b""])
def test_a_small_archive_of_one_huge_line_is_refused(tmp_path, monkeypatch, packing, start) -> None:
    monkeypatch.setenv("VOILE_LONGEST_RECORD", str(2 * MIB))
    path = tmp_path / f"in.csv.{packing}"
    with PACKERS[packing].open(path, "wb") as file:
        file.write(start)
        for _ in range(96):
            file.write(b"x" * MIB)
    assert path.stat().st_size < MIB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BadFile, match="must have at most 2,097,152 bytes, it has more"):
        list(open_source(path).rows())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 48 * 1024


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("damage", ["plain", "cut", "flipped", "empty", "trailing"])
def test_a_damaged_archive_is_said_to_be_one(tmp_path, packing, damage) -> None:
    whole = PACKERS[packing].compress(b"text\n" + b"Wilhelmina\n" * 50_000)
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    content = {
        "plain": b"text\nWilhelmina\n",
        "cut": whole[:-20],
        "flipped": bytes(flipped),
        "empty": b"",
        "trailing": whole + b"Wilhelmina",
    }[damage]
    path = tmp_path / f"in.csv.{packing}"
    path.write_bytes(content)
    with pytest.raises((BadFile, InvalidInput)) as refused:
        list(open_source(path).rows())
    assert "Wilhelmina" not in str(refused.value)


def test_an_unpacker_that_asks_for_too_much_memory_is_refused(tmp_path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 2**29, "preset": 0}]
    content = lzma.compress(b"text\na\n", filters=filters)
    (tmp_path / "in.csv.xz").write_bytes(content)
    with pytest.raises(BadFile, match="is no xz file, or a damaged one"):
        open_source(tmp_path / "in.csv.xz")


# ── GeoJSON ────────────────────────────────────────────────────────────────────────────────────


def point(lon: Any, lat: Any, /, **properties: Any) -> dict[str, Any]:
    geometry = {"type": "Point", "coordinates": [lon, lat]}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def collection(*features: Any, **members: Any) -> str:
    return json.dumps({"type": "FeatureCollection", **members, "features": features})


def test_points_go_in_and_out(tmp_path) -> None:
    features = [point(13.4, 52.5, name="é"), point(2.3, 48.8, name="b", n=1), point(0, 0, name="c")]
    path = tmp_path / "in.geojson"
    path.write_text(collection(*features, bbox=[0, 0, 13.4, 52.5], name="secret"))
    source = open_source(path)
    assert set(source.columns) == {"name", "n", "lat", "lon"}
    assert [dict(row) for _, row in source.rows()] == [
        {"name": "é", "lon": 13.4, "lat": 52.5},
        {"name": "b", "n": 1, "lon": 2.3, "lat": 48.8},
        {"name": "c", "lon": 0, "lat": 0},
    ]
    for name in ("out.geojson", "out.geojson.xz"):
        out = released(path, name)
        text = out.read_bytes() if name.endswith("n") else lzma.decompress(out.read_bytes())
        found = json.loads(text)
        assert found == {"type": "FeatureCollection", "features": features}, "no bbox, no name"
    assert "name,lon,lat,n" in released(path, "out.csv").read_text()


def test_a_table_of_degrees_becomes_geojson(tmp_path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("lat,lon,who\n52.5,13.4,a\n,,b\n")
    found = json.loads(released(path, "out.geojson").read_text())
    assert found["features"][0] == point(13.4, 52.5, who="a")
    assert found["features"][1]["geometry"] is None
    (tmp_path / "no.csv").write_text("text,who\na,b\n")
    with pytest.raises(InvalidInput, match="must have the columns lat and lon"):
        released(tmp_path / "no.csv", "no.geojson")
    (tmp_path / "bad.csv").write_text("lat,lon\nWilhelmina,1\n")
    with pytest.raises(InvalidInput, match="must be numbers in GeoJSON") as refused:
        released(tmp_path / "bad.csv", "bad.geojson")
    assert "Wilhelmina" not in str(refused.value)


BAD_FEATURES = {
    "line": {"type": "Feature", "geometry": {"type": "LineString", "coordinates": []}},
    "no feature": {"type": "Point", "coordinates": [1, 2]},
    "text": "Wilhelmina",
    "words": point("Wilhelmina", 2),
    "truth": point(True, 2),
    "own lat": point(1, 2, lat="Wilhelmina"),
    "list": {"type": "Feature", "geometry": None, "properties": ["Wilhelmina"]},
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_FEATURES)
def test_a_bad_feature_obeys_the_policy(tmp_path, name) -> None:
    path = tmp_path / "in.geojson"
    path.write_text(collection(point(1, 2, a=1), BAD_FEATURES[name], point(3, 4, a=2)))
    with pytest.raises(InvalidInput, match="feature 2: ") as refused:
        released(path, "out.geojson")
    assert "Wilhelmina" not in str(refused.value)
    out = released(path, "out.geojson", on_error=OnError.SKIP)
    assert json.loads(out.read_text())["features"] == [point(1, 2, a=1), point(3, 4, a=2)]
    masked = released(path, "masked.geojson", on_error=OnError.MASK)
    assert json.loads(masked.read_text())["features"][1]["geometry"] is None


@pytest.mark.parametrize(
    "content",
    ["", "[]", "3", "{}", '{"type": "FeatureCollection"}', '{"type": "Feature"}', "[" * 10**5,
     '{"type": "FeatureCollection", "features": {"a": "Wilhelmina"}}', '{"Wilhelmina": ',
     '{"type": "FeatureCollection", "features": []}'],
)  # fmt: skip
def test_what_is_no_collection_is_refused(tmp_path, content) -> None:
    (tmp_path / "in.geojson").write_text(content)
    with pytest.raises((BadFile, InvalidInput)) as refused:
        open_source(tmp_path / "in.geojson")
    assert "Wilhelmina" not in str(refused.value)


def test_heights_are_a_column_and_other_systems_are_refused(tmp_path) -> None:
    path = tmp_path / "in.geojson"
    high = point(1, 2, a=1)
    high["geometry"]["coordinates"].append(300)
    path.write_text(collection(high))
    assert set(open_source(path).columns) == {"a", "lat", "lon", "altitude"}
    assert json.loads(released(path, "out.geojson").read_text())["features"] == [high]
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}}
    path.write_text(collection(point(1, 2), crs=crs))
    with pytest.raises(InvalidInput, match="must be in degrees of WGS 84"):
        open_source(path)


def test_a_large_collection_is_refused_before_it_is_read_whole(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("voile.files.geojson.LARGEST", 100)
    (tmp_path / "in.geojson").write_text(collection(*[point(1, 2)] * 10))
    with pytest.raises(BadFile, match="must have at most 100 bytes"):
        open_source(tmp_path / "in.geojson")


# ── names ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("in.json", "one object a line and called .jsonl"),
        ("in.json.gz", "one object a line and called .jsonl"),
        ("in.kml", r"\.gpkg or \.geojson"),
        ("in.shp", "converted to .gpkg"),
        ("in.xlsx", "saved as .csv"),
        ("in.doc", "must end in .csv, .tsv, .jsonl"),
        ("in.parquet.gz", "must end in"),
        ("in", "must end in"),
    ],
)
def test_other_names_are_refused_with_advice(tmp_path, name, advice) -> None:
    (tmp_path / name).write_text("x")
    with pytest.raises(InvalidInput, match=advice):
        open_source(tmp_path / name)


def test_a_text_that_is_taken_for_a_name_is_not_repeated() -> None:
    with pytest.raises(InvalidInput, match="a text goes into a list") as refused:
        open_source("Wilhelmina was here")
    assert "Wilhelmina" not in str(refused.value)


def test_a_missing_arrow_names_an_extra_that_exists(tmp_path, monkeypatch) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a"]}), tmp_path / "in.parquet")
    (tmp_path / "in.csv").write_text("text\na\n")
    for module in [name for name in sys.modules if name.startswith("pyarrow")]:
        monkeypatch.setitem(sys.modules, module, None)
    extras = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    with pytest.raises(MissingExtra) as missing:
        open_source(tmp_path / "in.parquet")
    assert str(missing.value) == "pyarrow is not installed: pip install 'voile[parquet]'"
    assert '\nparquet = ["pyarrow' in extras
    with pytest.raises(MissingExtra, match=r"voile\[parquet\]"):
        released(tmp_path / "in.csv", "out.parquet")


def test_a_dictionary_forgets_the_rows_that_are_left_out(tmp_path) -> None:
    column = pyarrow.array(["x", "Wilhelmina", "y"]).dictionary_encode()
    table = pyarrow.table({"text": ["a", "b", "c"], "c": column})
    pyarrow.parquet.write_table(table, tmp_path / "in.parquet", compression="none")
    from voile.jobs import RowProblem

    def problems(batch):
        return {i: RowProblem("bad") for i, t in enumerate(batch.column("text")) if t == "b"}

    run_job(
        open_source(tmp_path / "in.parquet"), tmp_path / "out.parquet", Simple(same, problems),
        identity={}, on_error=OnError.SKIP,
    )  # fmt: skip
    assert b"Wilhelmina" not in (tmp_path / "out.parquet").read_bytes()
    found = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert found["c"].to_pylist() == ["x", "y"]


def test_a_file_is_not_opened_for_an_encoding_that_nobody_named(tmp_path, monkeypatch):
    monkeypatch.delattr("voile.files.file_source.encoding_of")
    (tmp_path / "in.csv").write_text("text\nthe cat\n")
    assert open_source(tmp_path / "in.csv").columns == ("text",)
