"""Routes: what comes out is what the command would release, and who asks is held to its limits."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging

import httpx
import numpy as np
import pytest
from jsonschema import Draft202012Validator

import voile
from voile.core.randomness import is_secure
from voile.ledger import Ledger, read_key
from voile.service.tokens import token_hash

from .conftest import TOKEN, built, stated, talking

PLACE = {"lat": 48.8584, "lon": 2.2945}


@pytest.fixture
def vectors(tmp_path):
    file = tmp_path / "vectors.txt"
    file.write_text("good 0 1\nbad 1 0\nfine 0 1.5\nsecretword 3 3\n")
    return str(file)


def test_all_domains_one_record_and_many(vectors):
    service = built(
        stated(
            places={"epsilon": 2.0, "pass": ["stop"], "drop": ["driver"]},
            text={"epsilon": 9.0, "vocabulary": vectors, "no_cache": True},
            labels={
                "epsilon": 1.0, "label": "ill", "mechanism": "rr", "classes": ["yes", "no"],
                "pass": ["age"],
            },
        )
    )  # fmt: skip

    async def talk(to):
        told = (await to.get("/v1/guarantee")).json()["routes"]
        record = {**PLACE, "stop": "a", "driver": "d"}
        one = await to.post("/v1/places", {"record": record})
        assert one.status_code == 200, one.text
        found = one.json()
        assert found["guarantee"] == told["places"]["id"]
        assert found["release"].keys() == {"lat", "lon", "stop"}
        assert found["release"]["stop"] == "a"
        assert found["release"]["lat"] != PLACE["lat"]
        assert abs(found["release"]["lat"] - PLACE["lat"]) < 0.5
        many = await to.post("/v1/places", {"records": [PLACE, {"lat": 99}, 7, {**PLACE, "x": 1}]})
        first, *rest = many.json()["releases"]
        assert first.keys() == {"lat", "lon"}
        assert [item["error"]["message"] for item in rest] == [
            "lat and lon must be degrees within ±90 and ±180",
            "a record must be an object",
            "it has a field that the service does not take",
        ]
        text = await to.post("/v1/text", {"record": {"text": "Good, a@b.org"}})
        assert text.json()["release"]["text"].endswith("[EMAIL]")
        label = await to.post("/v1/labels", {"record": {"ill": "yes", "age": 3}})
        assert label.json()["release"]["age"] == 3
        assert label.json()["release"]["ill"] in ("yes", "no")
        bad = await to.post("/v1/labels", {"record": {"ill": "perhaps"}})
        assert bad.status_code == 422
        assert "perhaps" not in bad.text
        assert (await to.post("/v1/places", {"records": []})).json()["releases"] == []
        described = (await to.get("/openapi.json", token=None)).json()
        assert {"/v1/text", "/v1/places", "/v1/labels", "/metrics"} <= described["paths"].keys()
        assert described["paths"]["/v1/places"]["post"]["responses"].keys() >= {"200", "409"}
        assert told["places"]["guarantee"]["epsilon"] == 2.0
        assert told["places"]["in_clear"] == ["stop"]
        assert told["text"]["decided_by"]["vocabulary_sha256"]
        for route, one in told.items():
            assert one["id"] == worked_out(one), f"whoever asks can work out the name of {route}"

    talking(service, talk)


def test_the_description_is_of_what_is_served(tmp_path):
    """Every route, every schema one, and requests and answers as these say."""
    (tmp_path / "names.txt").write_text("Ann Smith\n")
    gateway = {"upstream": "http://localhost:9/v1", "pipeline": str(tmp_path / "names.txt")}
    service = built(stated(places={"epsilon": 2.0}, gateway=gateway))

    async def talk(to):
        told = (await to.get("/openapi.json", token=None)).json()
        assert told["paths"].keys() == service._paths
        error = told["components"]["schemas"]["error"]

        def schema(content, kind="application/json"):
            found = content[kind]["schema"]
            found = error if found == {"$ref": "#/components/schemas/error"} else found
            Draft202012Validator.check_schema(found)
            return Draft202012Validator(found)

        for method, path in service._routes:
            described = told["paths"][path][method.lower()]
            for answer in described["responses"].values():
                assert answer["description"]
                for kind in answer["content"]:
                    schema(answer["content"], kind)
            if method == "GET":
                answer = await to.get(path)
                (kind,) = described["responses"]["200"]["content"]
                assert answer.headers["content-type"].startswith(kind)
                refused = await to.get(path, token="unknown")
                assert str(refused.status_code) in described["responses"]
        post = told["paths"]["/v1/places"]["post"]
        taken = schema(post["requestBody"]["content"])
        for body, status in (
            ({"record": PLACE}, 200), ({"records": [PLACE, {"lat": 1}]}, 200),
            ({"record": {"lat": 1}}, 422), ({"record": {**PLACE, "x": 1}}, 422),
        ):  # fmt: skip
            answer = await to.post("/v1/places", body)
            assert answer.status_code == status
            assert taken.is_valid(body) == ("x" not in body.get("record", {}))
            schema(post["responses"][str(status)]["content"]).validate(answer.json())

    talking(service, talk)


def worked_out(told):
    """As docs/how-to/serve.md says."""
    named = {name: told[name] for name in ("voile", "guarantee")} | {"identity": told["decided_by"]}
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()[:32]


def test_a_route_promises_what_its_command_writes_beside_a_file(tmp_path):
    data = tmp_path / "trips.csv"
    data.write_text("lat,lon\n48.8,2.3\n")
    voile.places.protect(data, epsilon=2.0)
    written = json.loads((tmp_path / "trips.protected.csv.guarantee.json").read_text())
    told = built(stated(places={"epsilon": 2.0})).domains["places"].facts()
    assert written["guarantee"] == told["guarantee"]


def test_draws_are_secure_and_those_of_the_law(monkeypatch):
    """The service's draws have the law of the command's: mean distance as the noise states it."""
    service = built(stated(places={"epsilon": 2.0}))

    async def talk(to):
        answer = await to.post("/v1/places", {"records": [PLACE] * 1000})
        return [(r["lat"], r["lon"]) for r in answer.json()["releases"]]

    drawn = np.array(talking(service, talk))
    assert is_secure(service.lanes["places"].long.releasing._rng)
    assert len(np.unique(drawn, axis=0)) == 1000
    north = 111.2 * (drawn[:, 0] - PLACE["lat"])
    east = 111.2 * np.cos(np.radians(PLACE["lat"])) * (drawn[:, 1] - PLACE["lon"])
    mean = float(np.hypot(north, east).mean())
    stated_mean = service.domains["places"].promise.blur.mean_error
    # The distance has a standard deviation below its mean (Gamma(3) along the ground at most):
    # 1,000 of them lie within 7 deviations of the mean, but once in 10^11.
    assert abs(mean - stated_mean) < 7 * stated_mean / np.sqrt(1000)


DEEP = b"[" * 967 + b"]" * 967


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400), (b"{", 400), (b"[]", 400), (b"\xff", 400), (b"null", 400), (b"1e999", 400),
        (b'{"record": NaN}', 400), (b"[" * 100_000, 400), (b'{"record":' * 50_000, 400),
        (b'{"record": {"lat": 1' + b"0" * 5000 + b', "lon": 2}}', 400),
        (b'{"record": {"lat": "48.1_0", "lon": true}}', 422),
        (b"{}", 422), (b'{"records": {}}', 422), (b'{"record": {}, "records": []}', 422),
        (b'{"record": []}', 422), (b'{"record": {"lat": null, "lon": "\\ud800"}}', 422),
        (b'{"record": {"lat": 1, "lon": 1, "\\u0000": 1}}', 422),
        (b'{"records": [' + b"1," * 2000 + b"1]}", 413), (b'{"record": ' + DEEP + b"}", 400),
        ('{"record": {"lat": 1, "lon": 2}}'.encode("utf-16"), 400),
    ],
)  # fmt: skip
def test_bad_bodies_have_a_clear_status_and_are_not_repeated(body, status):
    service = built(stated(places={"epsilon": 2.0}))

    async def talk(to):
        answer = await to.post("/v1/places", body)
        assert answer.status_code == status, answer.text
        assert answer.json()["error"]["code"]
        assert "48.1" not in answer.text
        assert (await to.post("/v1/places", {"record": PLACE})).status_code == 200

    talking(service, talk)


def fuzzed(rng, depth=0):
    """A value such as JSON can hold, often one that nearly is a record."""
    kind = int(rng.integers(0, 9 if depth < 4 else 6))
    if kind < 5:
        return [None, True, -0.0, 10 ** int(rng.integers(0, 400)), "\ud800\x00é" * depth][kind]
    if kind == 5:
        return float(rng.normal()) * 10.0 ** int(rng.integers(-300, 300))
    if kind == 6:
        return [fuzzed(rng, depth + 1) for _ in range(int(rng.integers(0, 4)))]
    names = ["record", "records", "lat", "lon", "who", "", "\x00", "guarantee"]
    chosen = rng.choice(names, size=int(rng.integers(0, 5)))
    return {str(name): fuzzed(rng, depth + 1) for name in chosen}


def test_a_body_that_is_nested_deeply_is_refused_under_a_key_too(ledger):
    """There what was asked is written once more, which takes another depth than reading it."""

    async def talk(to):
        for depth in (30, 33, 100, 900, 967, 990):
            nested = b"[" * depth + b"]" * depth
            body = b'{"record": {"lat": 1, "lon": 2, "who": ' + nested + b"}}"
            answer = await to.post("/v1/places", body, headers={"idempotency-key": str(depth)})
            assert answer.status_code == (422 if depth == 30 else 400), depth

    talking(built(stated(places={"epsilon": 2.0, **ledger})), talk)


def test_fuzzed_bodies_break_nothing_and_charge_nobody(ledger):
    """What is nearly a request, and what is cut, doubled or has other bytes in it."""
    service = built(stated(places={"epsilon": 2.0, **ledger}))
    rng = np.random.default_rng(5)
    whole = json.dumps({"record": {**PLACE, "who": "ann"}}).encode()
    bodies = []
    for _ in range(300):
        value = fuzzed(rng)
        nearly = {"record": value} if rng.random() < 0.5 else {"records": [value, value]}
        bodies.append(json.dumps(nearly).encode())
        changed = bytearray(whole)
        for _ in range(int(rng.integers(1, 4))):
            changed[rng.integers(len(changed))] = rng.integers(256)
        bodies.append(bytes(changed)[: int(rng.integers(1, len(whole) + 1))])

    async def talk(to):
        answers = [await to.post("/v1/places", body) for body in bodies]
        assert {answer.status_code for answer in answers} <= {200, 400, 403, 422}
        for answer in answers:
            assert answer.json().keys() <= {"error", "guarantee", "release", "releases"}
        return sum(answer.status_code == 200 for answer in answers)

    answered = talking(service, talk)
    book = Ledger(ledger["ledger"], read_key(ledger["ledger_key"]))
    with book:
        charged = sum(entry.rows for entry in book.store.entries() if entry.event == "charged")
    assert charged == answered < 60


def test_a_hostile_batch_does_not_spoil_others_of_its_group():
    """More than ten places far off a map refuse their own request, and no other."""
    service = built(stated(places={"epsilon": 2.0, "box": [48.0, 2.0, 49.0, 3.0]}))
    far = {"records": [{"lat": -40.0, "lon": 170.0}] * 30}

    async def talk(to):
        bodies = [{"record": PLACE}, far, {"records": [PLACE] * 2}, far]
        return await asyncio.gather(*(to.post("/v1/places", body) for body in bodies))

    answers = talking(service, talk)
    assert [answer.status_code for answer in answers] == [200, 422, 200, 422]
    assert "170" not in answers[1].text


def test_tokens_rights_rates_and_batches():
    tables = stated(places={"epsilon": 2.0})
    tables["tokens"] += [
        {"name": "slow", "sha256": token_hash("slow"), "rights": ["places"],
         "records_per_second": 0.001, "burst": 3, "batch": 2},
        {"name": "none", "sha256": token_hash("none"), "rights": []},
    ]  # fmt: skip
    service = built(tables)

    async def talk(to):
        for token in (None, "", "wrong", TOKEN + "x", token_hash(TOKEN)):
            answer = await to.post("/v1/places", {"record": PLACE}, token=token)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        assert (await to.post("/v1/places", {"record": PLACE}, token="none")).status_code == 403
        assert (await to.get("/v1/guarantee", token="none")).status_code == 200
        assert (await to.get("/metrics", token="none")).status_code == 403
        assert (await to.get("/metrics", token=None)).status_code == 401
        assert (await to.get("/v1/places")).status_code == 405
        assert (await to.get("/nowhere")).status_code == 404
        large = await to.post("/v1/places", {"records": [PLACE] * 3}, token="slow")
        assert large.status_code == 413
        taken = [await to.post("/v1/places", {"record": PLACE}, token="slow") for _ in range(4)]
        assert [answer.status_code for answer in taken] == [200, 200, 200, 429]
        assert int(taken[-1].headers["retry-after"]) > 100
        keyed = {"idempotency-key": "k"}
        no_ledger = await to.post("/v1/places", {"record": PLACE}, headers=keyed)
        assert no_ledger.status_code == 422
        for route in ("/healthz", "/readyz"):
            assert (await to.get(route, token=None)).status_code == 200

    talking(service, talk)


def test_a_long_record_counts_as_several_against_the_rate():
    """Else a token's rate would bound a thousandth of what it can ask for."""
    tables = stated(places={"epsilon": 2.0, "pass": ["note"]})
    rate = {"records_per_second": 0.001, "batch": 1, "rights": ["places"]}
    tables["tokens"] += [
        {"name": name, "sha256": token_hash(name), "burst": burst, **rate}
        for name, burst in (("slow", 5), ("slower", 1))
    ]
    service = built(tables)
    long, brief = {**PLACE, "note": "x" * 20_000}, {**PLACE, "note": "x" * 200}

    async def talk(to):
        statuses = [
            (await to.post("/v1/places", {"record": record}, token=token)).status_code
            for token, record in (
                ("slow", long), ("slow", long), ("slow", brief), ("slow", brief), ("slow", brief),
                ("slower", long),
            )
        ]  # fmt: skip
        assert statuses == [200, 429, 200, 200, 429, 200], "the last is let through all the same"

    talking(service, talk)


def test_metrics_count_requests_and_nothing_of_their_content(ledger):
    service = built(stated(places={"epsilon": 4.0, **ledger}))

    async def talk(to):
        for who in ("ann", "ann", "ann", "bob"):
            await to.post("/v1/places", {"record": {**PLACE, "who": who}})
        bad = await to.post("/v1/places", {"record": {**PLACE, "lat": 99, "who": "bob"}})
        assert bad.status_code == 422
        assert (await to.post("/v1/places", b"no JSON")).status_code == 400
        return (await to.get("/metrics")).text

    text = talking(service, talk)
    assert 'voile_requests_total{route="places",status="2xx"} 5' in text, "one over budget, one bad"
    assert 'voile_requests_total{route="places",status="4xx"} 1' in text
    assert 'voile_records_total{route="places"} 5' in text
    assert "voile_ledger_commits_total 4" in text
    assert "ann" not in text.replace("guarantee", "")
    names = {line.split("{")[0].split()[0] for line in text.splitlines() if line[0] != "#"}
    assert names == {
        "voile_requests_total", "voile_records_total", "voile_ledger_commits_total",
        "voile_ledger_failures_total", "voile_guarantee_info",
    }  # fmt: skip


def test_no_secret_stands_in_a_log_or_an_error(vectors, caplog, monkeypatch):
    """Also when something breaks inside, with a value in the error's own words."""
    service = built(stated(text={"epsilon": 9.0, "vocabulary": vectors, "no_cache": True}))
    caplog.set_level(logging.DEBUG)

    async def talk(to):
        body = {"record": {"text": "secretword", "patient": "secretword"}}
        answers = [
            await to.post("/v1/text", {"record": {"text": "secretword good"}}),
            await to.post("/v1/text", body),
            await to.post("/v1/text", {"record": {"text": ["secretword"]}}),
            await to.post("/v1/text", b'{"record": "secretword'),
            await to.get("/secretword"),
        ]

        def broken(batch):
            raise RuntimeError(f"cannot do {batch.rows}")

        monkeypatch.setattr(
            type(service.lanes["text"].brief.releasing._releaser), "plan", lambda s, b: broken(b)
        )
        answers.append(await to.post("/v1/text", {"record": {"text": "secretword"}}))
        return answers

    answers = talking(service, talk)
    assert [answer.status_code for answer in answers] == [200, 422, 422, 400, 404, 500]
    assert all("secretword" not in answer.text for answer in answers[1:])
    assert all(answer.headers["x-request-id"] in caplog.text for answer in answers)
    assert "internal error RuntimeError" in caplog.text
    own = [r.getMessage() for r in caplog.records if r.name.startswith("voile")]
    assert own
    assert not any("secretword" in line or TOKEN in line for line in own)


def asgi(service, body_parts, *, path="/v1/places", headers=(), pause=0.0):
    """A request by hand: its parts with pauses between; the answer's status and body."""
    sent = []
    parts = list(body_parts)

    async def receive():
        if pause:
            await asyncio.sleep(pause)
        if not parts:
            return {"type": "http.disconnect"}
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": path,
        "headers": [(b"authorization", b"Bearer " + TOKEN.encode()), *headers],
    }  # fmt: skip

    async def whole():
        service.start()
        await service(scope, receive, send)
        await service.stop()

    asyncio.run(whole())
    return (sent[0]["status"], json.loads(sent[1]["body"])) if sent else None


def test_large_and_slow_bodies_and_clients_that_leave():
    tables = stated(places={"epsilon": 2.0}, server={"body_bytes": 1000, "body_seconds": 0.05})
    large, body = [b" " * 600] * 2, json.dumps({"record": PLACE}).encode()
    assert asgi(built(tables), large)[0] == 413
    assert asgi(built(tables), [b""], headers=[(b"content-length", b"9" * 30)])[0] == 413
    assert asgi(built(tables), [body] * 3, pause=0.03)[0] == 408
    assert asgi(built(tables), [body[:9], body[9:]])[0] == 200

    service = built(tables)

    async def whole():
        sent = []

        async def send(message):
            sent.append(message)

        async def receive():
            return {"type": "http.disconnect"}

        service.start()
        scope = {
            "type": "http", "method": "POST", "path": "/v1/places",
            "headers": [(b"authorization", b"Bearer " + TOKEN.encode())],
        }  # fmt: skip
        await service(scope, receive, send)
        await service.stop()
        return sent

    assert asyncio.run(whole()) == []


def test_before_the_start_and_at_the_end_it_is_not_ready():
    service = built(stated(places={"epsilon": 2.0}))

    async def whole():
        transport = httpx.ASGITransport(app=service)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            before = await client.get("/readyz")
            service.start()
            during = await client.get("/readyz")
            await service.stop()
            after = await client.get("/readyz")
            headers = {"authorization": f"Bearer {TOKEN}"}
            late = await client.post("/v1/places", json={"record": PLACE}, headers=headers)
            return [answer.status_code for answer in (before, during, after, late)]

    assert asyncio.run(whole()) == [503, 200, 503, 503]
