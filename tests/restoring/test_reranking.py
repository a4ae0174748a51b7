"""The likeliest sentences against all that there are, and what a model may change about them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from voile.restoring.ngrams import fit_ngrams
from voile.restoring.reader import Lattice, Observed
from voile.restoring.reranking import LONGEST, list_sentences, read_again

pytest.importorskip("numba")

WORDS, EDGE, END = 6, 6, 7


def chain(seed: int = 4):
    rng = np.random.default_rng(seed)
    texts = [np.array([EDGE, *rng.integers(WORDS, size=5), END, EDGE]) for _ in range(40)]
    return fit_ngrams(texts, general=np.ones(WORDS + 2) / (WORDS + 2))


def lattice(places: int, seed: int = 5, width: int = 4) -> Lattice:
    rng = np.random.default_rng(seed)
    room = Lattice.of(places)
    for t in range(places):
        room.widths[t] = width
        room.words[t, :width] = rng.permutation(WORDS)[:width]
        room.chances[t, :width] = rng.random(width)
    return room


def known_at(room: Lattice, place: int, state: int) -> None:
    room.widths[place], room.words[place, 0], room.chances[place, 0] = 1, state, 1.0


def observed(known: list[int], *ends: int) -> Observed:
    none = np.zeros(len(known), dtype=np.int64)
    return Observed(np.array(ends), np.array(known), none, none, none - 1)


def enumerated(room: Lattice, low: int, high: int, first: int, last: int, ngrams):
    """Every sentence over the candidates: its words, ln P by pairs and by triples, ln K."""
    found = []
    places = range(low, high)
    for choice in product(*(range(room.widths[t]) for t in places)):
        words = [int(room.words[t, j]) for t, j in zip(places, choice, strict=True)]
        drawn = sum(np.log(room.chances[t, j]) for t, j in zip(places, choice, strict=True))
        path = [first, *words, last]
        pairs = triples = 0.0
        for n in range(1, len(path)):
            before = path[n - 2] if n > 1 else None
            pairs += np.log(ngrams.following(path[n - 1])[path[n]])
            triples += np.log(ngrams.following(path[n - 1], before=before)[path[n]])
        found.append((words, pairs, triples, drawn))
    return sorted(found, key=lambda one: -(one[1] + one[3]))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_list_holds_the_likeliest_sentences_in_their_order(seed: int) -> None:
    """Exactly, of 4⁴ sentences with one known place; what triples and the law say beside each."""
    ngrams, room = chain(seed), lattice(5, seed)
    known_at(room, 2, 3)
    (found,) = list_sentences(
        observed([-1, -1, 3, -1, -1], 5), room, ngrams, edge=EDGE, end=END, count=30
    )
    wanted = enumerated(room, 0, 5, EDGE, EDGE, ngrams)[:30]
    assert found.words.tolist() == [words for words, _, _, _ in wanted]
    np.testing.assert_allclose(found.prior, [triples for _, _, triples, _ in wanted])
    np.testing.assert_allclose(found.drawn, [drawn for _, _, _, drawn in wanted])


def test_fewer_sentences_than_asked_for_are_all_there_are() -> None:
    room = lattice(1, width=3)
    (found,) = list_sentences(observed([-1], 1), room, chain(), edge=EDGE, end=END, count=8)
    assert sorted(found.words[:, 0].tolist()) == sorted(room.words[0, :3].tolist())


def test_texts_are_cut_at_ends_and_where_they_are_long() -> None:
    """What has nothing to be read is no sentence; each knows what stands before and after it."""
    known = [-1, -1, END, 2, END, -1, *[-1] * (LONGEST + 3)]
    room = lattice(len(known))
    for place, state in enumerate(known):
        if state >= 0:
            known_at(room, place, state)
    texts = observed(known, 6, len(known))
    ngrams = chain()
    found = list_sentences(texts, room, ngrams, edge=EDGE, end=END)
    assert [(s.start, s.words.shape[1]) for s in found] == [(0, 3), (5, 1), (6, LONGEST), (46, 3)]
    assert found[0].words.tolist() == [
        words for words, *_ in enumerated(room, 0, 3, EDGE, 2, ngrams)[: len(found[0].words)]
    ]
    before = int(room.words[45, 0])
    wanted = enumerated(room, 46, 49, before, EDGE, ngrams)[: len(found[3].words)]
    assert found[3].words.tolist() == [words for words, *_ in wanted]


def test_the_model_decides_as_much_as_its_share() -> None:
    """At 1 the sentence that it alone believes; at a small share what the list said before."""
    room = lattice(3)
    texts = observed([-1, -1, -1], 3)
    (found,) = list_sentences(texts, room, chain(), edge=EDGE, end=END)
    loved = np.where(np.arange(len(found.words)) == 5, 0.0, -1000.0)
    assert found.chosen(loved, 1.0).tolist() == found.words[5].tolist()
    flat = np.zeros(len(found.words))
    beliefs = np.exp(found.drawn + 0.999 * found.prior)
    for place in range(3):
        votes = {w: beliefs[found.words[:, place] == w].sum() for w in set(found.words[:, place])}
        assert found.chosen(flat, 0.001)[place] == max(votes, key=votes.get)


def test_draws_that_are_left_and_the_unknown_word_stay() -> None:
    room = lattice(3)
    texts = observed([-1, -1, -1], 3)
    (found,) = list_sentences(texts, room, chain(), edge=EDGE, end=END)
    loved = np.where(np.arange(len(found.words)) == 5, 0.0, -1000.0)
    new = found.words[5]
    kept = read_again(np.array([-1, 9, 9]), [found], [loved], 1.0, unread=int(new[2]))
    assert kept.tolist() == [-1, int(new[1]), 9]
