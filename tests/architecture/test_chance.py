"""No test fails by luck: draws have keys of their test's name, other sources are listed here."""

from __future__ import annotations

import ast
import secrets
from pathlib import Path

import numpy as np
import numpy.random.bit_generator as numpy_bits
import pytest

import voile
from luck import keys_of

_SAYS_NO = "commands that end before they draw: help, wrong usage, faults"
_COUNTED = "asserts which rows were released and charged, and nothing about what was drawn"
STARTS_PROCESSES = {
    "tests/architecture/test_architecture.py": "imports modules; draws nothing",
    "tests/architecture/test_processors.py": "starts interpreters; draws nothing",
    "tests/docs/test_recipes.py": "asserts which names are known, and nothing drawn",
    "tests/attackers/test_hostile_endpoint.py": _SAYS_NO,
    "tests/audit/test_black_box.py": "starts a program and ends it; draws nothing",
    "tests/cli/test_cli.py": _SAYS_NO,
    "tests/cli/test_demo_commands.py": "runs the demo with a seed",
    "tests/core/test_randomness.py": "draws of 64 bits and more that must differ: 1e-17 by chance",
    "tests/docs/test_notebooks.py": "asserts that cells run, and nothing about what was drawn",
    "tests/places/test_export.py": "gives the random bits; else asserts that something is drawn",
    "tests/places/test_export_noise.py": "gives the random words; else within 100 times the noise",
    "tests/docs/test_site.py": "builds the pages; draws nothing",
    "tests/faults/test_faults.py": _COUNTED,
    "tests/jobs/test_jobs.py": _COUNTED,
    "tests/jobs/test_ray.py": "draws of 60 bits that must differ or agree: 1e-15 by chance",
    "tests/ledger/conftest.py": "starts a database server",
    "tests/ledger/test_book.py": _COUNTED,
    "tests/ledger/test_keep.py": "a child that reads a ledger; draws nothing",
    "tests/ledger/test_kills.py": _COUNTED,
    "tests/ledger/test_protect.py": _COUNTED,
    "tests/mechanisms/test_neighbour_table.py": "makes a table, which is no draw",
    "tests/report/browser.py": "starts a browser; draws nothing",
    "tests/reproducing/test_reproduce.py": "asks a script if a page is up to date",
    "tests/service/servers.py": "starts a service for tests that assert nothing drawn",
    "tests/service/test_newcomer.py": _COUNTED,
    "tests/service/test_process.py": _COUNTED,
    "tests/studio/test_security.py": "starts a server and ends it; draws nothing",
    "tests/text/test_posterior_tasks.py": "audits, whose seed is 0 unless given",
    "tests/text/test_protector.py": _COUNTED,
}
"""Test modules that start processes, which have the system's keys; why luck decides nothing."""

_PROCESS = {"subprocess", "multiprocessing", "Popen", "ProcessPoolExecutor", "fork", "ray"}


def names_in(path: Path) -> set[str]:
    """Every name, attribute and imported module of a source file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update(alias.name for alias in node.names)
            found.add(getattr(node, "module", None) or "")
    return found


def test_keys_follow_from_the_test_s_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in is in place, its keys differ from call to call, and a name repeats them."""
    assert secrets.randbits.__module__ == numpy_bits.randbits.__module__ == "luck"

    def drawn(name: str) -> list[bytes]:
        for module in (secrets, numpy_bits):
            monkeypatch.setattr(module, "randbits", keys_of(name))
        sources = [voile.secure_rng(), voile.secure_rng(), np.random.default_rng()]
        return [source.bytes(8) for source in sources]

    assert drawn("one") == drawn("one")
    assert len({*drawn("one"), *drawn("two")}) == 6


def test_modules_that_start_processes_say_why_luck_decides_nothing(root: Path) -> None:
    starting = {
        str(path.relative_to(root))
        for path in (root / "tests").rglob("*.py")
        if names_in(path) & _PROCESS
    }
    assert starting == set(STARTS_PROCESSES), "list it here with the reason, or take it off"


def test_no_test_draws_from_another_source(root: Path) -> None:
    """The global generators of `random` and NumPy cannot be followed; a seeded one of each can."""
    for path in (root / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "random":
                assert [alias.name for alias in node.names] == ["Random"], path
            if isinstance(node, ast.Attribute):
                module = ast.unparse(node.value)
                assert module != "random" or node.attr == "Random", path
                whole = node.attr[0].isupper() or node.attr in ("default_rng", "bit_generator")
                assert module not in ("np.random", "numpy.random") or whole, path
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("random.Random", "Random"):
                assert node.args, f"{path}: give it a seed"
