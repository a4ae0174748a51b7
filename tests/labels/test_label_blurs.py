"""The channel of one column: ε between any two codes, that for a missing value among them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.randomness import seeded_rng
from voile.labels import CategoryColumn, NumberColumn, Recipe
from voile.labels.blurs import blurred, levels_or_missing
from voile.labels.protection import noise_protection
from voile.mechanisms._spread import spread


@given(levels=st.integers(1, 40), epsilon=st.floats(1e-3, 20))
def test_missing_is_as_well_hidden_as_any_level_and_nothing_is_wasted(levels, epsilon):
    channel = levels_or_missing(levels, epsilon=epsilon)
    assert len(channel.space) == levels + 1
    assert epsilon * (1 - 1e-4) <= spread(channel) <= epsilon * (1 + 1e-12)


def test_between_levels_the_law_is_the_geometric_one():
    column = NumberColumn("n", (0.0, 1.0, 2.0, 3.0))
    plain = blurred(column, epsilon=1.0).probabilities()
    with_missing = blurred(replace(column, missing=True), epsilon=1.0).probabilities()
    assert with_missing.shape == (5, 5)
    among = with_missing[:4, :4]
    assert among / among.sum(axis=1, keepdims=True) == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize("epsilon", [1e-9, 800.0, 1e6])
def test_extreme_epsilons_build(epsilon):
    channel = levels_or_missing(16, epsilon=epsilon)
    assert np.isfinite(channel.probabilities()).all()


def recipe_of(*columns, shares):
    return Recipe("y", ("p", "q"), columns, shares)


def test_constants_cost_nothing():
    number, flat = NumberColumn("n", (0.0, 1.0)), CategoryColumn("c", ("k",))
    alone = noise_protection(recipe_of(number, shares=(0.5, 0.5)), epsilon=2.0)
    for shares in ((0.25, 0.25, 0.5), (0.5, 0.0, 0.5)):
        both = recipe_of(number, flat, shares=shares)
        assert both.parts()[1] == 0.0
        assert sum(both.parts()) == pytest.approx(1.0)
        found = noise_protection(both, epsilon=2.0)
        assert 2.0 - 1e-6 < found.local.epsilon <= 2.0
    assert noise_protection(both, epsilon=2.0).label.epsilon == alone.label.epsilon
    none = recipe_of(flat, shares=(0.5, 0.5))
    assert none.parts() == (0.0, 1.0)
    assert noise_protection(none, epsilon=2.0).label.epsilon == pytest.approx(2.0)


def test_a_label_share_overrides_the_recipes():
    columns = (NumberColumn("a", (0.0, 1.0)), NumberColumn("b", (0.0, 1.0)))
    recipe = recipe_of(*columns, shares=(0.1, 0.3, 0.6))
    assert recipe.parts() == pytest.approx((0.1, 0.3, 0.6))
    assert recipe.parts(0.2) == pytest.approx((0.2, 0.6, 0.2))
    assert noise_protection(recipe, epsilon=1.0, label_share=0.2).label.epsilon == pytest.approx(
        0.2
    )


def test_a_column_that_is_left_out_costs_nothing():
    columns = [NumberColumn(name, (0.0, 1.0)) for name in "abc"]
    recipe = recipe_of(*columns, shares=(0.1, 0.3, 0.1, 0.5))
    less = recipe.without(["c"])
    assert [column.name for column in less.columns] == ["a", "b"]
    assert less.shares == pytest.approx((0.125, 0.375, 0.5))
    assert 1.0 - 1e-6 < noise_protection(less, epsilon=1.0).local.epsilon <= 1.0
    assert recipe.without(["a", "b", "c"]).shares == (1.0,)


def test_every_record_is_drawn_whatever_is_missing_in_it():
    columns = (NumberColumn("n", (0.0, 1.0), missing=True), CategoryColumn("c", ("(missing)", "x")))
    noise = noise_protection(recipe_of(*columns, shares=(0.25, 0.25, 0.5)), epsilon=1.0)
    values = (columns[0].read(["", "1"] * 50), columns[1].read(["x", "?"] * 50))
    drawn, answers = noise.draw(values, np.zeros(100, dtype=np.intp), seeded_rng(1))
    assert len(answers) == 100
    assert 10 < np.isnan(drawn[0]).sum() < 90  # seeded
    assert set(drawn[1]) == {"(missing)", "x"}
