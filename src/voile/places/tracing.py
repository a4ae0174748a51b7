"""Options of releasing traces: which rows are one, what ε is per, and how places are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from voile.errors import InvalidInput, require
from voile.options import Option, Options
from voile.places.lengths import length_km
from voile.values import one_of

WAYS = ("each", "every", "predict", "stays")
LARGEST_STAY = 20.0
"""Km."""
PER = ("place", "window", "trace")


Times = Annotated[str | None, Option("Column of times; without it, the rows' order.", shown=True)]


@dataclass(frozen=True)
class Tracing(Options):
    """Rows of one value of a column are one trace, and are released together."""

    trace: Annotated[
        str | None, Option("Column that names a trace: its places share a budget.", shown=True)
    ] = None
    time: Times = None
    per: Annotated[
        Literal["place", "window", "trace"],
        Option("What ε is for: one place, any --window places in a row, or a trace.", "How strong"),
    ] = "trace"
    way: Annotated[
        Literal["each", "every", "predict", "stays"],
        Option(
            "each place drawn; every k-th; predict: test, then repeat or draw; stays: a square of "
            "a trace once.",
            "How strong",
        ),
    ] = "each"
    every: Annotated[
        int, Option("With every and predict: one new place in so many.", "How strong")
    ] = 5
    window: Annotated[int, Option("Places in a window.", "How strong")] = 10
    stay: Annotated[str, Option("Side of the squares of stays.", "How strong", shown=True)] = "200m"

    def __post_init__(self) -> None:
        one_of(self.way, WAYS, "--way")
        one_of(self.per, PER, "--per")
        require(self.every >= 1, "--every", ">= 1", self.every)
        require(self.window >= 1, "--window", ">= 1", self.window)
        # of a larger square near a pole, a place may lie farther than 0.75 sides from the middle
        require(length_km(self.stay, "--stay") <= LARGEST_STAY, "--stay", "≤ 20km", self.stay)

    def check(self) -> None:
        """Refuse options of traces where no trace is named."""
        if self.trace is None and self != ALONE:
            raise InvalidInput("--time, --per, --way, --every, --window and --stay go with --trace")

    @property
    def square(self) -> float:
        """Km."""
        return length_km(self.stay, "--stay")

    @property
    def unit(self) -> str:
        """What ε is for, in words."""
        return {
            "place": "one location",
            "window": f"any {self.window} locations in a row",
            "trace": "one whole trace",
        }[self.per]


ALONE = Tracing()
"""No traces: every row by itself."""
