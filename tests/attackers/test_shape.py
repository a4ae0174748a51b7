"""The form of texts: spacing, signs and their order are read, and what is normalised is not."""

import numpy as np
import pytest
from scipy.stats import binom

import voile
from laws import FALSE_ALARM
from voile.attackers.attribution_shape import Shape
from voile.attackers.attribution_surface import Overlap
from voile.audit.distinguishing import attacked, attribute
from voile.audit.games import plan

WORDS = [f"{a}{b}" for a in "abcdefgh" for b in "klmnopqr"]
WAYS = {
    "double spaces": (" ", "  "),
    "line breaks": (" ", "\n"),
    "tabs and odd spaces": (" ", "\t", "\xa0", "\u2009"),
    "characters of width zero": (" ", " \u200b", " \u2060", " \ufeff"),
    "signs": (" ", ", ", "; ", " - "),
}


def pool_of(gaps: tuple[str, ...], count: int = 60) -> list[str]:
    """Texts of eight small words each, that differ in their words and in what stands between."""
    rng = np.random.default_rng(3)
    return [
        "".join(f"{word}{gap}" for word, gap in
                zip(rng.choice(WORDS, 8), [*rng.choice(gaps, 7), ""], strict=True))
        for _ in range(count)
    ]  # fmt: skip


def in_order(first: str, second: str, count: int = 60) -> list[str]:
    """Texts that hold the same signs, each at another place."""
    rng = np.random.default_rng(4)
    pool = []
    for _ in range(count):
        words = rng.choice(WORDS, 12).tolist()
        one, two = rng.choice(11, 2, replace=False)
        words[one] += first
        words[two] += second
        pool.append(" ".join(words))
    return pool


def reworded(texts, rng):
    """Each word replaced, all else as it is."""
    pieces = (word_or_gap(text) for text in texts)
    return ["".join(str(rng.choice(WORDS)) if p.isalnum() else p for p in text) for text in pieces]


def word_or_gap(text: str) -> list[str]:
    import re

    return re.findall(r"\w+|\W+", text)


def normalised(texts, rng):
    """Each word replaced, one space between any two."""
    return [
        " ".join(str(rng.choice(WORDS)) for p in word_or_gap(text) if p.isalnum()) for text in texts
    ]


def right(pool: list[str], mechanism, candidates: int = 4) -> tuple[int, int]:
    rng = voile.seeded_rng(5)
    game = plan(pool, trials=600, candidates=candidates, temperature=0.0, rng=rng)
    found = attribute(game, mechanism(game.sources, rng), Shape(), rng=rng)
    return int((found.guessed == found.columns).sum()), len(found.columns)


@pytest.mark.parametrize("way", WAYS)
def test_what_stands_between_words_tells_texts_apart(way: str) -> None:
    hits, trials = right(pool_of(WAYS[way]), reworded)
    assert hits > 0.9 * trials
    hits, trials = right(pool_of(WAYS[way]), normalised)
    assert hits <= binom.isf(FALSE_ALARM, trials, 1 / 4)


@pytest.mark.parametrize(("first", "second"), [(",", ";"), ("!", ",")])
def test_the_order_and_place_of_signs_tells_texts_apart(first: str, second: str) -> None:
    hits, trials = right(in_order(first, second), reworded)
    assert hits > 0.9 * trials
    hits, trials = right(in_order(first, second), normalised)
    assert hits <= binom.isf(FALSE_ALARM, trials, 1 / 4)


def test_the_stack_sees_it_too() -> None:
    rng = voile.seeded_rng(6)
    game = plan(pool_of((" ", "\n")), trials=800, candidates=2, temperature=0.0, rng=rng)
    releases = reworded(game.sources, rng)
    *_, stack = attacked(game, releases, [Overlap(), Shape()], rng=rng)
    assert stack.attack == "stack"
    assert stack.estimate.lower > 1.0
