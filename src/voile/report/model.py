"""What a report says, as plain values: no markup, and nothing that could hold a record."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from voile.audit.finding import Verdict
from voile.core.guarantee import Guarantee
from voile.errors import require

Value = str | int | float | None

_WORST_FIRST = (Verdict.VIOLATED, Verdict.OPEN, Verdict.HOLDS)


@dataclass(frozen=True)
class Table:
    """Named columns and their rows; numbers stay numbers, so that the CSV holds all digits.

    `bars` names a column of shares that a terminal also draws as bars. A `detail` is for the page:
    on a terminal the sentences say enough.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    bars: str = ""
    detail: bool = False

    def __post_init__(self) -> None:
        wrong = sum(len(row) != len(self.columns) for row in self.rows)
        require(not wrong, "rows", f"of {len(self.columns)} values", f"{wrong} others")

    def csv(self) -> str:
        r"""The table as a CSV file with a header.

        A text that a spreadsheet would take for a formula gets an apostrophe in front.

        >>> Table("Loss", ("method", "km"), (("best", 0.25),)).csv()
        'method,km\r\nbest,0.25\r\n'
        """
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow([_no_formula(name) for name in self.columns])
        writer.writerows([_no_formula(value) for value in row] for row in self.rows)
        return out.getvalue()

    def records(self) -> list[dict[str, Value]]:
        """A mapping for each row, as a chart reads it; an infinity becomes nothing."""
        return [
            {name: finite(value) for name, value in zip(self.columns, row, strict=True)}
            for row in self.rows
        ]


def _no_formula(value: Value) -> Value:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


_FORMULA = tuple("=+-@\t\r")


@dataclass(frozen=True)
class Chart:
    """A picture that says one thing: `title` is what it says, `alt` how to see it in words.

    `spec` is Vega-Lite with colours by name (see `theme`), `data` the numbers behind it, `name`
    what its files are called.
    """

    name: str
    title: str
    alt: str
    spec: Mapping[str, Any]
    data: Table

    def __post_init__(self) -> None:
        plain = re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.name) is not None
        require(plain, "a chart's name", "small letters, digits and hyphens", repr(self.name))


@dataclass(frozen=True)
class Digest:
    """What was read: a file's name, and a hash that identifies it.

    Without a key the hash is SHA-256, for files that are public or released. A private file gets
    HMAC-SHA-256 under a fresh key that stays with its owner: whoever knows all of a file but one
    record could try values of that record against a plain hash until it fits, and no epsilon
    would help.
    """

    name: str
    value: str
    keyed: bool = False


@dataclass(frozen=True)
class Provenance:
    """How a result was obtained: enough to repeat it, and to know what it was made from."""

    version: str
    command: str
    randomness: str
    when: str
    seconds: float
    digests: tuple[Digest, ...] = ()
    mechanism: str = ""


UNKNOWN = Provenance("", "", "", "", 0.0)


def no_charts() -> tuple[Chart, ...]:
    """Nothing to draw."""
    return ()


@dataclass(frozen=True)
class Report:
    """The answer in a sentence, a verdict, and what they rest on, in the order of a page.

    `in_clear` says what stands in clear, before all else. `because` says what the verdict rests
    on; there is no verdict where nothing was promised or tested. `guarantee` says in sentences
    what is promised or, under the heading `about`, what was tested. `cards` are the few figures
    that sum it up; `terms` are the words of `glossary` that the page explains. Charts are drawn by
    `draw`, when somebody asks for them. `for_owner` are tables for the owner's own screen, which
    no page shows; `sample` are records before and after, which a page shows only because their
    owner asked for it. With `parts`, the report is of several tasks and each part is a section.
    """

    title: str
    answer: str
    verdict: Verdict | None = None
    because: str = ""
    guarantee: tuple[str, ...] = ()
    not_protected: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN
    tables: tuple[Table, ...] = ()
    draw: Callable[[], Sequence[Chart]] = no_charts
    notes: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    parts: tuple[Report, ...] = ()
    about: str = "What is promised"
    in_clear: tuple[str, ...] = ()
    cards: tuple[tuple[str, str], ...] = ()
    for_owner: tuple[Table, ...] = ()
    sample: tuple[tuple[str, str], ...] = ()
    at_risk: tuple[str, ...] = ()
    """What a reader might take for protected and is not: said before all else, in red."""

    def __post_init__(self) -> None:
        require(bool(self.answer.strip()), "answer", "a sentence", "nothing")

    @cached_property
    def charts(self) -> tuple[Chart, ...]:
        """The report's own charts, drawn once."""
        return tuple(self.draw())

    def all_charts(self) -> tuple[Chart, ...]:
        """The charts of this report and of its parts, in the order of the page."""
        found = (*self.charts, *(c for part in self.parts for c in part.all_charts()))
        repeated = len(found) - len({chart.name for chart in found})
        require(not repeated, "charts", "of different names", f"{repeated} repeated")
        return found

    @property
    def stamp(self) -> str:
        """A word that no reader may miss; empty for a result that may be handed on."""
        return "Seeded: not for release" if "not for release" in self.provenance.randomness else ""


def combined(title: str, parts: Sequence[Report], *, answer: str, provenance: Provenance) -> Report:
    """One report of several: the worst verdict of its parts (violated, then open, then holds).

    Charts of equal names get their part's number in front, so that every picture has its file.
    """
    require(len(parts) > 0, "parts", "at least one report", "none")
    worst = worst_verdict([part.verdict for part in parts if part.verdict is not None])
    first = next((part for part in parts if part.verdict == worst), parts[0])
    numbered = tuple(_numbered(part, number + 1) for number, part in enumerate(parts))
    return Report(
        title=title,
        answer=answer,
        verdict=worst,
        because=f"{first.title}: {first.because}",
        guarantee=(),
        not_protected=(),
        provenance=provenance,
        terms=tuple(dict.fromkeys(term for part in parts for term in part.terms)),
        parts=numbered,
        in_clear=tuple(f"{part.title}: {line}" for part in parts for line in part.in_clear),
    )


def _numbered(part: Report, number: int) -> Report:
    from dataclasses import replace

    return replace(
        part, draw=lambda: tuple(replace(c, name=f"{number}-{c.name}") for c in part.charts)
    )


def worst_verdict(verdicts: Sequence[str]) -> Verdict:
    """The verdict of several findings together; open if there is none.

    >>> worst_verdict(["holds", "open"])
    <Verdict.OPEN: 'open'>
    """
    found = [Verdict(value) for value in verdicts]
    return min(found, key=_WORST_FIRST.index, default=Verdict.OPEN)


def promised(guarantee: Guarantee) -> tuple[str, ...]:
    """The guarantee in sentences, without what it leaves out (a report says that apart)."""
    lines = guarantee.explain().splitlines()
    return tuple(line for line in lines if not line.startswith("Not covered: "))


def finite(value: Value) -> Value:
    """The value, or nothing where it is no finite number."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
