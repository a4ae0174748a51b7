"""The studio: from its start to the first screen, and how soon a slider is answered.

    python benchmarks/studio.py [--only start,text,behind,places]

Writes benchmarks/results/studio.md; each part keeps its table in studio.jsonl beside it, so that
parts can be run apart.

CPU seconds of the studio's own process, from `/proc`, since a clock says more of what else the
machine does; it is shown beside them. The data are the demo's: its messages and its trips.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from voile.places.sample_trips import write_trips
from voile.text.sample_messages import write_messages

RESULT = Path(__file__).parent / "results" / "studio.md"
SCREEN = (
    *("app.js", "ask.js", "dom.js", "frame.js", "open.js"),
    *("palette.css", "studio.css", "mark.svg"),
)
"""What a browser loads for the first screen."""


class Process:
    """A studio in a process of its own, asked as its page asks."""

    def __init__(self, file: Path) -> None:
        self.begun = time.monotonic()
        self.child = subprocess.Popen(
            [sys.executable, "-m", "voile", "studio", str(file), "--no-browser"],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert self.child.stderr is not None
        line = ""
        while "token=" not in line:
            line = self.child.stderr.readline()
            assert line, "it ended before it was open"
        self.marks = [("address printed", *self.spent())]
        found = re.search(r"127\.0\.0\.1:(\d+)(/\?token=\S+)", line)
        assert found is not None
        self.port = int(found[1])
        self.line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        page, headers = self.get(found[2])
        key = re.search(r'name="voile-key" content="([^"]+)"', page)
        assert key is not None
        self.headers = {
            "cookie": headers["set-cookie"].split(";")[0], "x-voile-key": key[1],
            "origin": f"http://127.0.0.1:{self.port}", "content-type": "application/json",
        }  # fmt: skip
        self.marks.append(("page answered", *self.spent()))
        for name in SCREEN:
            self.get(f"/app/{name}")
        self.ask("desk")
        self.marks.append(("first screen whole, with the file's rows", *self.spent()))

    def spent(self) -> tuple[float, float]:
        """CPU seconds of the process, and seconds since its start."""
        stat = Path(f"/proc/{self.child.pid}/stat").read_text().rsplit(")", 1)[1].split()
        cpu = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
        return cpu, time.monotonic() - self.begun

    def get(self, path: str) -> tuple[str, Any]:
        """A page or a part of it, and its headers."""
        headers = {} if path.startswith("/?") else {"cookie": self.headers["cookie"]}
        self.line.request("GET", path, headers=headers)
        answer = self.line.getresponse()
        assert answer.status == 200, answer.status
        return answer.read().decode(), answer.headers

    def ask(self, name: str, body: Any = None) -> Any:
        """A question of the page, and its answer."""
        self.line.request("POST", f"/api/{name}", json.dumps(body or {}), self.headers)
        answer = self.line.getresponse()
        content = json.loads(answer.read())
        assert answer.status == 200, content
        return content

    def slide(
        self, what: str, name: str, look: Any, asked: list[Any]
    ) -> tuple[str, float, float, float]:
        """A slider's answers, one after the other: median and 95 % in ms, and CPU ms of each."""
        took, before = [], self.spent()[0]
        for one in asked:
            begun = time.monotonic()
            self.ask(name, {"look": look, "asked": one})
            took.append(1000 * (time.monotonic() - begun))
        cpu = 1000 * (self.spent()[0] - before) / len(asked)
        return what, statistics.median(took), float(np.quantile(took, 0.95)), cpu

    def once(self, name: str, body: Any) -> tuple[float, float]:
        """CPU seconds and seconds of one question."""
        cpu, clock = self.spent()
        self.ask(name, body)
        after = self.spent()
        return after[0] - cpu, after[1] - clock

    def close(self) -> None:
        """Ctrl-C."""
        self.child.terminate()
        self.child.wait(30)


def start(file: Path, count: int) -> str:
    """From the process to the first screen."""
    rows = []
    for _ in range(count):
        studio = Process(file)
        studio.close()
        rows.append(studio.marks)
    found = []
    for marks in zip(*rows, strict=True):
        cpu, clock = (statistics.median(mark[k] for mark in marks) for k in (1, 2))
        found.append((marks[0][0], f"{cpu:.2f}", f"{clock:.2f}"))
    return table((f"start (median of {count}): to", "CPU s", "s on the clock"), found)


def text(file: Path, count: int) -> str:
    """A slider over texts."""
    look = {"column": "text"}
    strengths = np.geomspace(0.8, 10, count).round(3).tolist()
    studio = Process(file)
    try:
        studio.ask("text/look", look)
        studio.ask("text/preview", {"look": look, "asked": {"epsilon": 5.0}})  # kernels compile
        rows = [
            studio.slide("preview of five texts", "text/preview", look,
                         [{"epsilon": e} for e in strengths]),
            studio.slide("the law of a word", "text/law", look,
                         [{"word": 40 + k, "epsilon": 3.0} for k in range(count)]),
        ]  # fmt: skip
    finally:
        studio.close()
    return slides("text", rows)


def behind(file: Path, count: int) -> str:
    """What is worked out behind the page of texts once, and what follows when a slider rests."""
    look = {"column": "text"}
    studio = Process(file)
    try:
        once = (
            ("vocabulary and texts read", "text/look", look),
            ("curves: words kept, watched, meaning lost", "text/curves", look),
            ("curve of the exact reader", "text/reader", look),
            ("curve of use: topics by a column", "text/use",
             {"look": look, "asked": {"label": "topic"}}),
            ("exact figures at one ε, once it rests", "text/figures",
             {"look": look, "asked": {"epsilon": 3.0, "reader": True}}),
        )  # fmt: skip
        told = [(name, *studio.once(path, body)) for name, path, body in once]
    finally:
        studio.close()
    rows = [(name, f"{cpu:.1f}", f"{clock:.1f}") for name, cpu, clock in told]
    return table(("text, behind the page", "CPU s", "s on the clock"), rows)


def places(file: Path, count: int) -> str:
    """A slider over places, alone and by traces."""
    look = {"lat": "lat", "lon": "lon", "trace": "vehicle"}
    metres = np.geomspace(60, 9000, count).round().astype(int).tolist()
    alone = [{"mean_error": f"{m}m"} for m in metres]
    trace = [{"name": "v002", "epsilon": 5.0 + k} for k in range(count)]
    studio = Process(file)
    try:
        studio.ask("places/look", look)
        rows = [
            studio.slide("600 places at a mean error", "places/blurred", look, alone),
            studio.slide("the same by traces", "places/blurred", look,
                         [{**one, "per": "trace", "name": "v002"} for one in alone]),
            studio.slide("400 draws around a click", "places/around", look,
                         [{"lat": 45.0, "lon": 5.0, "epsilon": 0.3 * (k + 1)}
                          for k in range(count)]),
            studio.slide("one trace", "places/trace", look, trace),
        ]  # fmt: skip
        read = studio.once("places/read", {"look": look, "asked": trace[0]})
    finally:
        studio.close()
    return (
        f"{slides('places', rows)}\n\nA reader of a whole trace of 12 places, who knows 30 others: "
        f"{read[0]:.1f} CPU s."
    )


def table(head: tuple[str, ...], rows: Any) -> str:
    """As Markdown."""
    lines = (head, ("---",) * len(head), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def slides(what: str, rows: list[tuple[str, float, float, float]]) -> str:
    """Answers to a slider."""
    told = [(name, *(f"{value:.0f}" for value in values)) for name, *values in rows]
    return table((f"{what}, a slider's question", "median ms", "95 % below, ms", "CPU ms"), told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="start,text,behind,places")
    parser.add_argument("--count", type=int, default=40)
    given = parser.parse_args()
    kept = RESULT.with_suffix(".jsonl")
    cells = dict(map(json.loads, kept.read_text().splitlines())) if kept.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        messages = write_messages(Path(folder) / "messages.csv")
        trips = write_trips(Path(folder) / "trips.csv")
        parts = {
            "start": lambda: start(messages, 5),
            "text": lambda: text(messages, given.count),
            "behind": lambda: behind(messages, given.count),
            "places": lambda: places(trips, given.count),
        }
        for name in given.only.split(","):
            cells[name] = f"{parts[name]()}\n\n(load {os.getloadavg()[0]:.1f} at the end)"
            kept.write_text("".join(json.dumps(cell) + "\n" for cell in cells.items()))
    about = (
        f"# The studio\n\n`python benchmarks/studio.py`, the demo's 400 messages and 720 trips, "
        f"{given.count} answers one after the other to each slider; {os.cpu_count()} processors "
        "shared with other work: the CPU columns are the ones to read."
    )
    told = [cells[name] for name in parts if name in cells]
    RESULT.write_text("\n\n".join((about, *told)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
