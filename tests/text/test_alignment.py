"""Pairing the words of a release with those of its original, against pairings that are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voile
from voile.attackers.attack import HIDDEN
from voile.text import alignment
from voile.text.alignment import Laid, aligned
from voile.text.sequences import read_words
from voile.text.vocabularies import vocabulary
from voile.text.word_protector import TextProtector

LIST = ["ann", "bob", "met", "in", "rome", "u.s.", "'s", "n't", "do", "no.", "1,000", "well-known",
        "and", "the", "was", "seen", "there", "paris", "late", "mask", "name"]  # fmt: skip
WORDS = vocabulary(LIST, np.arange(float(len(LIST)))[:, None] ** 2)


class Drawn:
    """Releases words by a seeded draw and remembers them: the true pairing."""

    def __init__(self, seed: int, kept: float, *, signs: bool) -> None:
        self.rng, self.kept = np.random.default_rng(seed), kept
        self.choices = [i for i, word in enumerate(LIST) if signs or word.isalpha()]
        self.guarantee = voile.mechanisms.word_exponential(WORDS.embedding, epsilon=1.0).guarantee
        self.truth = np.empty(0, dtype=np.intp)

    def release(self, secrets, rng):
        rows = np.asarray(secrets)
        other = self.rng.choice(self.choices, size=len(rows))
        self.truth = np.where(self.rng.random(len(rows)) < self.kept, rows, other)
        return self.truth


def both(before: str, after: str) -> tuple[Laid, Laid]:
    (original,) = read_words([before], WORDS)
    (release,) = read_words([after], WORDS, beside=[before])
    return original, release


def told(before: str, after: str, *, longest: int = 40) -> list[str] | None:
    found = aligned(*both(before, after), longest=longest)
    return None if found is None else ["?" if w == HIDDEN else WORDS.written[w] for w in found]


pieces = st.lists(
    st.tuples(
        st.sampled_from([w for w in LIST if w.isalpha()] + ["well-known", "stranger", "Ann's"]),
        st.sampled_from([" ", " ", " ", ", ", ". ", " (", ") ", ": "]),
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=100)
@given(pieces, st.integers(0, 2**32), st.sampled_from([0.0, 0.5, 0.95]))
def test_our_own_releases_of_plain_words_align_exactly(written, seed, kept) -> None:
    text = "".join(word + gap for word, gap in written).strip()
    law = Drawn(seed, kept, signs=False)
    release = TextProtector(WORDS, (law,), identifiers=False).release([text], voile.seeded_rng(0))
    found = aligned(*both(text, release[0]), longest=40)
    assert found is not None
    # What is kept may have signs of its own: "well-known", "'s".
    assert len(found) == len(law.truth)
    assert ((found == law.truth) | (found == HIDDEN)).mean() >= (1.0 if kept < 0.1 else 0.8)


def test_over_many_releases_almost_all_words_are_right() -> None:
    """Words with signs of their own, beside the text's signs, can be read in two ways."""
    rng = np.random.default_rng(1)
    gaps = [" ", " ", " ", " ", ", ", ". ", " ("]
    plain = [w for w in LIST if w.isalpha()] + ["Ann's"]
    texts = [
        "".join(str(rng.choice(plain)) + str(rng.choice(gaps)) for _ in range(20)).strip()
        for _ in range(200)
    ]
    law = Drawn(2, 0.0, signs=True)
    released = TextProtector(WORDS, (law,), identifiers=False).release(texts, voile.seeded_rng(0))
    originals = read_words(texts, WORDS)
    releases = read_words(released, WORDS, beside=texts)
    start = right = unclear = 0
    for original, release in zip(originals, releases, strict=True):
        found = aligned(original, release, longest=99)
        assert found is not None
        truth = law.truth[start : start + len(found)]
        start += len(found)
        right += int((found == truth).sum())
        unclear += int((found == HIDDEN).sum())
    assert start == len(law.truth)
    assert right >= 0.97 * start
    assert unclear <= 0.01 * start


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("ann was in rome and the late bob was seen there", "ann was in rome and the late bob was"),
        ("[NAME] was in [NAME] and the late [NAME] was seen there",
         "name was in name and the late name was"),
        ("**** was in #### and the late ___ was seen there",
         "mask was in mask and the late mask was"),
        ("ann was in and the late bob was seen there", "ann was in ? and the late bob was"),
        ("ann was not in rome and the late bob was seen there",
         "ann was in rome and the late bob was"),
    ],
)  # fmt: skip
def test_masks_drops_and_additions(after: str, expected: str) -> None:
    before = "ann was in rome and the late bob was seen there"
    assert told(before, after, longest=9) == expected.split()


def test_a_contraction_whose_end_was_drawn_anew_does_not_move_the_rest() -> None:
    after = "paris do and late there met"
    assert told("ann's met bob in rome", after) == after.split()


def test_texts_that_do_not_belong_together_are_unclear() -> None:
    before = "ann, met bob. in rome (and paris) there: late was seen, and the do"
    for after in (
        "the late, bob",
        "was. ann met rome and, paris in (there late) bob seen the do in, rome. and",
        "",
    ):
        assert told(before, after) is None


def test_the_first_words_are_paired_whatever_follows() -> None:
    before = "ann met bob in rome " * 20
    after = "bob met ann in paris " * 20 + "and more of it " * 30
    assert told(before, after, longest=5) == ["bob", "met", "ann", "in", "paris"]


def test_a_touching_piece_without_a_partner_makes_a_word_unclear() -> None:
    original = Laid(np.array([0, 1, 2, 3, 4]), ("", " ", " ", " ", " ", ""))
    release = Laid(np.array([0, 1, 9, 2, 3, 4]), ("", " ", "/", " ", " ", " ", ""))
    assert aligned(original, release, longest=9).tolist() == [0, HIDDEN, 2, 3, 4]


def test_planted_cheap_deletions_break_the_pairing(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a word without a partner cost less than one that changed, noise could not be aligned."""
    before = "ann met bob in rome and the late was"
    after = "paris do seen there the u.s. ann bob met"
    assert told(before, after) == after.split()
    monkeypatch.setattr(alignment, "UNPAIRED", 0.125)
    assert told(before, after) != after.split()


def test_the_table_is_the_cheapest_of_all_pairings() -> None:
    """Against plain recursion over all pairings of short sequences."""
    from functools import cache

    rng = np.random.default_rng(0)
    for _ in range(50):
        size, limit = rng.integers(1, 6, size=2)
        costs = rng.integers(0, 9, size=(size, limit)) / 8

        @cache
        def best(i: int, j: int, costs=costs) -> float:
            if i == 0 or j == 0:
                return alignment.UNPAIRED * (i + j)
            return min(
                best(i - 1, j - 1) + costs[i - 1, j - 1],
                best(i - 1, j) + alignment.UNPAIRED,
                best(i, j - 1) + alignment.UNPAIRED,
            )

        assert alignment._table(costs, [])[-1, -1] == best(int(size), int(limit))


def test_a_space_between_words_that_touched_hardly_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """One word fell out at the end and touching ones were set apart: the second is still itself."""
    monkeypatch.setattr(alignment, "MOST_ODD", 1.0)
    before = Laid(np.array([3, 2, 1]), ("", "", " ", " "))
    after = Laid(np.array([1, 2]), (" ", " ", ""))
    found = aligned(before, after, longest=9)
    assert found is not None
    assert found.tolist() == [1, 2, HIDDEN]
    monkeypatch.setattr(alignment, "SPACE_ADDED", alignment.GAP)
    planted = aligned(before, after, longest=9)
    assert planted is not None
    assert planted.tolist() != [1, 2, HIDDEN]
