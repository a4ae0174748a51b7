"""Private text in another order or cut is not public; text of the same kind is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import voile
from voile.errors import InvalidInput
from voile.text.public_overlap import overlap
from voile.text.vocabularies import Vocabulary, vocabulary

WORDS = [f"w{i}" for i in range(400)]


def known(words: list[str]) -> Vocabulary:
    return vocabulary(words, [[float(i)] for i in range(len(words))])


def texts(seed: int, count: int, length: int) -> list[str]:
    """A stock beginning, and words of a Zipf-like law."""
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, len(WORDS) + 1)
    chosen = rng.choice(WORDS, size=(count, length), p=chances / chances.sum())
    return [f"w1 w2 {' '.join(row)}" for row in chosen]


def cut(rows: list[str], length: int) -> list[str]:
    words = " ".join(rows).split()
    pieces = [" ".join(words[i : i + length]) for i in range(0, len(words), length)]
    return np.random.default_rng(5).permutation(pieces).tolist()


SHORT, LONG, OTHER = texts(1, 200, 3), texts(2, 200, 12), texts(3, 1000, 12)
ONE = [" ".join(LONG[:6])]


@pytest.mark.parametrize(
    ("private", "public"),
    [
        (SHORT, SHORT[::-1]),
        (SHORT, [row.upper() + " !" for row in SHORT[::-1]] + OTHER),
        (SHORT, [" ".join(SHORT[::-1])]),
        (LONG, cut(LONG, 5)),
        (LONG, cut(LONG[::-1], 11) + OTHER),
        (ONE, [*ONE, "w1 w2"]),
        (ONE, cut(ONE, 30)),
        (["w7 w8", "w9 w30", "w2"], ["w9 w30", "w7 w8", "w3"]),
    ],
)
def test_private_text_in_another_order_or_cut_is_found(
    private: list[str], public: list[str]
) -> None:
    assert "private" in (overlap(lambda: private, lambda: public, known(WORDS)) or "")
    assert overlap(lambda: private, lambda: texts(4, 1000, 12), known(WORDS)) is None


def test_it_is_refused_in_memory_and_from_a_file(tmp_path: Path) -> None:
    vectors = tmp_path / "v.txt"
    vectors.write_text("".join(f"{word} {i} {i % 7}\n" for i, word in enumerate(WORDS)))
    told = tmp_path / "told.txt"
    told.write_text("\n".join(SHORT[::-1]) + "\n")
    given = {"epsilon": 1.0, "restore": "reading", "vocabulary": str(vectors), "no_cache": True}
    for public in (SHORT[::-1], str(told)):
        with pytest.raises(InvalidInput, match="must not be the private text") as caught:
            voile.text.protect(SHORT, public=public, **given)
        assert "w1" not in str(caught.value)


def test_texts_made_from_the_same_templates_are_public(shared_data: Path) -> None:
    folder = shared_data / "snips"
    train, test = ((folder / n / "seq.in").read_text().splitlines() for n in ("train", "test"))
    words = known(sorted({word for text in train for word in text.split()}))
    assert overlap(lambda: test, lambda: train, words) is None
    assert overlap(lambda: train, lambda: test, words) is None
    assert overlap(lambda: test, lambda: cut(test, 5), words) is not None
