"""Microsoft Presidio as a source of spans, for those who use it already."""

from __future__ import annotations

from typing import Any

from voile.errors import InvalidInput
from voile.personal.spans import Finder, Span

KINDS = {
    "CREDIT_CARD": "CARD", "EMAIL_ADDRESS": "EMAIL", "PHONE_NUMBER": "PHONE", "IBAN_CODE": "IBAN",
    "IP_ADDRESS": "IP", "US_SSN": "SSN", "US_PASSPORT": "PASSPORT", "UK_PASSPORT": "PASSPORT",
    "US_DRIVER_LICENSE": "DRIVER_LICENCE", "US_ITIN": "TAX_NUMBER", "US_BANK_NUMBER": "ACCOUNT",
    "UK_NHS": "HEALTH_NUMBER", "UK_NINO": "NATIONAL_ID", "CRYPTO": "WALLET", "LOCATION": "PLACE",
    "NRP": "GROUP", "ORGANIZATION": "ORGANISATION", "DATE_TIME": "DATE", "MAC_ADDRESS": "MAC",
}  # fmt: skip
"""Our words for what Presidio names otherwise; its other kinds keep their names."""


def presidio_finder(language: str, nlp: Any) -> Finder:
    """Presidio over a spaCy pipeline that is loaded already: the one that finds names here."""
    try:
        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.nlp_engine import SpacyNlpEngine
    except ImportError:
        raise InvalidInput(
            "the finder presidio must be installed: pip install presidio-analyzer, or leave it out"
        ) from None

    class Loaded(SpacyNlpEngine):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.nlp = {language: nlp}

    engine = AnalyzerEngine(nlp_engine=Loaded(), supported_languages=[language])

    def find(text: str) -> list[Span]:
        found = engine.analyze(text, language=language)  # above its own default score
        named = (Span(o.start, o.end, KINDS.get(o.entity_type, o.entity_type)) for o in found)
        return [span for span in named if span.start < span.end]

    return lambda texts: list(map(find, texts))
