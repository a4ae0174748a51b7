"""The same service over a ledger on a PostgreSQL server: charges, kept answers, many at once."""

from __future__ import annotations

import asyncio
import time

import pytest

import voile
from ledger.conftest import postgres, postgres_server
from voile.ledger import Ledger, read_key
from voile.service import releasing as releasing_module

from .conftest import built, stated, talking

__all__ = ["postgres", "postgres_server"]
PLACE = {"lat": 48.8584, "lon": 2.2945}


@pytest.fixture
def charging(postgres, tmp_path):
    key = tmp_path / "key"
    voile.ledger.init(postgres, budget=10, ledger_key=str(key))
    return {"ledger": postgres, "ledger_key": str(key), "person": "who"}


def of(who):
    return {"record": {**PLACE, "who": who}}


def keyed(key):
    return {"headers": {"idempotency-key": key}}


def spent(charging, *people):
    with Ledger(charging["ledger"], read_key(charging["ledger_key"])) as opened:
        return [opened.spent(person) / 10**9 for person in people]


def test_asked_twice_charged_once_from_two_services_at_once(charging):
    places = {"epsilon": 2.0, **charging}
    one, other = built(stated(places=places)), built(stated(places=places))

    async def many(to):
        asked = [to.post("/v1/places", of(f"p{n % 5}"), **keyed(f"k{n % 5}")) for n in range(20)]
        asked += [to.post("/v1/places", {"records": [{**PLACE, "who": "ann"}] * 300})]
        return await asyncio.gather(*asked)

    async def both():
        return await asyncio.gather(*(asyncio.to_thread(talking, s, many) for s in (one, other)))

    found = asyncio.run(both())
    contents = [{a.content for answers in found for a in answers[n:20:5]} for n in range(5)]
    assert all(len(same) == 1 for same in contents)
    assert len(set.union(*contents)) == 5
    assert spent(charging, *(f"p{n}" for n in range(5)), "ann") == [2.0] * 5 + [10.0]
    released = [r for answers in found for r in answers[-1].json().get("releases", [])]
    assert sum("error" not in one for one in released) == 5
    verified = voile.ledger.verify(charging["ledger"], ledger_key=charging["ledger_key"])
    assert not verified.violated


def test_answers_are_bounded_expire_and_belong_to_their_key(charging, monkeypatch):
    tables = stated(places={"epsilon": 1.0, **charging})
    tables["tokens"][0]["answers"] = 2
    service = built(tables)

    async def talk(to):
        kept = [await to.post("/v1/places", of("ann"), **keyed(f"k{n}")) for n in range(3)]
        assert [answer.status_code for answer in kept] == [200, 200, 503]
        assert (await to.post("/v1/places", of("ann"), **keyed("k0"))).content == kept[0].content
        assert (await to.post("/v1/places", of("bob"), **keyed("k0"))).status_code == 409
        clock = time.time() + 2 * 86_400
        monkeypatch.setattr("voile.ledger.answers.time.time", lambda: clock)
        monkeypatch.setattr(releasing_module, "time", lambda: clock)
        fresh = await to.post("/v1/places", of("ann"), **keyed("k0"))
        assert fresh.status_code == 200
        assert fresh.content != kept[0].content

    talking(service, talk)
    assert spent(charging, "ann", "bob") == [3.0, 0.0]


def test_a_server_that_is_gone_releases_nothing(charging):
    """And what was kept is found again when it is back."""
    service = built(stated(places={"epsilon": 2.0, **charging}))
    store = service.lanes["places"].brief.releasing.ledger.store

    async def talk(to):
        first = await to.post("/v1/places", of("ann"), **keyed("a"))
        address, store._address = store._address, _nowhere(store._address)
        store.close()
        refused = await to.post("/v1/places", of("ann"), **keyed("b"))
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "ledger")
        assert "release" not in refused.json()
        assert "127.0.0.1" not in refused.text
        store._address = address
        again = await to.post("/v1/places", of("ann"), **keyed("a"))
        assert again.content == first.content

    talking(service, talk)
    assert spent(charging, "ann") == [2.0]


def _nowhere(address):
    from voile.ledger.address import server_address

    return server_address("postgresql://voile@127.0.0.1:1/postgres")
