"""How much source the commands of an older checkout need: there, and here for the same commands.

    git archive OLDER | tar x -C /tmp/older
    python benchmarks/reached.py --before /tmp/older [--named OLDER]

Lines of source in all (lines.py) say little once there is more that can be done. So both trees run
the same commands with the same options on the same small files: the CASES of answers.py, and what
that table lacks of the older tree's commands. A profile hook notes every function of voile that is
called, in a process for each command; each tree keeps a cache of its own. Functions, their lines,
and their code (without blank lines, comments and docstrings) are summed over all commands, room by
room. A command that one tree has not is left out in both; --pass and --drop are left out where a
tree has not those, for then it passed every column; --remap is left out everywhere, as its tables
take minutes, and trials are fewer. What numba compiles is seen by no hook, in either tree. Writes
benchmarks/results/reached.md.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from answers import CASES, HERE, Case, write_inputs
from lines import GROUPS, OTHERS, code_lines

PLAIN = Case("text protect messages.csv --epsilon 3 --pass all --out plain.csv")
MORE = [
    Case("mechanisms"),
    Case("schema"),
    Case("ledger init people.ledger --ledger-key people.key"),
    Case("text protect messages.csv --epsilon 3 --pass all --out g.csv --ledger people.ledger "
         "--person customer --budget 9000 --ledger-key people.key --report g.html"),
    Case("ledger show people.ledger --ledger-key people.key"),
    Case("ledger verify people.ledger --ledger-key people.key"),
    Case("text utility messages.csv plain.csv --label topic --no-encoder"),
    Case("text membership messages.csv plain.csv --label topic"),
    Case("text audit messages.csv plain.csv --pipeline names.txt --documents 100 --epochs 2"),
    Case("text tune messages.csv --epsilon 3 --data public --attacker markov --pipeline names.txt "
         "--documents 100 --candidates 100 --rounds 2"),
    Case("places protect trips.csv --mechanism city.voile --pass all --out u.csv --on-error skip"),
    Case("places show city.voile --at 45.02,5.02"),
    Case("labels protect clinic.csv --label diabetic --epsilon 2 --recipe public.json --out o.csv "
         "--seed 5 --on-error mask"),
    Case("labels protect clinic.csv --label diabetic --epsilon 1 --mechanism rr --classes no,yes "
         "--pass all --out n.csv --seed 5 --on-error mask"),
]  # fmt: skip
OLDER = {
    "--mechanism word-exponential": "--mechanism exponential",
    "--recipe public.json --out": "--out",
    "--classes no,yes --pass all --out": "--out",
}
"""What the older tree called otherwise, or had not."""
HOOKED = """
import json, sys, threading
answer, sys.argv = sys.argv[1], ["voile", *sys.argv[2:]]
seen = {}
def note(frame, event, _):
    if event == "call" and id(frame.f_code) not in seen:
        seen[id(frame.f_code)] = frame.f_code  # kept, so that no other code gets its id
threading.setprofile(note)
sys.setprofile(note)
try:
    from voile.cli import main
    main()
finally:
    sys.setprofile(None)
    threading.setprofile(None)
    found = {(code.co_filename, code.co_firstlineno) for code in list(seen.values())
             if code.co_flags & 1  # a function: the body of a class has no fast locals
             and "/src/voile/" in code.co_filename and code.co_name[0] != "<"}
    json.dump(sorted(found), open(answer, "w"))
"""
REASONS = [
    ("the command, and what it was given",
     "made from the signature of its use case, and each value held to its type: this serves every "
     "command; then each was written out, in one long function",
     ["cli/(?!showing|reporting|text_show)", "options", "values", "exports", "names"]),
    ("what is shown",
     "one report for screen, page and notebook; then sentences were printed as they came",
     ["cli/", "progress", "report/(?!provenance)", "text/release.py"]),
    ("what is promised, and said in the guarantee file",
     "levels, spendings, watched words, odds between nearest words, models with their hashes, the "
     "command that repeats it; every bound rounded upwards",
     ["report/", "text/(promise|sentences|effects|models_used|not_covered|nearest)", "leakage/",
      "core/(rounding|guarantee|granularity)", "packaged", "jobs/release", "storage"]),
    ("columns in clear",
     "each must be passed or dropped by name, and one that looks like an identifier is told",
     ["files/column"]),
    ("files read and written",
     "encodings and delimiters are recognised, pipes and records too long refused, nothing written "
     "is readable by more people than its source, and what an output cannot hold is found out "
     "before anything is drawn",
     ["files/", "jobs/(disk|locations|parts|pieces|source|store)"]),
    ("the ledger, where none is kept", "", ["ledger/", "jobs/(charging|ledger)", "tasks/ledger"]),
    ("the job",
     "planned, charged, then drawn; and the input held to what it was when it was read",
     ["jobs/"]),
    ("personal data found by rule",
     "keys and passwords, dates, coordinates, postcodes, numbers that a word names, signs that do "
     "not show; then mail, telephone, card, IBAN and address",
     ["personal/", "text/finders", "domains/text/identifiers"]),
    ("language",
     "a file in another language than its vocabulary is refused, and rows in others are counted",
     ["text/(languages|reading_language|seen)"]),
    ("words drawn",
     "signs at words, forms of a word, neighbours from a table that is checked; and what decides a "
     "release is a value that travels to workers",
     ["text/", "domains/", "mechanisms/", "tasks/"]),
    ("randomness, metrics, errors",
     "a generator that cannot be copied, metrics that check what they answer", [""]),
]  # fmt: skip
QUICK = {" --remap": "", "--trials 300": "--trials 60"}
"""What would take minutes, and runs the same functions or few others."""
UNKNOWN = re.compile(r"No such option: (--pass|--drop)")


@dataclass
class Reached:
    """Functions that were called, by file and first line."""

    functions: set[tuple[str, int]] = field(default_factory=set)

    def of(self, rooms: Iterable[str]) -> Reached:
        """Those of some rooms."""
        chosen = set(rooms)
        return Reached({one for one in self.functions if room(one[0]) in chosen})

    def rooms(self) -> set[str]:
        """Where they stand."""
        return {room(file) for file, _ in self.functions}

    def counts(self) -> tuple[int, int, int]:
        """How many, their lines, and their code; a function within another counts once."""
        lines: set[tuple[str, int]] = set()
        for file, first in self.functions:
            lines |= {(file, line) for line in range(first, ends(file).get(first, first) + 1)}
        code = sum(line in code_of(file) for file, line in lines)
        return len(self.functions), len(lines), code


def within(file: str) -> str:
    """A file's place under voile."""
    return file.rpartition("/src/voile/")[2]


def room(file: str) -> str:
    """The room that a file stands in."""
    first, slash, _ = within(file).partition("/")
    return first if slash else "(above all rooms)"


@cache
def parsed(file: str) -> tuple[str, ast.Module]:
    text = Path(file).read_text(encoding="utf-8")
    return text, ast.parse(text)


@cache
def ends(file: str) -> dict[int, int]:
    """The last line of each function by its first, which is that of its first decorator."""
    found = {}
    for node in ast.walk(parsed(file)[1]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            found[first] = node.end_lineno or first
    return found


@cache
def code_of(file: str) -> set[int]:
    return code_lines(*parsed(file))


def ran(tree: Path, words: str, folder: Path) -> Reached | None:
    """What a command calls, or nothing if it cannot be run here."""
    found = folder / "reached.json"
    found.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", HOOKED, str(found), *words.split()],
        cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(tree / "src"), "VOILE_CACHE": str(folder / "cache"),
             "COLUMNS": "200"},
    )  # fmt: skip
    if lacking := UNKNOWN.search(done.stderr):
        return ran(tree, re.sub(rf" {lacking[1]} \S+", "", words), folder)
    if done.returncode not in (0, 1) or not found.exists() or "Traceback" in done.stderr:
        print(f"not run in {tree}: {words}: {' '.join(done.stderr.split())[-160:]}", flush=True)
        return None
    return Reached({(file, line) for file, line in json.loads(found.read_text())})


def spelled(words: str, otherwise: dict[str, str]) -> str:
    """A command in other words."""
    for one, other in otherwise.items():
        words = words.replace(one, other)
    return words


def measured(trees: list[Path], folder: Path) -> dict[str, list[Reached]]:
    """What each command calls in both trees."""
    folders = [folder / side for side in ("before", "now")]
    for one in folders:
        one.mkdir()
        write_inputs(one)
    found = {}
    for case in [PLAIN, *CASES, *MORE]:
        now = spelled(case.words, QUICK)
        each = (spelled(now, OLDER), now)
        both = [ran(*one) for one in zip(trees, each, folders, strict=True)]
        if None not in both:
            found[case.words] = both
            print(case.words, *(len(one.functions) for one in both), flush=True)
    return found


def whole_tree(tree: Path) -> Reached:
    """All functions of a checkout."""
    files = [str(path) for path in sorted((tree / "src" / "voile").rglob("*.py"))]
    return Reached({(file, first) for file in files for first in ends(file)})


def columns(named: str) -> str:
    """The heads of the counts: then and now, side by side."""
    return " | ".join(
        f"{head}, {when}" for head in ("functions", "lines", "code") for when in (named, "now")
    )


def row(title: str, old: Reached, new: Reached) -> str:
    """The counts, then and now, side by side."""
    pairs = zip(old.counts(), new.counts(), strict=True)
    return f"| {title} | {' | '.join(f'{then:,} | {now:,}' for then, now in pairs)} |"


def in_short(old: Reached, new: Reached, everything: list[Reached]) -> str:
    """What the counts come to."""
    functions, _, code = zip(old.counts(), new.counts(), strict=True)
    every = [tree.counts()[2] for tree in everything]
    more, all_more = code[1] - code[0], every[1] - every[0]
    return (
        f"In short: these commands now call {functions[1]:,} functions instead of "
        f"{functions[0]:,}, with {code[1]:,} lines of code instead of {code[0]:,}: "
        f"{code[1] / code[0]:.2f} times as many, while all functions that there are have "
        f"{every[1] / every[0]:.2f} times as many. Of the {all_more:,} lines by which all "
        f"functions grew, {more:,} ({100 * more / all_more:.0f} %) are called by these commands; "
        "the rest serves what there was none of, options that these commands were not given, and "
        "what is refused."
    )


def by_room(old: Reached, new: Reached, named: str) -> list[str]:
    """A row a room, group by group."""
    known = {name for names in GROUPS.values() for name in names}
    there = old.rooms() | new.rooms()
    rows = [f"| room | {columns(named)} |", "| --- |" + " ---: |" * 6]
    for title, names in {**GROUPS, OTHERS: tuple(there - known)}.items():
        rows.append(row(f"**{title}**", old.of(names), new.of(names)))
        rows += [row(name, old.of([name]), new.of([name])) for name in names if name in there]
    return [*rows, row("**all**", old, new)]


def by_reason(old: Reached, new: Reached, named: str) -> list[str]:
    """What the plainest command calls, by what it is for."""
    rows = [f"| what for | {columns(named)} | why |", "| --- |" + " ---: |" * 6 + " --- |"]
    for title, why, modules in REASONS:
        matching = re.compile("|".join(modules))
        one, two = (
            Reached({at for at in each.functions if matching.match(within(at[0]))})
            for each in (old, new)
        )
        old = Reached(old.functions - one.functions)
        new = Reached(new.functions - two.functions)
        rows.append(f"{row(title, one, two)} {why} |")
    return rows


def main() -> None:
    """Run, count, and write the tables."""
    options = argparse.ArgumentParser()
    options.add_argument("--before", type=Path, required=True)
    options.add_argument("--named", default="before", help="What the older checkout is called.")
    chosen = options.parse_args()
    trees = [chosen.before.resolve(), HERE.parent]
    with tempfile.TemporaryDirectory() as name:
        found = measured(trees, Path(name))
        told = str(__doc__).partition("\n\n")[2].strip()
        lines = ["# Source that the same commands need", "", *told.splitlines(), ""]
        old, new = (
            Reached(set().union(*(both[side].functions for both in found.values())))
            for side in (0, 1)
        )
        everything = [whole_tree(tree) for tree in trees]
        lines += [in_short(old, new, everything), ""]
        lines += [f"{len(found)} commands that both trees have, all together:", ""]
        lines += [*by_room(old, new, chosen.named), row("of all there is", *everything)]
        lines += ["", f"`voile {PLAIN.words}`, by what it is for:", ""]
        lines += by_reason(*found[PLAIN.words], chosen.named)
        lines += ["", "Command by command:", ""]
        lines += [f"| command | {columns(chosen.named)} |", "| --- |" + " ---: |" * 6]
        lines += [row(f"`voile {words}`", *both) for words, both in found.items()]
    (HERE / "results" / "reached.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
