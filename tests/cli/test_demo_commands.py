"""The demo, run for once with what `make demo` installs: what it prints is what it did."""

import inspect
import json
import shlex
import subprocess
import sys
from functools import wraps
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner

import voile
from cli.demo_alone import INSTALLED, SEED
from voile.cli.commands import command
from voile.demo.rooms import ROOMS, missing
from voile.options import case_of
from voile.report.result import plain
from voile.surface import names, use_case_named

jsonschema = pytest.importorskip("jsonschema", reason="the dev extra is not installed")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """One run: what was said, the calls that were made, and the folder with all files."""
    for name, room in ROOMS.items():
        if missing(name, room.needs):
            pytest.skip(missing(name, room.needs))
    folder = tmp_path_factory.mktemp("demo")
    program = Path(__file__).with_name("demo_alone.py")
    run = subprocess.run(
        [sys.executable, program, folder], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    return SimpleNamespace(**json.loads(run.stdout), folder=folder, summary=summary)


class Stop(Exception):
    """The command was understood; nothing is run."""


def understood(line):
    """The use case of a command line and all its options, as the command line reads them."""
    words = shlex.split(line)
    assert words[0] == "voile"
    name = max((n for n in names() if words[1:][: len(n.split())] == n.split()), key=len)
    use_case, heard = use_case_named(name), {}

    @wraps(use_case)
    def stopped(**given):
        heard.update(given)
        raise Stop

    app = typer.Typer()
    app.command()(command(stopped))
    result = CliRunner().invoke(app, words[1 + len(name.split()) :])
    assert isinstance(result.exception, Stop), (line, result.output)
    return name, complete(name, heard)


def complete(name, given, folder=""):
    """Given options and the defaults of the others, files by their place in the folder."""
    parameters = case_of(use_case_named(name)).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}
    return {key: _local(plain(value), folder) for key, value in {**defaults, **given}.items()}


def _local(value, folder):
    if isinstance(value, list):
        return [_local(inner, folder) for inner in value]
    return value.removeprefix(f"{folder}/") if isinstance(value, str) and folder else value


def test_a_printed_command_is_the_call_that_was_made(done):
    """Read by the command line, it has the options of the call, down to the last digit."""
    printed = [line.removeprefix("  $ ") for line in done.said.splitlines() if line[:4] == "  $ "]
    assert len(printed) == len(done.calls) == len(done.summary["steps"]) >= 16
    for line, call in zip(printed, done.calls, strict=True):
        assert understood(line) == (
            call["name"],
            complete(call["name"], call["given"], done.folder),
        ), line


def test_another_option_than_the_one_that_ran_is_noticed():
    ran = complete("labels audit", {"data": "a/clinic.csv", "label": "x", "epsilon": [0.5]}, "a")
    assert understood("voile labels audit clinic.csv --label x --epsilon 0.5")[1] == ran
    for wrong in ("--label x --epsilon 0.50001", "--label x", "--label y --epsilon 0.5"):
        assert understood(f"voile labels audit clinic.csv {wrong}")[1] != ran


def test_what_is_told_is_the_answer_of_the_step_s_own_report(done):
    said = " ".join(done.said.split())
    for step in done.summary["steps"]:
        assert all(" ".join(line.split()) in said for line in step["found"]), step["title"]


def test_every_room_was_entered_without_another_extra(done):
    """The run had no module of another extra: no torch, no spaCy."""
    assert f"'.[{','.join(INSTALLED)}]'" in (ROOT / "Makefile").read_text("utf-8")
    assert {"start", *INSTALLED} == {*ROOMS, "report"}
    assert done.summary["skipped"] == []
    assert {step["room"] for step in done.summary["steps"]} == set(ROOMS)


def test_the_summary_is_as_its_schema_says(done):
    jsonschema.validate(done.summary, voile.schema("demo"))
    assert done.summary["randomness"] == "seeded: not for release"
    for step, call in zip(done.summary["steps"], done.calls, strict=True):
        jsonschema.validate(step["result"], voile.schema(call["name"]))


def test_the_page_holds_every_step_and_its_whole_command(done):
    from html import escape

    page = (done.folder / "report.html").read_text("utf-8")
    assert "Seeded: not for release" in page
    for step in done.summary["steps"]:
        assert f">{escape(step['title'])}</h2>" in page
        assert f"<code>{escape(step['command'])}</code>" in page
    assert "…" not in "".join(step["command"] for step in done.summary["steps"])


def test_draws_that_can_be_repeated_say_their_seed(done):
    commands = [step["command"] for step in done.summary["steps"]]
    released = [line for line in commands if " protect " in line]
    assert len(released) == 4
    assert all(f"--seed {SEED}" in line for line in released)


def test_the_readme_shows_what_the_demo_says(done):
    """Its headings and commands, in their order; the README's run has no seed."""
    readme = (ROOT / "README.md").read_text("utf-8")
    excerpt = readme.partition("$ voile demo\n")[2].partition("```")[0]
    shown = [line for line in excerpt.splitlines() if line.startswith(("▸", "  $"))]
    said = iter(done.said.replace(f" --seed {SEED}", "").splitlines())
    assert len(shown) >= 8
    for line in shown:
        assert line in said, line
