"""Nothing of a text is lost, and nothing but lay-out stays in clear."""

from __future__ import annotations

import re
import unicodedata
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.text.tokens import Case, Token, Tokenizer, join
from voile.text.vocabularies import vocabulary

WORDS = vocabulary(
    ["do", "n't", "it", "'s", "well", "known", "well-known", "café", "2004", "a"],
    [[float(i)] for i in range(10)],
)
TOKENIZER = Tokenizer(WORDS)
ANY_TEXT = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(
    ["👩‍👩‍👧 ok", "हिन्दी में", "e\u0301té", "don’t—it's", "x\u200by", "a\x00b", "中文。", "İstanbul"]
)


@given(ANY_TEXT)
def test_pieces_and_spellings_give_the_text_back(text: str) -> None:
    pieces = TOKENIZER.split(text)
    assert "".join(p if isinstance(p, str) else text[p.start : p.end] for p in pieces) == text


@given(ANY_TEXT)
def test_gaps_hold_spacing_punctuation_and_signs_only(text: str) -> None:
    """Letters, marks, digits and emoji are always part of a secret."""
    for piece in TOKENIZER.split(text):
        if isinstance(piece, str):
            piece = re.sub("(?i)</?(?:br|hr|p|b|i|u|em|li|ul|ol) ?/?>", "", piece)
            kinds = {unicodedata.category(character)[0] for character in piece}
            assert kinds <= {"Z", "P", "S", "C"}
            assert not any(unicodedata.category(c) in ("So", "Co", "Cf") for c in piece)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Don't", ["do", "n't"]),
        ("DON’T", ["do", "n't"]),
        ("It's well-known", ["it", "'s", "well-known"]),
        ("known-well", ["known", "well"]),
        ("Cafe\u0301 2004", ["café", "2004"]),
        ("😀 zzz", [None, None]),
        ("a.b@", ["a", None]),
        ("it<br /><BR>do <p class=a>", ["it", "do", None, None, "a"]),
    ],
)
def test_words_are_found(text: str, found: list[str | None]) -> None:
    tokens = [p for p in TOKENIZER.split(text) if isinstance(p, Token)]
    written = [WORDS.words[t.position] if t.position < len(WORDS) else None for t in tokens]
    assert written == found


def test_long_forms_are_unknown_without_being_normalised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Normal forms cost the square of a run of marks: 100,000 marks took 24 seconds."""
    seen: list[int] = []

    def normalize(form: str, text: str) -> str:
        seen.append(len(text))
        return unicodedata.normalize(form, text)

    from voile.text import tokens

    monkeypatch.setattr(tokens, "unicodedata", SimpleNamespace(normalize=normalize))
    tokenizer = Tokenizer(WORDS)
    marked = "e" + "\u0316\u0301" * 100_000
    (token,) = tokenizer.split(marked)
    assert token == Token(WORDS.unknown, Case.LOWER, 0, 200_001)
    pieces = [p for p in tokenizer.split(f"well-{marked}-known") if isinstance(p, Token)]
    assert [p.position for p in pieces] == [WORDS.positions["well"], WORDS.unknown,
                                            WORDS.positions["known"]]  # fmt: skip
    assert len(tokenizer.split("it-" * 50_000)) == 100_000
    assert max(seen) <= 4 * (len("well-known") + 3)


def test_a_word_taken_apart_as_far_as_can_be_is_still_found() -> None:
    greek = vocabulary(["ᾂᾂᾂᾂ", "b"], [[0.0], [1.0]])
    spelled = unicodedata.normalize("NFD", "ᾂᾂᾂᾂ")
    assert len(spelled) == 16
    assert Tokenizer(greek).split(spelled) == [Token(0, Case.LOWER, 0, 16)]


def test_what_a_tokenizer_remembers_does_not_grow_with_the_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from voile.text import tokens

    monkeypatch.setattr(tokens, "MOST_FORMS", 50)
    tokenizer = Tokenizer(WORDS)
    text = " ".join(f"w{i} don't {'x' * i}" for i in range(300))
    assert tokenizer.split(text) == TOKENIZER.split(text)
    assert 0 < len(tokenizer._forms) <= 50
    assert max(map(len, tokenizer._forms)) <= 52  # and no form is kept that is longer than any word


def test_case_is_restored_and_words_do_not_run_together() -> None:
    pieces = [
        ("do", Case.CAPITAL),
        ("house", Case.LOWER),
        ", ",
        ("it", Case.UPPER),
        ("'s", Case.LOWER),
    ]
    assert join(pieces) == "Do house, IT's"


def test_a_line_of_megabytes_takes_one_pass() -> None:
    """Quadratic patterns would need hours for these."""
    for line in ("a" * 500_000 + "@", "1" * 500_000 + "a", "1." * 250_000, "www." * 100_000):
        TOKENIZER.split(line)
