import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voile
from voile.core.guarantee import Basis, Guarantee
from voile.errors import InvalidInput, NotAMetric

KM = voile.metrics.euclidean(unit="km")


def test_composition_adds_up():
    once = Guarantee(0.5, KM, "one place", Basis.CERTIFIED, delta=1e-6)
    assert once.repeated(4).epsilon == 2.0
    assert once.repeated(4).delta == pytest.approx(4e-6)
    other = Guarantee(0.25, KM, "one place", Basis.CLAIMED, outside=("length",))
    both = once.then(other)
    assert (both.epsilon, both.delta, both.basis) == (0.75, 1e-6, Basis.CLAIMED)
    assert both.outside == ("length",)


def test_a_factor_beyond_all_numbers_is_called_no_bound():
    told = voile.explain(epsilon=1e6, distance=1e6)
    assert "may change by e^1e+12, which is no bound worth the name." in told.explanation
    assert "inf" not in str(told)
    assert "no bound" in str(told)


def test_unlike_guarantees_do_not_compose():
    place = Guarantee(1.0, KM, "one place")
    with pytest.raises(InvalidInput, match="compose only over one metric"):
        place.then(Guarantee(1.0, voile.metrics.euclidean(unit="m"), "one place"))
    with pytest.raises(InvalidInput, match="compose only over one metric"):
        place.then(Guarantee(1.0, KM, "one trip"))


def test_composition_is_what_two_draws_do():
    """The product channel of two independent releases has at most the summed certificate."""
    line = voile.Space([[0.0], [1.0], [2.0]], metric=KM)
    channel = voile.mechanisms.geometric(line, epsilon=0.7)
    law = channel.probabilities()
    product = (law[:, :, None] * law[:, None, :]).reshape(3, 9)
    logs = np.log(product)
    worst = max(
        np.abs(logs[i] - logs[j]).max() / abs(i - j) for i in range(3) for j in range(3) if i != j
    )
    assert worst == pytest.approx(channel.guarantee.repeated(2).epsilon, rel=1e-6)


@given(st.integers(2, 200), st.floats(0.01, 5))
def test_no_attacker_beats_best_guess(size, epsilon):
    """Randomised response meets the bound with equality: it is tight."""
    channel = voile.mechanisms.randomised_response(list(range(min(size, 20))), epsilon=epsilon)
    success = channel.probabilities().max(axis=0).sum() / len(channel.space)
    bound = channel.guarantee.best_guess(candidates=len(channel.space))
    assert success <= bound * (1 + 1e-12)
    assert success >= bound * (1 - 1e-4)


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=8), st.floats(0.01, 4), st.floats(0, 0.3))
def test_best_guess_holds_under_a_prior_and_delta(masses, epsilon, delta):
    """Against the mechanism that spends delta on telling the truth."""
    prior = np.array(masses) / sum(masses)
    size = len(prior)
    response = voile.mechanisms.randomised_response(list(range(size)), epsilon=epsilon)
    law = (1 - delta) * response.probabilities()
    told = np.hstack([law, delta * np.eye(size)])  # with probability delta, the secret itself
    success = (prior[:, None] * told).max(axis=0).sum()
    guarantee = Guarantee(epsilon, voile.metrics.discrete(), "one label", delta=delta)
    assert success <= guarantee.best_guess(prior=prior.tolist()) * (1 + 1e-9)


def test_explain_reads_like_a_sentence():
    text = Guarantee(0.8, KM, "one location", Basis.CERTIFIED).explain(
        distances=[0.5, 2], candidates=100
    )
    assert "ε = 0.8 per km for one location (certified)." in text
    assert "Two locations 0.5 km apart" in text
    assert "e^1.6 = 4.96×" in text
    # e^1.6 / (e^1.6 + 99) = 4.76 %
    assert "at most 4.77 % of the time, instead of 1 %" in text


def test_explain_says_what_is_left_out_and_what_may_fail():
    text = Guarantee(
        1.0, voile.metrics.discrete(), "one label", delta=1e-5, outside=("the features",)
    ).explain(candidates=2)
    assert "Any two labels" in text
    assert "except with probability 1e-05" in text
    assert "Not covered: the features." in text


@pytest.mark.parametrize(
    ("metric", "instead"),
    [
        (voile.metrics.cosine_distance(), "angular"),
        (voile.metrics.squared_euclidean(), "euclidean"),
    ],
)
def test_a_guarantee_wants_a_true_metric(metric, instead):
    with pytest.raises(NotAMetric, match=f"use voile.metrics.{instead}"):
        Guarantee(1.0, metric, "one word")
    points = voile.Space([[1.0, 2.0], [3.0, 4.0]], metric=metric)
    with pytest.raises(NotAMetric, match="triangle inequality"):
        voile.mechanisms.exponential(points, epsilon=1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": -1.0}, "epsilon must be >= 0, got -1.0"),
        ({"epsilon": math.nan}, "epsilon must be >= 0, got nan"),
        ({"epsilon": 1.0, "delta": 2.0}, "delta must be between 0 and 1"),
    ],
)
def test_impossible_guarantees(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        Guarantee(metric=KM, granularity="one place", **arguments)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"candidates": 2, "prior": [1.0]}, {"candidates": 0}, {"prior": [0.5, 0.6]},
     {"candidates": 2, "within": -1.0}],
)  # fmt: skip
def test_a_guess_needs_candidates(arguments):
    with pytest.raises(InvalidInput):
        Guarantee(1.0, KM, "one place").best_guess(**arguments)


def test_huge_epsilon_does_not_overflow():
    huge = Guarantee(1e6, KM, "one place")
    assert huge.odds_factor(5) == math.inf
    assert huge.best_guess(candidates=10**6) == 1.0
    assert "100 %" in huge.explain()


def test_the_bound_in_exact_arithmetic():
    bound = Guarantee(math.log(3), voile.metrics.discrete(), "one label").best_guess(candidates=4)
    assert bound == pytest.approx(float(Fraction(3, 6)))


GRANULARITIES = {
    "one bit": "bits",
    "one cell": "cells",
    "one choice": "choices",
    "one distinct word of a document": "distinct words of a document",
    "one distinct word of a file": "distinct words of a file",
    "one distinct word of a person": "distinct words of a person",
    "one document": "documents",
    "one drawn word": "drawn words",
    "one label": "labels",
    "one location": "locations",
    "one name or identifier that was found": "names or identifiers that were found",
    "one number": "numbers",
    "one place": "places",
    "one record": "records",
    "one secret": "secrets",
    "one text": "texts",
    "one token": "tokens",
    "one triple": "triples",
    "one value": "values",
    "one whole trace": "whole traces",
    "one word": "words",
    "any 10 locations in a row": "runs of 10 locations",
    "any 1 locations in a row": "locations",
}
"""What the program calls one secret, and two of them."""


@pytest.mark.parametrize(("one", "several"), GRANULARITIES.items())
@pytest.mark.parametrize("metric", [KM, voile.metrics.discrete()], ids=["km", "discrete"])
def test_two_of_what_one_secret_is_are_said_in_english(one, several, metric):
    said = Guarantee(0.8, metric, one).explain()
    _, pair, attacker, *_ = said.splitlines()
    noun = one.removeprefix("one ")
    run = {
        "any 10 locations in a row": "run of 10 locations",
        "any 1 locations in a row": "location",
    }
    assert f"An attacker who knows that the {run.get(one, noun)} is one of 100" in attacker
    if metric != KM:
        assert pair.startswith(f"Any two {several}: whatever")
        assert "equally likely ones names" in attacker
    elif "trace" in one or "10" in one:
        assert pair.startswith(f"Two {several} no place of which differs by more than 1 km: ")
        assert "ones, no place of which differs by more than 1 km, names" in attacker
    else:
        assert pair.startswith(f"Two {several} 1 km apart: ")
        assert "ones within 1 km of each other names" in attacker


def test_all_that_the_program_calls_a_secret_is_said():
    """Every granularity that stands in the source is in the table above."""
    source = Path(voile.__file__).parent
    text = "\n".join(path.read_text(encoding="utf-8") for path in source.rglob("*.py"))
    named = re.findall(r'granularity(?:: str)? ?= ?"([^"]+)"', text)
    stated = re.findall(r'(?:discrete\(\)|unit=\S+\)), "((?:one|any) [^"]+)"', text)
    found = {*named, *stated}
    assert {"one location", "one name or identifier that was found"} <= found
    assert found <= GRANULARITIES.keys()
