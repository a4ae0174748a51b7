"""One number is one person with one budget, however the file holds it."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from releasers import Simple
from voile.errors import InvalidInput
from voile.jobs import (
    Charging,
    OnError,
    WhenSpent,
    open_source,
    run_job,
)
from voile.ledger import Budget, Key, Kind, Ledger, person_name
from voile.ledger.register import Register

KEY = Key(bytes(range(32)))
SAME = [
    (
        "42",
        [
            42,
            42.0,
            "42",
            " 42 ",
            "42.0",
            "42.",
            "42.000",
            Decimal(42),
            Decimal("42.00"),
            np.int64(42),
        ],
    ),
    ("42", ["４２", " ４２"]),
    ("42.5", [42.5, "42.5", "42.50", Decimal("42.50")]),
    ("0", [0, 0.0, -0.0, "0", "0.0", "-0", "-0.0"]),
    ("-7", [-7, -7.0, "-7", "-7.0"]),
    ("100000", [100000, 1e5, "100000.0", "1e+05", "1E+5"]),
    (str(10**22), [10**22, str(10**22), Decimal(10**22)]),
]
OTHERS = ["042", "+42", ".5", "4.2.0", "42,0", "1e5", "0x2a", "4 2", "--42", "042.0", "Nan"]
NOBODY = [None, "", "  ", float("nan"), "nan", "NaN", float("inf"), Decimal("NaN"), True, ["42"]]


@pytest.mark.parametrize(("name", "values"), SAME)
def test_one_number_is_one_person(name, values):
    assert {person_name(value) for value in values} == {name}
    assert len(set(Register(KEY).numbers(values).tolist())) == 1
    for value in values:  # whichever is met first
        first, then = Register(KEY).numbers([value, name]).tolist()
        assert first == then


def test_other_spellings_stay_others():
    assert [person_name(value) for value in OTHERS] == OTHERS
    assert len(set(Register(KEY).numbers([*OTHERS, "42", "5", "0.5"]).tolist())) == len(OTHERS) + 3


def test_a_float_that_may_be_several_numbers_is_nobody():
    large = [2.0**53, -(2.0**53), 1e22, "1e+22", "9007199254740992.0", "-9.1e+18"]
    assert [person_name(value) for value in large] == [None] * len(large)
    assert person_name(2.0**53 - 1) == "9007199254740991"
    register = Register(KEY)
    assert register.numbers([2**53, "ann"]).all()
    assert register.numbers([2.0**53, "ann"]).tolist()[0] == 0  # whoever was met before


def test_nobody_is_nobody():
    assert [person_name(value) for value in NOBODY] == [None] * len(NOBODY)


@given(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_number_and_its_texts_are_one_person(value):
    """As JSON, CSV by Python, and pandas (a float for an integer with gaps beside it) write it."""
    name = person_name(value)
    assert person_name(repr(value)) == name
    assert person_name(json.loads(json.dumps(value))) == name
    if isinstance(value, int) and abs(value) < 2**53:
        assert person_name(repr(float(value))) == name
    assert person_name(name) == name


@given(st.text(max_size=12))
def test_a_name_is_its_own_name(text):
    name = person_name(text)
    assert name is None or person_name(name) == name


draw = Simple(lambda batch: {"value": ["x"] * len(batch)})


def test_three_files_of_one_person_share_one_budget(tmp_path):
    import pyarrow
    import pyarrow.parquet as parquet

    (tmp_path / "a.csv").write_text("user,value\n42,v\n43,v\n")
    (tmp_path / "b.csv").write_text("user,value\n42.0,v\n43.0,v\n,v\n")  # as pandas writes a gap
    (tmp_path / "c.jsonl").write_text('{"user": 42, "value": "v"}\n{"user": 43, "value": "v"}\n')
    table = {"user": [42.0, 43.0, None, 44.0], "value": ["v"] * 4}
    parquet.write_table(pyarrow.table(table), tmp_path / "d.parquet")
    where = str(tmp_path / "ledger.db")
    with Ledger.create(where, KEY) as ledger:
        ledger.agree(Kind("one location", "euclidean", "km"), Budget(3.0))
    charging = Charging(where, KEY, "user", WhenSpent.DROP)
    over = []
    for name in ("a.csv", "b.csv", "c.jsonl", "d.parquet"):
        target: Path = tmp_path / f"out.{name}"
        if name in ("b.csv", "d.parquet"):
            with pytest.raises(InvalidInput, match="the column 'user' names no person"):
                run_job(open_source(tmp_path / name), target, draw, identity={},
                        charging=charging)  # fmt: skip
        report = run_job(open_source(tmp_path / name), target, draw, identity={},
                         charging=charging, on_error=OnError.SKIP)  # fmt: skip
        over.append(report.over_budget)
    assert over[:3] == [0, 0, 0]
    assert over[3] == 2  # the budget of three releases is spent, whoever wrote the number how
    with Ledger(where, KEY) as ledger:
        assert {ledger.account(p)[3] for p in ("42", "42.0", " 43 ", "43.00")} == {3}
        assert len(list(ledger.accounts())) == 3


def test_a_name_of_a_thousand_marks_and_more_is_nobody():
    """Normal form is quadratic in combining marks: such a row is a bad row before it is tried."""
    assert person_name("a" + "\u0301\u0327" * 50_000) is None
    assert person_name("9" * 1001) is None
    assert person_name("é" * 1000) == "é" * 1000
