"""The folder beside an unfinished output: manifest, parts, lock."""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voile.errors import BadFile, CannotWrite


@dataclass(frozen=True)
class Workspace:
    """`<output>.voile-job/`: what has been drawn, kept until the output is complete."""

    target: Path

    @property
    def folder(self) -> Path:
        """Where the parts lie."""
        return self.target.with_name(self.target.name + ".voile-job")

    @property
    def joined(self) -> Path:
        """The whole output before it gets its name."""
        return self.folder / "joined"

    @property
    def publishing(self) -> Path:
        """Stands when all that is missing is the last rename."""
        return self.folder / "publishing"

    def part(self, number: int) -> Path:
        """The rows of one part."""
        return self.folder / f"part-{number:08d}"

    def note(self, number: int) -> Path:
        """What is known of one part: counts, columns, totals."""
        return self.folder / f"part-{number:08d}.json"

    def open(self, identity: Mapping[str, Any]) -> bool:
        """Make the folder, or find it from an interrupted job with the same identity.

        Returns whether there was one. Another job's folder is refused: its parts were drawn with
        other settings.
        """
        manifest = self.folder / "manifest.json"
        wanted = json.loads(json.dumps(identity))
        if manifest.exists():
            try:
                found = json.loads(manifest.read_text("utf-8"))
            except ValueError as problem:
                raise BadFile(f"{manifest} is damaged; delete {self.folder}") from problem
            if found != wanted:
                differing = sorted(k for k in {*found, *wanted} if found.get(k) != wanted.get(k))
                raise CannotWrite(
                    f"{self.folder.name} belongs to an interrupted job that differs in "
                    f"{', '.join(differing)}; repeat that job, choose another output, or delete "
                    "the folder"
                )
            return True
        self.folder.mkdir(parents=True, exist_ok=True)
        write_json(manifest, wanted)
        return False

    @property
    def stopped(self) -> Path:
        """Stands when a part has failed: nobody need wait for it."""
        return self.folder / "stopped"

    def job(self) -> str:
        """A name for this job, drawn once and found again by a restart; call it when locked.

        A job begun anew on the same file has another one: it releases a second time.
        """
        path = self.folder / "job"
        if not path.exists():
            temporary = path.with_name("job.tmp")
            with temporary.open("w", encoding="ascii") as file:
                file.write(secrets.token_hex(16))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        return path.read_text("ascii")

    def remove(self) -> None:
        """Delete the folder and what it holds."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder: two processes must not draw for the same rows."""
        descriptor = os.open(self.folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
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


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """A JSON file that is whole or absent."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")
    temporary.replace(path)


@contextmanager
def writing(target: Path) -> Iterator[None]:
    """System errors while writing become one clear line."""
    try:
        yield
    except OSError as problem:
        full = problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        if full:
            raise CannotWrite(
                f"the disk is full: {target.name} is not written; the finished parts are kept, "
                "free some space and repeat the command to continue"
            ) from problem
        raise CannotWrite(
            f"{str(target)!r} cannot be written: {problem.strerror or problem}"
        ) from problem
