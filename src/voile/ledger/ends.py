"""How a job ends in a ledger: finished, or its charges taken back. Never both, and only once."""

from __future__ import annotations

import uuid

import numpy as np

from voile.errors import CannotWrite
from voile.ledger.chain import is_genuine
from voile.ledger.entries import NO_PART, Entry, Event, after, packed
from voile.ledger.pages import changed
from voile.ledger.people import Key
from voile.ledger.replica import added
from voile.ledger.store import Transaction

_ANSWERING = "service-"


def answering_job() -> str:
    """A new name for charges whose releases are given out at once, part by part.

    Such a job has no output that is yet to appear: a part is answered as soon as its charge is on
    the disk. So it is never refunded, however it ended, and its name, sealed in each of its
    entries, says so from the first charge on.
    """
    return _ANSWERING + uuid.uuid4().hex


def refuse_answered(job: str) -> None:
    """Raise an error for a job whose parts were given out as they were charged."""
    if job.startswith(_ANSWERING):
        raise CannotWrite(
            "what a service charged was answered at once: it is spent, and is never refunded"
        )


def given_up() -> CannotWrite:
    """A job that was refunded releases nothing."""
    return CannotWrite(
        "this job was given up and its charges taken back; delete its folder and start anew"
    )


def refund_entry(now: Transaction, job: str, key: Key) -> tuple[Entry | None, int]:
    """The entry that takes back what a job was charged, and how many parts; none if there are none.

    A job that was finished may have been read by anybody: what it spent is spent.
    """
    refuse_answered(job)
    charged = [entry for entry in now.entries_of(job) if entry.event == Event.CHARGED]
    ended = now.entry(job, NO_PART)
    if ended is not None and ended.event == Event.FINISHED:
        raise CannotWrite("a job whose output has appeared is spent, and is never refunded")
    if not charged or ended is not None:
        return None, 0
    if not all(is_genuine(entry, key) for entry in charged):
        raise changed("entries of this job are not what was written")
    sums = added(charged)
    persons = sorted(sums)
    table = np.array([sums[p] for p in persons], dtype=np.int64).reshape(-1, 4)
    blobs = {"persons": b"".join(persons), "amounts": packed(table)}
    return after(now.front.head, Event.REFUNDED, job=job, **blobs), len(charged)


def finish_entry(now: Transaction, job: str) -> Entry | None:
    """The entry that ends a job whose output is about to appear; none if it is there."""
    ended = now.entry(job, NO_PART)
    if ended is None:
        return after(now.front.head, Event.FINISHED, job=job)
    if ended.event == Event.REFUNDED:
        raise given_up()
    return None
