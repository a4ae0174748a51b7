"""The recipe that lies beside a release is the one that was used, and no other."""

from __future__ import annotations

import json
import warnings

import pytest

from label_files import write_rows
from voile import labels
from voile.errors import BadFile, InvalidInput, VoileError
from voile.labels.law import Law
from voile.labels.recipe_file import load_recipe, recipe_from, recipe_text

pytest.importorskip("sklearn")


def test_an_overwritten_release_takes_its_recipe_along(patients, recipe, tmp_path):
    """The private ranges of the release before do not stay beside the new one."""
    out, beside = tmp_path / "o.csv", tmp_path / "o.csv.recipe.json"
    asked = {"label": "state", "epsilon": 2, "mechanism": "ldp", "out": str(out)}
    labels.protect(patients, learn_from_private=True, **asked)
    assert beside.exists()
    labels.protect(patients, recipe=recipe, overwrite=True, **asked)
    assert not beside.exists()
    beside.write_text(recipe.read_text())
    again = labels.protect(patients, recipe=beside, overwrite=True, **asked)
    assert again.recipe == str(beside)
    assert beside.exists()  # it is the one that was used


@pytest.mark.parametrize("mechanism", ["ldp", "sample"])
def test_a_recipe_without_a_dropped_column_is_named_and_written(
    patients, public, tmp_path, mechanism
):
    labels.recipe(public, out=tmp_path / "p.json", label="state", mechanism=mechanism)
    found = labels.protect(
        patients, label="state", epsilon=2, mechanism=mechanism, recipe=tmp_path / "p.json",
        drop=("town",), out=str(tmp_path / "o.csv"),
    )  # fmt: skip
    assert found.recipe == str(tmp_path / "o.csv.recipe.json")
    used = load_recipe(tmp_path / "o.csv.recipe.json")
    assert [column.name for column in used.columns] == ["weight", "smokes"]
    assert recipe_text(used) == recipe_text(found.by)
    estimated = labels.estimate(
        tmp_path / "o.csv", epsilon=2, mechanism=mechanism, recipe=found.recipe
    )
    assert estimated.records == 400


def grouped_recipe(public, tmp_path):
    """A recipe as a release by sample writes it, as JSON."""
    labels.protect(
        public, label="state", epsilon=2, mechanism="sample", learn_from_private=True,
        out=str(tmp_path / "o.csv"),
    )  # fmt: skip
    return json.loads((tmp_path / "o.csv.recipe.json").read_text())


def test_forged_groups_are_refused_at_once(public, tmp_path):
    made = grouped_recipe(public, tmp_path)
    for forged in (10**15, -1):
        groups = [[forged, *made["groups"][0][1:]], *made["groups"][1:]]
        with pytest.raises(BadFile, match="groups"):
            recipe_from(json.dumps(made | {"groups": groups}))
    groups = [[0] * len(one) for one in made["groups"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InvalidInput, match="that varies"):
            Law(json.dumps(made | {"groups": groups}), 1.0, "sample", (), None).protection()


def test_numbers_beyond_single_precision_have_cells(tmp_path):
    rows = [[f"{(-1) ** i * (1 + i % 7)}e39", "ab"[i % 2]] for i in range(200)]
    path = write_rows(tmp_path / "huge.csv", ["x", "y"], rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = labels.recipe(path, label="y", out=tmp_path / "huge.json")
    assert found.content.cells is not None


@pytest.mark.parametrize("mechanism", ["ldp", "sample"])
@pytest.mark.parametrize("epsilon", [1e-15, 1e-12, 1e-9, 1e-6, 1.0])
def test_what_is_built_is_never_beyond_what_was_asked(public, tmp_path, mechanism, epsilon):
    made = Law(json.dumps(grouped_recipe(public, tmp_path)), epsilon, mechanism, (), None)
    if epsilon < 1e-14:
        with pytest.raises(VoileError):
            made.protection()
    else:
        assert 0.5 * epsilon < made.protection().strongest().epsilon <= epsilon
