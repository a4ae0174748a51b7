"""Data in memory: read as a file is, given back as what it was, and never on a disk."""

from __future__ import annotations

import csv
import datetime
import json
import os
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from releasers import Simple
from voile.errors import InvalidInput
from voile.files.columns_in_clear import columns_in_clear
from voile.files.in_memory import same_kind
from voile.files.tables import Changes
from voile.jobs import OnError, RowProblem, open_source, release_in_memory
from voile.jobs.release import Columns

TEXTS = st.text(st.sampled_from('ab ,;"\né\t|'), min_size=1, max_size=5)
NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).map(float)
WHOLE = st.integers(-(2**60), 2**60)
NAMES = ("id", "text", "x", "sure")
RECORDS = st.lists(
    st.tuples(WHOLE, st.none() | TEXTS, st.none() | NUMBERS, st.booleans()).map(
        lambda values: dict(zip(NAMES, values, strict=True))
    ),
    min_size=1,
    max_size=12,
)
SCHEMA = pyarrow.schema(
    [("id", pyarrow.int64()), ("text", pyarrow.string()), ("x", pyarrow.float64()),
     ("sure", pyarrow.bool_())]
)  # fmt: skip
POLARS = {
    "id": polars.Int64,
    "text": polars.String,
    "x": polars.Float64,
    "sure": polars.Boolean,
}


def rows_of(data: Any) -> list[Any]:
    return [row for _, row in open_source(data).rows()]


def as_pandas(records: list[dict[str, Any]], text: str = "object") -> pandas.DataFrame:
    frame = pandas.DataFrame(records)
    return frame.astype({"id": "int64", "text": text, "x": "float64", "sure": "bool"})


KINDS = {
    "list": lambda records: records,
    "tuples": lambda records: [namedtuple("Record", SCHEMA.names)(**r) for r in records],
    "pandas": as_pandas,
    "pandas str": lambda records: as_pandas(records, "str"),
    "pandas arrow": lambda records: as_pandas(records, "string[pyarrow]"),
    "polars": lambda records: polars.DataFrame(records, schema=POLARS),
    "arrow": lambda records: pyarrow.Table.from_pylist(records, schema=SCHEMA),
    "batch": lambda records: pyarrow.RecordBatch.from_pylist(records, schema=SCHEMA),
}


@pytest.mark.parametrize("kind", KINDS)
@given(RECORDS, st.integers(1, 5))
def test_the_same_records_give_the_same_rows_whatever_holds_them(kind, records, size) -> None:
    source = open_source(KINDS[kind](records))
    assert source.columns == tuple(SCHEMA.names)
    assert list(source.rows()) == list(enumerate(records, 1))
    pieces = [source.read(piece) for piece in source.pieces(size=size)]
    assert [row for block in pieces for _, row in block.records()] == records
    assert source.fingerprint() == open_source(KINDS[kind](records)).fingerprint()


@given(RECORDS)
def test_files_of_the_same_records_give_the_same_rows(tmp_path_factory, records) -> None:
    folder = tmp_path_factory.mktemp("same")
    (folder / "in.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    pyarrow.parquet.write_table(
        pyarrow.Table.from_pylist(records, schema=SCHEMA), folder / "in.parquet"
    )
    assert rows_of(folder / "in.jsonl") == records
    assert rows_of(folder / "in.parquet") == records
    with (folder / "in.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, SCHEMA.names)
        writer.writeheader()
        writer.writerows(records)
    wanted = [{k: "" if v is None else str(v) for k, v in r.items()} for r in records]
    assert rows_of(folder / "in.csv") == wanted


def upper(batch):
    return {"text": [None if t is None else f"<{t}>" for t in batch.column("text")]}


@pytest.mark.parametrize("kind", KINDS)
@given(RECORDS, st.integers(1, 5))
def test_a_release_has_the_kind_and_all_that_nobody_changed(kind, records, size) -> None:
    data = KINDS[kind](records)
    released, report = release_in_memory(open_source(data), Simple(upper), batch_rows=size)
    assert type(released) is type(data)
    wanted = [{**r, "text": None if r["text"] is None else f"<{r['text']}>"} for r in records]
    assert rows_of(released) == wanted
    assert (report.rows, report.parts) == (len(records), -(-len(records) // size))
    assert rows_of(data) == records, "what came in is not written to"
    if hasattr(data, "dtypes"):
        assert list(released.dtypes) == list(data.dtypes)
    if hasattr(data, "schema"):
        assert released.schema == data.schema


@pytest.mark.parametrize("kind", KINDS)
@given(RECORDS, st.data(), st.sampled_from(["skip", "mask"]))
def test_bad_rows_are_left_out_or_emptied(kind, records, draw, policy) -> None:
    bad = draw.draw(st.sets(st.sampled_from(range(len(records)))))
    if len(bad) == len(records) and policy == "skip":
        return
    numbers = {records[i]["id"] for i in bad}

    def problems(batch):
        ids = batch.column("id")
        return {i: RowProblem("bad") for i, n in enumerate(ids) if n in numbers}

    good = [r for r in records if r["id"] not in numbers]
    if not good and policy == "skip":
        return
    source = open_source(KINDS[kind](records))
    released, report = release_in_memory(
        source, Simple(upper, problems), on_error=OnError(policy), batch_rows=3
    )
    empty = dict.fromkeys(SCHEMA.names)
    wanted = [
        {**r, "text": None if r["text"] is None else f"<{r['text']}>"}
        if r["id"] not in numbers
        else empty
        for r in records
        if policy == "mask" or r["id"] not in numbers
    ]
    assert rows_of(released) == wanted
    count = len(records) - len(good)
    assert (report.rows, report.skipped, report.masked) == (
        len(good), count if policy == "skip" else 0, count if policy == "mask" else 0,
    )  # fmt: skip


def test_a_bad_row_is_told_by_its_number_and_nothing_else() -> None:
    frame = pandas.DataFrame({"text": ["a", "Wilhelmina", "c"]}, index=[7, 8, 9])

    def problems(batch):
        return {i: RowProblem("bad") for i, t in enumerate(batch.column("text")) if len(t) > 1}

    with pytest.raises(InvalidInput) as refused:
        release_in_memory(open_source(frame), Simple(upper, problems), batch_rows=1)
    assert str(refused.value) == "row 2: bad; mend the data, or choose --on-error skip or mask"
    with pytest.raises(InvalidInput, match="no row is left to write: every row was skipped"):
        release_in_memory(
            open_source(frame.iloc[1:2]), Simple(upper, problems), on_error=OnError.SKIP
        )


# ── pandas ─────────────────────────────────────────────────────────────────────────────────────

LISTS = pandas.ArrowDtype(pyarrow.list_(pyarrow.int64()))
COLUMNS: dict[str, Any] = {
    "int8": np.array([1, 2, 3], dtype="int8"),
    "uint64": np.array([2**63, 2, 3], dtype="uint64"),
    "Int64": pandas.array([2**60 + 1, None, 3], dtype="Int64"),
    "float32": np.array([1.5, np.nan, 3], dtype="float32"),
    "Float64": pandas.array([1.5, None, 3], dtype="Float64"),
    "bool": [True, False, True],
    "boolean": pandas.array([True, None, True], dtype="boolean"),
    "object": ["a", None, "c"],
    "str": pandas.array(["a", None, "c"], dtype="str"),
    "string": pandas.array(["a", None, "c"], dtype="string"),
    "string[pyarrow]": pandas.array(["a", None, "c"], dtype="string[pyarrow]"),
    "category": pandas.Categorical(["a", None, "c"]),
    "ordered": pandas.Categorical(["a", "b", "c"], categories=["c", "b", "a"], ordered=True),
    "datetime": pandas.to_datetime(["2024-05-06 07:08", None, "2024-05-07 00:00"]),
    "zoned": pandas.to_datetime(["2024-05-06", None, "2024-05-07"]).tz_localize("Europe/Paris"),
    "timedelta": pandas.to_timedelta([1, None, 3], unit="s"),
    "period": pandas.period_range("2024-01", periods=3, freq="M"),
    "interval": pandas.interval_range(0, 3),
    "arrow list": pandas.array([[1], None, [2]], dtype=LISTS),
    "arrow date": pandas.array([datetime.date(2024, 1, 1), None, None], dtype="date32[pyarrow]"),
    "mixed": [1, "x", {"a": [1]}],
    "sparse": pandas.arrays.SparseArray([1.0, 0.0, 0.0]),
    "complex": [1j, 2j, 3j],
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("policy", ["fail", "skip", "mask"])
def test_every_type_of_pandas_passes_and_comes_back(name, policy) -> None:
    frame = pandas.DataFrame({"text": ["a", "b", "c"]}, index=[3, 5, 9])
    frame["other"] = pandas.Series(COLUMNS[name], index=frame.index)
    if name == "object":
        frame["other"] = frame["other"].astype(object)

    def problems(batch):
        bad = {} if policy == "fail" else {1: RowProblem("bad")}
        return bad if len(batch) == 3 else {}

    source = open_source(frame)
    columns_in_clear(source, changed=["text"], passing="all")
    released, _ = release_in_memory(source, Simple(upper, problems), on_error=OnError(policy))
    kept = frame.iloc[[0, 2]] if policy == "skip" else frame
    assert list(released.index) == list(kept.index)
    if policy == "fail":
        pandas.testing.assert_series_equal(released["other"], frame["other"])
        assert released["text"].dtype == frame["text"].dtype
    else:
        kept = kept.iloc[[0, -1]]["other"]
        for was, now in zip(kept, released["other"].iloc[[0, -1]], strict=True):
            assert was is now or bool(pandas.isna([was, now]).all()) or was == now
    if policy == "mask":
        assert released.iloc[1].isna().all()


def test_replaced_columns_keep_their_type_where_values_fit() -> None:
    frame = pandas.DataFrame({"t": pandas.Categorical(["a", "b"]), "n": [1, 2], "b": [True, False]})
    source = open_source(frame)

    def changed(**columns):
        return same_kind(source, Changes([0, 1], columns)).dtypes.to_dict()

    assert list(changed(t=["y", "x"])["t"].categories) == ["x", "y"]
    assert changed(n=[5, 6])["n"] == "int64"
    assert changed(n=[5, None])["n"] == "float64"
    assert changed(n=[0.5, 1.5])["n"] == "float64"
    assert changed(b=[False, False])["b"] == "bool"
    assert changed(b=[None, True])["b"] == "object"
    assert changed(w=[0.5, 0.5])["w"] == "float64"


@pytest.mark.parametrize("kind", ["Int64", "int64[pyarrow]", "arrow", "polars"])
def test_fractions_are_not_cut_to_fit_whole_numbers(kind) -> None:
    """Arrow takes 48.7 for 48 where it is asked for integers: a release is what was drawn."""
    data: Any = pandas.DataFrame({"n": [1, 2]}, dtype=None if kind == "polars" else "int64")
    if kind == "arrow":
        data = pyarrow.table({"n": [1, 2]})
    else:
        data = polars.DataFrame({"n": [1, 2]}) if kind == "polars" else data.astype(kind)
    for values in ([48.7, 2.5], [48.0, 2.0]):
        made = same_kind(open_source(data), Changes((0, 1), {"n": values}))
        assert [row["n"] for row in rows_of(made)] == values


def test_notes_in_a_schema_stay_behind() -> None:
    """They are the owner's: no option speaks of them, and they may say where points were."""
    noted = pyarrow.field("n", pyarrow.int64(), metadata={"max": "48.8584"})
    schema = pyarrow.schema([noted, ("m", pyarrow.int64())], metadata={"bbox": "[48.8584, 2.2945]"})
    table = pyarrow.table({"n": [1], "m": [2]}, schema=schema)
    for changes in (Changes((0,), {"m": [3]}), Changes((0,), {"n": [3]})):
        made = same_kind(open_source(table), changes).schema
        assert (made.metadata, made.field("n").metadata) == (None, None)
        assert made.types == schema.types


def test_categories_of_rows_that_are_left_out_go_with_them() -> None:
    frame = pandas.DataFrame({"text": ["a", "b"], "c": pandas.Categorical(["x", "Wilhelmina"])})
    made = same_kind(open_source(frame), Changes([0], {"text": ["z"]}))
    assert list(made["c"].cat.categories) == ["x"]
    table = pyarrow.table({"text": ["a", "b"], "c": pyarrow.array(["x", "W"]).dictionary_encode()})
    made = same_kind(open_source(table), Changes([0], {"text": ["z"]}))
    assert made["c"].chunk(0).dictionary.to_pylist() == ["x"]
    assert made.schema == table.schema


def test_a_categorical_of_polars_forgets_and_an_enum_keeps_its_list(tmp_path: Path) -> None:
    def written(dtype) -> bytes:
        column = polars.Series(["x", "Wilhelmina"], dtype=dtype)
        frame = polars.DataFrame({"text": ["a", "b"], "c": column})
        made = same_kind(open_source(frame), Changes([0], {"text": ["z"]}))
        made.write_parquet(tmp_path / "out.parquet", compression="uncompressed")
        return (tmp_path / "out.parquet").read_bytes()

    assert b"Wilhelmina" not in written(polars.Categorical)
    assert b"Wilhelmina" in written(polars.Enum(["x", "Wilhelmina"])), "as known-limits says"


def test_an_index_that_says_something_is_a_column() -> None:
    frame = pandas.DataFrame({"text": ["a", "b"]}, index=pandas.Index(["Ada", "Bob"], name="who"))
    source = open_source(frame)
    assert source.columns == ("who", "text")
    with pytest.raises(InvalidInput, match="must be named in --pass"):
        columns_in_clear(source, changed=["text"])
    kept = same_kind(source, Changes([1], {"text": ["x"]}))
    assert list(kept.index) == ["Bob"]
    assert kept.index.name == "who"
    assert list(kept.columns) == ["text"]
    gone = same_kind(source, Changes([1], {"text": ["x"]}, frozenset(["who"])))
    assert list(gone.index) == [0]
    times = frame.set_axis(pandas.to_datetime(["2024-01-01", "2024-01-02"]), axis="index")
    assert open_source(times).columns == ("index", "text")
    back = same_kind(open_source(times), Changes([0, 1], {"text": ["x", "y"]}))
    pandas.testing.assert_index_equal(back.index, times.index, check_exact=True)
    several = frame.set_index(pandas.MultiIndex.from_tuples([("p", 1), ("q", 2)]))
    assert open_source(several).columns == ("index_1", "index_2", "text")
    back = same_kind(open_source(several), Changes([0, 1], {"text": ["x", "y"]}))
    pandas.testing.assert_index_equal(back.index, several.index)


def test_a_released_category_knows_what_was_released_and_nothing_else() -> None:
    kind = pandas.CategoricalDtype(["low", "high", "Wilhelmina"], ordered=True)
    frame = pandas.DataFrame({"t": pandas.Series(["high", "low", "Wilhelmina"], dtype=kind)})

    def released(*values):
        return same_kind(open_source(frame), Changes([0, 1], {"t": list(values)}))["t"]

    ordered = released("high", "low")
    assert (list(ordered), ordered.dtype.ordered) == (["high", "low"], True)
    assert list(ordered.cat.categories) == ["low", "high"]
    other = released("new", None)
    assert (list(other.cat.categories), other.dtype.ordered) == (["new"], False)
    assert other.isna().tolist() == [False, True]


@pytest.mark.parametrize(
    "index", [[0, 1, 2], [7, 8, 9], pandas.RangeIndex(0, 6, 2), pandas.RangeIndex(9, 3, -2)]
)
def test_an_index_that_counts_rows_stays_silently(index) -> None:
    source = open_source(pandas.DataFrame({"text": ["a", "b", "c"]}, index=index))
    assert columns_in_clear(source, changed=["text"]).passed == ()
    assert list(same_kind(source, Changes([0, 1, 2], {})).index) == list(index)


def test_the_row_numbers_that_a_filter_leaves_are_told_and_not_asked_about() -> None:
    frame = pandas.DataFrame({"text": ["a", "b", "c"], "index": [1, 2, 3]}, index=[2, 7, 31])
    for data, name in ((frame[["text"]], "index"), (frame["text"], "index"), (frame, "row_index")):
        source = open_source(data)
        others = [column for column in source.columns if column != "text"]
        clear = columns_in_clear(source, changed=["text"], passing=others)
        assert Columns.of(clear).passed_in_clear == (*others, "the index")
        assert name in clear.passed
        assert list(same_kind(source, Changes([0, 2], {"text": ["x", "y"]})).index) == [2, 31]
        clear = columns_in_clear(source, changed=["text"], passing=others, dropping=[name])
        assert clear.dropped == (name,)
        made = same_kind(source, Changes([0, 2], {"text": ["x", "y"]}, frozenset(clear.dropped)))
        assert list(made.index) == [0, 1]


@pytest.mark.parametrize("index", [[104211, 88213, 7], [1, 1, 2], [2, 1, 0]])
def test_other_whole_numbers_in_an_index_must_be_named(index) -> None:
    source = open_source(pandas.DataFrame({"text": ["a", "b", "c"]}, index=index))
    assert source.columns == ("text",), "it is no feature"
    with pytest.raises(InvalidInput, match="got neither for index;"):
        columns_in_clear(source, changed=["text"])
    for passing in (["index"], "all"):
        clear = columns_in_clear(source, changed=["text"], passing=passing)
        assert Columns.of(clear).passed_in_clear == ("the index",)
    made = same_kind(source, Changes([0, 1, 2], {}, frozenset(["index"])))
    assert list(made.index) == [0, 1, 2]


def test_a_column_without_a_usual_name_goes_by_where_its_owner_finds_it() -> None:
    frame = pandas.DataFrame({"text": ["a"], "Wilhelmina": ["b"]}, index=["x"])
    with pytest.raises(InvalidInput, match=r"neither for the index, column 2;"):
        columns_in_clear(open_source(frame.rename_axis("Zoë")), changed=["text"])
    several = pandas.MultiIndex.from_tuples([("p", 1)], names=["Zoë", "id"])
    with pytest.raises(InvalidInput, match=r"neither for level 1 of the index, id .*, column 2;"):
        columns_in_clear(open_source(frame.set_index(several)), changed=["text"])


def test_columns_come_back_in_order_under_their_own_names() -> None:
    frame = pandas.DataFrame([["a", 1, 2.5], ["b", 2, 3.5]], columns=[0, "n", 2.5])
    source = open_source(frame)
    assert source.columns == ("0", "n", "2.5")
    made = same_kind(source, Changes([0, 1], {"0": ["x", "y"], "new": [1.0, 2.0]}))
    assert list(made.columns) == [0, "n", 2.5, "new"]
    made = same_kind(source, Changes([0, 1], {"0": ["x", "y"]}, frozenset(["n"])))
    assert list(made.columns) == [0, 2.5]
    frame.attrs["from"] = "secret.csv"
    assert same_kind(open_source(frame), Changes([0], {})).attrs == {}
    assert frame.attrs


# ── Series, arrays, lists ──────────────────────────────────────────────────────────────────────


def test_a_column_by_itself_comes_back_as_one() -> None:
    series = pandas.Series(["a", None], index=[4, 7], name="note")
    made = same_kind(open_source(series), Changes([1, 0], {"note": ["x", None]}))
    assert made.name == "note"
    assert list(made.index) == [7, 4]
    assert made.dtype == series.dtype
    unnamed = pandas.Series(["a"])
    assert open_source(unnamed).columns == ("text",)
    assert same_kind(open_source(unnamed), Changes([0], {"text": ["x"]})).name is None
    column = polars.Series("note", ["a", "b"])
    assert same_kind(open_source(column), Changes([1], {"note": ["x"]})).to_list() == ["x"]
    for array in (pyarrow.array(["a", "b"]), pyarrow.chunked_array([["a"], ["b"]])):
        made = same_kind(open_source(array), Changes([1], {"text": ["x"]}))
        assert type(made) is type(array)
        assert made.to_pylist() == ["x"]


def test_numpy_arrays() -> None:
    texts = np.array(["a", "b"])
    made = same_kind(open_source(texts), Changes([0, 1], {"text": ["longer", "x"]}))
    assert made.tolist() == ["longer", "x"]
    places = np.array([[52.5, 13.4], [48.8, 2.3]])
    assert open_source(places).columns == ("lat", "lon")
    made = same_kind(open_source(places), Changes([0, 1], {"lat": [1.0, None]}))
    assert made.dtype == places.dtype
    assert np.array_equal(made, [[1.0, 13.4], [np.nan, 2.3]], equal_nan=True)
    wide = np.arange(6).reshape(2, 3)
    assert open_source(wide).columns == ("c1", "c2", "c3")
    assert same_kind(open_source(wide), Changes([1], {})).dtype == wide.dtype
    named = np.array([(1, "a")], dtype=[("n", int), ("text", "U5")])
    made = same_kind(open_source(named), Changes([0], {"text": ["b"]}))
    assert made.dtype == [("n", int), ("text", "U1")]  # its width was that of what stood there
    assert made["text"].tolist() == ["b"]
    made = same_kind(open_source(named), Changes([0], {"n": [None], "text": ["(missing)"]}))
    assert made.tolist() == [(None, "(missing)")]
    made = same_kind(open_source(wide * 1.5), Changes([0], {"c2": ["(other)"]}))
    assert made.tolist() == [[0.0, "(other)", 3.0]]
    for wrong in (np.zeros((2, 2, 2)), np.array(3.0), np.zeros((2, 0))):
        with pytest.raises(InvalidInput, match="one dimension or two"):
            open_source(wrong)


def test_lists() -> None:
    ragged = [{"text": "a"}, {"text": "b", "later": 1}]
    assert open_source(ragged).columns == ("text", "later")
    assert same_kind(open_source(ragged), Changes([0, 1], {"text": ["x", "y"]})) == [
        {"text": "x"},
        {"text": "y", "later": 1},
    ]
    assert rows_of([(52.5, 13.4)]) == [{"lat": 52.5, "lon": 13.4}]
    assert rows_of([("a", 1)]) == [{"c1": "a", "c2": 1}]
    assert rows_of(("a", None)) == [{"text": "a"}, {"text": None}]
    assert same_kind(open_source(("a", "b")), Changes([1], {"text": ["x"]})) == ("x",)


# ── what is refused ────────────────────────────────────────────────────────────────────────────


class Silent:
    def __str__(self) -> str:
        raise RuntimeError("Wilhelmina")


TWICE = pandas.DataFrame([["Wilhelmina", 1]], columns=["a", "a"])
HOSTILE = {
    "duplicate names": TWICE,
    "same name as a string": pandas.DataFrame([["Wilhelmina", 1]], columns=[1, "1"]),
    "several rows of names": pandas.DataFrame(
        [["Wilhelmina"]], columns=pandas.MultiIndex.from_tuples([("a", "b")])
    ),
    "index of a column's name": pandas.DataFrame({"a": ["x"]}, index=pandas.Index(["y"], name="a")),
    "no rows": pandas.DataFrame({"text": []}),
    "no columns": pandas.DataFrame(index=[1, 2]),
    "nothing": pandas.DataFrame(),
    "no rows in polars": polars.DataFrame({"text": []}),
    "no columns in polars": polars.DataFrame(),
    "lazy": polars.LazyFrame({"text": ["Wilhelmina"]}),
    "arrow duplicate": pyarrow.Table.from_arrays([pyarrow.array(["W"])] * 2, names=["a", "a"]),
    "arrow empty": pyarrow.table({"text": pyarrow.array([], pyarrow.string())}),
    "empty list": [],
    "empty tuples": [(), ()],
    "mixture": ["Wilhelmina", {"a": 1}],
    "tuples of two lengths": [("Wilhelmina", 1), ("b",)],
    "keys that are no strings": [{1: "Wilhelmina"}],
    "bytes": b"Wilhelmina",
    "a text": "Wilhelmina was here\nand there",
    "a dictionary": {"text": ["Wilhelmina"]},
    "a generator": (text for text in ["Wilhelmina"]),
    "a set": {"Wilhelmina"},
    "nobody": None,
    "a number": 3,
    "objects": [Silent()],
    "a reader": pyarrow.RecordBatchReader.from_batches(SCHEMA, []),
    "an index": pandas.Index(["Wilhelmina"]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_table_is_refused_without_a_word_of_it(name) -> None:
    with pytest.raises(InvalidInput) as refused:
        open_source(HOSTILE[name])
    assert "Wilhelmina" not in str(refused.value)


def test_a_value_that_cannot_be_written_is_found_when_it_is_read() -> None:
    frame = pandas.DataFrame({"text": ["a", "b"], "Wilhelmina": ["x", Silent()]})
    source = open_source(frame)
    with pytest.raises(InvalidInput, match=r"a column of no usual name must hold .* row 2 ") as e:
        list(source.rows())
    assert "Wilhelmina" not in str(e.value)
    released, _ = release_in_memory(source, Simple(upper))
    assert released["Wilhelmina"].iloc[1] is frame["Wilhelmina"].iloc[1]


def test_memory_has_no_file() -> None:
    with pytest.raises(InvalidInput, match="the list is in memory"):
        open_source(["a"]).location  # noqa: B018
    assert open_source(["a"]).in_memory
    assert open_source(["abc"] * 1000).size() == 3000


def test_nothing_lands_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "TMPDIR", "VOILE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    opened: list[Any] = []
    written = os.O_WRONLY | os.O_RDWR | os.O_CREAT

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and watching and (arguments[2] or 0) & written:
            opened.append(arguments[0])

    watching = False
    import sys

    sys.addaudithook(watch)
    for make in KINDS.values():
        data = make([{"id": 1, "text": "a", "x": 0.5, "sure": True}] * 50)
        watching = True
        release_in_memory(open_source(data), Simple(upper), batch_rows=7)
        watching = False
    assert opened == []
    assert list(tmp_path.iterdir()) == []


# ── GeoDataFrames ──────────────────────────────────────────────────────────────────────────────


def moved(batch):
    return {
        name: [None if v is None else v + 1 for v in batch.column(name)] for name in ("lat", "lon")
    }


@pytest.mark.parametrize("crs", [None, 4326, 3857])
def test_points_are_degrees_and_points_again(crs) -> None:
    geopandas = pytest.importorskip("geopandas")
    from shapely.geometry import Point

    points = geopandas.GeoSeries([Point(13, 52), Point(2, 48), None], crs=crs and 4326)
    frame = geopandas.GeoDataFrame({"n": [1, 2, 3]}, geometry=points).rename_geometry("where")
    frame["m"] = 1.5
    frame = frame.set_index(pandas.Index([7, 8, 9]))
    frame = frame if crs is None else frame.to_crs(crs)
    source = open_source(frame)
    assert source.columns == ("n", "m", "lat", "lon")
    released, _ = release_in_memory(source, Simple(moved))
    assert type(released) is type(frame)
    assert list(released.columns) == ["n", "where", "m"]
    assert released.crs == frame.crs
    assert list(released.index) == [7, 8, 9]
    back = released.geometry if crs is None else released.geometry.to_crs(4326)
    assert back.x.round(6).tolist()[:2] == [14, 3]
    assert back.y.round(6).tolist()[:2] == [53, 49]
    assert released.geometry.iloc[2] is None
    series, _ = release_in_memory(open_source(frame.geometry), Simple(moved))
    assert series.geom_equals_exact(released.geometry, 1e-6).iloc[:2].all()
    assert (series.name, series.crs) == ("where", frame.crs)


def test_names_of_several_levels_are_refused() -> None:
    import geopandas
    from shapely.geometry import Point

    frame = geopandas.GeoDataFrame({"a": [1]}, geometry=[Point(0, 1)], crs=4326)
    frame.columns = pandas.MultiIndex.from_tuples([("a", "b"), ("geometry", "")])
    with pytest.raises(InvalidInput, match="GeoDataFrame must have one row of column names"):
        open_source(frame)


def test_heights_lines_and_missing_geometries() -> None:
    geopandas = pytest.importorskip("geopandas")
    from shapely.geometry import LineString, Point

    high = geopandas.GeoDataFrame(geometry=[Point(13, 52, 300)], crs=4326)
    assert open_source(high).columns == ("lat", "lon", "altitude")
    back = same_kind(open_source(high), Changes([0], {"lat": [1.0]}))
    assert back.geometry.iloc[0].equals(Point(13, 1, 300))
    flat = same_kind(open_source(high), Changes([0], {}, frozenset(["altitude"])))
    assert not flat.geometry.has_z.any()
    gone = same_kind(open_source(high.assign(n=1)), Changes([0], {}, frozenset(["lat", "lon"])))
    assert "geometry" not in gone.columns
    for wrong in (
        geopandas.GeoDataFrame(geometry=[LineString([(0, 0), (1, 1)])]),
        geopandas.GeoDataFrame({"a": [1]}),
        geopandas.GeoDataFrame({"lat": [1]}, geometry=[Point(1, 2)]),
    ):
        with pytest.raises(InvalidInput):
            open_source(wrong)


# ── polars and Arrow ───────────────────────────────────────────────────────────────────────────

DAY = datetime.date(2024, 5, 6)
POLARS_COLUMNS: dict[str, Any] = {
    "decimal": polars.Series(["1.5", None, "2"]).cast(polars.Decimal(10, 2)),
    "date": polars.Series([DAY, None, DAY]),
    "time": polars.Series([datetime.time(1, 2), None, datetime.time(3)]),
    "datetime": polars.Series([datetime.datetime(2024, 5, 6), None, None]),
    "duration": polars.Series([datetime.timedelta(1), None, None]),
    "binary": polars.Series([b"\xff", None, b"a"]),
    "list": polars.Series([[1], None, []]),
    "array": polars.Series([[1, 2], None, [3, 4]], dtype=polars.Array(polars.Int64, 2)),
    "struct": polars.Series([{"a": 1}, None, {"a": 2}]),
    "categorical": polars.Series(["a", None, "b"], dtype=polars.Categorical),
    "enum": polars.Series(["a", None, "b"], dtype=polars.Enum(["a", "b", "c"])),
    "null": polars.Series([None, None, None]),
    "object": polars.Series([object(), None, {1}], dtype=polars.Object),
    "nan": polars.Series([float("nan"), None, 1.0]),
    "uint8": polars.Series([255, None, 1], dtype=polars.UInt8),
}


@pytest.mark.parametrize("name", POLARS_COLUMNS)
@pytest.mark.parametrize("policy", ["fail", "skip", "mask"])
def test_every_type_of_polars_passes_and_comes_back(name, policy) -> None:
    frame = polars.DataFrame({"text": ["a", "b", "c"], "other": POLARS_COLUMNS[name]})

    def problems(batch):
        return {} if policy == "fail" else {1: RowProblem("bad")}

    source = open_source(frame)
    columns_in_clear(source, changed=["text"], passing="all")
    released, _ = release_in_memory(source, Simple(upper, problems), on_error=OnError(policy))
    assert released.schema == frame.schema
    places = [0, 2] if policy == "skip" else [0, 1, 2]
    assert str(released["other"].to_list()) == str(frame["other"][places].to_list())
    assert released["text"].to_list()[-1] == "<c>"
    if policy == "mask":
        assert released.row(1) == (None, None)
