"""Attacks that learn, ask or align: what they must tell apart, and where they must stay at 1/k."""

import numpy as np
import pytest
from scipy.stats import binom

import voile
from laws import FALSE_ALARM
from voile.attackers.attribution_alignment import Alignment
from voile.attackers.attribution_channel import LearnedChannel
from voile.attackers.attribution_pairwise import Pairwise
from voile.attackers.attribution_shadow import Shadow
from voile.attackers.attribution_shape import Shape
from voile.attackers.attribution_surface import Overlap
from voile.audit.distinguishing import attacked, attribute, stacked
from voile.audit.games import plan
from voile.errors import InvalidInput

WORDS = [f"{a}{b}" for a in "abcdefgh" for b in "klmnopqr"]
POOL = [" ".join(WORDS[(7 * i + 5 * j) % 64] for j in range(6)) for i in range(40)]


def vectors(words):
    """Words on a line, by their place in the list."""
    places = {word: float(i) for i, word in enumerate(WORDS)}
    return np.array([[places.get(word, np.nan)] for word in words])


def letters(texts):
    return np.array([[t.count(c) for c in "abcdefghklmnopqr"] for t in texts], dtype=float)


def moved(texts, rng):
    """Each word moved by at most two places: no word need be kept."""
    new = []
    for text in texts:
        steps = rng.choice([-2, -1, 1, 2], size=len(text.split()))
        new.append(" ".join(WORDS[(WORDS.index(w) + s) % 64] for w, s in zip(text.split(), steps)))  # noqa: B905
    return new


def nothing(texts, rng):
    return [" ".join(rng.choice(WORDS, size=6)) for _ in texts]


def game_of(trials=600, candidates=2, pool=POOL, **more):
    return plan(
        pool, trials=trials, candidates=candidates, temperature=0.0, rng=voile.seeded_rng(1), **more
    )


def attacks(release):
    return [
        Alignment(vectors),
        Pairwise(letters),
        Shadow(release, budget=2000),
        LearnedChannel(release, vectors, budget=2000),
    ]


@pytest.mark.parametrize("candidates", [2, 4])
@pytest.mark.parametrize("which", range(4))
def test_releases_that_carry_nothing_leave_them_at_one_in_k(which, candidates):
    rng = voile.seeded_rng(5)
    attack = attacks(lambda texts: nothing(texts, rng))[which]
    game = game_of(candidates=candidates)
    found = attribute(game, nothing(game.sources, rng), attack, rng=rng)
    trials = len(found.columns)
    right = int((found.guessed == found.columns).sum())
    assert right <= binom.isf(FALSE_ALARM, trials, 1 / candidates)
    assert found.sure.lower < 1.0


@pytest.mark.parametrize("which", range(4))
def test_words_that_were_moved_are_traced_where_none_is_shared(which):
    rng = voile.seeded_rng(6)
    attack = attacks(lambda texts: moved(texts, rng))[which]
    game = game_of()
    releases = moved(game.sources, rng)
    found = attribute(game, releases, attack, rng=rng)
    blind = attribute(game, releases, Shape(), rng=rng)
    assert found.estimate.lower > 1.0
    assert found.estimate.lower > blind.estimate.upper - 0.5


def test_alignment_pairs_words_in_order():
    pool = ["ak al am", "am al ak", "ak al"]
    sets = np.array([[0, 1], [2, 0], [0, 2]])
    table = Alignment(vectors).scores(pool, sets, ["ak al an", "ak al", "ak xx am"])
    assert table[0].tolist() == [-1.0, -5.0]
    assert table[1, 0] == 0
    assert table[1, 1] < -1, "a word without a partner costs"
    assert table[2, 0] < 0, "a word without a vector is a typical distance away"
    assert table[2, 0] > table[2, 1]
    blank = Alignment(vectors).scores(["", "ak"], np.array([[0, 1]]), [""])
    assert blank[0, 0] == 0 > blank[0, 1]
    assert Alignment().scores(["ak", "al"], np.array([[0, 1]]), ["al"])[0, 1] == 0


def test_an_attack_is_fitted_on_trials_that_are_not_counted():
    seen = {}

    class Nosy:
        name = "nosy"

        def fit(self, pool, sets, releases, columns):
            seen["fitted"] = list(releases)
            return self

        def scores(self, pool, sets, releases):
            seen["scored"] = list(releases)
            return np.zeros(sets.shape)

    game = game_of(trials=90)
    found = attribute(game, [f"release {i}" for i in range(90)], Nosy(), rng=voile.seeded_rng(1))
    assert len(seen["fitted"]) == 30
    assert not set(seen["fitted"]) & set(seen["scored"])
    assert len(seen["scored"]) == len(found.columns) == 60


def test_one_that_remembers_what_it_was_shown_gains_nothing():
    """The planted peeker: on trials it was fitted on it would be always right."""

    class Memory:
        name = "memory"

        def fit(self, pool, sets, releases, columns):
            self.known = dict(zip(releases, columns.tolist(), strict=True))
            return self

        def scores(self, pool, sets, releases):
            table = np.zeros(sets.shape)
            for row, release in enumerate(releases):
                table[row, self.known.get(release, 0)] = 1
            return table

    game = game_of(trials=900)
    releases = [f"release {i}" for i in range(900)]
    found = attribute(game, releases, Memory(), rng=voile.seeded_rng(1))
    right = int((found.guessed == found.columns).sum())
    assert right <= binom.isf(FALSE_ALARM, 600, 0.5)
    peeking = Memory().fit(game.pool, game.sets, releases, game.columns)
    assert (peeking.scores(game.pool, game.sets, releases).argmax(axis=1) == game.columns).all()


def test_the_stack_weighs_and_is_counted_on_the_rest():
    rng = voile.seeded_rng(6)
    game = game_of(trials=900)
    found = attacked(game, moved(game.sources, rng), [Alignment(vectors), Overlap()], rng=rng)
    assert [one.attack for one in found] == ["alignment", "overlap", "stack"]
    assert len(found[2].columns) == 600
    assert (found[2].columns == game.columns[~game.choosing]).all()
    assert found[2].estimate.lower > found[1].estimate.upper
    assert stacked(game, found[:1], rng=rng) is None


@pytest.mark.parametrize("odd", ["\t", "  ", "\n"])
@pytest.mark.parametrize("where", ["inside", "before", "after"])
def test_a_shadow_reads_gaps(odd, where):
    """The words say nothing; whether a gap is odd is the first letter's, nine times in ten."""

    def rewrite(texts, rng=voile.seeded_rng(8)):
        tells = [(text[0] in "abcd") == (rng.random() < 0.9) for text in texts]
        forms = {"inside": f"x{odd}x", "before": f"{odd}x x", "after": f"x x{odd}"}
        return [forms[where] if told else "x x" for told in tells]

    game = game_of()
    found = attribute(game, rewrite(game.sources), Shadow(rewrite), rng=voile.seeded_rng(2))
    assert found.estimate.lower > 0.5


def test_equal_lengths():
    pool = [" ".join(["w"] * n + [str(i)]) for n in (1, 1, 1, 4, 4, 9) for i in range(1, 4)]
    game = plan(
        pool, trials=200, candidates=3, temperature=0.0, equal_length=True, rng=voile.seeded_rng(1)
    )
    lengths = np.array([len(text.split()) for text in game.pool])[game.sets]
    assert (lengths == lengths[:, :1]).all()
    assert len({tuple(row) for row in game.sets.tolist()}) > 3
    found = attribute(game, game.sources, Shape(), rng=voile.seeded_rng(1))
    assert found.estimate.lower == 0.0, "their number of words tells nothing"
    with pytest.raises(InvalidInput, match="have as many words"):
        plan(["a", "b c"], temperature=0.0, equal_length=True, rng=voile.seeded_rng(1))
