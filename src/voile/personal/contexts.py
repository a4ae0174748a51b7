"""Numbers that a word before them names: born on, passport number, tax number."""

from __future__ import annotations

import re
from collections.abc import Iterator

from voile.personal.spans import Span

MONTHS = (
    r"(?:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|sept|oct|okt|nov|dec|dez"
    r"|january|february|march|april|june|july|august|september|october|november|december"
    r"|januar|jänner|februar|märz|juni|juli|oktober|dezember"
    r"|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre"
    r"|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)"
)
_DATE = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\s?\d{1,2}[-/.]\s?\d{2,4}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.|er|º)?\s(?:of\s|de\s)?{MONTHS}\.?,?\s(?:de\s)?\d{{2,4}}"
    rf"|{MONTHS}\.?\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}})"
)
_ORDINALS = (
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth"
    r"|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth"
    r"|(?:twenty|thirty)-?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|thirtieth"
    r"|(?:ersten?|zweiten?|dritten?|vierten?|fünften?|sechsten?|siebten?|achten?|neunten?|zehnten?"
    r"|elften?|zwölften?|\w{3,22}zehnten?|\w{0,14}zwanzigsten?|\w{0,8}dreißigsten?)"
    r"|premier|primero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|\w{2,5}ce"
    r"|dieci\w{3,6}|veint\w{1,8}|treinta(?: y uno)?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix"
    r"|\w{2,6}ze|dix-\w{4}|vingt(?:[- ]et)?(?:[- ]\w{2,6})?|trente(?:[- ]et[- ]une?)?)"
)
_YEAR_IN_WORDS = (
    r"(?:(?:nineteen|twenty)[ -](?:hundred|oh[ -]\w{3,5}|\w{3,9}(?:[ -]\w{3,5})?)"
    r"|two thousand(?: and)?(?:[ -]\w{3,9}){0,2}|neunzehnhundert\w{0,24}|zweitausend\w{0,20}"
    r"|(?:mil novecientos|dos mil|mille neuf cents?|deux mille|dix-neuf cents?)"
    r"(?:[ -]\w{1,12}){0,4})"
)
_DATE_IN_WORDS = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th|\.)?|{_ORDINALS})\s(?:day\s)?(?:of\s|de\s)?{MONTHS}"
    rf"\.?,?\s(?:of\s|de\s|in\s)?(?:\d{{2,4}}|{_YEAR_IN_WORDS})"
    rf"|{MONTHS}\.?\s(?:the\s)?(?:\d{{1,2}}(?:st|nd|rd|th)?|{_ORDINALS})"
    rf",?\s(?:of\s|in\s)?(?:\d{{4}}|{_YEAR_IN_WORDS})"
)
"""Day, month and year, of which the day and the year may be in words."""
BIRTH = re.compile(
    r"(?i:\b(?:born|birth(?:day|date)?|date of birth|d\.?o\.?b\.?|b-?day|geboren|geb\.|geburtstag"
    r"|geburtsdatum|née?|naissance|nacid[oa]|nacimiento)(?!\w)"
    rf"[^\d\x00]{{0,24}}?(?<!\w)(?P<value>{_DATE}|{_DATE_IN_WORDS}))(?!\d)"
)
"""A date, in digits, with its month in letters or in words, soon after a word of birth."""
_BETWEEN = (
    r"(?:[’']?s)?\s{0,2}(?:(?:number|numbers|num|no|nr|n°|nº|id|code|is|was|ist|lautet|est|es|of"
    r"|my|the|card|#|:|=|\(|\)|-|\.|,)\s{0,2}){0,5}"
)
_CODE = r"[A-Za-z0-9](?:[ ./-]?[A-Za-z0-9]){3,22}"
_ON = re.compile(r"[A-Za-z0-9]*(?:[ ./-]\d[A-Za-z0-9]*)*")
"""What is left of a code that is longer than any: no digit of it stays."""
_WORDS = {
    "SSN": r"ssn|social security",
    "PASSPORT": r"passports?|reisepass(?:nummer)?|passeport|pasaporte",
    "DRIVER_LICENCE": (
        r"driv(?:er|ing)[’']?s?[’']? licen[cs]e|dl number"
        r"|führerschein(?:nummer)?"
        r"|permis de conduire|(?:permiso|licencia|carnet) de conducir"
    ),
    "TAX_NUMBER": (
        r"tax(?:payer)?(?: identification)?|vat|itin|ein|utr"
        r"|steuer(?:nummer|-?id(?:entifikationsnummer)?|-?nr)|ust-?id(?:-?nr)?"
        r"|numéro fiscal|nif|cif"
    ),
    "HEALTH_NUMBER": (
        r"nhs|medicare|mrn|medical record|health insurance|patient|versichertennummer"
        r"|krankenversicherung(?:snummer)?|carte vitale|tarjeta sanitaria"
    ),
    "NATIONAL_ID": (
        r"national insurance|nino|national id(?:entity)?|identity card|personalausweis(?:nummer)?"
        r"|sozialversicherungsnummer|sécurité sociale|nir|seguridad social|dni|nie|aadhaar|cpf|bsn"
        r"|pesel|personnummer|codice fiscale"
    ),
    "ACCOUNT": (
        r"(?:bank |checking |savings )?(?:account|acct)|routing|sort code|kontonummer|konto"
        r"|numéro de compte|cuenta|bsb"
    ),
    "VIN": r"vin|vehicle identification|fahrgestellnummer",
    "CARD": r"(?:credit|debit|bank|payment) ?card|card|cc|kreditkarte|carte bancaire|tarjeta",
}
_NAMED = re.compile(
    "|".join(rf"(?P<{kind}>\b(?i:{words})(?!\w)(?i:{_BETWEEN})(?P<{kind}_value>(?<![^\W_])(?:{_CODE})))"
             for kind, words in _WORDS.items())
)  # fmt: skip
_MINIMUM = {"ACCOUNT": 6, "CARD": 12, "TAX_NUMBER": 7, "VIN": 6}
_LONGEST_LETTERS = 4
_POSTCODE = re.compile(
    r"(?i:\b(?:zip(?: ?code)?|post(?:al)? ?code|plz|postleitzahl|code postal|código postal)"
    r"[ \t]?(?:is|ist|est|es|:|=|#)?[ \t]{0,2}(?P<value>[A-Z0-9]{2,7}(?:[ -][A-Z0-9]{2,4})?))(?!\w)"
    r"|(?<![\w-])(?:(?:GIR 0AA|[A-PR-UWYZ][A-HK-Y]?\d[A-HJKPSTUW\d]? \d[ABD-HJLNP-UW-Z]{2})"
    r"|[A-CEGHJ-NPR-TVXY]\d[A-CEGHJ-NPR-TV-Z] \d[A-CEGHJ-NPR-TV-Z]\d|\d{5}-\d{4})(?![\w-])"
)


def named_numbers(text: str) -> Iterator[Span]:
    """Codes after the words that name them: as far as their parts hold digits."""
    place = 0
    while match := _NAMED.search(text, place):
        kind = str(match.lastgroup).removesuffix("_value")
        start, end = match.span(f"{kind}_value")
        coded = start + _coded(text[start:end])
        end = _ON.match(text, end).end() if coded == end else coded  # type: ignore[union-attr]
        digits = sum(map(str.isdigit, text[start:end]))
        if digits >= _MINIMUM.get(kind, 5):
            yield Span(start, end, kind)
        place = max(end, match.start() + 1)


def _coded(written: str) -> int:
    """Where a code ends: before the first part of it that is a word."""
    end = 0
    for part in re.finditer(r"[A-Za-z0-9]+", written):
        letters = sum(map(str.isalpha, part.group()))
        word = not any(map(str.isdigit, part.group())) and (
            letters > _LONGEST_LETTERS or not part.group().isupper()
        )
        if word:
            break
        end = part.end()
    return end


def postcodes(text: str) -> Iterator[Span]:
    """After a word that says so; British, Canadian and nine-digit American ones by their form."""
    for match in _POSTCODE.finditer(text):
        span = match.span("value") if match["value"] else match.span()
        value = text[slice(*span)]
        if any(map(str.isdigit, value)):
            if match["value"] and " " in value and not any(map(str.isdigit, value.split()[0])):
                continue  # "zip is on 5": the word is no code
            yield Span(*span, "POSTCODE")
