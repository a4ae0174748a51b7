"""What a text release promises and what it spent: the value that every sentence is read from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from voile.core.mechanism import Mechanism
from voile.core.rounding import exp_upwards, product_upwards
from voile.jobs.release import Spending
from voile.text.effects import Expected, WatchedClass, expected, watched
from voile.text.nearest import NearestWords
from voile.text.plan import SIGNS_AT_WORDS, STOP_WORDS, UNKNOWN_WORDS
from voile.text.released import ReleasedText, Unknown
from voile.text.restored import read_totals
from voile.text.seen import PREFIX
from voile.text.settings import TextSettings
from voile.text.signs import Signs
from voile.text.word_protector import TextProtector

TITLES = {"words": "words", "pii": "names", "poii": "words close to names", "rest": "other words"}
"""What the words of a level are called in sentences."""


@dataclass(frozen=True)
class Odds:
    """By how much a release can move the odds between two words that are nearest: e^exponent."""

    exponent: float
    factor: float | None


@dataclass(frozen=True)
class Level:
    """The law of one level of words and, after a release, what was drawn and came out changed.

    A level in clear has no epsilon; nor has one whose epsilon depends on a text's length, before
    any length is known. `median` and `five_percent` are the odds between words as near as half,
    and as one in twenty, of the words are to their nearest.
    """

    name: str
    title: str
    released: Literal["drawn", "in clear"]
    epsilon: float | None = None
    median: Odds | None = None
    five_percent: Odds | None = None
    expected: Expected | None = None
    watched: tuple[WatchedClass, ...] = ()
    drawn: int | None = None
    changed: int | None = None
    draws: int | None = None


@dataclass(frozen=True)
class Counts:
    """What was done to words: how many there were, were drawn, came out changed, stand in clear.

    `draws` is the number of draws behind the drawn words, summed over documents.
    """

    words: int
    drawn: int
    draws: int
    changed: int
    in_clear: Mapping[str, int]
    signs_in_clear: int


# ── before a release ───────────────────────────────────────────────────────────────────────────


def levels_of(protector: TextProtector, settings: TextSettings) -> tuple[Level, ...]:
    """The law of each level, and what it does to words at large and to those that are watched."""
    nearest = protector.nearest
    found = [_level(protector, level, nearest) for level in range(len(protector.levels))]
    if protector.law_of_length is not None:  # a law for each length
        return tuple(found)
    effects: dict[float, tuple[Expected, tuple[WatchedClass, ...]]] = {}
    for place, law in enumerate(protector.laws):
        if law is None:
            continue
        if law.guarantee.epsilon not in effects:
            effects[law.guarantee.epsilon] = _effects(law, protector, settings)
        seen, watch = effects[law.guarantee.epsilon]
        found[place] = replace(found[place], expected=seen, watched=watch)
    return tuple(found)


def _effects(
    law: Mechanism, protector: TextProtector, settings: TextSettings
) -> tuple[Expected, tuple[WatchedClass, ...]]:
    kept = watched(
        law,
        protector.vocabulary,
        settings.watch,
        keep_stopwords=settings.words.keep_stopwords,
        keep_unknown=settings.words.unknown == "keep",
    )
    return expected(law, protector.vocabulary), kept


def _level(protector: TextProtector, level: int, nearest: NearestWords) -> Level:
    name = protector.levels[level]
    if protector.law_of_length is not None:  # known with the lengths
        return Level(name, TITLES[name], "drawn")
    law = protector.law_of(level, 1)
    if law is None:
        return Level(name, TITLES[name], "in clear")
    return _with_odds(Level(name, TITLES[name], "drawn"), law.guarantee.epsilon, nearest)


def _with_odds(level: Level, epsilon: float, nearest: NearestWords) -> Level:
    """The level with its epsilon and what that allows between words that are nearest."""
    return replace(
        level,
        epsilon=epsilon,
        median=_odds(epsilon, nearest.median),
        five_percent=_odds(epsilon, nearest.five_percent),
    )


def _odds(epsilon: float, distance: float | None) -> Odds | None:
    if distance is None:
        return None
    exponent = product_upwards(epsilon, distance)
    factor = exp_upwards(exponent)
    return Odds(exponent, factor if math.isfinite(factor) else None)


def left_alone(protector: TextProtector) -> tuple[str, ...]:
    """What stands in clear because somebody asked for it, whether it occurs or not."""
    pairs = zip(protector.levels, protector.laws, strict=True)
    names = [TITLES[name] for name, law in pairs if law is None]
    names += [STOP_WORDS] if protector.keep_stopwords else []
    names += [UNKNOWN_WORDS] if protector.unknown is Unknown.KEEP else []
    return (*names, *([SIGNS_AT_WORDS] if protector.signs is Signs.KEEP else []))


# ── after it ───────────────────────────────────────────────────────────────────────────────────


def counted(answers: Sequence[ReleasedText]) -> dict[str, float]:
    """What was done to some texts, as totals that a job can add up.

    `draws 3,0,27` counts documents with so many draws at each level.
    """
    totals: Counter[str] = Counter(
        "draws " + ",".join(map(str, answer.draws)) for answer in answers
    )
    for answer in answers:
        by_kind: tuple[tuple[str, Iterable[tuple[Any, int]]], ...] = (
            ("drawn ", enumerate(answer.drawn)),
            ("changed ", enumerate(answer.changed)),
            ("clear ", answer.clear.items()),
            ("stand-ins ", answer.stand_ins.items()),
            (PREFIX, answer.seen.items()),
        )
        for kind, numbers in by_kind:
            for what, number in numbers:
                totals[f"{kind}{what}"] += number
    return {**totals, **read_totals(answers)}


@dataclass(frozen=True)
class Tally:
    """The totals of a job, read again: documents by their draws, and what else there was."""

    documents: Mapping[tuple[int, ...], int]
    drawn: Mapping[int, int]
    changed: Mapping[int, int]
    clear: Mapping[str, int]
    persons: Mapping[tuple[int, ...], int]
    stand_ins: Mapping[str, int]

    @classmethod
    def of(cls, totals: Mapping[str, float]) -> Tally:
        """What `counted` counted."""

        def under(prefix: str) -> dict[str, int]:
            return {
                key.removeprefix(prefix): int(number)
                for key, number in sorted(totals.items())
                if key.startswith(prefix)
            }

        documents, persons = (
            {tuple(map(int, key.split(","))): number for key, number in under(unit).items()}
            for unit in ("draws ", "persons ")
        )
        drawn = {int(level): number for level, number in under("drawn ").items()}
        changed = {int(level): number for level, number in under("changed ").items()}
        clear = {why: number for why, number in under("clear ").items() if number}
        return cls(documents, drawn, changed, clear, persons, under("stand-ins "))

    def levels(self, before: Sequence[Level], protector: TextProtector) -> tuple[Level, ...]:
        """The levels with what was drawn and came out changed."""
        return tuple(self._level(place, level, protector) for place, level in enumerate(before))

    def _level(self, place: int, level: Level, protector: TextProtector) -> Level:
        draws = sum(draws[place] * number for draws, number in self.documents.items())
        drawn, changed = self.drawn.get(place, 0), self.changed.get(place, 0)
        level = replace(level, drawn=drawn, changed=changed, draws=draws)
        lengths = [sum(draws) for draws in self.documents if draws[place]]
        if protector.law_of_length is None or not lengths:
            return level
        law = protector.law_of(place, min(lengths))  # the shortest text has the largest epsilon
        assert law is not None
        return _with_odds(level, law.guarantee.epsilon, protector.nearest)

    def counts(self, levels: Sequence[Level]) -> Counts:
        """All levels together."""
        clear = {why: number for why, number in self.clear.items() if why != SIGNS_AT_WORDS}
        drawn = sum(level.drawn or 0 for level in levels)
        draws = sum(level.draws or 0 for level in levels)
        changed = sum(level.changed or 0 for level in levels)
        signs = self.clear.get(SIGNS_AT_WORDS, 0)
        return Counts(drawn + sum(clear.values()), drawn, draws, changed, clear, signs)

    def spent(self, protector: TextProtector) -> tuple[Spending, ...]:
        """What documents spent, each the sum over its draws, rounded up; and persons, if known."""
        units = {"document": self.documents, "person": self.persons}
        return tuple(
            _quantiles(unit, counts, {draws: protector.spent(draws) for draws in counts})
            for unit, counts in units.items()
            if counts or unit == "document"
        )

    def lengths(self) -> Spending:
        """How many draws were made for a document."""
        lengths = {draws: float(sum(draws)) for draws in self.documents}
        return _quantiles("draws for a document", self.documents, lengths)


def _quantiles(
    unit: str,
    counts: Mapping[tuple[int, ...], int],
    values: Mapping[tuple[int, ...], float],
) -> Spending:
    """The values that half, nine in ten and all of the documents or persons do not exceed."""
    ordered = sorted(values.items(), key=lambda item: item[1])
    running = np.cumsum([counts[key] for key, _ in ordered])

    def not_exceeded(share: float) -> float:
        if not ordered:
            return 0.0
        return ordered[int(np.searchsorted(running, share * running[-1]))][1]

    return Spending(unit, not_exceeded(0.5), not_exceeded(0.9), not_exceeded(1.0))
