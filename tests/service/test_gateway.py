"""The gateway: no name reaches the language model, all of them are back in the answer."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import threading
from dataclasses import replace

import httpx
import pytest

from voile.errors import InvalidInput
from voile.service.config import Gateway
from voile.service.groups import BRIEF
from voile.service.prompts import read_prompt
from voile.service.upstream import Upstream
from voile.text.conversation import Conversation, Revealing

from .conftest import TOKEN, built, stated, talking

SECRETS = ("Ann", "Smith", "ann.smith@corp.org")


@pytest.fixture
def gateway(tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("Ann Smith\nBob\n")
    (tmp_path / "key").write_text("vendors-own-token\n")
    return {
        "upstream": "https://vendor.example/v1", "pipeline": str(names),
        "key_file": str(tmp_path / "key"), "conversations": 2,
    }  # fmt: skip


def prompt(*texts, **more):
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    return {"model": "m", "messages": messages, "temperature": 0.5, **more}


class Model:
    """A language model that repeats what it was asked last."""

    def __init__(self, status=200, piece=3, **more):
        self.seen, self.status, self.piece, self.more = [], status, piece, more

    def __call__(self, request):
        body = json.loads(request.content)
        self.seen.append((body, dict(request.headers)))
        said = "You said: " + body["messages"][-1]["content"]
        if self.status != 200:
            return httpx.Response(self.status, json={"error": said})
        if body.get("stream"):
            return httpx.Response(200, content=self._stream(said))
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "logprobs": said}
        usage = {"total_tokens": 7}
        answer = {"id": "x", "model": "m", "usage": usage, "secret": said, **self.more}
        return httpx.Response(200, json={"choices": [choice], **answer})

    async def _stream(self, said):
        for at in range(0, len(said), self.piece):
            delta = {"index": 0, "delta": {"content": said[at : at + self.piece]}}
            yield b"data: " + json.dumps({"id": "x", "choices": [delta]}).encode() + b"\r\n\r\n"
        last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        yield b"data: " + json.dumps(last).encode() + b"\n\ndata: [DONE]\n\n"


def service_with(gateway, model):
    service = built(stated(gateway=gateway))
    service.gateway.upstream.transport = httpx.MockTransport(model)
    return service


CHAT = "/v1/chat/completions"
TEXT = "Write to Ann Smith (ann.smith@corp.org) about Ann's invoice."


def test_names_do_not_leave_and_come_back(gateway):
    model = Model()

    async def talk(to):
        answer = await to.post(CHAT, prompt(TEXT))
        assert answer.status_code == 200, answer.text
        assert answer.json()["choices"][0]["message"]["content"] == "You said: " + TEXT
        assert "secret" not in answer.json()
        assert "logprobs" not in answer.json()["choices"][0]
        assert answer.json()["usage"] == {"total_tokens": 7}
        told = (await to.get("/v1/guarantee")).json()["routes"]["chat"]
        assert told["guarantee"]["epsilon"] == 0
        assert told["in_clear"] == ["all other words"]
        assert "voile_guarantee_info" in (await to.get("/metrics")).text

    talking(service_with(gateway, model), talk)
    ((body, headers),) = model.seen
    assert not any(secret in json.dumps(body) for secret in SECRETS)
    assert body["temperature"] == 0.5
    assert headers["authorization"] == "Bearer vendors-own-token"
    assert "invoice" in json.dumps(body), "all other words stand in clear"


def test_a_conversation_keeps_its_stand_ins_and_is_forgotten(gateway, monkeypatch):
    model = Model()
    service = service_with(gateway, model)

    def named(conversation):
        return {"headers": {"voile-conversation": conversation}}

    async def talk(to):
        await to.post(CHAT, prompt(TEXT), **named("a"))
        await to.post(CHAT, prompt("Was Ann paid?"), **named("a"))  # without its history
        await to.post(CHAT, prompt(TEXT), **named("b"))
        await to.post(CHAT, prompt(TEXT))
        await to.post(CHAT, prompt(TEXT))
        assert len(service.gateway._known["tests"]) == 2
        await to.post(CHAT, prompt(TEXT), **named("c"))
        assert len(service.gateway._known["tests"]) == 2, "bounded"
        clock = service.gateway._settings.conversation_seconds + 1e6
        monkeypatch.setattr("voile.service.gateway.time.monotonic", lambda: clock + 1e9)
        await to.post(CHAT, prompt(TEXT))
        assert not service.gateway._known["tests"], "expired"

    talking(service, talk)
    texts = [body["messages"][-1]["content"] for body, _ in model.seen]
    ann = texts[1].split()[1]
    assert texts[0].startswith(f"Write to {ann} ")
    assert len(set(texts[2:5])) == 3, "others have others"


@pytest.mark.parametrize("piece", [1, 4, 1000])
def test_a_stream_is_restored_across_the_borders_of_its_pieces(gateway, piece):
    async def talk(to):
        return await to.post(CHAT, prompt(TEXT, stream=True))

    answer = talking(service_with(gateway, Model(piece=piece)), talk)
    assert answer.headers["content-type"] == "text/event-stream"
    *events, done, last = answer.text.split("\n\n")
    assert (done, last) == ("data: [DONE]", "")
    choices = [json.loads(event.removeprefix("data: "))["choices"][0] for event in events]
    assert "".join(choice["delta"]["content"] for choice in choices) == "You said: " + TEXT
    assert choices[-1]["finish_reason"] == "stop"
    if piece < 9:
        assert len(choices) > 3, "it comes in pieces, not at the end"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("status", "told"), [(500, 502), (401, 502), (302, 502), (429, 429)])
def test_an_error_of_the_model_is_not_quoted(gateway, stream, status, told):
    async def talk(to):
        return await to.post(CHAT, prompt(TEXT, stream=stream))

    answer = talking(service_with(gateway, Model(status=status)), talk)
    assert answer.status_code == told
    assert "said" not in answer.text
    assert not any(secret in answer.text for secret in SECRETS)


def spoken(*said, **more):
    choices = [{"index": 0, "delta": {"content": text}, **more} for text in said]
    return [json.dumps({"id": "x", "choices": [one]}).encode() for one in choices]


HALVES = spoken("You said: ", "yes. ")
LEGAL = {
    "two lines of data": b"".join(b"data: " + o[:7] + b"\ndata:" + o[7:] + b"\n\n" for o in HALVES),
    "bare CR": b"".join(b"data: " + one + b"\r\r" for one in HALVES),
    "CRLF": b"".join(b"data:" + one + b"\r\n\r\n" for one in HALVES),
    "byte order": b"\xef\xbb\xbfdata: "
    + HALVES[0]
    + b"\n\n: hm\nid: 3\ndata: "
    + HALVES[1]
    + b"\n\n",
}


def answering(content, size):
    async def pieces():
        for at in range(0, len(content), size):
            yield content[at : at + size]

    return lambda request: httpx.Response(200, content=pieces())


def streamed(gateway, model):
    async def talk(to):
        return await to.post(CHAT, prompt(TEXT, stream=True))

    return talking(service_with(gateway, model), talk)


@pytest.mark.parametrize("size", [1, 2, 1000])
@pytest.mark.parametrize("how", LEGAL)
@pytest.mark.parametrize("done", [b"data: [DONE]\n\n", b"data: [DONE]"])
def test_events_are_read_as_the_standard_has_them(gateway, how, size, done):
    answer = streamed(gateway, answering(LEGAL[how] + done, size))
    *events, last = (event for event in answer.text.split("\n\n") if event)
    assert last == "data: [DONE]"
    choices = [json.loads(event.removeprefix("data: "))["choices"][0] for event in events]
    assert "".join(choice["delta"]["content"] for choice in choices) == "You said: yes. "


BROKEN = {
    "no end": b"",
    "in the middle of an event": b'data: {"choi',
    "an error": b'data: {"error": {"message": "vendors words"}}\n\ndata: [DONE]\n\n',
    "an event that is one": b'event: error\ndata: {"vendors": "words"}\n\ndata: [DONE]\n\n',
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_stream_that_broke_off_is_not_told_as_whole(gateway, how):
    begun = b"".join(b"data: " + one + b"\n\n" for one in HALVES)
    answer = streamed(gateway, answering(begun + BROKEN[how], 1000))
    assert answer.status_code == 200, "it had begun"
    assert "You said: " in answer.text
    assert "[DONE]" not in answer.text
    assert "words" not in answer.text
    *_, last = (event for event in answer.text.split("\n\n") if event)
    assert json.loads(last.removeprefix("data: "))["error"]["code"] == "upstream"
    assert streamed(gateway, answering(BROKEN[how], 1000)).status_code == 502, "from the start"


@pytest.mark.parametrize("stream", [False, True])
def test_who_has_left_is_not_worked_for(gateway, stream):
    """Nobody reads on, and pays for, an answer that goes to nobody."""
    begun, closed = asyncio.Event(), []

    async def without_end():
        try:
            yield b"data: " + HALVES[0] + b"\n\n"
            begun.set()
            await asyncio.Event().wait()
        finally:
            closed.append(True)

    service = service_with(gateway, lambda request: httpx.Response(200, content=without_end()))
    body = json.dumps(prompt(TEXT, stream=stream)).encode()
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        if messages:
            return messages.pop()
        await begun.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        pass

    async def whole():
        service.start()
        keyed = [(b"authorization", b"Bearer " + TOKEN.encode())]
        scope = {"type": "http", "method": "POST", "path": CHAT, "headers": keyed}
        async with asyncio.timeout(60):
            await service(scope, receive, send)
        await service.stop()

    asyncio.run(whole())
    assert closed


def test_a_packed_answer_is_not_unpacked(gateway):
    """Eight megabytes of it might be gigabytes."""
    said = gzip.compress(json.dumps({"choices": []}).encode())
    packed = httpx.Response(200, content=said, headers={"content-encoding": "gzip"})

    async def talk(to):
        return await to.post(CHAT, prompt(TEXT))

    answer = talking(service_with(gateway, lambda request: packed), talk)
    assert (answer.status_code, "compressed" in answer.text) == (502, True)


def test_more_answers_than_were_asked_for_are_not_handed_back(gateway):
    several = [*HALVES, *spoken("more", index=1), *spoken("and", index=2), *spoken("x", index=-1)]
    content = b"".join(b"data: " + one + b"\n\n" for one in several) + b"data: [DONE]\n\n"
    told = streamed(gateway, answering(content, 1000)).text
    assert "yes" in told
    assert "more" not in told

    async def talk(to):
        return await to.post(CHAT, prompt(TEXT, n=2))

    choices = [{"index": n, "message": {"content": "word"}} for n in range(4)]
    both = lambda request: httpx.Response(200, json={"choices": choices})  # noqa: E731
    answer = talking(service_with(gateway, both), talk).json()
    assert [choice["index"] for choice in answer["choices"]] == [0, 1]


@pytest.mark.parametrize("stream", [False, True])
def test_names_are_put_back_into_a_long_answer_aside(gateway, stream, monkeypatch):
    """Nobody else waits for it."""
    threads, model = set(), Model()
    for name in ("whole", "end"):
        work = getattr(Revealing, name)

        def told(own, *text, work=work):
            if max([own.held, *map(len, text)]) > BRIEF:
                threads.add(threading.current_thread())
            return work(own, *text)

        monkeypatch.setattr(Revealing, name, told)

    async def talk(to):
        long = "x" * (BRIEF + 1)
        answer = await to.post(CHAT, prompt(long, stream=stream))
        assert long in answer.text

    model.piece = 10**6
    talking(service_with(gateway, model), talk)
    assert threads
    assert threading.main_thread() not in threads


def test_an_error_in_place_of_an_answer_is_one(gateway):
    async def talk(to):
        return await to.post(CHAT, prompt(TEXT))

    said = {"error": {"message": "vendors words"}}
    answer = talking(service_with(gateway, lambda r: httpx.Response(200, json=said)), talk)
    assert (answer.status_code, "words" in answer.text) == (502, False)


def test_a_model_that_cannot_be_reached_or_understood(gateway):
    def gone(request):
        raise httpx.ConnectError("no route to Ann Smith")

    async def talk(to):
        return await to.post(CHAT, prompt(TEXT, n=2))

    answer = talking(service_with(gateway, gone), talk)
    assert (answer.status_code, "Ann" in answer.text) == (502, False)
    answer = talking(service_with(gateway, lambda r: httpx.Response(200, content=b"oh")), talk)
    assert answer.status_code == 502
    odd = {"choices": [7, {"message": {"content": 3}}, {"message": None, "index": "x"}]}
    answer = talking(service_with(gateway, lambda r: httpx.Response(200, json=odd)), talk)
    assert answer.status_code == 200
    assert [c["message"]["content"] for c in answer.json()["choices"]] == ["", ""]


@pytest.mark.parametrize(
    "body",
    [
        {"model": "m"}, {"model": "m", "messages": []}, {"model": "m", "messages": [1]},
        prompt("hi", user="Ann"), prompt("hi", tools=[{"Ann": 1}]), prompt("hi", temperature="Ann"),
        prompt("hi", **{"Ann Smith's": 1}), prompt("hi", stop="Ann"), prompt("hi", stream="yes"),
        prompt("\ud800 Ann"), prompt("hi", model="Ann Smith SSN 078-05-1120"), prompt("hi", n=1.5),
        prompt("hi", seed=785551234567), prompt("hi", max_tokens=int("7" * 4000)),
        prompt("hi", temperature=2.1), prompt("hi", temperature=True), prompt("hi", top_p=-1),
        {"model": "m", "messages": [{"role": "tool", "content": "Ann"}]},
        {"model": "m", "messages": [{"role": "user", "content": "hi", "name": "Ann"}]},
        {"model": "m", "messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
    ],
)  # fmt: skip
def test_what_is_not_understood_does_not_go_on(gateway, body):
    model = Model()

    async def talk(to):
        return await to.post(CHAT, body)

    answer = talking(service_with(gateway, model), talk)
    assert answer.status_code == 422
    assert "Ann" not in answer.text
    assert not model.seen


def test_settings_and_models_that_are_named_go_on(gateway):
    model = Model()

    async def talk(to):
        refused = await to.post(CHAT, prompt("hi", model="Ann"))
        assert refused.status_code == 422
        assert "Ann" not in refused.text
        told = prompt("hi", model="org/m:1.5", seed=7, max_tokens=50, top_p=0.123456)
        assert (await to.post(CHAT, told)).status_code == 200

    talking(service_with({**gateway, "models": ["m", "org/m:1.5"]}, model), talk)
    ((body, _),) = model.seen
    assert (body["model"], body["seed"], body["max_tokens"]) == ("org/m:1.5", 7, 50)
    assert body["top_p"] == 0.1235


def test_what_is_taken_is_described(gateway):
    """By OpenAPI: settings, texts in parts, and what may go wrong."""

    async def talk(to):
        return (await to.get("/openapi.json", token=None)).json()

    service = service_with({**gateway, "models": ["m"], "messages": 7}, Model())
    told = talking(service, talk)["paths"][CHAT]["post"]
    assert told["responses"].keys() >= {"200", "400", "401", "413", "422", "429", "502", "503"}
    assert "text/event-stream" in told["responses"]["200"]["content"]
    schema = told["requestBody"]["content"]["application/json"]["schema"]
    taken = schema["properties"]
    assert (taken["temperature"]["type"][0], taken["temperature"]["maximum"]) == ("number", 2)
    assert (taken["seed"]["type"][0], taken["messages"]["maxItems"]) == ("integer", 7)
    assert taken["model"]["enum"] == ["m"]
    content = taken["messages"]["items"]["properties"]["content"]["oneOf"]
    assert [one["type"] for one in content] == ["string", "array"]
    assert not schema["additionalProperties"]
    facts = service.gateway.facts()
    named = {"voile": facts["voile"], "guarantee": facts["guarantee"]}
    named["identity"] = facts["decided_by"]
    written = json.dumps(named, sort_keys=True).encode()
    assert facts["id"] == hashlib.sha256(written).hexdigest()[:32]


def test_prompts_that_wait_are_bounded(gateway):
    async def talk(to):
        assert (await to.post(CHAT, prompt("x" * 101))).status_code == 413
        asked = [to.post(CHAT, prompt("word " * 12)) for _ in range(3)]
        assert sorted([a.status_code for a in await asyncio.gather(*asked)]) == [200, 503, 503]
        assert (await to.post(CHAT, prompt("x" * 100))).status_code == 200, "none waits any more"

    talking(service_with({**gateway, "waiting_signs": 100}, Model()), talk)


def test_many_messages_are_bounded_and_weigh_more_than_their_signs(gateway, monkeypatch):
    """A thousand messages of one sign are no brief prompt."""
    lanes, service = [], service_with({**gateway, "messages": 200}, Model())
    hide = Conversation.hide

    def told(self, texts, blur):
        lanes.append("long" if blur is service.gateway.long.blur else "brief")
        return hide(self, texts, blur)

    monkeypatch.setattr(Conversation, "hide", told)

    async def talk(to):
        assert (await to.post(CHAT, prompt(*["x"] * 201))).status_code == 413
        assert (await to.post(CHAT, prompt(*["x"] * 200))).status_code == 200
        assert (await to.post(CHAT, prompt("x" * BRIEF))).status_code == 200
        counted = (await to.get("/metrics")).text
        assert 'voile_records_total{route="chat"} 21' in counted, "of its rate it takes 20"

    talking(service, talk)
    assert lanes == ["long", "brief"]
    few = replace(service.config.tokens[0], batch=3, burst=3)
    assert read_prompt(prompt(*["x"] * 200), most=200).records(few) == 3, "else never let through"


def test_a_token_cannot_end_the_conversations_of_another(gateway):
    service = service_with(gateway, Model())
    own, other = (replace(service.config.tokens[0], name=name) for name in ("own", "other"))
    kept = service.gateway._conversation(own, b"one").conversation
    for number in range(9):
        service.gateway._conversation(other, str(number).encode())
    assert service.gateway._conversation(own, b"one").conversation is kept


def test_texts_in_parts_are_read(gateway):
    model = Model()
    parts = [{"type": "text", "text": "Ann Smith"}, {"type": "text", "text": "is here"}]

    async def talk(to):
        body = {"model": "m", "messages": [{"role": "user", "content": parts}]}
        return await to.post(CHAT, body)

    answer = talking(service_with(gateway, model), talk)
    assert answer.json()["choices"][0]["message"]["content"] == "You said: Ann Smith\nis here"
    assert "Ann Smith" not in json.dumps(model.seen[0][0])


def test_an_open_address_elsewhere_is_refused():
    with pytest.raises(InvalidInput, match="must be https"):
        Upstream(Gateway("http://vendor.example/v1"))
    Upstream(Gateway("http://localhost:9/v1"))
    for address in ("https://", "https://vendor.example/v1?version=2"):
        with pytest.raises(InvalidInput, match="a host and a path"):
            Upstream(Gateway(address))


def test_a_long_prompt_is_passed_by_and_its_own_conversation_waits_for_it(gateway, monkeypatch):
    """Names of the long one are known in what its conversation says next, and only there."""
    model, read = Model(), threading.Event()
    service = service_with(gateway, model)
    hide = Conversation.hide

    def slow(self, texts, blur):
        assert blur is not service.gateway.long.blur or read.wait(30)
        return hide(self, texts, blur)

    monkeypatch.setattr(Conversation, "hide", slow)
    named = {"headers": {"voile-conversation": "c"}}

    async def talk(to):
        long = asyncio.create_task(to.post(CHAT, prompt("Ann Smith, " + "so " * BRIEF), **named))
        await asyncio.sleep(0)
        for _ in range(5):
            assert (await to.post(CHAT, prompt("Bob"))).status_code == 200
        following = asyncio.create_task(to.post(CHAT, prompt("Ann Smith"), **named))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not long.done()
        assert not following.done()
        read.set()
        assert (await long).status_code == (await following).status_code == 200

    talking(service, talk)
    first, after = (seen[0]["messages"][0]["content"] for seen in model.seen[5:])
    assert first.startswith(after + ", so so")
    assert "Ann Smith" not in after
