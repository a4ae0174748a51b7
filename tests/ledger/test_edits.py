"""Somebody edits the ledger without its key: the next charge is refused, and nothing is granted."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from voile.errors import BadFile
from voile.ledger import Bill, Budget, Kind, Ledger, check_ledger, make_key, read_key, simple_cost
from voile.ledger.address import place_of
from voile.ledger.entries import Entry, packed
from voile.ledger.store import FIELDS as _FIELDS

PLACE = Kind("one location", "euclidean", "km")
ANN = 4.5
"""What ann has spent of 5 before the edit: another 1 is beyond her budget."""


@dataclass
class Editor:
    """SQL on either store, with ? for values and the table's plain names."""

    where: str
    key_file: str
    older: dict[str, list[tuple[Any, ...]]]
    """All tables as they were after the first charges, with an earlier fold."""

    @property
    def server(self) -> bool:
        return self.where.startswith("postgresql")

    def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        if self.server:
            import psycopg

            for table in ("front", "entries", "pages"):
                for word in ("UPDATE", "FROM", "INTO"):
                    statement = statement.replace(f"{word} {table}", f"{word} voile_{table}")
            with psycopg.connect(self.where, autocommit=True) as database:
                done = database.execute(statement.replace("?", "%s"), values)
                return done.fetchall() if done.description else []
        database = sqlite3.connect(self.where)
        try:
            found = database.execute(statement, values).fetchall()
            database.commit()
            return found
        finally:
            database.close()

    def entries(self) -> list[Entry]:
        return [Entry(*row) for row in self.run(f"SELECT {_FIELDS} FROM entries ORDER BY number")]

    def put(self, entry: Entry) -> None:
        self.run(
            "UPDATE entries SET persons = ?, amounts = ?, within = ?, previous = ?, digest = ?, "
            "seal = ? WHERE number = ?",
            entry.persons, entry.amounts, entry.within, entry.previous, entry.digest, entry.seal,
            entry.number,
        )  # fmt: skip

    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        return {t: self.run(f"SELECT * FROM {t}") for t in ("front", "entries", "pages")}

    def restore(self, tables: dict[str, list[tuple[Any, ...]]]) -> None:
        for table, rows in tables.items():
            self.run(f"DELETE FROM {table}")
            for row in rows:
                self.run(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", *row)


def nothing_spent(entry: Entry) -> Entry:
    return replace(entry, amounts=packed(entry.table() * 0))


def a_lowered_balance(edit: Editor) -> None:
    for number, content, _ in edit.run("SELECT * FROM pages"):
        cheap = bytearray(content)
        for start in range(0, len(cheap), 40):
            cheap[start + 8 : start + 16] = bytes(8)
        edit.run("UPDATE pages SET content = ? WHERE number = ?", bytes(cheap), number)


def accounts_left_out(edit: Editor) -> None:
    edit.run("UPDATE pages SET content = ?", b"")


def pages_removed(edit: Editor) -> None:
    edit.run("DELETE FROM pages")


def half_an_account(edit: Editor) -> None:
    for number, content, _ in edit.run("SELECT * FROM pages"):
        edit.run("UPDATE pages SET content = ? WHERE number = ?", content[:-3], number)


def an_older_fold(edit: Editor) -> None:
    for number, content, seal in edit.older["pages"]:
        edit.run("UPDATE pages SET content = ?, seal = ? WHERE number = ?", content, seal, number)


def a_lower_total_and_its_first_page(edit: Editor) -> None:
    """The earlier fold as it was, together with how far it went."""
    an_older_fold(edit)
    edit.run("UPDATE front SET through = ?", 4)


def a_tail_that_is_passed_over(edit: Editor) -> None:
    edit.run("UPDATE front SET through = head_number")


def accounts_that_are_passed_over(edit: Editor) -> None:
    edit.run("UPDATE front SET through = 0, pages = 0")


def an_entry_removed(edit: Editor) -> None:
    edit.run("DELETE FROM entries WHERE number = ?", edit.entries()[-2].number)


def an_old_entry_removed(edit: Editor) -> None:
    edit.run("DELETE FROM entries WHERE number = 3")


def the_last_entries_removed(edit: Editor) -> None:
    *_, last, _, _ = edit.entries()
    edit.run("DELETE FROM entries WHERE number > ?", last.number)
    edit.run("UPDATE front SET head_number = ?, head_digest = ?", last.number, last.digest)


def the_last_entry_removed(edit: Editor) -> None:
    edit.run("DELETE FROM entries WHERE number = ?", edit.entries()[-1].number)


def an_epsilon(edit: Editor) -> None:
    edit.put(nothing_spent(edit.entries()[-1]))


def an_epsilon_and_its_hash(edit: Editor) -> None:
    entry = nothing_spent(edit.entries()[-1])
    edit.put(replace(entry, digest=entry.computed()))
    edit.run("UPDATE front SET head_digest = ?", entry.computed())


def every_epsilon_and_every_hash(edit: Editor) -> None:
    """A thorough forger, who has all but the key."""
    previous = bytes(32)
    for entry in edit.entries():
        cheap = replace(nothing_spent(entry) if entry.job else entry, previous=previous)
        previous = cheap.computed()
        edit.put(replace(cheap, digest=previous))
    edit.run("UPDATE front SET head_digest = ?, through = 0, pages = 0", previous)


def a_person(edit: Editor) -> None:
    entry = edit.entries()[-1]
    edit.put(replace(entry, persons=bytes(8) + entry.persons[8:]))


def two_entries_exchanged(edit: Editor) -> None:
    one, other = (entry.number for entry in edit.entries()[-2:])
    edit.run("UPDATE entries SET number = ? WHERE number = ?", -1, one)
    edit.run("UPDATE entries SET number = ? WHERE number = ?", one, other)
    edit.run("UPDATE entries SET number = ? WHERE number = ?", other, -1)


def the_budget(edit: Editor) -> None:
    edit.run("UPDATE front SET terms = replace(terms, '5.0', '500.0')")


def the_budget_everywhere(edit: Editor) -> None:
    the_budget(edit)
    edit.run("UPDATE entries SET facts = replace(facts, '5.0', '500.0')")


def an_older_state(edit: Editor) -> None:
    edit.restore(edit.older)


def the_seals(edit: Editor) -> None:
    edit.run("UPDATE entries SET seal = ? WHERE number = ?", bytes(32), edit.entries()[-1].number)


EDITS = [
    a_lowered_balance, accounts_left_out, pages_removed, half_an_account, an_older_fold,
    a_lower_total_and_its_first_page, a_tail_that_is_passed_over, accounts_that_are_passed_over,
    an_entry_removed, an_old_entry_removed, the_last_entries_removed, the_last_entry_removed,
    an_epsilon, an_epsilon_and_its_hash, every_epsilon_and_every_hash, a_person,
    two_entries_exchanged, the_budget, the_budget_everywhere, an_older_state, the_seals,
]  # fmt: skip


def charge(ledger: Ledger, job: str, *names: str, epsilon: float = 0.5) -> list[bool]:
    bill = Bill.listed([simple_cost(epsilon)] * len(names))
    return ledger.charge(job, 0, names, bill).within.tolist()


@pytest.fixture
def edit(where, tmp_path):
    """A ledger with an older and a newer fold, and three entries since."""
    key_file = str(tmp_path / "key")
    with Ledger.create(where, make_key(key_file), budget=Budget(5.0)) as ledger:
        ledger.agree(PLACE, None)
        assert all(charge(ledger, "first", "ann", "bob"))
        ledger.fold()
        editor = Editor(where, key_file, {})
        editor.older = editor.tables()
        for job in ("second", "third", "fourth", "fifth"):
            assert all(charge(ledger, job, "ann", "bob", f"of {job}"))
        ledger.fold()
        for job in ("sixth", "seventh", "eighth", "ninth"):
            assert all(charge(ledger, job, "ann"))
    return editor


@pytest.mark.parametrize("change", EDITS, ids=lambda change: change.__name__)
def test_an_edited_ledger_is_refused_at_the_next_charge(edit, change):
    running = Ledger(edit.where, read_key(edit.key_file))  # a process that goes on
    assert charge(running, "tenth", "eve") == [True]
    before = edit.tables()
    change(edit)
    assert edit.tables() != before, "the edit must change something"
    entries = len(edit.entries())
    fresh = Ledger(edit.where, read_key(edit.key_file))
    with pytest.raises(BadFile, match=r"the ledger (was changed|must not go back)"):
        charge(fresh, "beyond", "ann", epsilon=1.0)
    assert len(edit.entries()) == entries
    with suppress(BadFile):  # what a running process has read already it need not read again
        assert charge(running, "beyond", "ann", epsilon=1.0) == [False]
    assert check_ledger(fresh).problems
    for ledger in (fresh, running):
        ledger.close()


@pytest.mark.parametrize("change", EDITS, ids=lambda change: change.__name__)
def test_what_lies_behind_the_fold_grants_nothing(edit, change):
    """A charge does not read entries whose sums are folded; nothing is decided by them either."""
    with Ledger(edit.where, read_key(edit.key_file)) as ledger:
        ledger.fold()
        before = edit.tables()
        change(edit)
        if edit.tables() == before:
            pytest.skip("this edit changes nothing here")
    with Ledger(edit.where, read_key(edit.key_file)) as fresh:
        with suppress(BadFile):
            assert charge(fresh, "beyond", "ann", epsilon=1.0) == [False]
        assert check_ledger(fresh).problems


def test_the_whole_ledger_is_charged(edit):
    with Ledger(edit.where, read_key(edit.key_file)) as ledger:
        assert ledger.spent("ann") == ANN * 10**9
        assert charge(ledger, "beyond", "ann", epsilon=1.0) == [False]
        assert charge(ledger, "last", "ann", epsilon=0.5) == [True]
        assert not check_ledger(ledger).problems


def test_a_copy_without_its_log_is_refused(tmp_path):
    """What SQLite has not yet moved from the -wal file is missing from the copy."""
    where, key = tmp_path / "ledger.db", make_key(tmp_path / "key")
    with Ledger.create(str(where), key, budget=Budget(5.0)) as ledger:
        ledger.agree(PLACE, None)
        charge(ledger, "a", "ann", epsilon=4.0)
        shutil.copy(where, tmp_path / "copy.db")  # while the ledger is in use
    copy = Ledger(str(tmp_path / "copy.db"), key)
    with pytest.raises(
        BadFile, match=r"must not go back: it ends at entry \d, .* without the -wal"
    ):
        charge(copy, "b", "ann", epsilon=4.0)
    assert any("last seen with this key" in problem for problem in check_ledger(copy).problems)


def test_a_job_that_was_given_up_cannot_be_taken_up_under_another_name(edit):
    """Its parts would be released, paid for by nobody."""
    with Ledger(edit.where, read_key(edit.key_file)) as ledger:
        ledger.refund("second")
        ledger.fold()
    edit.run("UPDATE entries SET job = ? WHERE job = ? AND part = -1", "other", "second")
    with (
        Ledger(edit.where, read_key(edit.key_file)) as ledger,
        pytest.raises(BadFile, match="is not what was written"),
    ):
        ledger.charge("second", 0, ["ann", "bob", "of second"],
                      Bill.listed([simple_cost(0.5)] * 3))  # fmt: skip


def test_the_last_seen_head_stands_beside_the_key(edit):
    path = Path(edit.key_file + ".seen")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with Ledger(edit.where, read_key(edit.key_file)) as ledger:
        place = f"@{read_key(edit.key_file).place(place_of(edit.where))} {ledger.identity}\n"
        assert path.read_text() == f"{ledger.identity} {ledger.head}\n{place}"
        assert charge(ledger, "more", "eve") == [True]
        assert path.read_text() == f"{ledger.identity} {ledger.head}\n{place}"
        later = path.read_text()
        charge(ledger, "more yet", "eve")
    newest = path.read_text()
    ledger.guard.note(Ledger(edit.where, None).head)
    assert path.read_text() == newest != later
    assert sorted(p.name for p in path.parent.iterdir() if "key" in p.name) == ["key", "key.seen"]


@pytest.mark.parametrize("text", ["something else\n", "", "\n", "@0123 4567\n"])
def test_a_damaged_note_is_told(edit, text):
    """Nor is an empty one, or one without a head, taken for a key that has seen nothing."""
    Path(edit.key_file + ".seen").write_text(text)
    with (
        Ledger(edit.where, read_key(edit.key_file)) as ledger,
        pytest.raises(BadFile, match=r"last-seen heads .* damaged"),
    ):
        charge(ledger, "more", "eve")


def test_a_key_is_the_same_by_another_name(edit, tmp_path):
    """What was seen lies beside the file itself, not beside a link that leads to it."""
    link = tmp_path / "linked"
    link.symlink_to(edit.key_file)
    assert read_key(link).file == os.path.realpath(edit.key_file)
    with Ledger(edit.where, read_key(link)) as ledger:
        assert charge(ledger, "more", "eve") == [True]
    assert not Path(f"{link}.seen").exists()
    with Ledger(edit.where, read_key(edit.key_file)) as again:
        assert again.guard.seen == again.head


def test_two_copies_that_go_their_own_ways(tmp_path):
    """Both are whole and neither is older; the one that this key has not seen is refused."""
    where, key = tmp_path / "ledger.db", make_key(tmp_path / "key")
    with Ledger.create(str(where), key, budget=Budget(5.0)) as ledger:
        ledger.agree(PLACE, None)
    shutil.copy(where, tmp_path / "copy.db")
    seen = (tmp_path / "key.seen").read_bytes()
    with Ledger(str(tmp_path / "copy.db"), read_key(tmp_path / "key")) as copy:
        for job in "xyz":
            charge(copy, job, "ann")
    (tmp_path / "key.seen").write_bytes(seen)  # as on another machine with the same key
    with Ledger(str(where), read_key(tmp_path / "key")) as ledger:
        charge(ledger, "a", "ann")
    with (
        Ledger(str(tmp_path / "copy.db"), read_key(tmp_path / "key")) as copy,
        pytest.raises(BadFile, match="entry 4 is another: a copy was charged"),
    ):
        charge(copy, "d", "ann")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_key_in_a_folder_that_cannot_be_written(edit):
    folder = Path(edit.key_file).parent
    folder.chmod(0o500)
    with Ledger(edit.where, read_key(edit.key_file)) as ledger:
        assert charge(ledger, "more", "eve") == [True]
    folder.chmod(0o700)
