"""Whole commands on any file, in this process: exit code 0 or 2, and nothing private printed."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from fuzz.inputs import TOKEN, Made
from in_process import voile
from voile.places._design import design

COMMANDS = {
    "text": "text protect FILE --epsilon 1 --vocabulary TOOLS/words.txt --pass all --out OUT",
    "text skip": "text protect FILE --epsilon 1 --vocabulary TOOLS/words.txt --pass all --out OUT "
    "--on-error skip --document-column --json",
    "places": "places protect FILE --mechanism TOOLS/city.voile --out OUT --on-error mask "
    "--pass all",
    "places audit": "places audit TOOLS/city.voile --places 5 --against FILE FILE",
    "places utility": "places utility FILE FILE",
    "labels": "labels protect FILE --label y --epsilon 1 --mechanism rr --out OUT --on-error skip "
    "--classes yes,no --pass all",
    "utility": "text utility FILE FILE --no-encoder",
}


def prepared(folder: Path) -> Path:
    """A folder with a small vocabulary and a small design."""
    rng = np.random.default_rng(2)
    words = ["the", "cat", "sat", "do", "run", "tree"]
    lines = [f"{w} " + " ".join(f"{x:.4f}" for x in rng.normal(size=4)) for w in words]
    (folder / "words.txt").write_text("\n".join(lines) + "\n")
    design(cells="3x3", task_count=4, epsilon=0.5, method="laplace", out=folder / "city.voile")
    return folder


def check_command(name: str, given: Made, tools: Path, folder: Path) -> int:
    """Run one command on one file in an empty folder; its exit code."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    path = folder / given.name
    path.write_bytes(given.content)
    ending = given.name.removeprefix("in")
    words = COMMANDS[name].replace("FILE", given.name).replace("TOOLS", str(tools))
    code, out, err = voile(*words.replace("OUT", f"out{ending}").split())
    assert code in (0, 2), err
    assert TOKEN not in err, err
    assert code == 0 or TOKEN not in out, out
    left = sorted(p.name for p in folder.iterdir() if p.name != "cache")
    assert code == 0 or left == [given.name], left
    return code
