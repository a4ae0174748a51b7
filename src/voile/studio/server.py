"""The studio's routes: read the question, ask the screen, answer in JSON."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from voile.errors import InvalidInput, VoileError
from voile.studio.asking import (
    Around,
    Blurred,
    Exactly,
    Law,
    Look,
    OpenPath,
    PlacesLook,
    Preview,
    RoadsOf,
    Task,
    Topic,
    TraceOf,
    read_question,
)
from voile.studio.desk import Desk, Superseded
from voile.studio.security import FRAMED_POLICY, Guard, Keys, problem

KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
LARGEST_QUESTION = 2**20

Question = TypeVar("Question")
Looked = TypeVar("Looked")


@dataclass
class Studio:
    """The desk, the jobs and the keys of one studio."""

    keys: Keys
    desk: Desk = field(default_factory=Desk)
    first: str | None = None
    """What is to be opened as soon as the page asks."""

    def __post_init__(self) -> None:
        self._screens: dict[str, Any] = {}
        self._making = threading.Lock()

    def screen(self, name: str) -> Any:
        """A screen or the jobs, made when it is first asked for: its room is heavy to load."""
        with self._making:  # two questions may be the first
            if name not in self._screens:
                self._screens[name] = _made(name, self.desk)
            return self._screens[name]

    def close(self) -> int:
        """Stop the jobs and clear the desk; how many jobs there were."""
        jobs = 0
        if "jobs" in self._screens:
            self.screen("jobs").stop()
            jobs = len(self.screen("jobs").jobs)
        self.desk.leave()
        return jobs


def _made(name: str, desk: Desk) -> Any:
    if name == "jobs":
        from voile.studio.running import Jobs

        return Jobs(desk.folder)
    if name == "places":
        from voile.studio.places_screen import PlacesScreen

        return PlacesScreen(desk)
    from voile.studio.text_screen import TextScreen

    return TextScreen(desk)


def application(studio: Studio) -> ASGIApp:
    """The studio as an application, behind its guard."""
    asks: dict[str, Callable[[Any], Any]] = {
        "desk": lambda body: _desk(studio),
        "open": lambda body: studio.desk.open_path(read_question(OpenPath, body).path),
        "text/look": lambda body: studio.screen("text").look(_look(body)),
        "text/curves": lambda body: studio.screen("text").curves(_look(body)),
        "text/reader": lambda body: studio.screen("text").reader(_look(body)),
        "text/use": lambda body: studio.screen("text").use(*_about(Topic, body)),
        "text/preview": lambda body: studio.screen("text").preview(*_about(Preview, body)),
        "text/figures": lambda body: studio.screen("text").figures(*_about(Exactly, body)),
        "text/law": lambda body: studio.screen("text").law(*_about(Law, body)),
        "places/look": lambda body: studio.screen("places").look(read_question(PlacesLook, body)),
        "places/blurred": lambda body: studio.screen("places").blurred(*_places(Blurred, body)),
        "places/around": lambda body: studio.screen("places").around(*_places(Around, body)),
        "places/trace": lambda body: studio.screen("places").trace(*_places(TraceOf, body)),
        "places/read": lambda body: studio.screen("places").read(*_places(TraceOf, body)),
        "places/roads": lambda body: studio.screen("places").roads(*_places(RoadsOf, body)),
        "away": lambda body: _away(studio, body),
        "form": _form,
        "run": lambda body: {"job": _run(studio, body)},
        "result": lambda body: _result(studio, body),
        "stop": lambda body: _stop(studio, body),
    }

    async def ask(request: Request) -> Response:
        work = asks.get(request.path_params.get("name", ""))
        if work is None:
            return problem("there is no such question", 404)
        return await _answered(lambda body: run_in_threadpool(work, body), await _body(request))

    async def drop(request: Request) -> Response:
        name = request.query_params.get("name", "dropped.csv")
        return await _answered(lambda _: studio.desk.open_drop(name, request.stream()), None)

    async def watch(request: Request) -> Response:
        from voile.studio.running import events

        try:
            job = studio.screen("jobs").find(request.path_params.get("job", ""))
        except VoileError as refused:
            return problem(str(refused), 404)
        return StreamingResponse(events(job), media_type="text/event-stream")

    async def report(request: Request) -> Response:
        from voile.studio.running import page

        try:
            job = studio.screen("jobs").find(request.path_params.get("job", ""))
            text = await run_in_threadpool(page, job)
        except VoileError as refused:
            return problem(str(refused), 404)
        content = text.encode("utf-8", "replace")
        return HTMLResponse(content, headers={"content-security-policy": FRAMED_POLICY})

    routes = [
        Route("/", lambda request: _front(studio.keys, request)),
        Route("/app/{name}", _asset),
        Route("/api/drop", drop, methods=["POST"]),
        Route("/api/jobs/{job}", watch),
        Route("/api/{name:path}", ask, methods=["POST"]),
        Route("/report/{job}", report),
    ]
    return Guard(Starlette(routes=routes), studio.keys)


class Answer(JSONResponse):  # type: ignore[misc]
    """JSON in ASCII: the name of a file need be no Unicode."""

    def render(self, content: Any) -> bytes:
        """The bytes of it."""
        return json.dumps(content, allow_nan=False).encode("ascii")


async def _body(request: Request) -> Any:
    """The question as JSON; a huge one is not read to its end."""
    content = b""
    async for block in request.stream():
        content += block
        if len(content) > LARGEST_QUESTION:
            return None
    try:
        return json.loads(content or b"{}")
    except (ValueError, RecursionError):  # not JSON, or nested without end
        return None


async def _answered(work: Callable[[Any], Any], body: Any) -> Response:
    """The answer as JSON, or one sentence; never a traceback, which could show data."""
    from voile.report.result import plain

    try:
        return Answer(plain(await work(body)))
    except Superseded:
        return problem("superseded", 409)
    except VoileError as refused:
        return problem(str(refused))
    except OSError as refused:
        return problem(f"the system refused: {refused.strerror or type(refused).__name__}")
    except Exception as fault:
        return problem(f"internal error: {type(fault).__name__}", 500)


# ── answers ────────────────────────────────────────────────────────────────────────────────────


def _desk(studio: Studio) -> dict[str, Any]:
    """What is open; the file of the command line is opened when the page first asks."""
    first, studio.first = studio.first, None
    if first is not None:
        studio.desk.open_path(first)
    return {"opened": studio.desk.opened}


def _look(body: Any) -> Look:
    return read_question(Look, body)


def _about(kind: type[Question], body: Any) -> tuple[Look, Question]:
    """A question about texts that are looked at in some way."""
    return _both(Look, kind, body)


def _places(kind: type[Question], body: Any) -> tuple[PlacesLook, Question]:
    """A question about places that are looked at in some way."""
    return _both(PlacesLook, kind, body)


def _both(looking: type[Looked], kind: type[Question], body: Any) -> tuple[Looked, Question]:
    if not isinstance(body, dict) or set(body) != {"look", "asked"}:
        raise InvalidInput("a question must have look and asked, and nothing else")
    return read_question(looking, body.get("look")), read_question(kind, body.get("asked"))


def _away(studio: Studio, body: Any) -> Any:
    from voile.studio.away import taken_away

    task = read_question(Task, body)
    return taken_away(task.command, task.options, passing=studio.desk.folder)


def _form(body: Any) -> Any:
    from voile.studio.forms import form_of

    return form_of(read_question(Task, body).command)


def _run(studio: Studio, body: Any) -> str:
    task = read_question(Task, body)
    identity: str = studio.screen("jobs").start(task.command, task.options).identity
    return identity


def _result(studio: Studio, body: Any) -> Any:
    """What a finished job found, as `--json` prints it."""
    found = studio.screen("jobs").find(read_question(Task, body).command).result
    if found is None:
        raise InvalidInput("there is no result before the end")
    return found


def _stop(studio: Studio, body: Any) -> dict[str, Any]:
    studio.screen("jobs").find(read_question(Task, body).command).stop()
    return {}


# ── pages ──────────────────────────────────────────────────────────────────────────────────────


def _front(keys: Keys, request: Request) -> Response:
    """The page: with its key for whoever brings the token, without for whoever has the cookie."""
    asked = request.query_params.get("token", "") if request.method == "GET" else ""
    if asked and keys.exchange(asked):  # whoever looks with HEAD has not opened it
        meta = f'<meta name="voile-key" content="{escape(keys.header)}">'
        return HTMLResponse(
            _read("index.html").replace("<!--key-->", meta),
            headers={"set-cookie": keys.set_cookie()},
        )
    if keys.has_cookie(request.headers):
        return HTMLResponse(_read("index.html"))
    return HTMLResponse(_read("closed.html"), 403)


async def _asset(request: Request) -> Response:
    """A script or a style of the package."""
    name = request.path_params.get("name", "")
    if name == "palette.css":
        return Response(_palette(), media_type="text/css")
    kind = KINDS.get(name[name.rfind(".") :])
    there = {one.name for one in files("voile.studio").joinpath("app").iterdir()}
    if kind is None or name not in there:
        return problem("there is no such file", 404)
    return Response(_read(name), media_type=kind)


def _read(name: str) -> str:
    return files("voile.studio").joinpath("app", name).read_text(encoding="utf-8")


def _palette() -> str:
    """The colours of all reports, light and dark."""
    from voile.report.theme import DARK, FONT, LIGHT, variables

    return (
        f":root{{color-scheme:light dark;--font:{FONT};{variables(LIGHT)}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{variables(DARK)}}}}}"
    )
