"""Answers that are kept with their charge, in a file and on a server."""

from __future__ import annotations

import time

import pytest

from voile.errors import CannotWrite
from voile.ledger import Bill, Budget, Kind, Ledger, check_ledger, simple_cost
from voile.ledger.answers import OWNER, AlreadyAnswered, Answer, Answers, Room, TooManyAnswers

BILL = Bill.listed([simple_cost(0.1)])


def kept(key, *, seconds=60):
    return Answer(key, b"request", b"content \xff\x00", int(time.time()) + seconds)


@pytest.fixture
def book(where, key):
    made = Ledger.create(where, key)
    made.agree(Kind("one location", "euclidean", "km"), Budget(1.0))
    yield made
    made.close()


def test_answers_stand_or_fall_with_their_charge(book):
    answers = Answers(book.store, Room(3))
    answers.prepare()
    answers.prepare()

    def charge(part, *new, then=None):
        def also(now, within):
            assert within.tolist() == [True]
            answers.keep(now, new)
            if then is not None:
                raise then

        book.charge("job", part, ["ann"], BILL, also=also)

    first = kept(b"a")
    charge(0, first)
    assert answers.find([b"a", b"x"]) == {b"a": first}
    assert answers.find([]) == {}
    with pytest.raises(CannotWrite):
        charge(1, kept(b"b"), then=CannotWrite("no"))
    with pytest.raises(AlreadyAnswered):
        charge(2, kept(b"c"), kept(b"a"))
    with pytest.raises(TooManyAnswers, match="at most 3"):
        charge(3, kept(b"d"), kept(b"e"), kept(b"f"))
    assert set(answers.find([b"a", b"b", b"c", b"d"])) == {b"a"}
    assert book.spent("ann") == 100_000_000
    charge(4, kept(b"gone", seconds=-1))
    assert answers.find([b"gone"]) == {}
    charge(5, kept(b"g"), kept(b"h"))  # what has expired made room
    assert book.spent("ann") == 300_000_000
    assert not check_ledger(book).problems


def test_another_process_finds_it(book, where, key):
    answers = Answers(book.store)
    answers.prepare()
    first = kept(b"a")
    book.charge("job", 0, ["ann"], BILL, also=lambda now, _: answers.keep(now, [first]))
    with Ledger(where, key) as other:
        assert Answers(other.store).find([b"a"]) == {b"a": first}


def test_each_owner_has_a_room_of_its_own(book):
    """In answers and in bytes; what is taken back does not count, and what expired makes room."""
    one, other = b"1" * OWNER, b"2" * OWNER
    size = len(kept(b"").content)
    answers = Answers(book.store, Room(), {one: Room(2), other: Room(9, 3 * size)})
    answers.prepare()

    def charge(part, *new, then=None):
        def also(now, within):
            answers.keep(now, new)
            if then is not None:
                raise then

        book.charge("job", part, ["ann"], BILL, also=also)

    charge(0, kept(one + b"a"), *(kept(other + sign) for sign in (b"a", b"b")))
    with pytest.raises(CannotWrite, match="taken back"):
        charge(1, kept(one + b"b"), then=CannotWrite("taken back"))
    charge(2, kept(one + b"b"), kept(b"of nobody"))
    with pytest.raises(TooManyAnswers, match="at most 2 answers") as problem:
        charge(3, kept(one + b"c"), kept(other + b"c"))
    assert problem.value.of(one + b"c")
    assert not problem.value.of(other + b"c")
    charge(4, kept(other + b"c", seconds=-1))
    with pytest.raises(TooManyAnswers, match=f"{3 * size} bytes"):
        charge(5, kept(other + b"d"), kept(other + b"e"))
    charge(6, kept(other + b"d"))  # what has expired made room for one
    assert len(answers.find([one + b"a", one + b"b", other + b"a", other + b"d"])) == 4
    assert book.spent("ann") == 400_000_000
