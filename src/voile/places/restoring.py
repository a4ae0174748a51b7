"""Restored traces: what whole releases say under public trips, written in the release's place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from voile.core.arrays import Floats
from voile.errors import InvalidInput
from voile.files.source import Source
from voile.jobs import open_source
from voile.options import Data, Option
from voile.places.coordinates import Coordinates
from voile.places.knowing import Knowing, Trip, read_trips
from voile.places.not_private import refuse_private_trips
from voile.places.one_map import OneMap, on_one_map
from voile.places.traces import Released, TraceLaw

if TYPE_CHECKING:
    from voile.places.following import Follower


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
        refuse_private_trips(self.every_by, private, columns, law.tracing, "--every-by")
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
        refuse_private_trips(self.restore, private, columns, law.tracing, "--restore")
        public = on_one_map(read_trips(self.restore, columns, law.tracing))
        return Restorer(law, self, public, open_source(self.restore).fingerprint())


@dataclass(frozen=True, eq=False)
class Restorer:
    """Public trips and how they are read; fitted once the lengths of traces are known."""

    law: TraceLaw
    knowing: Knowing
    public: OneMap
    fingerprint: str

    def fitted(self, longest: int) -> Follower:
        """The reader, rehearsed on traces of at most so many places."""
        from voile.places.trace_evidence import NoiseEvidence

        law = NoiseEvidence(self.law)
        return self.knowing.reader(law, self.public.trips, longest=longest, within=0.25)


def restored(reader: Follower, made: Released, times: Floats | None) -> Released:
    """A trace as it is read as a whole: a function of the release and of public data."""
    guesses = reader.guesses(Trip(made.latitudes, made.longitudes, times))
    return Released(*reader.around.to_degrees(guesses), made.draws, made.spent)
