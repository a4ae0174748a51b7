"""What `voile serve` takes: requests a second and a core, times, memory, kills; beside Presidio.

    python benchmarks/service.py [--only places,ledger,half,text,memory,kills,presidio]

Everything on loopback, each part bounded in requests and in time. The server is `voile serve` in a
process of its own with one worker; requests come from this process over kept-open connections, one
record a request. "A second of the processor" counts the server's own time (user and system, all its
threads), which a shared machine leaves alone; "a second of the clock" is what was reached here.

Prompts are the first 200 words of IMDB reviews of ../shared/data (names from pii_synth stand in
every one where names are counted). Presidio has a REST server of its own that comes as a Docker
image; here its AnalyzerEngine and AnonymizerEngine (as its README shows, over the same spaCy
pipeline) answer behind the same uvicorn, which leaves only its own work.

Writes benchmarks/results/service.md.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "shared" / "data"
OUT = Path(__file__).parent / "results" / "service.md"
TOKEN = "voile_benchmark"
TICKS = os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Server:
    """A server in a session of its own."""

    def __init__(self, folder: Path, tables: str, *, command: Sequence[str] = ()) -> None:
        from voile.service.tokens import token_hash

        self.port = free_port()
        file = folder / "service.toml"
        file.write_text(
            f'voile = 1\n[server]\nport = {self.port}\n[[tokens]]\nname = "b"\n'
            f'sha256 = "{token_hash(TOKEN)}"\nrights = ["places", "text", "chat", "metrics"]\n'
            f"records_per_second = 1e9\nburst = 1000000000\n{tables}\n"
        )
        run = list(command) or [sys.executable, "-m", "voile", "serve", str(file)]
        self.process = subprocess.Popen(
            [word.replace("PORT", str(self.port)) for word in run],
            stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
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

    def cpu(self) -> float:
        """Seconds of the processor so far, of all its threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self) -> float:
        """MiB that are resident."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def end(self, how: int = signal.SIGTERM) -> None:
        """Stop it."""
        os.killpg(self.process.pid, how)
        self.process.wait(60)


def request(route: str, body: Any, key: str = "") -> bytes:
    content = json.dumps(body).encode()
    keyed = f"Idempotency-Key: {key}\r\n" if key else ""
    head = (
        f"POST {route} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {TOKEN}\r\n{keyed}"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


async def exchange(reader: Any, writer: Any, sent: bytes) -> tuple[int, bytes]:
    writer.write(sent)
    head = await reader.readuntil(b"\r\n\r\n")
    found = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    body = await reader.readexactly(int(found[1])) if found else b""
    return int(head[9:12]), body


class Load:
    """Requests over several connections, as fast as answers come or at a given pace."""

    def __init__(self, port: int, make: Callable[[int], bytes], *, connections: int = 32) -> None:
        self.port, self.make, self.connections = port, make, connections
        self.seconds: list[float] = []
        self.statuses: dict[int, int] = {}
        self.bodies: dict[int, bytes] = {}

    def run(self, count: int, *, rate: float | None = None, keep: bool = False) -> float:
        """How long it took."""
        began = time.perf_counter()
        asyncio.run(self._all(count, rate, keep))
        return time.perf_counter() - began

    async def _all(self, count: int, rate: float | None, keep: bool) -> None:
        numbers = iter(range(count))
        began = time.perf_counter() + 0.05

        async def one() -> None:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                for number in numbers:
                    due = began + number / rate if rate else time.perf_counter()
                    if rate:
                        await asyncio.sleep(max(0.0, due - time.perf_counter()))
                    status, body = await exchange(reader, writer, self.make(number))
                    self.seconds.append(time.perf_counter() - due)  # waiting for a place counts
                    self.statuses[status] = self.statuses.get(status, 0) + 1
                    if keep:
                        self.bodies[number] = body
                writer.close()
            except (OSError, asyncio.IncompleteReadError):
                return

        await asyncio.gather(*(one() for _ in range(self.connections)))

    def quantile(self, share: float) -> float:
        """Milliseconds that a share of the requests did not exceed."""
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def measured(server: Server, load: Load, count: int, warm: int = 300) -> tuple[float, float]:
    """Requests a second of the processor, and of the clock."""
    load.run(warm)
    load.seconds.clear()
    load.statuses.clear()
    before = server.cpu()
    seconds = load.run(count)
    assert load.statuses == {200: count}, load.statuses
    return count / (server.cpu() - before), count / seconds


def place(number: int, who: bool) -> dict[str, Any]:
    made = {"lat": 48.80 + number % 97 / 1000, "lon": 2.25 + number % 89 / 1000}
    return {"record": {**made, "who": f"user {number % 10_000}"} if who else made}


def ledger_tables(folder: Path) -> str:
    import voile

    voile.ledger.init(folder / "ledger.db", budget=1e8)
    return (
        f'[places]\nepsilon = 2.0\nperson = "who"\nledger = "{folder}/ledger.db"\n'
        f'ledger_key = "{folder}/ledger.db.key"'
    )


Lines = list[str]


def places(lines: Lines) -> None:
    with tempfile.TemporaryDirectory() as name:
        server = Server(Path(name), "[places]\nepsilon = 2.0")
        for connections in (1, 32):
            load = Load(server.port, lambda n: request("/v1/places", place(n, False)),
                        connections=connections)  # fmt: skip
            cpu, clock = measured(server, load, 2000 if connections == 1 else 6000)
            lines.append(
                f"| places, no ledger, {connections} connections | {cpu:,.0f} | {clock:,.0f} | "
                f"{load.quantile(0.5):.1f} | {load.quantile(0.99):.1f} |"
            )
        load = Load(server.port, lambda n: request("/v1/places", {
            "records": [place(n + k, False)["record"] for k in range(100)]}))  # fmt: skip
        cpu, clock = measured(server, load, 200, 20)
        lines.append(
            f"| places, no ledger, batches of 100 (records) | {100 * cpu:,.0f} | "
            f"{100 * clock:,.0f} | {load.quantile(0.5):.1f} | {load.quantile(0.99):.1f} |"
        )
        server.end()


def _plain(number: int) -> bytes:
    return request("/v1/places", place(number, False))


def _charged(number: int) -> bytes:
    return request("/v1/places", place(number, True))


def _keyed(number: int) -> bytes:
    return request("/v1/places", place(number, True), str(random.random()))


def ledger(lines: Lines) -> None:
    for keyed in (False, True):
        with tempfile.TemporaryDirectory() as name:
            server = Server(Path(name), ledger_tables(Path(name)))
            for connections in (1, 32):
                load = Load(server.port, _keyed if keyed else _charged, connections=connections)
                cpu, clock = measured(server, load, 500 if connections == 1 else 4000)
                lines.append(
                    f"| places, SQLite ledger{', idempotency keys' * keyed}, {connections} "
                    f"connections | {cpu:,.0f} | {clock:,.0f} | {load.quantile(0.5):.1f} | "
                    f"{load.quantile(0.99):.1f} |"
                )
            server.end()


def half(lines: Lines) -> None:
    for what in ("no ledger", "SQLite ledger"):
        with tempfile.TemporaryDirectory() as name:
            who = what != "no ledger"
            tables = ledger_tables(Path(name)) if who else "[places]\nepsilon = 2.0"
            server = Server(Path(name), tables)
            make = _charged if who else _plain
            _, clock = measured(server, Load(server.port, make), 2000)
            rate = clock / 2
            load = Load(server.port, make)
            load.run(int(5 * rate), rate=rate)
            lines.append(
                f"| {what} | {rate:,.0f} | {load.quantile(0.5):.1f} | {load.quantile(0.9):.1f} | "
                f"{load.quantile(0.99):.1f} | {load.quantile(1.0):.1f} |"
            )
            server.end()


def prompts(count: int) -> list[str]:
    """The first 200 words of reviews that have as many."""
    from voile.files.source import open_source

    found: list[str] = []
    for _, row in open_source(DATA / "imdb" / "test.csv.gz").rows():
        words = str(row["text"]).replace("<br />", " ").split()  # type: ignore[index]
        if len(words) >= 200:
            found.append(" ".join(words[:200]))
        if len(found) == count:
            break
    return found


def text(lines: Lines) -> None:
    asked = prompts(1000)
    with tempfile.TemporaryDirectory() as name:
        server = Server(Path(name), "[text]\nepsilon = 8.0")
        load = Load(server.port, lambda n: request("/v1/text", {"record": {
            "text": asked[n % len(asked)]}}))  # fmt: skip
        cpu, clock = measured(server, load, 1000, 100)
        lines.append(
            f"| prompts of 200 words, every word drawn, 32 connections | {cpu:,.0f} | "
            f"{clock:,.0f} | {load.quantile(0.5):.1f} | {load.quantile(0.99):.1f} |"
        )
        server.end()


def memory(lines: Lines) -> None:
    """20,000 requests of one record, then a million records in batches of 100."""
    with tempfile.TemporaryDirectory() as name:
        server = Server(Path(name), "[places]\nepsilon = 2.0")
        one = Load(server.port, lambda n: request("/v1/places", place(n, False)))
        one.run(5000)
        rows = [(5000, server.memory())]
        for step in range(3):
            one = Load(server.port, _plain)
            one.run(5000)
            rows.append((10_000 + 5000 * step, server.memory()))
        body = request("/v1/places", {"records": [place(k, False)["record"] for k in range(100)]})
        many = Load(server.port, lambda n: body)
        for step in range(4):
            many.run(2500)
            rows.append((20_000 + 250_000 * (step + 1), server.memory()))
        server.end()
        lines += [f"| {count:,} | {size:.1f} |" for count, size in rows]


def kills(lines: Lines, rounds: int = 6) -> None:
    from voile.ledger import Ledger, read_key

    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = ledger_tables(folder)
        answered: dict[int, bytes] = {}
        asked = 0
        for number in range(rounds):
            server = Server(folder, tables)
            base = 1000 * number

            def make(n: int, base: int = base) -> bytes:
                where = {"lat": 48.8, "lon": 2.3, "who": f"person {base + n}"}
                return request("/v1/places", {"record": where}, f"key {base + n}")

            load = Load(server.port, make, connections=16)
            at = rng.uniform(0.01, 0.6)
            asyncio.run(_killed(load, server, at))
            answered |= {base + n: body for n, body in load.bodies.items()}
            asked = base + 1000
        with Ledger(str(folder / "ledger.db"), read_key(folder / "ledger.db.key")) as book:
            spent = {n: book.spent(f"person {n}") for n in range(asked)}
        unpaid = sum(spent[n] != 2 * 10**9 for n in answered)
        charged = sum(value > 0 for value in spent.values())
        twice = sum(value > 2 * 10**9 for value in spent.values())
        server = Server(folder, tables)
        paid = [n for n, value in spent.items() if value]

        def again(n: int) -> bytes:
            where = {"lat": 48.8, "lon": 2.3, "who": f"person {paid[n]}"}
            return request("/v1/places", {"record": where}, f"key {paid[n]}")

        load = Load(server.port, again)
        load.run(len(paid), keep=True)
        differ = sum(answered.get(paid[n], body) != body for n, body in load.bodies.items())
        server.end()
        with Ledger(str(folder / "ledger.db"), read_key(folder / "ledger.db.key")) as book:
            more = sum(book.spent(f"person {n}") != 2 * 10**9 for n in paid)
        lines += [
            f"{rounds} servers were killed (SIGKILL) at random moments between 10 and 600 ms of "
            f"load from 16 connections. {len(answered):,} requests were answered, {charged:,} "
            f"charged: answered and not charged {unpaid}, charged twice {twice}. All {len(paid):,} "
            f"that were charged were asked for again under their keys: {len(load.bodies):,} "
            f"answered, another release than before {differ}, charged again {more}."
        ]


async def _killed(load: Load, server: Server, at: float) -> None:
    asked = asyncio.create_task(load._all(1000, None, True))
    await asyncio.sleep(at)
    os.killpg(server.process.pid, signal.SIGKILL)
    await asked
    server.process.wait()


def named_prompts(count: int) -> list[tuple[str, list[str]]]:
    """Sentences with names from pii_synth, filled up to 200 words; the names that stand there."""
    with gzip.open(DATA / "pii_synth" / "synth_dataset_v2.json.gz", "rt", encoding="utf-8") as file:
        rows = json.load(file)
    some = [
        (
            row["full_text"],
            [s["entity_value"] for s in row["spans"] if s["entity_type"] == "PERSON"],
        )
        for row in rows
    ]
    some = [(said, names) for said, names in some if names][:count]
    filling = prompts(len(some))
    made = []
    for (said, names), rest in zip(some, filling, strict=True):
        words = rest.split()[: max(0, 200 - len(said.split()))]
        made.append((said + "\n" + " ".join(words), names))
    return made


def left(text: str, names: Sequence[str]) -> int:
    return sum(bool(re.search(rf"\b{re.escape(name)}\b", text)) for name in names)


def presidio(lines: Lines) -> None:
    asked = named_prompts(200)
    total = sum(len(names) for _, names in asked)
    with tempfile.TemporaryDirectory() as name:
        for what, tables, promise in (
            ("voile, words drawn (ε = 8)", "[text]\nepsilon = 8.0", "ε a word, proved; budgets"),
            ("voile, names by pipeline, words in clear",
             '[text]\npseudonyms = true\nfind = ["patterns"]\nsigns = "keep"',
             "stand-ins tell nothing of what they stand for; what is not found stays"),
        ):  # fmt: skip
            server = Server(Path(name), tables)
            load = Load(server.port, lambda n: request("/v1/text", {"record": {
                "text": asked[n % len(asked)][0]}}), connections=8)  # fmt: skip
            load.run(20)
            before = server.cpu()
            load.run(len(asked), keep=True)
            spent = 1000 * (server.cpu() - before) / len(asked)
            texts = {n: json.loads(b)["release"]["text"] for n, b in load.bodies.items()}
            kept = sum(left(texts[n], asked[n][1]) for n in texts)
            lines.append(f"| {what} | {spent:.1f} | {kept} of {total} | {promise} |")
            server.end()
        code = [sys.executable, __file__, "--presidio-server", "PORT"]
        server = Server(Path(name), "", command=code)
        load = Load(server.port, lambda n: request("/", {"text": asked[n % len(asked)][0]}),
                    connections=8)  # fmt: skip
        load.run(20)
        before = server.cpu()
        load.run(len(asked), keep=True)
        spent = 1000 * (server.cpu() - before) / len(asked)
        texts = {n: json.loads(b)["text"] for n, b in load.bodies.items()}
        kept = sum(left(texts[n], asked[n][1]) for n in texts)
        lines.append(f"| Presidio | {spent:.1f} | {kept} of {total} | none |")
        server.end()


def presidio_server(port: int) -> None:
    """Presidio's two engines behind uvicorn, over the pipeline that voile finds names with."""
    import uvicorn
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    from voile.text.tiers import DEFAULT_PIPELINE, load_pipeline

    class Loaded(SpacyNlpEngine):
        def __init__(self) -> None:
            super().__init__()
            self.nlp = {"en": load_pipeline(DEFAULT_PIPELINE, whole=True)}

    analyzer = AnalyzerEngine(nlp_engine=Loaded(), supported_languages=["en"])
    try:
        from presidio_anonymizer import AnonymizerEngine

        anonymizer = AnonymizerEngine()
    except ImportError:
        anonymizer = None

    def anonymised(text: str) -> str:
        found = analyzer.analyze(text=text, language="en")
        if anonymizer is not None:
            return str(anonymizer.anonymize(text=text, analyzer_results=found).text)
        for one in sorted(found, key=lambda r: -r.start):
            text = text[: one.start] + f"<{one.entity_type}>" + text[one.end :]
        return text

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        loop = asyncio.get_running_loop()
        text = await loop.run_in_executor(None, anonymised, json.loads(body)["text"])
        answer = json.dumps({"text": text}).encode()
        headers = [(b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    uvicorn.run(app, port=port, log_config=None, access_log=False, lifespan="off")


SPEED = "| what | a second of the processor | a second of the clock | median ms | p99 ms |"
PARTS: dict[str, tuple[str, str, Callable[[Lines], None]]] = {
    "places": ("Requests", SPEED, places),
    "ledger": ("Requests with a durable ledger", SPEED, ledger),
    "text": ("Prompts", SPEED, text),
    "half": ("Times at half load", "| what | requests a second | median ms | 90 % | 99 % | all |",
             half),
    "memory": ("Memory", "| records released | resident MiB |", memory),
    "kills": ("Kills", "", kills),
    "presidio": ("Beside Presidio",
                 "| what | processor ms a prompt | names left as they were | promises |", presidio),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--presidio-server", type=int)
    given = parser.parse_args()
    if given.presidio_server:
        presidio_server(given.presidio_server)
        return
    kept = Path(tempfile.gettempdir()) / "voile-benchmark-service"
    kept.mkdir(exist_ok=True)
    for name in given.only.split(","):
        title, head, run = PARTS[name]
        lines: Lines = []
        run(lines)
        load = os.getloadavg()[0]
        table = [head, re.sub(r"[^|]+", " --- ", head)] if head else []
        note = (
            f"Load average of this machine (2 cores, shared) at the end of this part: {load:.1f}."
        )
        (kept / f"{name}.md").write_text("\n".join([f"## {title}", "", *table, *lines, "", note]))
        print((kept / f"{name}.md").read_text(), flush=True)
    found = [(kept / f"{name}.md").read_text() for name in PARTS if (kept / f"{name}.md").exists()]
    about = (__doc__ or "").rpartition("Writes")[0].strip()
    OUT.write_text(f"# The service\n\n{about}\n\n" + "\n\n".join(found) + "\n")


if __name__ == "__main__":
    main()
