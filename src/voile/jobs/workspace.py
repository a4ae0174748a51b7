"""The folder beside an unfinished output: manifest, parts, lock.

A part is committed by its *note*. Each attempt writes its rows under a name of its own and then
creates `part-00000042.json`, which says where the rows are; a name can be created once, so of
several attempts one is the part and the others' rows are deleted unread. Notes and rows lie in a
folder named after the job, so that whoever is still at work for a job that is over writes nowhere.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from voile.core.keyed_streams import KEY_BYTES
from voile.errors import BadFile, CannotWrite, VoileError
from voile.files.disk import LocalFile
from voile.files.locations import Location, location

LAYOUT = 3
"""How a folder is laid out; another version's folder is not continued."""

Note = dict[str, Any]
"""What is known of one part: counts, totals, and the name of the file that holds its rows."""


@dataclass(frozen=True)
class Workspace:
    """`<output>.voile-job/`: what has been drawn, kept until the output is complete.

    `job` is the job's own name, which `open` finds or makes.
    """

    output: str | os.PathLike[str] | Location
    job: str = ""

    @cached_property
    def target(self) -> Location:
        """The output."""
        return location(self.output)

    @cached_property
    def folder(self) -> Location:
        """Where the parts lie."""
        return self.target.beside(self.target.name + ".voile-job")

    @property
    def joined(self) -> Location:
        """The whole output before it gets its name."""
        return self.folder.inside("joined")

    @property
    def publishing(self) -> Location:
        """Stands when all that is missing is the last rename."""
        return self.folder.inside("publishing")

    @property
    def stopped(self) -> Location:
        """Stands when a part has failed: nobody need wait for it."""
        return self.folder.inside("stopped")

    @cached_property
    def parts(self) -> Location:
        """Where this job's parts lie."""
        return self.folder.inside(self.job)

    def note(self, number: int) -> Location:
        """The note that makes a part what it is."""
        return self.parts.inside(f"part-{number:08d}.json")

    def rows_of(self, note: Note) -> Location:
        """The rows of a committed part."""
        return self.parts.inside(note["rows_in"])

    def open(self, identity: Mapping[str, Any]) -> tuple[Workspace, bool]:
        """Make the folder, or find it from an interrupted job with the same identity.

        Returns the workspace with the job's own name, the same for all who continue it, and
        whether it was there. Another job's folder is refused: its parts were drawn with other
        settings.
        """
        manifest = self.folder.inside("manifest.json")
        wanted = {**json.loads(json.dumps(identity)), "layout": LAYOUT}
        self.folder.make_folder()
        job = uuid.uuid4().hex
        if manifest.create(_json({"job": job, "settings": wanted})):
            fresh = Workspace(self.output, job)
            fresh.parts.make_folder()
            return fresh, False
        try:
            found = json.loads(_read(manifest))
            settings, job = found["settings"], str(found["job"])
        except (ValueError, KeyError, TypeError) as problem:
            raise BadFile(
                f"{manifest} is damaged or of another version; delete {self.folder}"
            ) from problem
        if settings != wanted:
            differing = sorted(k for k in {*settings, *wanted} if settings.get(k) != wanted.get(k))
            raise CannotWrite(
                f"{self.folder.name} belongs to an interrupted job that differs in "
                f"{', '.join(differing)}; repeat that job, choose another output, or delete "
                "the folder"
            )
        found_there = Workspace(self.output, job)
        found_there.parts.make_folder()  # the job may have been killed before it did
        return found_there, True

    def settings(self) -> Mapping[str, Any]:
        """The identity of the interrupted job; empty if there is none that can be read."""
        manifest = self.folder.inside("manifest.json")
        try:
            return dict(json.loads(_read(manifest))["settings"]) if manifest.exists() else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}  # `open` says what is wrong

    def check(self) -> None:
        """Refuse to go on if the folder is not there, or is another job's by now."""
        try:
            found = json.loads(_read(self.folder.inside("manifest.json")))["job"]
        except (OSError, ValueError, KeyError, TypeError):
            found = None
        if found != self.job:
            raise CannotWrite(
                f"{self.folder} must be what the job began with, and it is not: either it was "
                "removed (another process finished?), or this machine does not see the output's "
                "folder, which must lie on storage that all machines share"
            )

    @property
    def key(self) -> Location:
        """The key of the draws that this job's parts share; gone once all are drawn."""
        return self.parts.inside("key")

    def shared_key(self) -> bytes:
        """That key, made by whoever asks first; a restart finds it again.

        Without it nothing can go on where parts are there: their words would be drawn twice.
        """
        if not self.committed():
            self.key.create(secrets.randbits(8 * KEY_BYTES).to_bytes(KEY_BYTES, "little"))
        found = _read(self.key) if self.key.exists() else b""
        if len(found) != KEY_BYTES:
            raise BadFile(
                f"{self.key} must be the key that the finished parts were drawn with, and it is "
                "gone or damaged: they are deleted, nothing is released; repeat the command"
            )
        return found

    def committed(self) -> set[int]:
        """The parts that exist."""
        names = (n.removeprefix("part-") for n in self.parts.names() if n.startswith("part-"))
        return {int(n.removesuffix(".json")) for n in names if n.endswith(".json")}

    def read_note(self, number: int) -> Note:
        """What is known of a committed part."""
        try:
            note: Note = json.loads(_read(self.note(number)))
        except ValueError as problem:
            raise BadFile(f"{self.note(number)} is damaged; delete {self.folder}") from problem
        return note

    def commit(self, number: int, content: bytes, facts: Mapping[str, Any]) -> Note:
        """Make this the part of this number, unless there is one: then that one's note.

        The rows are on disk, whole, before the note is; the note appears by one exclusive step.
        """
        rows = self.parts.inside(f"part-{number:08d}.{uuid.uuid4().hex}")
        rows.write(content)
        note = {**facts, "rows_in": rows.name}
        if self.note(number).create(_json(note)):
            return note
        rows.remove()  # unread: somebody else made this part
        return self.read_note(number)

    def remove(self) -> None:
        """Delete the folder and what it holds.

        In an order that a kill cannot make ambiguous: without the manifest what is left belongs to
        no job, and `publishing`, which goes last, says that it is to be cleared away.
        """
        self.folder.inside("manifest.json").remove()
        for name in sorted(self.folder.names() - {self.publishing.name}):
            self.folder.inside(name).remove()
        self.publishing.remove()
        self.folder.remove()

    def clear_remains(self) -> None:
        """Finish a removal that was interrupted after the output had its name."""
        if self.publishing.exists() and not self.folder.inside("manifest.json").exists():
            self.remove()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder: two processes of one machine must not do the same work.

        This spares work and gives a clear message. That a part has one version does not rest on
        it: stores without locks are safe too.
        """
        lock = self.folder.inside("lock")
        if not isinstance(lock, LocalFile):
            yield
            return
        descriptor = os.open(lock.path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            try:
                import fcntl

                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except ImportError:  # no such locks on this system
                pass
            except OSError:
                raise CannotWrite(
                    f"another process is writing {self.target.name}; wait for it to finish"
                ) from None
            yield
        finally:
            os.close(descriptor)


def write_json(path: str | os.PathLike[str] | Location, value: Mapping[str, Any]) -> None:
    """A JSON file that is whole or absent."""
    location(path).write(_json(value))


@contextmanager
def writing(target: str | os.PathLike[str] | Location) -> Iterator[None]:
    """System errors while writing become one clear line."""
    try:
        yield
    except VoileError:
        raise
    except OSError as problem:
        full = problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        if full:
            raise CannotWrite(
                f"the disk is full: {location(target).name} is not written; the finished parts "
                "are kept, free some space and repeat the command to continue"
            ) from problem
        raise CannotWrite(
            f"{str(target)!r} cannot be written: {problem.strerror or problem}"
        ) from problem


def _json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8")


def _read(place: Location) -> bytes:
    with place.open() as file:
        return file.read()
