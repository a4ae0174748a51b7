import numpy as np
import pytest
from scipy.special import softmax

import voile
from voile.core.weights import quantise
from voile.errors import InvalidInput
from voile.mechanisms.spaces.truncated_exponential import truncation_distance

WORDS = voile.Space(np.random.default_rng(5).normal(size=(60, 4)), metric=voile.metrics.euclidean())


def as_published(epsilon, gamma, *, score_of_others):
    """The algorithm of the paper, its two stages multiplied out; ⊥ scored as told."""
    distances = WORDS.distances()
    near = distances <= gamma
    law = np.zeros_like(distances)
    for word, (row, close) in enumerate(zip(distances, near, strict=True)):
        others = int((~close).sum())
        bottom = score_of_others(others, int(close.sum())) if others else -np.inf
        scores = np.append(-row[close], bottom)
        chances = softmax(epsilon / 2 * scores)
        law[word, close] = chances[:-1]
        if others:
            law[word, ~close] = chances[-1] / others
    return law


def test_closed_form_is_the_published_algorithm():
    epsilon, gamma = 3.0, 2.0
    channel = voile.mechanisms.truncated_exponential(WORDS, epsilon=epsilon, gamma=gamma)
    paper = as_published(
        epsilon, gamma, score_of_others=lambda others, _: -gamma + 2 / epsilon * np.log(others)
    )
    assert np.allclose(channel.probabilities(), paper, rtol=1e-6)


def test_the_wrong_score_for_the_others_is_caught():
    """ln(n / near) in place of ln(others), as a published package has it."""
    epsilon, gamma = 3.0, 2.0
    wrong = as_published(
        epsilon,
        gamma,
        score_of_others=lambda _, near: -gamma + 2 / epsilon * np.log(len(WORDS) / near),
    )
    with np.errstate(divide="ignore"):
        weights = quantise(np.log(wrong), floor=20)
    finding = voile.audit.certificate(WORDS, weights, claim=epsilon)
    assert finding.verdict == "violated"


def test_beta_bounds_what_goes_beyond():
    beta = 0.05
    channel = voile.mechanisms.truncated_exponential(WORDS, epsilon=4.0, beta=beta)
    gamma = truncation_distance(len(WORDS), epsilon=4.0, beta=beta)
    beyond = (channel.probabilities() * (WORDS.distances() > gamma)).sum(axis=1)
    assert (beyond <= beta).all()


def test_it_works_under_any_metric():
    space = voile.Space(WORDS.items, metric=voile.metrics.angular())
    channel = voile.mechanisms.truncated_exponential(space, epsilon=8.0)
    assert channel.certificate().epsilon <= 8.0


@pytest.mark.parametrize(
    "arguments", [{"beta": 0.0}, {"beta": 1.0}, {"gamma": -1.0}, {"beta": 0.1, "gamma": 1.0}]
)
def test_bad_arguments(arguments):
    with pytest.raises(InvalidInput):
        voile.mechanisms.truncated_exponential(WORDS, epsilon=1.0, **arguments)
