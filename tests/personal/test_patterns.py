"""Identifiers by their patterns: each labelled as what it is, and no line too hostile."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.personal.checks import IBAN_LENGTHS, has_issuer, is_card, is_iban, is_vin, is_wallet
from voile.personal.patterns import RULES, find_identifiers
from voile.personal.rules import found_by
from voile.personal.spans import KINDS, Span, check_spans, merge


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("mail jane.doe+x@mail.example.co.uk now", ["EMAIL"]),
        ("see https://example.org/a?b=c, or www.example.org.", ["URL", "URL"]),
        ("see example.com/page, e.g. this.It is so.", ["URL"]),
        ("from 192.168.1.254 and 2001:db8::8a2e:370:7334", ["IP", "IP"]),
        ("card 00:1A:2B:3C:4D:5E, 0012.3456.789a", ["MAC", "MAC"]),
        ("999.1.1.1 is no address", []),
        ("call +44 20 7946 0958 or (020) 7946-0958", ["PHONE", "PHONE"]),
        ("+1-903-140-4508x769, (898)666-3621 ext. 12", ["PHONE", "PHONE"]),
        ("ring 00491712345678", ["PHONE"]),
        ("card 4111 1111 1111 1111", ["CARD"]),
        ("code 4111 1111 1111 1112", ["NUMBER"]),
        ("my card 4111 1111 1111 1112, mistyped", ["CARD"]),
        ("192.168.1.1 4111111111111111", ["IP", "CARD"]),
        ("1234 4111 1111 1111 1111", ["CARD"]),
        ("IBAN GB82 WEST 1234 5698 7654 32 please", ["IBAN"]),
        ("IBAN GB82 WEST 1234 5698 7654 32 PLEASE USE IT", ["IBAN"]),
        ("my iban is gb42nawi04454264788619", ["IBAN"]),
        ("born 12 March 1985 in Rome; DOB: 03/12/1985", ["DATE_OF_BIRTH", "DATE_OF_BIRTH"]),
        ("geb. am 12.3.1985, née le 3 mars 1970", ["DATE_OF_BIRTH", "DATE_OF_BIRTH"]),
        ("nacida el 4 de mayo de 1990", ["DATE_OF_BIRTH"]),
        ("on 1985-03-12 and 2003-08-28 12:13:52", ["DATE", "DATE"]),
        ("SSN 123456789, or 123-45-6789", ["SSN", "SSN"]),
        ("passport number C01X00T47 of hers", ["PASSPORT"]),
        ("his driver's license number is F162823540116", ["DRIVER_LICENCE"]),
        ("tax id 12-3456789, Steuernummer 21/815/08150", ["TAX_NUMBER", "TAX_NUMBER"]),
        ("NHS number 943 476 5919", ["HEALTH_NUMBER"]),
        ("my account 12345678 and order 12345", ["ACCOUNT"]),
        ("the car 1HGCM82633A004352", ["VIN"]),
        ("AKIAIOSFODNN7EXAMPLE and ghp_16C7e42F292c6912E7710c838347Ae178B4a", ["API_KEY"] * 2),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN", ["TOKEN"]),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----", ["PRIVATE_KEY"]),
        ("-----BEGIN PRIVATE KEY-----\nMII and no end", ["PRIVATE_KEY"]),
        ("password: hunter22! The password is important.", ["PASSWORD"]),
        ("it was 9f86d081884c7d659a2feaa0c55ad015", ["API_KEY"]),
        ("550e8400-e29b-41d4-a716-446655440000", ["UUID"]),
        ("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", ["WALLET"]),
        ("at 52.52000, 13.40500 or 40°26'46\"N 79°58'56\"W", ["COORDINATES"] * 2),
        ("follow @jack_d, not me @ home", ["HANDLE"]),
        ("SW1A 1AA, K1A 0B1, zip 3520, ZIP: 7412 SL", ["POSTCODE"] * 4),
        ("order 123456789", ["NUMBER"]),
        ("in 1939-1945 and 2004, 10/10, 3.14 for $1,200", []),
        ("my patient is 45 years old, the account for 30 percent, card 12 of 15", []),
        ("Multi-Threaded-Server-Edition2024 is TheSecondEditionOf2024", []),
        ("plain words: none", []),
        ("", []),
    ],
)
def test_each_is_labelled_as_what_it_is(text: str, kinds: list[str]) -> None:
    assert [kind for *_, kind in find_identifiers(text)] == kinds


def test_the_whole_of_it_is_covered() -> None:
    text = "Born 12.03.1985; password: hunter22! call +1-903-140-4508x769 now"
    shown = [text[a:b] for a, b, _ in find_identifiers(text)]
    assert shown == ["12.03.1985", "hunter22!", "+1-903-140-4508x769"]


def test_check_digits() -> None:
    assert is_card("378282246310005")
    assert not is_card("378282246310006")
    assert not has_issuer("00491712345678")
    assert is_iban("DE89370400440532013000")
    assert not is_iban("DE89370400440532013001")
    assert not is_iban("XX89370400440532013000")
    assert is_vin("1M8GDM9AXKP042788")  # a check digit of X
    assert not is_wallet("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb")
    assert len(IBAN_LENGTHS) > 80


PIECES = re.split(
    " ",
    "a 1 1. 1- www. a@ @a a.b -----BEGIN eyJ eyJaaaaaaaa. sk-ab- AKIA 0x 1: ab: :: + (1 1/ 12/ "
    "1985- 12.03. password: token= card ssn: born zip AA11 GB82 4111 1° 1.111, http://. a- = "
    "PRIVATE·KEY -----BEGIN·PRIVATE·KEY----- passport·number· born·in· 4111· 1· 1.1111· é ٣ \x00",
)


@pytest.mark.parametrize("piece", PIECES)
def test_a_long_line_takes_one_pass(piece: str) -> None:
    """A pattern that costs the square of a line would need hours for some of these."""
    unit = piece.replace("·", " ")
    find_identifiers(unit * (100_000 // len(unit)) + "a@")


def test_a_line_of_megabytes_takes_one_pass() -> None:
    for line in ("a" * 2_000_000 + "@", "1" * 2_000_000 + "a", "www." * 500_000):
        find_identifiers(line)


@given(st.text(st.characters(codec="utf-8"), max_size=80))
def test_spans_are_ordered_and_disjoint(text: str) -> None:
    last = 0
    for start, end, kind in find_identifiers(text + " a@b.cd 12345678"):
        assert last <= start < end
        assert kind in KINDS
        last = end


@given(
    st.lists(st.sampled_from([*"+()-./:@ 0123456789", "born ", "card ", "GB82", "x"]), max_size=40)
)
def test_nothing_long_in_digits_is_left(parts: list[str]) -> None:
    """A run of seven digits or more is always inside some find, whatever stands around it."""
    text = "".join(parts)
    covered = {place for start, end, _ in find_identifiers(text) for place in range(start, end)}
    for match in re.finditer(r"(?<!\w)\d{7,}(?!\w)", text):
        assert set(range(*match.span())) <= covered


SPANS = st.builds(
    lambda start, size, kind: Span(start, start + size, kind),
    st.integers(0, 40), st.integers(1, 12), st.sampled_from([*KINDS, "MINE"]),
)  # fmt: skip


@given(st.lists(SPANS, max_size=12))
def test_merged_spans_hide_no_less_and_no_more(spans: list[Span]) -> None:
    merged = merge(spans)
    places = [{p for s in found for p in range(s.start, s.end)} for found in (spans, merged)]
    assert places[0] == places[1]
    assert all(a.end <= b.start for a, b in pairwise(merged))
    assert {span.kind for span in merged} <= {span.kind for span in spans}


@pytest.mark.parametrize(
    "wrong", [(0, 99, "A"), (3, 3, "A"), (-1, 2, "A"), (0, 2, "a b"), (0, 2), "x", (0.0, 2, "A")]
)
def test_what_a_finder_of_a_users_own_gives_is_checked(wrong: object) -> None:
    from voile.errors import InvalidInput

    with pytest.raises(InvalidInput, match="finder mine must give") as caught:
        check_spans([wrong], "secret words", "mine")
    assert "secret" not in str(caught.value)


FEWEST_DIGITS = {
    "1.1.1.1": "IP", "5°5'N 5°5'E": "COORDINATES", "born 1 May 85": "DATE_OF_BIRTH",
    "passport 12345": "PASSPORT", "password: abcde1": "PASSWORD", "500000000009": "CARD",
    "123-45-6789": "SSN", "1/1/1985": "DATE", "GIR 0AA": "POSTCODE", "1234567": "NUMBER",
    "NL91ABNA0417164300": "IBAN",
}  # fmt: skip
"""Texts with as few digits as their kind can have."""


@pytest.mark.parametrize(("text", "kind"), FEWEST_DIGITS.items())
def test_a_rule_waits_for_no_more_digits_than_it_needs(text, kind):
    """What a text of fewer digits cannot hold is not looked for; what it can hold is found."""
    assert [found for *_, found in find_identifiers(text)] == [kind]


SHORTEST_RUNS = {
    "Www.example.invalid": "URL", "eyJabcdefgh.eyJabcdefgh": "TOKEN", "xoxa-abcdefghij": "API_KEY",
    "abcdefab-abcd-abcd-abcd-abcdefabcdef": "UUID", "0012.3456.789a": "MAC", "::1": "IP",
    "1HGCM82633A004352": "VIN", "1QLbz7JHiBTspS962RLKV8GndWFwi5j6Qr": "WALLET",
    "bc1qqqqqqqqqqqqqqqqqqqqqqqqq": "WALLET", "f3a9c2e47b1d08a65c39": "API_KEY",
}  # fmt: skip
"""Texts with as few signs in a row as their kind can have."""


@pytest.mark.parametrize(("text", "kind"), SHORTEST_RUNS.items())
def test_a_rule_waits_for_no_longer_run_than_it_needs(text, kind):
    assert [found for *_, found in find_identifiers(text)] == [kind]


@given(
    st.sampled_from([*FEWEST_DIGITS, *SHORTEST_RUNS]),
    st.text("0123456789ABXabx .:-/'°", max_size=30),
)
def test_where_a_rule_is_not_asked_it_finds_nothing(text, more):
    """Digits, signs and runs that a rule needs are needed: of any beginning of any text."""
    whole = text + more
    for end in range(len(whole) + 1):
        part = whole[:end]
        for rule in RULES:
            if not found_by([rule], part):
                assert not list(rule.find(part))
