"""German from end to end: protected, read as a whole by holder and recipient, and audited."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest

import voile
from german_sentences import SENTENCES
from voile.errors import InvalidInput
from voile.packaged import GEMMA_PARTS
from voile.text import token_tables

pytest.importorskip("numba")

QUOTATIONS = Path("/usr/share/games/fortunes/de/zitate")
"""Real German sentences, where Debian's package fortunes-de is installed."""
WHO = ["die mutter", "der bäcker", "das mädchen", "unser nachbar", "frau müller"]
DOES = {
    "kauft": ["brötchen", "äpfel", "käse", "gemüse", "würste", "kräuter"],
    "liest": ["bücher", "märchen", "briefe", "zeitungen", "gedichte", "sätze"],
    "öffnet": ["türen", "fenster", "schränke", "kästen", "dosen", "hüllen"],
    "füttert": ["hühner", "vögel", "kühe", "gänse", "fische", "hündchen"],
}
WHEN = ["am morgen", "früh", "später", "jeden tag", "für die großmutter"]


def sentence(rng: np.random.Generator) -> str:
    """Who does what: what is read, bought or fed follows from the verb."""
    parts = []
    for _ in range(3):
        verb = list(DOES)[rng.integers(len(DOES))]
        thing = DOES[verb][rng.integers(6)]
        parts.append(f"{WHO[rng.integers(5)]} {verb} {WHEN[rng.integers(5)]} {thing}")
    return ", ".join(parts).capitalize() + "."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("deutsch")
    rng = np.random.default_rng(2)
    things = [thing for listed in DOES.values() for thing in listed]
    listed = sorted({word for text in (*WHO, *DOES, *WHEN, *things) for word in text.split()})
    vectors = rng.normal(size=(len(listed), 4)) * 1.3
    lines = [
        f"{w} {' '.join(f'{v:.4f}' for v in row)}" for w, row in zip(listed, vectors, strict=True)
    ]
    (made / "vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, count in (("public", 500), ("private", 200)):
        rows = "\n".join(f'"{sentence(rng)}"' for _ in range(count))
        (made / f"{name}.csv").write_text(f"text\n{rows}\n", encoding="utf-8")
    return made


def right(before: list[str], after: list[str]) -> float:
    words = [
        (a.strip(",.").lower(), b.strip(",.").lower())
        for one, two in zip(before, after, strict=True)
        if len(one.split()) == len(two.split())  # a placeholder may stand for several words
        for a, b in zip(one.split(), two.split(), strict=True)
    ]
    return float(np.mean([a == b for a, b in words]))


def test_german_with_a_vocabulary_of_its_own(folder: Path) -> None:
    """Umlauts and capitals come through; the recipient needs the file of vectors alone."""
    from voile.text.reading import texts_of

    source, public = str(folder / "private.csv"), str(folder / "public.csv")
    given = {"vocabulary": str(folder / "vectors.txt"), "no_cache": True, "overwrite": True}
    how = {"epsilon": 3.0, "language": "de", "mechanism": "word-exponential", "seed": 1, **given}
    drawn = voile.text.protect(source, out=str(folder / "sent.csv"), **how)
    read = voile.text.restore(drawn.data, public=public, **given)
    before = texts_of(source)
    assert right(before, texts_of(read.data)) > right(before, texts_of(drawn.data)) + 0.1
    assert any(set("äöüß") & set(text) for text in texts_of(read.data))
    assert all(text[0].isupper() for text in texts_of(read.data))
    assert drawn.seen is not None
    assert drawn.seen.rows_by_language == {"de": 200}
    assert drawn.seen.unknown_words == 0
    assert "German" in str(drawn)


def test_the_audit_knows_german_words_and_asks_for_the_language(folder: Path) -> None:
    """Read as English, German texts are a few strange words: that is refused, not audited."""
    pytest.importorskip("torch")
    source = folder / "private.csv"
    how = {"sensitive": "all", "attacker": "rnn", "epochs": 12, "epsilon": 0.5}
    with pytest.raises(InvalidInput, match=r"got German .* give --language de"):
        voile.text.audit(source, source, **how)
    with pytest.raises(InvalidInput, match="names in German must be found by a pipeline"):
        voile.text.audit(source, source, language="de", vocabulary=str(folder / "vectors.txt"))
    known = {"language": "de", "vocabulary": str(folder / "vectors.txt")}
    found = voile.text.audit(source, source, **known, **how)
    assert found.verdict == "violated"  # nothing was changed
    assert found.candidates > 30
    assert found.unaligned == 0


def test_german_sentences_leave_nothing_but_drawn_words_and_placeholders(tmp_path: Path) -> None:
    """Umlauts, ß, capitals, quotes, compounds, bank and telephone numbers as Germans write them."""
    words = {w.lower() for row in SENTENCES for w in re.findall(r"[^\W\d_]+", row)}
    listed = sorted(w for w in words if len(w) < 15)  # long compounds are in no list
    vectors = np.random.default_rng(3).normal(size=(len(listed), 4))
    (tmp_path / "vectors.txt").write_text(
        "".join(
            f"{w} {' '.join(f'{v:.4f}' for v in row)}\n"
            for w, row in zip(listed, vectors, strict=True)
        ),
        encoding="utf-8",
    )
    release = voile.text.protect(
        list(SENTENCES), epsilon=1, language="de", mechanism="word-exponential", seed=1,
        vocabulary=str(tmp_path / "vectors.txt"), no_cache=True,
    )  # fmt: skip
    assert release.seen is not None
    assert release.seen.rows_by_language == {"de": len(SENTENCES)}
    assert dict(release.seen.found) == {
        "EMAIL": 2, "PHONE": 1, "IBAN": 1, "DATE": 1, "DATE_OF_BIRTH": 1, "HEALTH_NUMBER": 1,
        "TAX_NUMBER": 2,
    }  # fmt: skip
    for before, after in zip(SENTENCES, release.data, strict=True):
        left = re.sub(r"\[[A-Z_]+\]", "", after)
        assert {w.lower() for w in re.findall(r"[^\W_]+", left)} <= {*listed, "strasse", "unk"}
        assert [c for c in before if c in "„“"] == [c for c in after if c in "„“"]
        assert after[0].isupper()
    same = sum(a == b for a, b in zip(SENTENCES, release.data, strict=True))
    assert same == 0
    assert 0 < release.seen.unknown_words < 30


def quotations() -> list[str]:
    raw = QUOTATIONS.read_text(encoding="utf-8").split("\n%\n")
    texts = [" ".join(one.split("\t\t--")[0].split()) for one in raw]
    texts = [text for text in texts if 5 <= len(text.split()) <= 30]
    random.Random(1).shuffle(texts)
    return texts


@pytest.mark.skipif(token_tables.missing(GEMMA_PARTS), reason="the multilingual vectors are absent")
def test_german_words_over_the_multilingual_vectors() -> None:
    """Read as a whole while drawing and by whoever received it: the same words."""
    how = {"epsilon": 35.0, "language": "de", "top": 8000, "seed": 1}
    private, public = list(SENTENCES[:20]), list(SENTENCES[20:])
    drawn = voile.text.protect(private, **how)
    read = voile.text.restore(drawn.data, guarantee=drawn, public=public)
    same = voile.text.protect(private, restore="reading", public=public, **how)
    assert list(read.data) == list(same.data)
    assert drawn.seen is not None
    assert drawn.seen.rows_by_language == {"de": 20}
    assert right(private, list(drawn.data)) > 0.6
    assert all(set("äöü") & set(text) for text in drawn.data if "können" in text.lower())


@pytest.mark.skipif(token_tables.missing(GEMMA_PARTS), reason="the multilingual vectors are absent")
@pytest.mark.skipif(not QUOTATIONS.exists(), reason="fortunes-de is not installed")
def test_real_german_sentences() -> None:
    texts = quotations()
    private, public = texts[:40], texts[40:1500]
    how = {"epsilon": 35.0, "language": "de", "top": 8000, "seed": 1}
    drawn = voile.text.protect(private, **how)
    read = voile.text.restore(drawn.data, guarantee=drawn, public=public)
    same = voile.text.protect(private, restore="reading", public=public, **how)
    assert list(read.data) == list(same.data)
    assert sum(a != b for a, b in zip(drawn.data, private, strict=True)) > 20
    assert right(private, list(read.data)) > right(private, list(drawn.data)) - 0.05
