"""Use cases that were started from the page: each in a thread, telling how far it is."""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voile.errors import InvalidInput, VoileError
from voile.interrupts import Keeping, stopped_by
from voile.progress import Step, heard_by
from voile.report.page import render
from voile.report.result import Result, plain
from voile.studio.away import chosen

MOST = 50
"""So many finished jobs are remembered; older ones are forgotten with their reports."""
EVERY = 0.1
"""Seconds between two looks at a job."""


class Stopped(Exception):
    """The owner asked a job to stop; it can be run again, and goes on where it stopped."""


@dataclass
class Job:
    """One use case at work: what it tells, and in the end its result or its error."""

    command: str
    identity: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    step: Step = field(default_factory=lambda: Step("starting"))
    lines: list[str] = field(default_factory=list)
    parts: list[Any] = field(default_factory=list)
    """What there is of the result already, as values."""
    keeping: Keeping = field(default_factory=Keeping)
    result: Result | None = None
    error: str = ""
    stopping: bool = False
    done: threading.Event = field(default_factory=threading.Event)

    def hear(self, step: Step) -> None:
        """What the work tells; a job that is to stop is stopped here."""
        if self.stopping:
            raise Stopped
        if step.stays:
            self.lines.append(step.what)
            if step.part is not None:
                self.parts.append(plain(step.part))
        else:
            self.step = step

    def work(self, function: Any, options: Mapping[str, Any]) -> None:
        """Call the use case; whatever comes of it is kept, and nothing is logged."""
        try:
            with heard_by(self.hear), stopped_by(self.keeping):
                self.result = function(**options)
        except Stopped:
            self.error = "stopped; the same again goes on from here"
        except VoileError as problem:
            self.error = str(problem)
        except OSError as problem:
            self.error = f"the system refused: {problem.strerror or type(problem).__name__}"
        except Exception as fault:  # its words could hold data
            self.error = f"internal error: {type(fault).__name__}"
        finally:
            self.done.set()

    def stop(self) -> None:
        """The best so far, where there is something; the second time, and else, the end."""
        if self.keeping.worth and not self.keeping.asked:
            self.keeping.asked = True
        else:
            self.stopping = True

    def state(self) -> dict[str, Any]:
        """How far it is, for the page."""
        found = self.result
        answer = None if found is None else found._report()
        return {
            "what": self.step.what,
            "done": self.step.done,
            "total": self.step.total,
            "lines": self.lines,
            "parts": self.parts,
            "keeps": self.keeping.worth and not self.keeping.asked,
            "finished": self.done.is_set(),
            "error": self.error,
            "answer": None if answer is None else answer.answer,
            "verdict": None if answer is None or answer.verdict is None else str(answer.verdict),
            "in_clear": () if answer is None else answer.in_clear,
            "report": None if found is None else f"/report/{self.identity}",
        }


@dataclass
class Jobs:
    """The jobs of one studio, by identities that nobody guesses."""

    passing: Path | None = None
    """The folder that is deleted with the studio: no job writes there."""
    jobs: dict[str, Job] = field(default_factory=dict)
    _starting: threading.Lock = field(default_factory=threading.Lock)

    def start(self, command: str, options: Mapping[str, Any]) -> Job:
        """Begin; one at a time, since all would write and charge the same things."""
        function, given = chosen(command, options, passing=self.passing)
        job = Job(command)
        with self._starting:
            if any(not other.done.is_set() for other in self.jobs.values()):
                raise InvalidInput("a job is at work here; wait for its end, or stop it")
            while len(self.jobs) >= MOST:
                del self.jobs[next(iter(self.jobs))]
            self.jobs[job.identity] = job
        threading.Thread(target=job.work, args=(function, given), daemon=True).start()
        return job

    def find(self, identity: str) -> Job:
        """A job by its identity."""
        if identity not in self.jobs:
            raise InvalidInput("there is no such job")
        return self.jobs[identity]

    def stop(self) -> None:
        """Ask all to stop, and wait a little."""
        for job in self.jobs.values():
            job.stopping = True
        for job in self.jobs.values():
            job.done.wait(5.0)


async def events(job: Job) -> AsyncIterator[str]:
    """Server-sent events: a job's state whenever it changes, the last one when it is finished."""
    last = ""
    while True:
        finished = job.done.is_set()
        now = json.dumps(job.state())
        if now != last:
            yield f"data: {now}\n\n"
            last = now
        if finished:
            return
        await asyncio.sleep(EVERY)


def page(job: Job) -> str:
    """The report of a finished job, for a frame."""
    if job.result is None:
        raise InvalidInput("there is no report before the end")
    return render(job.result.report(), framed=True)
