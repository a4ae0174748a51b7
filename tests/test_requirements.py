"""The file of tested versions: pinned, hashed, whole, and true of what pyproject asks for."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LEFT_OUT = {"voile", "torch"}
"""The project itself, and what has local builds."""


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def tested():
    text = (ROOT / "requirements/tested.txt").read_text("utf-8")
    body = "".join(line for line in text.splitlines(True) if not line.startswith("#"))
    entries = re.findall(r"(\S+)==(\S+) \\\n    --hash=sha256:([0-9a-f]{64})\n", body)
    rebuilt = "".join(f"{n}=={v} \\\n    --hash=sha256:{h}\n" for n, v, h in entries)
    assert rebuilt == body, "nothing stands there but pinned and hashed entries"
    assert "//" not in text, "no address of an index"
    return {normal(name): version for name, version, _ in entries}


def test_every_declared_dependency_was_tested(tested):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    for entry in declared:
        name, pinned = re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?(?:==(\S+))?", entry).groups()
        if normal(name) in LEFT_OUT:
            continue
        assert normal(name) in tested, entry
        assert pinned in (None, tested[normal(name)]), entry
    assert not LEFT_OUT & set(tested)


def test_packaged_models_are_those_of_the_table(tested):
    from voile.packaged import LARGE, MODELS

    for model in MODELS:
        if model not in LARGE:
            assert tested[model.package] == model.version
