"""Services to test: in this process, over ASGI, with a client that speaks HTTP to them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

import voile
from voile.service.app import Service
from voile.service.config import config_from
from voile.service.counting import Shared
from voile.service.running import load_domains
from voile.service.tokens import token_hash

TOKEN = "voile_a-token-of-the-tests"
RIGHTS = ["text", "places", "labels", "chat", "metrics"]


def stated(**tables: Any) -> dict[str, Any]:
    """A configuration with one token."""
    token = {
        "name": "tests", "sha256": token_hash(TOKEN), "rights": RIGHTS,
        "records_per_second": 1e6, "burst": 10**6,
    }  # fmt: skip
    return {"voile": 1, "tokens": [token], **tables}


def built(tables: Mapping[str, Any]) -> Service:
    config = config_from(tables)
    return Service(config, load_domains(config), Shared.of(config.tokens))


@dataclass(frozen=True)
class Talk:
    """Requests to a service in this process."""

    client: httpx.AsyncClient

    async def post(self, route: str, body: Any, token: str | None = TOKEN, **more: Any) -> Any:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {token}"} if token else {}
        headers |= more.pop("headers", {})
        return await self.client.post(route, content=content, headers=headers, **more)

    async def get(self, route: str, token: str | None = TOKEN) -> Any:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return await self.client.get(route, headers=headers)


def talking(service: Service, talk: Any) -> Any:
    """Start the service, let a conversation run, stop it."""

    async def whole() -> Any:
        service.start()
        transport = httpx.ASGITransport(app=service)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            try:
                return await talk(Talk(client))
            finally:
                await service.stop()

    return asyncio.run(whole())


@pytest.fixture
def ledger(tmp_path):
    """A ledger with a budget of 10 a person, its key beside it."""
    where = tmp_path / "ledger.db"
    voile.ledger.init(where, budget=10)
    return {"ledger": str(where), "ledger_key": f"{where}.key", "person": "who"}
