"""Requests gathered while the one before is on its way to the disk: group commit.

A thread releases one group after the other; whatever arrives meanwhile is the next group. So under
load a sync of the disk serves many requests, and a request that is alone waits for no other. When
a group is answered, those who were in it may ask again at once, one after the other: the first
would be a group by itself, and the rest wait for its sync. So a group begins when half as many
wait as were in the last one, or after a quarter of the time that the last one took.

**A long request delays no brief one** by more than its share of the processor: it goes another
lane, with a thread, a mechanism and a connection to the ledger of its own, as another process
would. Threads take turns at the interpreter every half millisecond (`running.py`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

from voile.service.asking import Answered, Asked, failure
from voile.service.config import Server
from voile.service.logs import LOG
from voile.service.releasing import Releasing

LARGEST = 2000
"""Records of a group, unless one request has more."""
LARGEST_BYTES = 64_000
"""And bytes of their requests: nobody waits for more than these beside their own."""
BRIEF = 8_000
"""Bytes of a request that is not long: some 1,300 words, or 200 places."""
_SHARE, _LONGEST_WAIT = 0.25, 0.005
"""How long a group waits for others, of the time that the last took; and in seconds, at most."""


class Lanes:
    """A domain's two lanes: brief requests, and long ones."""

    def __init__(self, name: str, make: Callable[[], Releasing], limits: Server) -> None:
        self.brief, self.long = (
            Lane(f"voile {name} {which}", make, limits) for which in ("brief", "long")
        )

    async def ask(self, asked: Asked) -> Answered:
        """Wait for the answer."""
        return await (self.brief if asked.size <= BRIEF else self.long).ask(asked)

    async def forget(self) -> None:
        """Delete answers that have expired."""
        await self.brief.beside(self.brief.releasing.forget)

    async def close(self) -> None:
        """Take no more, answer everybody who waits, and close the ledger."""
        await asyncio.gather(self.brief.close(), self.long.close())


class Lane:
    """The requests that wait for one thread, and the thread that releases them."""

    def __init__(self, name: str, make: Callable[[], Releasing], limits: Server) -> None:
        self._most, self._most_bytes = limits.waiting_records, limits.waiting_bytes
        self._waiting: deque[tuple[Asked, asyncio.Future[Answered]]] = deque()
        self._records = self._bytes = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self.releasing = self._thread.submit(make).result()
        self._busy = self._closed = False
        self._last, self._took = 0, 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    async def ask(self, asked: Asked) -> Answered:
        """Wait for the answer; refused at once if too many wait already, or at the end."""
        if self._closed:
            return failure(503, "stopping", "the service stops; nothing was charged", retry=5)
        records, size = self._records + len(asked.records), self._bytes + asked.size
        if records > self._most or size > self._most_bytes:
            return failure(503, "busy", "too many records wait; nothing was charged", retry=1)
        loop = asyncio.get_running_loop()
        waiting = loop.create_future()
        self._waiting.append((asked, waiting))
        self._records, self._bytes = records, size
        if not self._busy:
            self._busy = True
            self._idle.clear()
            loop.call_soon(self._gather)  # whoever is being read comes along
        elif self._timer is not None and self._enough():
            self._begin()
        found: Answered = await asyncio.shield(waiting)  # what is charged is not called off
        return found

    def _enough(self) -> bool:
        return self._closed or 2 * len(self._waiting) >= self._last

    def _gather(self) -> None:
        """Begin now, or soon."""
        if self._enough():
            self._begin()
        else:
            seconds = min(_SHARE * self._took, _LONGEST_WAIT)
            self._timer = asyncio.get_running_loop().call_later(seconds, self._begin)

    def _begin(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        group: list[tuple[Asked, asyncio.Future[Answered]]] = []
        records = size = 0
        while self._waiting:
            following = self._waiting[0][0]
            records, size = records + len(following.records), size + following.size
            if group and (records > LARGEST or size > LARGEST_BYTES):
                break
            group.append(self._waiting.popleft())
            self._records -= len(following.records)
            self._bytes -= following.size
        asked, began = [one for one, _ in group], perf_counter()
        loop = asyncio.get_running_loop()
        done = loop.run_in_executor(self._thread, self.releasing.release, asked)

        def ended(found: Any) -> None:
            self._last, self._took = len(group), perf_counter() - began
            self._answer([waiting for _, waiting in group], found)

        done.add_done_callback(ended)

    def _answer(self, waiting: Sequence[asyncio.Future[Answered]], found: Any) -> None:
        """Give out the answers, and go on with those who came meanwhile."""
        problem = found.exception()
        if problem is not None:
            LOG.error(internal(problem))
        lost = failure(500, "internal", "an error of the service; it is in its log")
        answers = [lost] * len(waiting) if problem is not None else found.result()
        for one, answer in zip(waiting, answers, strict=True):
            if not one.done():
                one.set_result(answer)
        if self._waiting:
            self._gather()
        else:
            self._busy = False
            self._idle.set()

    async def beside(self, work: Callable[[], None]) -> None:
        """Do something between two groups, in their thread."""
        await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def close(self) -> None:
        """Take no more, return once everybody who waits is answered; close what it had open."""
        first, self._closed = not self._closed, True
        if self._timer is not None:
            self._begin()
        await self._idle.wait()
        if first:
            await self.beside(self.releasing.close)
            self._thread.shutdown()


def internal(problem: BaseException) -> str:
    """An error for the log: its type and where it came from, not what it says."""
    at, frames = problem.__traceback__, []
    while at is not None:
        code = at.tb_frame.f_code
        frames.append(f"{code.co_filename.rpartition('/')[2]}:{at.tb_lineno} {code.co_name}")
        at = at.tb_next
    return f"internal error {type(problem).__name__} at {' < '.join(reversed(frames[-6:]))}"
