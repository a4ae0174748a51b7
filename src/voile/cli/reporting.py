"""`--report` and `--charts`: what a command was, what it read, and where its report goes."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from voile.report import Provenance
from voile.report import Report

ReportFile = Annotated[
    Path | None, typer.Option("--report", help="Write a report: one HTML file, opens offline.")
]
ChartFolder = Annotated[
    Path | None, typer.Option("--charts", help="Write each chart as PNG and SVG into this folder.")
]

SHOWN = frozenset(
    {
        "alpha",
        "attack",
        "attacker",
        "attacks",
        "attribute",
        "cells",
        "column",
        "count",
        "data",
        "drop",
        "engine",
        "epsilon",
        "file",
        "head",
        "label",
        "label_epsilon",
        "lat",
        "levels",
        "lon",
        "mechanism",
        "mechanisms",
        "method",
        "metric",
        "on_error",
        "out",
        "outside",
        "passing",
        "over_budget",
        "person",
        "prior",
        "record_epsilon",
        "released",
        "sensitive",
        "signs",
        "sweep",
        "tiers",
        "trace",
        "unknown",
        "vocabulary",
    }
)
"""Options whose words may stand in a report: names of columns, methods and policies, numbers.

Numbers and flags are always shown, files by their last name only, and any other word as “…”: a
program, an address or a place may hold what its owner would not print.
"""

BEGUN = "voile.begun"


@dataclass(frozen=True)
class Wanted:
    """Where a command's report and pictures go; checked before the work begins."""

    context: typer.Context
    report: Path | None
    charts: Path | None

    def __bool__(self) -> bool:
        return self.report is not None or self.charts is not None

    def write(
        self,
        build: Callable[[Provenance], Report],
        *,
        private: Sequence[Path | str] = (),
        public: Sequence[Path | str] = (),
        randomness: str,
        quiet: bool,
    ) -> None:
        """Build and write what was asked for; nothing happens if nothing was.

        Files in `private` are hashed under a fresh key, which is shown on standard error and
        stands nowhere else; files in `public` (released ones too) without.
        """
        if not self:
            return
        from voile.report import write_charts, write_report

        key = secrets.token_bytes(32)
        made = build(self._provenance(randomness, private, public, key))
        if self.charts is not None:
            write_charts(made.all_charts(), self.charts, sources=private)
        if self.report is not None:
            write_report(made, self.report, sources=private)
            if private:
                typer.echo(
                    f"Key of the private files' hashes in the report, to be kept by you alone: "
                    f"{key.hex()}",
                    err=True,
                )
        if not quiet:
            for where in (self.report, self.charts):
                if where is not None:
                    typer.echo(f"Wrote {where}")

    def _provenance(
        self,
        randomness: str,
        private: Sequence[Path | str],
        public: Sequence[Path | str],
        key: bytes,
    ) -> Provenance:
        from voile import __version__
        from voile.report import Digest, Provenance

        digests = [Digest(*_digest(path, key), keyed=True) for path in private]
        digests += [Digest(*_digest(path, None)) for path in public]
        return Provenance(
            version=__version__,
            command=command_line(self.context),
            randomness=randomness,
            when=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            seconds=time.monotonic() - self.context.meta.get(BEGUN, time.monotonic()),
            digests=tuple(digests),
        )


def wanted(context: typer.Context, report: Path | None, charts: Path | None) -> Wanted:
    """Refuse what could not be written in the end: a missing extra, a missing folder."""
    from voile.errors import CannotWrite, InvalidInput, MissingExtra

    if report is not None or charts is not None:
        from importlib.util import find_spec

        for module, package in (("altair", "altair"), ("vl_convert", "vl-convert-python")):
            if find_spec(module) is None:
                raise MissingExtra(package, extra="report")
    if report is not None:
        if report.suffix.lower() not in (".html", ".htm"):
            raise InvalidInput(f"--report must name an .html file, got {report.name}")
        if not report.parent.is_dir():
            raise CannotWrite(f"cannot write {report}: its folder does not exist")
        if report.is_dir():
            raise CannotWrite(f"--report must name a file, {report} is a folder")
        _probe(report.parent, report)
    if charts is not None:
        if charts.exists() and not charts.is_dir():
            raise CannotWrite(f"--charts must name a folder, {charts} is a file")
        there = next(folder for folder in (charts, *charts.absolute().parents) if folder.is_dir())
        _probe(there, charts)
    return Wanted(context, report, charts)


def _probe(folder: Path, wanted: Path) -> None:
    """A report that cannot be written must be known before the release, which cannot be undone."""
    from voile.errors import CannotWrite
    from voile.files import probe_folder

    try:
        probe_folder(folder)
    except OSError as problem:
        raise CannotWrite(f"cannot write {wanted}: {problem.strerror or problem}") from problem


def begin(context: typer.Context) -> None:
    """Note when a command began; the frame of all commands calls this."""
    context.meta[BEGUN] = time.monotonic()


def drawn(seed: int | None) -> str:
    """How a release was drawn, in words."""
    return (
        "secure: a cryptographic generator, keyed by the operating system"
        if seed is None
        else f"seeded with {seed}: not for release"
    )


def repeatable(seed: int) -> str:
    """How an experiment was drawn, in words; nothing was released."""
    return f"seed {seed} repeats this run; nothing was drawn for release"


def command_line(context: typer.Context) -> str:
    """The command as it was given, without folders and without words that may be private."""
    words = [context.command_path]
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name)
        value = context.params.get(parameter.name)
        if source is None or source.name != "COMMANDLINE" or value is None:
            continue
        shown = [_shown(parameter.name, part) for part in _parts(value)]
        if parameter.param_type_name == "argument":
            words += shown
        elif getattr(parameter, "is_flag", False):
            words.append((parameter.opts if value else parameter.secondary_opts)[0])
        elif getattr(parameter, "multiple", False):
            words += [word for part in shown for word in (parameter.opts[0], part)]
        else:
            words += [parameter.opts[0], *shown]
    return " ".join(words)


def _parts(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else (value,)


def _shown(name: str, value: Any) -> str:
    if isinstance(value, bool | int | float):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, Path):
        return shlex.quote(value.name)
    return shlex.quote(str(value).rpartition("/")[2]) if name in SHOWN else "…"


def _digest(path: Path | str, key: bytes | None) -> tuple[str, str]:
    """A file's name and hash, wherever it lies; of a folder, all its files together."""
    from voile.files.locations import location

    state: Any = hashlib.sha256() if key is None else hmac.new(key, digestmod="sha256")
    place = location(path)
    folder = isinstance(path, Path) and path.is_dir()
    files = sorted(p for p in Path(path).rglob("*") if p.is_file()) if folder else [path]
    for file in files:
        with location(file).open() as stream:
            while block := stream.read(2**20):
                state.update(block)
    return place.name, str(state.hexdigest())
