"""What the surface costs: import, help and whole releases, side by side with another checkout.

    python benchmarks/surface.py --before ../other/checkout [--repeats 5]

Each measure is taken in turn in both trees, so that a busy machine slows both; CPU seconds of the
whole process, the least of the repeats, and their ratio. Writes benchmarks/results/surface.md.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def cpu(command: list[str], tree: Path, folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command, cwd=folder, check=True, capture_output=True,
        env={**os.environ, "PYTHONPATH": str(tree / "src"), "VOILE_CACHE": str(folder / "cache")},
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_inputs(folder: Path) -> None:
    rng = random.Random(0)
    words = [
        "the",
        "a",
        "good",
        "bad",
        "flight",
        "train",
        "hotel",
        "doctor",
        "london",
        "paris",
        "late",
        "early",
        "water",
        "fire",
    ]
    with (folder / "texts.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text"])
        rows.writerows([" ".join(rng.choices(words, k=120))] for _ in range(4000))
    with (folder / "trips.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["lat", "lon"])
        rows.writerows([45 + rng.random() / 20, 5 + rng.random() / 20] for _ in range(300_000))


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--before", type=Path, required=True)
    options.add_argument("--repeats", type=int, default=5)
    chosen = options.parse_args()
    voile = [sys.executable, "-m", "voile"]
    design = ["places", "design", "--box", "45.0,5.0,45.05,5.05", "--cells", "5x6", "--epsilon",
              "0.8", "--out", "city.voile", "--no-bound"]  # fmt: skip
    measures = {
        "import voile": [sys.executable, "-c", "import voile"],
        "voile --help": [*voile, "--help"],
        "voile text --help": [*voile, "text", "--help"],
        "voile text protect --help": [*voile, "text", "protect", "--help"],
        "text protect, 480,000 words": [
            *voile, "text", "protect", "texts.csv", "--epsilon", "3", "--out", "o.csv",
            "--overwrite"],
        "places protect, 300,000 rows": [
            *voile, "places", "protect", "trips.csv", "--mechanism", "city.voile", "--out",
            "p.csv", "--overwrite"],
    }  # fmt: skip
    lines = ["# What the surface costs", "",
             f"`python benchmarks/surface.py --before OTHER`, CPU seconds, least of "
             f"{chosen.repeats}, taken in turn.", "",
             "| | before | after | ratio |", "| --- | --- | --- | --- |"]  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folders = {tree: Path(name) / str(k) for k, tree in enumerate((chosen.before, HERE.parent))}
        for tree, folder in folders.items():
            folder.mkdir()
            write_inputs(folder)
            cpu([*voile, *design], tree, folder)
            for words in measures.values():
                cpu(words, tree, folder)  # caches and compiled kernels
        for label, words in measures.items():
            times: dict[Path, list[float]] = {tree: [] for tree in folders}
            for _ in range(chosen.repeats):
                for tree, folder in folders.items():
                    times[tree].append(cpu(words, tree, folder))
            one, two = (min(found) for found in times.values())
            line = f"| {label} | {one:.2f} | {two:.2f} | {two / one:.2f} |"
            print(line, flush=True)
            lines.append(line)
    (HERE / "results" / "surface.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
