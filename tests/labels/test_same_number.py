"""A number written differently is the same number, and passes as text where it passes."""

import csv

import pandas as pd
import pytest

from label_files import write_rows
from voile import labels
from voile.errors import InvalidInput
from voile.labels.columns import CategoryColumn
from voile.labels.recipes import label_recipe


def test_a_class_is_met_however_its_fraction_is_written(tmp_path):
    spelt = ["1", "1.0", "1.", "0", "0.0", "-0.", "1.00"] * 20
    path = write_rows(tmp_path / "p.csv", ["size", "y"], [[f"42.{i % 3}", y]
                                                        for i, y in enumerate(spelt)])  # fmt: skip
    made = labels.protect(path, label="y", epsilon=50, mechanism="rr", classes=("0", "1"),
                          pass_="all", out=str(tmp_path / "o.csv"))  # fmt: skip
    with (tmp_path / "o.csv").open() as file:
        released = [row["y"] for row in csv.DictReader(file)]
    assert released == ["1", "1", "1", "0", "0", "0", "1"] * 20, "at ε = 50 nothing changes"
    assert made.records == len(spelt)


def test_floats_of_a_frame_are_the_classes_of_a_file():
    frame = pd.DataFrame({"size": range(60), "y": [0.0, 1.0] * 30})
    made = labels.protect(frame, label="y", epsilon=50, mechanism="rr", classes=("0", "1"),
                          pass_="all")  # fmt: skip
    assert made.data["y"].astype(float).tolist() == frame["y"].tolist()


def test_other_names_are_others():
    recipe = label_recipe("y", ("1", "2"))
    assert recipe.label_codes(["1", "01", "+1", "1e0", "2.5", "one", "2.0"]).tolist() == [
        0, -1, -1, -1, -1, -1, 1,
    ]  # fmt: skip
    told_apart = label_recipe("y", ("1", "1.0"))
    assert told_apart.label_codes(["1", "1.0", "1."]).tolist() == [0, 1, -1]
    column = CategoryColumn("size", ("10", "(missing)", "NA"))
    assert column.read(["10.0", "10.", "010", "", "NA"]).tolist() == [
        "10", "10", "010", "(missing)", "NA",
    ]  # fmt: skip


def test_a_label_that_is_no_class_is_still_refused(tmp_path):
    path = write_rows(tmp_path / "p.csv", ["size", "y"], [["3", "1"], ["4", "01"]] * 20)
    with pytest.raises(InvalidInput, match="none of the recipe's classes"):
        labels.protect(path, label="y", epsilon=1, mechanism="rr", classes=("0", "1"),
                       pass_="all", out=str(tmp_path / "o.csv"))  # fmt: skip


def test_features_in_clear_pass_as_they_are_written(tmp_path):
    sizes = ["42.", "42", "0042", "42.0", "4e1", "4000000000000001", " 42 "]
    path = write_rows(tmp_path / "p.csv", ["size", "y"], [[s, "a"] for s in sizes * 10])
    labels.protect(path, label="y", epsilon=1, mechanism="rr", classes=("a", "b"), pass_="all",
                   out=str(tmp_path / "o.csv"))  # fmt: skip
    with (tmp_path / "o.csv").open() as file:
        assert [row["size"] for row in csv.DictReader(file)] == sizes * 10
