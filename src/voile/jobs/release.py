"""What a release of any domain returns; the guarantee file beside it is the same value."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from voile.core.guarantee import Guarantee
from voile.errors import CannotWrite, InvalidInput
from voile.files.columns_in_clear import ColumnsInClear
from voile.files.formats import format_of
from voile.files.locations import location, sha256_of
from voile.files.source import Source
from voile.jobs.charging import Charging
from voile.jobs.in_memory import release_in_memory
from voile.jobs.job_report import JobReport
from voile.jobs.ledger_choice import Charged, charged
from voile.jobs.records import Releaser
from voile.jobs.run import check_output, run_job, same_file
from voile.jobs.settings import Running
from voile.jobs.sharing import SharesDraws
from voile.jobs.standing import NOTHING_YET, Expected
from voile.jobs.workspace import write_json, writing
from voile.options import current_call
from voile.packaged import ModelRecord
from voile.report.provenance import spelled
from voile.report.result import SILENT, Result
from voile.report.words import columns_in_clear as clear_sentence
from voile.version import __version__

FORMAT = "voile-release/1"
"""Of the guarantee file; the schema is that of the result."""
SECURE, SEEDED = "secure", "seeded: not for release"
_OF_THIS_RUN = ("output", "seconds", "resumed_parts")
"""How this run went, and not what was promised: the guarantee file leaves it out."""


@dataclass(frozen=True)
class Spending:
    """What the units of a release spent: half, nine in ten and all of them no more than this."""

    unit: str
    median: float
    nine_in_ten: float
    largest: float


@dataclass(frozen=True)
class Columns:
    """The columns that no mechanism changed: what stands in clear, and what was left out."""

    passed_in_clear: tuple[str, ...] = ()
    passed_all: bool = False
    dropped: tuple[str, ...] = ()
    looks_like_identifiers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, clear: ColumnsInClear) -> Columns:
        """What a file says about them."""
        return cls(
            tuple(clear.shown[name] for name in clear.passed),
            clear.passed_all,
            tuple(clear.shown[name] for name in clear.dropped),
            {clear.shown[name]: clear.signs[name] for name in clear.passed if clear.signs[name]},
        )

    def sentence(self) -> str:
        """Which columns stand in clear, and what they look like; empty if none does."""
        return clear_sentence(self.passed_in_clear, self.looks_like_identifiers)


@dataclass(frozen=True)
class Rows:
    """What became of the rows."""

    released: int = 0
    skipped: int = 0
    masked: int = 0
    over_budget: int = 0

    @classmethod
    def of(cls, report: JobReport) -> Rows:
        """The counts of a job."""
        return cls(report.rows, report.skipped, report.masked, report.over_budget)


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Release(Result):
    """What was promised for a release, for which unit, on what ground, and what lies outside.

    `data` is what can be handed on: of the kind that was given, or the path of the file. `spent`
    says what documents or persons spent, where that is known; `repeat` is the command.
    """

    releases: ClassVar[bool] = True

    domain: str
    mechanism: str
    guarantee: Guarantee
    columns: Columns
    spent: tuple[Spending, ...] = ()
    rows: Rows | None = None
    models: tuple[ModelRecord, ...] = ()
    seed: int | None = None
    ledger: Charged | None = None
    explanation: tuple[str, ...] = ()
    output_sha256: str | None = None
    output: str | None = None
    seconds: float | None = None
    resumed_parts: int = 0
    format: str = FORMAT
    voile: str = __version__
    repeat: str = ""
    randomness: str = ""
    data: Any = field(default=None, metadata=SILENT)

    def __post_init__(self) -> None:
        call = current_call()
        if not self.repeat and call is not None:
            object.__setattr__(self, "repeat", spelled(call))
        object.__setattr__(self, "randomness", SECURE if self.seed is None else SEEDED)

    def guarantee_file(self) -> dict[str, Any]:
        """What stands in the guarantee file: all that is promised, nothing of this run alone."""
        found = self.to_dict()
        return {name: value for name, value in found.items() if name not in _OF_THIS_RUN}

    def _outputs(self) -> tuple[str, ...]:
        return () if self.output is None else (self.output,)


Made = TypeVar("Made", bound=Release)


def carry_out(
    source: Source,
    make_releaser: Callable[[], Releaser] | SharesDraws,
    *,
    out: str | None,
    describe: Callable[[JobReport], Made],
    identity: Mapping[str, Any],
    clear: ColumnsInClear,
    running: Running,
    charging: Charging | None = None,
    seed: int | None = None,
    added_columns: tuple[str, ...] = (),
) -> Made:
    """Release every row of a source once; `describe` says of the finished job what was promised.

    A file becomes a file, with its guarantee file beside it; data in memory becomes data of the
    same kind, and nothing is written. For records that are only expected nothing is drawn yet.
    """
    found: list[Made] = []

    def said(report: JobReport) -> Mapping[str, Any]:
        described = replace(describe(report), output_sha256=report.sha256 or None)
        found.append(replace(described, ledger=charged(charging, report)))
        return found[-1].guarantee_file()

    if isinstance(source, Expected):
        source.stand(make_releaser, clear=clear, charging=charging, identity=identity, seed=seed)
        return replace(describe(NOTHING_YET), ledger=charged(charging, NOTHING_YET))
    if source.in_memory:
        if out is not None:
            _check_whole(source, out, clear.dropped)
        data, report = release_in_memory(
            source,
            make_releaser,
            added_columns=added_columns,
            dropped_columns=clear.dropped,
            batch_rows=running.batch_rows,
            on_error=running.policy,
            charging=charging,
            seed=seed,
            guarantee=said,
        )
        made = replace(found[-1], data=data, seconds=report.seconds)
        return made if out is None else _written(made, source, out, overwrite=running.overwrite)
    assert out is not None  # `output_for` named it
    target = location(out)
    report = run_job(
        source,
        target,
        make_releaser,
        identity=identity,
        added_columns=added_columns,
        dropped_columns=clear.dropped,
        engine=running.chosen(),
        batch_rows=running.batch_rows,
        on_error=running.policy,
        overwrite=running.overwrite,
        charging=charging,
        seed=seed,
        guarantee=said,
    )
    return replace(
        found[-1],
        output=str(target),
        data=str(target),
        seconds=report.seconds,
        resumed_parts=report.resumed,
    )


def _check_whole(source: Source, out: str, dropped: Sequence[str]) -> None:
    """Refuse where what was read whole cannot be written, before anything is drawn or charged."""
    from voile.files.geo_files import check_geo_output

    target = location(out)
    if str(target) == str(source.location):
        raise CannotWrite("the output must be another file than the input")
    check_geo_output(target, dropped)


def _written(made: Made, source: Source, out: str, *, overwrite: bool) -> Made:
    """A file that was read whole, written whole, with its guarantee file beside it before."""
    from voile.files.geo_files import write_geo_file

    target = location(out)
    part = target.beside(f".voile-{uuid.uuid4().hex}-{target.name}")
    with writing(target):
        try:
            write_geo_file(made.data, part)
            done = replace(made, output_sha256=sha256_of(part), output=str(target), data=out)
            said = target.beside(target.name + ".guarantee.json")
            write_json(said, done.guarantee_file())
            for one in (said, part):
                one.readable_like(source.location)
            part.move(target, overwrite=overwrite)
        finally:
            part.remove()
    return done


def output_for(
    data: Any,
    out: str | Path | None,
    *,
    overwrite: bool,
    made: str = "protected",
) -> str | None:
    """Where a release of a file goes; refused at once if something is there already.

    Data in memory goes nowhere: it is given back.

    >>> output_for("s3://bucket/trips.csv.gz", None, overwrite=True)
    's3://bucket/trips.protected.csv.gz'
    """
    if not isinstance(data, str | Path):
        if out is not None:
            raise InvalidInput("--out must go with a file; data in memory comes back as .data")
        return None
    folder, slash, name = str(data).rpartition("/")
    stem, dot, endings = name.partition(".")
    target = str(out or f"{folder}{slash}{stem}.{made}{dot}{endings}")
    if not overwrite:
        check_output(target, overwrite=False)
    if out is not None:
        place = location(target)
        format_of(place.name)
        if same_file(place, location(data)):
            raise CannotWrite("the output must be another file than the input")
    return target
