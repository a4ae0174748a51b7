"""Requests gathered while the one before is on its way to the disk: group commit.

A thread releases one group after the other; whatever arrives meanwhile is the next group. So under
load a sync of the disk serves many requests, and a request that is alone waits for no other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from voile.service.asking import Answered, Asked, failure
from voile.service.logs import LOG

LARGEST = 2000
"""Records of a group, unless one request has more."""


class Groups:
    """The requests that wait for one domain, and the thread that releases them."""

    def __init__(
        self, release: Callable[[Sequence[Asked]], list[Answered]], *, most: int, name: str
    ) -> None:
        self._release, self._most = release, most
        self._waiting: deque[tuple[Asked, asyncio.Future[Answered]]] = deque()
        self._records = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"voile {name}")
        self._busy = self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()

    async def ask(self, asked: Asked) -> Answered:
        """Wait for the answer; refused at once if too many wait already, or at the end."""
        if self._closed:
            return failure(503, "stopping", "the service stops; nothing was charged", retry=5)
        if self._records + len(asked.records) > self._most:
            return failure(503, "busy", "too many records wait; nothing was charged", retry=1)
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, waiting))
        self._records += len(asked.records)
        if not self._busy:
            self._busy = True
            self._idle.clear()
            asyncio.get_running_loop().call_soon(self._begin)  # whoever is being read comes along
        found: Answered = await asyncio.shield(waiting)  # what is charged is not called off
        return found

    def _begin(self) -> None:
        group: list[tuple[Asked, asyncio.Future[Answered]]] = []
        size = 0
        while self._waiting and (not group or size + len(self._waiting[0][0].records) <= LARGEST):
            group.append(self._waiting.popleft())
            size += len(group[-1][0].records)
        self._records -= size
        asked = [one for one, _ in group]
        done = asyncio.get_running_loop().run_in_executor(self._thread, self._release, asked)
        done.add_done_callback(lambda found: self._answer([w for _, w in group], found))

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
            self._begin()
        else:
            self._busy = False
            self._idle.set()

    async def beside(self, work: Callable[[], None]) -> None:
        """Do something between two groups, in their thread."""
        await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def close(self) -> None:
        """Take no more, and return once everybody who waits is answered."""
        self._closed = True
        await self._idle.wait()
        self._thread.shutdown()


def internal(problem: BaseException) -> str:
    """An error for the log: its type and where it came from, not what it says."""
    at, frames = problem.__traceback__, []
    while at is not None:
        code = at.tb_frame.f_code
        frames.append(f"{code.co_filename.rpartition('/')[2]}:{at.tb_lineno} {code.co_name}")
        at = at.tb_next
    return f"internal error {type(problem).__name__} at {' < '.join(reversed(frames[-6:]))}"
