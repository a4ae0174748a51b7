"""Releases as files: run a recipe, and check what came of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from voile.audit.finding import Verdict
from voile.core.rounding import at_most
from voile.errors import BadFile, InvalidInput, VoileError
from voile.files.locations import location, sha256_of
from voile.jobs.release import FORMAT, SECURE, output_for
from voile.options import Option, case_of, use_case
from voile.recipe import Recipe, by_parameter, read_recipe
from voile.report.model import Report, Table
from voile.report.result import Result
from voile.surface import use_case_named

RecipeFile = Annotated[Path, Option("A recipe, such as --save-recipe writes.", reads="public")]


@use_case("run")
def run(
    recipe: RecipeFile,
    *,
    ledger: Annotated[
        str | None, Option("The ledger, which no recipe holds.", "Budget", secret=True)
    ] = None,
    ledger_key: Annotated[
        str | None,
        Option("Its key file.", "Budget", environment="VOILE_LEDGER_KEY", secret=True),
    ] = None,
) -> Result:
    """Carry out a recipe file: a command and its options, as TOML.

    Example: `voile run release.toml`

    Paths in it are taken from where the command is run.
    """
    found = read_recipe(recipe)
    function = use_case_named(found.command)
    if found.command in ("run", "check"):
        raise InvalidInput("a recipe must not run another recipe")
    known = case_of(function).parameters
    secret = {"ledger": ledger, "ledger_key": ledger_key if ledger else None}
    asked = by_parameter(found.options, known.values(), recipe.name)
    given = {**asked, **{n: value for n, value in secret.items() if value is not None}}
    strange = sorted(set(given) - set(known))
    if strange:
        raise BadFile(f"{recipe.name}: {found.command} has no option {strange[0]!r}")
    missing = [name for name, option in known.items() if option.required and name not in given]
    if missing:
        how = f"give --{missing[0]}" if missing[0] in secret else "write it there"
        raise BadFile(
            f"{recipe.name} must say {missing[0]} for {found.command}, it does not; {how}"
        )
    answer: Result = function(**given)
    return answer


# ── checks ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Check:
    """One threshold of a recipe, and what was found."""

    name: str
    about: str
    most: float
    found: float | None
    met: bool


@dataclass(frozen=True, repr=False, eq=False)
class Checked(Result):
    """Whether a release keeps what its recipe asks of it."""

    output: str
    checks: tuple[Check, ...]

    def _records(self) -> tuple[Check, ...]:
        return self.checks

    def _report(self) -> Report:
        """Each threshold beside what was found."""
        missed = [check for check in self.checks if not check.met]
        said = "; ".join(f"{check.about}: {_shown(check)}" for check in missed)
        rows = tuple(
            (c.name, c.about, f"{c.most:.12g}", _shown(c), "yes" if c.met else "NO")
            for c in self.checks
        )
        titles = ("check", "what it looks at", "at most", "found", "kept")
        return Report(
            title="A release and its thresholds",
            answer=(
                f"{len(missed)} of {len(self.checks)} thresholds are missed: {said}."
                if missed
                else f"All {len(self.checks)} thresholds are kept by {self.output}."
            ),
            verdict=Verdict.VIOLATED if missed else Verdict.HOLDS,
            because="By the guarantee file, and the released file that it speaks of.",
            tables=(Table("Thresholds", titles, rows),),
            about="What was asked",
        )


def _shown(check: Check) -> str:
    """What was found, rounded up; with more digits where that would seem to miss the threshold."""
    if check.found is None:
        return "not known"
    told = (at_most(check.found, digits=digits) for digits in (4, 6, 9, 17))
    return next(text for text in told if not check.met or float(text) <= check.most)


@use_case("check")
def check(recipe: RecipeFile) -> Checked:
    """Hold a release to the thresholds of its recipe; exit code 1 if one is missed.

    Example: `voile check release.toml`

    Thresholds stand under [checks] in the recipe: epsilon, unit_epsilon, worst_watched,
    columns_in_clear, identifiers_left, names_left, audit_bound, rows_lost.
    """
    asked = read_recipe(recipe)
    if not asked.checks:
        raise BadFile(f"{recipe.name} must have thresholds under [checks], it has none")
    strange = sorted(set(asked.checks) - set(CHECKS))
    if strange:
        raise BadFile(f"{recipe.name}: [checks] knows {', '.join(CHECKS)}; got {strange[0]!r}")
    output = _output(asked)
    promised = _guarantee_file(output)
    made = [_secure(promised)]
    for name, most in asked.checks.items():
        if isinstance(most, bool) or not isinstance(most, int | float):
            raise BadFile(f"{recipe.name}: {name} must be a number")
        about, measure = CHECKS[name]
        found = measure(_Released(asked, output, promised))
        made.append(Check(name, about, float(most), found, found is not None and found <= most))
    return Checked(output, tuple(made))


def _secure(promised: Mapping[str, Any]) -> Check:
    """Whatever else is asked: what a seed drew is not for release."""
    seeded = float(promised["randomness"] != SECURE)
    return Check("seeded", "draws that a seed repeats, not for release", 0.0, seeded, not seeded)


def _output(recipe: Recipe) -> str:
    """Where the release lies: as the recipe says, or where its command puts it."""
    given = recipe.options.get("out")
    if isinstance(given, str):
        return given
    named = output_for(recipe.options.get("data"), None, overwrite=True)
    if named is None:
        raise BadFile("the recipe must name its data, a file, or its output (out)")
    return named


def _guarantee_file(output: str) -> Mapping[str, Any]:
    path = Path(output + ".guarantee.json")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadFile(
            f"{path.name} must lie beside the release, and there is none in "
            f"{path.absolute().parent}; run the recipe first, or go to the folder from which it "
            "was run: its paths start there"
        ) from None
    except (OSError, ValueError) as problem:
        raise BadFile(f"{path.name} must be a guarantee file: {type(problem).__name__}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise BadFile(f"{path.name} must be a guarantee file of format {FORMAT}")
    released = location(output)
    if not released.exists() or sha256_of(released) != found["output_sha256"]:
        raise BadFile(
            f"{released.name} must be the release that {path.name} speaks of, byte by byte, and is "
            "not; run the recipe again"
        )
    return found


@dataclass(frozen=True)
class _Released:
    """What a check may look at."""

    recipe: Recipe
    output: str
    promised: Mapping[str, Any]


def _epsilon(made: _Released) -> float | None:
    found = made.promised["guarantee"]["epsilon"]
    return None if found is None else float(found)


def _unit_epsilon(made: _Released) -> float | None:
    spent = [row["largest"] for row in made.promised["spent"] if row["largest"] is not None]
    return max(map(float, spent), default=None)


def _worst_watched(made: _Released) -> float | None:
    """The watched word that the law keeps most; 1 where a level stands in clear."""
    levels = made.promised.get("levels")
    if not levels:
        return None
    if any(level["released"] == "in clear" for level in levels):
        return 1.0
    chances = [
        chance for level in levels for group in level["watched"] for _, chance in group["most"]
    ]
    return max(chances, default=None)


def _columns_in_clear(made: _Released) -> float | None:
    return float(len(made.promised["columns"]["passed_in_clear"]))


def _rows_lost(made: _Released) -> float | None:
    rows = made.promised["rows"]
    if rows is None:
        return None
    lost = rows["skipped"] + rows["masked"] + rows["over_budget"]
    return float(lost / max(1, lost + rows["released"]))


def _identifiers_left(made: _Released) -> float | None:
    """E-mails, phones, cards and the like that stand in a released text and in its original.

    A number that was drawn may look like a telephone's and be nobody's. Without the originals, or
    where rows are gone, everything counts that looks like an identifier.
    """
    from voile.personal.patterns import find_identifiers

    after = _texts(made)
    try:
        before = _texts(made, original=True)
    except VoileError:
        before = []
    paired = len(before) == len(after)
    return float(
        sum(
            not paired or text[start:end] in before[row]
            for row, text in enumerate(after)
            for start, end, _ in find_identifiers(text)
        )
    )


def _names_left(made: _Released) -> float | None:
    """Names of an original that still stand in its release, over all records."""
    from voile.text.tiers import DEFAULT_PIPELINE, load_pipeline, marked

    before, after = _texts(made, original=True), _texts(made)
    if len(before) != len(after):
        return None
    finder = load_pipeline(str(made.recipe.options.get("pipeline") or DEFAULT_PIPELINE))
    left = 0
    for text, found, released in zip(before, marked(finder, before), after, strict=True):
        names = {text[e.start_char : e.end_char].lower() for e in found}
        left += sum(bool(re.search(rf"\b{re.escape(n)}\b", released.lower())) for n in names)
    return float(left)


def _texts(made: _Released, *, original: bool = False) -> list[str]:
    from voile.text.reading import texts_of

    if not made.recipe.command.startswith("text "):
        raise BadFile("identifiers_left, names_left and audit_bound look at releases of text")
    where = made.recipe.options["data"] if original else made.output
    return texts_of(where, str(made.recipe.options.get("column", "text")))


def _audit_bound(made: _Released) -> float | None:
    """What attackers who see original and release show at least, as one empirical ε for a text."""
    from voile.text import calibrate

    before, after = _texts(made, original=True), _texts(made)
    if len(before) != len(after):
        return None
    found = calibrate(before, released=after, attacks=("overlap", "tf-idf", "shape"))
    return float(found.strongest.lower)


CHECKS: dict[str, tuple[str, Callable[[_Released], float | None]]] = {
    "epsilon": ("ε of the guarantee", _epsilon),
    "unit_epsilon": ("ε that a document or person spent, at most", _unit_epsilon),
    "worst_watched": ("the watched word that is kept most", _worst_watched),
    "columns_in_clear": ("columns that stand in clear", _columns_in_clear),
    "identifiers_left": ("identifiers left in the texts", _identifiers_left),
    "names_left": ("listed names left in the texts", _names_left),
    "audit_bound": ("ε that an attack shows at least", _audit_bound),
    "rows_lost": ("share of rows that were lost", _rows_lost),
}
"""Every check: what it looks at, and how it is found."""
