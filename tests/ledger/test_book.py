"""The ledger itself, in SQLite and PostgreSQL: once, in order, never over budget, by keyed hash."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sqlite3
import stat
import sys
import weakref
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from voile.core.guarantee import Guarantee
from voile.errors import BadFile, CannotWrite, InvalidInput
from voile.ledger import (
    Bill,
    Budget,
    Key,
    Kind,
    Ledger,
    check_ledger,
    make_key,
    person_name,
    read_key,
    simple_cost,
    stated,
)
from voile.ledger.postgres import PostgresStore
from voile.ledger.register import NOBODY, Register, plain_numbers
from voile.ledger.store import FORMAT
from voile.metrics import discrete, euclidean

PLACE = Kind.of(Guarantee(0.8, euclidean(unit="km"), "one location"))
LABEL = Kind.of(Guarantee(0.8, discrete(), "one label"))


def costs(*epsilons: float) -> Bill:
    return Bill.listed([simple_cost(e) for e in epsilons])


@pytest.fixture
def ledger(where, key):
    made = Ledger.create(where, key)
    made.agree(PLACE, Budget(1.0))
    yield made
    made.close()


def test_charges_add_up_in_order_and_stop_at_the_budget(ledger):
    first = ledger.charge("a", 0, ["ann", "bob", "ann"], costs(0.5, 0.2, 0.6))
    assert first.within.tolist() == [True, True, False]
    second = ledger.charge("a", 1, ["ann", "ann", "bob"], costs(0.4, 0.2, 0.8))
    assert second.within.tolist() == [True, False, True]
    assert (ledger.spent("ann"), ledger.spent("bob")) == (9 * 10**8, 10**9)
    assert ledger.account("ann")[3] == 2
    assert not check_ledger(ledger).problems


def test_asking_again_repeats_the_answer_and_charges_nothing(ledger, key, where):
    ledger.charge("a", 0, ["ann"] * 3, costs(0.4, 0.4, 0.4))
    head = ledger.head
    ledger.charge("b", 0, ["ann"], costs(0.2))  # another job takes what is left
    with Ledger(where, key) as other:
        again = other.charge("a", 0, ["ann"] * 3, costs(0.4, 0.4, 0.4))
    assert again.replayed
    assert again.within.tolist() == [True, True, False]
    assert ledger.spent("ann") == 10**9
    assert ledger.head.number == head.number + 1
    with pytest.raises(BadFile, match="other rows"):
        ledger.charge("a", 0, ["bob"] * 3, costs(0.4, 0.4, 0.4))
    with pytest.raises(BadFile, match="other rows"):
        ledger.charge("a", 0, ["ann"] * 3, costs(0.4, 0.4, 0.3))


def test_a_refund_gives_back_what_was_charged_and_ends_the_job(ledger):
    ledger.charge("a", 0, ["ann", "bob"], costs(0.5, 0.5))
    ledger.charge("a", 1, ["ann"], costs(0.5))
    ledger.charge("b", 0, ["bob"], costs(0.3))
    assert ledger.refund("a") == 2
    assert ledger.refund("a") == 0
    assert ledger.refund("never began") == 0
    assert (ledger.spent("ann"), ledger.spent("bob")) == (0, 3 * 10**8)
    with pytest.raises(CannotWrite, match="taken back"):
        ledger.charge("a", 2, ["ann"], costs(0.1))
    with pytest.raises(CannotWrite, match="taken back"):
        ledger.charge("a", 0, ["ann", "bob"], costs(0.5, 0.5))
    assert not check_ledger(ledger).problems


def test_rows_of_nobody_are_neither_charged_nor_allowed(ledger):
    got = ledger.charge("a", 0, ["ann", "", None, " ann ", float("nan")], costs(*[0.3] * 5))
    assert got.within.tolist() == [True, False, False, True, False]
    assert ledger.spent("ann") == 6 * 10**8


def test_empty_parts_and_free_rows_leave_an_entry(ledger):
    assert ledger.charge("a", 0, [], Bill.listed([])).within.tolist() == []
    assert ledger.charge("a", 1, ["ann"], Bill.listed([()])).within.tolist() == [True]
    assert ledger.charge("a", 3, ["ann"], Bill.listed([None])).within.tolist() == [True]
    assert ledger.account("ann")[3] == 1  # released for nothing; the other was not released
    assert ledger.store.charged("a", 0)
    assert not ledger.store.charged("a", 2)
    assert ledger.spent("ann") == 0
    assert not check_ledger(ledger).problems


def test_a_person_is_one_person_however_the_column_is_typed():
    key = Key(bytes(32))
    assert [person_name(v) for v in (7, 7.0, "7", " 7 ")] == ["7"] * 4
    composed, decomposed = "Zoé", "Zoé"
    assert key.person(composed) == key.person(decomposed)
    assert key.person("ann") != key.person("Ann")
    one, two, three, none, other = Register(key).numbers([1, 1.0, "1", ["x"], True]).tolist()
    assert one == two == three
    assert none == other == NOBODY


def test_a_truth_value_is_not_the_person_called_1():
    """True == 1 and hash(True) == hash(1): a look-up by value must not mix them up."""
    register = Register(Key(bytes(32)))
    assert register.numbers([1, "1"]).tolist() == [1, 1]
    assert register.numbers([True, 1.0, float("nan")]).tolist() == [NOBODY, 1, NOBODY]
    assert register.numbers([True]).tolist() == [NOBODY]


def test_rows_without_a_person_leave_nothing_behind():
    """No NaN equals another: remembering them would cost memory for each such row."""
    register = Register(Key(bytes(32)))
    assert not register.numbers([float("nan") for _ in range(50)] + [None, "", True]).any()
    assert len(register._by_value) == 0


@settings(max_examples=200)
@given(st.lists(st.lists(st.one_of(
    st.integers(0, 120).map(str), st.sampled_from(["07", " 7", "+7", "-7", "7\n", "1\n2", "", "٣",
                                                   "9" * 7, "9" * 8, "ann", "7.0"]),
    st.integers(-1, 3), st.booleans(), st.none(), st.floats(0, 3).map(round).map(float),
), max_size=8), max_size=6))  # fmt: skip
def test_numbers_tell_persons_apart_as_their_names_do(batches):
    """Whatever came before, and by whichever way the values of a batch are read."""
    key = Key(bytes(32))
    register = Register(key)
    for values in batches:
        numbers = register.numbers(values)
        hashes = register.hashes(numbers).tolist()
        names = [person_name(value) for value in values]
        assert hashes == [bytes(8) if n is None else key.person(n) for n in names]
        assert [n == NOBODY for n in numbers.tolist()] == [n is None for n in names]


def test_an_entry_says_nothing_about_the_order_of_the_rows(ledger):
    names = [f"p{i}" for i in range(200)]
    ledger.charge("a", 0, names, Bill.listed([simple_cost(0.1)] * 200))
    (entry,) = (e for e in ledger.store.entries() if e.job == "a")
    assert entry.hashes() == sorted(ledger.key.person(name) for name in names)
    more = [f"another {i}" for i in range(30)] + names[::-1]
    ledger.charge("job", 1, more, Bill.listed([simple_cost(0.1)] * len(more)))
    *_, entry = ledger.store.entries()
    known, new = entry.hashes()[: len(names)], entry.hashes()[len(names) :]
    assert known == sorted(ledger.key.person(name) for name in names)
    assert new == sorted(ledger.key.person(name) for name in more[:30])


def test_keyed_hashes_are_keyed_blake2b():
    import hashlib
    import hmac

    key = Key(b"k" * 32)
    part = hmac.new(key.secret, b"voile ledger person", hashlib.sha256).digest()
    assert key.person("ann") == hashlib.blake2b(b"ann", key=part, digest_size=8).digest()
    part = hmac.new(key.secret, b"voile ledger numbered persons", hashlib.sha256).digest()
    of_eight = hashlib.blake2b(b"5", key=part, digest_size=64).digest()
    assert key.persons(["42", "47", "042"])[:2] == [of_eight[16:24], of_eight[56:64]]
    many = [*map(str, range(3000)), "007", "9" * 18, "9" * 19, "9" * 5000, "ann"]
    assert len(set(key.persons(many))) == len(many)


def test_a_ledger_of_another_metric_or_budget_is_refused(where, key):
    ledger = Ledger.create(where, key)
    with pytest.raises(InvalidInput, match="must set its --budget"):
        ledger.agree(PLACE, None)
    with pytest.raises(InvalidInput, match="no kind and budget"):
        ledger.charge("a", 0, ["ann"], costs(0.1))
    ledger.agree(LABEL, Budget(2.0))
    ledger.agree(PLACE, Budget(1.0))  # nothing was charged yet
    ledger.charge("a", 0, ["ann"], costs(0.1))
    assert ledger.agree(PLACE, None).budget == Budget(1.0)
    with pytest.raises(InvalidInput, match="of another metric: it counts ε per km"):
        ledger.agree(LABEL, Budget(1.0))
    other_unit = Kind.of(Guarantee(0.8, euclidean(unit="m"), "one location"))
    with pytest.raises(InvalidInput, match="differ in unit"):
        ledger.agree(other_unit, None)
    with pytest.raises(InvalidInput, match="budget must stay what it is, 1; got 2"):
        ledger.agree(PLACE, Budget(2.0))
    assert not check_ledger(ledger).problems


def test_a_budget_with_a_delta_counts_by_moments(where, key):
    budget = Budget(6.0, delta=1e-6)
    ledger = Ledger.create(where, key, budget=budget)
    ledger.agree(LABEL, None)
    assert ledger.agree(LABEL, Budget(6.0)).budget == budget  # --budget alone keeps the delta
    for part in range(4):
        ledger.charge("a", part, ["ann"] * 50, costs(*[0.1] * 50))
    assert ledger.account("ann")[3] == budget.releases(0.1) > Budget(6.0).releases(0.1)
    assert not check_ledger(ledger).problems


def test_the_wrong_key_and_other_files(where, key, tmp_path):
    Ledger.create(where, key).close()
    with pytest.raises(InvalidInput, match="key must be the one"):
        Ledger(where, Key(b"x" * 32))
    with pytest.raises(CannotWrite, match="already"):
        Ledger.create(where, key)
    if where.startswith("postgresql"):
        with pytest.raises(BadFile, match="no ledger in this database"):
            Ledger(where.split("?")[0], key)
        return
    with pytest.raises(BadFile, match="no ledger"):
        Ledger(str(tmp_path / "typo.db"), key)
    (tmp_path / "text.db").write_text("hello " * 100)
    with pytest.raises(BadFile, match="not a ledger"):
        Ledger(str(tmp_path / "text.db"), key)
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE front (a)")
    with pytest.raises(BadFile, match="not a ledger"):
        Ledger(str(tmp_path / "other.db"), key)
    other.close()
    assert stat.S_IMODE(os.stat(where).st_mode) == 0o600


def test_keys_are_kept_apart_and_to_oneself(tmp_path):
    path = tmp_path / "key"
    made = make_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_key(path) == made != make_key(tmp_path / "other")
    assert made.secret.hex() not in repr(made)
    with pytest.raises(CannotWrite, match="never replaced"):
        make_key(path)
    path.chmod(0o644)
    with pytest.raises(BadFile, match="chmod 600"):
        read_key(path)
    path.chmod(0o600)
    path.write_text("voile ledger key 1\nabcd\n")
    with pytest.raises(BadFile, match="not a ledger key"):
        read_key(path)
    with pytest.raises(InvalidInput, match="VOILE_LEDGER_KEY"):
        read_key(None)


def test_no_name_and_no_key_is_stored(tmp_path, key):
    where = tmp_path / "ledger.db"
    ledger = Ledger.create(str(where), key)
    ledger.agree(PLACE, Budget(1.0))
    ledger.charge("a", 0, ["Margarethe Anonyma"], costs(0.1))
    ledger.close()
    content = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    for secret in (b"Margarethe", b"Anonyma", key.secret, key.secret.hex().encode()):
        assert secret not in content
    assert key.person("Margarethe Anonyma") in content


def charge_often(where: str, secret: bytes, name: str, results) -> None:
    ledger = Ledger(where, Key(secret))
    taken = 0
    for part in range(6):
        taken += int(ledger.charge(name, part, ["ann"] * 3, costs(0.3, 0.1, 0.05)).within.sum())
    ledger.close()
    results.put((name, taken))


def test_ten_processes_never_spend_more_than_there_is(where, key):
    """Ten processes ask for 27 all at once; the budget is 10."""
    ledger = Ledger.create(where, key)
    ledger.agree(PLACE, Budget(10.0))
    context = multiprocessing.get_context("fork")  # quick; each opens its own connection
    results = context.Queue()
    ledger.close()
    processes = [
        context.Process(target=charge_often, args=(where, key.secret, f"job{i}", results))
        for i in range(10)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 10
    rows = sum(results.get()[1] for _ in processes)
    spent, _, _, charged = ledger.account("ann")
    assert charged == rows
    assert spent <= 10 * 10**9
    assert spent > 10 * 10**9 - 5 * 10**7  # as long as 0.05 is left somebody gets it
    found = check_ledger(ledger)
    assert not found.problems
    assert found.entries == 2 + 60


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 4)), max_size=8),
        min_size=1,
        max_size=5,
    )
)
def test_no_history_spends_more_than_the_budget(tmp_path_factory, parts):
    """Whatever is asked for, what was allowed adds up, exactly, to at most what is stated."""
    folder = tmp_path_factory.mktemp("history")
    ledger = Ledger.create(str(folder / "ledger.db"), Key(bytes(32)))
    ledger.agree(PLACE, Budget(7.0))
    true: dict[str, Fraction] = {}
    for number, part in enumerate(parts):
        within = ledger.charge("job", number, [p for p, _ in part], costs(*[e for _, e in part]))
        for (person, epsilon), yes in zip(part, within.within, strict=True):
            if yes:
                true[person] = true.get(person, Fraction(0)) + Fraction(epsilon)
    for person, exact in true.items():
        units = ledger.spent(person)
        assert exact <= Fraction(stated(units))
        assert units <= 7 * 10**9
    assert not check_ledger(ledger).problems
    ledger.close()


def test_decisions_of_many_rows_survive_being_packed(ledger):
    names = [f"p{i % 7}" for i in range(1003)]
    bill = Bill.alike(simple_cost(0.01), np.arange(1003) % 3 > 0)
    first = ledger.charge("a", 0, names, bill).within
    assert np.array_equal(first, ledger.charge("a", 0, names, bill).within)
    assert 0 < first.sum() < 1003 or first.all()


@pytest.mark.parametrize("row", [0, 1, 2])
def test_a_part_with_one_other_person_is_not_taken_for_the_same(ledger, row):
    names = ["ann", "bob", "eve"]
    bill = Bill.listed([simple_cost(0.1)] * 3)
    ledger.charge("a", 0, names, bill)
    names[row] = "zoe"
    with pytest.raises(BadFile, match="other rows"):
        ledger.charge("a", 0, names, bill)


@given(st.lists(st.one_of(
    st.integers(0, 10**8).map(str),
    st.sampled_from(["", "0", "00", "07", "+7", "-7", " 7", "7 ", "7\n8", "\n", "7.0", "1e3",
                     "\u0663", "\u00b2", "9999999", "10000000", "9" * 30, "x", 7, None]),
)))  # fmt: skip
def test_numbers_are_plain_only_as_python_writes_them(values):
    plain = all(
        isinstance(v, str) and v.isascii() and v.isdigit() and str(int(v)) == v and int(v) < 10**7
        for v in values
    )
    found = plain_numbers(values)
    assert (found is not None) == plain
    if plain:
        assert found.tolist() == [int(v) for v in values]


def test_two_persons_with_one_hash_share_a_budget(ledger, monkeypatch):
    """Which refuses too much and never too little."""
    monkeypatch.setattr(Key, "persons", lambda self, names: [b"the same" for _ in names])
    got = ledger.charge("a", 0, ["ann", "bob", "7", "8"], costs(0.4, 0.4, 0.4, 0.2)).within
    assert got.tolist() == [True, True, False, True]
    assert ledger.spent("ann") == ledger.spent("bob") == 1_000_000_000
    assert not check_ledger(ledger).problems


@pytest.mark.parametrize(("change", "age"), [(-1, "an older"), (1, "a newer")])
def test_a_ledger_of_another_format_is_refused(where, key, change, age):
    """Its persons have other hashes, and would get a second budget."""
    ledger = Ledger.create(where, key)
    ledger.close()
    if where.startswith("postgresql://"):
        import psycopg

        with psycopg.connect(where, autocommit=True) as database:
            database.execute("ALTER TABLE voile_front DROP CONSTRAINT voile_front_format_check")
            database.execute("UPDATE voile_front SET format = %s", (FORMAT + change,))
    else:
        with sqlite3.connect(where) as database:
            database.execute(f"PRAGMA user_version = {FORMAT + change}")
    with pytest.raises(BadFile, match=f"was written by {age} voile"):
        Ledger(where, key)
    with pytest.raises(BadFile, match=f"was written by {age} voile"):
        ledger.agree(PLACE, Budget(1.0))


def test_a_ledger_that_was_moved_away_is_not_charged_any_more(tmp_path, key):
    """Through an open connection it could be, where nobody would ever see it."""
    where = tmp_path / "ledger.db"
    with Ledger.create(str(where), key, budget=Budget(1.0)) as ledger:
        ledger.agree(PLACE, None)
        ledger.charge("a", 0, ["ann"], costs(0.5))
        for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
            (tmp_path / name).rename(tmp_path / f"moved-{name}")
        with pytest.raises(BadFile, match="there is no ledger"):
            ledger.charge("a", 1, ["ann"], costs(0.5))


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_server_with_another_isolation_level(postgres, key, level):
    """Two writers: the one that waits for the lock must see what the other has written."""
    import threading

    where = f"{postgres}%20-cdefault_transaction_isolation%3D{level.replace(' ', chr(92) + ' ')}"
    where = where.replace(" ", "%20").replace(chr(92), "%5C")
    ledger = Ledger.create(where, key)
    ledger.agree(PLACE, Budget(10.0))
    problems: list[BaseException] = []

    def charge_some(name: str) -> None:
        try:
            with Ledger(where, key) as other:
                for part in range(8):
                    other.charge(name, part, ["ann"], costs(0.5))
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=charge_some, args=(f"job{i}",)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert ledger.account("ann")[3] == 20
    assert not check_ledger(ledger).problems
    ledger.close()


def test_a_store_that_is_thrown_away_in_a_cycle_closes_its_connection(postgres, monkeypatch):
    """The collector may take either first; a lost connection warns, wherever that happens to be."""
    wrong = []
    monkeypatch.setattr(sys, "unraisablehook", wrong.append)
    store = PostgresStore(postgres)
    assert list(store.run("SELECT 1")) == [(1,)]
    connection, holder = store._connection, [store]
    del store
    gc.collect()  # what is held by a list alone is behind what is held here, from now on
    holder[0].holder = holder
    closed = weakref.ref(connection)
    del connection, holder
    gc.collect()
    assert closed() is None
    assert not wrong
