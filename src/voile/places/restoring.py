"""Restored traces: what whole releases say under public trips, written in the release's place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np

from voile.core.arrays import Floats
from voile.errors import InvalidInput
from voile.files.source import Source
from voile.jobs import RowProblem, open_source
from voile.options import Data, Option
from voile.places.coordinates import Coordinates
from voile.places.knowing import Knowing, Trip, read_trips
from voile.places.traces import Released, TraceLaw
from voile.places.tracing import Tracing

if TYPE_CHECKING:
    from voile.places.following import Follower

_MOST_SHARED = 0.2
"""A larger share of the private steps in the public trips is no chance."""


@dataclass(frozen=True)
class Restoring(Knowing):
    """Whether releases of traces are read as a whole before they are written."""

    restore: Annotated[
        Data,
        Option(
            "Other people's *public* trips, of the same columns: traces are then read as a whole "
            "under how people move. Post-processing, at the same ε.",
            "Restoring",
            reads="public",
        ),
    ] = None

    every_by: Annotated[
        Data,
        Option(
            "Other people's *public* trips: in place of --every, one new place in so many as "
            "leaves them least far off. With --way every or predict.",
            "How strong",
            reads="public",
        ),
    ] = None

    def split(self, law: TraceLaw, private: Source, columns: Coordinates) -> TraceLaw:
        """The law whose budget is shared out as public trips ask for, where some were named."""
        if self.every_by is None:
            return law
        from voile.places.split import fitted_to

        if law.tracing.way not in ("every", "predict"):
            raise InvalidInput("--every-by goes with --way every or predict")
        refuse_private(self.every_by, private, columns, law.tracing, "--every-by")
        return fitted_to(law, read_trips(self.every_by, columns, law.tracing))

    def check(self, traced: bool) -> None:
        """Refuse options of restoring where nothing is restored."""
        if self.restore is None and (self.roads is not None or self.side != Knowing().side):
            raise InvalidInput("--side and --roads go with --restore")
        for name, given in (("--restore", self.restore), ("--every-by", self.every_by)):
            if given is not None and not traced:
                raise InvalidInput(f"{name} goes with --trace: it is about whole traces")

    def restorer(self, law: TraceLaw, private: Source, columns: Coordinates) -> Restorer | None:
        """What restores traces; the private file in place of public trips is refused."""
        if self.restore is None:
            return None
        refuse_private(self.restore, private, columns, law.tracing, "--restore")
        trips = read_trips(self.restore, columns, law.tracing)
        return Restorer(law, self, trips, open_source(self.restore).fingerprint())


@dataclass(frozen=True, eq=False)
class Restorer:
    """Public trips and how they are read; fitted once the lengths of traces are known."""

    law: TraceLaw
    knowing: Knowing
    trips: Sequence[Trip] = field(repr=False)
    fingerprint: str

    def fitted(self, longest: int) -> Follower:
        """The reader, rehearsed on traces of at most so many places."""
        from voile.places.trace_evidence import NoiseEvidence

        law = NoiseEvidence(self.law)
        return self.knowing.reader(law, self.trips, longest=longest, within=0.25)


def restored(reader: Follower, made: Released, times: Floats | None) -> Released:
    """A trace as it is read as a whole: a function of the release and of public data."""
    guesses = reader.guesses(Trip(made.latitudes, made.longitudes, times))
    return Released(*reader.around.to_degrees(guesses), made.draws, made.spent)


def refuse_private(
    public: Data, private: Source, columns: Coordinates, tracing: Tracing, name: str
) -> None:
    """Refuse public trips that are the private ones, or hold a good part of their steps.

    Chains that were counted on private traces would carry them into the release past the noise.
    A step is two places that follow each other in a file, to a tenth of a metre; copies under
    another name, with rows left out or with others among them share most of theirs.
    """
    told = open_source(public)
    same = told.fingerprint() == private.fingerprint()
    if not same:
        steps = [_steps(source, columns, tracing) for source in (private, told)]
        same = len(steps[0] & steps[1]) > _MOST_SHARED * max(1, len(steps[0]))
    if same:
        raise InvalidInput(
            f"{name} must not be the private file, or made from it: what was learned from it "
            "would pass the noise by. Give other people's trips, which are public"
        )


def _steps(source: Source, columns: Coordinates, tracing: Tracing) -> set[tuple[float, ...]]:
    """Pairs of different places that follow each other in a trace, in the order of the rows."""
    assert tracing.trace is not None
    rows = [row for _, row in source.rows() if not isinstance(row, RowProblem)]
    for name in (*columns.names, tracing.trace):
        if name not in source.columns:
            return set()  # told when they are read
    degrees = columns.degrees([[row.get(name) for row in rows] for name in columns.names]).round(6)
    last: dict[str, tuple[float, ...]] = {}
    found: set[tuple[float, ...]] = set()
    for row, place in zip(rows, map(tuple, degrees.tolist()), strict=True):
        name = str(row.get(tracing.trace))
        before = last.get(name)
        if before is not None and before != place and not np.isnan(place).any():
            found.add((*before, *place))
        last[name] = place
    return found
