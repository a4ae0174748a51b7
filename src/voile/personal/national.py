"""National numbers by their check digits (python-stdnum), telephones by their plans (phonenumbers).

A number is taken for one of a country's if it is written as such numbers are and its check digits
agree. Where the form is only digits, the check must be one that few others pass: two digits, or a
date inside. What passes no check is left to the patterns, which hide every long number anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from voile.errors import needs
from voile.personal.patterns import find_identifiers
from voile.personal.spans import Finder, Span

_NOT_INSIDE, _NOT_BEFORE = r"(?<![\w.-])", r"(?![\w-]|\.\w)"
_FORMS: dict[str, tuple[str, str]] = {
    "us.itin": ("TAX_NUMBER", r"9\d{2}-\d{2}-\d{4}"),
    "gb.nhs": ("HEALTH_NUMBER", r"\d{3}[ -]\d{3}[ -]\d{4}"),
    "de.idnr": ("TAX_NUMBER", r"\d{2} ?\d{3} ?\d{3} ?\d{3}"),
    "fr.nir": ("NATIONAL_ID", r"[12] ?\d{2} ?[0-9]{2} ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2}"),
    "es.dni": ("NATIONAL_ID", r"\d{2}\.?\d{3}\.?\d{3}[ -]?[A-Za-z]"),
    "es.nie": ("NATIONAL_ID", r"[XYZxyz][ -]?\d{7}[ -]?[A-Za-z]"),
    "it.codicefiscale": ("NATIONAL_ID", r"[A-Za-z]{6}\d{2}[A-Za-z]\d{2}[A-Za-z]\d{3}[A-Za-z]"),
    "mx.curp": ("NATIONAL_ID", r"[A-Z]{4}\d{6}[A-Z]{6}[0-9A-Z]\d"),
    "be.nn": ("NATIONAL_ID", r"\d{2}\.?\d{2}\.?\d{2}-?\d{3}\.?\d{2}"),
    "ch.ssn": ("NATIONAL_ID", r"756\.?\d{4}\.?\d{4}\.?\d{2}"),
    "pl.pesel": ("NATIONAL_ID", r"\d{11}"),
    "cn.ric": ("NATIONAL_ID", r"\d{17}[0-9Xx]"),
    "br.cpf": ("NATIONAL_ID", r"\d{3}\.\d{3}\.\d{3}-\d{2}"),
    "br.cnpj": ("TAX_NUMBER", r"\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}"),
    "se.personnummer": ("NATIONAL_ID", r"(?:\d{2})?\d{6}[-+]\d{4}"),
    "dk.cpr": ("NATIONAL_ID", r"\d{6}-\d{4}"),
    "fi.hetu": ("NATIONAL_ID", r"\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]"),
    "no.fodselsnummer": ("NATIONAL_ID", r"\d{6} ?\d{5}"),
    "ca.sin": ("NATIONAL_ID", r"\d{3}-\d{3}-\d{3}"),
    "in_.aadhaar": ("NATIONAL_ID", r"[2-9]\d{3} \d{4} \d{4}"),
    "ie.pps": ("NATIONAL_ID", r"\d{7}[A-W][A-IW]?"),
    "eu.vat": ("TAX_NUMBER", r"(?:AT|BE|DE|DK|ES|FI|FR|IE|IT|NL|PL|PT|SE) ?[A-Z0-9]{8,12}"),
}
"""What each module of python-stdnum checks: its kind, and how such numbers are written."""

_NINO = re.compile(
    rf"{_NOT_INSIDE}(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]"
    rf" ?\d{{2}} ?\d{{2}} ?\d{{2}} ?[A-D]{_NOT_BEFORE}"
)
"""British national insurance numbers have no check digit, and a form that nothing else has."""

REGIONS: dict[str, tuple[str, ...]] = {
    "en": ("US", "GB", "CA", "AU", "IE", "NZ", "IN", "ZA"),
    "de": ("DE", "AT", "CH"),
    "fr": ("FR", "BE", "CH", "CA"),
    "es": ("ES", "MX", "AR", "CO", "CL", "PE"),
}
"""Where a language's telephones are, for those written without the country."""


def number_finder(language: str) -> Finder:
    """Numbers by country, with the telephones of a language's countries; of all for others."""
    for module, package in (("stdnum", "python-stdnum"), ("phonenumbers", "phonenumbers")):
        with needs(package, extra="personal"):
            import_module(module)
    every = tuple(dict.fromkeys(region for listed in REGIONS.values() for region in listed))
    regions = REGIONS.get(language, every)
    return lambda texts: [[*_national(text), *_phones(text, regions)] for text in texts]


def _national(text: str) -> Iterator[Span]:
    if not any(map(str.isdigit, text)):
        return
    yield from (Span(*m.span(), "NATIONAL_ID") for m in _NINO.finditer(text))
    for name, (kind, pattern) in _patterns().items():
        checked = _module(name)
        for match in pattern.finditer(text):
            if checked.is_valid(match.group()):
                yield Span(*match.span(), kind)


def _phones(text: str, regions: Sequence[str]) -> Iterator[Span]:
    """Long numbers that are telephones somewhere, though nothing in their form says so."""
    for start, end, kind in find_identifiers(text):
        if kind == "NUMBER" and end - start <= 17 and _is_phone(text[start:end], regions):
            yield Span(start, end, "PHONE")


def _is_phone(written: str, regions: Sequence[str]) -> bool:
    import phonenumbers

    if any(map(str.isalpha, written)):
        return False  # it would read letters as keys: 1-800-FLOWERS
    for region in regions:
        try:
            if phonenumbers.is_valid_number(phonenumbers.parse(written, region)):
                return True
        except phonenumbers.NumberParseException:
            continue
    return False


@cache
def _patterns() -> dict[str, tuple[str, re.Pattern[str]]]:
    return {
        name: (kind, re.compile(f"{_NOT_INSIDE}(?:{form}){_NOT_BEFORE}"))
        for name, (kind, form) in _FORMS.items()
    }


@cache
def _module(name: str) -> Any:
    return import_module(f"stdnum.{name}")
