"""The service's description in OpenAPI 3.1, made from the domains that it offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.service.domains import Domain
from voile.version import __version__

_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}
_ERRORS = {
    "400": "the body is no JSON",
    "401": "no token, or an unknown one",
    "403": "the token has no right to this, or the person's budget is spent",
    "408": "the body came too slowly",
    "409": "the idempotency key was used for another request",
    "413": "the body or the batch is too large",
    "422": "the records are not what they must be",
    "429": "the token's rate is used up; Retry-After says when to come again",
    "503": "the ledger cannot be written, too many wait, or the service stops",
}


def openapi(domains: Mapping[str, Domain], *, chat: bool = False) -> dict[str, Any]:
    """What each route takes and gives."""
    paths: dict[str, Any] = {f"/v1/{name}": _protect(domain) for name, domain in domains.items()}
    paths |= {
        "/v1/guarantee": {"get": _get("What each route promises, and what decides it.")},
        "/metrics": {"get": _get("Counts for Prometheus; none depends on a record's content.")},
        "/healthz": {"get": _get("Whether the process lives.", token=False)},
        "/readyz": {"get": _get("Whether it answers.", token=False)},
    }
    if chat:
        paths["/v1/chat/completions"] = {"post": _chat()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "voile", "version": __version__},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"error": _ERROR},
        },
    }


def _get(about: str, *, token: bool = True) -> dict[str, Any]:
    return {
        "summary": about,
        "responses": {"200": {"description": "as it is"}},
        **({} if token else {"security": []}),
    }


def _protect(domain: Domain) -> dict[str, Any]:
    clear = domain.standing.clear
    known = list(clear.shown)
    record = {
        "type": "object",
        "properties": {name: {} for name in known},
        "additionalProperties": False,
    }
    one = {"type": "object", "required": ["record"], "properties": {"record": record}}
    many = {
        "type": "object",
        "required": ["records"],
        "properties": {"records": {"type": "array", "items": record}},
    }
    released = {"type": "object", "description": "the record, with what was drawn"}
    answer = {
        "type": "object",
        "required": ["guarantee"],
        "properties": {
            "guarantee": {"const": domain.guarantee},
            "release": released,
            "releases": {"type": "array", "items": {"anyOf": [released, _ERROR]}},
        },
    }
    errors = {
        status: {"description": about, "content": _content({"$ref": "#/components/schemas/error"})}
        for status, about in _ERRORS.items()
    }
    key = {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "schema": {"type": "string", "maxLength": 255},
        "description": "Asked again under the same key, the same release comes, charged once.",
    }
    post: dict[str, Any] = {
        "summary": f"Release records by {domain.promise.mechanism}, each drawn once.",
        "requestBody": {"required": True, "content": _content({"oneOf": [one, many]})},
        "responses": {"200": {"description": "released", "content": _content(answer)}, **errors},
    }
    if domain.standing.charging is not None:
        post["parameters"] = [key]
    return {"post": post}


def _chat() -> dict[str, Any]:
    message = {
        "type": "object",
        "required": ["role", "content"],
        "properties": {"role": {"type": "string"}, "content": {"type": "string"}},
    }
    asked = {
        "type": "object",
        "required": ["model", "messages"],
        "properties": {
            "model": {"type": "string"},
            "messages": {"type": "array", "items": message},
            "stream": {"type": "boolean"},
        },
    }
    conversation = {
        "name": "Voile-Conversation",
        "in": "header",
        "required": False,
        "schema": {"type": "string"},
        "description": "A name for the conversation, in which who is named keeps a stand-in.",
    }
    return {
        "summary": "Ask a language model that learns no names; the answer has them again.",
        "parameters": [conversation],
        "requestBody": {"required": True, "content": _content(asked)},
        "responses": {"200": {"description": "as OpenAI's chat completions, or as its stream"}},
    }


def _content(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
