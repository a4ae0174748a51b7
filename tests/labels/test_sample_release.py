"""One random column with the label: the release, its recipe, what is estimated and learned."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import voile
from label_files import write_rows
from voile import labels
from voile.errors import BadFile, InvalidInput
from voile.labels.grouping import column_probabilities, grouped
from voile.labels.recipe_file import load_recipe, recipe_from, recipe_text
from voile.labels.sampling import sampler_of

pytest.importorskip("sklearn")


def records(path, seed, count=6_000):
    rng = np.random.default_rng(seed)
    ill = rng.random(count) < 0.4
    weight = np.round(rng.normal(70 + 12 * ill, 8), 1)
    smokes = np.where(rng.random(count) < np.where(ill, 0.8, 0.3), "yes", "no")
    town = rng.choice(["north", "south", "west"], size=count)
    rows = [
        [w, s, t, "ill" if y else "well"]
        for w, s, t, y in zip(weight, smokes, town, ill, strict=True)
    ]
    return write_rows(path, ["weight", "smokes", "town", "state"], rows)


@pytest.fixture
def clinic(tmp_path):
    """A private file, its release at ε = 2, and clean records of the same law."""
    public = records(tmp_path / "public.csv", 1, 500)
    made = labels.recipe(public, label="state", mechanism="sample", out=tmp_path / "p.json")
    private = records(tmp_path / "private.csv", 2)
    released = labels.protect(
        private, label="state", epsilon=2, mechanism="sample", recipe=tmp_path / "p.json",
        out=str(tmp_path / "r.csv"),
    )  # fmt: skip
    assert made.content.known
    return released, tmp_path


def test_a_release_holds_reports_and_nothing_else(clinic):
    released, folder = clinic
    with (folder / "r.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["reported_column", "report"]
    assert len(rows) == 6_001
    assert {row[0] for row in rows[1:]} == {"1", "2", "3"}
    assert released.guarantee.epsilon <= 2
    assert str(released.guarantee.basis) == "certified"
    assert released.epsilon.local == released.epsilon.conditional == released.guarantee.epsilon
    assert "spends ε again" in " ".join(released.guarantee.outside)
    assert released.recipe == str(folder / "r.csv.recipe.json")
    said = json.loads((folder / "r.csv.guarantee.json").read_text())
    assert said["guarantee"]["epsilon"] == released.guarantee.epsilon
    used = load_recipe(folder / "r.csv.recipe.json")
    assert all(used.groups)
    assert recipe_text(used) == recipe_text(released.by)


def test_its_estimates_hold_the_truth(clinic):
    _, folder = clinic
    found = labels.estimate(
        folder / "r.csv", epsilon=2, recipe=folder / "r.csv.recipe.json", column="smokes",
        confidence=1 - 1e-9,
    )  # fmt: skip
    truth = {"ill": 0.4, "well": 0.6, "yes & ill": 0.32, "no & well": 0.42, "yes": 0.5}
    shares = {share.value: share.estimate for share in (*found.classes, *found.table)}
    shares |= {share.value: share.estimate for share in found.features}
    for name, share in truth.items():
        assert shares[name].lower <= share <= shares[name].upper, name
        assert shares[name].upper - shares[name].lower < 0.6
    assert sum(share.estimate.value for share in found.classes) == pytest.approx(1)
    assert found.records_needed > 100
    assert "6,000 reports" in str(found)
    said = " ".join(found._report().guarantee)
    for title, shares in (("Classes", found.classes), ("Features", found.features)):
        grounds = {share.estimate.ground for share in shares}
        told = said.split(f"{title}: ")[1].split(". ")[0]
        assert all(ground in told for ground in grounds)
        assert ("normal" in told) == any("normal" in ground for ground in grounds)
    assert set(found.to_frame()["what"]) >= {"smokes", "town", "weight"}


def test_it_teaches_a_model(clinic):
    _, folder = clinic
    test = records(folder / "test.csv", 3, 2_000)
    found = labels.learn(
        folder / "r.csv", epsilon=2, recipe=folder / "r.csv.recipe.json", test=test
    )
    assert found.auc > 0.8
    beliefs = found.predict_proba([{"weight": 95, "smokes": "yes", "town": "west"}])
    assert beliefs.shape == (1, 2)
    assert beliefs[0, 0] > 0.5


def test_frames_come_back_as_frames(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(records(tmp_path / "a.csv", 4, 800))
    made = labels.recipe(records(tmp_path / "b.csv", 5, 300), label="state", mechanism="sample")
    released = labels.protect(frame, label="state", epsilon=4, mechanism="sample", recipe=made)
    assert list(released.data.columns) == ["reported_column", "report"]
    found = labels.estimate(released.data, epsilon=4, recipe=released.by)
    assert found.records == 800


def test_groups_follow_epsilon_and_records_alone(clinic):
    _, folder = clinic
    public = load_recipe(folder / "p.json")
    sizes = [
        max(max(groups) for groups in grouped(public, epsilon=epsilon, records=count).groups) + 1
        for epsilon, count in ((0.5, 100), (2.0, 6_000), (8.0, 100_000))
    ]
    assert sizes[0] == 2
    assert sizes[0] < sizes[1] < sizes[2] == 16
    told = column_probabilities(grouped(public, epsilon=2.0, records=6_000))
    assert told.sum() == pytest.approx(1)
    assert told[2] < told[0]
    assert told[2] < told[1]  # the town says nothing
    blind = replace(public, known=())
    even = column_probabilities(grouped(blind, epsilon=2.0, records=6_000))
    assert even == pytest.approx(np.full(3, 1 / 3))


def test_the_law_does_not_look_at_the_private_file(tmp_path):
    """Two private files, one recipe: the same groups, columns and channels."""
    public = records(tmp_path / "public.csv", 1, 300)
    made = labels.recipe(public, label="state", mechanism="sample")
    texts = []
    for seed in (2, 3):
        file = records(tmp_path / f"{seed}.csv", seed, 500)
        released = labels.protect(
            file, label="state", epsilon=1, mechanism="sample", recipe=made,
            out=str(tmp_path / f"{seed}.out.csv"),
        )  # fmt: skip
        texts.append(recipe_text(released.by))
    assert texts[0] == texts[1]


def test_learned_from_private_knows_no_label_and_says_so(tmp_path):
    file = records(tmp_path / "private.csv", 2, 500)
    released = labels.protect(
        file, label="state", epsilon=2, mechanism="sample", learn_from_private=True,
        out=str(tmp_path / "r.csv"),
    )  # fmt: skip
    assert not released.by.known
    assert str(released.guarantee.basis) == "claimed"


@pytest.mark.parametrize("mechanism", ["rr", "ldp", "cf"])
def test_other_releases_are_estimated_and_learned_from(mechanism, tmp_path):
    public, private = records(tmp_path / "p.csv", 1, 800), records(tmp_path / "x.csv", 2, 4_000)
    test = records(tmp_path / "t.csv", 3, 1_500)
    given = {"classes": ("ill", "well"), "pass_": "all"}
    if mechanism != "rr":
        given = {"recipe": labels.recipe(public, label="state", mechanism=mechanism)}
    out = str(tmp_path / "r.csv")
    released = labels.protect(
        private, label="state", epsilon=8, mechanism=mechanism, out=out, **given
    )
    by = {"recipe": released.by, "mechanism": mechanism, "epsilon": 8}
    found = labels.estimate(out, confidence=1 - 1e-9, **by)
    ill = found.classes[0].estimate
    assert ill.lower <= 0.4 <= ill.upper
    assert labels.learn(out, test=test, **by).auc > 0.75


def test_a_forged_or_foreign_recipe_is_refused(clinic):
    _, folder = clinic
    body = json.loads((folder / "r.csv.recipe.json").read_text())
    for change in (
        {"groups": [[0] * 16]},
        {"groups": [*body["groups"][:2], [0, 2, 2]]},
        {"groups": "abc"},
        {"known": [[[-1.0, 2.0]]] * 3},
        {"known": [[["x"]]]},
    ):
        with pytest.raises(BadFile):
            recipe_from(json.dumps(body | change))
    (folder / "r.csv.guarantee.json").unlink()  # by the reader's word alone
    with pytest.raises(InvalidInput, match="groups of codes"):
        labels.estimate(folder / "r.csv", epsilon=2, recipe=folder / "p.json")
    coarse = grouped(load_recipe(folder / "p.json"), epsilon=0.1, records=10)
    with pytest.raises(BadFile, match="can release"):
        labels.estimate(folder / "r.csv", epsilon=2, recipe=coarse)


def test_bad_input(clinic):
    _, folder = clinic
    by = {"recipe": folder / "r.csv.recipe.json", "epsilon": 2}
    with pytest.raises(InvalidInput, match="--recipe"):
        labels.estimate(folder / "private.csv", epsilon=2)
    with pytest.raises(InvalidInput, match="columns are missing"):
        labels.estimate(folder / "private.csv", **by)
    (folder / "empty.csv").write_text("reported_column,report\n")
    with pytest.raises(InvalidInput):
        labels.estimate(folder / "empty.csv", **by)
    for row in ("9,0", "1,x", "1,-1", "0,0", "1,0.5", "1,"):
        (folder / "bad.csv").write_text(f"reported_column,report\n1,0\n{row}\n")
        with pytest.raises(BadFile, match="can release"):
            labels.estimate(folder / "bad.csv", **by)
    with pytest.raises(InvalidInput, match="column must be"):
        labels.estimate(folder / "r.csv", column="nothing", **by)
    with pytest.raises(InvalidInput, match="epsilon"):
        labels.estimate(folder / "r.csv", recipe=folder / "r.csv.recipe.json", epsilon=0)
    with pytest.raises(InvalidInput, match="--records"):
        labels.protect(folder / "private.csv", label="state", epsilon=2, records=5, mechanism="cf")
    with pytest.raises(InvalidInput, match="--label-share"):
        labels.protect(
            folder / "private.csv", label="state", epsilon=2, mechanism="sample", label_share=0.5
        )
    (folder / "taken.csv").write_text("weight,smokes,town,state,report\n70,yes,west,ill,1\n")
    with pytest.raises(InvalidInput, match="no column 'report'"):
        labels.protect(
            folder / "taken.csv", label="state", epsilon=2, mechanism="sample",
            recipe=folder / "p.json",
        )  # fmt: skip
    (folder / "other.csv").write_text("weight,smokes,town,state\n70,yes,west,unknown\n")
    with pytest.raises(InvalidInput, match="one of the recipe's classes"):
        labels.learn(folder / "r.csv", test=folder / "other.csv", **by)


def test_the_sampler_is_within_epsilon_for_every_pair_of_records(clinic):
    """Exactly, over all releases and pairs of (value, label) codes of every column."""
    _, folder = clinic
    law = sampler_of(load_recipe(folder / "r.csv.recipe.json"), epsilon=2.0).law
    for channel in law.channels:
        assert channel.certificate().epsilon <= 2.0
    assert law.guarantee.epsilon <= 2.0
    assert float(law.column.probabilities().sum()) == pytest.approx(1)


def test_a_planted_debias_factor_and_a_planted_law_are_caught(clinic):
    """A reader with the wrong epsilon finds another population, far outside the interval."""
    _, folder = clinic
    by = {"recipe": folder / "r.csv.recipe.json", "confidence": 1 - 1e-9}
    honest = labels.estimate(folder / "r.csv", epsilon=2, **by).classes[0].estimate
    assert honest.lower <= 0.4 <= honest.upper
    liar = sampler_of(load_recipe(folder / "r.csv.recipe.json"), epsilon=1.0).law.channels[1]
    true = sampler_of(load_recipe(folder / "r.csv.recipe.json"), epsilon=2.0).law.channels[1]
    from voile.estimate.debiasing import unbiased_scores

    if liar.weights.shape == true.weights.shape:
        moved = unbiased_scores(liar) @ true.probabilities().T
        assert np.abs(moved - np.eye(len(moved))).max() > 0.3


def test_seeded_is_repeatable_and_not_for_release(tmp_path):
    made = labels.recipe(records(tmp_path / "p.csv", 1, 300), label="state", mechanism="sample")
    file = records(tmp_path / "x.csv", 2, 300)
    outs = []
    for name in ("a", "b"):
        out = tmp_path / f"{name}.csv"
        labels.protect(
            file, label="state", epsilon=1, mechanism="sample", recipe=made, out=str(out), seed=7
        )
        outs.append(out.read_bytes())
    assert outs[0] == outs[1]
    assert voile.labels.learn is labels.learn
