"""What `voile serve` takes: requests a second and a core, times, memory, kills; beside Presidio.

    python benchmarks/service.py --only places,ledger,text,half,long      (under 5 minutes)
    python benchmarks/service.py --only memory --requests 1000000
    python benchmarks/service.py --only kills,image
    python benchmarks/service.py --only presidio --presidio CHECKOUT --presidio-python PYTHON

Everything on loopback, each part bounded in requests and in time; parts that are not run keep
their place in benchmarks/results/service.md. The server is `voile serve` in a process of its own
with one worker; requests come from another one (benchmarks/service_load.py) over kept-open
connections, one record a request unless it says otherwise. "A second of the processor" counts the
server's own time (user and system, all its threads), which a shared machine leaves alone; "a second
of the clock" is what was reached here.

Times at half load: requests come at a fixed rate, half of what the same server took just before
from 32 connections as fast as it could, and a request's time counts from when it was due, whatever
the server or the requesting process did meanwhile. How late that process itself was is said beside.

Prompts are the first 200 words of IMDB reviews of ../shared/data; where names are counted, each
begins with one of the 637 sentences of pii_synth that have some. Presidio is its two own Flask
services from a checkout (`app.py` of presidio-analyzer and presidio-anonymizer) as its image starts
them, by gunicorn with one worker each, over the spaCy pipeline that voile finds names with:
`/analyze`, then `/anonymize` with what that found.

Writes benchmarks/results/service.md.
"""

from __future__ import annotations

import argparse
import atexit
import gzip
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from service_load import TOKEN, place, request

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
OUT = ROOT / "benchmarks" / "results" / "service.md"
TICKS = os.sysconf("SC_CLK_TCK")
PLACES, TEXT = "[places]\nepsilon = 2.0", "[text]\nepsilon = 3.0"

Lines = list[str]
Told = dict[str, Any]


# ── servers and loads ──────────────────────────────────────────────────────────────────────────


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Server:
    """A server in a session of its own."""

    def __init__(
        self, folder: Path, tables: str = "", *, command: Sequence[str] = (),
        env: Mapping[str, str] | None = None, at: str | Path | None = None,
    ) -> None:  # fmt: skip
        from voile.service.tokens import token_hash

        self.port = free_port()
        (folder / "service.toml").write_text(
            f'voile = 1\n[server]\nport = {self.port}\n[[tokens]]\nname = "b"\n'
            f'sha256 = "{token_hash(TOKEN)}"\nrights = ["places", "text", "chat", "metrics"]\n'
            f"records_per_second = 1e9\nburst = 1000000000\n{tables}\n"
        )
        run = list(command) or [sys.executable, "-m", "voile", "serve", "service.toml"]
        self.process = subprocess.Popen(
            [word.replace("PORT", str(self.port)) for word in run], cwd=at or folder, env=env,
            stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        atexit.register(self.end, signal.SIGKILL)  # whatever ends this program
        until = time.monotonic() + 240
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit("the server did not start") from None
                time.sleep(0.1)
        time.sleep(0.5)

    def get(self, route: str) -> str:
        """What a route says."""
        asked = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{route}", headers={"authorization": f"Bearer {TOKEN}"}
        )
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return str(answer.read().decode())

    def commits(self) -> int:
        """Of its ledger, so far."""
        found = re.search(r"^voile_ledger_commits_total (\d+)", self.get("/metrics"), re.M)
        return int(found[1]) if found else 0

    def cpu(self) -> float:
        """Seconds of the processor so far, of all its threads and processes."""
        listed = subprocess.run(
            ["ps", "-o", "pid=", "--sid", str(self.process.pid)], capture_output=True, text=True
        )
        total = 0
        for pid in listed.stdout.split():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        return total / TICKS

    def memory(self) -> float:
        """MiB that are resident."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def end(self, how: int = signal.SIGTERM) -> int:
        """Stop it."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, how)
        return self.process.wait(60)


def begin_load(*streams: Told) -> subprocess.Popen[str]:
    made = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("service_load.py"))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert made.stdin is not None
    made.stdin.write(json.dumps(streams))
    made.stdin.close()
    return made


def end_load(made: subprocess.Popen[str]) -> list[Told]:
    assert made.stdout is not None
    told = json.loads(made.stdout.read())
    made.wait()
    return list(told["streams"])


def load(*streams: Told) -> list[Told]:
    """What each stream met."""
    return end_load(begin_load(*streams))


def measured(server: Server, kind: str, count: int, **more: Any) -> tuple[float, float, Told]:
    """Requests a second of the processor, of the clock, and their times."""
    start = random.randrange(10**9)
    stream = {"kind": kind, "port": server.port, "connections": 32, **more}
    load({**stream, "count": 300, "start": start + 10**9})
    cpu, commits = server.cpu(), server.commits()
    (told,) = load({**stream, "count": count, "start": start})
    assert told["statuses"] == {"200": count}, told["statuses"]
    told["commits"] = server.commits() - commits
    return count / (server.cpu() - cpu), count / told["took"], told


def speed(what: str, cpu: float, clock: float, told: Told, each: int = 1) -> str:
    return (
        f"| {what} | {each * cpu:,.0f} | {each * clock:,.0f} | {told['p50']:.1f} | "
        f"{told['p99']:.1f} |"
    )


def ledger_tables(folder: Path) -> str:
    import voile

    voile.ledger.init(folder / "ledger.db", budget=1e8)
    return f'{PLACES}\nperson = "who"\nledger = "ledger.db"\nledger_key = "ledger.db.key"'


def sync_ms(folder: Path, *, grows: bool) -> float:
    """How long this disk takes to sync 8 kB, at the median of 100."""
    file = os.open(folder / "sync", os.O_CREAT | os.O_WRONLY)
    took = []
    for number in range(100):
        os.pwrite(file, b"x" * 8192, 8192 * number if grows else 0)
        began = time.perf_counter()
        os.fdatasync(file)
        took.append(time.perf_counter() - began)
    os.close(file)
    return 1000 * float(np.median(took))


# ── parts ──────────────────────────────────────────────────────────────────────────────────────


def places(lines: Lines, folder: Path) -> None:
    server = Server(folder, PLACES)
    for connections in (1, 32):
        found = measured(server, "places", 2000 if connections == 1 else 12_000,
                         connections=connections)  # fmt: skip
        lines.append(speed(f"places, no ledger, {connections} connections", *found))
    found = measured(server, "batches", 400)
    lines.append(speed("places, no ledger, batches of 100 (records)", *found, each=100))
    server.end()


def ledger(lines: Lines, folder: Path) -> None:
    server = Server(folder, ledger_tables(folder))
    said = []
    for kind, keyed in (("charged", ""), ("keyed", ", idempotency keys")):
        for connections in (1, 32, 64):
            count = 400 if connections == 1 else 6000
            found = measured(server, kind, count, connections=connections)
            lines.append(speed(f"places, SQLite ledger{keyed}, {connections} connections", *found))
            said.append(f"{count / found[2]['commits']:.1f}")
    server.end()
    lines += [
        "",
        f"Requests a commit, in the order of the rows: {', '.join(said)}. A sync of 8 kB takes this"
        f" disk {sync_ms(folder, grows=False):.1f} ms where a file is written over, as SQLite's log"
        f" is, and {sync_ms(folder, grows=True):.1f} ms where it grows (medians of 100, after "
        "these rows). A commit is one sync (WAL, synchronous = FULL); the note beside the key is "
        "another, once a second.",
    ]


def prompts(count: int, words: int = 200) -> list[str]:
    """The first words of reviews, or of several reviews together."""
    from voile.files.source import open_source

    found: list[str] = []
    gathered: list[str] = []
    for _, row in open_source(DATA / "imdb" / "test.csv.gz").rows():
        own = str(row["text"]).replace("<br />", " ").split()  # type: ignore[index]
        if words > 200:
            gathered += own
        elif len(own) >= words:
            gathered = own
        if len(gathered) >= words:
            found.append(" ".join(gathered[:words]))
            gathered = []
        if len(found) == count:
            break
    return found


def text(lines: Lines, folder: Path) -> None:
    for epsilon in (3, 8):
        server = Server(folder, f"[text]\nepsilon = {epsilon}")
        for connections in (1, 32):
            count = 300 if connections == 1 else 1500
            found = measured(server, "text", count, texts=prompts(1000), connections=connections)
            what = f"prompts of 200 words, every word drawn at ε = {epsilon}"
            lines.append(speed(f"{what}, {connections} connections", *found))
        server.end()


def at_rate(server: Server, kind: str, rate: float, seconds: float, **more: Any) -> Told:
    return {"kind": kind, "port": server.port, "count": int(rate * seconds), "rate": rate, **more}


def waits(told: Told) -> str:
    times = " | ".join(f"{told[name]:.1f}" for name in ("p50", "p90", "p99", "all", "late"))
    assert (set(told["statuses"]), told["lost"]) == ({"200"}, 0), told["statuses"]
    return times


def half(lines: Lines, folder: Path) -> None:
    for what, kind, tables, count, more in (
        ("places, no ledger", "places", PLACES, 6000, {}),
        ("places, SQLite ledger", "charged", ledger_tables(folder), 4000, {}),
        ("prompts of 200 words", "text", TEXT, 800, {"texts": prompts(500)}),
    ):
        server = Server(folder, tables)
        _, clock, _ = measured(server, kind, count, **more)
        (told,) = load(at_rate(server, kind, clock / 2, 10, **more))
        lines.append(f"| {what} | {clock / 2:,.0f} | {waits(told)} |")
        server.end()


def long(lines: Lines, folder: Path) -> None:
    """Brief requests alone, and while texts of 5,000 words come and keep half a core busy."""
    server = Server(folder, f"{PLACES}\n{TEXT}")
    brief, texts = prompts(200), prompts(40, words=5000)
    load({"kind": "text", "port": server.port, "count": 4, "connections": 1, "texts": texts})
    (alone,) = load({"kind": "text", "port": server.port, "count": 10, "connections": 1,
                     "texts": texts})  # fmt: skip
    rate = 0.5 / (alone["took"] / 10)
    for what, kind, own, more in (
        ("places", "places", 200.0, {}), ("prompts of 200 words", "text", 40.0, {"texts": brief}),
    ):  # fmt: skip
        (told,) = load(at_rate(server, kind, own, 8, **more))
        lines.append(f"| {what}, alone | {own:,.0f} | {waits(told)} |")
        told, behind = load(
            at_rate(server, kind, own, 10, **more),
            at_rate(server, "text", rate, 10, texts=texts),
        )
        lines.append(
            f"| {what}, while {rate:.1f} texts of 5,000 words come a second (median "
            f"{behind['p50']:.0f} ms each) | {own:,.0f} | {waits(told)} |"
        )
    server.end()


def memory(lines: Lines, folder: Path, requests: int = 100_000) -> None:
    """So many requests of one record, with what is resident after every 10,000."""
    for what, kind, tables in (
        ("no ledger", "places", PLACES), ("SQLite ledger", "charged", ledger_tables(folder)),
    ):  # fmt: skip
        server = Server(folder, tables)
        load({"kind": kind, "port": server.port, "count": 10_000})
        rows = [(10_000, server.memory())]
        while rows[-1][0] < requests:
            load({"kind": kind, "port": server.port, "count": 10_000})
            rows.append((rows[-1][0] + 10_000, server.memory()))
        server.end()
        asked, sizes = np.array(rows, dtype=float).T
        later = len(rows) // 2
        x, y = asked[later:] / 1e6, sizes[later:]
        slope, level = np.polyfit(x, y, 1)
        spread = np.sqrt(((y - slope * x - level) ** 2).sum() / max(1, len(x) - 2))
        error = spread / np.sqrt(((x - x.mean()) ** 2).sum())
        shown = [rows[i] for i in np.unique(np.linspace(0, len(rows) - 1, 6).astype(int))]
        lines.append(
            f"| {what} | {rows[-1][0]:,} | "
            + "; ".join(f"{count:,}: {size:.1f}" for count, size in shown)
            + f" | {slope:+.1f} ± {2 * error:.1f} |"
        )


def kills(lines: Lines, folder: Path, rounds: int = 10) -> None:
    from voile.ledger import Ledger, read_key

    rng = random.Random(0)
    tables, once = ledger_tables(folder), 2 * 10**9
    answered: dict[int, str] = {}

    def spent() -> dict[int, int]:
        with Ledger(str(folder / "ledger.db"), read_key(folder / "ledger.db.key")) as book:
            return {n: book.spent(f"person {n}") for n in range(1000 * rounds)}

    for number in range(rounds):
        server = Server(folder, tables)
        stream = {"kind": "keyed", "port": server.port, "count": 1000, "start": 1000 * number,
                  "connections": 16, "keep": True}  # fmt: skip
        before = server.commits()
        going = begin_load(stream)
        while server.commits() == before:
            time.sleep(0.002)
        time.sleep(rng.uniform(0.0, 0.3))
        server.end(signal.SIGKILL)
        (told,) = end_load(going)
        answered |= {1000 * number + int(n): body for n, body in told["bodies"].items()}
    charged = spent()
    unpaid = sum(charged[n] != once for n in answered)
    paid = [n for n, value in charged.items() if value]
    unanswered = [n for n in paid if n not in answered]
    server = Server(folder, tables)
    asked = [
        request("/v1/places", {"record": place(n, f"person {n}")}, f"key {n}").decode()
        for n in paid
    ]
    (told,) = load({"kind": "raw", "port": server.port, "count": len(paid), "texts": asked,
                    "keep": True})  # fmt: skip
    first = {paid[int(n)]: body for n, body in told["bodies"].items()}
    (told,) = load({"kind": "raw", "port": server.port, "count": len(paid), "texts": asked,
                    "keep": True})  # fmt: skip
    second = {paid[int(n)]: body for n, body in told["bodies"].items()}
    server.end()
    after = spent()
    differ = sum(first.get(n) != body for n, body in answered.items())
    fetched = sum("release" in first.get(n, "") for n in unanswered)
    changed = sum(first.get(n) != second.get(n) for n in unanswered)
    lines += [
        f"{rounds} servers were killed (SIGKILL) at random moments of load from 16 connections, "
        f"each request with a key. Answered {len(answered):,}, charged {len(paid):,}; answered and "
        f"not charged {unpaid}, charged twice {sum(v > once for v in charged.values())}.",
        "",
        f"Asked for again under their keys after a restart: of the {len(unanswered)} that were "
        f"charged and whose answer the kill cut off, {fetched} got theirs, the same each time they "
        f"asked ({changed} differed); of the {len(answered):,} that had been answered, {differ} got"
        f" another release. Charged again: {sum(after[n] != once for n in paid)}. So with keys "
        f"answered = charged: {len(set(answered) | {n for n in unanswered if n in first}):,} and "
        f"{sum(v > 0 for v in after.values()):,}.",
    ]


def named_prompts(count: int) -> list[tuple[str, list[str]]]:
    """Sentences with names from pii_synth, filled up to 200 words; the names that stand there."""
    with gzip.open(DATA / "pii_synth" / "synth_dataset_v2.json.gz", "rt", encoding="utf-8") as file:
        rows = json.load(file)
    some = []
    for row in rows:
        names = [s["entity_value"] for s in row["spans"] if s["entity_type"] == "PERSON"]
        if names:
            some.append((row["full_text"], names))
    made = []
    for number, rest in enumerate(prompts(count)):
        said, names = some[number % len(some)]
        words = rest.split()[: max(0, 200 - len(said.split()))]
        made.append((said + "\n" + " ".join(words), names))
    return made


def left(released: Mapping[int, str], asked: Sequence[tuple[str, list[str]]]) -> int:
    return sum(
        bool(re.search(rf"\b{re.escape(name)}\b", text))
        for n, text in released.items()
        for name in asked[n][1]
    )


def presidio(lines: Lines, folder: Path, checkout: str = "", python: str = "") -> None:
    from voile.packaged import SPACY_ENGLISH

    if not checkout:
        raise SystemExit("--presidio must name a checkout of Presidio")
    asked = named_prompts(1000)
    texts = [said for said, _ in asked]
    total = sum(len(names) for _, names in asked)

    def row(what: str, spent: float, released: Mapping[int, str], promise: str) -> str:
        return (
            f"| {what} | {1000 * spent / len(released):.1f} | {left(released, asked)} of {total} | "
            f"{promise} |"
        )

    for what, tables, promise in (
        ("voile, every word drawn (ε = 3)", TEXT, "ε a word, proved; what each person spent"),
        ("voile, stand-ins for what is found",
         '[text]\npseudonyms = true\nfind = ["patterns"]\nsigns = "keep"',
         "a stand-in tells nothing of what it stands for; what is not found stays in clear"),
    ):  # fmt: skip
        server = Server(folder, tables)
        stream = {"kind": "text", "port": server.port, "texts": texts, "connections": 8}
        load({**stream, "count": 20})
        before = server.cpu()
        (told,) = load({**stream, "count": len(asked), "keep": True})
        spent = server.cpu() - before
        server.end()
        released = {int(n): json.loads(b)["release"]["text"] for n, b in told["bodies"].items()}
        lines.append(row(what, spent, released, promise))
    model = str(SPACY_ENGLISH.checked())
    (folder / "nlp.yaml").write_text(
        "nlp_engine_name: spacy\nmodels:\n- lang_code: en\n  model_name: " + model + "\n"
    )
    env = {**os.environ, "NLP_CONF_FILE": str(folder / "nlp.yaml"), "PYTHONPATH": ""}
    run = [python or sys.executable, "-m", "gunicorn", "-w", "1", "-b", "127.0.0.1:PORT",
           "app:create_app()"]  # fmt: skip
    analyzer, anonymizer = (
        Server(folder, command=run, env=env, at=Path(checkout) / f"presidio-{name}")
        for name in ("analyzer", "anonymizer")
    )
    stream = {"kind": "analyze", "port": analyzer.port, "texts": texts, "connections": 1}
    load({**stream, "count": 5})
    before = analyzer.cpu() + anonymizer.cpu()
    (told,) = load({**stream, "count": len(asked), "keep": True})
    assert told["statuses"] == {"200": len(asked)}, told["statuses"]
    found = {int(n): json.loads(body) for n, body in told["bodies"].items()}
    bodies = [
        request("/anonymize", {"text": texts[n], "analyzer_results": found[n]}).decode()
        for n in sorted(found)
    ]
    (told,) = load({"kind": "raw", "port": anonymizer.port, "texts": bodies, "connections": 1,
                    "count": len(bodies), "keep": True})  # fmt: skip
    assert told["statuses"] == {"200": len(asked)}, told["statuses"]
    spent = analyzer.cpu() + anonymizer.cpu() - before
    released = {
        number: json.loads(told["bodies"][str(place)])["text"]
        for place, number in enumerate(sorted(found))
    }
    promise = "nothing: “no guarantee that Presidio will find all sensitive information”"
    lines.append(row("Presidio's REST services", spent, released, promise))
    analyzer.end()
    anonymizer.end()


def image(lines: Lines, folder: Path) -> None:
    """The Dockerfile's own steps in an empty folder with an environment of its own."""
    steps = (ROOT / "deploy" / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    steps = [step for step in steps if step and step[0] != "#"]
    done, env = (
        [],
        {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
    )
    home, source, python = folder / "home", folder / "src", folder / "python"
    home.mkdir(mode=0o700)
    subprocess.run([sys.executable, "-m", "venv", str(python)], check=True)
    command: list[str] = []
    healthy = ""
    for step in steps:
        word, _, rest = step.partition(" ")
        if word == "COPY":
            *names, target = rest.split()
            for name in names:
                to = Path(target.replace("/src", str(source), 1))
                to = to / name if target.endswith("/") else to
                to.parent.mkdir(parents=True, exist_ok=True)
                if (ROOT / name).is_dir():
                    shutil.copytree(ROOT / name, to, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(ROOT / name, to)
        elif word == "RUN" and "pip install" in rest:
            install = rest.partition(" && ")[0].replace("/src", str(source))
            subprocess.run(
                f"{python}/bin/{install} -q", shell=True, check=True, env=env, cwd=folder,
                stderr=subprocess.DEVNULL,
            )  # fmt: skip
            shutil.rmtree(source)
        elif word == "ENV":
            env |= dict(
                pair.replace("/var/lib/voile", str(home)).split("=", 1) for pair in rest.split()
            )
        elif word in ("ENTRYPOINT", "CMD"):
            command += json.loads(rest)
        elif word == "HEALTHCHECK":
            healthy = json.loads(rest[rest.index("[") :])[2]
        else:
            done.append(f"{word} (not here)")
            continue
        done.append(word)
    command[0] = str(python / "bin" / command[0])
    server = Server(home, PLACES, command=command, env=env, at=home)
    check = healthy.replace("8787", str(server.port))
    subprocess.run([str(python / "bin" / "python"), "-c", check], check=True, timeout=30)
    (told,) = load({"kind": "places", "port": server.port, "count": 200, "connections": 4})
    version = subprocess.run([str(python / "bin" / "python"), "--version"], capture_output=True,
                             text=True).stdout.strip()  # fmt: skip
    code = server.end()
    lines.append(
        f"No builder of images runs here (a client without its daemon), so the steps of "
        f"deploy/Dockerfile were read from it and done in an empty folder, with {version} in the "
        f"place of its base image: {', '.join(done)}. The server that its ENTRYPOINT starts was "
        f"healthy by its HEALTHCHECK, answered {told['answered']} of 200 requests, and ended with "
        f"status {code} on its STOPSIGNAL."
    )


SPEED = "| what | a second of the processor | a second of the clock | median ms | p99 ms |"
TIMES = "| what | requests a second | median ms | 90 % | 99 % | all | requests sent late, 99 % |"
PARTS: dict[str, tuple[str, str, Callable[..., None]]] = {
    "places": ("Requests", SPEED, places),
    "ledger": ("Requests with a durable ledger", SPEED, ledger),
    "text": ("Prompts", SPEED, text),
    "half": ("Times at half load", TIMES, half),
    "long": ("Brief requests beside long ones", TIMES, long),
    "memory": ("Memory",
               "| what | requests of one record | resident MiB after so many | MiB a million more, "
               "by the slope of the second half |", memory),
    "kills": ("Kills", "", kills),
    "image": ("The image's steps", "", image),
    "presidio": ("Beside Presidio, on 1,000 prompts",
                 "| what | processor ms a prompt | names left as they were | promises |", presidio),
}  # fmt: skip


def kept_sections() -> dict[str, str]:
    """What earlier runs wrote, by title."""
    if not OUT.exists():
        return {}
    _, *sections = re.split(r"^## ", OUT.read_text(), flags=re.M)
    return {found.partition("\n")[0]: "## " + found.strip() for found in sections}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="places,ledger,text,half,long")
    parser.add_argument("--requests", type=int, default=100_000, help="of the part on memory")
    parser.add_argument("--presidio", default="")
    parser.add_argument("--presidio-python", default="")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    more: dict[str, dict[str, Any]] = {
        "memory": {"requests": given.requests},
        "presidio": {"checkout": given.presidio, "python": given.presidio_python},
    }
    for name in given.only.split(","):
        title, head, run = PARTS[name]
        lines: Lines = []
        before = os.getloadavg()[0]
        with tempfile.TemporaryDirectory() as folder:
            run(lines, Path(folder), **more.get(name, {}))
        table = [head, re.sub(r"[^|]+", " --- ", head)] if head else []
        note = (
            f"Load average of this machine ({os.cpu_count()} cores) before and after this part: "
            f"{before:.1f}, {os.getloadavg()[0]:.1f}."
        )
        sections = kept_sections()
        sections[title] = "\n".join([f"## {title}", "", *table, *lines, "", note])
        print(sections[title], flush=True)
        about = (__doc__ or "").rpartition("Writes")[0].strip()
        ordered = [sections[title] for title, _, _ in PARTS.values() if title in sections]
        OUT.write_text(f"# The service\n\n{about}\n\n" + "\n\n".join(ordered) + "\n")


if __name__ == "__main__":
    main()
