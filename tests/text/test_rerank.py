"""A language model beside the public text: used where it helps on public text, and said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import voile
from voile.errors import InvalidInput
from voile.text import reranker
from voile.text.reading import texts_of

pytest.importorskip("numba")

VERBS = ["book", "play", "find", "show"]
ITEMS = [f"thing{i}" for i in range(60)]
WORDS = [*VERBS, *ITEMS, "today", "tomorrow", "please", "kindly"]


def sentence(rng: np.random.Generator) -> str:
    """What is far apart tells: the first word which day it is, which pairs cannot know."""
    verbs = rng.integers(len(VERBS), size=3).tolist()
    asked = " ".join(f"{VERBS[v]} {ITEMS[15 * v + int(rng.integers(15))]}" for v in verbs)
    day = int(rng.integers(2))
    return f"{('please', 'kindly')[day]} {asked} {('today', 'tomorrow')[day]}."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("rerank")
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(len(WORDS), 3)) * 1.2
    for n, word in enumerate(WORDS):  # the days are alike: draws hardly tell which it was
        if word == "tomorrow":
            vectors[n] = vectors[n - 1] + 0.05
    lines = [
        f"{w} {' '.join(f'{v:.4f}' for v in row)}" for w, row in zip(WORDS, vectors, strict=True)
    ]
    (made / "vectors.txt").write_text("\n".join(lines) + "\n")
    for name, count in (("public", 500), ("private", 60)):
        rows = [sentence(rng) for _ in range(count)]
        (made / f"{name}.csv").write_text("text\n" + "\n".join(rows) + "\n")
    return made


def protect(folder: Path, **options):
    given = {
        "epsilon": 3.0, "vocabulary": str(folder / "vectors.txt"), "seed": 1, "overwrite": True,
        "no_cache": True, "mechanism": "word-exponential", "restore": "reading",
        "public": str(folder / "public.csv"),
    }  # fmt: skip
    return voile.text.protect(str(folder / "private.csv"), **(given | options))


def days_right(folder: Path, release) -> float:
    pairs = zip(texts_of(folder / "private.csv"), texts_of(release.data), strict=True)
    return float(np.mean([a.split()[-1].lower() == b.split()[-1].lower() for a, b in pairs]))


def knowing(texts: list[str]) -> np.ndarray:
    """A model that has read from afar: of the first word it knows the last."""
    match = {"please": "today", "kindly": "tomorrow"}
    words = [text.lower().rstrip(".").split() for text in texts]
    return np.array([0.0 if match.get(w[0]) == w[-1] else -6.0 for w in words])


def test_a_model_that_knows_more_is_used_and_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = protect(folder)
    without = days_right(folder, plain)
    monkeypatch.setattr(reranker, "_scores", lambda name: knowing)
    read = protect(folder, rerank="knowing")
    model = read.restored.model
    assert model.share > 0
    assert model.with_it > model.without
    assert days_right(folder, read) > without + 0.1
    assert read.guarantee == plain.guarantee
    assert read.spent == plain.spent
    assert "post-processing" in str(read)
    assert "The language model knowing weighed the 8 likeliest readings" in str(read)


def test_a_model_that_does_not_help_on_public_text_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = texts_of(protect(folder).data)
    monkeypatch.setattr(reranker, "_scores", lambda name: lambda texts: -9 * knowing(texts))
    read = protect(folder, rerank="perverse")
    assert texts_of(read.data) == plain
    assert read.restored.model.share == 0
    assert "The language model perverse was not used" in str(read)


def test_a_model_from_a_folder(folder: Path) -> None:
    """A tiny one, untrained: whatever it is worth, it runs, and holder and recipient agree."""
    pytest.importorskip("transformers")
    from voile.rewriting.tiny import tiny_causal

    language = tiny_causal(texts_of(folder / "public.csv"))
    home = folder / "model"
    language.model.save_pretrained(home)
    language.tokenizer.save_pretrained(home)
    given = {"rerank": str(home), "public": str(folder / "public.csv")}
    read = protect(folder, out=str(folder / "whole.csv"), **given)
    assert read.restored.model.texts > 5
    sent = protect(folder, restore=None, public=None, out=str(folder / "sent.csv"))
    later = voile.text.restore(
        sent.data, vocabulary=str(folder / "vectors.txt"), no_cache=True, overwrite=True, **given
    )
    assert texts_of(later.data) == texts_of(read.data)
    assert later.restored == read.restored


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"restore": None, "public": None}, "must go with --restore reading and --public"),
        ({"public": None}, "must go with --restore reading and --public"),
        ({"restore": "training"}, "must go with --restore reading and --public"),
        ({"rerank": "./nowhere"}, "folder or hub id that transformers can load"),
    ],
)
def test_what_cannot_be_is_refused(folder: Path, options: dict, said: str) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(InvalidInput, match=said):
        protect(folder, **({"rerank": "packaged"} | options))


def test_a_model_that_writes_from_another_text_is_refused() -> None:
    pytest.importorskip("transformers")
    from voile.rewriting.likelihood import text_likelihood
    from voile.rewriting.tiny import tiny_encoder_decoder

    with pytest.raises(InvalidInput, match="name a causal one"):
        text_likelihood(tiny_encoder_decoder(["red cat"]), ["red cat"])


def test_likelihoods_do_not_depend_on_company() -> None:
    """Texts of other lengths in the batch change nothing; a likelier text has more."""
    pytest.importorskip("transformers")
    from voile.rewriting.likelihood import text_likelihood
    from voile.rewriting.tiny import tiny_causal

    language = tiny_causal(["red cat sat", "blue dog ran off"])
    texts = ["red cat", "blue dog ran off", "cat", ""]
    alone = [float(text_likelihood(language, [text])[0]) for text in texts]
    np.testing.assert_allclose(text_likelihood(language, texts), alone, atol=1e-4)
    assert all(value < 0 for value in alone)
