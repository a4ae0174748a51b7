"""Features in clear, read straight or in pieces: reports decide which, and a curve is learned."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from voile import labels
from voile.core.randomness import seeded_rng
from voile.estimate import ForwardLogistic, forward_logistic
from voile.labels.bends import side_by_side, straight_or_bent
from voile.labels.columns import CategoryColumn, NumberColumn
from voile.mechanisms import randomised_response

NUMBER = NumberColumn("x", (0.0, 1.0, 10.0, 100.0, 1000.0), missing=True)


def test_pieces_follow_ranks_and_not_units():
    values = (np.array([-5.0, 1.0, 5.5, 1e9, np.nan]), np.array(["a", "b", "c", "a", "b"]))
    columns = (NUMBER, CategoryColumn("c", ("a", "b", "c")))
    straight = side_by_side(columns, values, bent=False)
    table = side_by_side(columns, values, bent=True)
    assert straight.shape == (5, 5)
    assert table[:, :5].tolist() == straight.tolist()
    assert table[:, 5].tolist() == [0, 0.25, 0.375, 1, 0.5]
    assert table[:, 8].tolist() == [0, 0, 0, 0.25, 0]
    few = (NumberColumn("x", (0.0, 1.0)),)
    assert side_by_side(few, values[:1], bent=True).shape == (5, 1)


def curve(count: int, seed: int) -> list[dict[str, object]]:
    """Ill is who is far from the middle, and a number that hangs on it."""
    rng = np.random.default_rng(seed)
    level = rng.normal(size=count)
    ill = rng.random(count) < np.where(np.abs(level) > 0.7, 0.9, 0.1)
    pay = 40 + 20 * np.abs(level) + rng.normal(size=count)
    return [
        {"level": float(x), "pay": float(p), "state": "ill" if y else "well"}
        for x, p, y in zip(level, pay, ill, strict=True)
    ]


def test_a_curve_is_learned_from_noisy_labels():
    records, clean = [
        [{k: row[k] for k in ("level", "state")} for row in curve(n, seed)]
        for n, seed in ((1_500, 1), (500, 2))
    ]
    done = labels.protect(
        records, label="state", epsilon=2.0, mechanism="rr", classes=("ill", "well"),
        pass_=("level",), seed=1,
    )  # fmt: skip
    found = labels.learn(done.data, guarantee=done, test=clean)
    assert found.bent
    assert found.auc > 0.8
    assert "as they are, and in pieces" in str(found.report())
    # The planted liar reads the number as it is alone.
    rows = np.array([[row["level"]] for row in done.data])
    straight = ForwardLogistic(done.protection.channels[-1]).fit(
        rows, [r["state"] for r in done.data]
    )
    beliefs = straight.predict_proba(np.array([[row["level"]] for row in clean]))[:, 0]
    ill = np.array([row["state"] == "ill" for row in clean])
    assert np.abs((beliefs[ill][:, None] > beliefs[~ill]).mean() - 0.5) < 0.1


def test_a_number_that_bends_is_learned_from_its_bins():
    records, clean = [
        [{k: row[k] for k in ("level", "pay")} for row in curve(n, seed)]
        for n, seed in ((1_500, 3), (500, 4))
    ]
    done = labels.protect(
        records, label="pay", epsilon=4.0, mechanism="rr", edges=(40, 50, 60, 80), pass_=("level",),
        seed=1,
    )  # fmt: skip
    found = labels.learn(done.data, guarantee=done, test=clean)
    assert found.bent
    assert found.error < 0.6 * found.spread
    assert found.predict(clean).shape == (500,)


def test_a_straight_law_stays_straight():
    rng = np.random.default_rng(5)
    values = tuple(rng.normal(size=(4, 1_000)))
    columns = tuple(NumberColumn(f"x{j}", tuple(np.linspace(-2, 2, 16))) for j in range(4))
    ill = rng.random(1_000) < 1 / (1 + np.exp(-(2 * values[0] - values[1])))
    channel = randomised_response([0, 1], epsilon=1.0)
    released = channel.release(ill.astype(int), seeded_rng(6))
    _, bent = straight_or_bent(lambda: ForwardLogistic(channel), columns, values, released)
    assert not bent


def test_some_of_many_records_choose_and_all_are_fitted_to(monkeypatch):
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(3_000, 2))
    channel = randomised_response([0, 1], epsilon=2.0)
    answers = channel.release((rows[:, 0] > 0).astype(int), seeded_rng(8))
    whole = ForwardLogistic(channel).fit(rows, answers)
    monkeypatch.setattr(forward_logistic, "MOST", 1_000)
    read = []
    fitted = forward_logistic._fitted
    monkeypatch.setattr(
        forward_logistic, "_fitted", lambda t, *rest: read.append(len(t)) or fitted(t, *rest)
    )
    some = ForwardLogistic(channel).fit(rows, answers)
    assert set(read) == {750, 3_000}
    if some.penalty_ == whole.penalty_:
        assert some.weights_ == pytest.approx(whole.weights_)
    assert some.held_ == pytest.approx(whole.held_, rel=0.2)
