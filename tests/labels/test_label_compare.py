"""Which way surely beats another: by ranks over the splits, and never by what is counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

pytest.importorskip("sklearn")

from voile.core.randomness import seeded_rng
from voile.labels._compare import Run, chosen_by_others, crossings
from voile.labels.analysts import ANALYSTS, Lesson, noise_aware, tuned_linear, usefulness
from voile.labels.compared import Crossing
from voile.labels.repeat import Score
from voile.mechanisms import randomised_response


def way(mechanism, leakage, aucs, *, repeats=12):
    leaks = np.full(repeats, leakage) if np.isscalar(leakage) else leakage
    return Run.of(
        (mechanism, 1.0),
        [Score(leak, {"linear": auc}, None) for leak, auc in zip(leaks, aucs, strict=True)],
    )


def test_a_crossing_needs_more_than_chance():
    rng = seeded_rng(3)
    label = way("label DP", 0.95, 0.6 + 0.1 * rng.random(12))
    sure = way("label DP-CF", 0.8, 0.9 + 0.05 * rng.random(12))
    once = way(
        "local DP", 0.8, np.append(0.9 + 0.05 * rng.random(9), [0.3] * 3)
    )  # three splits against
    leaky = way("local DP", 0.99, np.full(12, 0.99))
    found, notes = crossings([label, sure, once, leaky])
    assert found == (Crossing(sure.point, label.point),)
    assert notes == ()


def test_too_few_repeats_are_sure_of_nothing_and_say_how_many_are_needed():
    label = way("label DP", 0.95, np.full(5, 0.6), repeats=5)
    other = way("label DP-CF", 0.5, np.full(5, 0.99), repeats=5)
    others = [other] * 10
    found, (note,) = crossings([label, *others])
    assert found == ()
    assert "5 repeats are too few to be sure of anything about 10 pairs" in note
    assert "--repeats 8 or more" in note  # 2^-8 is below 0.05/10


def test_surely_is_said_where_a_rerun_agrees():
    """Ways that are alike are hardly ever called better: 5 %, all pairs together."""
    wrong = 0
    for seed in range(400):
        rng = seeded_rng(seed)
        alike = [way("label DP", 0.9, 0.7 + 0.1 * rng.normal(size=12)) for _ in range(3)]
        alike += [way("label DP-CF", 0.9, 0.7 + 0.1 * rng.normal(size=12)) for _ in range(4)]
        wrong += bool(crossings(alike)[0])
    assert wrong <= binom.isf(1e-9, 400, 0.05)


def test_by_means_alone_reruns_would_disagree():
    """The planted bug: whoever has the higher mean is surely better."""
    wrong = 0
    for seed in range(50):
        rng = seeded_rng(seed)
        label = way("label DP", 0.9, 0.7 + 0.1 * rng.normal(size=12))
        other = way("label DP-CF", 0.9, 0.7 + 0.1 * rng.normal(size=12))
        wrong += other.point.auc > label.point.auc
    assert wrong > binom.isf(1e-9, 50, 0.05)


def test_an_analyst_is_never_chosen_by_what_is_counted():
    aucs = [{"a": 0.9, "b": 0.1}, {"a": 0.1, "b": 0.6}, {"a": 0.1, "b": 0.6}]
    name, counted = chosen_by_others(aucs)
    assert name == "b"
    assert counted.tolist() == [0.1, 0.1, 0.1]  # the best on the others is bad on each


def test_the_noise_aware_analyst_sees_through_the_channel():
    """One in ten is ill; noise makes it four in ten, and one analyst alone knows of the noise."""
    rng = seeded_rng(2)
    features = rng.normal(size=(4000, 2))
    truth = (features[:, 0] + 0.5 * rng.normal(size=4000) > 1.5).astype(int)
    channel = randomised_response(("well", "ill"), epsilon=0.5)
    answers = channel.space.index(channel.outputs[channel.draw(truth, rng)])
    lesson = Lesson(features, answers, features, truth, 2, 1, channel)
    plain, aware = (ANALYSTS[name](lesson) for name in ("tuned linear", "noise-aware"))
    assert abs(aware[:, 1].mean() - truth.mean()) < 0.06
    assert plain[:, 1].mean() > truth.mean() + 0.2
    assert usefulness(lesson)["noise-aware"] > 0.9
    clean = replace(lesson, answers=truth, channel=None)
    assert np.array_equal(noise_aware(clean), tuned_linear(clean))
