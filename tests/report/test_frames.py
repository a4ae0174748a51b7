"""Results that are tables are frames too, by one way; others say that they are none."""

from __future__ import annotations

import pytest

import voile
from voile.catalogue import Entry, mechanisms
from voile.errors import InvalidInput
from voile.places.methods import Compared, MethodComparison

pytest.importorskip("pandas", reason="pandas is not installed")


def test_a_column_is_a_field_and_a_row_a_record() -> None:
    found = mechanisms()
    frame = found.to_frame()
    assert list(frame.columns) == list(Entry.__dataclass_fields__)
    assert list(frame["name"]) == [entry.name for entry in found.mechanisms]


def test_what_is_no_number_stays_empty() -> None:
    rows = (Compared(1.0, "best", 0.5, None, 2.0), Compared(1.0, "lp", float("inf"), 0.9, 3.0))
    frame = MethodComparison("a town", rows).to_frame()
    assert list(frame["method"]) == ["best", "lp"]
    assert frame["supremum"].isna().tolist() == [True, False]
    assert frame["loss"].isna().tolist() == [False, True]


def test_one_value_is_no_table() -> None:
    with pytest.raises(InvalidInput, match=r"Explanation is no table; to_dict\(\)"):
        voile.explain(epsilon=1.0).to_frame()
