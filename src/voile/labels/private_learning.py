"""Ranges, categories and classes learned from the private file itself, at a stated price.

The trust model is *central*: whoever runs this sees all records, and a single record is protected
in what is learned. Two files that differ in one record give the same recipe up to (ε, δ):

- what a column is (numbers or names) by a private choice between the two;
- levels of a number by private medians of the whole, of its halves, of theirs, and so on. A record
  that changes leaves one part and enters another, and moves by 1 in each how far a candidate is
  from a median, max(0, 2·max(below, above) − all): the price of a depth is 4 steps. Candidates are
  all numbers of four digits, whatever the file holds, so no level is anybody's value but by chance
  or because many share it, and an extreme is never one;
- names by counts with noise, shown only above a threshold that a name of one record passes with
  probability at most δ. A record that changes moves two counts by 1.

How many records there are is not hidden. Medians: Smith (STOC 2011), by halves as in Kaplan,
Schnapp and Stemmer (ICML 2022); thresholds: Korolova et al. (WWW 2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats
from voile.core.falling_weights import SMALLEST_STEP, choose, end, falling_weights, noise, unlikely
from voile.core.randomness import Generator
from voile.core.rounding import sum_upwards
from voile.errors import InvalidInput, require, require_epsilon
from voile.labels.columns import CATEGORIES, OTHER, CategoryColumn, Column, NumberColumn
from voile.labels.recipes import Recipe
from voile.labels.values import MISSING, is_absent, names_of, numbers_of
from voile.progress import tell

DEEPEST = 4
"""Fifteen levels at most."""
ENOUGH = 15.0
"""So many steps' worth of records a part must hold to be halved: else its median is noise."""
NEAR = 1.0
"""A decade away from the median of the whole costs a part's median so many steps' worth: where a
part holds few records or none, its level stays near. It depends on no record, so it is free."""
PER_DECADE = 9000
FOR_THE_KIND = 0.1
"""The share of a column's ε that decides whether it is numbers or names."""


@dataclass(frozen=True)
class Price:
    """What learning costs every record, in all."""

    epsilon: float
    delta: float

    def shared(self, parts: int) -> Price:
        """The same for one of so many parts, a hair below its share."""
        return Price(self.epsilon * (1 - 2.0**-40) / parts, self.delta * (1 - 2.0**-40) / parts)


def learn_privately(
    label: str,
    names: Sequence[str],
    columns: Sequence[Sequence[Any]],
    labels: Sequence[Any],
    *,
    price: Price,
    rng: Generator,
    classes: Sequence[str] = (),
    label_share: float = 0.5,
) -> Recipe:
    """A recipe for rr or ldp, learned from records under (ε, δ) of the price, in all.

    Each column takes an even part, and so do the classes unless they are given. What was not
    listed is `(other)`, what is missing `(missing)`: every record has a code.
    """
    require_epsilon(price.epsilon)
    records = len(labels)
    good = 0 < price.delta * records <= 1
    require(good, "delta", "above 0 and at most 1 / records", price.delta)
    parts = len(names) + (not classes)
    if not parts:
        raise InvalidInput("there is nothing to learn: the classes are given")
    each = price.shared(parts)
    found: list[Column] = []
    for done, (name, values) in enumerate(zip(names, columns, strict=True)):
        tell("learning columns privately", done=done, total=len(names))
        found.append(_column(name, values, each, rng))
    listed = tuple(classes)
    if not listed:
        present = names_of(labels)
        shown = _names(present[present != ""], each.epsilon, each.delta, rng)
        listed = (*sorted(set(shown) - {OTHER}), OTHER)
    require(len(listed) > 1, "classes", "some that enough records have", "none beside others",
            "give more epsilon, or name them")  # fmt: skip
    free = [len(column) > 1 for column in found]
    share = (1 - label_share) / max(1, sum(free))
    own = label_share if any(free) else 1.0
    shares = (*(share if varies else 0.0 for varies in free), own)
    spent = (sum_upwards(*[each.epsilon] * parts), sum_upwards(*[each.delta] * parts))
    return Recipe(label, listed, tuple(found), shares, spent=spent)


def _column(name: str, values: Sequence[Any], price: Price, rng: Generator) -> Column:
    """One column's coding, with codes for what is missing and for what is not listed."""
    gone = np.array([is_absent(value) for value in values], dtype=np.bool_)
    numbers = numbers_of([None if absent else v for absent, v in zip(gone, values, strict=True)])
    written, named = int(np.isfinite(numbers).sum()), int((~gone & np.isnan(numbers)).sum())
    for_kind = price.epsilon * FOR_THE_KIND
    wants = np.array([max(0, named - written), max(0, written - named)])
    # A changed record moves each of the two counts by 1, their difference by 2.
    is_names = choose((wants + 1) // 2, falling_weights(_step(for_kind / 2)), rng)
    rest = price.epsilon - for_kind
    if not is_names:
        levels = _levels(numbers[np.isfinite(numbers)], len(values), rest, rng)
        return NumberColumn(name, levels, missing=True)
    shown = _names(names_of(values)[~gone], rest, price.delta, rng)[: CATEGORIES - 2]
    return CategoryColumn(name, (*sorted(set(shown) - {OTHER, MISSING}), MISSING, OTHER))


def _levels(values: Floats, records: int, epsilon: float, rng: Generator) -> tuple[float, ...]:
    """Private medians of parts of parts."""
    depth = DEEPEST
    while depth > 1 and records / 2**depth < ENOUGH * 4 * depth / epsilon:
        depth -= 1
    weights = falling_weights(_step(epsilon / (4 * depth)))
    numbers, step = candidates(), epsilon / (4 * depth)
    far = NEAR / step / PER_DECADE
    parts = [(np.sort(values), 0, len(numbers), -1)]
    found: list[float] = []
    for _ in range(depth):
        halves = []
        for part, start, stop, near in parts:
            if stop <= start:
                continue
            here = numbers[start:stop]
            under = np.searchsorted(part, here, side="left")
            over = len(part) - np.searchsorted(part, here, side="right")
            wrong = np.maximum(0, 2 * np.maximum(under, over) - len(part))
            if near >= 0:
                wrong = wrong + (far * np.abs(np.arange(start, stop) - near)).astype(np.intp)
            at = start + choose(wrong, weights, rng)
            found.append(float(numbers[at]))
            below = int(under[at - start])
            above = len(part) - int(over[at - start])
            halves += [(part[:below], start, at, at), (part[above:], at + 1, stop, at)]
        parts = halves
    return _apart(found)


def _apart(levels: Sequence[float]) -> tuple[float, ...]:
    """Without levels within a thousandth of the range of an earlier one; looks at no record."""
    least = (max(levels) - min(levels)) / 1000
    kept: list[float] = []
    for level in levels:
        if all(abs(level - other) > least for other in kept):
            kept.append(level)
    return tuple(sorted(kept))


def _names(names: NDArray[np.str_], epsilon: float, delta: float, rng: Generator) -> list[str]:
    """Names whose noisy counts pass the threshold, the commonest first."""
    weights = falling_weights(_step(epsilon / 2))
    # Two counts may lie at an end of their noise that the other file's cannot reach.
    least = unlikely(delta - 4 * end(weights), weights)
    if least is None:
        raise InvalidInput("--learn-delta must be larger for so small an epsilon: give more")
    listed, counts = np.unique(names, return_counts=True)
    noisy = counts + np.array(noise(len(listed), weights, rng), dtype=np.int64)
    order = np.argsort(-noisy, kind="stable")
    return [str(listed[i]) for i in order if noisy[i] >= 1 + least]


def _step(step: float) -> float:
    if step < SMALLEST_STEP:
        raise InvalidInput(
            f"--learn-epsilon must leave {SMALLEST_STEP:g} for each step, got {step:.2g}; give "
            "more, or fewer columns (--drop)"
        )
    return step


@cache
def candidates() -> Floats:
    """All numbers of four digits between 10⁻⁶ and 10¹⁶, either sign, and 0, as they are written.

    >>> 37.05 in candidates(), 1987.0 in candidates(), 987654321.0 in candidates()
    (True, True, False)
    """
    digits = np.arange(1000, 10_000, dtype=np.float64)
    small = [digits / 10.0**power for power in range(1, 10)]  # both exact, so rounded once
    sizes = np.concatenate([*small, *(digits * 10.0**power for power in range(13))])
    return np.unique(np.concatenate([-sizes, [0.0], sizes]))
