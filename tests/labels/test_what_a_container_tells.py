"""Around the values that were drawn: keys and their order, notes of a schema, widths, nulls."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from voile import labels
from voile.errors import InvalidInput
from voile.labels.columns import CategoryColumn, NumberColumn
from voile.labels.recipes import Recipe

RECIPE = Recipe(
    "state",
    ("ill", "well"),
    (
        NumberColumn("age", (20.0, 40.0, 60.0), missing=True),
        CategoryColumn("town", ("(missing)", "north", "south")),
    ),
    (0.25, 0.25, 0.5),
)
FULL = {"age": 40, "town": "north", "state": "ill"}
HOW: dict[str, Any] = {"label": "state", "epsilon": 1, "mechanism": "ldp", "recipe": RECIPE}


def lacking(name: str, every: int) -> list[dict[str, Any]]:
    """120 records, of which each so many-th lacks a field."""
    return [
        {k: v for k, v in FULL.items() if k != name or (i + 1) % every} for i in range(120)
    ]  # the first one is whole


@pytest.mark.parametrize("name", ["age", "town"])
def test_a_field_that_was_not_there_is_not_told_by_keys(name: str, tmp_path: Path) -> None:
    whole, rows = lacking(name, every=10_000), lacking(name, every=2)
    for given in (whole, rows, [dict(FULL, **{name: None}), *rows], [rows[1], *rows]):
        done = labels.protect(given, **HOW, seed=1).data
        assert {tuple(row) for row in done} == {tuple(FULL)}
    file, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    backwards = [dict(reversed(row.items())) for row in rows]
    file.write_text("".join(json.dumps(row) + "\n" for row in [FULL, *rows, *backwards]))
    labels.protect(str(file), **HOW, out=str(out), seed=1)
    released = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(released) == 241
    assert {tuple(row) for row in released} == {tuple(FULL)}


def test_fields_that_pass_stay_where_they_are_and_lack_what_they_lacked(tmp_path: Path) -> None:
    file, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    rows = [{"note": "a", **FULL}, {**FULL}, {**FULL, "note": None}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    labels.protect(str(file), **HOW, out=str(out), pass_=("note",), seed=1)
    released = [json.loads(line) for line in out.read_text().splitlines()]
    assert [tuple(row) for row in released] == [("note", *FULL), tuple(FULL), ("note", *FULL)]


def test_notes_of_a_schema_do_not_speak_of_what_was_drawn(tmp_path: Path) -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(lacking("town", every=10_000))
    frame["town"] = pandas.Categorical(frame["town"], categories=["north", "one rare village"])
    table = pyarrow.Table.from_pandas(frame)
    assert b"num_categories" in table.schema.metadata[b"pandas"]
    place = table.schema.get_field_index("age")
    spoken = pyarrow.field("age", pyarrow.int64(), nullable=False, metadata={"largest": "99"})
    table = table.set_column(place, spoken, table["age"])
    made = labels.protect(table, **HOW, seed=1).data
    made.validate(full=True)
    assert made.schema.metadata is None
    assert made.schema.field("age").metadata is None
    assert made.schema.field("age").nullable
    assert made["age"].null_count > 0
    assert "rare" not in str(made["town"].chunk(0).dictionary)


def test_a_parquet_column_that_is_never_empty_takes_what_is_missing(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    whole = pyarrow.Table.from_pylist(lacking("town", every=10_000))
    strict = pyarrow.schema(
        [field.with_nullable(False).with_metadata({"a": "note"}) for field in whole.schema]
    )
    file, out = tmp_path / "rows.parquet", tmp_path / "out.parquet"
    parquet.write_table(whole.cast(strict), file)
    labels.protect(str(file), **HOW, out=str(out), seed=1)
    made = parquet.read_table(out)
    assert made["age"].null_count > 0
    assert all(field.nullable and not field.metadata for field in made.schema)


def test_an_array_with_named_fields_has_room_for_what_is_drawn() -> None:
    kinds = [("age", int), ("town", "U5"), ("state", "U4")]
    given = np.array([(40, "north", "well")] * 120, dtype=kinds)
    made = labels.protect(given, **HOW, seed=1).data
    assert set(made["town"].tolist()) == {"north", "south", "(missing)"}
    assert None in made["age"].tolist()
    wider = [kinds[0], ("town", "U16"), kinds[2]]
    long = np.array([(40, "one rare village", "well")] * 120, dtype=wider)
    other = labels.protect(long, **HOW, seed=1, on_error="mask").data
    assert other.dtype["town"] == made.dtype["town"]  # not the width of what stood there


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize("policy", ["skip", "mask"])
def test_a_field_that_some_records_have_empties_none_of_them(
    ending: str, policy: Any, tmp_path: Path
) -> None:
    file, out = tmp_path / "rows.jsonl", tmp_path / f"out.{ending}"
    rows: list[dict[str, Any]] = [dict(FULL, biopsy=1) if i % 2 else FULL for i in range(1400)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = labels.protect(str(file), **HOW, out=str(out), drop=("biopsy",), on_error=policy)
    assert (done.records, done.rows.skipped, done.rows.masked) == (1400, 0, 0)
    late = [FULL] * 1300 + rows[1300:]
    file.write_text("".join(json.dumps(row) + "\n" for row in late))
    with pytest.raises(InvalidInput, match="line 1302: it has a field that"):
        labels.protect(str(file), **HOW, out=str(tmp_path / f"new.{ending}"), on_error=policy)


def test_numbers_with_decimals_are_not_cut_to_whole_ones(tmp_path: Path) -> None:
    """A column of whole numbers would hold 20 for a level of 20.5, which no recipe releases."""
    import pyarrow
    from pyarrow import parquet

    file, out = tmp_path / "rows.parquet", tmp_path / "out.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([FULL] * 60), file)
    levels = NumberColumn("age", (20.5, 40.0, 60.0), missing=True)
    how = HOW | {"recipe": replace(RECIPE, columns=(levels, RECIPE.columns[1]))}
    with pytest.raises(InvalidInput, match=r"age must be of a type .* with their decimals.*int64"):
        labels.protect(str(file), **how, out=str(out), seed=1)
    assert not out.exists()
    elsewhere = tmp_path / "out.csv"
    labels.protect(str(file), **how, out=str(elsewhere), seed=1)
    assert "20.5" in elsewhere.read_text()
    assert 20.5 in labels.protect(parquet.read_table(file), **how, seed=1).data["age"].to_pylist()
    as_named = HOW | {"mechanism": "rr", "recipe": how["recipe"], "pass_": ("age", "town")}
    labels.protect(str(file), **as_named, out=str(out), seed=1)
    assert parquet.read_table(out).column("age").to_pylist() == [40] * 60
