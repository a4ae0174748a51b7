"""A label that is a number: public bins, randomised response over them, means and regressions."""

from __future__ import annotations

import csv
import json
from typing import Any

import numpy as np
import pytest

from label_files import write_rows
from voile import labels
from voile.core.randomness import seeded_rng
from voile.errors import BadFile, InvalidInput
from voile.labels.bins import Cut, bin_codes, bin_names, bins_for, middles
from voile.labels.recipe_file import load_recipe, recipe_from

pytest.importorskip("sklearn")

EDGES = (0.0, 100.0)


def people(path: Any, seed: int, count: int = 4_000) -> Any:
    """Pay is 40 + 10·level + noise, between 0 and 100 but for a few."""
    rng = np.random.default_rng(seed)
    level, other = rng.normal(size=count), rng.normal(size=count)
    pay = np.round(40 + 10 * level + 8 * rng.normal(size=count), 1)
    rows = [[f"{a:.4f}", f"{b:.4f}", p] for a, b, p in zip(level, other, pay, strict=True)]
    return write_rows(path, ["level", "other", "pay"], rows)


@pytest.fixture
def released(tmp_path: Any) -> Any:
    """Pay released in bins, features in clear."""
    file = people(tmp_path / "people.csv", 1, 20_000)
    return labels.protect(
        file, label="pay", epsilon=2, mechanism="rr", edges=EDGES, bins=6, pass_="all",
        out=str(tmp_path / "r.csv"), seed=5,
    )  # fmt: skip


def test_every_number_has_a_bin_and_a_bins_name_is_in_it() -> None:
    for edges in ((0, 1, 2, 50), (-3.5, 0.25, 7.0), (0, 100)):
        names, ends = bin_names(edges), np.array(edges, dtype=float)
        assert bin_codes(edges, names).tolist() == list(range(len(ends) - 1))
        assert bin_codes(edges, ends[:-1]).tolist() == list(range(len(ends) - 1))
    assert bin_codes((0, 1, 2), [-9, 0.99, 1, 2, 99, "x", None, "inf"]).tolist() == [
        0, 0, 1, 1, 1, -1, -1, -1,
    ]  # fmt: skip


def test_the_number_of_bins_is_the_one_of_least_error() -> None:
    """By the law itself: the mean squared error of a debiased label, even in its range."""
    from voile.estimate.debiasing import unbiased_scores
    from voile.mechanisms import randomised_response

    for epsilon in (1.0, 3.0, 5.0):
        errors = []
        for k in range(2, 33):
            channel = randomised_response(list(range(k)), epsilon=epsilon)
            values = middles(np.linspace(0, 1, k + 1).tolist())
            scores = values @ unbiased_scores(channel)
            noise = channel.probabilities() * (scores[None, :] - values[:, None]) ** 2
            errors.append(noise.sum(axis=1).mean() + 1 / (12 * k**2))
        best = bins_for(epsilon)
        assert errors[best - 2] == pytest.approx(min(errors), rel=1e-6)


def test_a_release_holds_the_middles_of_public_bins(released: Any, tmp_path: Any) -> None:
    with open(released.output) as file:
        rows = list(csv.DictReader(file))
    used = load_recipe(tmp_path / "r.csv.recipe.json")
    assert (used.edges[0], used.edges[-1], len(used.classes)) == (*EDGES, 6)
    assert {row["pay"] for row in rows} == set(used.classes)
    assert released.guarantee.epsilon <= 2
    assert str(released.guarantee.basis) == "certified"
    with open(tmp_path / "people.csv") as file:
        before = list(csv.DictReader(file))
    assert [row["level"] for row in rows] == [row["level"] for row in before]


def test_its_mean_comes_back_and_the_released_one_does_not(released: Any, tmp_path: Any) -> None:
    found = labels.estimate(released.output, confidence=1 - 1e-9)
    (mean,) = found.means
    assert (mean.column, mean.value) == ("pay", "mean")
    with open(tmp_path / "people.csv") as file:
        true = np.mean([float(row["pay"]) for row in csv.DictReader(file)])
    half = (found.label_edges[1] - found.label_edges[0]) / 2
    assert mean.estimate.lower - half <= true <= mean.estimate.upper + half
    assert abs(mean.estimate.value - true) < 3
    assert "The label is a number in bins between 0 and 100" in str(found)
    with open(released.output) as file:
        noisy = np.mean([float(row["pay"]) for row in csv.DictReader(file)])
    assert abs(noisy - true) > 3.5  # the liar: the mean of what was released leans to the middle


def test_a_regression_has_its_slope_and_the_released_labels_have_not(
    released: Any, tmp_path: Any
) -> None:
    found = labels.learn(released.output, test=people(tmp_path / "clean.csv", 2, 1_000))
    slope = found.model.coef_
    assert slope[0] == pytest.approx(10, abs=2.4)
    assert slope[1] == pytest.approx(0, abs=2.4)
    assert found.error < 0.75 * found.spread
    assert "always their mean" in str(found)
    assert found.predict([{"level": 2.0, "other": 0.0}])[0] == pytest.approx(60, abs=8)
    with pytest.raises(InvalidInput, match="use predict"):
        found.predict_proba([{"level": 2.0, "other": 0.0}])
    with open(released.output) as file:
        rows = list(csv.DictReader(file))
    level = np.array([float(row["level"]) for row in rows])
    flat = np.polyfit(level, [float(row["pay"]) for row in rows], 1)[0]
    assert flat < 7  # the liar: least squares on what was released


@pytest.mark.parametrize("mechanism", ["cf", "ldp", "sample"])
def test_other_mechanisms_take_bins_from_their_recipe(mechanism: str, tmp_path: Any) -> None:
    public = people(tmp_path / "public.csv", 3, 600)
    made = labels.recipe(
        public, label="pay", mechanism=mechanism, edges=(0, 30, 40, 50, 100), levels=4
    )
    assert made.classes == ("15", "35", "45", "75")
    file = people(tmp_path / "people.csv", 1, 1_500)
    out = str(tmp_path / "r.csv")
    release = labels.protect(
        file, label="pay", epsilon=6, mechanism=mechanism, recipe=made, out=out
    )
    found = labels.estimate(out, recipe=release.by)
    assert found.vouched
    assert found.means[0].column == "pay"
    model = labels.learn(out, recipe=release.by, test=people(tmp_path / "clean.csv", 2, 300))
    assert model.error < model.spread * 1.3
    assert model.predict([{"level": 0.0, "other": 0.0}]).shape == (1,)


def test_audits_and_comparisons_cut_numbers(tmp_path: Any) -> None:
    file = people(tmp_path / "people.csv", 1, 500)
    with pytest.raises(InvalidInput, match=r"give its range or the edges of its bins \(--edges"):
        labels.audit(file, label="pay")
    found = labels.audit(file, label="pay", edges=(0, 35, 45, 100), epsilon=(1.0,))
    assert found.classes == 3
    assert "cut into 3 bins between 0 and 100" in str(found)
    ways = labels.compare(
        file, label="pay", edges=(0, 40, 100), label_epsilon=(1.0,), record_epsilon=(), repeats=2,
        draws=1,
    )  # fmt: skip
    assert "cut into 2 bins" in str(ways)


def test_a_frame_of_whole_numbers_stays_one(tmp_path: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [20, 30, 40, 50] * 20, "pay": list(range(80))})
    release = labels.protect(
        frame, label="pay", epsilon=2, mechanism="rr", edges=(0, 50, 85), pass_="all"
    )
    assert release.data["pay"].dtype == frame["pay"].dtype
    assert set(release.data["pay"]) == {25, 67}


def test_what_does_not_go_together_is_refused(tmp_path: Any) -> None:
    file = people(tmp_path / "people.csv", 1, 200)
    asked = {"label": "pay", "epsilon": 1, "pass_": "all"}
    for wrong in (
        {"mechanism": "rr", "edges": (0, 1), "classes": ("a", "b")},
        {"mechanism": "rr", "edges": (0, 1), "learn_from_private": True},
        {"mechanism": "ldp", "edges": (0, 1)},
    ):
        with pytest.raises(InvalidInput, match="--edges must go with"):
            labels.protect(file, **asked, **wrong)
    for edges, bins in (((3, 1), None), ((1,), None), ((0, float("nan")), None), ((0, 1), 1),
                        ((0, 1, 2), 3), ((), 4), ((0, 1), 1000)):  # fmt: skip
        with pytest.raises(InvalidInput):
            Cut(edges, bins).at()
    bad = write_rows(tmp_path / "bad.csv", ["level", "pay"], [["1", "12"], ["2", "much"]])
    with pytest.raises(InvalidInput, match="the label is no number; mend the file") as caught:
        labels.protect(bad, mechanism="rr", edges=EDGES, **asked)
    assert "much" not in str(caught.value)


def test_forged_edges_and_strange_numbers_are_refused(released: Any, tmp_path: Any) -> None:
    body = json.loads((tmp_path / "r.csv.recipe.json").read_text())
    for edges in ([3.0, 1.0], "abc", [0.0, 1.0], [None, 2.0], [0.0, float("inf")]):
        with pytest.raises(BadFile):
            recipe_from(json.dumps(body | {"edges": edges}))
    (tmp_path / "x.csv").write_text("level,other,pay\n1,1,3.25\n")
    with pytest.raises(BadFile, match="can release"):
        labels.estimate(tmp_path / "x.csv", recipe=released.by, epsilon=2, mechanism="rr")


def test_the_channel_of_bins_is_randomised_response(released: Any) -> None:
    from voile.mechanisms import randomised_response

    (channel,) = released.protection.channels
    same = randomised_response(released.by.classes, epsilon=2)
    assert (channel.weights == same.weights).all()
    drawn = channel.draw(np.zeros(2000, dtype=np.intp), seeded_rng(1))
    assert abs((drawn == 0).mean() - channel.probabilities()[0, 0]) < 0.07
