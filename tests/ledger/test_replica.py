"""What a process remembers of the accounts never differs from what the entries say."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.errors import CannotWrite
from voile.ledger import Bill, Budget, Key, Kind, Ledger, check_ledger, simple_cost
from voile.ledger import book as book_module
from voile.ledger import replica as replica_module

PLACE = Kind("one location", "euclidean", "km")
BUDGET = 5 * 10**9

STEPS = st.one_of(
    st.tuples(
        st.just("charge"), st.integers(0, 2),
        st.lists(st.tuples(st.sampled_from("abcdefg"), st.integers(0, 3)), max_size=5),
    ),
    st.tuples(st.just("fold"), st.integers(0, 2), st.none()),
    st.tuples(st.just("refund"), st.integers(0, 2), st.integers(0, 4)),
    st.tuples(st.just("fail"), st.integers(0, 2), st.sampled_from("abcdefg")),
    st.tuples(st.just("reopen"), st.integers(0, 2), st.none()),
)  # fmt: skip


@contextmanager
def failing(ledger: Ledger):
    """The disk is full at the very end of a transaction."""
    real = ledger.store.transaction

    @contextmanager
    def transaction():
        with real() as now:
            yield now
            raise CannotWrite("the disk is full")

    ledger.store.transaction = transaction
    try:
        yield
    finally:
        ledger.store.transaction = real


@settings(max_examples=25)
@given(st.lists(STEPS, max_size=14), st.sampled_from([1, 3, 2**18]), st.sampled_from([1, 2**20]))
def test_three_processes_agree_with_a_clerk(tmp_path_factory, steps, fold_after, largest):
    """Charges, folds, refunds, failures and restarts in any order, against a plain dictionary."""
    where = str(tmp_path_factory.mktemp("replica") / "ledger.db")
    key = Key(bytes(32))
    Ledger.create(where, key, budget=Budget(5.0)).close()
    ledgers = [Ledger(where, key) for _ in range(3)]
    ledgers[0].agree(PLACE, None)
    spent = dict.fromkeys("abcdefg", 0)
    jobs: list[dict[str, int]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replica_module, "FOLD_AFTER", fold_after)
        patch.setattr(replica_module, "FOLD_EACH", 1)
        patch.setattr(book_module, "LARGEST", largest)
        for what, who, more in steps:
            ledger = ledgers[who]
            if what == "charge":
                costs = [simple_cost(float(e)) for _, e in more]
                got = ledger.charge(f"job{len(jobs)}", 0, [p for p, _ in more], Bill.listed(costs))
                mine = dict.fromkeys("abcdefg", 0)
                for (person, epsilon), yes in zip(more, got.within.tolist(), strict=True):
                    fits = spent[person] + epsilon * 10**9 <= BUDGET
                    assert yes == fits
                    if fits:
                        spent[person] += epsilon * 10**9
                        mine[person] += epsilon * 10**9
                jobs.append(mine)
            elif what == "fold":
                ledger.fold()
            elif what == "refund" and more < len(jobs):
                if ledger.refund(f"job{more}"):
                    for person, amount in jobs[more].items():
                        spent[person] -= amount
            elif what == "fail":
                with failing(ledger), pytest.raises(CannotWrite):
                    ledger.charge("never", 0, [more], Bill.listed([simple_cost(0.5)]))
            elif what == "reopen":
                ledger.close()
                ledgers[who] = Ledger(where, key)
    for ledger in ledgers:
        assert {p: ledger.spent(p) for p in "abcdefg"} == spent
    assert not check_ledger(ledgers[0]).problems
    for ledger in ledgers:
        ledger.close()


def test_many_persons_and_a_fold_in_the_middle(where, key, monkeypatch):
    monkeypatch.setattr(replica_module, "FOLD_AFTER", 3000)
    monkeypatch.setattr(replica_module, "FOLD_EACH", 1)
    with Ledger.create(where, key, budget=Budget(2.0)) as ledger, Ledger(where, key) as other:
        ledger.agree(PLACE, None)
        names = [f"p{i}" for i in range(2500)]
        bill = Bill.listed([simple_cost(1.0)] * 2500)
        assert ledger.charge("a", 0, names, bill).within.all()
        assert other.charge("a", 1, names[::-1], bill).within.all()
        assert not ledger.charge("a", 2, names, bill).within.any()
        assert ledger.store.front().through > 0
        assert len(list(other.accounts())) == 2500
        assert {amounts[0] for _, *amounts in other.accounts()} == {2 * 10**9}
        assert not check_ledger(other).problems
