"""How a released file of places was made: by its guarantee file, or by its reader's word."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from voile.errors import BadFile, InvalidInput, require_epsilon
from voile.files.source import open_source
from voile.jobs.guarantee_file import (
    check_content,
    fields_of,
    guarantee_beside,
    guarantee_record,
    is_release_of,
)
from voile.jobs.settings import EpsilonToldOf, GuaranteeFile
from voile.options import Data, Option, Options
from voile.places.earth import carrier
from voile.places.noise import PlacesNoise
from voile.places.traces import TraceLaw
from voile.places.tracing import Tracing

Box = tuple[float, float, float, float]


def noise_digest(epsilon: float, box: Sequence[float] | None, by: str, public: bytes = b"") -> str:
    """The hash of a law of noise: its ε, its box, and what releases are then moved to."""
    known = repr((float(epsilon), _numbers(box), by)).encode() + public
    return hashlib.sha256(known).hexdigest()


def trace_digest(
    epsilon: float, tracing: Tracing, box: Sequence[float] | None, restored: object = None
) -> str:
    """The hash of a law of traces: its ε, its options, its box, and what they are restored by."""
    known = repr((float(epsilon), tracing, _numbers(box), restored))
    return hashlib.sha256(known.encode()).hexdigest()


def _numbers(box: Sequence[float] | None) -> tuple[float, ...] | None:
    return None if box is None else tuple(map(float, box))


@dataclass(frozen=True)
class _Record:
    """The fields of a guarantee file that are read, as they stand there."""

    guarantee: Any
    mechanism_sha256: Any
    traces: Any
    output_sha256: Any
    repeat: Any


@dataclass(frozen=True)
class _Traces:
    way: Any
    per: Any
    restored: Any
    every: Any


@dataclass(frozen=True)
class _Strength:
    epsilon: Any


@dataclass(frozen=True)
class MadeBy(Options):
    """The noise, as given to `voile places protect`.

    The guarantee file beside a release says its ε, and a hash of all other options, which must be
    the release's own. Without such a file all of it is the reader's word.
    """

    guarantee: GuaranteeFile = None
    epsilon: EpsilonToldOf = None
    box: Annotated[Box | None, Option("The box of the release, if any.")] = None

    def of(self, released: Data, tracing: Tracing, *, as_drawn: bool) -> PlacesNoise | TraceLaw:
        """The law that drew a release; if asked, refused where what it drew was moved after."""
        epsilon = None if self.epsilon is None else require_epsilon(self.epsilon)
        source = open_source(released)
        guarantee = guarantee_beside(source) if self.guarantee is None else self.guarantee
        if guarantee is not None:
            record = _record_of(guarantee_record(guarantee))
            check_content(source, record.output_sha256, what="places")
            epsilon = self._told(record, epsilon, tracing, as_drawn=as_drawn)
        if epsilon is None:
            raise InvalidInput(
                "--epsilon must be given: no guarantee file lies beside the release "
                "(FILE.guarantee.json), which would say it; --guarantee names another"
            )
        ground = carrier(self.box)
        if tracing.trace is None:
            return PlacesNoise(epsilon, ground)
        return TraceLaw(epsilon, tracing, ground)

    def _told(
        self, record: _Record, said: float | None, tracing: Tracing, *, as_drawn: bool
    ) -> float:
        """The ε of a guarantee file; refused where other options than the release's were said."""
        epsilon = require_epsilon(fields_of(_Strength, record.guarantee).epsilon)
        if said is not None and said != epsilon:
            raise InvalidInput(
                f"--epsilon must be what the release's guarantee file says, {epsilon!r}, got "
                f"{said!r}; leave it out"
            )
        traces = None if record.traces is None else fields_of(_Traces, record.traces)
        if traces is not None and traces.restored and not as_drawn:
            return epsilon  # its hash is of the public trips too
        own = (
            noise_digest(epsilon, self.box, "nearest")
            if tracing.trace is None
            else trace_digest(epsilon, tracing, self.box)
        )
        if own != record.mechanism_sha256:
            every = (
                "" if traces is None or traces.every is None else f", with --every {traces.every}"
            )
            raise InvalidInput(
                "a release is read as the noise drew it, neither moved nor restored after, with "
                "the --trace, --time, --per, --way, --every, --window, --stay and --box that it "
                "was made with, and its guarantee file says otherwise; it was made by: "
                f"{record.repeat}{every}"
            )
        return epsilon


BESIDE = MadeBy()
"""By the guarantee file that lies beside a release."""


def _record_of(record: Any) -> _Record:
    if not is_release_of("places", record):
        raise InvalidInput("the guarantee file must be that of released places")
    try:
        found = fields_of(_Record, record)
        require_epsilon(fields_of(_Strength, found.guarantee).epsilon)
        if found.traces is not None:
            fields_of(_Traces, found.traces)
        return found
    except KeyError as missing:
        raise BadFile(f"the guarantee file must have the field {missing.args[0]}") from None
    except (TypeError, InvalidInput):
        raise BadFile("the guarantee file has fields that places protect does not write") from None
