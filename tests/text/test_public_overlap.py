"""Private text in another order or cut is not public; text of the same kind is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import voile
from voile.errors import InvalidInput
from voile.progress import Step, heard_by
from voile.text.public_lengths import same_lengths
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


def stirred(rows: list[str], seed: int = 6) -> list[str]:
    """The words of each row in another order."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.permutation(row.split())) for row in rows]


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
        (LONG, stirred(LONG)),
        (LONG, stirred(LONG[::-1][:60]) + OTHER),
        (SHORT, stirred(SHORT)),
    ],
)
def test_private_text_in_another_order_or_cut_is_found(
    private: list[str], public: list[str]
) -> None:
    assert "private" in (overlap(lambda: private, lambda: public, known(WORDS)).beyond or "")
    assert overlap(lambda: private, lambda: texts(4, 1000, 12), known(WORDS)).beyond is None


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
    assert overlap(lambda: test, lambda: train, words).beyond is None
    assert overlap(lambda: train, lambda: test, words).beyond is None
    for made in (cut(test, 5), stirred(test)):
        assert overlap(lambda: test, lambda made=made: made, words).beyond is not None


def test_a_few_texts_in_both_are_told_of_and_not_in_the_guarantee(tmp_path: Path) -> None:
    """It is the owner's own business, on the owner's own screen."""
    vectors = tmp_path / "v.txt"
    vectors.write_text("".join(f"{word} {i} {i % 7}\n" for i, word in enumerate(WORDS)))
    private = tmp_path / "in.csv"
    private.write_text("text\n" + "\n".join(LONG) + "\n")
    given = {"epsilon": 1.0, "restore": "reading", "vocabulary": str(vectors), "no_cache": True}
    for public, told in ((OTHER + LONG[:9], True), (OTHER, False)):
        heard: list[Step] = []
        with heard_by(heard.append):
            voile.text.protect(str(private), public=public, overwrite=True, **given)
        said = [step.what for step in heard if step.stays and "in the public text" in step.what]
        assert bool(said) == told
        assert not any("w1" in line for line in said)
        facts = (tmp_path / "in.protected.csv.guarantee.json").read_text()
        assert "private texts" not in facts


@pytest.mark.parametrize("seed", range(30))
def test_lengths_tell_a_shuffled_copy_from_a_sample_of_its_kind(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def sample(count: int) -> list[str]:
        return ["w " * n for n in rng.poisson(9, size=count)]

    first = sample(300)
    stirred_rows = rng.permutation(first).tolist()
    assert same_lengths(first, stirred_rows)
    assert same_lengths(first, stirred_rows[:292])
    assert not same_lengths(first, sample(300))
    assert not same_lengths(first, sample(3000))
    assert not same_lengths(["a b"] * 50, ["c d"] * 50)
