"""Budgets: what is answered was charged, once, and what is asked again is answered the same."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import time
from pathlib import Path

import pytest

import voile
from voile.errors import CannotWrite, VoileError
from voile.ledger import Ledger, read_key
from voile.ledger.commit import clear_errors
from voile.service import app as app_module
from voile.service import releasing as releasing_module
from voile.service.asking import Asked, as_json
from voile.service.logs import cause_of
from voile.service.tokens import token_hash

from .conftest import TOKEN, built, stated, talking

PLACE = {"lat": 48.8584, "lon": 2.2945}
NANO = 10**9


def of(who, **more):
    return {"record": {**PLACE, "who": who, **more}}


def spent(ledger, *people):
    with Ledger(ledger["ledger"], read_key(ledger["ledger_key"])) as opened:
        return [opened.spent(person) / NANO for person in people]


def entries(ledger, event="charged"):
    with Ledger(ledger["ledger"], read_key(ledger["ledger_key"])) as opened:
        return [entry for entry in opened.store.entries() if entry.event == event]


def test_every_release_charges_its_person_until_the_budget_is_spent(ledger):
    service = built(stated(places={"epsilon": 4.0, **ledger}))

    async def talk(to):
        taken = [await to.post("/v1/places", of("ann")) for _ in range(4)]
        assert [answer.status_code for answer in taken] == [200, 200, 403, 403]
        assert taken[-1].json()["error"]["code"] == "over-budget"
        assert "who" not in taken[0].json()["release"]
        records = [{**PLACE, "who": who} for who in ("ann", "bob", "", "bob", "bob")]
        many = await to.post("/v1/places", {"records": records})
        codes = [item.get("error", {}).get("code") for item in many.json()["releases"]]
        assert codes == ["over-budget", None, "bad-record", None, "over-budget"]
        assert "names no person" in many.json()["releases"][2]["error"]["message"]
        assert (await to.post("/v1/places", of("ann", lat="x"))).status_code == 422

    talking(service, talk)
    assert spent(ledger, "ann", "bob") == [8.0, 8.0]
    with Ledger(ledger["ledger"], read_key(ledger["ledger_key"])) as opened:
        assert voile.ledger.verify(ledger["ledger"], ledger_key=ledger["ledger_key"])
        assert opened.store.entries()


def test_many_requests_share_a_commit(ledger):
    service = built(stated(places={"epsilon": 0.5, **ledger}))

    async def talk(to):
        return await asyncio.gather(*(to.post("/v1/places", of(f"p{n}")) for n in range(200)))

    answers = talking(service, talk)
    assert {answer.status_code for answer in answers} == {200}
    assert len(entries(ledger)) < 50
    assert sum(entry.rows for entry in entries(ledger)) == 200
    assert len({json.dumps(answer.json()["release"]) for answer in answers}) == 200
    assert entries(ledger, "finished"), "what was answered is never taken back"


def test_what_was_answered_is_never_taken_back_not_even_while_it_runs(ledger):
    service = built(stated(places={"epsilon": 2.0, **ledger}))

    async def talk(to):
        assert (await to.post("/v1/places", of("ann"))).status_code == 200
        job = entries(ledger)[0].job
        key = ledger["ledger_key"]
        with pytest.raises(CannotWrite, match="never refunded"):
            voile.ledger.abandon(ledger["ledger"], job, deleted=True, ledger_key=key)
        opened = Ledger(ledger["ledger"], read_key(key))
        with opened, pytest.raises(CannotWrite, match="never refunded"):
            opened.refund(job)
        assert (await to.post("/v1/places", of("ann"))).status_code == 200

    talking(service, talk)
    assert spent(ledger, "ann") == [4.0]


def test_the_note_beside_the_key_may_lag_and_is_whole_at_the_end(ledger, monkeypatch):
    """An older copy of the ledger is told by it; writing it each time would sync twice."""
    monkeypatch.setattr(releasing_module, "_NOTE_SECONDS", 1e6)
    service = built(stated(places={"epsilon": 0.5, **ledger}))
    notes = []

    async def talk(to):
        for n in range(6):
            assert (await to.post("/v1/places", of(f"p{n}"))).status_code == 200
            notes.append(Path(ledger["ledger_key"] + ".seen").read_text())

    talking(service, talk)
    assert len(set(notes)) == 1
    with Ledger(ledger["ledger"], read_key(ledger["ledger_key"])) as opened:
        assert str(opened.store.front().head) in Path(ledger["ledger_key"] + ".seen").read_text()


def keyed(key):
    return {"headers": {"idempotency-key": key}}


def test_the_same_key_gives_the_same_release_charged_once(ledger):
    places = {"epsilon": 2.0, **ledger}

    async def first(to):
        asked = [to.post("/v1/places", of("ann"), **keyed("k1")) for _ in range(8)]
        answers = await asyncio.gather(*asked)
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.content for answer in answers}) == 1
        replayed = [answer.headers.get("idempotent-replayed") for answer in answers]
        assert sorted(map(str, replayed)) == ["None"] + ["true"] * 7
        other = await to.post("/v1/places", of("ann", lat=48.0), **keyed("k1"))
        assert (other.status_code, other.json()["error"]["code"]) == (409, "key-reused")
        assert "48.0" not in other.text
        same = json.dumps({"record": {"who": "ann", "lon": PLACE["lon"], "lat": PLACE["lat"]}})
        set_out = await to.post("/v1/places", b" " + same.encode(), **keyed("k1"))
        assert set_out.content == answers[0].content
        assert (await to.post("/v1/places", of("ann"), **keyed("k2"))).content != answers[0].content
        assert (await to.post("/v1/places", of("ann"), **keyed("k" * 256))).status_code == 422
        return answers[0].content

    content = talking(built(stated(places=places)), first)
    assert spent(ledger, "ann") == [4.0]

    async def later(to):
        return await to.post("/v1/places", of("ann"), **keyed("k1"))

    again = talking(built(stated(places=places)), later)  # another process would find it as well
    assert again.content == content
    assert spent(ledger, "ann") == [4.0]


def test_keys_of_two_tokens_are_two_keys(ledger):
    tables = stated(places={"epsilon": 2.0, **ledger})
    other = {"name": "other", "sha256": token_hash("o"), "rights": ["places"]}
    tables["tokens"].append(other)

    async def talk(to):
        mine = await to.post("/v1/places", of("ann"), **keyed("k"))
        theirs = await to.post("/v1/places", of("ann"), token="o", **keyed("k"))
        assert mine.content != theirs.content

    talking(built(tables), talk)
    assert spent(ledger, "ann") == [4.0]


def test_answers_expire_and_are_bounded(ledger, monkeypatch):
    tables = stated(places={"epsilon": 1.0, **ledger}, server={"answers": 2, "answer_seconds": 60})
    service = built(tables)

    async def talk(to):
        kept = [await to.post("/v1/places", of("ann"), **keyed(f"k{n}")) for n in range(3)]
        assert [answer.status_code for answer in kept] == [200, 200, 503]
        assert kept[-1].json()["error"]["code"] == "answers"
        assert (await to.post("/v1/places", of("ann"), **keyed("k0"))).content == kept[0].content
        clock = time.time() + 61
        monkeypatch.setattr("voile.ledger.answers.time.time", lambda: clock)
        monkeypatch.setattr(releasing_module, "time", lambda: clock)
        fresh = await to.post("/v1/places", of("ann"), **keyed("k0"))
        assert fresh.status_code == 200
        assert fresh.content != kept[0].content

    talking(service, talk)
    assert spent(ledger, "ann") == [3.0]
    with sqlite3.connect(ledger["ledger"]) as database:
        assert database.execute("SELECT count(*) FROM voile_answers").fetchone() == (1,)


def test_what_is_kept_is_the_release_and_no_original(ledger):
    service = built(stated(places={"epsilon": 2.0, **ledger}))

    async def talk(to):
        return await to.post("/v1/places", of("ann"), **keyed("my-secret-key"))

    answer = talking(service, talk)
    with sqlite3.connect(ledger["ledger"]) as database:
        ((key, request, content, _),) = database.execute("SELECT * FROM voile_answers")
    assert content == answer.content
    for secret in (b"my-secret-key", b"48.8584", b"2.2945", b"ann"):
        assert secret not in key + request + content.replace(b"guarantee", b"")


def test_a_disk_that_is_full_releases_nothing_and_loses_nothing(ledger, monkeypatch, caplog):
    service = built(stated(places={"epsilon": 2.0, **ledger}))
    real = sqlite3.connect

    class Full(sqlite3.Connection):
        """Its disk is full whenever something is to be committed."""

        full = False

        def execute(self, statement, *values):
            if statement == "COMMIT" and Full.full:
                raise sqlite3.OperationalError("database or disk is full")
            return super().execute(statement, *values)

    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: real(*a, factory=Full, **k))
    service.lanes["places"].brief.releasing.ledger.close()

    async def talk(to):
        first = await to.post("/v1/places", of("ann"), **keyed("a"))
        Full.full = True
        asked = [to.post("/v1/places", of("ann"), **keyed(f"f{n}")) for n in range(3)]
        refused = await asyncio.gather(*asked)
        assert {answer.status_code for answer in refused} == {503}
        assert refused[0].json()["error"]["code"] == "ledger"
        assert "release" not in refused[0].json()
        assert refused[0].headers["retry-after"] == "5"
        await to.post("/v1/places", of("ann"), **keyed("f9"))
        told = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
        assert told == ["the ledger cannot be written: the disk is full"], "once a minute"
        Full.full = False
        again = await to.post("/v1/places", of("ann"), **keyed("f0"))
        assert again.status_code == 200
        assert (await to.post("/v1/places", of("ann"), **keyed("a"))).content == first.content
        metrics = (await to.get("/metrics")).text
        assert "voile_ledger_failures_total 0" not in metrics

    talking(service, talk)
    assert spent(ledger, "ann") == [4.0]


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("PRAGMA query_only = 1; CREATE TABLE x (y)", "it may be read and not written"),
        ("CREATE TABLE x (y)", "another process has it locked"),
        ("SELECT * FROM nowhere", "OperationalError"),
    ],
)
def test_faults_of_the_ledger_are_told_by_their_kind(tmp_path, statement, told):
    with (
        contextlib.closing(sqlite3.connect(tmp_path / "x.db", isolation_level=None)) as holds,
        contextlib.closing(sqlite3.connect(tmp_path / "x.db", timeout=0)) as database,
    ):
        if "locked" in told:
            holds.execute("BEGIN EXCLUSIVE")
        with pytest.raises(VoileError) as refused, clear_errors("x.db"):
            database.executescript(statement)
    assert cause_of(refused.value) == told
    assert cause_of(KeyError("secret")) == "KeyError"


def test_a_database_that_may_not_grow_releases_nothing_and_goes_on_when_it_may(ledger):
    """SQLite's own full disk, in whatever statement it comes."""
    service = built(stated(places={"epsilon": 0.001, **ledger}))
    releasing = service.lanes["places"].brief.releasing

    def most_pages(count):
        database = releasing.ledger.store._open()
        return database.execute(f"PRAGMA max_page_count = {count}").fetchone()[0]

    async def talk(to):
        most_pages(1)  # as many as there are
        statuses = []
        while 503 not in statuses:
            answer = await to.post("/v1/places", of("ann"), **keyed(str(len(statuses))))
            statuses.append(answer.status_code)
            assert len(statuses) < 1000
        assert answer.json()["error"]["code"] == "ledger"
        kept = await to.post("/v1/places", of("ann"), **keyed("0"))
        assert kept.headers["idempotent-replayed"] == "true"
        most_pages(2**30)
        again = await to.post("/v1/places", of("ann"), **keyed(str(len(statuses) - 1)))
        assert again.status_code == 200
        return len(statuses)

    count = talking(service, talk)
    assert spent(ledger, "ann") == pytest.approx([0.001 * count])


def test_a_service_holds_little_of_its_ledger_in_memory(ledger):
    """So that its memory does not grow with what it has charged."""
    service = built(stated(places={"epsilon": 0.5, **ledger}))
    lanes = service.lanes["places"]

    async def talk(to):
        assert (await to.post("/v1/places", of("ann"))).status_code == 200
        stores = [lane.releasing.ledger.store for lane in (lanes.brief, lanes.long)]
        return [s.run("PRAGMA cache_size") for s in stores]

    assert talking(service, talk) == [[(-1024,)]] * 2


def test_a_draw_that_fails_charges_nobody(ledger, monkeypatch):
    service = built(stated(places={"epsilon": 2.0, **ledger}))
    kind = type(service.lanes["places"].brief.releasing._releaser)

    async def talk(to):
        with monkeypatch.context() as broken:
            broken.setattr(kind, "draw", lambda *_: 1 / 0)
            assert (await to.post("/v1/places", of("ann"))).status_code == 500
        assert (await to.post("/v1/places", of("ann"))).status_code == 200

    talking(service, talk)
    assert spent(ledger, "ann") == [2.0]


def test_nothing_is_answered_before_the_disk_has_it(ledger, monkeypatch):
    """The answer waits for the commit; a commit that fails takes its draws with it."""
    service = built(stated(places={"epsilon": 2.0, **ledger}))
    seen: list[str] = []
    charge, answer = Ledger.charge, releasing_module.Releasing._charged

    def slow(self, *arguments, **named):
        receipt = charge(self, *arguments, **named)
        seen.append("charged")
        return receipt

    def told(self, group):
        found = answer(self, group)
        seen.append("answered")
        return found

    monkeypatch.setattr(Ledger, "charge", slow)
    monkeypatch.setattr(releasing_module.Releasing, "_charged", told)

    async def talk(to):
        await to.post("/v1/places", of("ann"))

    talking(service, talk)
    assert seen == ["charged", "answered"]


def test_whoever_waits_when_it_stops_is_answered(ledger):
    """Graceful stop: charged is answered, and who comes later is charged nothing."""
    service = built(stated(places={"epsilon": 0.5, **ledger}))

    async def talk(to):
        asked = [asyncio.create_task(to.post("/v1/places", of("ann"))) for _ in range(20)]
        await asyncio.sleep(0)
        while not service.lanes["places"].brief._busy:
            await asyncio.sleep(0)
        await service.stop()
        return [(await one).status_code for one in asked]

    statuses = talking(service, talk)
    assert set(statuses) <= {200, 503}
    assert spent(ledger, "ann") == [0.5 * statuses.count(200)]


def test_fields_that_pass_in_clear_are_given_again_and_are_not_kept(ledger):
    service = built(stated(places={"epsilon": 2.0, "pass": ["who", "note"], **ledger}))
    records = [
        {**PLACE, "who": "Secretperson", "note": {"b": "Secretnote"}},
        7,
        {**PLACE, "who": 5},
    ]

    async def talk(to):
        for body in ({"record": records[0]}, {"records": records}):
            first, again = [
                await to.post("/v1/places", body, **keyed(str(body.keys()))) for _ in "12"
            ]
            assert (first.status_code, again.headers["idempotent-replayed"]) == (200, "true")
            assert first.content == again.content
        one, stranger, other = again.json()["releases"]
        assert (one["who"], one["note"]) == ("Secretperson", {"b": "Secretnote"})
        assert list(one) == ["who", "note", "lat", "lon"]
        assert stranger.keys() == {"error"}
        assert other.keys() == {"who", "lat", "lon"}
        kept = b"".join(Path(ledger["ledger"] + end).read_bytes() for end in ("", "-wal"))
        assert b'"releases"' in kept
        assert b"Secret" not in kept

    talking(service, talk)


def test_answers_that_expired_are_deleted_also_when_nobody_asks(ledger, monkeypatch):
    monkeypatch.setattr(app_module, "_FORGET_SECONDS", 0.01)
    service = built(stated(places={"epsilon": 2.0, **ledger}, server={"answer_seconds": 60}))

    def kept():
        with sqlite3.connect(ledger["ledger"]) as database:
            return database.execute("SELECT count(*) FROM voile_answers").fetchone()[0]

    async def talk(to):
        assert (await to.post("/v1/places", of("ann"), **keyed("a"))).status_code == 200
        assert kept() == 1
        clock = time.time() + 61
        monkeypatch.setattr("voile.ledger.answers.time.time", lambda: clock)
        for _ in range(200):
            await asyncio.sleep(0.005)
            if not kept():
                break
        assert kept() == 0

    talking(service, talk)


def test_where_no_more_is_kept_only_requests_with_a_key_are_refused(ledger):
    tables = stated(places={"epsilon": 1.0, **ledger}, server={"answer_bytes": 10})
    service = built(tables)

    async def talk(to):
        asked = [to.post("/v1/places", of("ann")), to.post("/v1/places", of("ann"), **keyed("a"))]
        free, refused = await asyncio.gather(*asked)
        assert (free.status_code, refused.status_code) == (200, 503)
        assert refused.json()["error"]["code"] == "answers"
        together = service.lanes["places"].brief.releasing.release(
            [Asked([of("ann")["record"]], alone=True, key=key) for key in (None, b"k", None)]
        )
        assert [answered.status for answered in together] == [200, 503, 200]

    talking(service, talk)
    assert spent(ledger, "ann") == [3.0]


def test_a_token_that_keeps_too_much_fills_its_own_room_alone(ledger):
    """Nor does it spoil those who are charged together with it."""
    tables = stated(places={"epsilon": 0.5, **ledger})
    tables["tokens"] += [
        {"name": "hostile", "sha256": token_hash("h"), "rights": ["places"], "answers": 2},
        {"name": "large", "sha256": token_hash("l"), "rights": ["places"], "answer_bytes": 300},
    ]
    service = built(tables)

    async def talk(to):
        asked = [
            to.post("/v1/places", of(f"{who} {n}"), token=token, **keyed(f"k{n}"))
            for n in range(5)
            for who, token in (("ann", TOKEN), ("bob", "h"), ("eve", "l"))
        ]
        answers = [answer.status_code for answer in await asyncio.gather(*asked)]
        assert answers[0::3] == [200] * 5
        one_by_one = [
            await to.post("/v1/places", of("bob"), token="h", **keyed(f"more {n}"))
            for n in range(3)
        ]
        assert answers[1::3].count(200) + [a.status_code for a in one_by_one].count(200) == 2
        larger = [
            await to.post("/v1/places", of("eve"), token="l", **keyed(f"more {n}"))
            for n in range(5)
        ]
        assert answers[2::3].count(200) + [a.status_code for a in larger].count(200) in (2, 3)
        assert one_by_one[-1].json()["error"]["code"] == "answers"
        assert "of one owner at most 2 answers" in one_by_one[-1].text
        assert (await to.post("/v1/places", of("bob"), token="h")).status_code == 200
        assert (await to.post("/v1/places", of("ann"), **keyed("more"))).status_code == 200
        return answers

    talking(service, talk)
    with sqlite3.connect(ledger["ledger"]) as database:
        kept = database.execute("SELECT key, length(content) FROM voile_answers").fetchall()
    owners = {key[:8]: 0 for key, _ in kept}
    for key, size in kept:
        owners[key[:8]] += size
    assert len(owners) == 3
    assert min(owners.values()) <= 300
    assert sum(spent(ledger, *(f"bob {n}" for n in range(5)))) <= 1.0


def test_an_empty_key_and_an_infinite_number_are_refused_and_charge_nobody(ledger):
    service = built(stated(places={"epsilon": 2.0, "pass": ["note"], **ledger}))

    async def talk(to):
        empty = await to.post("/v1/places", of("ann"), **keyed(""))
        assert (empty.status_code, empty.json()["error"]["code"]) == (422, "bad-key")
        body = json.dumps(of("ann", note="N")).replace('"N"', "-1e999")
        infinite = await to.post("/v1/places", body.encode())
        assert (infinite.status_code, infinite.json()["error"]["code"]) == (400, "bad-json")

    talking(service, talk)
    assert spent(ledger, "ann") == [0.0]
    with pytest.raises(ValueError, match="JSON"):
        as_json({"drawn": float("inf")})
