"""Persons with several records: who learns from one knows the others, and they are not so many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from label_files import write_rows
from voile import labels
from voile.audit.finding import Verdict
from voile.errors import InvalidInput

pytest.importorskip("sklearn")

TOLD = "have the very features of another one"


def visits(path: Path, *, each: int, persons: int = 300, repeats: bool = True) -> Path:
    """Features that say nothing of the label, each person's written down so many times."""
    rng = np.random.default_rng(8)
    rows = []
    for number in range(persons):
        own = rng.normal(size=3).round(4)
        state = "ill" if rng.random() < 0.5 else "well"
        for again in range(each):
            seen = own if repeats else own + again
            rows.append([*seen, f"case {number}", state])
    order = rng.permutation(len(rows))
    return write_rows(path, ["a", "b", "c", "who", "state"], [rows[i] for i in order])


def test_an_audit_reads_one_record_of_each_person(tmp_path: Path) -> None:
    file = visits(tmp_path / "visits.csv", each=4)
    naive = labels.audit(file, label="state", epsilon=(1.0,), drop=("who",))
    assert naive.epsilons[0].features_alone > 0.9  # what is not there
    assert any(TOLD in note and "--person" in note for note in naive.notes)
    found = labels.audit(file, label="state", epsilon=(1.0,), person="who")
    point = found.epsilons[0]
    assert found.records == 300
    assert point.total.lower <= point.expected
    assert found.verdict is Verdict.OPEN
    assert "who" not in {share.name for share in found.features}
    assert "of each of 300 persons one record was used, the first" in found.notes
    assert not any(TOLD in note for note in found.notes)


def test_persons_are_those_of_a_ledger_and_nobody_is_left_out(tmp_path: Path) -> None:
    names = ["7", "7.0", " 7 ", "8", "", "NaN", "9"]
    rows = [[name, i, "ill" if i % 2 else "well"] for i, name in enumerate(names * 3)]
    more = [[100 + i, i, "ill" if i % 2 else "well"] for i in range(20)]
    file = write_rows(tmp_path / "p.csv", ["who", "age", "state"], rows + more)
    made = labels.recipe(file, label="state", mechanism="ldp", person="who", out=tmp_path / "r")
    assert made.records == 3 + 20
    assert made.features == ("age",)
    with pytest.raises(InvalidInput, match="--person"):
        labels.audit(file, label="state", person="nobody")


def test_cells_count_each_person_once(tmp_path: Path) -> None:
    """Bounds on P(cell | label) are for independent records: four copies tell no more than one."""
    four, once = (visits(tmp_path / f"{n}.csv", each=n) for n in (4, 1))
    asked: dict[str, Any] = {"label": "state", "cells": 3}
    copied = labels.recipe(four, person="who", out=tmp_path / "four.json", **asked).content.cells
    alone = labels.recipe(once, drop=("who",), out=tmp_path / "o.json", **asked).content.cells
    wrong = labels.recipe(four, drop=("who",), out=tmp_path / "w.json", **asked).content.cells
    widths = [float((one.upper - one.lower).mean()) for one in (copied, alone, wrong) if one]
    assert widths[0] > 0.8 * widths[1]
    assert widths[2] < 0.7 * widths[1]


def test_few_alike_are_not_worth_a_note(tmp_path: Path) -> None:
    file = visits(tmp_path / "v.csv", each=3, persons=60, repeats=False)
    found = labels.audit(file, label="state", epsilon=(1.0,), drop=("who",))
    assert not any(TOLD in note for note in found.notes)
    rng = np.random.default_rng(2)
    rows = [[*rng.choice(["yes", "no"], size=2), "ill" if i % 2 else "well"] for i in range(80)]
    few = write_rows(tmp_path / "few.csv", ["a", "b", "state"], rows)
    found = labels.audit(few, label="state", epsilon=(1.0,))
    assert not any(TOLD in note for note in found.notes)  # four kinds of record, all alike


def test_a_comparison_reads_one_record_of_each_person_too(tmp_path: Path) -> None:
    file = visits(tmp_path / "visits.csv", each=4, persons=80)
    asked: dict[str, Any] = {"label": "state", "label_epsilon": (1.0,), "record_epsilon": (4.0,),
                             "repeats": 2, "draws": 1}  # fmt: skip
    naive = labels.compare(file, drop=("who",), **asked)
    assert naive.features_alone > 0.8
    assert any(TOLD in note for note in naive.notes)
    found = labels.compare(file, person="who", **asked)
    assert found.features_alone < 0.7
    assert "of each of 80 persons one record was used, the first" in found.notes
