"""CONTRIBUTING followed to the letter in a copy of the tree, and the files counted."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the text extra is not installed")

MECHANISM = '''\
"""Shuffle: stay, or go to any word alike."""

from __future__ import annotations

import numpy as np

from voile.core.channel import Channel
from voile.mechanisms._embedding import Embedding


def shuffle(words: Embedding, *, epsilon: float) -> Channel:
    """Stay with weight e^(ε·d), d the least distance between two words, else go anywhere alike.

    Two rows differ in two entries, by the factor e^(ε·d) at most, and two words are at least d
    apart: so ln K(y|x) − ln K(y|x') ≤ ε·d ≤ ε·d(x, x'), which the certificate finds again. It is
    randomised response at that strength (Warner, JASA 1965), and costs a table of n² numbers, so
    that it serves small vocabularies only. An example that shows how a law joins, not one to use.

    >>> len(examples()[0].space)
    5
    """
    apart = words.space.metric.pairwise(words.space.items, words.space.items)
    same = np.eye(len(words))
    same *= apart[same == 0].min()
    return Channel.build(
        words.space, lambda strength: strength * same, epsilon=epsilon, granularity="one word"
    )


def examples() -> list[Channel]:
    """Five words."""
    return [shuffle(Embedding.of([[0.0], [1.0], [2.0], [3.0], [4.0]]), epsilon=1.0)]
'''
ATTACK = '''\
"""Length: the candidate whose length is nearest to that of the release."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Length:
    name: str = "length"

    def scores(self, pool, sets, releases):
        wanted = np.array([len(release) for release in releases])
        return -np.abs(np.array([len(text) for text in pool])[sets] - wanted[:, None])
'''
ATTACK_TEST = """\
import numpy as np

from voile.attackers.attribution_length import Length


def test_it_tells_lengths_apart_and_nothing_else():
    scores = Length().scores(["short", "much longer"], np.array([[0, 1]]), ["brief"])
    assert scores[0, 0] > scores[0, 1]
    assert np.ptp(Length().scores(["same", "size"], np.array([[0, 1]]), ["none"])) == 0
"""
USE_CASE = '''\
"""Release colours: each by randomised response among those of a public list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from voile.colours.colours import PUBLIC, positions_of
from voile.core.randomness import secure_rng
from voile.options import Option, use_case
from voile.report.model import Report
from voile.report.result import Result


@dataclass(frozen=True, repr=False, eq=False)
class Released(Result):
    """The colours, and what was promised."""

    colours: tuple[str, ...]
    epsilon: float

    def _report(self) -> Report:
        answer = f"{len(self.colours)} colours at ε = {self.epsilon:g}."
        return Report(title="Colours", answer=answer)


@use_case("colours protect")
def protect(
    colours: Annotated[tuple[str, ...], Option("The colours, by commas.", "What")],
    *,
    epsilon: Annotated[float, Option("How strong.", "How strong")],
) -> Released:
    """Release colours.

    Example: `voile colours protect red,blue --epsilon 2`
    """
    from voile.mechanisms import randomised_response

    law = randomised_response(PUBLIC, epsilon=epsilon)
    drawn = law.release([PUBLIC[at] for at in positions_of(colours)], secure_rng())
    return Released(tuple(map(str, drawn)), epsilon)
'''
DOMAIN = {
    "src/voile/colours/__init__.py": '"""Colours."""\n\nfrom voile.exports import exported\n\n'
    "__getattr__, __dir__, __all__ = exported(__name__, __file__)\n",
    "src/voile/colours/__init__.pyi": "from voile.colours._protect import protect as protect\n",
    "src/voile/colours/_protect.py": USE_CASE,
    "src/voile/colours/colours.py": '"""What a colour is."""\n\nPUBLIC = ("red", "blue", "green")\n'
    "\n\ndef positions_of(colours: tuple[str, ...]) -> list[int]:\n"
    '    """Where each stands in the public list."""\n'
    "    return [PUBLIC.index(colour) for colour in colours]\n",
    "src/voile/colours/sample_colours.py": '"""Made-up colours."""\n\nCOLOURS = ("red", "blue")\n',
    "tests/colours/test_protect.py": "import voile\n\n\ndef test_one_each():\n"
    '    made = voile.colours.protect(("red", "blue"), epsilon=3)\n'
    "    assert len(made.colours) == 2\n",
    "docs/how-to/blur-colours.md": "# Blur colours\n\n`voile colours protect` does.\n",
}
PARTS = ("src", "tests", "docs", "scripts")
FILES = ("pyproject.toml", "conftest.py", ".importlinter", "README.md", "CONTRIBUTING.md")
WRITTEN = Path("src/voile/mechanisms/__init__.pyi")
"""By `make exports`, from the folders."""


class Copy:
    """A copy of the project that a recipe is followed in."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        skipped = shutil.ignore_patterns("__pycache__", "_build", "*.pyc")
        for part in PARTS:
            shutil.copytree(root / part, folder / part, ignore=skipped)
        for file in FILES:
            shutil.copy(root / file, folder / file)
        self.before = self._digests()

    def _digests(self) -> dict[Path, str]:
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return {
            path.relative_to(self.folder): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in files
            if "__pycache__" not in path.parts
        }

    def changed(self) -> set[Path]:
        """The files that are new or other than they were."""
        return {path for path, digest in self._digests().items() if self.before.get(path) != digest}

    def write(self, path: str, text: str) -> None:
        """A new file."""
        where = self.folder / path
        assert not where.exists()
        where.parent.mkdir(exist_ok=True)
        where.write_text(text, encoding="utf-8")

    def line(self, path: str, *, after: str, line: str) -> None:
        """A line below one that is there."""
        where = self.folder / path
        text = where.read_text(encoding="utf-8")
        assert text.count(after) == 1, (path, after)
        where.write_text(text.replace(after, after + line), encoding="utf-8")

    def run(self, *command: str, fails: bool = False) -> str:
        """What a Python command prints, run in the copy."""
        env = {**os.environ, "PYTHONPATH": str(self.folder / "src")}
        env["NUMBA_DISABLE_JIT"] = "1"  # a copy would compile everything anew
        env["VOILE_CACHE"] = str(self.folder.parent / "cache")
        done = subprocess.run(
            [sys.executable, *command], cwd=self.folder, env=env, capture_output=True, text=True
        )
        assert bool(done.returncode) == fails, done.stdout + done.stderr
        return done.stdout + done.stderr

    def pytest(self, *what: str, fails: bool = False) -> str:
        """Tests of the copy."""
        return self.run("-m", "pytest", "-q", "-n", "0", *what, fails=fails)


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Copy:
    return Copy(root, tmp_path / "voile")


def test_a_mechanism_takes_three_files(copy: Copy) -> None:
    copy.write("src/voile/mechanisms/words/shuffle.py", MECHANISM)
    told = copy.pytest("tests/architecture/test_architecture.py", "-k", "shuffle", fails=True)
    assert "tests must hold a test_shuffle.py" in told
    copy.write("tests/mechanisms/test_shuffle.py", "from voile.mechanisms import shuffle\n")
    page = "docs/mechanisms.md"
    copy.line(
        page, after="nearest or second nearest word |\n", line="| `shuffle` (words) | x | y |\n"
    )
    copy.line(page, after="exponential within | proved |\n", line="| `shuffle` | words | x | y |\n")
    told = copy.pytest("tests/architecture/test_architecture.py", "-k", "type_checkers", fails=True)
    assert "run `make exports`" in told
    copy.run("scripts/exports")
    copy.pytest("tests/architecture/test_architecture.py", "-k", "shuffle or row or types")
    words = "\n".join(f"{word} {x} 1" for x, word in enumerate(("the", "cat", "sat", "on")))
    (copy.folder.parent / "words.txt").write_text(words + "\n")
    (copy.folder.parent / "in.txt").write_text("the cat\n")
    asked = "protect ../in.txt --epsilon 1 --vocabulary ../words.txt --mechanism shuffle"
    copy.run("-m", "voile", "text", *asked.split())
    listed = json.loads(copy.run("-m", "voile", "mechanisms", "--json"))["mechanisms"]
    assert [one["family"] for one in listed if one["name"] == "shuffle"] == ["words"]
    assert len(copy.changed() - {WRITTEN}) == 3


def test_an_attack_takes_three_files(copy: Copy) -> None:
    copy.write("src/voile/attackers/attribution_length.py", ATTACK)
    copy.line(
        "src/voile/attackers/names.py",
        after='attribution_shape:Shape",\n        ),\n',
        line='        Named("length", "Its length.", home=f"{_HOME}.attribution_length:Length"),\n',
    )
    copy.write("tests/attackers/test_length.py", ATTACK_TEST)
    copy.pytest("tests/attackers/test_length.py")
    asked = "from voile.attackers.names import ATTACKS; print(ATTACKS.find('length').load()().name)"
    assert copy.run("-c", asked).strip() == "length"
    assert len(copy.changed()) == 3


def test_a_domain_takes_at_most_sixteen_files(copy: Copy) -> None:
    for path, text in DOMAIN.items():
        copy.write(path, text)
    copy.line(
        "src/voile/surface.py",
        after="ROOMS: dict[str, dict[str, str]] = {\n",
        line='    "colours": {"protect": "voile.colours._protect:protect"},\n',
    )
    copy.line("src/voile/surface.py", after="ABOUT = {\n", line='    "colours": "Colours.",\n')
    room = "from voile import labels as labels\n"
    copy.line("src/voile/__init__.pyi", after=room, line=room.replace("labels", "colours"))
    copy.line(".importlinter", after="(voile.labels)", line=" | (voile.colours)")
    copy.line(
        "docs/api_pages.py", after='"Tables with a secret column",\n', line='    "colours": "…",\n'
    )
    copy.line(
        "docs/reference/api.md", after="tables with a secret column |\n", line="| colours |\n"
    )
    copy.line("docs/how-to/index.md", after="\nblur-places\n", line="blur-colours\n")
    copy.line("docs/reference/command-line.md", after="to protect labels |\n", line="| colours |\n")
    copy.pytest("tests/colours", "tests/architecture/test_one_surface.py")
    made = json.loads(
        copy.run("-m", "voile", "colours", "protect", "red,blue", "--epsilon", "2", "--json")
    )
    assert len(made["colours"]) == 2
    copy.run("-c", "from importlinter.cli import lint_imports_command as c; c(['--no-cache'])")
    assert len(copy.changed()) <= 16
