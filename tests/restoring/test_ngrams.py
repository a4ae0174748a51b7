"""The language prior: rows that sum to one, counts by hand, and what was never seen."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.errors import InvalidInput
from voile.restoring import ngrams
from voile.restoring.ngrams import fit_ngrams, without_context

GENERAL = np.array([0.4, 0.3, 0.2, 0.1])


def test_by_hand() -> None:
    """0 1 0 1 2, counted: pairs 01 twice, 10 and 12 once; D = 2/(2 + 2·1) = 1/2."""
    chain = fit_ngrams([np.array([0, 1, 0, 1, 2])], general=GENERAL)
    lowest = 1 / (1 + 2 * 2)  # 2 was seen once; 0 and 1 twice
    unigram = (np.array([2 - lowest, 2 - lowest, 1 - lowest, 0]) + 3 * lowest * GENERAL) / 5
    assert chain.unigram == pytest.approx(unigram)
    after_0 = np.array([0, 1.5, 0, 0]) / 2 + 0.5 / 2 * unigram
    after_1 = np.array([0.5, 0, 0.5, 0]) / 2 + 0.5 * 2 / 2 * unigram
    assert chain.following(0) == pytest.approx(after_0)
    assert chain.following(1) == pytest.approx(after_1)
    assert chain.following(3) == pytest.approx(unigram)
    discount = 0.9  # 010, 101 and 012: each once, so Ney's 1, of which some must be left
    after_01 = np.array([1 - discount, 0, 1 - discount, 0]) / 2 + discount * after_1
    assert chain.following(1, before=0) == pytest.approx(after_01)
    assert chain.following(1, before=2) == pytest.approx(after_1)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 12), st.integers(1, 20))
def test_every_row_sums_to_one_and_nothing_is_impossible(seed: int, size: int, texts: int) -> None:
    rng = np.random.default_rng(seed)
    counted = [rng.integers(size, size=rng.integers(1, 9)) for _ in range(texts)]
    chain = fit_ngrams(counted, general=rng.random(size) + 0.01)
    for word in range(size):
        for before in (None, *range(size)):
            row = chain.following(word, before=before)
            assert row.sum() == pytest.approx(1)
            assert row.min() > 0


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    texts = [rng.integers(50, size=20) for _ in range(40)]
    whole = fit_ngrams(texts, general=np.ones(50))
    monkeypatch.setattr(ngrams, "_BLOCK", 64)
    parts = fit_ngrams(texts, general=np.ones(50))
    for name, value in vars(whole).items():
        assert np.array_equal(value, getattr(parts, name)), name


def test_long_rows_have_their_bits_and_travel_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngrams, "_LONG", 3)
    rng = np.random.default_rng(2)
    chain = fit_ngrams([rng.integers(100, size=900)], general=np.ones(100))
    sets, _, rows = chain.bits
    for word in range(100):
        followed = chain.columns[chain.starts[word] : chain.starts[word + 1]]
        assert (rows[word] >= 0) == (len(followed) > 3)
        if rows[word] >= 0:
            bits = np.unpackbits(sets[rows[word]].view(np.uint8), bitorder="little")
            assert np.array_equal(np.flatnonzero(bits), followed)
    assert "bits" not in vars(pickle.loads(pickle.dumps(chain)))


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one word"):
        fit_ngrams([], general=GENERAL)
    with pytest.raises(InvalidInput, match="below 4"):
        fit_ngrams([np.array([4])], general=GENERAL)
    with pytest.raises(InvalidInput, match="> 0"):
        fit_ngrams([np.array([1])], general=np.array([1.0, 0.0]))


def test_without_context_every_word_stands_by_itself() -> None:
    chain = without_context(GENERAL)
    assert chain.following(2, before=1) == pytest.approx(GENERAL)
