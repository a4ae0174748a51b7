"""Damaged recipes and odd records: a clean refusal or a release, never a fault of our own."""

from __future__ import annotations

import csv
import json
import random

import pytest

from label_files import write_rows

pytest.importorskip("sklearn")

from voile import labels
from voile.errors import BadFile, VoileError
from voile.labels.recipe_file import recipe_from


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


ODD = [
    None,
    True,
    -1,
    0,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\ud83d",
    [],
    {},
    [[]],
    10**400,
]


def places(value, path=()):
    """The path of every value inside."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def changed(value, path, new):
    """The same with another value there; without it if that is `...`."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(path) == 1 and new is ...:
        del copy[path[0]]
    else:
        copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("mechanism", ["rr", "ldp", "cf"])
def test_a_damaged_recipe_is_refused_or_serves(patients, recipe, tmp_path, mechanism):
    few = rows_of(patients)[:40]
    write_rows(patients, list(few[0]), [[*row.values()] for row in few])
    body = json.loads(recipe.read_text())
    rng = random.Random(mechanism)
    spots = [path for path in places(body) if path]
    tried = 0
    for path in rng.sample(spots, 30):
        for new in (*rng.sample(ODD, 3), ...):
            text = json.dumps(changed(body, path, new))
            try:
                recipe_from(text)
            except VoileError:
                tried += 1
                continue
            (tmp_path / "odd.json").write_text(text)
            try:
                labels.protect(
                    patients, out=tmp_path / "o.csv", label="state", epsilon=1.0,
                    mechanism=mechanism, recipe=tmp_path / "odd.json", pass_="all", overwrite=True,
                    seed=1,
                )  # fmt: skip
            except VoileError:
                tried += 1
    assert tried > 40


@pytest.mark.parametrize(
    ("key", "wrong", "message"),
    [
        ("categories", "Paris", "must be lists"),
        ("categories", ["no", 1], "must be texts"),
        ("levels", "123", "must be lists"),
    ],
)
def test_a_text_is_no_list_of_letters(recipe, key, wrong, message):
    body = json.loads(recipe.read_text())
    next(column for column in body["columns"] if key in column)[key] = wrong
    with pytest.raises(BadFile, match=message):
        recipe_from(json.dumps(body))
    body = json.loads(recipe.read_text())
    with pytest.raises(BadFile, match="must be lists"):
        recipe_from(json.dumps(body | {"classes": "ab"}))


def test_a_recipes_own_word_is_said_to_be_that(patients, recipe, tmp_path):
    done = labels.protect(
        patients, out=tmp_path / "o.csv", label="state", epsilon=1.0, mechanism="cf", recipe=recipe
    )
    assert "are the file's own word, which a release cannot check" in done.guarantee.outside[-1]


CELLS = [
    "",
    "?",
    "NaN",
    "inf",
    "-1e400",
    "1e5",
    "ü",
    "\x00",
    "(missing)",
    "(other)",
    "None",
    "  7 ",
    "7,5",
]


@pytest.mark.parametrize("mechanism", ["rr", "ldp"])
def test_odd_values_are_released_like_others(recipe, tmp_path, mechanism):
    rows = [[cell, cell, cell, "ill"] for cell in CELLS]
    path = write_rows(tmp_path / "odd.csv", ["weight", "smokes", "town", "state"], rows)
    done = labels.protect(
        path, out=tmp_path / "o.csv", label="state", epsilon=1.0, mechanism=mechanism,
        recipe=recipe, on_error="mask", pass_="all" if mechanism == "rr" else (),
    )  # fmt: skip
    assert done.records == len(CELLS)
