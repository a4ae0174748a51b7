"""What is asked of a service, and what it answers: errors by code, never with what was asked."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from voile.files.rows import RowProblem
from voile.jobs import BeyondBudget
from voile.ledger.answers import Answer

DEEPEST = 32
"""Objects and lists in a body, one within the other."""


@dataclass(frozen=True)
class Answered:
    """A finished answer."""

    status: int
    body: bytes
    replayed: bool = False
    retry: float | None = None
    """Seconds after which to ask again."""
    kind: bytes = b"application/json"
    rest: AsyncGenerator[bytes, None] | None = None
    """What follows the body, as it comes."""
    kept: bytes = b""
    """What is kept of it to be given again: the body without what passes in clear."""
    counted: int | None = None
    """The status that it is counted by, where its own would tell of the records."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A request: its records, whether it was one alone, and the key it may be asked again by."""

    records: Sequence[Any]
    alone: bool
    size: int = 0
    """Bytes of its body."""
    key: bytes | None = None
    """A keyed hash of whose key it is and what it says."""
    request: bytes = field(default=b"", repr=False)
    """A keyed hash of what was asked."""


class Refused(Exception):
    """A request that is answered at once."""

    def __init__(self, answered: Answered) -> None:
        super().__init__(answered.status)
        self.answered = answered


def failure(status: int, code: str, message: str, *, retry: float | None = None) -> Answered:
    """An answer that says what is wrong, and repeats nothing that was asked."""
    return Answered(status, as_json({"error": {"code": code, "message": message}}), retry=retry)


def read_object(body: bytes) -> Mapping[str, Any]:
    """The JSON object in a body; numbers that JSON does not have are refused."""
    try:
        text = body.decode("utf-8-sig")  # else UTF-16 would be guessed
        found = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        raise Refused(failure(400, "bad-json", "the body must be JSON in UTF-8")) from None
    if not isinstance(found, dict):
        raise Refused(failure(400, "bad-json", "the body must be a JSON object"))
    _require_shallow(found)
    return found


def _require_shallow(found: Any) -> None:
    """Refuse what is nested so deeply that it could be read and not be written again."""
    level = [found]
    for _ in range(DEEPEST):
        inner = (one.values() if isinstance(one, dict) else one for one in level)
        level = [value for values in inner for value in values if isinstance(value, dict | list)]
        if not level:
            return
    message = f"the body must be nested at most {DEEPEST} deep"
    raise Refused(failure(400, "bad-json", message))


def _no_number(name: str) -> Any:
    raise ValueError("no number of JSON's")


def _finite(digits: str) -> float:
    """A number that can be written again: 1e999 is in JSON's grammar, and is infinite here."""
    value = float(digits)
    return value if isfinite(value) else _no_number(digits)


def read_records(body: bytes, *, most: int) -> tuple[Sequence[Any], bool]:
    """The records of a body, and whether it is one alone."""
    found = read_object(body)
    if found.keys() == {"record"}:
        return [found["record"]], True
    if found.keys() == {"records"} and isinstance(found["records"], list):
        records: list[Any] = found["records"]
        if len(records) > most:
            message = f"a request of this token holds at most {most:,} records"
            raise Refused(failure(413, "batch-too-large", message))
        return records, False
    message = 'the body must be {"record": {…}} or {"records": [{…}, …]}'
    raise Refused(failure(422, "bad-request", message))


def same_request(route: str, records: Sequence[Any]) -> bytes:
    """What is equal for two requests that ask the same, however their JSON is set out."""
    return as_json([route, records], sort=True)


def again(one: Asked, kept: Answer, passed: Sequence[str]) -> Answered:
    """The answer that was kept, if it was to the same request."""
    if one.request != kept.request:
        return failure(
            409, "key-reused", "this idempotency key was used for another request; choose a new one"
        )
    return Answered(200, with_passed(kept.content, one.records, passed), replayed=True)


def with_passed(kept: bytes, records: Sequence[Any], passed: Sequence[str]) -> bytes:
    """An answer whole: what was drawn, and beside it the fields that pass in clear.

    These stand in the request, which is the same each time, so that no original is kept.
    """
    if not passed:
        return kept
    found = json.loads(kept)
    if "release" in found:
        found["release"] = _beside(found["release"], records[0], passed)
    else:
        pairs = zip(found["releases"], records, strict=True)
        found["releases"] = [_beside(drawn, record, passed) for drawn, record in pairs]
    return as_json(found)


def _beside(drawn: dict[str, Any], record: Any, passed: Sequence[str]) -> dict[str, Any]:
    if isinstance(drawn.get("error"), dict):  # not released; what is drawn is never an object
        return drawn
    return {name: record[name] for name in passed if name in record} | drawn


def told_of(problem: RowProblem) -> dict[str, Any]:
    """Why a record was not released."""
    code = "over-budget" if isinstance(problem, BeyondBudget) else "bad-record"
    return {"error": {"code": code, "message": problem.reason}}


def as_json(value: Any, *, sort: bool = False) -> bytes:
    """As JSON, in ASCII."""
    written = json.dumps(
        value, separators=(",", ":"), default=_plain, sort_keys=sort, allow_nan=False
    )
    return written.encode("ascii")


def _plain(value: Any) -> Any:
    return value.item()  # a number of NumPy's
