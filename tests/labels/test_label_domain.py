"""Reading, coding and cutting labelled tables; every kind of bad input has its own sentence."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from label_files import write_rows
from voile.core.randomness import seeded_rng
from voile.errors import BadFile, InvalidInput
from voile.labels import (
    CategoryColumn,
    NumberColumn,
    Reading,
    draft_recipe,
    learn_cells,
    load_recipe,
    matrix_of,
    read_labelled,
    recipe_text,
)
from voile.labels.cells import _side_by_side
from voile.labels.columns import columns_of, determines
from voile.labels.origin import Origin
from voile.labels.protection import (
    cells_protection,
    noise_protection,
    response_protection,
)
from voile.leakage.labels_privacy import conditional_epsilon


def table_of(tmp_path, header, rows, **options):
    path = write_rows(tmp_path / "t.csv", header, rows)
    return read_labelled(path, label="y", reading=Reading(**options))


ROWS = [[1.5, "a", "p"], [2.5, "b", "q"], [3.5, "a", "p"], [4.5, "b", "q"]]


def test_reading(tmp_path):
    table = table_of(tmp_path, ["n", "c", "y"], ROWS)
    assert table.classes == ("p", "q")
    assert [column.dtype.kind for column in table.columns] == ["f", "U"]
    assert table.lines.tolist() == [2, 3, 4, 5]
    assert "1.5" not in repr(table)


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        (["n", "y"], [[1, "p"], [2, "p"], [3, "p"]], "at least two values, got one"),
        (["n", "y"], [[i, i * 0.37] for i in range(60)], "must be a class, got 60 distinct"),
        (["n", "y"], [[1, "p"], ["", "q"], [2, "p"]], "line 3: the value of 'n' is missing"),
        (["n", "y"], [[1, "p"], [2, ""], [2, "p"]], "line 3: the value of 'y' is missing"),
        (["n", "y"], [[1, "p"], [2, "q", 3]], "line 3: 3 fields where the header has 2"),
        (["n", "z"], [[1, "p"], [2, "q"]], "label must be one of n, z; got 'y'"),
        (["n", "n", "y"], [[1, 1, "p"]], "distinct column names"),
        (["y"], [["p"], ["q"], ["p"], ["q"]], "must have a feature"),
        (["n", "y"], [], "must hold at least one row"),
        (["n", "y"], [[1, "p"], [2, "q"], [3, "q"]], "at least 2 records, 1 of 2 have one"),
    ],
)
def test_bad_tables_are_refused_in_one_line(tmp_path, header, rows, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        table_of(tmp_path, header, rows)
    assert "\n" not in str(caught.value)


def test_an_empty_and_an_absent_file(tmp_path):
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(InvalidInput, match="it is empty"):
        read_labelled(tmp_path / "empty.csv", label="y")
    with pytest.raises(InvalidInput, match="must be an existing file"):
        read_labelled(tmp_path / "none.csv", label="y")
    (tmp_path / "latin.csv").write_bytes("n,y\n1,é\n".encode("latin-1"))
    with pytest.raises(BadFile, match="UTF-8"):
        read_labelled(tmp_path / "latin.csv", label="y")


def test_missing_values_skipped_or_masked(tmp_path):
    rows = [*ROWS, ["", "a", "p"], [5.5, "?", "q"]]
    skipped = table_of(tmp_path, ["n", "c", "y"], rows, on_error="skip")
    assert (len(skipped), skipped.skipped) == (4, 2)
    masked = table_of(tmp_path, ["n", "c", "y"], rows, on_error="mask")
    assert (len(masked), masked.masked) == (6, 2)
    assert np.isnan(masked.columns[0][4])
    assert masked.columns[1][5] == "(missing)"


def test_no_header_and_dropped_columns(tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text("1, a, p\n2, b, q\n3, a, p\n4, b, q\n")
    table = read_labelled(path, label="c3", reading=Reading(header=False, drop=("c2",)))
    assert table.names == ("c1",)
    assert table.lines.tolist() == [1, 2, 3, 4]
    with pytest.raises(InvalidInput, match="columns to drop"):
        read_labelled(path, label="c3", reading=Reading(header=False, drop=("zz",)))


def test_codings_are_total_and_know_what_they_do_not_know():
    number = NumberColumn("n", (0.0, 10.0, 20.0))
    values = number.read(["-5", "4", " 6 ", "99", "", "inf", "12 kg", None])
    assert number.encode(values).tolist() == [0, 0, 1, 2, 1, 1, 1, 1]
    assert number.unknown(values).tolist() == [False] * 4 + [True] * 4
    assert number.decode(np.array([0, 2])).tolist() == [0.0, 20.0]
    gone = replace(number, missing=True)
    assert len(gone) == 4
    assert gone.encode(values).tolist() == [0, 0, 1, 2, 3, 3, 3, 3]
    assert not gone.unknown(values).any()
    assert np.isnan(gone.decode(np.array([3]))).all()
    for categories, codes, unknown in (
        (("a", "b"), [0, 1, 0, 0], [2, 3]),
        (("a", "(other)"), [0, 1, 1, 1], [3]),
        (("a", "(missing)"), [0, 1, 1, 1], [1, 2]),
        (("a", "(missing)", "(other)"), [0, 2, 2, 1], []),
    ):
        column = CategoryColumn("c", categories)
        read = column.read(["a", "b", "secret", "NA"])
        assert column.encode(read).tolist() == codes
        assert np.flatnonzero(column.unknown(read)).tolist() == unknown
    named = CategoryColumn("c", ("NA", "None", "x"))
    assert named.encode(named.read(["None", "NA"])).tolist() == [1, 0]  # listed names are names


def test_missing_values_have_codes_of_their_own_in_a_learned_coding(tmp_path):
    rows = [*ROWS, ["", "a", "p"], [5.5, "?", "q"]]
    table = table_of(tmp_path, ["n", "c", "y"], rows, on_error="mask")
    number, category = columns_of(table)
    assert isinstance(number, NumberColumn)
    assert number.missing
    assert len(number) == len(number.levels) + 1
    assert category == CategoryColumn("c", ("(missing)", "a", "b"))
    wide, groups = matrix_of((number, category), table.columns)
    assert [len(group) for group in groups] == [2, 3]  # the number, whether it is there; a name
    assert wide[:, 1].tolist() == [0, 0, 0, 0, 1, 0]
    assert np.isfinite(wide).all()


def test_extremes_and_rare_names_are_not_learned_in_private(tmp_path):
    rng = np.random.default_rng(1)
    rows = [
        [round(rng.normal(50, 9)), rng.choice(["ulm", "bonn"]), "pq"[i % 2]] for i in range(200)
    ]
    rows[17][:2] = [987654321, "gnadenhutten"]
    table = table_of(tmp_path, ["pay", "town", "y"], rows)
    pay, town = draft_recipe(table, private=True).columns
    assert max(pay.levels) < 100
    assert town.categories == ("bonn", "ulm", "(other)")
    assert (np.sort(table.columns[0]) >= pay.levels[-1]).sum() >= 5
    pay, town = draft_recipe(table).columns  # of a public file all may be shown
    assert max(pay.levels) == 987654321
    assert "gnadenhutten" in town.categories


def test_determines():
    labels = np.array(["p", "q"] * 10)
    assert determines(np.array(["u", "v"] * 10), labels)
    assert determines(np.tile([1.0, 2.0], 10), labels)
    assert not determines(np.arange(20.0), labels)  # an identifier
    assert not determines(np.array(["u", "v", "v", "u"] * 5), labels)


def test_recipes_are_kept_and_checked(tmp_path, patients):
    table = read_labelled(patients, label="state")
    recipe = draft_recipe(table, levels=8)
    codes = recipe.label_codes(table.labels)
    cells = learn_cells(recipe.columns, table.columns, codes, classes=2, rng=seeded_rng(1))
    recipe = replace(recipe, cells=cells, learned=True, made_from=Origin("ab", ("n", "y"), 4))
    path = tmp_path / "r.json"
    path.write_text(recipe_text(recipe))
    again = load_recipe(path)
    assert recipe_text(again) == recipe_text(recipe)
    assert again.columns == recipe.columns
    assert (again.learned, again.made_from) == (True, recipe.made_from)  # it stays
    assert again.label_codes(["ill", "dead", "", None, " well "]).tolist() == [0, -1, -1, -1, 1]
    more = replace(recipe, classes=("None", "NA", "(missing)", "(other)"))
    assert more.label_codes(["None", "NA", "", "dead", "?"]).tolist() == [0, 1, 2, 3, 2]
    body = json.loads(path.read_text())
    bad = body["cells"] | {"leaf": [99] * len(body["cells"]["leaf"])}
    loop = body["cells"] | {"left": [0] * len(body["cells"]["left"])}
    for change, message in (
        ({"format": "x"}, "is not a recipe"),
        ({"version": 1}, "must be of version 2, got 1; make it again"),
        ({"shares": [0.5, 0.5]}, "shares must be"),
        ({"classes": ["a"]}, "classes must be"),
        ({"columns": [{"name": "w"}]}, "is damaged"),
        ({"columns": [{"name": "w", "levels": [float("nan")]}]}, "finite and increasing"),
        ({"columns": [*body["columns"][:2], body["columns"][1]]}, "different names"),
        ({"cells": bad}, "cells are damaged"),
        ({"cells": loop}, "cells are damaged"),
    ):
        path.write_text(json.dumps({**body, **change}))
        with pytest.raises(BadFile, match=message):
            load_recipe(path)
    for broken in ("{", "[" * 100_000):
        path.write_text(broken)
        with pytest.raises(BadFile, match="not JSON"):
            load_recipe(path)


def test_cells_place_records_as_the_tree_that_was_grown(patients):
    from sklearn.tree import DecisionTreeClassifier

    table = read_labelled(patients, label="state")
    recipe = draft_recipe(table, levels=8)
    labels = recipe.label_codes(table.labels)
    cells = learn_cells(
        recipe.columns, table.columns, labels, classes=2, rng=seeded_rng(1), cells=6
    )
    rng = seeded_rng(1)  # repeat its draws
    growing = rng.permutation(len(labels))[: len(labels) // 2]
    codes = np.stack(
        [c.encode(v) for c, v in zip(recipe.columns, table.columns, strict=True)], axis=1
    )
    matrix, _ = _side_by_side(recipe.columns, codes, cells.points)
    tree = DecisionTreeClassifier(
        max_leaf_nodes=6, min_samples_leaf=5, random_state=int(rng.integers(2**31))
    ).fit(matrix[growing], labels[growing])
    leaves = np.unique(tree.apply(matrix), return_inverse=True)[1]
    assert np.array_equal(leaves, cells.of(recipe.columns, table.columns))
    assert cells.decode(np.array([0, 1]), recipe.columns)[1][0] in ("yes", "no")
    every = np.arange(len(cells))  # a typical record lies in its own cell
    assert np.array_equal(cells.of(recipe.columns, cells.decode(every, recipe.columns)), every)


def test_a_typical_record_does_not_contradict_itself(tmp_path):
    """What comes together in every record comes together in the typical ones."""
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(400):
        wed = rng.random() < 0.4
        ill = rng.random() < (0.8 if wed else 0.2)
        rows.append(["wed" if wed else "single", "spouse" if wed else "alone", "pq"[ill]])
    table = table_of(tmp_path, ["status", "home", "y"], rows)
    recipe = draft_recipe(table)
    codes = recipe.label_codes(table.labels)

    def pairs(private):
        cells = learn_cells(recipe.columns, table.columns, codes, classes=2, rng=seeded_rng(1),
                            private=private)  # fmt: skip
        shown = cells.decode(np.arange(len(cells)), recipe.columns)
        return set(zip(*(part.tolist() for part in shown), strict=True))

    assert pairs(False) == {("wed", "spouse"), ("single", "alone")}
    assert len(pairs(True) - pairs(False)) == 1  # of private records no single one is shown


def test_bounds_on_the_cells_cover_their_probabilities():
    """All at once, at a failure probability of 5 %: seldom enough missed in 200 tables."""
    given_label = np.array([[0.6, 0.1], [0.3, 0.3], [0.1, 0.6]])
    from voile.labels.cells import _bracket

    missed = narrow = 0
    for seed in range(200):
        rng = seeded_rng(seed)
        labels = rng.integers(2, size=300)
        cells = np.array([rng.choice(3, p=given_label[:, y]) for y in labels])
        for failure, sharp in ((0.05, False), (0.99, True)):
            lower, upper = _bracket(cells, labels, 3, 2, failure)
            outside = bool(((given_label < lower) | (given_label > upper)).any())
            missed, narrow = missed + (outside and not sharp), narrow + (outside and sharp)
    limit = int(binom.isf(1e-9, 200, 0.05))
    assert missed <= limit < narrow


def test_protections_keep_their_bounds(patients):
    table = read_labelled(patients, label="state")
    recipe = draft_recipe(table, levels=8)
    labels = recipe.label_codes(table.labels)
    rng = seeded_rng(2)
    response = response_protection(recipe, epsilon=1.0)
    assert response.label is not None
    assert (response.label.epsilon, response.conditional, response.local) == (1.0, None, None)
    assert "features" in response.label.explain()
    values, answers = response.draw(table.columns, labels, rng)
    assert all(np.array_equal(a, b) for a, b in zip(values, table.columns, strict=True))
    assert 0 < (answers != labels).mean() < 0.5
    noise = noise_protection(recipe, epsilon=2.0)
    assert noise.local is not None
    assert 2.0 - 1e-6 < noise.local.epsilon <= 2.0
    values, _ = noise.draw(table.columns, labels, rng)
    assert set(values[1]) <= {"yes", "no"}
    with pytest.raises(InvalidInput, match="must hold cells"):
        cells_protection(recipe, epsilon=1.0)


def test_cells_protection_is_conditional_on_the_whole_population():
    """Cells and bounds learned from a sample, the bound checked on the law it was drawn from."""
    from voile.labels.table import Table

    def sample(count, rng):
        labels = rng.integers(2, size=count)
        signal = rng.normal(size=count) + 1.5 * labels
        names = np.array(["p", "q"])
        return Table("y", ("s",), (signal,), names[labels], np.arange(count)), labels

    rng = seeded_rng(6)
    table, labels = sample(3000, rng)
    recipe = draft_recipe(table, levels=16)
    cells = learn_cells(
        recipe.columns, table.columns, labels, classes=2, rng=rng, cells=8,
        failure_probability=1e-6,
    )  # fmt: skip
    recipe = replace(recipe, cells=cells)
    protection = cells_protection(recipe, epsilon=1.0)
    assert protection.conditional is not None
    fresh, truth = sample(400_000, rng)
    at = cells.of(recipe.columns, fresh.columns)
    joint = np.zeros((len(cells), 2))
    np.add.at(joint, (at, truth), 1 / len(truth))
    from voile.mechanisms import label_cf, randomised_response

    blur = label_cf(
        randomised_response([0, 1], epsilon=0.5), lower=cells.lower, upper=cells.upper,
        weights=cells.weights, epsilon=1.0, loss=cells.loss(),
    )  # fmt: skip
    assert conditional_epsilon(joint, blur.law()) <= 1.0
    clear = np.einsum("xc,yl->xycl", np.eye(len(cells)), blur.labels.probabilities())
    assert conditional_epsilon(joint, clear.reshape(len(cells), 2, -1)) > 2.0  # without F


# ── what is drawn is what the bounds speak of ──────────────────────────────────────────────────

DRAWS = 30_000


def one_record_many_times(patients):
    table = read_labelled(patients, label="state")
    recipe = draft_recipe(table, levels=4)
    labels = recipe.label_codes(table.labels)
    cells = learn_cells(
        recipe.columns, table.columns, labels, classes=2, rng=seeded_rng(1), cells=4
    )
    recipe = replace(recipe, cells=cells)
    same = np.zeros(DRAWS, dtype=int)
    return recipe, tuple(column[same] for column in table.columns), labels[same]


def likely(seen: np.ndarray, law: np.ndarray) -> bool:
    """Every count within its binomial limits, all together wrong once in 10⁹."""
    share = 1e-9 / (2 * len(law))
    low, high = binom.ppf(share, DRAWS, law), binom.isf(share, DRAWS, law)
    return bool(((seen >= low) & (seen <= high)).all())


def follows(draw, recipe, values, labels) -> tuple[bool, bool]:
    """Whether label and first category of a local-DP draw follow randomised response."""
    features, answers = draw(values, labels, seeded_rng(5))
    label_law = np.full(2, 1 / (1 + np.exp(1.0)))  # half of ε = 2
    label_law[labels[0]] = 1 - label_law.min()
    smokes = recipe.columns[1]
    code = smokes.encode(values[1][:1])[0]
    law = np.full(2, 1 / (1 + np.exp(1 / 3)))  # a third of the other half
    law[code] = 1 - law.min()
    seen = np.bincount(smokes.encode(features[1]), minlength=2)
    return likely(np.bincount(answers, minlength=2), label_law), likely(seen, law)


def test_local_draws_follow_their_law_and_a_clear_label_is_caught(patients):
    recipe, values, labels = one_record_many_times(patients)
    noise = noise_protection(recipe, epsilon=2.0)
    assert follows(noise.draw, recipe, values, labels) == (True, True)

    def clear_label(v, y, rng):
        return noise.draw(v, y, rng)[0], y

    def clear_features(v, y, rng):
        return v, noise.draw(v, y, rng)[1]

    assert follows(clear_label, recipe, values, labels) == (False, True)
    assert follows(clear_features, recipe, values, labels) == (True, False)


def test_conditional_draws_follow_their_law(patients):
    from voile.mechanisms import label_cf, randomised_response

    recipe, values, labels = one_record_many_times(patients)
    cells = recipe.cells
    assert cells is not None
    protection = cells_protection(recipe, epsilon=1.0)
    features, answers = protection.draw(values, labels, seeded_rng(6))
    blur = label_cf(
        randomised_response([0, 1], epsilon=0.5), lower=cells.lower, upper=cells.upper,
        weights=cells.weights, epsilon=1.0, loss=cells.loss(),
    )  # fmt: skip
    home = int(cells.of(recipe.columns, values)[0])
    law = blur.cells.probabilities()[home]
    assert law[home] < 0.95  # the test would be blind to an unblurred cell otherwise
    shown = list(zip(*(part.tolist() for part in features), strict=True))
    typical = cells.decode(np.arange(len(cells)), recipe.columns)
    names = list(zip(*(part.tolist() for part in typical), strict=True))
    different = sorted(set(names))  # two cells may look alike
    assert len(different) > 2
    together = np.array([law[[other == name for other in names]].sum() for name in different])
    seen = np.array([shown.count(name) for name in different])
    assert seen.sum() == DRAWS
    assert likely(seen, together)
    assert not likely(np.array([DRAWS * (name == names[home]) for name in different]), together)
    kept = np.exp(0.5) / (1 + np.exp(0.5))
    expected = np.where(np.arange(2) == labels[0], kept, 1 - kept)
    assert likely(np.bincount(answers, minlength=2), expected)
