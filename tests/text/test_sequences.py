import numpy as np
import pytest

from voile.attackers.attack import HIDDEN
from voile.errors import InvalidInput
from voile.text.alignment import aligned
from voile.text.sequences import WordSequence, corpus, read_words
from voile.text.vocabularies import vocabulary

WORDS = vocabulary(
    ["ann", "bob", "met", "in", "rome", "u.s.", "email", "'s"], np.arange(8.0)[:, None] ** 2
)


def read(*texts):
    return read_words(texts, WORDS)


class FakeTiers:
    """Names are ann and bob, wherever they stand; rome is close to a name."""

    def entities(self, texts):
        return [
            tuple((t.find(n), t.find(n) + len(n)) for n in ("Ann", "Bob") if n in t) for t in texts
        ]

    def level(self, position, start, end, entities):
        if any(start < last and end > first for first, last in entities):
            return 0
        return 1 if WORDS.written[position] == "rome" else 2


def test_words_tiers_and_gaps():
    (found,) = read_words(["Ann met Bob's x in Rome."], WORDS, tiers=FakeTiers())
    assert [WORDS.written[p] for p in found.words] == [
        "ann",
        "met",
        "bob",
        "'s",
        "unk",
        "in",
        "rome",
    ]
    assert found.levels.tolist() == [0, 2, 0, 2, 2, 2, 1]
    assert found.gaps == ("", " ", " ", "", " ", " ", " ", ".")


def test_an_identifier_is_its_placeholder_and_a_drawn_number_is_none():
    before = "ann a.b@example.org in"
    (original,) = read(before)
    for after in ("bob [EMAIL] in", "bob a.b@example.org in"):
        (release,) = read_words([after], WORDS, beside=[before])
        assert told(original, release) == ["bob", "email", "in"]
    (release,) = read_words(["bob c.d@example.org in"], WORDS, beside=[before])
    assert WORDS.positions["email"] not in release.words


def told(original, release, longest=40):
    found = aligned(original, release, longest=longest)
    return None if found is None else ["?" if w == HIDDEN else WORDS.written[w] for w in found]


def test_a_released_word_with_signs_in_it_is_found():
    """ "u.s." falls apart when it is read again, and "'s" loses its sign."""
    before, after = read("ann met bob in", "rome u.s. in ann")
    assert len(after.words) != len(before.words)
    assert told(before, after) == ["rome", "u.s.", "in", "ann"]
    assert told(*read("ann met bob in", "rome met 's ann")) == ["rome", "met", "'s", "ann"]


def test_a_corpus_numbers_candidates_and_releases():
    originals = read_words(["Ann met Bob.", "Bob in Rome"], WORDS, tiers=FakeTiers())
    texts = corpus(originals, read("rome met in.", "ann in ann"), WORDS)
    assert [WORDS.written[c] for c in texts.candidates] == ["ann", "bob", "rome"]
    assert texts.levels.tolist() == [0, 0, 1]
    first, second = texts.sequences
    assert first.sensitive.tolist() == [0, 2]
    assert second.sensitive.tolist() == [0, 2]
    assert [WORDS.written[texts.seen[r]] for r in first.releases] == ["rome", "met", "in"]
    assert [WORDS.written[texts.candidates[s]] for s in second.secrets[second.sensitive]] == [
        "bob", "rome",
    ]  # fmt: skip
    assert texts.distances().shape == (3, 3)
    assert texts.unaligned == 0


def test_documents_laid_out_otherwise_are_left_out_and_counted():
    originals = read("ann met bob", "bob in rome")
    texts = corpus(originals, read("ann met", "rome in ann"), WORDS)
    assert texts.unaligned == 1
    assert len(texts.sequences) == 1
    with pytest.raises(InvalidInput, match="in 2 of 3 documents it is unclear"):
        corpus(read("ann", "bob in rome", "ann"), read("ann", "rome ann", "bob in in"), WORDS)


def test_only_the_most_frequent_candidates_and_the_first_words_count():
    originals = read("ann ann bob met", "ann bob in rome")
    texts = corpus(originals, originals, WORDS, most_candidates=2, longest=3)
    assert [WORDS.written[c] for c in texts.candidates] == ["ann", "bob"]
    assert [len(s.releases) for s in texts.sequences] == [3, 3]
    assert texts.sequences[1].sensitive.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (["ann met"], ["ann met", "bob"], "one row each"),
        (["ann met"], ["ann"], "cannot be used on this release"),
        (["ann"], ["ann"], "no sensitive words found"),
    ],
)
def test_bad_input(before, after, message):
    with pytest.raises(InvalidInput, match=message):
        corpus(read(*before), read(*after), WORDS)


def test_an_empty_text_is_an_empty_sequence():
    (nothing,) = read("")
    assert isinstance(nothing, WordSequence)
    assert len(nothing.words) == 0
