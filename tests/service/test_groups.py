"""Group commit: who waits for whom, and who for nobody."""

from __future__ import annotations

import asyncio
import threading

import pytest

from voile.service import groups
from voile.service.asking import Answered, Asked
from voile.service.config import Server
from voile.service.groups import BRIEF, LARGEST_BYTES, Lane, Lanes


class Counting:
    """Answers at once, or when it is allowed to, and notes the sizes of its groups."""

    def __init__(self):
        self.sizes, self.threads, self.closed = [], set(), 0
        self.allowed = threading.Event()
        self.allowed.set()

    def release(self, asked):
        self.sizes.append(len(asked))
        self.threads.add(threading.current_thread().name)
        assert self.allowed.wait(30)
        return [Answered(200, str(one.size).encode()) for one in asked]

    def forget(self):
        pass

    def close(self):
        self.closed += 1


def of(size=1, records=1):
    return Asked([{}] * records, alone=True, size=size)


async def settled():
    for _ in range(5):
        await asyncio.sleep(0)


def running(lane, talk):
    async def whole():
        try:
            return await talk()
        finally:
            await lane.close()
            await lane.close()  # said again it changes nothing

    return asyncio.run(whole())


@pytest.mark.parametrize("share", [0.0, 1e9])
def test_a_request_that_is_alone_waits_for_nobody(share, monkeypatch):
    monkeypatch.setattr(groups, "_SHARE", share)
    monkeypatch.setattr(groups, "_LONGEST_WAIT", 1e6)
    counting = Counting()
    lane = Lane("test", lambda: counting, Server(waiting_records=100))

    async def talk():
        for _ in range(5):
            assert (await lane.ask(of())).status == 200

    running(lane, talk)
    assert counting.sizes == [1] * 5
    assert counting.closed == 1


def test_after_a_group_of_many_the_next_waits_for_half_as_many(monkeypatch):
    """So that the first of those who ask again is not a group, and a sync, by itself."""
    monkeypatch.setattr(groups, "_SHARE", 1e9)
    monkeypatch.setattr(groups, "_LONGEST_WAIT", 1e6)
    counting = Counting()
    lane = Lane("test", lambda: counting, Server(waiting_records=100))

    async def talk():
        await asyncio.gather(*(lane.ask(of()) for _ in range(8)))
        first = [asyncio.create_task(lane.ask(of())) for _ in range(3)]
        await settled()
        assert counting.sizes == [8]
        await asyncio.gather(*first, lane.ask(of()))
        assert counting.sizes == [8, 4]
        last = asyncio.create_task(lane.ask(of()))
        await settled()
        assert counting.sizes == [8, 4]
        await lane.close()  # and at the end for nobody
        assert (await last).status == 200

    running(lane, talk)
    assert counting.sizes == [8, 4, 1]


def test_it_waits_no_longer_than_a_part_of_what_the_last_took(monkeypatch):
    monkeypatch.setattr(groups, "_LONGEST_WAIT", 0.0)
    counting = Counting()
    lane = Lane("test", lambda: counting, Server(waiting_records=100))

    async def talk():
        await asyncio.gather(*(lane.ask(of()) for _ in range(8)))
        assert (await lane.ask(of())).status == 200

    running(lane, talk)
    assert counting.sizes == [8, 1]


def test_a_group_is_bounded_in_bytes_and_what_comes_meanwhile_is_the_next():
    counting = Counting()
    lane = Lane("test", lambda: counting, Server(waiting_records=100))

    async def talk():
        counting.allowed.clear()
        sizes = [1, *[LARGEST_BYTES // 2] * 5, 10 * LARGEST_BYTES, 1]
        asked = [asyncio.create_task(lane.ask(of(sizes[0])))]
        await settled()
        asked += [asyncio.create_task(lane.ask(of(size))) for size in sizes[1:]]
        await settled()
        counting.allowed.set()
        answers = await asyncio.gather(*asked)
        assert [int(answer.body) for answer in answers] == sizes

    running(lane, talk)
    assert counting.sizes == [1, 2, 2, 1, 1, 1]


def test_what_waits_is_bounded_in_bytes_too():
    counting = Counting()
    lane = Lane("test", lambda: counting, Server(body_bytes=100, waiting_bytes=200))

    async def talk():
        counting.allowed.clear()
        asked = [asyncio.create_task(lane.ask(of(100)))]
        await settled()
        asked += [asyncio.create_task(lane.ask(of(size))) for size in (100, 90, 11, 10)]
        await settled()
        counting.allowed.set()
        first = [answer.status for answer in await asyncio.gather(*asked)]
        assert first == [200, 200, 200, 503, 200]
        assert (await lane.ask(of(100))).status == 200, "none waits any more"

    running(lane, talk)


def test_a_long_request_stands_in_nobodys_way():
    """The long one does not end before the brief ones have been answered."""
    made = []

    def make():
        made.append(Counting())
        return made[-1]

    lanes = Lanes("test", make, Server(waiting_records=5))
    brief, long = made

    async def talk():
        long.allowed.clear()
        held = asyncio.create_task(lanes.ask(of(BRIEF + 1)))
        for _ in range(20):
            assert (await lanes.ask(of(BRIEF))).status == 200
        assert not held.done()
        long.allowed.set()
        assert (await held).status == 200
        assert (await lanes.ask(of(records=6))).status == 503

    running(lanes, talk)
    assert (brief.closed, long.closed) == (1, 1)
    assert (len(brief.sizes), long.sizes) == (20, [1])
    assert not brief.threads & long.threads
