"""Labels that are not there, classes that few have, and what is said of columns that are drawn."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
import pytest

from label_files import write_rows
from voile import labels
from voile.errors import BadFile, InvalidInput
from voile.labels.recipe_file import load_recipe, recipe_from, recipe_text
from voile.labels.recipes import label_recipe

pytest.importorskip("sklearn")

GONE = "(missing)"


def pay(path: Any, seed: int, *, gaps: bool = True, count: int = 900) -> Any:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        level = rng.normal()
        gone = gaps and rng.random() < 0.2
        rows.append([round(level, 3), "" if gone else round(50 + 15 * level, 1)])
    return write_rows(path, ["level", "pay"], rows)


def column(path: Any, name: str) -> list[str]:
    with open(path) as file:
        return [row[name] for row in csv.DictReader(file)]


# ── a number that is missing ───────────────────────────────────────────────────────────────────


def test_a_number_that_is_missing_has_a_class_if_asked(tmp_path: Any) -> None:
    file, out = pay(tmp_path / "p.csv", 1), str(tmp_path / "o.csv")
    asked: dict[str, Any] = {"label": "pay", "epsilon": 3, "mechanism": "rr", "pass_": "all",
                             "edges": (0, 40, 60, 101), "out": out}  # fmt: skip
    with pytest.raises(InvalidInput, match=r"the label is missing; .*or add '\(missing\)'"):
        labels.protect(file, **asked)
    done = labels.protect(file, **asked, classes=(GONE,), seed=2)
    assert set(column(out, "pay")) == {"20", "50", "80", GONE}
    assert "released as its middle, rounded down, since all edges are whole" in str(done.report())
    assert load_recipe(out + ".recipe.json").classes == done.by.classes
    found = labels.estimate(out, confidence=1 - 1e-9)
    share = {one.value: one.estimate for one in found.classes}[GONE]
    assert share.lower < 0.2 < share.upper
    assert found.means == ()
    assert "or missing: the shares of its bins are given, and no mean" in str(found.report())
    with pytest.raises(InvalidInput, match="a regression needs a number in every record"):
        labels.learn(out)
    for wrong in (("a", "b"), (GONE, "a")):
        with pytest.raises(InvalidInput, match="--edges must go with"):
            labels.protect(file, **asked, classes=wrong)


def test_a_middle_that_is_whole_is_not_said_to_be_rounded(tmp_path: Any) -> None:
    done = labels.protect(
        pay(tmp_path / "p.csv", 1, gaps=False), label="pay", epsilon=3, mechanism="rr",
        pass_="all", edges=(0, 40, 60, 100), out=str(tmp_path / "o.csv"),
    )  # fmt: skip
    assert "rounded down" not in str(done.report())


@pytest.mark.parametrize("mechanism", ["cf", "ldp", "sample"])
def test_a_recipe_codes_numbers_that_are_missing(mechanism: str, tmp_path: Any) -> None:
    made = labels.recipe(pay(tmp_path / "public.csv", 3), label="pay", mechanism=mechanism,
                         edges=(0, 50, 100), classes=(GONE,), levels=4)  # fmt: skip
    assert (made.classes, made.left_out, made.records) == (("25", "75", GONE), 0, 900)
    out = str(tmp_path / "o.csv")
    done = labels.protect(pay(tmp_path / "p.csv", 1), label="pay", epsilon=6, mechanism=mechanism,
                          recipe=made, out=out)  # fmt: skip
    assert done.records == 900
    model = labels.learn(out, recipe=done.by, test=pay(tmp_path / "clean.csv", 5, count=300))
    assert model.error < 1.3 * model.spread
    with pytest.raises(InvalidInput, match=r'classes must be none but "\(missing\)"'):
        labels.recipe(tmp_path / "p.csv", label="pay", edges=(0, 50, 100), classes=("a", GONE))


def test_forged_classes_of_a_number_are_refused(tmp_path: Any) -> None:
    made = labels.recipe(pay(tmp_path / "public.csv", 3), label="pay", mechanism="ldp",
                         edges=(0, 50, 100), classes=(GONE,), levels=4).content  # fmt: skip
    text = recipe_text(made)
    assert recipe_from(text).classes == made.classes
    with pytest.raises(BadFile, match="must be the middles between its edges, and at most"):
        recipe_from(text.replace('"(missing)"\n', '"(other)"\n'))


# ── records without a label in a public file ───────────────────────────────────────────────────


def public(path: Any) -> Any:
    rng = np.random.default_rng(7)
    return write_rows(
        path, ["n", "y"], [[round(rng.normal(), 2), "ab "[i % 3]] for i in range(600)]
    )


def test_a_recipe_says_how_many_records_it_leaves_out(tmp_path: Any) -> None:
    file = public(tmp_path / "public.csv")
    without = labels.recipe(file, label="y", mechanism="ldp")
    assert (without.classes, without.records, without.left_out) == (("a", "b"), 400, 200)
    assert "LEFT OUT: 200 records without a label" in str(without.report())
    kept = labels.recipe(file, label="y", mechanism="cf", classes=("a", "b", GONE), overwrite=True)
    assert (kept.records, kept.left_out) == (600, 0)
    assert "LEFT OUT" not in str(kept.report())
    known = labels.recipe(file, label="y", mechanism="sample", classes=("a", "b", GONE),
                          overwrite=True).content.known  # fmt: skip
    assert known[0].sum(axis=0).tolist() == [200, 200, 200]


# ── classes that few private records have ──────────────────────────────────────────────────────


@pytest.mark.parametrize("mechanism", ["rr", "ldp", "cf", "sample"])
def test_a_class_of_few_private_records_is_not_shown(mechanism: str, tmp_path: Any) -> None:
    rng = np.random.default_rng(8)
    rows = [[round(rng.normal(), 2), "yn"[i % 2]] for i in range(500)]
    for rare in range(4):
        rows[rare][1] = "HIV-2"
    file = write_rows(tmp_path / "p.csv", ["x", "y"], rows)
    done = labels.protect(
        file, label="y", epsilon=2, mechanism=mechanism, learn_from_private=True,
        pass_=("x",) if mechanism == "rr" else (), out=str(tmp_path / "o.csv"),
    )  # fmt: skip
    assert done.by.classes == ("n", "y", "(other)")
    for written in tmp_path.glob("o.csv*"):
        assert "HIV" not in written.read_text()


def test_too_few_common_classes_are_refused() -> None:
    rows = [{"x": i, "y": "abcdef"[i % 6]} for i in range(18)]
    with pytest.raises(InvalidInput, match="at least two classes must have 5 records"):
        labels.protect(rows, label="y", epsilon=1, mechanism="ldp", learn_from_private=True)


def test_an_empty_name_of_a_class_is_called_that() -> None:
    for names in (("a", ""), ("a", "b", " ")):
        with pytest.raises(InvalidInput, match=r"names that are not empty, got 1 empty of \d"):
            label_recipe("y", names)
    with pytest.raises(InvalidInput, match="at least two different names, got 1 different"):
        label_recipe("y", ("a", "a"))


# ── what is said of columns ────────────────────────────────────────────────────────────────────


def test_a_column_that_is_reported_is_not_said_to_be_left_out(
    patients: Any, public_sample: Any, tmp_path: Any
) -> None:
    done = labels.protect(patients, label="state", epsilon=2, mechanism="sample", drop=("town",),
                          recipe=public_sample, out=str(tmp_path / "o.csv"))  # fmt: skip
    said = done.guarantee_file()
    assert said["columns"]["dropped"] == ["town"]
    assert said["drawn"] == ["state", "weight", "smokes"]
    shown = str(done.report())
    assert "Left out: the columns town." in shown
    assert "Reported with the label, one of them a record: weight, smokes." in shown
    assert column(done.output, "report")


@pytest.fixture
def public_sample(patients: Any, tmp_path: Any) -> Any:
    with open(patients) as file:
        rows = list(csv.reader(file))
    others = write_rows(tmp_path / "others.csv", rows[0], rows[1:300])
    return labels.recipe(others, label="state", mechanism="sample")


def test_what_is_drawn_is_told_of_every_mechanism(patients: Any, recipe: Any) -> None:
    for mechanism, drawn in (
        ("cf", ("state", "weight", "smokes")),
        ("ldp", ("state", "weight", "smokes")),
        ("rr", ("state",)),
    ):
        more = {"pass_": ("weight", "smokes")} if mechanism == "rr" else {}
        done = labels.protect(
            patients, label="state", epsilon=2, mechanism=mechanism, recipe=recipe, drop=("town",),
            seed=1, overwrite=True, **more,
        )  # fmt: skip
        assert (done.drawn, done.columns.dropped) == (drawn, ("town",))


def test_what_is_missing_has_a_name_in_estimates_and_what_is_not_told_has_none(
    tmp_path: Any,
) -> None:
    rng = np.random.default_rng(1)
    rows = [{"age": None if rng.random() < 0.2 else int(rng.integers(20, 80)), "y": "abc"[i % 3]}
            for i in range(400)]  # fmt: skip
    made = labels.recipe(rows, label="y", mechanism="ldp", levels=3)
    done = labels.protect(rows[:-1], label="y", epsilon=4, mechanism="ldp", recipe=made)
    found = labels.estimate(done.data, guarantee=done, column="age")
    assert GONE in {share.value for share in found.features}
    assert "" not in {share.value for share in found.features}
    assert f"{GONE} & a" in {share.value for share in found.table}
    one = labels.protect(rows, label="y", epsilon=1, mechanism="prior", classes=tuple("abc"),
                         prior=(0.6, 0.39, 0.01), pass_=("age",))  # fmt: skip
    untold = labels.estimate(one.data, guarantee=one).report().tables[0]
    assert [row[2] for row in untold.rows] == ["", "", ""]
