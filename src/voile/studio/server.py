"""The studio's routes: read the question, ask the screen, answer in JSON."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

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
    Nothing,
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

    async def ask(request: Request) -> Response:
        name = request.path_params.get("name", "")
        if name not in OF_SCREENS and name not in OF_STUDIO:
            return problem("there is no such question", 404)
        return await _answered(
            lambda body: run_in_threadpool(_answer, studio, name, body), await _body(request)
        )

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


def _form(studio: Studio, task: Task) -> Any:
    from voile.studio.forms import form_of

    return form_of(task.command)


def _away(studio: Studio, task: Task) -> Any:
    from voile.studio.away import taken_away

    return taken_away(task.command, task.options, passing=studio.desk.folder)


def _run(studio: Studio, task: Task) -> dict[str, str]:
    return {"job": studio.screen("jobs").start(task.command, task.options).identity}


def _job(studio: Studio, task: Task) -> Any:
    return studio.screen("jobs").find(task.command)


def _result(studio: Studio, task: Task) -> Any:
    """What a finished job found, as `--json` prints it."""
    found = _job(studio, task).result
    if found is None:
        raise InvalidInput("there is no result before the end")
    return found


OF_STUDIO: dict[str, tuple[Any, Callable[[Studio, Any], Any]]] = {
    "desk": (Nothing, lambda studio, _: _desk(studio)),
    "open": (OpenPath, lambda studio, asked: studio.desk.open_path(asked.path)),
    "away": (Task, _away),
    "form": (Task, _form),
    "run": (Task, _run),
    "result": (Task, _result),
    "stop": (Task, lambda studio, task: _job(studio, task).stop()),
}
"""What is asked of the studio: its type, and what answers it."""

OF_SCREENS: dict[str, tuple[Any, Any]] = {
    **{f"text/{name}": (Look, None) for name in ("look", "curves", "reader")},
    "text/use": (Look, Topic),
    "text/preview": (Look, Preview),
    "text/figures": (Look, Exactly),
    "text/law": (Look, Law),
    "places/look": (PlacesLook, None),
    "places/blurred": (PlacesLook, Blurred),
    "places/around": (PlacesLook, Around),
    "places/trace": (PlacesLook, TraceOf),
    "places/read": (PlacesLook, TraceOf),
    "places/roads": (PlacesLook, RoadsOf),
}
"""What is asked of a screen's method: how the file is looked at, and what else is asked of it."""


def _answer(studio: Studio, name: str, body: Any) -> Any:
    if name in OF_STUDIO:
        kind, work = OF_STUDIO[name]
        return work(studio, read_question(kind, body))
    looking, asking = OF_SCREENS[name]
    room, _, method = name.partition("/")
    answer: Callable[..., Any] = getattr(studio.screen(room), method)
    if asking is None:
        return answer(read_question(looking, body))
    if not isinstance(body, dict) or set(body) != {"look", "asked"}:
        raise InvalidInput("a question must have look and asked, and nothing else")
    return answer(
        read_question(looking, body.get("look")), read_question(asking, body.get("asked"))
    )


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
