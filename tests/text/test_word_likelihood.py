"""The likelihood of a release of words: the law of what is drawn, and what stands in clear."""

from dataclasses import replace

import numpy as np
import pytest

import voile
from voile.attackers.attribution_likelihood import Likelihood
from voile.audit.distinguishing import attribute
from voile.audit.games import plan
from voile.text.consistent import Scope
from voile.text.plain_protector import protector
from voile.text.vocabularies import vocabulary
from voile.text.word_likelihood import MISREAD, UNREAD, word_likelihood

WORDS = vocabulary(["red", "blue", "green", "2"], [[0.0], [1.0], [3.0], [4.0]])
BLUR = protector(WORDS, epsilon=1.0)
LAW = word_likelihood(BLUR)


def test_words_count_by_their_law():
    expected = BLUR.laws[0].log_prob([0], [1])[0, 0] + BLUR.laws[0].log_prob([1], [1])[0, 0]
    assert LAW(["red blue"], ["blue blue"])[0] == pytest.approx(expected)


def test_what_was_drawn_once_counts_once():
    """Where a word that repeats is drawn once: its law once, and no two draws of one word."""
    once = word_likelihood(replace(BLUR, consistent=Scope.DOCUMENT))
    texts = ["red blue red red", "red blue green red"]
    release = "blue blue blue blue"
    one, two = (BLUR.laws[0].log_prob([word], [1])[0, 0] for word in (0, 1))
    assert once(texts[:1], [release])[0] == pytest.approx(one + two)
    assert LAW(texts[:1], [release])[0] == pytest.approx(3 * one + two)
    three = BLUR.laws[0].log_prob([2], [1])[0, 0]
    assert once(texts[1:], [release])[0] == pytest.approx(one + two + three)
    split = once(texts[:1], ["blue blue blue red"])[0]
    kept = BLUR.laws[0].log_prob([0], [0])[0, 0]
    assert split == pytest.approx(one + kept + two - MISREAD)


@pytest.mark.parametrize(
    ("text", "release", "differences"),
    [
        ("red, blue", "blue, red", 0),
        ("red, blue", "blue red", 1),
        ("red; blue", "blue, red", 2),
        ("Red blue", "Blue red", 0),
        ("Red BLUE", "blue red", 2),
        ("Red blue", "2 red", 0),  # a number shows no case
        ("red\n\nblue", "red blue", 1),
    ],
)
def test_signs_spacing_and_case_count_where_they_differ(text, release, differences):
    bare = LAW([text.lower().replace(",", "").replace(";", "").replace("\n\n", " ")],
               [release.lower().replace(",", "")])  # fmt: skip
    unread = UNREAD if differences and text.lower() != "red blue" else 0.0
    expected = bare[0] - MISREAD * differences - unread
    assert LAW([text], [release])[0] == pytest.approx(expected)


def test_a_drawn_word_with_signs_in_it_is_one_word():
    """Planted: read by the tokenizer, “10,000” is two words, and the source is ruled out."""
    words = vocabulary(["red", "blue", "10,000", "u.s."], [[0.0], [1.0], [3.0], [4.0]])
    blur = protector(words, epsilon=1.0)
    law = word_likelihood(blur)
    logs = blur.laws[0].log_prob([0, 1], [2, 3])
    same, longer = law(["red, blue", "red, blue red"], ["10,000, u.s."] * 2)
    assert same == pytest.approx(logs[0, 0] + logs[1, 1])
    assert same > longer
    assert law(["Red blue"], ["U.s. 10,000"])[0] == pytest.approx(logs[0, 1] + logs[1, 0])


def test_a_release_that_cannot_be_of_a_text_costs_more_than_words_tell():
    one, other = LAW(["red, blue", "red; blue"], ["blue, red"] * 2)
    assert other == pytest.approx(one - 2 * MISREAD - UNREAD)


def test_the_number_of_words_comes_first():
    near, far, same = LAW(["red", "red blue green", "red Blue!"], ["blue, red"] * 3)
    assert same > near == far


def test_what_is_in_clear_is_told_apart_at_an_epsilon_of_nothing():
    """The planted gap: a likelihood that reads the words alone would guess."""
    blur = protector(vocabulary(["red", "blue"], [[0.0], [1.0]]), epsilon=1e-3)
    pool = ["Red blue", "red Blue", "red blue!", "red, blue"]
    game = plan(pool, trials=400, temperature=0.0, rng=voile.seeded_rng(1))
    released = blur.release(game.sources, voile.seeded_rng(2))
    attack = Likelihood(word_likelihood(blur))
    found = attribute(game, released, attack, rng=voile.seeded_rng(3))
    assert (found.guessed == found.columns).mean() > 0.9
    table = attack.scores(game.pool, game.sets, released)
    assert np.isfinite(table).all()
