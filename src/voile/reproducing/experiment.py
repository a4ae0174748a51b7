"""What running a figure again gives: numbers of ours, and claims that they bear out or not.

An experiment is a function of a `Work`: it says at which size to run, where data lies, and keeps
each cell that was computed, so that a run goes on where it stopped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from voile.errors import InvalidInput
from voile.files.modes import add_line

Size = Literal["small", "paper"]
Row = dict[str, Any]
"""A cell as it lies in a file of results: its setting, and what came out."""

HOLDS, DOES_NOT, IN_PART, OPEN = "holds", "does not", "holds in part", "open"
NOT_RUN, CANNOT = "not run", "cannot be run here"
OUTCOMES = "outcomes"
"""The folder of what came out, a file for each entry and size."""


@dataclass(frozen=True)
class Measured:
    """One number of ours, with its interval where it was sampled, and the paper's beside it."""

    what: str
    ours: float
    lower: float | None = None
    upper: float | None = None
    theirs: str = ""

    def __str__(self) -> str:
        """The number with its interval; as many digits as tell."""
        if self.lower is None or self.upper is None:
            return _digits(self.ours)
        return f"{_digits(self.ours)} ({_digits(self.lower)} – {_digits(self.upper)})"


ENDLESS = 1e9
"""From here on a number stands for ∞, which JSON does not hold."""


def _digits(value: float) -> str:
    size = abs(value)
    if size >= ENDLESS:
        return "∞"
    return f"{value:.0f}" if size >= 1000 else f"{value:.1f}" if size >= 100 else f"{value:.3f}"


@dataclass(frozen=True)
class Claim:
    """What the paper says, so that it can be checked; None where this run cannot tell."""

    says: str
    holds: bool | None


@dataclass(frozen=True)
class Outcome:
    """One figure, table or theorem, run again."""

    id: str
    size: str
    setting: str
    measured: tuple[Measured, ...]
    claims: tuple[Claim, ...]
    seconds: float
    """CPU seconds, those of kept cells included where they are known."""

    @property
    def verdict(self) -> str:
        """Holds if every claim does; open if none could be told; in part if some hold."""
        told = [claim.holds for claim in self.claims if claim.holds is not None]
        if not told:
            return OPEN
        if not any(told):
            return DOES_NOT
        return HOLDS if all(told) and len(told) == len(self.claims) else IN_PART

    @classmethod
    def read(cls, path: Path) -> Outcome:
        """An outcome as `voile reproduce --out` has written it."""
        found = json.loads(path.read_text(encoding="utf-8"))
        measured = tuple(Measured(**line) for line in found.pop("measured"))
        claims = tuple(Claim(**line) for line in found.pop("claims"))
        return cls(**found, measured=measured, claims=claims)


@dataclass
class Found:
    """What an experiment returns: its setting in words, numbers and claims."""

    setting: str
    measured: list[Measured]
    claims: list[Claim]


@dataclass
class Work:
    """How an experiment is run: its size, where data lies, and where its cells are kept."""

    size: Size = "small"
    data: Path | None = None
    folder: Path | None = None
    seconds: float = 0.0
    _known: dict[str, list[Row]] = field(default_factory=dict)
    _counted: list[Row] = field(default_factory=list)

    @property
    def small(self) -> bool:
        """Whether it is to end within minutes."""
        return self.size == "small"

    def file(self, *names: str) -> Path | None:
        """A file or folder of the data, if it is there."""
        path = None if self.data is None else self.data.joinpath(*names)
        return path if path is not None and path.exists() else None

    def needed(self, *names: str) -> Path:
        """A file of the data without which there is nothing to run."""
        found = self.file(*names)
        if found is None:
            raise InvalidInput(
                f"this needs {'/'.join(names)} in the folder of --data; --size small may do without"
            )
        return found

    def cell(self, file: str, setting: Row, compute: Callable[[], Mapping[str, Any]]) -> Row:
        """The row of a setting: kept in a file of the folder, or computed now and kept there."""
        rows = self._rows(file)
        for row in rows:
            if all(row.get(name) == value for name, value in setting.items()):
                return self._spent(row)
        began = time.process_time()
        found = dict(compute())
        found.setdefault("seconds", round(time.process_time() - began, 2))
        row = json.loads(json.dumps(setting | found))
        rows.append(row)
        path = self._path(file)
        if path is not None:
            add_line(path, json.dumps(row))
        return self._spent(row)

    def _spent(self, row: Row) -> Row:
        """Its seconds are counted, once however often it is asked for."""
        if not any(row is counted for counted in self._counted):
            self._counted.append(row)
            self.seconds += float(row.get("seconds", 0.0))
        return row

    def kept(self, file: str) -> list[Row]:
        """The rows of a file that are there."""
        return list(self._rows(file))

    def _path(self, file: str) -> Path | None:
        """Small cells lie apart: the larger ones are a benchmark's own file."""
        if self.folder is None:
            return None
        return self.folder / "small" / file if self.small else self.folder / file

    def _rows(self, file: str) -> list[Row]:
        if file not in self._known:
            path = self._path(file)
            self._known[file] = list(_read(path)) if path is not None and path.exists() else []
        return self._known[file]


def _read(path: Path) -> Iterator[Row]:
    """The rows of a file; a line that a crash has cut off is computed again."""
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def mean_with_interval(what: str, values: list[float], theirs: str = "") -> Measured:
    """Mean and 95 % interval over trials (Student's t).

    >>> print(mean_with_interval("accuracy", [0.5, 0.6, 0.7]))
    0.600 (0.352 – 0.848)
    """
    import numpy as np
    from scipy.stats import t

    mean = float(np.mean(values))
    if len(values) < 2:
        return Measured(what, mean, theirs=theirs)
    half = float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
    return Measured(what, mean, mean - half, mean + half, theirs)


def above(one: Measured, other: Measured) -> bool | None:
    """Whether one is above another; None where their intervals meet."""
    if one.lower is None or other.upper is None or one.upper is None or other.lower is None:
        return one.ours > other.ours
    if one.lower > other.upper:
        return True
    return False if one.upper < other.lower else None


def all_hold(told: Sequence[bool | None]) -> bool | None:
    """False where one is, None where one is open or none is there, else True."""
    if False in told:
        return False
    return None if None in told or not told else True
