"""Microsoft Presidio as a source of spans, for those who use it already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from voile.errors import InvalidInput
from voile.personal.spans import Span

KINDS = {
    "CREDIT_CARD": "CARD", "EMAIL_ADDRESS": "EMAIL", "PHONE_NUMBER": "PHONE", "IBAN_CODE": "IBAN",
    "IP_ADDRESS": "IP", "US_SSN": "SSN", "US_PASSPORT": "PASSPORT", "UK_PASSPORT": "PASSPORT",
    "US_DRIVER_LICENSE": "DRIVER_LICENCE", "US_ITIN": "TAX_NUMBER", "US_BANK_NUMBER": "ACCOUNT",
    "UK_NHS": "HEALTH_NUMBER", "UK_NINO": "NATIONAL_ID", "CRYPTO": "WALLET", "LOCATION": "PLACE",
    "NRP": "GROUP", "ORGANIZATION": "ORGANISATION", "DATE_TIME": "DATE", "MAC_ADDRESS": "MAC",
}  # fmt: skip
"""Our words for what Presidio names otherwise; its other kinds keep their names."""


class PresidioFinder:
    """All that Presidio's analyser finds, above its own default score."""

    def __init__(self, engine: Any, language: str) -> None:
        self._engine, self._language = engine, language

    def __call__(self, texts: Sequence[str]) -> list[list[Span]]:
        """What is found in each text."""
        return [
            [
                Span(one.start, one.end, KINDS.get(one.entity_type, one.entity_type))
                for one in self._engine.analyze(text, language=self._language)
                if one.start < one.end
            ]
            for text in texts
        ]


def presidio_finder(language: str, nlp: Any) -> PresidioFinder:
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

    return PresidioFinder(
        AnalyzerEngine(nlp_engine=Loaded(), supported_languages=[language]), language
    )
