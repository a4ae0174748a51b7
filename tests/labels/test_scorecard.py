"""Whole points summed over columns: exact, kept in the recipe, and worth having."""

import json

import numpy as np
import pytest

from label_files import write_rows
from voile import labels
from voile.core.randomness import seeded_rng
from voile.errors import BadFile
from voile.labels import CategoryColumn, NumberColumn, cells, load_recipe
from voile.labels.scorecard import MOST, fits, learn_points, scores

pytest.importorskip("sklearn")

COLUMNS = tuple(CategoryColumn(f"c{j}", ("no", "yes")) for j in range(9))


def sums(seed, count=3_000):
    """Nine answers of which each says a little of the label, and only their sum much."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=(count, 9))
    chance = 1 / (1 + np.exp(-1.2 * (codes.sum(axis=1) - 4.5)))
    return codes, (rng.random(count) < chance).astype(np.intp)


def area(cells_of, seed=2):
    """How well cells rank fresh records, by counts of the clean ones (AUC)."""
    codes, truth = sums(seed)
    values = tuple(column.decode(codes[:, j]) for j, column in enumerate(COLUMNS))
    at = cells_of.of(COLUMNS, values)
    belief = ((cells_of.lower + cells_of.upper) / 2)[:, 1] / (
        (cells_of.lower + cells_of.upper) / 2
    ).sum(axis=1)
    score = belief[at]
    wins = score[truth == 1][:, None] - score[truth == 0][None, :]
    return float((wins > 0).mean() + 0.5 * (wins == 0).mean())


def made(monkeypatch=None):
    codes, truth = sums(1)
    values = tuple(column.decode(codes[:, j]) for j, column in enumerate(COLUMNS))
    if monkeypatch is not None:
        monkeypatch.setattr(cells, "learn_points", lambda *_, **__: ())
    return cells.learn_cells(COLUMNS, values, truth, classes=2, rng=seeded_rng(3), cells=8)


def test_cells_of_a_sum_tell_more_than_cells_of_columns(monkeypatch):
    with_points = area(made())
    assert with_points > area(made(monkeypatch)) + 0.04


def test_points_are_whole_and_sums_exact():
    codes, truth = sums(1)
    points = learn_points(COLUMNS, codes, truth, classes=2)
    assert fits(points, COLUMNS, 2)
    assert len(points) == 1
    assert all(isinstance(p, int) for card in points for row in card for p in row)
    by_hand = [sum(points[0][j][c] for j, c in enumerate(row)) for row in codes[:50].tolist()]
    assert scores(points, codes[:50])[:, 0].tolist() == by_hand
    assert np.float32(9 * MOST) == 9 * MOST, "single precision holds such sums"
    assert all(card[1] > card[0] for card in points[0]), "a yes speaks for the label"


def test_more_classes_have_a_score_each_and_one_class_has_none():
    rng = np.random.default_rng(4)
    column = NumberColumn("n", (-1e300, 0.0, 1.0, 2.0, 1e300), missing=True)
    codes = rng.integers(6, size=(600, 1))
    truth = np.minimum(codes[:, 0] // 2, 2).astype(np.intp)
    points = learn_points((column,), codes, truth, classes=3)
    assert len(points) == 3
    assert fits(points, (column,), 3)
    assert learn_points((column,), codes, np.zeros(600, dtype=np.intp), classes=3) == ()
    assert not fits(points[:2], (column,), 3)
    assert not fits(points, (column, column), 3)


def test_a_recipe_keeps_them_and_damaged_ones_are_refused(tmp_path):
    codes, truth = sums(5, 600)
    rows = [[*("ny"[c] for c in row), "pq"[y]] for row, y in zip(codes, truth, strict=True)]
    path = write_rows(tmp_path / "public.csv", [*(f"c{j}" for j in range(9)), "y"], rows)
    found = labels.recipe(path, label="y", out=tmp_path / "r.json", cells=6)
    again = load_recipe(tmp_path / "r.json")
    assert again.cells.points == found.content.cells.points != ()
    body = json.loads((tmp_path / "r.json").read_text())
    (card,) = body["cells"]["points"]
    for points in ([card, card], [card[:-1]], [[*card[:-1], [1]]], [[*card[:-1], [1, 10**9]]],
                   [[*card[:-1], ["a", 1]]], 7, [7]):  # fmt: skip
        body["cells"]["points"] = points
        (tmp_path / "bad.json").write_text(json.dumps(body))
        with pytest.raises(BadFile):
            load_recipe(tmp_path / "bad.json")
    private = labels.protect(path, label="y", epsilon=2, mechanism="cf", learn_from_private=True,
                             out=str(tmp_path / "o.csv"))  # fmt: skip
    assert private.by.cells.points == (), "no scorecard is learned from private records"
