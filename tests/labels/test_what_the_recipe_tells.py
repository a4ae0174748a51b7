"""What a recipe says of the label: counted beside the reports, and told beside what they teach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sklearn")

from voile import labels
from voile.core.randomness import seeded_rng
from voile.labels.cells import MANY, Cells, _bracket, cells_for
from voile.labels.grouping import grouped
from voile.labels.protection import sample_protection
from voile.labels.recipe_file import load_recipe
from voile.labels.recipes import draft_recipe, with_known
from voile.labels.repeat import Asked, one_repeat
from voile.labels.reports import sampled_views
from voile.labels.table import table_of


def bounded(lower: np.ndarray, upper: np.ndarray) -> Cells:
    count = len(lower)
    return Cells((), (), (), (), (), ((),) * count, lower, upper, np.ones(count), 1e-3)


@pytest.mark.parametrize("records", [(190, 60), (8_000, 2_700), (800, 600)])
def test_bounds_are_as_good_as_the_records_they_were_made_from(records):
    shares = np.array([[0.5, 0.05], [0.3, 0.15], [0.15, 0.3], [0.05, 0.5]])
    counts = np.rint(shares * records).astype(int)
    places = [np.repeat(np.arange(4), counts[:, y]) for y in range(2)]
    of_class = np.repeat([0, 1], [len(part) for part in places])
    found = bounded(*_bracket(np.concatenate(places), of_class, 4, 2, 1e-3)).known()
    assert found.sum(axis=0) == pytest.approx(counts.sum(axis=0), rel=0.2)
    assert found / found.sum(axis=0) == pytest.approx(shares, abs=0.05)


def test_shares_that_are_stated_exactly_outweigh_everything():
    shares = np.array([[0.5, 0.0], [0.5, 1.0]])
    assert bounded(shares, shares).known() == pytest.approx(shares * MANY)


def test_cells_are_counted_by_epsilon_and_records():
    assert [cells_for(n, 2.0) for n in (60, 200, 500, 22_000)] == [3, 6, 8, 8]
    assert [cells_for(n, 8.0) for n in (60, 500, 2_800)] == [3, 16, 32]
    assert (cells_for(22_000, 1.0), cells_for(22_000, None)) == (6, 16)


def test_a_model_of_typical_records_says_what_the_recipe_alone_teaches(patients, recipe, tmp_path):
    out = tmp_path / "r.csv"
    release = labels.protect(patients, out=out, label="state", epsilon=0.5, recipe=recipe, seed=1)
    found = labels.learn(out, recipe=release.by, test=patients)
    assert found.public_records == pytest.approx(load_recipe(recipe).cells.known().sum())
    assert 0.7 < found.recipe_auc <= 1
    # At so small an ε the release adds little, and takes nothing away.
    assert found.auc > found.recipe_auc - 0.02
    assert f"The recipe alone, without the release, has an AUC of {found.recipe_auc:.3f}." in str(
        found
    )
    # The planted liar: whoever forgets what the recipe says learns next to nothing.
    forgetful = replace(found.model.laws[0], known=None)
    rows = found.reports.views[0].outputs
    blind = replace(found, model=type(found.model)([forgetful]).fit(
        np.stack([np.zeros(len(rows), dtype=int), rows], axis=1)))  # fmt: skip
    truth = [{"weight": w, "smokes": s, "town": "west"} for w, s in ((95, "yes"), (55, "no"))]
    told, said = (np.ptp(one.predict_proba(truth)[:, 0]) for one in (found, blind))
    assert told > 0.5
    assert said < told


def test_labels_in_noise_beside_clear_features_have_no_such_recipe(patients, tmp_path):
    release = labels.protect(
        patients, out=tmp_path / "r.csv", label="state", epsilon=2.0, mechanism="rr", seed=1,
        classes=("ill", "well"), pass_="all",
    )  # fmt: skip
    found = labels.learn(tmp_path / "r.csv", recipe=release.by, test=patients)
    assert found.public_records is None
    assert found.recipe_auc is None
    assert "recipe alone" not in str(found)


def test_groups_of_codes_take_their_public_records_with_them():
    rows = [(i, [str(i % 7), "ab"[i % 2], "xy"[i % 3 == 0]]) for i in range(210)]
    table = table_of(("number", "letter", "state"), rows, label="state")
    recipe = grouped(with_known(draft_recipe(table), table), epsilon=1.0, records=300)
    protection = sample_protection(recipe, epsilon=1.0)
    drawn = protection.sampler.release(
        table.columns, recipe.label_codes(table.labels), seeded_rng(1)
    )
    for view, groups, known in zip(
        sampled_views(recipe, protection, *drawn.T), recipe.groups, recipe.known, strict=True
    ):
        assert view.known.shape == (max(groups) + 1, 2)
        for group in range(max(groups) + 1):
            members = [code for code, at in enumerate(groups) if at == group]
            assert view.known[group].tolist() == known[members].sum(axis=0).tolist()
    shares = tuple(table.sum(axis=1, keepdims=True) for table in recipe.known)
    blind = sampled_views(replace(recipe, known=shares), protection, *drawn.T)
    assert all(view.known is None for view in blind)


def test_a_comparison_tells_what_cells_of_the_records_themselves_teach():
    """Noise that lets nothing through: the analysts are blind, the recipe is not."""
    rng = np.random.default_rng(3)
    state = rng.random(900) < 0.5
    number = np.round(rng.normal(2.0 * state), 2)
    rows = [
        (i, [str(n), "ill" if s else "well"])
        for i, (n, s) in enumerate(zip(number, state, strict=True))
    ]
    table = table_of(("number", "state"), rows, label="state")
    found = one_repeat(Asked(table, (1.0,), (0.01,), 1, 6, 0.3), 5)
    score = found.scores["label DP-CF", 0.01]
    assert score.recipe > 0.85
    assert score.recipe not in score.aucs.values()
    others = [one for (name, _), one in found.scores.items() if name != "label DP-CF"]
    assert others
    assert all(one.recipe is None for one in others)


@pytest.mark.parametrize(("mechanism", "given"), [("cf", False), ("cf", True), ("sample", True)])
def test_records_that_a_recipe_was_learned_from_are_not_public(
    patients, mechanism, given, tmp_path
):
    """They stand behind the reports already. A given recipe's file does not say so, and the
    guarantee's does."""
    own, out = tmp_path / "own.json", tmp_path / "r.csv"
    labels.recipe(patients, out=own, label="state", mechanism=mechanism)
    done = labels.protect(
        patients, out=out, label="state", epsilon=2.0, mechanism=mechanism, seed=1,
        recipe=own if given else None, learn_from_private=True,
    )  # fmt: skip
    found = labels.learn(out, recipe=own if done.recipe == str(own) else None, test=patients)
    assert (found.public_records, found.recipe_auc) == (None, None)
    assert found.tuned is not None
    assert "recipe alone" not in str(found)
