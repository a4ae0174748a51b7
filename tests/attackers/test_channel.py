"""The channel learned from the outside: near the true law, and whatever it is given."""

import re

import numpy as np
import pytest

import voile
from voile.attackers.attribution_alignment import Alignment
from voile.attackers.attribution_channel import LearnedChannel
from voile.attackers.attribution_likelihood import Likelihood
from voile.audit.distinguishing import attribute
from voile.audit.games import plan
from voile.text.attacks import attacks_that_ask
from voile.text.plain_protector import protector
from voile.text.vocabularies import vocabulary
from voile.text.word_likelihood import word_likelihood

PLACES = np.concatenate([np.arange(30) * 0.1, 3.5 + 1.5 * np.arange(10)])
WORDS = vocabulary([f"w{i}" for i in range(40)], PLACES[:, None].tolist())
BLUR = protector(WORDS, epsilon=0.5)


def vectors(words):
    return np.array([[PLACES[int(w[1:])] if w[1:].isdigit() else np.nan] for w in words])


def asked(seed=3, blur=BLUR):
    rng = voile.seeded_rng(seed)
    return lambda texts: blur.release(list(texts), rng)


@pytest.fixture(scope="module")
def played():
    """Texts of crowded and of lonely words, as many in each: only ln Z tells them apart well."""
    rng = np.random.default_rng(1)
    pool = [" ".join(f"w{i}" for i in rng.integers(0, 40, 5)) for _ in range(60)]
    game = plan(pool, trials=900, temperature=0.0, rng=voile.seeded_rng(1))
    return game, asked(9)(game.sources)


def test_it_is_the_log_likelihood_up_to_a_little(played):
    game, releases = played
    found = LearnedChannel(asked(), vectors).scores(game.pool, game.sets, releases)
    true = Likelihood(word_likelihood(BLUR)).scores(game.pool, game.sets, releases)
    ours, theirs = (table[:, 0] - table[:, 1] for table in (found, true))
    assert np.corrcoef(ours, theirs)[0, 1] > 0.99
    assert np.median(np.abs(ours - theirs)) < 0.2, "nats, where a typical lead is 1.8"


def test_it_knows_what_distances_alone_do_not(played):
    """Planted: a law without ln Z is the alignment attack, and shows less."""
    game, releases = played
    shown = {
        attack.name: attribute(game, releases, attack, rng=voile.seeded_rng(2))
        for attack in (Alignment(vectors), LearnedChannel(asked(), vectors))
    }
    right = {name: (one.guessed == one.columns).mean() for name, one in shown.items()}
    assert right["channel"] > right["alignment"] + 0.03


def test_the_width_of_a_contraction_is_learned():
    """Two words that the mechanism makes of one are counted in its own releases."""

    def release(texts):
        rng = np.random.default_rng(1)
        return [" ".join(f"w{i}" for i in rng.integers(0, 40, len(t.split()) + t.count("'")))
                for t in texts]  # fmt: skip

    pool = ["i'd go", "we go", "they'll come", "you come"]
    sets = np.array([[0, 1], [2, 3]])
    table = LearnedChannel(release, vectors).scores(pool, sets, ["w1 w2 w3", "w4 w5"])
    assert table[0, 0] > table[0, 1] + 3
    assert table[1, 1] > table[1, 0] + 3


@pytest.mark.parametrize("texts", [["", "a"], ["!!", "…"], ["A b, C", "a\n\nb"], ["ĳ ß", "𝒳 😀"]])
def test_odd_texts_are_scored(texts):
    for word_vectors in (vectors, Alignment().word_vectors):
        attack = LearnedChannel(lambda some: list(some), word_vectors, budget=50)
        table = attack.scores(texts, np.array([[0, 1], [1, 0]]), [texts[1], "something else: ’tis"])
        assert np.isfinite(table).all()
        assert table[0, 1] > table[0, 0], "released as it is"


def test_case_counts_where_it_is_kept():
    def release(texts):
        return [" ".join("W9" if w[0].isupper() else "w9" for w in t.split()) for t in texts]

    pool = ["W1 w2", "w1 W2", "w3 w4", "W5 W6"]
    table = LearnedChannel(release, vectors).scores(pool, np.array([[0, 1]]), ["w9 W9"])
    assert table[0, 1] > table[0, 0] + 2


def kept(texts):
    """Every word drawn alike, all that stands between words kept."""
    return [re.sub(r"\w+", "w9", text) for text in texts]


def leads(pool, sets, release, released):
    table = LearnedChannel(release, vectors).scores(pool, np.array(sets), released)
    return table[:, 0] - table[:, 1]


def test_spaces_count_where_they_are_kept_and_only_there():
    pool = ["w1 w2  w3", "w1  w2 w3", "w4 w5 w6"]
    found = leads(pool, [[0, 1], [1, 0], [0, 2]], kept, kept([pool[1], pool[0], pool[0]]))
    assert (found * [-1, -1, 1] > 3).all()

    def tidied(texts):
        return [" ".join(text.split()) for text in kept(texts)]

    assert abs(leads(pool, [[0, 1]], tidied, tidied(pool[1:2]))[0]) < 1


def test_signs_inside_a_word_count_where_they_are_kept():
    """Planted: read whole, “w2&w3” and “xx” are two strange words that a release may be of."""
    pool = ["w1 w2&w3 w4", "w1 xx w4", "w5 w6 w7"]
    found = leads(pool, [[0, 1], [1, 0], [0, 2]], kept, kept([pool[1], pool[0], pool[0]]))
    assert (found * [-1, -1, 1] > 3).all()


def test_attacks_that_ask_share_the_answers():
    calls = []

    def release(texts):
        calls.append(texts)
        assert isinstance(texts, list), "one's own function is handed a list"
        return texts

    from voile.attackers.names import ON_BOXES

    pool, sets = ["w1 w2", "w3 w4"], np.array([[0, 1]])
    made = list(attacks_that_ask(ON_BOXES.find_all(("shadow", "channel")), release, vectors))
    assert [attack.name for attack in made] == ["shadow", "channel"]
    for attack in made:
        assert attack.scores(pool, sets, ["w1 w2"]).argmax() == 0
    assert sum(map(len, calls)) == 800, "400 of each text, asked once"


def test_a_command_and_a_function_of_ones_own():
    texts = [f"w{i} w{(3 * i) % 40}" for i in range(30)]
    found = voile.text.calibrate(
        texts, command=asked(), attacks=("channel", "overlap"), temperature=0.0, trials=300
    )
    assert {one.attack for one in found.attacks} >= {"channel", "overlap"}
    with pytest.raises(voile.errors.InvalidInput, match="the channel attack must be able to ask"):
        voile.text.calibrate(texts, released=texts, attacks=("channel",), temperature=0.0)


def test_a_mechanism_that_is_asked_again_answers_with_fresh_noise():
    """Planted: the same seed at every call gives attackers the very noise of the trials."""
    from voile.text._calibrate import Copies, _rewriter

    def noisy(texts, rng):
        return [str(rng.integers(2**62)) for _ in texts]

    release = _rewriter(noisy, 60.0, Copies(), None, 0)
    assert release(["a", "b"])[0] != release(["a", "b"])[0]


def test_words_that_the_mechanism_does_not_know_have_a_place_too():
    """All of them are drawn around one vector, which is learned; without it they tell nothing."""
    rng = np.random.default_rng(5)

    def drawn(word):
        low, high = (0, 40) if word.startswith("w") else (20, 28)
        return f"w{rng.integers(low, high)}"

    def release(texts):
        return [" ".join(map(drawn, text.split())) for text in texts]

    pool = ["w1 zz w2", "w3 w4 yy", "xx w5 w6", "w7 w8 w9"]
    table = LearnedChannel(release, vectors).scores(pool, np.array([[0, 1]]), ["w3 w24 w30"])
    assert table[0, 0] > table[0, 1] + 1
