"""Ledgers to test: in a file, and on a real PostgreSQL server that is started for the tests."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from voile.ledger import Key


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def postgres_programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    program = shutil.which("initdb")
    return Path(program).parent if program else None


@pytest.fixture(scope="session")
def postgres_server():
    """A fresh server in a folder of its own; it refuses to run as root, so another user runs it."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server here: apt-get install postgresql")
    pytest.importorskip("psycopg")
    folder = Path(tempfile.mkdtemp(prefix="voile-postgres-"))
    prefix: list[str] = []
    if os.geteuid() == 0:
        try:
            user = pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("running as root without a user postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
        prefix = ["runuser", "-u", "postgres", "--"]
    data, port = folder / "data", free_port()

    def run(*command: str) -> None:
        done = subprocess.run([*prefix, *command], cwd="/", capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    run(str(programs / "initdb"), "-D", str(data), "-U", "voile", "--auth=trust", "-E", "UTF8",
        "--no-sync")  # fmt: skip
    control = str(programs / "pg_ctl")
    # Killed are processes here, never the machine: what the system holds need not be synced.
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    run(control, "-D", str(data), "-o", options, "-l", str(folder / "log"), "-w", "start")
    yield f"postgresql://voile@127.0.0.1:{port}/"
    run(control, "-D", str(data), "-m", "immediate", "-w", "stop")
    shutil.rmtree(folder, ignore_errors=True)


_NUMBERS = itertools.count()


@pytest.fixture
def postgres(postgres_server):
    """An address with a schema of its own."""
    import psycopg

    name = f"test_{os.getpid()}_{next(_NUMBERS)}"
    with psycopg.connect(postgres_server + "postgres", autocommit=True) as database:
        database.execute(f"CREATE SCHEMA {name}")
    return f"{postgres_server}postgres?options=-csearch_path%3D{name}"


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path):
    """An address where a ledger can be made, of both sorts."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    return request.getfixturevalue("postgres")


@pytest.fixture
def key():
    return Key(bytes(range(32)))
