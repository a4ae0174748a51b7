"""Every command's answer before and after a change, on the same files with the same seeds.

    python benchmarks/answers.py --before ../other/checkout [--python PYTHON]

Both trees run the same commands on made-up messages, trips and patients, and on real rows if
../shared/data is there. Released files are compared byte by byte;
of the JSON answers every number and sentence of the tree before must stand somewhere in the answer
after it, whatever its key is called. Writes benchmarks/results/answers.md.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SEEDED = ["--seed", "5"]


@dataclass(frozen=True)
class Case:
    """One command, and what it writes."""

    words: str
    writes: str = ""


CASES = [
    Case("explain --epsilon 0.8 --distance 1"),
    Case("explain --epsilon 2 --local --candidates 5"),
    Case("text protect messages.csv --epsilon 3 --pass topic,tone --drop id,customer,region "
         "--out a.csv --seed 5", writes="a.csv"),
    Case("text protect messages.csv --max-kept 0.2 --pass all --out b.csv --seed 5",
         writes="b.csv"),
    Case("text protect messages.csv --epsilon 4 --tiers pii --alpha 0.5,1 --pipeline names.txt "
         "--pass all --out c.csv --seed 5", writes="c.csv"),
    Case("text protect messages.csv --document-epsilon 60 --longest 20 --pass all --remap "
         "--out d.csv --seed 5", writes="d.csv"),
    Case("text protect snips.csv --epsilon 3 --pass all --out e.csv --seed 5", writes="e.csv"),
    Case("text protect messages.csv --epsilon 3 --mechanism word-exponential --pass all "
         "--out f.csv --seed 5", writes="f.csv"),
    Case("text utility messages.csv a.csv --label topic --no-encoder"),
    Case("text membership messages.csv a.csv --label topic"),
    Case("text calibrate pairs.csv --released released --attacks tf-idf,overlap --seed 5"),
    Case("text compare messages.csv --mechanisms tem,santext --epsilon 2,4 "
         "--attacks overlap,tf-idf --trials 300 --seed 5"),
    Case("places design --box 45.0,5.0,45.05,5.05 --cells 5x6 --epsilon 0.8 --out city.voile"),
    Case("places protect trips.csv --mechanism city.voile --pass all --out t.csv --seed 5 "
         "--outside move --on-error skip", writes="t.csv"),
    Case("places audit city.voile --places 200"),
    Case("labels audit clinic.csv --label diabetic --epsilon 0.5,2"),
    Case("labels recipe public.csv --label diabetic --out public.json"),
    Case("labels protect clinic.csv --label diabetic --epsilon 2 --recipe public.json "
         "--out l.csv --seed 5 --on-error mask", writes="l.csv"),
    Case("labels protect clinic.csv --label diabetic --epsilon 1 --mechanism rr --classes no,yes "
         "--pass all --out m.csv --seed 5", writes="m.csv"),
    Case("labels compare clinic.csv --label diabetic --label-epsilon 2,1 --record-epsilon 2 "
         "--repeats 2 --records 400"),
]  # fmt: skip


def write_inputs(folder: Path) -> None:
    """The same files for both: made by this tree's samples, and real rows where they are."""
    from voile.labels.sample_clinic import write_clinic
    from voile.places.sample_trips import write_trips
    from voile.text.sample_messages import names_and_places, write_messages

    write_messages(folder / "messages.csv", count=200)
    (folder / "names.txt").write_text("\n".join(sorted(names_and_places())) + "\n")
    write_clinic(folder / "clinic.csv")
    write_clinic(folder / "public.csv", seed=1)
    write_trips(folder / "trips.csv")
    with (folder / "messages.csv").open(newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    with (folder / "pairs.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "released"])
        rows.writerows([text, " ".join(text.split()[::2])] for text in texts)
    with (folder / "snips.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "n"])
        rows.writerows([text, place] for place, text in enumerate(real_texts() or texts))


def real_texts() -> list[str]:
    """Three hundred sentences of SNIPS, where they are at hand."""
    path = HERE.parent.parent / "shared" / "data" / "snips" / "train" / "seq.in"
    return path.read_text(encoding="utf-8").splitlines()[:300] if path.exists() else []


def answer(tree: Path, python: str, words: str, folder: Path) -> Any:
    done = subprocess.run(
        [python, "-m", "voile", *words.split(), "--json"],
        cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(tree / "src"), "VOILE_CACHE": str(folder / "cache")},
    )  # fmt: skip
    if done.returncode not in (0, 1):
        return {"failed": done.stderr.strip()[-200:]}
    return json.loads(done.stdout)


IGNORED = ("seconds", "bound_seconds", "rows_per_second", "when", "voile", "sha256", "job",
           "mechanism_sha256", "identity", "head", "repeat", "saved", "output", "png", "html",
           "path", "recipe")  # fmt: skip


def leaves(value: Any, key: str = "") -> Counter[str]:
    """Every number and sentence of an answer, rounded so that a last bit does not count."""
    if isinstance(value, dict):
        parts = [leaves(inner, name) for name, inner in value.items() if name not in IGNORED]
        return sum(parts, Counter())
    if isinstance(value, list):
        return sum((leaves(inner, key) for inner in value), Counter())
    if isinstance(value, bool) or value is None or value == "":
        return Counter()
    if isinstance(value, int | float):
        return Counter([f"{value:.9g}"])
    return Counter(line.strip() for line in str(value).splitlines())


def compared(case: Case, before: Any, after: Any, folders: tuple[Path, Path]) -> str:
    if "failed" in before or "failed" in after:
        return f"FAILED {before.get('failed', '')} {after.get('failed', '')}"
    old, new = leaves(before), leaves(after)
    lost = [value for value in old if value not in new]
    said = f"{len(old) - len(lost)} of {len(old)} values stand in the new answer"
    if lost:
        said += "; not there: " + "; ".join(f"`{value[:60]}`" for value in lost[:8])
    if case.writes:
        one, two = ((folder / case.writes).read_bytes() for folder in folders)
        said += "; released file " + ("the same bytes" if one == two else "DIFFERS")
    return said


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--before", type=Path, required=True)
    options.add_argument("--python", default=sys.executable)
    chosen = options.parse_args()
    lines = ["# Answers before and after", "",
             "`python benchmarks/answers.py --before OTHER` on made-up and real files.", "",
             "| command | what stands in both |", "| --- | --- |"]  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folders = (Path(name) / "before", Path(name) / "after")
        for folder in folders:
            folder.mkdir()
            write_inputs(folder)
        for case in CASES:
            old = answer(chosen.before, chosen.python, case.words, folders[0])
            new = answer(HERE.parent, chosen.python, case.words, folders[1])
            line = f"| `voile {case.words}` | {compared(case, old, new, folders)} |"
            print(line, flush=True)
            lines.append(line)
    (HERE / "results" / "answers.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
