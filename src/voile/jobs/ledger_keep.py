"""Keeping a ledger: a backup, another place, the refund of a job that will never be finished."""

from __future__ import annotations

import json
import re
from pathlib import Path

from voile.errors import BadFile, CannotWrite, InvalidInput
from voile.jobs.workspace import Workspace
from voile.ledger import Event, Head, Ledger, read_key, verify
from voile.ledger.address import is_server
from voile.ledger.copies import backup, migrate

_JOB = re.compile(r"[0-9a-f]{32}")


def backup_ledger(where: str, out: str, *, key_file: str | None = None) -> Head:
    """The whole ledger as one new file, verified; its head."""
    if is_server(out):
        raise InvalidInput("a backup must be a file; `voile ledger migrate` moves to a server")
    return backup(where, out, None if key_file is None else read_key(key_file))


def migrate_ledger(where: str, to: str, *, key_file: str | None) -> Head:
    """The ledger goes on at another address, or in the present format; its head there."""
    return migrate(where, to, read_key(key_file))


def abandon_job(
    where: str, job: str, *, key_file: str | None, deleted: bool = False
) -> tuple[str, int]:
    """Take back the charges of a job that will never be finished; its name and how many parts.

    A refund is right only if nobody has read what was drawn. A job's output appears after the
    ledger says that it is finished, so a job without that entry has published nothing, and its
    drawn parts lie in its folder, which is its owner's alone. `job` is the output whose folder is
    there: it is deleted here, under its lock, before anything is given back. Or it is the job's
    name, where the folder is gone already; that it was deleted unread must then be said. The
    ledger must verify as a whole: else the entry that says "finished" might have been removed. From
    then on the job can neither charge nor finish, wherever a copy of its folder may lie.
    """
    with Ledger(where, read_key(key_file)) as ledger:
        if verify(ledger).problems:
            raise BadFile("the ledger must verify, and does not; `voile ledger verify` says why")
        folder = Workspace(job).folder
        if folder.inside("manifest.json").exists():
            name = _removed(ledger, job)
        elif not _JOB.fullmatch(job):
            raise InvalidInput(
                f"there must be a folder {folder.name} of an interrupted job; if it was deleted, "
                "give the job's name (32 letters and digits, as `voile ledger export --entries` "
                "writes it) and --deleted"
            )
        elif not deleted:
            raise InvalidInput(
                "a refund is right only if nobody has read what the job drew: say --deleted if its "
                "folder was deleted unread; if it is still there, give the output's name instead"
            )
        else:
            name = job
            _require_open(ledger, name)
        return name, ledger.refund(name)


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
    for entry in ledger.store.entries():
        if entry.event == Event.ARRIVED and entry.known().get("format") == 3:
            old = any(e.job == job for e in ledger.store.entries() if e.number < entry.number)
            if old:
                raise CannotWrite(
                    "a job that an older voile charged cannot be abandoned: that version did not "
                    "note which jobs were finished"
                )
        if entry.event == Event.FINISHED and entry.job == job:
            raise CannotWrite("a job whose output has appeared is spent, and is never refunded")
