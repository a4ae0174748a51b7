"""The service as an ASGI application: who asks, what for, and the answer.

Written to ASGI itself: six routes need no framework, and what stands between a request and its
draw is here to be read. Routes are a table, bodies are read with a limit of size and of time, and
an error of whatever kind is answered by its code.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from voile.service.asking import (
    Answered,
    Asked,
    Refused,
    as_json,
    failure,
    read_object,
    read_records,
    same_request,
)
from voile.service.config import Config, Token
from voile.service.counting import Shared
from voile.service.domains import Domain
from voile.service.gateway import PromptGateway
from voile.service.groups import BRIEF, Lanes, internal
from voile.service.http import Gone, Receive, Request, Scope, Send, send_answer
from voile.service.logs import LOG
from voile.service.openapi import openapi
from voile.service.prompts import read_prompt
from voile.service.releasing import Releasing
from voile.service.tokens import Doors

_LONGEST_KEY = 255
_FORGET_SECONDS = 60.0
"""Between two looks for answers that have expired."""


class Service:
    """Answers requests; one in each worker, made there."""

    def __init__(self, config: Config, domains: Mapping[str, Domain], shared: Shared) -> None:
        self.config, self.domains, self.shared = config, domains, shared
        self._doors = Doors(config.tokens, shared)
        self.lanes = {
            name: Lanes(
                name,
                partial(Releasing, domain, config, shared),
                config.server,
            )
            for name, domain in domains.items()
        }
        self._forgetting: asyncio.Task[None] | None = None
        self.gateway: PromptGateway | None = None
        if config.gateway is not None:
            self.gateway = PromptGateway(config.gateway, shared.secret)
        facts = {name: domain.facts() for name, domain in domains.items()}
        for domain in domains.values():
            if domain.standing.charging is not None:
                domain.standing.charging.ledger.close()  # each lane has its own
        if self.gateway is not None:
            facts["chat"] = self.gateway.facts()
        self._facts = as_json({"routes": facts})
        self._openapi = as_json(openapi(domains, chat=config.gateway))
        self._ready = False
        routes: dict[tuple[str, str], tuple[str, Any]] = {
            ("GET", "/healthz"): ("health", self._health),
            ("GET", "/readyz"): ("health", self._readiness),
            ("GET", "/openapi.json"): ("openapi", self._description),
            ("GET", "/v1/guarantee"): ("guarantee", self._guarantee),
            ("GET", "/metrics"): ("metrics", self._metrics),
        }
        for name in domains:
            routes["POST", f"/v1/{name}"] = (name, self._protect)
        if self.gateway is not None:
            routes["POST", "/v1/chat/completions"] = ("chat", self._chat)
        self._routes = routes
        self._paths = {path for _, path in routes}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI's one call."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self.start()
                await send({"type": "lifespan.startup.complete"})
            else:
                await self.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return

    def start(self) -> None:
        """Begin to answer, in the loop that is running."""
        if self.gateway is not None:
            self.gateway.upstream.start()
        self._forgetting = asyncio.create_task(self._forget())
        self._ready = True

    async def _forget(self) -> None:
        """Delete answers that have expired, also when nobody asks."""
        while True:
            await asyncio.sleep(_FORGET_SECONDS)
            for lanes in self.lanes.values():
                await lanes.forget()

    async def stop(self) -> None:
        """Answer whoever waits, charge nobody else, and close the ledgers."""
        self._ready = False
        if self._forgetting is not None:
            self._forgetting.cancel()
        await asyncio.gather(*(lanes.close() for lanes in self.lanes.values()))
        if self.gateway is not None:
            await self.gateway.upstream.stop()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request: its route, its answer, its line in the log."""
        number = secrets.token_hex(8)
        method, path = scope["method"], scope["path"]
        route, answer = self._routes.get((method, path), ("other", self._nowhere))
        who = ""
        request = Request(scope, receive, self.config.server)
        try:
            if route in ("health", "openapi", "other"):
                answered = await answer(request, route)
            else:
                token = self._let_in(request, route)
                who = token.name
                answered = await answer(request, route, token)
        except Refused as refused:
            answered = refused.answered
        except Gone:
            return
        except Exception as problem:
            LOG.error(internal(problem))
            answered = failure(500, "internal", "an error of the service; it is in its log")
        self.shared.request(route, answered.counted or answered.status)
        if route != "health":  # which is asked every few seconds
            LOG.info('%s %s %d "%s"', number, route, answered.status, who)
        with suppress(Gone):
            await send_answer(send, answered, number, request)

    def _let_in(self, request: Request, route: str) -> Token:
        token = self._doors.known(request.header(b"authorization"))
        if token is None:
            raise Refused(failure(401, "no-token", "a bearer token must be sent, a known one"))
        if route not in token.rights and route != "guarantee":
            raise Refused(failure(403, "no-right", "this token has no right to this route"))
        return token

    def pass_through(self, token: Token, route: str, records: int, size: int) -> None:
        """Count records against the token's rate; a long one as several, so many as can pass."""
        seconds = self._doors.wait(token, max(records, min(-(-size // BRIEF), token.burst)))
        if seconds:
            message = "too many records for this token's rate"
            raise Refused(failure(429, "rate", message, retry=seconds))
        self.shared.records(route, records)

    # ── routes ─────────────────────────────────────────────────────────────────────────────

    async def _protect(self, request: Request, route: str, token: Token) -> Answered:
        body = await request.body()
        records, alone = read_records(body, most=token.batch)
        self.pass_through(token, route, max(1, len(records)), len(body))
        releasing = self.lanes[route].brief.releasing
        if not records:
            name = self.domains[route].guarantee
            return Answered(200, as_json({"guarantee": name, "releases": []}))
        if not request.has(b"idempotency-key"):
            return await self._ask(route, Asked(records, alone, len(body)))
        key = request.header(b"idempotency-key")
        if releasing.answers is None:
            message = "an idempotency key must go with a route that has a ledger"
            raise Refused(failure(422, "no-ledger", message))
        if not 0 < len(key) <= _LONGEST_KEY:
            raise Refused(failure(422, "bad-key", "an idempotency key has 1 to 255 characters"))
        asked = releasing.keyed(b"request\0" + same_request(route, [alone, records]))
        named = releasing.named(token, key)
        return await self._ask(route, Asked(records, alone, len(body), named, asked))

    async def _ask(self, route: str, asked: Asked) -> Answered:
        """Ask for a release; counted alike whether it is one or the records are refused."""
        answered = await self.lanes[route].ask(asked)
        return replace(answered, counted=200) if answered.status < 500 else answered

    async def _chat(self, request: Request, route: str, token: Token) -> Answered:
        gateway = self.gateway
        assert gateway is not None  # else there is no such route
        content = await request.body()
        prompt = read_prompt(read_object(content), most=gateway.messages)
        self.pass_through(token, route, prompt.records(token), len(content))
        body, revealing = await gateway.hidden(prompt, token, request.header(b"voile-conversation"))
        async with request.awaited():
            if not prompt.stream:
                return await gateway.answer(body, revealing)
            pieces = gateway.streamed(body, revealing)
            first = await anext(pieces)  # so that an error of the model's has a status
        return Answered(200, first, kind=b"text/event-stream", rest=pieces)

    async def _guarantee(self, request: Request, route: str, token: Token) -> Answered:
        return Answered(200, self._facts)

    async def _metrics(self, request: Request, route: str, token: Token) -> Answered:
        names = [(name, domain.guarantee) for name, domain in self.domains.items()]
        if self.gateway is not None:
            names.append(("chat", self.gateway.guarantee))
        kind = b"text/plain; version=0.0.4; charset=utf-8"
        return Answered(200, self.shared.text(names).encode(), kind=kind)

    async def _health(self, request: Request, route: str) -> Answered:
        return Answered(200, b'{"status":"alive"}')

    async def _readiness(self, request: Request, route: str) -> Answered:
        if not self._ready:
            return failure(503, "not-ready", "the service starts or stops")
        return Answered(200, b'{"status":"ready"}')

    async def _description(self, request: Request, route: str) -> Answered:
        return Answered(200, self._openapi)

    async def _nowhere(self, request: Request, route: str) -> Answered:
        if request.path in self._paths:
            return failure(405, "bad-method", "this route takes another method")
        return failure(404, "no-route", "there is no such route; see /openapi.json")
