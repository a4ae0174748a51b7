"""Each notebook runs from top to bottom, offline, and every result in it shows itself."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import voile
from voile.surface import ROOMS

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

NEEDED = {
    "messages": ("text.protect", "text.utility"),
    "gps-points": ("places.design", "places.protect"),
    "my-own-mechanism": ("text.compare",),
}
"""What a notebook calls of the package: it is skipped while one is not there yet."""

RUN = """
import ast, json, sys

cells = json.load(sys.stdin)
names = {"__name__": "__main__"}
for number, cell in enumerate(cells, start=1):
    tree = ast.parse(cell, f"cell {number}")
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, f"cell {number}", "exec"), names)
    if last is not None:
        shown = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
        page = shown._repr_html_() if hasattr(shown, "_repr_html_") else repr(shown)
        assert page is None or page.strip(), f"cell {number} shows nothing"
"""
"""Runs cells in one namespace, as a notebook does, and shows the last expression of each."""


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def code_of(path):
    cells = read(path)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def missing(dotted):
    """Whether `import voile` does not yet lead to this use case."""
    room, _, name = dotted.rpartition(".")
    if (room or name) not in voile.__all__:
        return True
    module, _, attribute = ROOMS[room][name].partition(":")
    return not hasattr(getattr(import_module(module), attribute, None), "use_case")


def test_each_notebook_says_what_it_needs():
    assert {path.stem for path in NOTEBOOKS} == set(NEEDED)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_output_is_stored(path):
    for cell in read(path)["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_code_is_as_the_house_writes_it(path):
    for number, cell in enumerate(code_of(path), start=1):
        compile(cell, f"cell {number}", "exec")
        assert max(map(len, cell.splitlines())) <= 100


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_from_top_to_bottom(path, tmp_path):
    absent = [name for name in NEEDED[path.stem] if missing(name)]
    if absent:
        pytest.skip(f"voile.{absent[0]} is not there yet")
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(code_of(path)),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
