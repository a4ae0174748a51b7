"""Rules that find personal data: a pattern, its check, and what no find can do without."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from voile.personal.spans import Span

BLANK = "\x00"
"""What stands for a found sign while later rules read: it is in no pattern."""


@dataclass(frozen=True)
class Rule:
    """What finds something, and what a text must have for that to find anything.

    `holding`: one of these; `digits`: so many of them; `run`: so many signs without a space.
    """

    find: Callable[[str], Iterable[Span]]
    holding: tuple[str, ...] = ()
    digits: int = 0
    run: int = 0


def matching(
    kind: str, pattern: re.Pattern[str], good: Callable[[str], bool] | None = None
) -> Callable[[str], Iterator[Span]]:
    """Every match of a pattern that is good is of this kind; of its group `value` if it has one."""
    group = "value" if "value" in pattern.groupindex else 0

    def find(text: str) -> Iterator[Span]:
        for match in pattern.finditer(text):
            if good is None or good(match[group]):
                yield Span(*match.span(group), kind)

    return find


def found_by(rules: Iterable[Rule], text: str) -> list[Span]:
    """What they find, each in what those before it left: no two finds overlap.

    What was found is blanked out, so what stands beside one is still looked at. A rule that can
    find nothing here is not asked.
    """
    found: list[Span] = []
    digits = sum(map(str.isdigit, text))
    longest = max(map(len, text.split()), default=0)
    for rule in rules:
        if digits < rule.digits or longest < rule.run:
            continue
        if rule.holding and not any(sign in text for sign in rule.holding):
            continue
        here = list(rule.find(text))
        if here:
            found += here
            text = _blanked(text, here)
    return sorted(found)


def _blanked(text: str, spans: list[Span]) -> str:
    parts, last = [], 0
    for start, end, _ in spans:
        parts += [text[last:start], BLANK * (end - start)]
        last = end
    return "".join([*parts, text[last:]])
