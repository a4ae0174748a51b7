"""The curator's yardstick: what its noise promises, what its records hold, and where it stands."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from voile import labels
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput
from voile.labels import synthetic
from voile.labels._compare import crossings
from voile.labels.columns import CategoryColumn, NumberColumn
from voile.labels.recipes import Recipe
from voile.labels.synthetic import nearest, synthetic_records

COLUMNS = (
    NumberColumn("weight", tuple(float(i) for i in range(16))),
    CategoryColumn("smokes", ("no", "yes")),
    CategoryColumn("flat", ("one",)),
)
RECIPE = Recipe("state", ("ill", "well"), COLUMNS, (0.25, 0.25, 0.0, 0.5))


def records(count: int, seed: int) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    rng = np.random.default_rng(seed)
    ill = rng.integers(2, size=count)
    weight = np.clip(np.round(rng.normal(6 + 4 * ill, 2)), 0, 15)
    smokes = np.where(rng.random(count) < 0.2 + 0.6 * ill, "yes", "no")
    return (weight, smokes, np.full(count, "one")), 1 - ill


def tables(values: Any, given: Any) -> list[np.ndarray]:
    """The counts that are taken, by a plain way of their own (weights two by two at this size)."""
    codes = [column.encode(v) for column, v in zip(COLUMNS[:2], values, strict=False)]
    return [np.histogram2d(c, given, bins=(range(17), range(3)))[0] for c in codes]


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 8.0])
def test_a_changed_record_moves_the_law_by_no_more_than_stated(
    epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the integers that are drawn: each count that moves by 1 moves the law by one ratio."""
    used: list[tuple[int, ...]] = []
    monkeypatch.setattr(
        synthetic, "noise", lambda count, weights, _: used.append(weights) or (0,) * count
    )
    values, given = records(300, 1)
    made = synthetic_records(RECIPE, values, given, epsilon=epsilon, rng=seeded_rng(1))
    assert len(used) == 2  # the constant column is not counted
    other = tuple(v.copy() for v in values), given.copy()
    other[0][0][0], other[0][1][0], other[1][0] = (values[0][0] + 8) % 16, "no", 1 - given[0]
    other[0][1][0] = "no" if values[1][0] == "yes" else "yes"
    moved = sum(
        np.abs(a - b).sum() for a, b in zip(tables(values, given), tables(*other), strict=True)
    )
    steepest = max(math.log(a) - math.log(b) for a, b in zip(used[0], used[0][1:], strict=False))
    assert moved == 4
    assert moved * steepest <= made.guarantee.epsilon * (1 + 1e-12) <= epsilon * (1 + 1e-12)
    assert 0 < made.guarantee.delta < 1e-12


def test_much_epsilon_gives_the_tables_back() -> None:
    values, given = records(40_000, 2)
    made = synthetic_records(RECIPE, values, given, epsilon=50.0, rng=seeded_rng(3))
    for true, found in zip(tables(values, given), tables(made.values, made.labels), strict=True):
        assert np.abs(true - found).max() < 6 * np.sqrt(true.max()) + 50
    assert set(made.values[2]) == {"one"}
    again = synthetic_records(RECIPE, values, given, epsilon=50.0, rng=seeded_rng(3))
    assert all((a == b).all() for a, b in zip(made.values, again.values, strict=True))


def test_little_epsilon_gives_noise_and_never_a_negative_count() -> None:
    values, given = records(200, 4)
    made = synthetic_records(RECIPE, values, given, epsilon=0.05, rng=seeded_rng(5))
    assert len(made.labels) == 200
    assert made.guarantee.outside == (synthetic.CURATOR,)
    with pytest.raises(InvalidInput, match=r"must leave 0\.0001 for each count"):
        synthetic_records(RECIPE, values, given, epsilon=1e-5, rng=seeded_rng(5))
    flat = Recipe("state", ("ill", "well"), COLUMNS[2:], (0.0, 1.0))
    with pytest.raises(InvalidInput, match="must vary"):
        synthetic_records(flat, values[2:], given, epsilon=1.0, rng=seeded_rng(5))


def test_the_nearest_counts() -> None:
    rng = np.random.default_rng(7)
    for _ in range(50):
        counts = rng.normal(size=6) * 10
        found = nearest(counts, 12.0)
        assert found.sum() == pytest.approx(12)
        assert (found >= 0).all()
        for other in rng.dirichlet(np.ones(6), size=50) * 12:
            assert ((counts - found) ** 2).sum() <= ((counts - other) ** 2).sum() + 1e-9


def test_all_ways_are_compared_and_the_curator_is_a_yardstick(patients: Any) -> None:
    found = labels.compare(
        patients, label="state", label_epsilon=(0.1,), record_epsilon=(4.0,), repeats=2, draws=1
    )
    names = {point.mechanism for point in found.points}
    assert names == {"label DP", "label DP-CF", "local DP", "sampled column", "central DP"}
    by = {point.mechanism: point for point in found.points}
    assert by["central DP"].cap == by["local DP"].cap
    assert by["central DP"].leakage == pytest.approx(found.guess, abs=0.05)
    assert set(by["sampled column"].aucs) == {"estimated tables"}
    assert {"estimated tables", "noise-aware"} < set(by["label DP-CF"].aucs)
    assert "another trust model" in str(found)
    assert by["central DP"].auc > 0.7


def test_a_curator_never_beats_label_dp() -> None:
    """The planted mistake would be to call another trust model the better choice."""
    from voile.labels._compare import Run
    from voile.labels.repeat import Score

    def way(name: str, auc: float) -> Run:
        return Run.of((name, 1.0), [Score(0.5, {"linear": auc + i / 1000}, None) for i in range(9)])

    found, _ = crossings([way("label DP", 0.6), way("central DP", 0.9), way("local DP", 0.8)])
    assert [pair.better.mechanism for pair in found] == ["local DP"]
