import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.adapt.levels import Levels, Round, State, adapt, frontier, meets
from voile.errors import BadFile, CannotWrite, InvalidInput


def bowl(a, b):
    return lambda s: ((s[0] - a) ** 2, (s[1] - b) ** 2)


@given(st.floats(0.06, 0.99), st.floats(0.06, 0.99))
def test_finds_the_bottom_of_a_bowl(a, b):
    levels = Levels(start=(1.0, 1.0), free=(True, True))
    best = adapt(levels, bowl(a, b), most_rounds=200).best
    assert best.strengths == pytest.approx((a, b), abs=2 * levels.last_step)


def test_a_fixed_level_stays_and_bounds_hold():
    seen = []

    def evaluate(strengths):
        seen.append(strengths)
        return 0.0, 10 * strengths[0] - strengths[1]

    state = adapt(Levels(start=(1.0, 0.5), free=(True, False)), evaluate)
    assert {s[1] for s in seen} == {0.5}
    assert state.best.strengths == (0.05, 0.5)
    assert all(0.05 <= s[0] <= 1 for s in seen)


def test_weights_make_the_variants():
    """Utility only (AmPL-U) stays at full strength; privacy only goes to the floor."""

    def evaluate(strengths):
        return sum(strengths), 2 - sum(strengths)

    utility = Levels(start=(1.0, 1.0), free=(True, True), privacy_weight=0.0)
    assert adapt(utility, evaluate).best.strengths == (1.0, 1.0)
    privacy = Levels(start=(1.0, 1.0), free=(True, True), utility_weight=0.0)
    assert adapt(privacy, evaluate, most_rounds=99).best.strengths == (0.05, 0.05)


def test_no_strengths_are_evaluated_twice():
    seen = []

    def evaluate(strengths):
        seen.append(strengths)
        return bowl(0.3, 0.6)(strengths)

    adapt(Levels(start=(1.0, 1.0), free=(True, True)), evaluate, most_rounds=100)
    assert len(seen) == len(set(seen))


def test_the_best_round_is_kept_not_the_last():
    state = adapt(Levels(start=(0.5,), free=(True,)), lambda s: (0.0, abs(s[0] - 0.5)))
    assert state.best.strengths == (0.5,)
    assert state.rounds[-1].strengths != (0.5,)


def test_a_trace_is_continued_without_evaluating_again(tmp_path):
    levels = Levels(start=(1.0, 1.0), free=(True, True))
    trace = tmp_path / "trace.json"
    calls = []

    def evaluate(strengths):
        calls.append(strengths)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return bowl(0.3, 0.6)(strengths)

    with pytest.raises(KeyboardInterrupt):
        adapt(levels, evaluate, trace=trace, most_rounds=100)
    saved = len(json.loads(trace.read_text())["state"]["rounds"])
    whole = adapt(levels, bowl(0.3, 0.6), most_rounds=100)
    again = []
    resumed = adapt(
        levels, lambda s: again.append(s) or bowl(0.3, 0.6)(s), trace=trace, most_rounds=100
    )
    assert resumed == whole
    assert len(again) == len(whole.rounds) - saved


def test_foreign_and_damaged_traces(tmp_path):
    trace = tmp_path / "trace.json"
    adapt(Levels(start=(1.0,), free=(True,)), lambda s: (0.0, s[0]), trace=trace)
    with pytest.raises(BadFile, match="other settings"):
        adapt(Levels(start=(0.9,), free=(True,)), lambda s: (0.0, s[0]), trace=trace)
    with pytest.raises(BadFile, match="other settings or data"):
        adapt(Levels(start=(1.0,), free=(True,)), lambda s: (0.0, s[0]), trace=trace,
              about={"texts": "others"})  # fmt: skip
    trace.write_text("{}")
    with pytest.raises(BadFile, match="damaged"):
        adapt(Levels(start=(1.0,), free=(True,)), lambda s: (0.0, s[0]), trace=trace)
    with pytest.raises(CannotWrite):
        adapt(Levels(start=(1.0,), free=(True,)), lambda s: (0.0, 0.0), trace=tmp_path / "no" / "x")


def test_frontier_and_target():
    rounds = (
        Round((1.0,), 0.10, 0.1, 0.2),
        Round((0.5,), 0.04, 0.2, 0.24),
        Round((0.6,), 0.05, 0.3, 0.35),  # beaten by the one above in both
        Round((0.2,), 0.01, 0.5, 0.51),
    )
    assert [r.strengths for r in frontier(rounds)] == [(0.2,), (0.5,), (1.0,)]
    state = State(rounds[0], 0.1, rounds)
    assert meets(state.rounds, delta=0.05) == rounds[1]
    assert meets(state.rounds, delta=0.001) is None


@pytest.mark.parametrize(
    "arguments",
    [
        {"start": (), "free": ()},
        {"start": (2.0,), "free": (True,)},
        {"start": (1.0,), "free": (True, True)},
        {"start": (1.0,), "free": (True,), "privacy_weight": -1.0},
        {"start": (1.0,), "free": (True,), "privacy_weight": 0.0, "utility_weight": 0.0},
    ],
)
def test_bad_settings(arguments):
    with pytest.raises(InvalidInput):
        Levels(**arguments)


def test_an_evaluation_that_fails():
    with pytest.raises(InvalidInput, match="finite"):
        adapt(Levels(start=(1.0,), free=(True,)), lambda s: (float("nan"), 0.0))
