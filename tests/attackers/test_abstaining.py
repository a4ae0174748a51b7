"""An attacker who may abstain: what ε allows him, exactly, and how often his bound is wrong."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

import voile
from laws import FALSE_ALARM
from voile.attackers.attribution import guesses
from voile.attackers.attribution_surface import Overlap
from voile.audit.abstaining import from_kept, margins, surest
from voile.audit.distinguishing import attribute
from voile.audit.games import plan, plan_of_pairs
from voile.leakage.bounds import clopper_pearson

ALPHA = 0.05
GAMES = 1000
MOST_WRONG = int(binom.isf(FALSE_ALARM, GAMES, ALPHA))
"""More false bounds than this in 1,000 games happen once in 10⁹ if each is wrong 1 time in 20."""


def channel(name, size, epsilon):
    if name == "k-ary randomised response":
        words = [str(i) for i in range(size)]
        return voile.mechanisms.randomised_response(words, epsilon=epsilon).probabilities()
    places = np.random.default_rng(5).normal(size=(size, 2))
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    apart /= apart.max()  # so that ε is that of the farthest pair
    space = voile.Space(np.arange(size), metric=voile.metrics.precomputed(apart))
    return voile.mechanisms.exponential(space, epsilon=epsilon).probabilities()


LAWS = [(name, size) for name in ("k-ary randomised response", "exponential") for size in (2, 3, 5)]


@pytest.mark.parametrize(("name", "size"), LAWS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_whatever_he_keeps_the_odds_are_bounded(name, size, epsilon):
    """All rules over all outputs: (k − 1)·P(right) ≤ e^ε·P(wrong), by enumeration."""
    law = channel(name, size, epsilon)
    best = law.argmax(axis=0)
    reached = 0.0
    for spoken in product([False, True], repeat=law.shape[1]):
        kept = np.flatnonzero(spoken)
        right = sum(law[best[y], y] for y in kept) / size
        wrong = sum(law[:, y].sum() for y in kept) / size - right
        assert (size - 1) * right <= np.exp(epsilon) * wrong * (1 + 1e-9)
        if wrong:
            reached = max(reached, float(np.log((size - 1) * right / wrong)))
    if name == "k-ary randomised response":
        assert reached == pytest.approx(epsilon, rel=1e-6), "and the bound is reached"


def played(law, rng, trials):
    """A game over all inputs of a channel, by likelihood: what was right, by what margin."""
    size = len(law)
    columns = rng.integers(size, size=trials)
    running = law.cumsum(axis=1)
    drawn = (rng.random(trials)[:, None] > running[columns]).sum(axis=1).clip(max=law.shape[1] - 1)
    scores = np.log(law[:, drawn].T)
    return guesses(scores, rng) == columns, margins(scores)


def bound(right, margin, size, *, choosing, **more):
    return surest(right, margin, choosing, candidates=size, failure_probability=ALPHA, **more).lower


@pytest.mark.parametrize(("name", "size"), LAWS)
def test_coverage_over_a_thousand_games(name, size):
    epsilon = 1.0
    law = channel(name, size, epsilon)
    wrong = {"odds": 0, "rates": 0}
    for seed in range(GAMES):
        right, margin = played(law, voile.seeded_rng(seed), 300)
        choosing = np.arange(300) < 100
        for form, drawn in (("odds", True), ("rates", False)):
            wrong[form] += bound(right, margin, size, choosing=choosing, drawn=drawn) > epsilon
    assert max(wrong.values()) <= MOST_WRONG, wrong


def test_a_threshold_chosen_on_counted_trials_is_caught():
    """The planted bug: the same trials choose and count. The coverage test above would see it."""
    wrong = 0
    for seed in range(GAMES):
        rng = voile.seeded_rng(seed)
        right, margin = rng.random(300) < 0.5, rng.random(300)  # margins that say nothing: ε = 0
        order = np.argsort(-margin)
        counts = np.cumsum(right[order])
        best = max(
            from_kept(int(counts[n - 1]), n, 300, candidates=2, failure_probability=ALPHA)
            for n in range(20, 301, 7)
        )
        wrong += best > 0
    assert wrong > MOST_WRONG


def test_with_delta_both_rates_count():
    """A release that is given away with probability δ shows nothing beyond (0, δ)."""
    delta, wrong = 0.1, 0
    for seed in range(GAMES):
        rng = voile.seeded_rng(seed)
        given = rng.random(300) < delta
        right = given | (rng.random(300) < 0.5)
        margin = given.astype(float)
        choosing = np.arange(300) < 100
        wrong += bound(right, margin, 2, choosing=choosing, delta=delta) > 1e-12
    assert wrong <= MOST_WRONG
    assert from_kept(30, 30, 200, candidates=2, failure_probability=ALPHA) > 1, "at δ = 0 it would"


def test_it_shows_what_the_mean_hides():
    """One release in ten in clear, the others blank: 55 % right, and yet ε is without bound."""

    def rewrite(texts):
        rng = voile.seeded_rng(3)
        return [text if clear else "" for text, clear in zip(texts, rng.random(9000) < 0.1)]  # noqa: B905

    pool = [f"ticket number {i}" for i in range(60)]
    game = plan(pool, trials=9000, temperature=0.0, rng=voile.seeded_rng(1))
    found = attribute(game, rewrite(game.sources), Overlap(), rng=voile.seeded_rng(2))
    low, _ = clopper_pearson(found.sure.kept, found.sure.kept, failure_probability=0.02)
    assert found.estimate.lower < 0.4
    assert found.sure.right == found.sure.kept > 500
    assert found.sure.lower == pytest.approx(np.log(low / (1 - low)))
    assert found.finding(claim=1.0).verdict == "violated"
    assert 0.05 < found.sure.share < 0.2


@pytest.mark.parametrize("candidates", [2, 4])
def test_pairs_that_tell_nothing_are_seldom_found_to(candidates):
    """Releases that exist already: sets stay whole, and both rates are bounded."""
    wrong = 0
    texts = [f"text {i}" for i in range(60)]
    for seed in range(300):
        rng = voile.seeded_rng(seed)
        releases = [texts[i] for i in rng.integers(60, size=60)]
        game, chosen = plan_of_pairs(
            texts, releases, candidates=candidates, temperature=0.0, rng=rng
        )
        _, sizes = np.unique(game.groups[game.choosing], return_counts=True)
        assert set(sizes) == {candidates}, "a set is chosen on or counted, whole"
        found = attribute(game, chosen, Overlap(), failure_probability=0.05, rng=rng)
        wrong += found.sure.lower > 0
    assert wrong < 50


def test_nothing_to_choose_on_shows_nothing():
    right, margin = np.array([True]), np.array([1.0])
    assert bound(right, margin, 2, choosing=np.array([False])) == 0.0
    assert bound(right, margin, 2, choosing=np.array([True])) == 0.0
    assert from_kept(0, 0, 10, candidates=2) == 0.0


def test_when_he_speaks_does_not_depend_on_the_trials_that_are_counted():
    """The planted bug, to the letter: a threshold that looks at what it is counted on moves."""
    rng = np.random.default_rng(3)
    margin, choosing = rng.exponential(size=900), np.arange(900) < 300
    right = rng.random(900) < 1 / (1 + np.exp(-margin))
    turned = np.where(choosing, right, ~right)
    lucky = np.where(choosing, right, margin > np.quantile(margin, 0.9))
    spoke = {surest(r, margin, choosing, candidates=2).kept for r in (right, turned, lucky)}
    assert len(spoke) == 1
    always = surest(right | choosing, margin, choosing, candidates=2).kept
    assert always not in spoke, "it does follow the trials it is chosen on"
