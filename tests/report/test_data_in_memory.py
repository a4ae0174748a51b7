"""Data in memory in the command that a report prints: its kind, and nothing that it holds."""

from __future__ import annotations

from typing import Annotated

import pytest

from voile.options import Call, Data, Option, case_of, use_case
from voile.report.provenance import spelled


@use_case("text shout")
def shout(
    data: Annotated[Data, Option("What to shout.", reads="private")],
    *,
    against: Annotated[tuple[Data, Data] | None, Option("Two.", reads="private")] = None,
    cells: Annotated[str | tuple[int, int], Option("Size.", shown=True)] = "1x1",
) -> None:
    """Shout."""


def call(**given):
    return Call(case_of(shout), given, 0.0, "now")


def test_records_in_a_list_are_neither_words_nor_files():
    asked = call(data=["Alice has HIV", "notes/of/Bob"])
    assert spelled(asked) == "voile text shout <list>"
    assert asked.files("private") == []


def test_two_files_stand_side_by_side_and_each_is_one():
    asked = call(data="a.csv", against=("x/b.csv", ["Alice"]), cells=(2, 3))
    assert spelled(asked) == "voile text shout a.csv --against b.csv <list> --cells 2,3"
    assert asked.files("private") == ["a.csv", "x/b.csv"]


def test_frames_are_not_compared_with_a_default():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": ["Alice has HIV"]})
    assert spelled(call(data=frame, against=(frame, frame))) == (
        "voile text shout <DataFrame> --against <DataFrame> <DataFrame>"
    )
