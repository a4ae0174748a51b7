"""A ledger that was changed does not verify: each way to change it is tried, and must be seen."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from voile.cli.app import app
from voile.ledger import Bill, Budget, Head, Key, Kind, Ledger, check_ledger, simple_cost
from voile.ledger.entries import Entry
from voile.ledger.store import FIELDS as _FIELDS

PLACE = Kind("one location", "euclidean", "km")


def filled(where: str, key: Key) -> Ledger:
    ledger = Ledger.create(where, key)
    ledger.agree(PLACE, Budget(5.0))
    for part in range(4):
        ledger.charge("job", part, ["ann", "bob", f"p{part}"], Bill.listed([simple_cost(0.5)] * 3))
    ledger.charge("lost", 0, ["ann"], Bill.listed([simple_cost(1.0)]))
    ledger.fold()
    ledger.refund("lost")
    return ledger


TAMPERED = {
    "an amount": "UPDATE entries SET amounts = CAST(x'01' || substr(amounts, 2) AS BLOB) "
    "WHERE number = 5",
    "a person": "UPDATE entries SET persons = CAST(x'fe' || substr(persons, 2) AS BLOB) "
    "WHERE number = 5",
    "an amount, to a text": "UPDATE entries SET amounts = 'lots' WHERE number = 5",
    "an amount, to broken text": "UPDATE entries SET amounts = x'ff' || amounts WHERE number = 5",
    "amounts, to nothing": "UPDATE entries SET amounts = x'', persons = x'' WHERE number = 5",
    "a hash, to a text": "UPDATE entries SET digest = 'x' WHERE number = 5",
    "a decision": "UPDATE entries SET within = x'00' WHERE number = 4",
    "a time": "UPDATE entries SET time = '1999-01-01T00:00:00+00:00' WHERE number = 4",
    "a job's name": "UPDATE entries SET job = 'other' WHERE number = 4",
    "the budget": "UPDATE entries SET facts = replace(facts, '5.0', '9.0') WHERE number = 2",
    "the budget on the first page": "UPDATE front SET terms = replace(terms, '5.0', '9.0')",
    "the identity": "UPDATE front SET identity = 'another'",
    "a hash": "UPDATE entries SET digest = zeroblob(32) WHERE number = 4",
    "a seal": "UPDATE entries SET seal = zeroblob(32) WHERE number = 4",
    "an entry removed": "DELETE FROM entries WHERE number = 4",
    "the first removed": "DELETE FROM entries WHERE number = 1",
    "the last removed": "DELETE FROM entries WHERE number = 8",
    "two exchanged": "UPDATE entries SET number = CASE number WHEN 4 THEN -5 ELSE -4 END "
    "WHERE number IN (4, 5); UPDATE entries SET number = -number WHERE number < 0",
    "one twice": "INSERT INTO entries SELECT 9, event, time, 'copy', part, rows, within, request, "
    "persons, amounts, facts, previous, digest, seal FROM entries WHERE number = 4",
    "an account lowered": "UPDATE pages SET content = CAST(substr(content, 1, 8) || zeroblob(8) || "
    "substr(content, 17) AS BLOB)",
    "an account removed": "UPDATE pages SET content = CAST(substr(content, 41) AS BLOB)",
    "an account added": "UPDATE pages SET content = CAST(zeroblob(40) || content AS BLOB)",
    "an account twice": "UPDATE pages SET content = CAST(content || content AS BLOB)",
    "a page, to a text": "UPDATE pages SET content = 'lots'",
    "a page removed": "DELETE FROM pages",
    "a page's seal": "UPDATE pages SET seal = zeroblob(32)",
    "the first page's seal": "UPDATE front SET seal = zeroblob(32)",
    "the first page, to texts": "UPDATE front SET head_digest = 'x', through = 'y', seal = 'z'",
    "the head": "UPDATE front SET head_number = 7",
    "how far the accounts go": "UPDATE front SET through = 5",
    "accounts beyond the entries": "UPDATE front SET through = 99",
    "accounts as if never written": "UPDATE front SET through = 0",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tampering")
    key = Key(bytes(range(32)))
    filled(str(folder / "whole.db"), key).close()
    return folder / "whole.db", key


@pytest.mark.parametrize("what", TAMPERED)
def test_a_changed_ledger_does_not_verify(whole, tmp_path, what):
    path, key = whole
    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    before = copy.read_bytes()
    database = sqlite3.connect(copy)
    database.executescript(TAMPERED[what])
    database.commit()
    database.close()
    assert copy.read_bytes() != before, "the tampering must have changed something"
    assert check_ledger(Ledger(str(copy), key)).problems, what
    if "seal" not in what:  # which only the key can tell
        assert check_ledger(Ledger(str(copy), None)).problems, what


def test_a_whole_ledger_verifies(whole):
    path, key = whole
    found = check_ledger(Ledger(str(path), key))
    assert (found.problems, found.entries, found.people) == ((), 8, 6)


def test_a_ledger_cut_back_to_an_earlier_state_is_told_by_its_head(whole, tmp_path):
    path, key = whole
    head = Ledger(str(path), key).head
    where, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    shutil.copy(path, where)
    with Ledger(str(where), key) as ledger:
        ledger.charge("more", 0, ["ann"], Bill.listed([simple_cost(0.5)]))
        later = ledger.head
    shutil.copy(path, copy)
    ledger = Ledger(str(copy), key)
    assert not check_ledger(ledger).problems  # an earlier state of a ledger is a valid ledger …
    cut = check_ledger(ledger, head=later)  # … but not this one
    assert any("cut off" in problem for problem in cut.problems)
    assert not check_ledger(Ledger(str(where), key), head=head).problems  # an older note is met
    assert check_ledger(Ledger(str(path), key), head=Head(head.number, bytes(32))).problems


def test_a_chain_rewritten_without_the_key_has_the_wrong_seals(whole, tmp_path):
    path, key = whole
    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    forger = Key(b"f" * 32)
    database = sqlite3.connect(copy)
    previous = bytes(32)
    for row in database.execute(f"SELECT {_FIELDS} FROM entries ORDER BY number").fetchall():
        entry = Entry(*row)
        if entry.number == 4:  # ann never was there
            object.__setattr__(entry, "time", "2000-01-01T00:00:00+00:00")
        object.__setattr__(entry, "previous", previous)
        entry = entry.sealed(forger)
        previous = entry.digest
        database.execute(
            "UPDATE entries SET time = ?, previous = ?, digest = ?, seal = ? WHERE number = ?",
            (entry.time, entry.previous, entry.digest, entry.seal, entry.number),
        )
    database.execute("UPDATE front SET head_digest = ?", (previous,))
    database.commit()
    database.close()
    assert not check_ledger(Ledger(str(copy), None)).problems  # the chain alone agrees with itself
    found = check_ledger(Ledger(str(copy), key)).problems
    assert any("not sealed with this key" in problem for problem in found)


def test_an_entry_that_agrees_with_itself_alone_breaks_the_chain(whole, tmp_path):
    """Its hash and seal are made anew, by somebody with the key; the next one still knows it."""
    path, key = whole
    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    database = sqlite3.connect(copy)
    row = database.execute(f"SELECT {_FIELDS} FROM entries WHERE number = 5").fetchone()
    entry = replace(Entry(*row), time="2000-01-01T00:00:00+00:00").sealed(key)
    database.execute(
        "UPDATE entries SET time = ?, digest = ?, seal = ? WHERE number = 5",
        (entry.time, entry.digest, entry.seal),
    )
    database.commit()
    database.close()
    found = check_ledger(Ledger(str(copy), key)).problems
    assert found == ("entry 6 does not continue the entry before it",)


def test_a_budget_that_was_overdrawn_does_not_verify(whole, tmp_path):
    """Even with the key and a fresh chain: what the entries say is added up again."""
    _, key = whole
    ledger = Ledger.create(str(tmp_path / "ledger.db"), key)
    ledger.agree(PLACE, Budget(1.0))
    real = Budget.allows
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("voile.ledger.book.decide", lambda rows, *rest: rows[:, 0] >= 0)
        ledger.charge("job", 0, ["ann"] * 3, Bill.listed([simple_cost(0.6)] * 3))
    assert Budget.allows is real
    assert any("beyond the budget" in p for p in check_ledger(ledger).problems)


def test_tampering_on_a_server_is_seen_too(postgres, key):
    import psycopg

    ledger = filled(postgres, key)
    assert not check_ledger(ledger).problems
    with psycopg.connect(postgres, autocommit=True) as database:
        database.execute("UPDATE voile_pages SET content = substr(content, 41)")
    assert check_ledger(ledger).problems
    ledger.close()


def test_the_command_says_so_and_exits_with_one(whole, tmp_path):
    path, _ = whole
    runner = CliRunner()
    done = runner.invoke(app, ["ledger", "verify", str(path)])
    assert done.exit_code == 0, done.output
    assert "8 entries, 6 persons: chain and accounts agree" in done.output
    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    database = sqlite3.connect(copy)
    database.execute("UPDATE entries SET rows = rows + 1 WHERE number = 4")
    database.commit()
    database.close()
    done = runner.invoke(app, ["ledger", "verify", str(copy)])
    assert done.exit_code == 1
    assert "CHANGED: entry 4 was changed" in done.output
