"""What a text release promises, spent and kept: computed once, from what was drawn.

Terminal, guarantee file, page and charts say what stands here and compute nothing beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from voile.core.rounding import exp_upwards, product_upwards
from voile.text.plan import SIGNS_AT_WORDS, STOP_WORDS, UNKNOWN_WORDS
from voile.text.released import ReleasedText, Unknown
from voile.text.signs import Signs
from voile.text.word_protector import TextProtector

TITLES = {"words": "words", "pii": "names", "poii": "words close to names", "rest": "other words"}
"""What the words of a level are called in sentences."""
SHARES = {"median": 0.5, "nine_in_ten": 0.9, "largest": 1.0}


# ── counting ───────────────────────────────────────────────────────────────────────────────────


def counted(answers: Sequence[ReleasedText]) -> dict[str, float]:
    """What was done to some texts, as totals that a job can add up.

    `drawn 3,0,27` counts documents with so many drawn words of each level.
    """
    totals: dict[str, float] = {}

    def add(key: str, number: int) -> None:
        totals[key] = totals.get(key, 0) + number

    for answer in answers:
        add("drawn " + ",".join(map(str, answer.drawn)), 1)
        for level, number in enumerate(answer.changed):
            add(f"changed {level}", number)
        for why, number in answer.clear.items():
            add(f"clear {why}", number)
    return totals


def promised(
    protector: TextProtector, *, nearest: Mapping[str, Any], totals: Mapping[str, float] | None
) -> dict[str, Any]:
    """The law of each level, and after a release what was drawn, changed, spent and left in clear.

    Epsilons are those of the laws that draw: a level in clear has none. What a document spent is
    the sum over the words that were drawn for it, each at its own epsilon, rounded up. `nearest` is
    what `nearest_words` says of the vocabulary, as a mapping.
    """
    facts: dict[str, Any] = {
        "levels": [_law(protector, level, nearest) for level in range(len(protector.levels))],
        "clear_by_choice": _left_alone(protector),
        "nearest": nearest,
    }
    if totals is None:
        return facts
    documents = {
        tuple(map(int, key.removeprefix("drawn ").split(","))): int(number)
        for key, number in totals.items()
        if key.startswith("drawn ")
    }
    clear = {
        key.removeprefix("clear "): int(number)
        for key, number in sorted(totals.items())
        if key.startswith("clear ") and number
    }
    signs = clear.pop(SIGNS_AT_WORDS, 0)
    for level, row in enumerate(facts["levels"]):
        row["drawn"] = sum(drawn[level] * number for drawn, number in documents.items())
        row["changed"] = int(totals.get(f"changed {level}", 0))
        lengths = [sum(drawn) for drawn in documents if drawn[level]]
        if protector.law_of_length is not None and lengths:
            row |= _odds(protector, level, min(lengths), nearest)
    drawn = sum(row["drawn"] for row in facts["levels"])
    return facts | {
        "words": drawn + sum(clear.values()),
        "drawn": drawn,
        "changed": sum(row["changed"] for row in facts["levels"]),
        "in_clear": clear,
        "signs_in_clear": signs,
        "words_per_document": _quantiles({d: float(sum(d)) for d in documents}, documents),
        "epsilon_per_document": _quantiles({d: protector.spent(d) for d in documents}, documents),
    }


def _quantiles(
    values: Mapping[tuple[int, ...], float], documents: Mapping[tuple[int, ...], int]
) -> dict[str, float]:
    """The values that half, nine in ten and all of the documents do not exceed."""
    ordered = sorted(values.items(), key=lambda item: item[1])
    running = np.cumsum([documents[key] for key, _ in ordered])
    return {
        name: ordered[int(np.searchsorted(running, share * running[-1]))][1] if ordered else 0.0
        for name, share in SHARES.items()
    }


# ── the law of a level ─────────────────────────────────────────────────────────────────────────


def _law(protector: TextProtector, level: int, nearest: Mapping[str, Any]) -> dict[str, Any]:
    name = protector.levels[level]
    row: dict[str, Any] = {"name": name, "title": TITLES[name]}
    if protector.law_of_length is None:
        return row | _odds(protector, level, 1, nearest)
    return row | {"released": "drawn", "epsilon": None, "odds": {}}  # known with the lengths


def _odds(
    protector: TextProtector, level: int, drawn: int, nearest: Mapping[str, Any]
) -> dict[str, Any]:
    """The epsilon of a level's words and what it allows between words that are nearest."""
    law = protector.law_of(level, drawn)
    if law is None:
        return {"released": "in clear", "epsilon": None, "odds": {}}
    epsilon = law.guarantee.epsilon
    exponents = {
        name: product_upwards(epsilon, nearest[name])
        for name in ("five_percent", "median")
        if nearest.get(name) is not None
    }
    odds = {
        name: {"exponent": exponent, "factor": _finite(exp_upwards(exponent))}
        for name, exponent in exponents.items()
    }
    return {"released": "drawn", "epsilon": epsilon, "odds": odds}


def _left_alone(protector: TextProtector) -> list[str]:
    """What stands in clear because somebody asked for it, whether it occurs or not."""
    pairs = zip(protector.levels, protector.laws, strict=True)
    names = [TITLES[name] for name, law in pairs if law is None]
    names += [STOP_WORDS] if protector.keep_stopwords else []
    names += [UNKNOWN_WORDS] if protector.unknown is Unknown.KEEP else []
    return names + ([SIGNS_AT_WORDS] if protector.signs is Signs.KEEP else [])


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
