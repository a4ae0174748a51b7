"""Giving up a job that will never be finished: what it drew is deleted, its charges taken back."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from voile.errors import BadFile, CannotWrite, InvalidInput
from voile.jobs.workspace import Workspace
from voile.ledger import Event, Ledger, check_ledger, read_key
from voile.ledger._options import KeyFile, Where
from voile.ledger.ends import refuse_answered
from voile.options import Option, use_case
from voile.report.model import Report
from voile.report.result import Result

_JOB = re.compile(r"(service-)?[0-9a-f]{32}")


@dataclass(frozen=True, repr=False, eq=False)
class Abandoned(Result):
    """A job that was given up: its name, and how many of its parts had been charged."""

    job: str
    parts: int

    def _report(self) -> Report:
        return Report(
            title="A job, given up",
            answer=f"Took back the charges of {self.parts:,} parts of job {self.job}.",
        )


@use_case("ledger abandon")
def abandon(
    ledger: Where,
    job: Annotated[
        str, Option("The output of an interrupted job, or the job's name.", writes=True)
    ],
    *,
    deleted: Annotated[
        bool, Option("Its folder was deleted, and nobody had read it.", "Budget")
    ] = False,
    ledger_key: KeyFile = None,
) -> Abandoned:
    """Give up a job that will never be finished: delete what it drew, take back its charges.

    Only a job whose output never appeared; it can never be resumed afterwards.

    Example: `voile ledger abandon ledger.db reviews.protected.csv --ledger-key ledger.db.key`
    """
    with Ledger(str(ledger), read_key(ledger_key)) as opened:
        if check_ledger(opened).problems:
            raise BadFile("the ledger must verify, and does not; `voile ledger verify` says why")
        name = _given_up(opened, str(job), deleted=deleted)
        return Abandoned(name, opened.refund(name))


def _given_up(ledger: Ledger, job: str, *, deleted: bool) -> str:
    """The name of a job that can publish nothing any more: its folder is gone.

    A refund is right only if nobody has read what was drawn. A job's output appears after the
    ledger says that it is finished, so a job without that entry has published nothing, and its
    drawn parts lie in its folder, which is its owner's alone. `job` is the output whose folder is
    there: it is deleted here, under its lock, before anything is given back. Or it is the job's
    name, where the folder is gone already; that it was deleted unread must then be said. The
    ledger must verify as a whole: else the entry that says "finished" might have been removed. From
    then on the job can neither charge nor finish, wherever a copy of its folder may lie.
    """
    folder = Workspace(job).folder
    if folder.inside("manifest.json").exists():
        return _removed(ledger, job)
    if not _JOB.fullmatch(job):
        raise InvalidInput(
            f"there must be a folder {folder.name} of an interrupted job; if it was deleted, "
            "give the job's name (32 letters and digits, as `voile ledger export --entries` "
            "writes it) and --deleted"
        )
    if not deleted:
        raise InvalidInput(
            "a refund is right only if nobody has read what the job drew: say --deleted if its "
            "folder was deleted unread; if it is still there, give the output's name instead"
        )
    _require_open(ledger, job)
    return job


def _removed(ledger: Ledger, output: str) -> str:
    """Delete the folder of an interrupted job under its lock; the job's name."""
    manifest = Workspace(output).folder.inside("manifest.json")
    try:
        with manifest.open() as file:
            found = json.loads(file.read())
        name, kept = str(found["job"]), found["settings"].get("ledger") or {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise BadFile(f"{Path(str(manifest)).name} cannot be read, or is damaged") from None
    if kept.get("ledger") != ledger.identity:
        raise InvalidInput("the job must have charged this ledger; it charged another, or none")
    space = Workspace(output, name)
    with space.locked():
        _require_open(ledger, name)
        if space.publishing.exists():
            raise CannotWrite(
                "the job's output is complete and about to appear; repeat its command to finish it"
            )
        space.remove()
    if space.folder.exists():
        raise CannotWrite(f"{space.folder.name} must be deleted before a refund, and could not be")
    return name


def _require_open(ledger: Ledger, job: str) -> None:
    """A job whose output never appeared, as far as this ledger can know."""
    refuse_answered(job)
    for entry in ledger.store.entries():
        if entry.event == Event.FINISHED and entry.job == job:
            raise CannotWrite("a job whose output has appeared is spent, and is never refunded")
