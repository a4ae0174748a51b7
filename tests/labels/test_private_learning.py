"""Ranges and names from the private file at a stated price: what shows, what never does."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom
from typer.testing import CliRunner

from voile import labels
from voile.cli.app import app
from voile.core.guarantee import Basis
from voile.core.randomness import seeded_rng
from voile.errors import BadFile, InvalidInput, OverBudget
from voile.files.rows import OnError
from voile.files.source import open_source
from voile.labels import private_learning
from voile.labels.columns import CategoryColumn, NumberColumn
from voile.labels.private_learning import Price, candidates, learn_privately
from voile.labels.reading import one_record_each
from voile.labels.recipe_file import recipe_from, recipe_text

RECORDS = 1000
EXTREME, RARE = 987_654_321, "Tinytown"


def salaries(path: Path, *, seed: int = 1, repeat: int = 1) -> Path:
    """One salary that is far above all others, one town that a single record has."""
    rng = seeded_rng(seed)
    salary = rng.integers(20_000, 90_000, size=RECORDS).tolist()
    town = rng.choice(["Aton", "Bton", "Cton"], size=RECORDS).tolist()
    state = rng.choice(["ill", "well"], size=RECORDS).tolist()
    salary[7], town[9] = EXTREME, RARE
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["who", "salary", "town", "state"])
        for i, row in enumerate(zip(salary, town, state, strict=True)):
            for _ in range(repeat if i == 9 else 1):
                rows.writerow([f"p{i}", *row])
    return path


def learned(path: Path, out: Path, **options):
    asked = {"label": "state", "epsilon": 2.0, "mechanism": "ldp", "learn_epsilon": 2.0}
    return labels.protect(path, out=out, drop=("who",), **(asked | options))


def test_an_extreme_salary_and_a_rare_town_are_never_shown(tmp_path):
    found = learned(salaries(tmp_path / "s.csv"), tmp_path / "o.csv")
    text = (tmp_path / "o.csv").read_text() + (tmp_path / "o.csv.recipe.json").read_text()
    assert str(EXTREME) not in text
    assert RARE not in text
    salary, town = found.by.columns
    assert isinstance(salary, NumberColumn)
    assert isinstance(town, CategoryColumn)
    assert 30_000 < salary.levels[0] < salary.levels[-1] < 80_000  # and yet it is useful
    assert town.categories == ("Aton", "Bton", "Cton", "(missing)", "(other)")
    assert salary.missing
    assert found.by.classes == ("ill", "well", "(other)")


def test_the_price_is_stated_added_and_kept_in_the_recipe(tmp_path):
    found = learned(salaries(tmp_path / "s.csv"), tmp_path / "o.csv")
    assert found.guarantee.basis is Basis.CERTIFIED
    assert 3.99 < found.guarantee.epsilon <= 4.0
    assert 0 < found.guarantee.delta <= 1e-6
    assert found.epsilon.local == pytest.approx(4.0)
    told = str(found.report())
    assert "The curator, who ran this and saw every record" in told
    assert "(central trust model), at ε = 2 and δ = 1e-06 of the bound" in told
    kept = recipe_from((tmp_path / "o.csv.recipe.json").read_text())
    assert kept.spent == found.by.spent
    assert recipe_from(recipe_text(kept)).spent == kept.spent
    again = labels.protect(
        tmp_path / "s.csv", label="state", epsilon=1.0, mechanism="ldp", drop=("who",),
        recipe=tmp_path / "o.csv.recipe.json", out=tmp_path / "again.csv",
    )  # fmt: skip
    assert 2.99 < again.guarantee.epsilon <= 3.0  # a release by it adds what it cost


def test_labels_alone_are_learned_for_rr(tmp_path):
    found = learned(
        salaries(tmp_path / "s.csv"), tmp_path / "o.csv", mechanism="rr", pass_=("salary", "town")
    )
    assert found.by.columns == ()
    assert found.by.classes == ("ill", "well", "(other)")


def test_a_person_counts_once_and_is_charged(tmp_path, monkeypatch):
    """Three hundred records of one person are one record to what is learned: the town stays hid."""
    monkeypatch.chdir(tmp_path)
    path = salaries(tmp_path / "s.csv", repeat=300)
    shown = learned(path, tmp_path / "shown.csv")
    assert RARE in shown.by.columns[1].categories  # without persons, 300 records are 300
    opening = ["ledger", "init", "l.db", "--budget", "2000", "--budget-delta", "0.01"]
    opening += ["--budget-leaks", "0.005"]
    opened = CliRunner().invoke(app, opening)
    assert opened.exit_code == 0, opened.output
    found = labels.protect(
        path, label="state", epsilon=2.0, mechanism="ldp", learn_epsilon=2.0,
        out=tmp_path / "o.csv", ledger="l.db", ledger_key="l.db.key", person="who",
    )  # fmt: skip
    assert RARE not in found.by.columns[1].categories
    assert found.ledger is not None
    assert found.ledger.rows_over_budget == 0


def price(epsilon: float) -> Price:
    return Price(epsilon, 1e-4)


def recipe_of(values, *, epsilon=4.0, seed=0, states=("ill", "well")):
    rng = seeded_rng(seed)
    truth = [states[i % len(states)] for i in range(len(values))]
    return learn_privately(
        "state", ["x"], [list(values)], truth, price=price(epsilon), rng=rng, classes=states
    )


def test_levels_lie_where_the_records_do():
    rng = seeded_rng(4)
    values = rng.normal(50, 10, size=5000)
    (column,) = recipe_of(values).columns
    assert isinstance(column, NumberColumn)
    assert len(column.levels) == 15
    shares = np.searchsorted(np.sort(values), column.levels) / 5000
    assert np.abs(shares - np.arange(1, 16) / 16).max() < 0.05


def test_a_value_that_most_share_is_a_level_and_the_rest_is_near():
    values = np.concatenate([np.zeros(4500), seeded_rng(5).integers(1000, 9000, size=500)])
    (column,) = recipe_of(values).columns
    assert 0.0 in column.levels
    assert any(1000 <= level <= 9000 for level in column.levels)
    assert max(map(abs, column.levels)) < 1e5


def test_what_a_column_is_does_not_hang_on_one_record():
    mixed = [*map(str, range(2000)), "about 40"]
    assert isinstance(recipe_of(mixed).columns[0], NumberColumn)
    names = [*["north", "south"] * 900, "7"]
    (column,) = recipe_of(names).columns
    assert column == CategoryColumn("x", ("north", "south", "(missing)", "(other)"))


def test_a_name_of_one_record_shows_with_at_most_delta():
    """δ = 0.05 for the test's sake; a threshold of nought would be caught."""
    shown = 0
    for seed in range(400):
        names = np.array(["rare", *["common"] * 60])
        found = private_learning._names(names, 1.0, 0.05, seeded_rng(seed))
        assert found[0] == "common"
        shown += "rare" in found
    assert shown <= binom.isf(1e-9, 400, 0.05)


def test_a_threshold_of_nothing_is_caught(monkeypatch):
    monkeypatch.setattr(private_learning, "unlikely", lambda chance, weights: 0)
    shown = sum(
        "rare" in private_learning._names(
            np.array(["rare", *["common"] * 60]), 1.0, 0.05, seeded_rng(seed)
        )
        for seed in range(400)
    )  # fmt: skip
    assert shown > binom.isf(1e-9, 400, 0.05)


def median_at_least(values: list[float], bound: float, epsilon: float, draws: int) -> int:
    """How often the one level that so few records allow lies at the bound or above."""
    hits = 0
    for seed in range(draws):
        (level, *_) = private_learning._levels(
            np.array(values), len(values), epsilon, seeded_rng(seed)
        )
        hits += level >= bound
    return hits


def test_levels_are_as_private_as_their_price_says():
    """Two files of one record each: the odds of what is learned stay within e^ε."""
    epsilon, draws = 2.0, 300
    low = median_at_least([1.0], 50.0, epsilon, draws)
    high = median_at_least([100.0], 50.0, epsilon, draws)
    share = low / draws * np.exp(epsilon)
    assert high <= binom.isf(1e-9, draws, min(1.0, share + 0.1)) + 1


def test_candidates_depend_on_no_record():
    grid = candidates()
    assert (np.diff(grid) > 0).all()
    assert {37.05, 0.0, -1987.0, 40.0, 9999e12} <= set(grid[::1].tolist())
    assert float(EXTREME) not in grid


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mechanism": "cf"}, "--learn-epsilon must go with --mechanism rr or ldp"),
        ({"learn_from_private": True}, "must not stand beside --learn-from-private"),
        ({"mechanism": "rr", "classes": ("ill", "well")}, "must have something to learn"),
        ({"learn_epsilon": 0.0}, "epsilon must be a finite number > 0"),
        ({"learn_epsilon": 1e-4}, "--learn-epsilon must leave"),
        ({"learn_delta": 0.5}, "delta must be above 0 and at most 1 / records"),
    ],
)
def test_what_cannot_be_learned_is_refused_and_nothing_is_written(tmp_path, options, message):
    path = salaries(tmp_path / "s.csv")
    with pytest.raises(InvalidInput, match=message):
        learned(path, tmp_path / "o.csv", **options)
    assert list(tmp_path.iterdir()) == [path]


def test_a_refusal_names_the_charged_way(tmp_path):
    path = salaries(tmp_path / "s.csv")
    with pytest.raises(InvalidInput, match="--learn-epsilon learns them under differential"):
        labels.protect(path, label="state", epsilon=1.0, mechanism="ldp", drop=("who",))


def test_a_recipe_that_lies_about_its_price_is_refused(tmp_path):
    learned(salaries(tmp_path / "s.csv"), tmp_path / "o.csv")
    body = json.loads((tmp_path / "o.csv.recipe.json").read_text())
    for wrong in (["a", 0], [-1.0, 0.0], [1.0, 2.0], [1.0], "12"):
        with pytest.raises(BadFile):
            recipe_from(json.dumps(body | {"spent": wrong}))


def opened(folder: Path, budget: str) -> dict[str, str]:
    """A ledger with room for δ, and the options that charge to it."""
    asked = ["ledger", "init", str(folder / "l.db"), "--budget", budget, "--budget-delta", "0.01"]
    done = CliRunner().invoke(app, [*asked, "--budget-leaks", "0.005"])
    assert done.exit_code == 0, done.output
    key = str(folder / "l.db.key")
    return {"ledger": str(folder / "l.db"), "ledger_key": key, "person": "who"}


@pytest.mark.parametrize(
    "options", [{"over_budget": "drop"}, {"over_budget": "mask"}, {"on_error": "skip"}]
)
def test_nobody_is_learned_from_without_being_charged(tmp_path, options):
    path = salaries(tmp_path / "s.csv")
    with pytest.raises(InvalidInput, match="was learned from"):
        learned(path, tmp_path / "o.csv", **opened(tmp_path, "20"), **options)
    assert not (tmp_path / "o.csv").exists()
    assert not (tmp_path / "o.csv.recipe.json").exists()


def test_nothing_is_learned_if_one_budget_is_spent(tmp_path):
    """The last of all rows is beyond its budget: neither output nor recipe stays."""
    path = salaries(tmp_path / "s.csv")
    with path.open("a") as file:
        file.write("p3,30000,Aton,ill\n" * 6)
    with pytest.raises(OverBudget):
        learned(path, tmp_path / "o.csv", **opened(tmp_path, "20"), batch_rows=100)
    assert not (tmp_path / "o.csv").exists()
    assert not (tmp_path / "o.csv.recipe.json").exists()


def test_a_person_counts_once_however_spelled():
    names = [
        "42",
        "42.",
        "42.0",
        " 42 ",
        42,
        42.0,
        "ann",
        "ann ",
        "Zoe\u0308",
        "Zo\u00eb",
        "",
        None,
    ]
    rows = [{"who": name, "town": i} for i, name in enumerate(names)]
    kept = one_record_each(open_source(rows), "who", OnError.FAIL)
    assert [row["town"] for row in kept] == [0, 6, 8]
    assert len(one_record_each(open_source(rows), None, OnError.FAIL)) == len(names)
