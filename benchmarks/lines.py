"""How much source there is, room by room: in an older checkout, and here.

    git archive OLDER | tar x -C /tmp/older
    python benchmarks/lines.py --before /tmp/older [--named OLDER]

Lines of `src` in all (.py and .pyi, and a JSON Schema written by hand, while there was one); code,
which is lines without blank ones, comments and docstrings; functions, and the median of their
lines. Rooms are gathered by what they are for: an older checkout had the use cases in `tasks`, and
what they say in `report` and `cli`. Writes benchmarks/results/lines.md.
"""

from __future__ import annotations

import argparse
import ast
import io
import statistics
import tokenize
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
GROUPS = {
    "one surface: use cases, commands, reports, files": (
        "text", "places", "labels", "files", "cli", "report", "demo", "(above all rooms)",
        "tasks", "domains", "samples",
    ),
    "laws, attacks, audits, jobs, ledger": (
        "core", "metrics", "mechanisms", "optimise", "rewriting", "leakage", "attackers", "audit",
        "adapt", "jobs", "ledger",
    ),
}  # fmt: skip
OTHERS = "what there was none of: restoring, finding, estimating, papers, studio, service"
NOTHING = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Room:
    """What a room holds."""

    lines: int = 0
    code: int = 0
    functions: list[int] = field(default_factory=list)

    def __add__(self, other: Room) -> Room:
        return Room(
            self.lines + other.lines, self.code + other.code, self.functions + other.functions
        )

    def row(self) -> list[str]:
        """Its columns of the table."""
        if not self.lines:
            return ["–"] * 4
        median = f"{statistics.median(self.functions):.3g}" if self.functions else "–"
        return [f"{self.lines:,}", f"{self.code:,}", f"{len(self.functions):,}", median]


def rooms(tree: Path) -> dict[str, Room]:
    """Every room of a checkout; modules that stand above all rooms are one."""
    root = tree / "src" / "voile"
    found: dict[str, Room] = defaultdict(Room)
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".pyi") or path.name == "schema.json":
            parts = path.relative_to(root).parts
            found[parts[0] if len(parts) > 1 else "(above all rooms)"] += read(path)
    return found


def read(path: Path) -> Room:
    """One file."""
    text = path.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    if path.suffix == ".json":
        return Room(lines, lines)
    tree = ast.parse(text)
    functions = [
        node.end_lineno - node.lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return Room(lines, len(code_lines(text, tree)), functions)


def code_lines(text: str, tree: ast.Module) -> set[int]:
    """Which lines are code: not blank, no comment, no docstring."""
    nodes = list(ast.walk(tree))
    told = {
        line
        for node in nodes
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None
        for line in range(node.body[0].lineno, node.body[0].end_lineno + 1)
    } | {
        line
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in NOTHING
        for line in range(token.start[0], token.end[0] + 1)
    }
    return code - told


def table(before: dict[str, Room], now: dict[str, Room], named: str) -> list[str]:
    """A row a room, group by group, the largest growth first."""
    heads = ["lines", "code", "functions", "median"]
    columns = [f"{head}, {when}" for when in (named, "now") for head in heads]
    rows = [f"| room | {' | '.join(columns)} | more code |", "| --- |" + " ---: |" * 9]
    known = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, OTHERS: tuple({*before, *now} - known)}
    whole = Room(), Room()
    for title, names in groups.items():
        pairs = {name: (before.get(name, Room()), now.get(name, Room())) for name in names}
        old, new = (sum((pair[side] for pair in pairs.values()), Room()) for side in (0, 1))
        whole = whole[0] + old, whole[1] + new
        rows.append(_row(f"**{title}**", old, new))
        growing = sorted(pairs.items(), key=lambda item: item[1][0].code - item[1][1].code)
        rows += [_row(name, *pair) for name, pair in growing]
    return [*rows, _row("**all**", *whole)]


def _row(name: str, old: Room, new: Room) -> str:
    return f"| {name} | {' | '.join([*old.row(), *new.row()])} | {new.code - old.code:+,} |"


def main() -> None:
    """Count, and write the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--before", type=Path, required=True)
    options.add_argument("--named", default="before", help="What the older checkout is called.")
    chosen = options.parse_args()
    told = str(__doc__).partition("\n\n")[2].strip()
    found = ["# Lines of source", "", *told.splitlines(), ""]
    found += table(rooms(chosen.before), rooms(HERE.parent), chosen.named)
    (HERE / "results" / "lines.md").write_text("\n".join(found) + "\n", encoding="utf-8")
    print("\n".join(found))


if __name__ == "__main__":
    main()
