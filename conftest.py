"""Every example in README and docs is run: Python blocks, and console blocks with their output."""

import doctest
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

from luck import pytest_runtest_protocol as pytest_runtest_protocol

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run_console(example: Example) -> None:
    """Run each `$ command` of a console block and compare what follows it, … matching anything."""
    folder = example.namespace.setdefault("_folder", Path(tempfile.mkdtemp()))
    steps = re.split(r"^\$ ", str(example.parsed), flags=re.M)[1:]
    for step in steps:
        command, _, expected = step.partition("\n")
        words = shlex.split(command)
        if words[0] == "voile":
            words = [sys.executable, "-m", "voile", *words[1:]]
        elif words[0] == "python":
            words[0] = sys.executable
        else:
            continue  # installing and the like is not for the tests
        done = subprocess.run(
            words,
            cwd=folder,
            text=True,
            capture_output=True,
            env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
        )
        got = done.stdout + done.stderr
        wanted = expected.replace("…", "...")
        if wanted.strip() and not doctest.OutputChecker().check_output(wanted, got, OPTIONS):
            raise AssertionError(f"$ {command}\nexpected:\n{wanted}\ngot:\n{got}")
        if not wanted.strip() and done.returncode:
            raise AssertionError(f"$ {command}\nexited with {done.returncode}:\n{got}")


def in_own_folder(namespace: dict) -> None:
    """Examples write into a folder of their own."""
    namespace["_folder"] = Path(tempfile.mkdtemp())
    namespace["_back"] = os.getcwd()
    os.chdir(namespace["_folder"])


def back_again(namespace: dict) -> None:
    """Leave the folder again."""
    os.chdir(namespace["_back"])


pytest_collect_file = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=OPTIONS),
        CodeBlockParser(language="console", evaluator=run_console),
        SkipParser(),
    ],
    patterns=["README.md", "CONTRIBUTING.md", "docs/**/*.md", "docs/*.md"],
    setup=in_own_folder,
    teardown=back_again,
).pytest()
