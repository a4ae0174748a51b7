"""The game as a whole, against mechanisms whose truth is known."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import voile
from laws import FALSE_ALARM
from voile.attackers.attribution import guesses
from voile.attackers.attribution_embedding import NearestEmbedding, NearestLatent
from voile.attackers.attribution_likelihood import Likelihood
from voile.attackers.attribution_surface import Overlap, TfIdf
from voile.audit.distinguishing import attribute, distinguish
from voile.audit.empirical import epsilon_of_success
from voile.audit.games import plan, plan_of_pairs
from voile.errors import InvalidInput

TEXTS = [f"word{i} and word{(i + 1) % 8}" for i in range(8)]


def letters(texts):
    table = [[text.count(c) for c in "abcdefghijklmnopqrstuvwxyz01234567"] for text in texts]
    return np.array(table, dtype=float)


def exponential_channel(epsilon):
    rng = np.random.default_rng(3)
    metric = voile.metrics.precomputed(_distances(rng.normal(size=(8, 2))))
    space = voile.Space(np.arange(8), metric=metric)
    return voile.mechanisms.exponential(space, epsilon=epsilon)


def _distances(points):
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def best_success(channel, size):
    """The Bayes success of the game over uniform sets, by enumeration."""
    law = channel.probabilities()
    sets = list(combinations(range(len(law)), size))
    return float(np.mean([law[list(chosen)].max(axis=0).sum() / size for chosen in sets]))


def rewriter_of(channel, rng):
    index = {text: i for i, text in enumerate(TEXTS)}

    def rewrite(texts):
        return [TEXTS[j] for j in channel.draw([index[text] for text in texts], rng)]

    def law(texts, releases):
        table = channel.log_probabilities()
        return np.array([table[index[a], index[b]] for a, b in zip(texts, releases, strict=True)])

    return rewrite, law


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_likelihood_reaches_the_truth_and_no_attack_exceeds_it(epsilon, size):
    channel = exponential_channel(epsilon)
    truth = epsilon_of_success(best_success(channel, size), candidates=size)
    rng = voile.seeded_rng(7)
    rewrite, law = rewriter_of(channel, rng)
    attacks = [Likelihood(law), Overlap(), TfIdf(), NearestEmbedding(letters)]
    found = distinguish(
        rewrite,
        TEXTS,
        attacks=attacks,
        trials=20_000,
        candidates=size,
        temperature=0.0,
        failure_probability=4e-9,  # 1e-9 a finding: a false alarm is out of the question
        rng=rng,
    )
    strongest = found[0].estimate
    assert strongest.lower <= truth <= strongest.upper
    assert strongest.middle == pytest.approx(truth, abs=0.1)
    for other in found[1:]:
        assert other.estimate.lower <= truth
        assert other.estimate.middle <= strongest.upper
    assert channel.certificate().epsilon * channel.space.distances().max() >= truth


@pytest.mark.parametrize("size", [2, 4])
def test_a_thousand_whole_games_cover_the_truth(size):
    """Trials drawn, released and guessed a thousand times over: intervals miss at most as stated.

    The same games with a tenth of the stated width must fail, or the test sees nothing.
    """
    channel = exponential_channel(2.0)
    truth = epsilon_of_success(best_success(channel, size), candidates=size)
    rng, stated, repeats = voile.seeded_rng(11), 0.05, 1000
    table, index = channel.log_probabilities(), {text: i for i, text in enumerate(TEXTS)}

    def law(texts, releases):
        return table[[index[t] for t in texts], [index[r] for r in releases]]

    missed = beyond = overconfident = 0
    for _ in range(repeats):
        game = plan(TEXTS, trials=200, candidates=size, temperature=0.0, rng=rng)
        drawn = channel.draw([index[text] for text in game.sources], rng)
        found = attribute(
            game, [TEXTS[j] for j in drawn], Likelihood(law), failure_probability=stated, rng=rng
        ).estimate
        missed += not found.lower <= truth <= found.upper
        beyond += found.lower > truth
        reach = (found.upper - found.lower) / 20
        overconfident += abs(found.middle - truth) > reach
    most = binom.isf(FALSE_ALARM, repeats, stated)
    assert missed <= most
    assert beyond <= binom.isf(FALSE_ALARM, repeats, stated / 2)
    assert missed <= stated * repeats  # and with this seed, plainly
    assert overconfident > most


def exact_likelihood(mechanism):
    """ln K(release | text) of a channel, pair by pair."""

    def law(texts, releases):
        inputs, rows = np.unique(np.asarray(texts), return_inverse=True)
        outputs, columns = np.unique(np.asarray(releases), return_inverse=True)
        return mechanism.log_prob(inputs, outputs)[rows.ravel(), columns.ravel()]

    return law


@pytest.mark.parametrize("labels", [2, 5, 30])
def test_randomised_response_by_enumeration(labels):
    names = [f"label {i}" for i in range(labels)]
    channel = voile.mechanisms.randomised_response(names, epsilon=1.5)
    truth = epsilon_of_success(best_success(channel, 2), candidates=2)
    rng = voile.seeded_rng(8)
    (found,) = distinguish(
        lambda texts: channel.release(texts, rng).tolist(),
        names,
        attacks=[Likelihood(exact_likelihood(channel))],
        trials=30_000,
        temperature=0.0,
        failure_probability=1e-9,
        rng=rng,
    )
    assert found.estimate.lower <= truth <= found.estimate.upper
    assert found.symmetric.lower <= 1.5
    assert found.finding(claim=1.5).verdict == "open"
    assert truth <= 1.5 + 1e-9


def test_a_mechanism_that_claims_too_little_is_violated():
    """A liar who claims 1 and delivers 3 is caught; the honest claim stays open."""
    channel = voile.mechanisms.randomised_response(["yes", "no"], epsilon=3.0)
    rng = voile.seeded_rng(9)
    (found,) = distinguish(
        lambda texts: channel.release(texts, rng).tolist(),
        ["yes", "no"],
        attacks=[Likelihood(exact_likelihood(channel))],
        temperature=0.0,
        failure_probability=1e-9,
        rng=rng,
    )
    assert found.finding(claim=1.0).verdict == "violated"
    assert found.finding(claim=3.0).verdict == "open"
    assert found.finding(claim=1.0, symmetric=True).verdict == "violated"
    assert "per text" in str(found.finding(claim=3.0))
    assert "another may show more" in found.finding(claim=3.0).detail


def test_the_source_must_not_be_the_first_member():
    """Why a trial draws its source after its set: an attack without any release would win.

    Far-apart sets end in the same outlier. If the source were the first member, "not the
    outlier" would be right nearly always, and a mechanism that releases nothing would seem to leak.
    """
    vectors = np.array([[1.0, 0.01 * i] for i in range(30)] + [[-1.0, 0.0]])
    pool = [f"text {i}" for i in range(31)]
    game = plan(
        pool, trials=4000, encode=lambda texts: vectors[: len(texts)], rng=voile.seeded_rng(2)
    )

    class NotTheOutlier:
        name = "not the outlier"

        def scores(self, pool, sets, releases):
            return -(sets == 30).astype(float)

    nothing = [""] * len(game)
    honest = attribute(
        game, nothing, NotTheOutlier(), failure_probability=1e-9, rng=voile.seeded_rng(1)
    )
    assert honest.estimate.lower == 0.0
    assert honest.empty == 4000
    first = np.zeros_like(game.columns)
    assert (honest.guessed == first).mean() > 0.9  # what the wrong game would have counted


@given(st.integers(2, 6), st.integers(0, 1000))
def test_an_attack_that_knows_nothing_is_at_chance(size, seed):
    flat = np.zeros((2000, size))
    counts = np.bincount(guesses(flat, voile.seeded_rng(seed)), minlength=size)
    assert abs(counts - 2000 / size).max() < 6.5 * np.sqrt(2000 / size)
    with pytest.raises(InvalidInput, match="NaN"):
        guesses(np.array([[np.nan, 1.0]]), voile.seeded_rng(1))


def test_pairs_made_elsewhere_use_each_release_once():
    rng = voile.seeded_rng(4)
    originals = [f"text number {i}" for i in range(101)] + ["text number 7"] * 3
    releases = [f"release {row}" for row in range(len(originals))]
    game, chosen = plan_of_pairs(originals, releases, temperature=0.0, rng=rng)
    assert len(set(chosen)) == len(chosen) == len(game)
    rows = [int(text.split()[1]) for text in chosen]
    assert [originals[row] for row in rows] == game.sources
    assert len(game) == 100  # 101 different texts in pairs; a lone text has nobody to hide behind
    pairs, sources = np.unique(np.sort(game.sets, axis=1), axis=0, return_counts=True)
    assert len(pairs) == 50
    assert set(sources) == {2}, "each member of a set is the source once"
    assert len(set(game.sources)) == 100
    assert game.duplicates == 3
    with pytest.raises(InvalidInput, match="trials must be at most 100"):
        plan_of_pairs(originals, releases, temperature=0.0, trials=101, rng=rng)
    assert len(plan_of_pairs(originals, releases, temperature=0.0, trials=7, rng=rng)[0]) == 7


@pytest.mark.parametrize("candidates", [2, 4])
def test_pairs_that_tell_nothing_are_seldom_found_to(candidates):
    """300 audits of releases drawn alike for every text, each wrong with probability 0.05 at most.

    P(binomial(300, 0.05) ≥ 50) < 1e-12; with all four releases of a set in play.
    """
    wrong = 0
    texts = [f"text {i}" for i in range(40)]
    for seed in range(300):
        rng = voile.seeded_rng(seed)
        releases = [texts[i] for i in rng.integers(40, size=40)]
        game, chosen = plan_of_pairs(
            texts, releases, candidates=candidates, temperature=0.0, rng=rng
        )
        found = attribute(game, chosen, Overlap(), failure_probability=0.05, rng=rng)
        wrong += found.estimate.lower > 0
    assert wrong < 50


def test_reusing_releases_would_break_the_interval():
    """The planted bug: one release a text, used in thousands of trials, narrows what it must not.

    Two texts, each released once by a fair coin (ε = 0). Counted as 4,000 independent trials, the
    interval excludes 0 whenever both coins fell right: a quarter of the time, not 1 %.
    """
    wrong = 0
    for seed in range(60):
        rng = voile.seeded_rng(seed)
        stored = dict(zip(["a", "b"], rng.choice(["a", "b"], size=2), strict=True))
        game = plan(["a", "b"], trials=4000, temperature=0.0, rng=rng)
        reused = [stored[text] for text in game.sources]
        wrong += attribute(game, reused, Overlap(), rng=rng).estimate.lower > 0
    assert wrong >= 5


def test_bad_input_and_empty_rewrites():
    rng = voile.seeded_rng(1)
    with pytest.raises(InvalidInput, match="at most the 2 different texts of the pool, got 3"):
        plan(["a", "b", "b"], candidates=3, temperature=0.0, rng=rng)
    with pytest.raises(InvalidInput, match="needs an encoder"):
        plan(["a", "b"], rng=rng)
    with pytest.raises(InvalidInput, match="texts must be strings, got 1 others"):
        plan(["a", 3], temperature=0.0, rng=rng)
    game = plan(["a b", "c d"], trials=300, temperature=0.0, rng=rng)
    with pytest.raises(InvalidInput, match="releases must be one for each of 300 trials, got 2"):
        attribute(game, ["x", "y"], Overlap(), rng=rng)
    for attack in (Overlap(), TfIdf(), NearestEmbedding(letters)):
        blank = attribute(game, [" "] * 300, attack, failure_probability=1e-9, rng=rng)
        assert blank.empty == 300
        assert blank.estimate.lower == 0.0
        assert "300 releases were empty" in blank.finding().detail


def test_attacks_see_what_they_should():
    sets = np.array([[0, 1], [1, 0]])
    pool = ["show me flights to boston", "play a song by westbam"]
    releases = ["list flights to denver", "flights"]
    for attack in (Overlap(), TfIdf(), NearestEmbedding(letters)):
        scores = attack.scores(pool, sets, releases)
        assert scores.shape == (2, 2)
        if not isinstance(attack, NearestEmbedding):
            assert scores[0, 0] > scores[0, 1]
            assert scores[1, 1] > scores[1, 0]
    latent = NearestLatent(letters)
    assert latent.scores(pool, sets, letters(pool)).argmax(axis=1).tolist() == [0, 0]


def test_tfidf_agrees_with_scikit_learn():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    pool = ["a b c a", "b c d", "e f a", "g"]
    releases = ["a a b", "d g z"]
    sets = np.array([[0, 1, 2, 3]] * 2)
    peer = text.TfidfVectorizer(token_pattern=r"\w+").fit(pool)
    expected = (peer.transform(releases) @ peer.transform(pool).T).toarray()
    assert np.allclose(TfIdf().scores(pool, sets, releases), expected)
