"""Shares of words and topics from a release alone, and liars that the truth must catch."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import voile
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput
from voile.mechanisms import word_exponential, word_truncated_exponential
from voile.mechanisms._embedding import Embedding
from voile.text import word_shares as method

pytest.importorskip("numba")

WORDS = [f"word{i}" for i in range(60)]
TRUTH = {"word0": 0.30, "word1": 0.15, "word2": 0.10}
FAR = 0.035
"""More than six standard errors of a share from 6,000 words that are kept half of the time."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Vectors, 1,000 private texts of six words each, and their release."""
    made = tmp_path_factory.mktemp("estimate")
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(len(WORDS), 4)) * 1.3
    lines = [
        f"{word} {' '.join(f'{value:.4f}' for value in row)}"
        for word, row in zip(WORDS, vectors, strict=True)
    ]
    (made / "vectors.txt").write_text("\n".join(lines) + "\n")
    chances = np.array([TRUTH.get(word, (1 - sum(TRUTH.values())) / 57) for word in WORDS])
    texts = [" ".join(rng.choice(WORDS, size=6, p=chances)) for _ in range(1000)]
    (made / "private.csv").write_text("text\n" + "\n".join(texts) + "\n")
    protect(made)
    return made


def protect(folder: Path, **options):
    given = {"epsilon": 3.0, "vocabulary": str(folder / "vectors.txt"), "seed": 1,
             "overwrite": True, "no_cache": True}  # fmt: skip
    return voile.text.protect(str(folder / "private.csv"), **(given | options))


def estimate(folder: Path, **options):
    given = {"vocabulary": str(folder / "vectors.txt"), "resamples": 40}
    return voile.text.estimate(str(folder / "private.protected.csv"), **(given | options))


def wrong(found) -> float:
    """How far the estimates of the three common words are from the truth at most."""
    shares = {one.name: one.share for one in found.commonest}
    return max(abs(shares.get(word, 0.0) - share) for word, share in TRUTH.items())


def test_the_truth_is_found_where_the_release_hides_it(folder: Path) -> None:
    found = estimate(folder, topic=("word0+word1", "Word7"), half_width=0.01)
    assert wrong(found) < FAR
    released = {one.name: one.released for one in found.commonest}
    assert abs(released["word0"] - 0.30) > 2 * FAR, "what was released is far from it"
    both, rare = found.topics
    assert (both.name, rare.name) == ("word0 + word1", "word7")
    assert abs(both.share - 0.45) < 2 * FAR
    assert both.lower <= both.share <= both.upper
    assert (found.texts, found.words) == (1000, 6000)
    wide = max(one.upper - one.lower for one in found.topics) / 2
    assert found.texts_needed == pytest.approx(1000 * (wide / 0.01) ** 2, abs=1)
    said = " ".join(str(found).split())
    assert "6,000 drawn words of 1,000 texts by tem at ε = 3" in said
    assert "costs no budget" in said
    assert f"about {found.texts_needed:,} such texts are needed" in said
    assert list(found.to_frame()["what"])[:2] == ["word0 + word1", "word7"]


def test_the_law_is_the_one_that_is_drawn_from() -> None:
    words = Embedding.of(np.random.default_rng(2).normal(size=(40, 3)))
    some = np.array([3, 8, 30])
    for law in (word_truncated_exponential(words, epsilon=2.0, neighbours=5),
                word_exponential(words, epsilon=1.0)):  # fmt: skip
        table = method.word_table(law, some, np.full(40, 1 / 40))
        exact = np.exp(law.log_prob(np.arange(40), np.arange(40)))
        assert np.allclose(table.law[:3, :3], exact[np.ix_(some, some)], rtol=1e-10)
        assert np.allclose(table.law.sum(axis=1), 1)
        left = np.setdiff1d(np.arange(40), some)
        assert np.allclose(table.law[3, :3], exact[np.ix_(left, some)].mean(axis=0), rtol=1e-10)
        assert table.outputs(np.array([3, 4, 30, 39])).tolist() == [0, 3, 2, 3]


@pytest.mark.parametrize("liar", ["weaker", "stronger", "none"])
def test_a_wrong_law_is_caught_by_the_truth(folder: Path, monkeypatch, liar: str) -> None:
    """Planted: the law at half its ε, at three times it, and no law at all."""
    right = method.rows_of

    def planted(law, secrets, outputs):
        table = right(law, secrets, outputs)
        if liar == "weaker":
            table = np.sqrt(table)
        elif liar == "stronger":
            table = table**3
        else:
            table = np.eye(len(secrets), len(outputs)) + 1e-9
        return table / table.sum(axis=1, keepdims=True)

    monkeypatch.setattr(method, "rows_of", planted)
    assert wrong(estimate(folder)) > FAR


def test_words_of_a_text_are_resampled_together() -> None:
    """A word that stands ten times in a few texts is told far less well than by so many words."""
    words = Embedding.of(np.arange(30.0)[:, None] * 4)
    law = word_exponential(words, epsilon=6.0)
    texts = np.repeat(np.arange(200), 10)
    secrets = np.where(texts % 10 == 0, 3, 7)
    drawn = law.release(secrets, seeded_rng(3))
    table = method.word_table(law, np.arange(30), np.full(30, 1 / 30))

    def width(whose) -> float:
        found = method.word_shares(table, drawn, whose, resamples=100, seed=0)
        _, low, high = found.of([3], 0.95)
        return high - low

    assert width(texts) > 2 * width(np.arange(len(drawn)))


def test_a_weak_release_is_called_rough(folder: Path) -> None:
    release = protect(folder, epsilon=0.8, out=str(folder / "weak.csv"))
    found = voile.text.estimate(release.data, vocabulary=str(folder / "vectors.txt"), resamples=20)
    assert found.kept < 0.5
    assert "ROUGH" in str(found)
    assert "ROUGH" not in str(estimate(folder)) or estimate(folder).kept < 0.5


def test_what_cannot_be_read_is_refused(folder: Path, tmp_path: Path) -> None:
    for asked, what in (
        ({"topic": ("word0+nobody",)}, "'nobody' is not"),
        ({"topic": ("+",)}, "there is none"),
        ({"column": "words"}, "words"),
        ({"confidence": 0.2}, "confidence"),
        ({"resamples": 3}, "resamples"),
        ({"half_width": 0.0}, "half_width"),
        ({"most": 0}, "most"),
        ({"vocabulary": None}, "vocabulary"),
    ):
        with pytest.raises(InvalidInput, match=what):
            estimate(folder, **asked)
    release = protect(folder, out=str(tmp_path / "r.csv"))
    text = Path(release.data).read_text()
    Path(release.data).write_text(text.replace("word0", "word9", 1))
    with pytest.raises(InvalidInput, match="must be the file that its guarantee was written for"):
        voile.text.estimate(release.data, vocabulary=str(folder / "vectors.txt"))
    few = tmp_path / "few.csv"
    few.write_text("text\n" + "word1 word2\n" * 5)
    made = voile.text.protect(str(few), epsilon=3, vocabulary=str(folder / "vectors.txt"),
                              no_cache=True, seed=1)  # fmt: skip
    with pytest.raises(InvalidInput, match=r"released texts must be >= 30"):
        voile.text.estimate(made.data, vocabulary=str(folder / "vectors.txt"))
    said = tmp_path / "other.json"
    said.write_text(json.dumps({"format": "voile-release/1", "domain": "labels"}))
    with pytest.raises(voile.errors.VoileError):
        estimate(folder, guarantee=str(said))


def test_releases_in_memory_are_read_with_their_release(folder: Path) -> None:
    texts = (folder / "private.csv").read_text().splitlines()[1:]
    made = voile.text.protect(texts, epsilon=3, vocabulary=str(folder / "vectors.txt"),
                              no_cache=True, seed=2)  # fmt: skip
    found = voile.text.estimate(made.data, guarantee=made, resamples=20,
                                vocabulary=str(folder / "vectors.txt"))  # fmt: skip
    assert wrong(found) < FAR
