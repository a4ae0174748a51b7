"""Every command that the demo prints is the one it ran: same use case, same options."""

import inspect
import re
import shlex
from dataclasses import fields, is_dataclass
from functools import wraps
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from voile.cli.app import app
from voile.demo.steps import NEEDS, Plan, missing

SEED = 7
TASKS = {
    "text": {
        "text_protect": ["protect"],
        "text_utility": ["utility"],
        "text_calibrate": ["calibrate"],
    },
    "places": {
        "places_design": ["design"],
        "places_protect": ["protect"],
        "places_audit": ["audit"],
    },
    "labels": {
        "labels_audit": ["audit"],
        "labels_recipe": ["recipe"],
        "labels_protect": ["protect"],
        "labels_compare": ["compare"],
    },
}
"""The use cases that the steps of each room call, by module."""
NOT_OPTIONS = {"engine", "progress", "note", "design", "public"}
"""Where it runs, who hears of it, and what an earlier call made."""


class Stub:
    """Stands for any result: its parts are stubs, it reads as 0."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def _again(self, *arguments, **named):
        return self

    __call__ = __getitem__ = __mul__ = __rmul__ = __truediv__ = __sub__ = __neg__ = _again

    def __len__(self):
        return 4

    def __format__(self, how):
        return "0"

    def __iter__(self):
        return iter(())

    def __float__(self):
        return 0.0


STUB = Stub()


class Stop(Exception):
    """All calls that the step made were made by the command too."""


def plain(value, folder):
    """A value as it is compared: paths from the folder, generators by their next number."""
    if isinstance(value, np.random.Generator):
        return int(value.integers(2**62))
    if isinstance(value, str | Path):
        return str(value).removeprefix(f"{folder}/")
    if hasattr(value, "scores"):
        return value.name
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name), folder) for f in fields(value)}
    if isinstance(value, list | tuple):
        return [plain(inner, folder) for inner in value]
    return value


class Recorder:
    """Use cases that only note what they were asked."""

    def __init__(self, folder, results):
        self.folder, self.results, self.calls, self.limit = folder, results, [], None

    def wrapped(self, module, name):
        original = getattr(import_module(f"voile.{module.replace('_', '._', 1)}"), name)
        signature = inspect.signature(original)

        @wraps(original)
        def called(*arguments, **named):
            bound = signature.bind(*arguments, **named)
            bound.apply_defaults()
            asked = {
                key: plain(value, self.folder)
                for key, value in bound.arguments.items()
                if key not in NOT_OPTIONS
            }
            self.calls.append((name, asked))
            if self.limit is not None and len(self.calls) == self.limit:
                raise Stop
            return self.results.get(module, STUB)

        return called

    def patch(self, monkeypatch, room, into):
        for module, names in TASKS[room].items():
            for name in names:
                target = into or f"voile.{module.replace('_', '._', 1)}"
                monkeypatch.setattr(f"{target}.{name}", self.wrapped(module, name))


POINT = SimpleNamespace(
    epsilon=0.5, expected=0.5, total=SimpleNamespace(value=0.5), mechanism="x", auc=0.5,
    leakage=0.5, cap=None, auc_error=0.5,
)  # fmt: skip
RESULTS = {
    "labels_audit": SimpleNamespace(epsilons=[POINT], features=[STUB]),
    "labels_compare": SimpleNamespace(points=[POINT], clean_auc=0.5, features_alone=0.5, guess=0.5),
}


def quick(monkeypatch, room):
    """What the steps of a room do beside calling use cases, left out."""
    module = import_module(f"voile.demo.{room}")
    if room == "text":
        chosen = SimpleNamespace(strengths=(0.30000000000000004, 1.0))
        monkeypatch.setattr(module, "_Known", lambda *given: STUB)
        monkeypatch.setattr(module, "load_vocabulary", lambda recipe: STUB)
        monkeypatch.setattr(module, "names_evaluator", lambda *given, **named: STUB)
        monkeypatch.setattr(
            module, "adapt", lambda *g, **n: SimpleNamespace(rounds=(), best=chosen)
        )
        monkeypatch.setattr(module, "meets", lambda *given, **named: None)
        monkeypatch.setattr(module, "frontier", lambda rounds: ())
        monkeypatch.setattr(module, "_tuned_lines", lambda *given: ())
        monkeypatch.setattr(module, "texts_of", lambda *given: ["a b"])
    elif room == "places":
        monkeypatch.setattr(module, "_design_lines", lambda facts: ())
        monkeypatch.setattr(module, "_design_facts", lambda facts: {})
        monkeypatch.setattr(module, "_audit_lines", lambda found: ())
    if hasattr(module, "asdict"):
        monkeypatch.setattr(module, "asdict", lambda value: {})
    return getattr(module, f"{room}_steps")


@pytest.mark.parametrize("seed", [None, SEED])
@pytest.mark.parametrize("room", TASKS)
def test_a_printed_command_does_what_its_step_did(room, seed, tmp_path, monkeypatch):
    if missing(room):
        pytest.skip(missing(room))
    steps, calls = [], Recorder(tmp_path, RESULTS)
    with monkeypatch.context() as patch:
        run = quick(patch, room)
        calls.patch(patch, room, f"voile.demo.{room}")
        for event in run(tmp_path, seed):
            steps += [(event, len(calls.calls))] if isinstance(event, Plan) else []
    steps.append((None, len(calls.calls)))
    monkeypatch.chdir(tmp_path)
    for (plan, begun), (_, ended) in pairwise(steps):
        if plan.command is None:
            assert plan.note, "a step without a command says what comes nearest"
            continue
        done = calls.calls[begun:ended]
        asked = Recorder(tmp_path, RESULTS)
        words = shlex.split(plan.command)
        done = [call for call in done if _belongs(call[0], words[2])]
        asked.limit = len(done)
        assert done, plan.command
        with monkeypatch.context() as patch:
            asked.patch(patch, room, None)
            result = CliRunner().invoke(app, words[1:])
        assert isinstance(result.exception, Stop), (plan.command, result.output, result.exception)
        assert asked.calls == done, plan.command


def _belongs(task, command):
    """Whether a use case is that of the command; a step may measure its result besides."""
    return task == command


def test_no_printed_command_needs_an_extra_that_the_demo_does_not_install():
    """Commands of a trained attacker or a spaCy pipeline stand in notes, with their extra."""
    makefile = (Path(__file__).parents[2] / "Makefile").read_text("utf-8")
    assert "'.[text,places,labels,report]'" in makefile
    assert set(NEEDS) == {"text", "places", "labels", "report"}
    for room in TASKS:
        source = Path(import_module(f"voile.demo.{room}").__file__).read_text("utf-8")
        printed = re.findall(r'"voile (\w+ \w+)|f"voile (\w+ \w+)', source)
        assert not {"text audit", "text tune"} & {a or b for a, b in printed}


def test_the_town_prints_no_command_that_shows_something_else(tmp_path):
    from voile.demo.town import town_steps

    plans = [event for event in town_steps(tmp_path, SEED) if isinstance(event, Plan)]
    assert [plan.command for plan in plans] == [None, None]
    assert all("`voile " in plan.note for plan in plans)
