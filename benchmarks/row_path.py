"""How many functions a row passes through in `voile text protect`, here and in other checkouts.

    git archive OLDER | tar x -C /tmp/older
    python benchmarks/row_path.py [--before OLDER=/tmp/older …]

Every call of a Python function of voile is counted while the command runs, on a CSV file of some
rows and on one of twice as many, in parts of 500 rows. The body of a class, which runs when its
module is imported, is no function. Functions called at all are the whole command's; those called
more often for more rows are the row path, called once a row or oftener (what is done for a row and
a word), or once a part. An option that an older checkout lacks is left out there. Writes
benchmarks/results/row_path.md.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROWS = 2000
OPTIONS = ["--epsilon", "3", "--batch-rows", "500", "--out", "o.csv", "--pass", "user"]
COUNTED = """
import collections, inspect, json, sys
from voile.cli import main
counts = collections.Counter()
def note(frame, event, _):
    if event == "call":
        code = frame.f_code
        at = code.co_filename.rpartition("/src/voile/")[2]
        function = code.co_flags & inspect.CO_OPTIMIZED and code.co_name[0] != "<"
        if function and "/src/voile/" in code.co_filename:
            counts[f"{at}:{code.co_qualname}"] += 1
answer, sys.argv = sys.argv[1], ["voile", *sys.argv[2:]]
sys.setprofile(note)
try:
    main()
except SystemExit:
    pass
finally:
    sys.setprofile(None)
json.dump(counts, open(answer, "w"))
"""


def calls(tree: Path, rows: int) -> dict[str, int]:
    """How often each function is called, the second time that the command runs here."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [f"u{row % 7},the doctor in london was late again {row}" for row in range(rows)]
        (folder / "in.csv").write_text("user,text\n" + "\n".join(lines) + "\n")
        found = folder / "counts.json"
        env = {**os.environ, "PYTHONPATH": str(tree / "src"), "VOILE_CACHE": str(folder / "cache")}
        words = [sys.executable, "-c", COUNTED, str(found), "text", "protect", "in.csv"]
        for options in (OPTIONS, OPTIONS[:-2]):
            for _ in range(2):  # the first fills the caches
                (folder / "o.csv").unlink(missing_ok=True)
                subprocess.run([*words, *options], cwd=folder, env=env, capture_output=True)
            if (folder / "o.csv").exists():
                break
        if not (folder / "o.csv").exists():
            raise SystemExit(f"{tree}: the command released nothing")
        return json.loads(found.read_text())


def measured(tree: Path) -> dict[str, object]:
    """The whole command's functions, those of the row path, and which are called most a row."""
    few, many = calls(tree, ROWS), calls(tree, 2 * ROWS)
    path = {name: (many[name] - few.get(name, 0)) / ROWS for name in many}
    path = {name: rate for name, rate in path.items() if rate > 0}
    return {
        "whole": len(many),
        "path": len(path),
        "row": sum(rate >= 1 for rate in path.values()),
        "personal": sum(name.startswith("personal/") for name in path),
        "modules": len({name.partition(":")[0] for name in path}),
        "calls": sum(path.values()),
        "most": sorted(path.items(), key=lambda one: -one[1])[:12],
        "names": sorted(path),
    }


def purpose(module: str) -> str:
    """The first sentence of a module's docstring."""
    text = (HERE.parent / "src" / "voile" / module).read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0].replace("|", "or")


def main() -> None:
    """Count, and write the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--before", action="append", default=[], metavar="NAME=FOLDER")
    options.add_argument("--list", action="store_true", help="Print the row path of this tree.")
    chosen = options.parse_args()
    named = (one.partition("=") for one in chosen.before)
    trees = {name: Path(folder).resolve() for name, _, folder in named}
    trees["now"] = HERE.parent
    found = {name: measured(tree) for name, tree in trees.items()}
    if chosen.list:
        print(*found["now"]["names"], sep="\n")
    rows = ["# The row path of `voile text protect`", "", str(__doc__).partition("\n\n")[2].strip()]
    rows += ["", f"{ROWS} rows against {2 * ROWS}, `{' '.join(OPTIONS)}`.", ""]
    rows += ["| | " + " | ".join(found) + " |", "| --- |" + " --- |" * len(found)]
    told = {
        "functions of the whole command": "whole",
        "functions of the row path": "path",
        "… of them called for every row": "row",
        "… of them rules that find what is personal": "personal",
        "modules that they stand in": "modules",
        "calls of them a row": "calls",
    }
    for words, key in told.items():
        rows.append(
            f"| {words} | " + " | ".join(f"{one[key]:.4g}" for one in found.values()) + " |"
        )
    rows += ["", "Called most often, now:", "", "| function | calls a row |", "| --- | --- |"]
    rows += [f"| `{name}` | {rate:.3g} |" for name, rate in found["now"]["most"]]
    rows += [
        "",
        "What the functions of the row path are for, module by module (its own words):",
        "",
    ]
    rows += ["| module | functions | |", "| --- | ---: | --- |"]
    modules = Counter(name.partition(":")[0] for name in found["now"]["names"])
    rows += [f"| `{module}` | {count} | {purpose(module)} |" for module, count in modules.items()]
    (HERE / "results" / "row_path.md").write_text("\n".join(rows) + "\n", encoding="utf-8")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
