"""Protect a labelled file: every record is released once, by a recipe that is public."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from voile.core.randomness import secure_rng, seeded_rng
from voile.errors import InvalidInput, VoileError
from voile.files.columns_in_clear import ColumnsInClear, columns_in_clear
from voile.files.formats import format_of
from voile.files.locations import Location, location
from voile.files.rows import OnError, RowProblem
from voile.files.source import Source, open_source
from voile.jobs.job_report import JobReport
from voile.jobs.ledger_choice import charging_for
from voile.jobs.release import carry_out, output_for
from voile.jobs.settings import Columns, LedgerChoice, OutputFile, Running
from voile.jobs.standing import Expected
from voile.jobs.workspace import Workspace
from voile.labels._recipe import MadeRecipe, write_recipe
from voile.labels.bins import Cut
from voile.labels.choice import LabelChoice, chosen_recipe, recipe_of
from voile.labels.describing import described
from voile.labels.draw import LabelReleaser, check_types, kinds_of
from voile.labels.grouping import grouped
from voile.labels.handing import Handing
from voile.labels.law import Law
from voile.labels.memo import Memo, memo_at
from voile.labels.protection import Protection
from voile.labels.reading import Label, require_label
from voile.labels.recipe_file import recipe_digest, recipe_from, recipe_text
from voile.labels.recipes import Recipe
from voile.labels.released import ProtectedLabels
from voile.labels.sampling import COLUMN, REPORT
from voile.labels.values import MISSING
from voile.options import Data, Option, use_case

BY_CELLS = LabelChoice()
AS_NAMES = Cut()
NONE_NAMED = Columns()
IN_ONE_GO = Running()
AS_THEY_COME = Handing()
DRAFTED = "drafted"
"""Of a job's identity: the recipe that was made for it."""


@use_case("labels protect")
def protect(
    data: Annotated[
        Data,
        Option(
            "CSV, JSONL, Parquet or text; .gz allowed; a path or a URL (s3://…).", reads="private"
        ),
    ],
    *,
    label: Label,
    epsilon: Annotated[float, Option("The privacy parameter.", "How strong")],
    out: OutputFile = None,
    choice: LabelChoice = BY_CELLS,
    cut: Cut = AS_NAMES,
    columns: Columns = NONE_NAMED,
    running: Running = IN_ONE_GO,
    charge: LedgerChoice = LedgerChoice(),
    handing: Handing = AS_THEY_COME,
    seed: Annotated[
        int | None, Option("For experiments only: the output must not be released.", "Running")
    ] = None,
) -> ProtectedLabels:
    """Write a protected copy of a labelled file, each record drawn once.

    Example: `voile labels protect patients.csv --label diagnosis --epsilon 2 --recipe public.json`

    Every column that the mechanism leaves as it is must be named in --pass or --drop. What the
    output shows beside the draws comes from a recipe, which must be public. One that is made here
    is written beside the output when all is drawn; until then the job's folder keeps it, where a
    restart of the interrupted job finds it. A value that is missing or unknown to the recipe is
    coded with --on-error mask (not by cf), and stops the job otherwise. With a ledger, a record
    charges its person the bound that adds up, and the person's column is dropped unless it is
    passed by name.
    """
    choice = choice.checked(epsilon)
    handing.check(choice.mechanism, charge)
    person, charge = charge.person, charge if handing.memo is None else replace(charge, person=None)
    edges = _edges(cut, choice, epsilon)
    source = open_source(data)
    if handing != AS_THEY_COME and isinstance(source, Expected):
        raise InvalidInput("--shuffle and --memo must go with records that are there, all of them")
    named = output_for(data, out, overwrite=running.overwrite)
    target = None if named is None else location(named)
    require_label(source, label)
    columns = _with_person(columns, person, charge.ledger is not None or handing.memo is not None)
    job = None if target is None else Workspace(target).folder
    beside = None if target is None else target.beside(target.name + ".recipe.json")
    _learning_is_charged(choice, charge, running)
    made, drafted = chosen_recipe(
        choice,
        source,
        label=label,
        epsilon=epsilon,
        beside=beside,
        kept=None if target is None else _kept(Workspace(target)),
        leave=(*columns.drop, *_named(columns)),
        on_error=running.policy,
        rng=secure_rng() if seed is None else seeded_rng(seed),
        person=charge.person if charge.ledger is not None else None,
        edges=edges,
    )
    given = made
    if choice.mechanism in ("ldp", "sample") and {c.name for c in made.columns} & {*columns.drop}:
        made = made.without(columns.drop)  # what is not written need not be drawn
    if choice.mechanism == "sample" and not made.groups:
        records = _count(source) if choice.records is None else choice.records
        made = grouped(made, epsilon=epsilon, records=records)
    drafted = drafted or made is not given  # the recipe that is used lies beside the release
    law = Law(recipe_text(made), epsilon, choice.mechanism, choice.prior, choice.label_share)
    protection = law.protection()
    clear = _columns(source, made, protection, columns)
    _no_strangers(source, clear, target)
    if target is not None:
        check_types(source, made, target.name, features=choice.changes_features)
    handing.check_bound(protection, clear, lambda: _count(source))
    charging = charging_for(charge, protection.adding_up(), source.columns, seed=seed)
    if handing.memo is not None:  # once nothing else is wrong: what is made here is of this law
        law = replace(law, memo=_memo(handing.memo, law, source, person))
        protection = law.protection()
    stated = protection.beside([clear.shown[name] for name in clear.passed])
    where = _where(choice.recipe if made is given else None, beside)
    written: list[Location] = []

    def describe(report: JobReport) -> ProtectedLabels:
        """Everybody is charged: from here on the recipe may be seen, and no release lacks it."""
        if drafted and beside is not None:
            written.append(beside)
            write_recipe(made, beside, like=source)
        return described(report, stated, law.draws(), made, clear, where, seed, handing)

    try:
        done = carry_out(
            source,
            partial(
                LabelReleaser,
                law,
                clear,
                kinds_of(source, made),
                running.on_error == "mask",
                person,
                handing.shuffle,
            ),
            out=None if target is None else str(target),
            describe=describe,
            identity=_identity(label, law, choice, clear, seed)
            | {"edges": list(edges), "shuffle": handing.shuffle, "person": person}
            | {DRAFTED: law.recipe if drafted else None},
            clear=clear,
            running=handing.running(running),
            charging=charging,
            seed=seed,
            added_columns=() if protection.sampler is None else (COLUMN, REPORT),
        )
    except VoileError:
        for place in () if job and job.exists() else written:
            place.remove()  # nothing of a job that was refused may stay
        raise
    if running.overwrite and beside is not None and beside.exists() and not _is(made, beside):
        beside.remove()  # the recipe of the release that stood here before
    return done


def _kept(space: Workspace) -> Recipe | None:
    """The recipe that an interrupted job made: it stands in its manifest, for its owner alone."""
    found = space.settings().get(DRAFTED)
    return recipe_from(found) if isinstance(found, str) else None


def _memo(path: str, law: Law, source: Source, person: str | None) -> Memo:
    """The memo of this law, if the file has a column of persons."""
    source.must_have(str(person), what="--person")
    return memo_at(path, recipe=law.draws().recipe_sha256, epsilon=law.epsilon)


def _identity(
    label: str, law: Law, choice: LabelChoice, clear: ColumnsInClear, seed: int | None
) -> dict[str, Any]:
    """What a restart must agree in, the recipe by its hash."""
    return vars(replace(choice, records=None)) | {
        "job": "labels protect",
        "label": label,
        "epsilon": law.epsilon,
        "passed": list(clear.passed),
        "seed": seed,
        "recipe": hashlib.sha256(law.recipe.encode()).hexdigest(),
        "memo": None if law.memo is None else law.memo.name,
    }


def _where(recipe: Data, beside: Location | None) -> str | None:
    """Where the recipe stands: beside the output unless one is given, which may be in memory."""
    if isinstance(recipe, MadeRecipe):
        return recipe.recipe
    found = beside if recipe is None else recipe
    return None if found is None or isinstance(found, Recipe) else str(found)


def _is(made: Recipe, place: Location) -> bool:
    """Whether the recipe that lies there is the one that was used."""
    try:
        return recipe_digest(recipe_of(str(place))) == recipe_digest(made)
    except VoileError:
        return False


def _learning_is_charged(choice: LabelChoice, charge: LedgerChoice, running: Running) -> None:
    """Refuse a ledger that would not charge everybody who was learned from."""
    if choice.learn_epsilon is None or charge.ledger is None:
        return
    if charge.over_budget != "refuse" or running.policy is not OnError.FAIL:
        raise InvalidInput(
            "--learn-epsilon with a ledger must go with --over-budget refuse and --on-error fail: "
            "a row that is left out or masked is charged to nobody, and was learned from"
        )


def _count(source: Source) -> int:
    """How many rows there are to release."""
    return max(1, sum(1 for _ in source.rows()))


def _no_strangers(source: Source, clear: ColumnsInClear, target: Location | None) -> None:
    """Refuse records with a field that nobody named where the output could not hold it.

    A job would leave such a record out or empty it, as --on-error says: that tells of the field.
    """
    if target is None or source.format != "jsonl" or format_of(target.name).kind == "jsonl":
        return
    for line, row in source.rows():
        if not isinstance(row, RowProblem) and clear.strangers([row]):
            raise InvalidInput(
                f"{source.where(line)}: it has a field that nobody named, which tells if the "
                "record is left out; name it in --pass or --drop, or write to .jsonl"
            )


def _edges(cut: Cut, choice: LabelChoice, epsilon: float) -> tuple[float, ...]:
    """The edges of a number's bins, if they go together with what else was said."""
    edges = cut.at(epsilon)
    learns = choice.learn_from_private or choice.learn_epsilon is not None
    named = choice.classes not in ((), (MISSING,))
    if edges and (choice.changes_features or choice.recipe is not None or named or learns):
        raise InvalidInput(
            "--edges must go with --mechanism rr or prior, and without a recipe, learning or "
            f'--classes (but "{MISSING}"); for cf, ldp and sample `voile labels recipe` takes '
            "them, and the recipe says them"
        )
    return edges


def _named(columns: Columns) -> tuple[str, ...]:
    return () if columns.pass_ == "all" else tuple(columns.pass_)


def _with_person(columns: Columns, person: str | None, needed: bool) -> Columns:
    """The person's column is dropped unless it was passed by name."""
    if not needed or not person or person in (*columns.drop, *_named(columns)):
        return columns
    return replace(columns, drop=(*columns.drop, person))


def _columns(
    source: Source, recipe: Recipe, protection: Protection, columns: Columns
) -> ColumnsInClear:
    """What happens to the columns that are not drawn; a column that is may be dropped as well."""
    drawn = [] if protection.passes_features else [c.name for c in recipe.columns]
    absent = [name for name in drawn if name not in source.columns]
    if absent:
        raise InvalidInput(
            f"the file must have the recipe's {len(drawn)} features, {len(absent)} are missing"
        )
    if protection.sampler is not None:  # reports stand in place of records
        taken = [name for name in (COLUMN, REPORT) if name in source.columns]
        if taken:
            raise InvalidInput(f"the file must have no column {taken[0]!r}: it is the release's")
        left = (*columns.drop, *(n for n in (recipe.label, *drawn) if n not in columns.drop))
        return columns_in_clear(source, changed=[], passing=columns.passing, dropping=left)
    changed = [recipe.label, *(name for name in drawn if name not in columns.drop)]
    return columns_in_clear(source, changed=changed, passing=columns.passing, dropping=columns.drop)
