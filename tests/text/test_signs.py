"""Signs at words: left out unless asked for, said when kept; other punctuation as it was."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba", reason="the text extra is not installed")

from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import voile
from voile import text
from voile.cli.app import rooms
from voile.text.signs import Signs, without_signs
from voile.text.word_protector import TextProtector

app = rooms["text"]

WORDS = ["patient", "hiv", "and", "o", "a", "well", "known", "k", "hcv", "positive"]


class Unchanged:
    """Releases every word as it is, to see what happens to the rest."""

    def __init__(self, law) -> None:
        self.guarantee = law.guarantee

    def release(self, secrets, rng):
        return np.asarray(secrets)


def blur(signs: Signs = Signs.DROP) -> TextProtector:
    words = text.vocabulary(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 3)))
    law = Unchanged(text.protector(words, epsilon=1.0).laws[0])
    return TextProtector(words, (law,), signs=signs)


@pytest.mark.parametrize(
    ("written", "released"),
    [
        ("Patient HIV+ and O-.", "Patient HIV and O."),
        ("HIV+/HCV-, A−", "HIV/HCV, A"),
        ("HIV (+) and O (-)", "HIV and O"),
        ("HIV(+), O(−), k (+/-)", "HIV, O, k"),
        ("HIV⁺ and O⁻ and A＋", "HIV and O and A"),
        ("hiv + and", "hiv and"),
        ("K↑ and k<a", "K and k a"),
        ("+a -o ±k", "a o k"),
        ("a++ and o--", "a and o"),
        ("HIV-positive, well-known", "HIV-positive, well-known"),
        ("a--o", "a--o"),
        ("a - o — k", "a o k"),
        ("a—o", "a—o"),
        ("a\n- o", "a\n o"),
        ("K ↑ and k < a", "K ↑ and k < a"),
        ("a<br />-o<br>", "a<br />o<br>"),
        ("(HIV)-positive", "(HIV)-positive"),
        ("a | o; k! (and?) “o”…", "a | o; k! (and?) “o”…"),
    ],
)
def test_what_is_left_of_a_text(written: str, released: str) -> None:
    assert blur().release([written], voile.seeded_rng(1)) == [released]
    assert blur(Signs.KEEP).release([written], voile.seeded_rng(1))[0].replace(" ", "") == (
        written.replace(" ", "")
    )


@pytest.mark.parametrize(
    "around", ["HIV{} and", "HIV {} and", "HIV: {} and", "HIV ( {} ) and", "HIV [{} ]", "O{}",
               "O {}", "O {}.", "{} O", "O ({} / {})"],
)  # fmt: skip
def test_a_plus_and_a_minus_cannot_be_told_apart(around: str) -> None:
    written = [around.replace("{}", sign) for sign in ("+", *"-−–—―‑－")]
    assert len(set(blur().release(written, voile.seeded_rng(1)))) == 1


@given(st.text(alphabet="+-−±<>=()[]/., \t", max_size=8), st.booleans(), st.booleans())
def test_no_plus_or_minus_remains_and_punctuation_stays(gap, after, before) -> None:
    bare = without_signs(gap, after_word=after, before_word=before)
    assert not set(bare) & set("+−±")
    assert [sign for sign in bare if sign in ".,"] == [sign for sign in gap if sign in ".,"]
    if not set(gap) & set("+-−±<>="):
        assert bare == gap


def test_signs_are_left_out_unless_somebody_asks() -> None:
    words = text.vocabulary(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 3)))
    plain = text.protector(words, epsilon=1.0)
    assert "+" not in plain.release(["hiv+"], voile.seeded_rng(1))[0]
    assert TextProtector(words, plain.laws).signs is Signs.DROP


def test_what_is_said() -> None:
    dropped, kept = blur().guarantee.outside, blur(Signs.KEEP).guarantee.outside
    assert "signs at words (HIV+, O-) are left out" in dropped[0]
    assert "arrows and < > that stand alone remain in clear" in dropped[0]
    assert any("SIGNS AT WORDS" in note and "IN CLEAR" in note for note in kept)


def test_the_file_and_the_first_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOILE_CACHE", str(tmp_path / "cache"))
    vectors = np.random.default_rng(2).normal(size=(len(WORDS), 4))
    lines = [" ".join([w, *(f"{x:.4f}" for x in v)]) for w, v in zip(WORDS, vectors, strict=True)]
    (tmp_path / "words.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "in.csv").write_text("text\nPatient HIV+ and O-\n")

    def call(*more: str) -> str:
        done = CliRunner().invoke(
            app,
            ["protect", str(tmp_path / "in.csv"), "--vocabulary", str(tmp_path / "words.txt"),
             "--epsilon", "1", "--overwrite", *more],
        )  # fmt: skip
        assert done.exception is None, done.exception
        return done.stdout

    shown = call()
    released = (tmp_path / "in.protected.csv").read_text()
    assert not set(released) & set("+-")
    assert "IN CLEAR" not in shown
    shown = call("--signs", "keep")
    assert shown.splitlines()[0] == "2 signs at words stand IN CLEAR."
    assert shown.splitlines()[1].startswith("4 words: ε = 1 each")
    facts = json.loads((tmp_path / "in.protected.csv.guarantee.json").read_text())
    counts = facts["counts"]
    assert (counts["signs_in_clear"], counts["words"], counts["in_clear"]) == (2, 4, {})
    assert "+" in (tmp_path / "in.protected.csv").read_text()
    assert "IN CLEAR would stand: signs at words" in call("--signs", "keep", "--dry-run")
