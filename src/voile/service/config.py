"""What a service is told in its TOML file: refused as a whole if a single key is not known."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voile.errors import BadFile, InvalidInput, require
from voile.files import require_regular
from voile.values import made_of, unknown

FORMAT = 1
DOMAINS = ("text", "places", "labels")
RIGHTS = (*DOMAINS, "chat", "metrics")
"""What a token may be allowed; its guarantee and the service's health may be seen anyway."""


@dataclass(frozen=True)
class Server:
    """Where it listens, and how much of anything it takes."""

    host: str = "127.0.0.1"
    port: int = 8787
    workers: int = 1
    certificate: str | None = None
    """A PEM file; with `key`, TLS."""
    key: str | None = None
    body_bytes: int = 1_000_000
    body_seconds: float = 10.0
    """How long a client may take to send a body."""
    stop_seconds: int = 20
    connections: int = 1000
    """Of one worker; more are told to come later."""
    waiting_records: int = 20_000
    """That may wait in one lane of one worker before more are told to come later."""
    waiting_bytes: int = 50_000_000
    """Of the bodies that these came in."""
    answers: int = 100_000
    """Of all tokens, kept under their idempotency keys in the ledger's database."""
    answer_bytes: int = 1_000_000_000
    """Of all that are kept."""
    answer_seconds: int = 86_400

    def __post_init__(self) -> None:
        for name in ("workers", "body_bytes", "body_seconds", "stop_seconds", "connections",
                     "waiting_records", "waiting_bytes", "answers", "answer_bytes",
                     "answer_seconds"):  # fmt: skip
            require(getattr(self, name) > 0, f"[server] {name}", "> 0", getattr(self, name))
        least = f"at least body_bytes, {self.body_bytes:,}: a larger one would never be taken"
        fits = self.waiting_bytes >= self.body_bytes
        require(fits, "[server] waiting_bytes", least, self.waiting_bytes)
        require(0 <= self.port < 65536, "[server] port", "below 65536", self.port)
        if (self.certificate is None) != (self.key is None):
            raise InvalidInput("[server] certificate and key must be given together")


@dataclass(frozen=True)
class Token:
    """Who may ask for what, and how much; the token itself is nowhere, its hash is here."""

    name: str
    sha256: str
    rights: tuple[str, ...]
    records_per_second: float = 100.0
    burst: int = 1000
    batch: int = 1000
    """Records in one request, at most."""
    answers: int = 20_000
    """Kept under its idempotency keys."""
    answer_bytes: int = 200_000_000
    """Of all of these."""

    def __post_init__(self) -> None:
        digest = self.sha256
        whole = len(digest) == 64 and not set(digest) - set("0123456789abcdef")
        if not whole:
            raise InvalidInput(
                "a token's sha256 must be 64 hexadecimal digits, as `voile serve --new-token` "
                "prints them"
            )
        for right in self.rights:
            if right not in RIGHTS:
                raise InvalidInput(unknown(f"a right of the token {self.name!r}", right, RIGHTS))
        for name in ("records_per_second", "burst", "batch", "answers", "answer_bytes"):
            require(getattr(self, name) > 0, f"{name} of {self.name!r}", "> 0", getattr(self, name))
        fits = f"at most its burst, {self.burst:,}: a larger one would never be let through"
        require(self.batch <= self.burst, f"batch of {self.name!r}", fits, self.batch)


@dataclass(frozen=True)
class Gateway:
    """A language model's address that prompts go on to, with stand-ins for names in them."""

    upstream: str
    """Such as https://vendor.example/v1; its chat/completions is asked."""
    key_file: str | None = None
    """Holds the vendor's own token."""
    language: str = "en"
    pipeline: str | None = None
    find: tuple[str, ...] = ("patterns",)
    models: tuple[str, ...] = ()
    """That may be asked for; any, if none is named here."""
    conversations: int = 1000
    """Of one token that are remembered at once, in memory alone."""
    conversation_seconds: float = 3600.0
    things: int = 1000
    """Names and identifiers of one conversation, at most."""
    upstream_seconds: float = 120.0
    messages: int = 500
    """Of one prompt, at most."""
    waiting_signs: int = 200_000
    """Of prompts that may wait for their stand-ins before more are told to come later."""

    def __post_init__(self) -> None:
        if not self.upstream.startswith(("https://", "http://")):
            raise InvalidInput("[gateway] upstream must begin with https:// (or http:// here)")
        for name in ("conversations", "conversation_seconds", "things", "upstream_seconds",
                     "messages", "waiting_signs"):  # fmt: skip
            require(getattr(self, name) > 0, f"[gateway] {name}", "> 0", getattr(self, name))


@dataclass(frozen=True)
class Config:
    """A whole file. What a domain is to do are the options of its command, by name."""

    server: Server
    tokens: tuple[Token, ...]
    domains: Mapping[str, Mapping[str, Any]]
    gateway: Gateway | None = None

    def __post_init__(self) -> None:
        if not self.domains and self.gateway is None:
            raise InvalidInput(
                "a service must offer something: [text], [places], [labels] or [gateway]"
            )
        if not self.tokens:
            raise InvalidInput(
                "a service must know who may ask: add [[tokens]], `voile serve --new-token` "
                "prints one"
            )
        if self.gateway is not None and self.server.workers > 1:
            raise InvalidInput(
                "[server] workers must be 1 with [gateway]: who is who in a conversation is kept "
                "in the memory of one process"
            )
        for what in ("name", "sha256"):
            values = [getattr(token, what) for token in self.tokens]
            if len(set(values)) != len(values):
                raise InvalidInput(f"two tokens must not have the same {what}")


def read_config(path: str | Path) -> Config:
    """The configuration in a TOML file; paths in it are taken from where the command is run."""
    place = Path(path)
    require_regular(place)
    try:
        found = tomllib.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadFile(f"the service's file must exist, got {place.name!r}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise BadFile(f"{place.name} must be a TOML file: {type(problem).__name__}") from None
    return config_from(found, name=place.name)


def config_from(found: Mapping[str, Any], *, name: str = "the configuration") -> Config:
    """The configuration that a table states."""
    if found.get("voile") != FORMAT:
        raise BadFile(f"{name} must begin with voile = {FORMAT}")
    known = ("voile", "server", "tokens", "gateway", *DOMAINS)
    for key in found:
        if key not in known:
            raise BadFile(f"{name}: {unknown('a table', key, known)}")
    tokens = found.get("tokens", [])
    if not isinstance(tokens, list):
        raise BadFile(f"{name}: tokens must be a list, each begins with [[tokens]]")
    gateway = found.get("gateway")
    return Config(
        made_of(Server, _table(found.get("server", {}), "[server]"), "[server]"),
        tuple(made_of(Token, _table(token, "[[tokens]]"), "[[tokens]]") for token in tokens),
        {domain: _table(found[domain], f"[{domain}]") for domain in DOMAINS if domain in found},
        None if gateway is None else made_of(Gateway, _table(gateway, "[gateway]"), "[gateway]"),
    )


def _table(given: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(given, dict):
        raise BadFile(f"{where} must be a table")
    return given
