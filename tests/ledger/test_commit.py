"""Commits that go on beside something else: waited for, and believed only when they ended."""

from __future__ import annotations

import sqlite3
import time

import pytest

from voile.errors import CannotWrite
from voile.ledger import Bill, Budget, Key, Kind, Ledger, check_ledger, simple_cost
from voile.ledger.commit import Commit


def costs(*epsilons: float) -> Bill:
    return Bill.listed([simple_cost(e) for e in epsilons])


@pytest.fixture
def ledger(tmp_path):
    made = Ledger.create(str(tmp_path / "ledger.db"), Key(bytes(32)))
    made.agree(Kind("one location", "euclidean", "km"), Budget(1.0))
    yield made
    made.close()


def refused(self: Commit) -> None:
    self._problem = sqlite3.OperationalError("disk I/O error")
    self._database.execute("ROLLBACK")


def test_a_charge_that_the_disk_refused_is_told_and_forgotten(ledger, monkeypatch):
    """However often its receipt is asked, and whatever was done with the ledger meanwhile."""

    ledger.charge("a", 0, ["ann"], costs(0.3), wait=False).settle()
    with monkeypatch.context() as during:
        during.setattr(Commit, "run", refused)
        lost = ledger.charge("a", 1, ["ann"], costs(0.5), wait=False)
    assert not ledger.charged("a", 1)
    assert ledger.spent("ann") == 300_000_000
    for _ in range(2):
        with pytest.raises(CannotWrite, match="disk I/O error"):
            lost.settle()
    again = ledger.charge("a", 1, ["ann"], costs(0.5), wait=False)
    assert not again.replayed
    assert ledger.charge("a", 2, ["ann"], costs(0.3), wait=False).within.tolist() == [False]
    assert ledger.charge("a", 3, ["ann"], costs(0.2)).within.tolist() == [True]
    assert ledger.spent("ann") == 1_000_000_000


def test_each_use_waits_for_a_commit_that_goes_on(ledger, monkeypatch):
    real = Commit.run
    monkeypatch.setattr(Commit, "run", lambda self: (time.sleep(0.1), real(self))[1])
    ledger.charge("a", 0, ["ann"], costs(0.3), wait=False).settle()
    with Ledger(ledger.where, None) as other:
        assert other.charged("a", 0)
    ledger.charge("a", 1, ["ann"], costs(0.3), wait=False)
    assert ledger.spent("ann") == 600_000_000
    ledger.charge("a", 2, ["ann"], costs(0.3), wait=False)
    ledger.close()
    assert ledger.spent("ann") == 900_000_000
    ledger.charge("a", 3, ["bob"], costs(0.3), wait=False)
    assert ledger.refund("a") == 4
    assert not check_ledger(ledger).problems


def test_what_others_charged_instead_of_a_lost_charge_counts(ledger, monkeypatch):
    """Two entries stand where this process believed its own to be."""
    with monkeypatch.context() as during:
        during.setattr(Commit, "run", refused)
        ledger.charge("a", 0, ["ann"], costs(0.1), wait=False)
    with Ledger(ledger.where, ledger.key) as other:
        other.charge("b", 0, ["ann"], costs(0.7))
        other.charge("b", 1, ["bob"], costs(0.7))
    assert ledger.charge("a", 0, ["ann"], costs(0.4)).within.tolist() == [False]
