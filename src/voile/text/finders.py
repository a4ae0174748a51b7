"""What looks for personal data in a text before anything is drawn, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from voile.names import Family, Named
from voile.personal.patterns import RULES
from voile.personal.plain import plain
from voile.personal.rules import found_by
from voile.personal.spans import Finder, Span, check_spans, merge
from voile.text.options import DEFAULT_FINDERS

FINDERS = Family(
    "find",
    (
        Named("patterns", "e-mails, cards, keys, birth dates, … by pattern and check digit",
              "voile.text.finders:_patterns"),
        Named("numbers", "national numbers of 20 countries by check digit, telephones by plan",
              "voile.text.finders:_numbers"),
        Named("addresses", "streets, houses, post boxes, with what follows them",
              "voile.text.finders:_addresses"),
        Named("names", "persons, places, organisations and groups, by the pipeline",
              "voile.text.finders:_names"),
        Named("presidio", "all that Microsoft Presidio finds, over the same pipeline",
              "voile.text.finders:_presidio"),
    ),
    groups=("voile.finders",),
    open_to="NAME=FILE.py:FUNCTION, a function from a text to (start, end, KIND)",
)  # fmt: skip
"""Each gives spans; those of all are taken together."""
DEFAULT = FINDERS.find_all(DEFAULT_FINDERS)


@dataclass(frozen=True)
class Finders:
    """Several finders at work on one language; it travels to workers, who load it anew."""

    chosen: tuple[Named, ...] = DEFAULT
    language: str = "en"
    pipeline: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """What is at work, in order."""
        return tuple(one.name for one in self.chosen)

    @cached_property
    def _loaded(self) -> tuple[Finder, ...]:
        return tuple(_own(one) if one.own else one.load()(self) for one in self.chosen)

    def find(self, texts: Sequence[Any]) -> list[list[Span]]:
        """Personal data in each text, in order, never overlapping; nothing in what is no text.

        >>> Finders().find(["a@example.org", None])
        [[Span(start=0, end=13, kind='EMAIL')], []]
        """
        found = self.found_by_each(texts)
        if self.chosen == DEFAULT:
            return found[0]  # they never overlap
        return [
            merge(s for spans in all_of_it for s in spans) for all_of_it in zip(*found, strict=True)
        ]

    def found_by_each(self, texts: Sequence[Any]) -> list[list[list[Span]]]:
        """What each finder finds in each text; a user's own is handed the text as it is."""
        written = [text if isinstance(text, str) else "" for text in texts]
        read = [plain(text) for text in written]
        seen = [one.text for one in read]
        return [
            finder(written)
            if named.own
            else [one.spans(spans) for one, spans in zip(read, finder(seen), strict=True)]
            for named, finder in zip(self.chosen, self._loaded, strict=True)
        ]

    def load(self) -> Finders:
        """The same, once everything that it needs was found to be installed."""
        assert self._loaded
        return self


def _own(named: Named) -> Finder:
    """A user's own function of one text, its answers checked."""
    function = named.load()
    return lambda texts: [check_spans(function(text), text, named.name) for text in texts]


def _patterns(finders: Finders) -> Finder:
    return lambda texts: [found_by(RULES, text) for text in texts]  # they are plain already


def _numbers(finders: Finders) -> Finder:
    from voile.personal.national import number_finder

    return number_finder(finders.language)


def _addresses(finders: Finders) -> Finder:
    from voile.personal.addresses import address_finder

    return address_finder(finders.language)


def _names(finders: Finders) -> Finder:
    from voile.text.tiers import NAME_KINDS, load_pipeline, marked

    pipeline = load_pipeline(finders.pipeline)
    return lambda texts: [
        [Span(e.start_char, e.end_char, NAME_KINDS[e.label_]) for e in found]
        for found in marked(pipeline, texts)
    ]


def _presidio(finders: Finders) -> Finder:
    from voile.personal.presidio import presidio_finder
    from voile.text.tiers import load_pipeline

    return presidio_finder(finders.language, load_pipeline(finders.pipeline, whole=True))
