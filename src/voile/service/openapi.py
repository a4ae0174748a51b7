"""The service's description in OpenAPI 3.1, made from the domains that it offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.service.config import Gateway
from voile.service.domains import Domain
from voile.service.prompts import FRACTIONS, MODEL, NUMBERS, ROLES
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
_CHAT_ERRORS = {
    "400": "the body is no JSON",
    "401": "no token, or an unknown one",
    "403": "the token has no right to this",
    "408": "the body came too slowly",
    "413": "the body is too large, or the prompt has too many messages or signs",
    "422": "the prompt holds something in which nothing looks for names, or too many of them",
    "429": "the token's rate is used up, or the language model's; Retry-After says when to come",
    "502": "the language model did not answer, or not as one does; it is not quoted",
    "503": "too many prompts wait; Retry-After says when to come again",
}
_NAME = (
    "the name of the guarantee: the first 32 hexadecimal digits of the SHA-256 of the JSON of "
    "voile, guarantee and decided_by (called identity there) of /v1/guarantee, names sorted; the "
    "same for two services exactly if both draw from the same laws by the same version"
)


def openapi(domains: Mapping[str, Domain], *, chat: Gateway | None = None) -> dict[str, Any]:
    """What each route takes and gives."""
    paths: dict[str, Any] = {f"/v1/{name}": _protect(domain) for name, domain in domains.items()}
    paths |= {
        "/v1/guarantee": {
            "get": _get(f"What each route promises, and what decides it; its id is {_NAME}.")
        },
        "/metrics": {
            "get": _get(
                "Counts for Prometheus; none depends on a record's content.",
                "text/plain",
                errors={"401": _ERRORS["401"], "403": "the token has no right to this"},
            )
        },
        "/healthz": {"get": _get("Whether the process lives.", token=False)},
        "/readyz": {
            "get": _get("Whether it answers.", token=False, errors={"503": "it starts or stops"})
        },
        "/openapi.json": {"get": _get("This description.", token=False)},
    }
    if chat is not None:
        paths["/v1/chat/completions"] = {"post": _chat(chat)}
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


def _get(
    about: str, kind: str = "application/json", *, token: bool = True,
    errors: Mapping[str, str] | None = None,
) -> dict[str, Any]:  # fmt: skip
    told = {"401": _ERRORS["401"]} if token and errors is None else errors or {}
    schema = {"type": "object" if kind == "application/json" else "string"}
    answered = {"description": "as it is", "content": {kind: {"schema": schema}}}
    return {
        "summary": about,
        "responses": {"200": answered, **_errors(told)},
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
            "guarantee": {"const": domain.guarantee, "description": _NAME},
            "release": released,
            "releases": {"type": "array", "items": {"anyOf": [released, _ERROR]}},
        },
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
        "responses": {
            "200": {"description": "released", "content": _content(answer)},
            **_errors(_ERRORS),
        },
    }
    if domain.standing.charging is not None:
        post["parameters"] = [key]
    return {"post": post}


def _chat(settings: Gateway) -> dict[str, Any]:
    part = {
        "type": "object",
        "required": ["type", "text"],
        "properties": {"type": {"const": "text"}, "text": {"type": "string"}},
        "additionalProperties": False,
    }
    message = {
        "type": "object",
        "required": ["role", "content"],
        "properties": {
            "role": {"enum": list(ROLES)},
            "content": {"oneOf": [{"type": "string"}, {"type": "array", "items": part}]},
        },
        "additionalProperties": False,
    }
    messages = {
        "type": "array", "items": message, "minItems": 1, "maxItems": settings.messages,
    }  # fmt: skip
    model = {"enum": list(settings.models)} if settings.models else {"pattern": f"^{MODEL}$"}
    numbers = {
        name: {
            "type": ["number" if name in FRACTIONS else "integer", "null"],
            "minimum": low,
            "maximum": high,
        }
        for name, (low, high) in NUMBERS.items()
    }
    asked = {
        "type": "object",
        "required": ["model", "messages"],
        "properties": {
            "model": {"type": "string", **model},
            "messages": messages,
            "stream": {"type": "boolean"},
            **numbers,
        },
        "additionalProperties": False,
    }
    conversation = {
        "name": "Voile-Conversation",
        "in": "header",
        "required": False,
        "schema": {"type": "string"},
        "description": "A name for the conversation, in which who is named keeps a stand-in.",
    }
    whole = {"type": "object", "description": "as OpenAI's chat completions"}
    pieces = {
        "type": "string",
        "description": "as its stream: it ends with [DONE], or broke off with an error",
    }
    answers = {
        "200": {
            "description": "answered",
            "content": {**_content(whole), "text/event-stream": {"schema": pieces}},
        },
        **_errors(_CHAT_ERRORS),
    }
    return {
        "summary": "Ask a language model that learns no names; the answer has them again.",
        "parameters": [conversation],
        "requestBody": {"required": True, "content": _content(asked)},
        "responses": answers,
    }


def _errors(told: Mapping[str, str]) -> dict[str, Any]:
    error = _content({"$ref": "#/components/schemas/error"})
    return {status: {"description": about, "content": error} for status, about in told.items()}


def _content(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
