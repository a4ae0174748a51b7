"""Inputs made by chance, read and released: `python benchmarks/fuzz.py [COUNT]`.

Each input comes from one number (tests/fuzz), so a failure names the number that repeats it. An
internal error, a private value in a message, a lost row or a changed column is a failure. Most
inputs go straight at the readers and writers, a tenth through whole jobs, some through commands.
"""

from __future__ import annotations

import collections
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests")]

import numpy as np  # noqa: E402

import voile  # noqa: E402
from fuzz.commands import COMMANDS, check_command, prepared  # noqa: E402
from fuzz.inputs import made  # noqa: E402
from fuzz.oracle import check_job, check_reader  # noqa: E402
from fuzz.others import check_recipe, check_table, check_voile, voile_file  # noqa: E402
from voile.labels import read_labelled  # noqa: E402
from voile.labels.recipe_file import recipe_text  # noqa: E402
from voile.labels.recipes import draft_recipe  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "fuzz.md"


def targets(tools: Path, folder: Path) -> dict[str, tuple[float, Callable[[int], object]]]:
    """What is tried, and its share of all inputs."""
    line = voile.Space(np.arange(4.0).reshape(-1, 1), metric=voile.metrics.euclidean(unit="km"))
    good = voile.save(voile.mechanisms.exponential(line, epsilon=1.0), tools / "l.voile")
    rows = "n,c,y\n" + "".join(f"{i % 7},{'ab'[i % 2]},{'pq'[i % 3 == 0]}\n" for i in range(60))
    (tools / "in.csv").write_text(rows)
    recipe = recipe_text(draft_recipe(read_labelled(tools / "in.csv", label="y")))
    content, names = good.read_bytes(), list(COMMANDS)
    return {
        "readers and writers": (0.66, lambda n: check_reader(made(n), folder)),
        "whole jobs": (0.1, lambda n: check_job(made(n), folder, n)),
        "labelled tables and places": (0.1, lambda n: check_table(made(n), folder, n)),
        "saved mechanisms": (0.06, lambda n: check_voile(voile_file(content, random.Random(n)))),
        "recipes": (0.075, lambda n: check_recipe(recipe, random.Random(n))),
        "whole commands": (
            0.005,
            lambda n: f"exit {check_command(names[n % len(names)], made(n), tools, folder)}",
        ),
    }


def main() -> None:
    """Try so many inputs and write down what came of them."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 110_000
    home = Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    tools, folder = home / "tools", home / "work"
    tools.mkdir()
    folder.mkdir()
    os.environ["VOILE_CACHE"] = str(home / "cache")
    prepared(tools)
    os.chdir(folder)
    lines, failures = [], collections.Counter()
    number, began = 1_000_000, time.process_time()
    for name, (share, check) in targets(tools, folder).items():
        answers: collections.Counter[str] = collections.Counter()
        for _ in range(round(share * count)):
            number += 1
            try:
                answers[str(check(number))] += 1
            except Exception as problem:
                answers["FAILED"] += 1
                where = traceback.extract_tb(problem.__traceback__)[-1]
                place = f"{Path(where.filename).name}:{where.lineno}"
                key = f"{name}: {type(problem).__name__} at {place}"
                if not failures[key]:
                    print(f"{key}, number {number}", flush=True)
                failures[key] += 1
            for path in folder.iterdir():
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()
        total = sum(answers.values())
        shown = ", ".join(f"{found} {n:,}" for found, n in sorted(answers.items()))
        lines.append(f"| {name} | {total:,} | {shown} |")
        print(lines[-1], flush=True)
    seconds = time.process_time() - began
    tried = number - 1_000_000
    RESULTS.write_text(
        f"# Fuzz\n\n`python benchmarks/fuzz.py {count}`: {tried:,} inputs in {seconds:,.0f} s of "
        f"processor time, {sum(failures.values()):,} failures of {len(failures)} kinds.\n\n"
        "| what was tried | inputs | what came of them |\n|---|---:|---|\n"
        + "\n".join(lines)
        + "".join(f"\n- {key}: {n}" for key, n in failures.items())
        + "\n",
        encoding="utf-8",
    )
    shutil.rmtree(home)
    print(f"{tried:,} inputs, {sum(failures.values()):,} failures", flush=True)


if __name__ == "__main__":
    main()
