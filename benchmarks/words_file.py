"""All of IMDB train through `voile text protect`, from a cold cache to the finished file.

    python benchmarks/words_file.py [--epsilon 3] [--jobs 2]

Writes wall time, sizes, memory and ten lines before and after to
benchmarks/results/words_file.md. IMDB is found in ../shared/data/imdb, or with --data.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

COMMAND = """
import sys
from voile.cli.app import text_app as app
if __name__ == "__main__":
    app(sys.argv[1:], standalone_mode=False)
"""


def first_lines(path: Path, count: int) -> list[str]:
    with path.open(newline="") as file:
        rows = islice(csv.DictReader(file), count)
        return [" ".join(row["text"].split())[:110] for row in rows]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--data", type=Path)
    options.add_argument("--epsilon", type=float, default=3.0)
    options.add_argument("--jobs", type=int, default=2)
    chosen = options.parse_args()
    here = Path(__file__).resolve().parent
    data = chosen.data or here.parent.parent / "shared" / "data" / "imdb"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, out = folder / "train.csv", folder / "out.csv"
        source.write_bytes(gzip.decompress((data / "train.csv.gz").read_bytes()))
        (folder / "run.py").write_text(COMMAND)
        command = [sys.executable, str(folder / "run.py"), "protect", str(source)]
        command += ["--out", str(out), "--epsilon", str(chosen.epsilon)]
        command += ["--jobs", str(chosen.jobs), "--pass", "all"]
        start = time.perf_counter()
        shown = subprocess.run(
            command, capture_output=True, text=True, check=True,
            env={**os.environ, "VOILE_CACHE": str(folder / "cache")},
        ).stdout  # fmt: skip
        cold = time.perf_counter() - start
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        subprocess.run(
            [*command, "--overwrite"], capture_output=True, check=True,
            env={**os.environ, "VOILE_CACHE": str(folder / "cache")},
        )  # fmt: skip
        warm = time.perf_counter() - start
        load = os.getloadavg()[0]
        lines = [
            "# IMDB train, 25,000 reviews, from a cold cache to the finished file",
            "",
            f"`python benchmarks/words_file.py --epsilon {chosen.epsilon:g} --jobs {chosen.jobs}`: "
            f"TEM, 50,000 words of GloVe 50d, {os.cpu_count()} cores (load average {load:.1f}: "
            "the machine was shared).",
            "",
            f"- {cold:.1f} s wall from a cold cache, {warm:.1f} s with neighbours cached",
            f"- {usage.ru_utime + usage.ru_stime:.1f} s of processor time from a cold cache",
            f"- {source.stat().st_size / 1e6:.1f} MB in, {out.stat().st_size / 1e6:.1f} MB out",
            f"- {usage.ru_maxrss / 2**20:.2f} GB peak memory of the largest process, pages of the "
            "shared neighbour cache included",
            "",
            "```text",
            *shown.strip().splitlines(),
            "```",
            "",
            "Ten lines, before and after:",
            "",
            "```text",
        ]
        for before, after in zip(first_lines(source, 10), first_lines(out, 10), strict=True):
            lines += [f"  {before}", f"→ {after}"]
        lines.append("```")
    (here / "results").mkdir(exist_ok=True)
    (here / "results" / "words_file.md").write_text(
        "\n".join(lines).replace(name, "…") + "\n", "utf-8"
    )


if __name__ == "__main__":
    main()
