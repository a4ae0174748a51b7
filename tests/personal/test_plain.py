"""Finders read what a reader sees, however it is written, and find it where it stands."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.personal.patterns import find_identifiers
from voile.personal.plain import plain
from voile.personal.spans import Span
from voile.text.finders import FINDERS, Finders

NO_BREAK, NARROW, SOFT, ZERO = "\u00a0", "\u202f", "\u00ad", "\u200b"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (f"An{SOFT}n {ZERO}Lee", "Ann Lee"),
        (f"06{NARROW}12{NO_BREAK}34", "06 12 34"),
        ("020‑7946−0958", "020-7946-0958"),
        ("Ａｎｎ＠４２ ٤٢", "Ann@42 42"),
        (unicodedata.normalize("NFD", "Müller, Réné"), "Müller, Réné"),
        ("&#65;nn&nbsp;&lt;&commat;&shy;&gt;", "Ann <@>"),
        (r"M\u00fcller\nAnn https:\/\/a.example", "Müller\nAnn https://a.example"),
        ("10² 1º ½ ﬁ ž", "10² 1º ½ ﬁ ž"),
        (r"C:\new \ud83d \u0000 &bogus; &", r"C:\new \ud83d \u0000 &bogus; &"),
        ("Ann\x00\x07 020\x00123\x7f4\n5", "Ann 0201234\n5"),
        ("0\ufe0f\u20e32\ufe0f\u20e3", "02"),
        ("Ann \ud83d", "Ann \ufffd"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_signs_are_read_as_they_look(text: str, read: str) -> None:
    assert plain(text).text == read


@given(
    st.text(st.characters(codec="utf-8") | st.sampled_from("&#65;\\u00e9\u0301\u00ad"), max_size=60)
)
def test_every_sign_has_its_place_and_reading_twice_is_reading_once(text: str) -> None:
    read = plain(text)
    places = [read.place(i, i + 1) for i in range(len(read.text))]
    assert all(0 <= a < b <= len(text) for a, b in places)
    assert all(one[1] <= two[0] for one, two in pairwise(places))
    if text.isascii() and text.isprintable() and not set("&\\") & set(text):
        assert read.text == text


ODD = [
    (f"call +44{NO_BREAK}20{NO_BREAK}7946{NO_BREAK}0958", "PHONE"),
    (f"tél. 06{NARROW}12{NARROW}34{NARROW}56{NARROW}78", "PHONE"),
    ("call 020‑7946‑0958", "PHONE"),
    ("call +44 20 7946\n0958 now", "PHONE"),
    (f"IBAN DE89{NO_BREAK}3704{NO_BREAK}0044{NO_BREAK}0532{NO_BREAK}0130{NO_BREAK}00", "IBAN"),
    ("IBAN DE89 3704 0044\n0532 0130 00", "IBAN"),
    ("iban de89 3704 0044 0532 0130 00", "IBAN"),
    ("card 4111&nbsp;1111&nbsp;1111&nbsp;1111", "CARD"),
    ("card 4111 1111\n1111 1111", "CARD"),
    ("card 4111.1111.1111.1111", "CARD"),
    (f"mail ann{SOFT}.lee{ZERO}@exam{SOFT}ple.org", "EMAIL"),
    ("mail ann.lee＠example．org", "EMAIL"),
    ("mail ann.lee&#64;example.org", "EMAIL"),
    ("mail ann.lee [at] example [dot] org", "EMAIL"),
    ("mail ann.lee(at)example.org", "EMAIL"),
    ("mail o'brien@example.org", "EMAIL"),
    ("mail \u202e<ann@example.org>\u202c", "EMAIL"),
    ("SSN 123‑45‑6789", "SSN"),
    ("@ann.lee-2 wrote", "HANDLE"),
    ("born 12\u200b.03.1985", "DATE_OF_BIRTH"),
    ("Date of birth:\n12.03.1985", "DATE_OF_BIRTH"),
    ("born on the twelfth of March 1985", "DATE_OF_BIRTH"),
    ("born March twelfth, nineteen eighty-five", "DATE_OF_BIRTH"),
    ("geboren am zwölften März neunzehnhundertfünfundachtzig", "DATE_OF_BIRTH"),
    ("née le premier avril mille neuf cent quatre-vingt-cinq", "DATE_OF_BIRTH"),
    ("nacido el doce de marzo de mil novecientos ochenta y cinco", "DATE_OF_BIRTH"),
    ("on 12 March 1985", "DATE"),
    ("on Aug. 23rd, 2004", "DATE"),
    ("den 12.03.85", "DATE"),
    ("passport number:\nX1234567", "PASSPORT"),
    ("call 0️⃣2️⃣0️⃣7️⃣9️⃣4️⃣6️⃣", "NUMBER"),
    ("call 020\x007946\x000958", "NUMBER"),
    ("customer K12345678", "NUMBER"),
    ("order_20417733x", "NUMBER"),
]
LEFT = {"", "call", "tél.", "iban", "card", "mail", "ssn", "wrote", "born", "on", "the", "am", "le",
        "el", "den", "geboren", "née", "nacido", "date", "of", "birth:", "passport", "number:",
        "customer", "now", "<", ">"}  # fmt: skip


@pytest.mark.parametrize(("text", "kind"), ODD)
def test_odd_forms_are_found_whole(text: str, kind: str) -> None:
    ((start, end, found),) = find_identifiers(text)
    assert found == kind
    left = (text[:start] + " " + text[end:]).casefold().split()
    assert {word.strip("\u202e\u202c\ufe0f\u20e3") for word in left} <= LEFT


@pytest.mark.parametrize(
    "text",
    ["12345\n23456\n34567", "1939\n1945", "1\t2\t3\t4\t5\t6\t7\t8", "v20.44.01", "on 31.13.85"],
)
def test_numbers_in_lines_and_columns_are_not_one(text: str) -> None:
    assert find_identifiers(text) == []


def test_a_users_own_finder_is_handed_the_text_as_it_is() -> None:
    text = f"mail ann{SOFT}@example.org, An{SOFT}n"

    def mine(given: str) -> list[tuple[int, int, str]]:
        assert given == text
        return [(given.rindex("An"), len(given), "NAME")]

    finders = Finders(FINDERS.find_all(["patterns", mine]), "en")
    assert finders.find([text]) == [[Span(5, 21, "EMAIL"), Span(23, 27, "NAME")]]
