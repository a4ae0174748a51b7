"""The ledger on the command line: make one, look, hand on, verify."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from voile.cli._ledger import LedgerKey
from voile.cli.show import AsJson, table

app = typer.Typer(
    no_args_is_help=True,
    help="A budget for each person: who has spent how much, by keyed hash.",
    rich_markup_mode="markdown",
)

Where = Annotated[str, typer.Argument(help="The ledger: a file, or a postgresql:// URL.")]


@app.command()
def init(
    ledger: Where,
    budget: Annotated[
        float | None, typer.Option(help="A person's budget; default: the first release sets it.")
    ] = None,
    budget_delta: Annotated[
        float, typer.Option(help="Count by moments, which may fail with this probability.")
    ] = 0.0,
    ledger_key: LedgerKey = None,
    as_json: AsJson = False,
) -> None:
    """Make an empty ledger, and a key for it that only you can read.

    Example: `voile ledger init ledger.db --budget 20`
    """
    from voile.ledger._show import init_ledger

    made = init_ledger(ledger, key_file=ledger_key, budget=budget, delta=budget_delta)
    if as_json:
        facts = {"key_file": made.key_file, "new_key": made.new_key}
        typer.echo(json.dumps(facts, indent=2))
        return
    typer.echo(f"Made an empty ledger, and its key {made.key_file}." if made.new_key else
               f"Made an empty ledger for the key {made.key_file}.")  # fmt: skip
    typer.echo(
        "Keep a copy of the key elsewhere than the ledger: with both, persons can be looked up; "
        "without it, nothing more can be charged."
    )


@app.command()
def show(
    ledger: Where,
    person: Annotated[
        list[str] | None, typer.Option(help="Somebody to look up; may be repeated; needs the key.")
    ] = None,
    ledger_key: LedgerKey = None,
    as_json: AsJson = False,
) -> None:
    """What was spent in all, and by the persons you name.

    Example: `voile ledger show ledger.db --person 1007 --ledger-key ledger.db.key`
    """
    from voile.ledger._show import epsilon_text, show_ledger

    facts = show_ledger(ledger, persons=person or (), key_file=ledger_key)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    if facts["counts"] is None:
        typer.echo("Nothing was charged yet; the first release sets kind and budget.")
    else:
        delta = f", δ = {facts['budget_delta']:g}" if facts["budget_delta"] else ""
        typer.echo(f"Counts {facts['counts']}; budget {facts['budget']:g} a person{delta}.")
        typer.echo(
            f"{facts['people']:,} persons, {facts['rows']:,} rows charged; the most that one has "
            f"spent is {epsilon_text(facts['largest_spent'])}; "
            f"{facts['people_without_budget_left']:,} have nothing left."
        )
    found = facts.get("persons", [])
    if found:
        table(
            ["person", "rows", "spent", "left"],
            [
                [p["person"], str(p["rows"]), epsilon_text(p["spent"]),
                 epsilon_text(p["left"]) if "left" in p else ""]
                for p in found
            ],
        )  # fmt: skip
    if len(found) == 1 and "meaning" in found[0]:
        typer.echo(found[0]["meaning"])
    typer.echo(f"Head {facts['head']}")


@app.command()
def export(
    ledger: Where,
    out: Annotated[Path | None, typer.Option(help="Where to write; default: the terminal.")] = None,
    entries: Annotated[
        bool, typer.Option("--entries", help="Every entry as JSON lines, instead of accounts.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output.")] = False,
) -> None:
    """Write all accounts as CSV: keyed hash, rows, spent, left. Needs no key.

    Example: `voile ledger export ledger.db --out accounts.csv`
    """
    from voile.errors import CannotWrite
    from voile.files import open_private
    from voile.ledger._show import export_ledger

    if out is None:
        export_ledger(ledger, sys.stdout, entries=entries)
        return
    try:
        with open_private(out, "w" if overwrite else "x", encoding="utf-8", newline="") as file:
            count = export_ledger(ledger, file, entries=entries)
    except FileExistsError:
        raise CannotWrite(f"{str(out)!r} exists already; choose another or --overwrite") from None
    except OSError as problem:
        raise CannotWrite(f"{str(out)!r} cannot be written: {problem.strerror}") from None
    typer.echo(f"Wrote {count:,} {'entries' if entries else 'accounts'} to {out}")


@app.command()
def verify(
    ledger: Where,
    head: Annotated[
        str | None,
        typer.Option(help="A head noted earlier: NUMBER:HASH, or a guarantee file that holds it."),
    ] = None,
    ledger_key: LedgerKey = None,
    as_json: AsJson = False,
) -> None:
    """Recompute the chain, the seals and every account; exit with 1 if anything was changed.

    Example: `voile ledger verify ledger.db --head reviews.protected.csv.guarantee.json`
    """
    from voile.ledger._show import verify_ledger

    found = verify_ledger(ledger, key_file=ledger_key, head=head)
    if as_json:
        facts = {
            "whole": not found.problems,
            "entries": found.entries,
            "people": found.people,
            "head": str(found.head),
            "seals_checked": found.sealed,
            "problems": list(found.problems),
        }
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        for problem in found.problems:
            typer.echo(f"CHANGED: {problem}")
        if not found.problems:
            kept = "chain, seals and accounts" if found.sealed else "chain and accounts"
            typer.echo(f"{found.entries:,} entries, {found.people:,} persons: {kept} agree.")
            if not found.sealed:
                typer.echo("Seals were not checked: that takes the key (--ledger-key).")
            if found.seen is not None:
                typer.echo(
                    f"It goes on from entry {found.seen.number}, the last seen with this key."
                )
            elif head is None:
                typer.echo("Whether it was cut back to an earlier state only a noted --head tells.")
            typer.echo(f"Head {found.head}")
    if found.problems:
        raise typer.Exit(1)


@app.command()
def backup(
    ledger: Where,
    out: Annotated[str, typer.Argument(help="The new file.")],
    ledger_key: LedgerKey = None,
) -> None:
    """Copy the whole ledger, of one moment, into one new file, and verify the copy.

    Copying `ledger.db` by hand leaves out what SQLite still keeps in `ledger.db-wal`.

    Example: `voile ledger backup ledger.db ledger.backup.db --ledger-key ledger.db.key`
    """
    from voile.jobs.ledger_keep import backup_ledger

    head = backup_ledger(ledger, out, key_file=ledger_key)
    typer.echo(f"Wrote {out}: {head.number:,} entries, verified.")
    typer.echo(f"Head {head}")


@app.command()
def migrate(
    ledger: Where,
    to: Annotated[str, typer.Argument(help="Where it goes on: a new file, or an address.")],
    ledger_key: LedgerKey = None,
) -> None:
    """Let the ledger go on elsewhere (a file or PostgreSQL); the old one is charged no more.

    Also brings a ledger of an older voile to the present format.

    Example: `voile ledger migrate ledger.db postgresql://voile@db.example/ledgers`
    """
    from voile.jobs.ledger_keep import migrate_ledger

    head = migrate_ledger(ledger, to, key_file=ledger_key)
    typer.echo(f"The ledger goes on at its new place: {head.number:,} entries, verified.")
    typer.echo(f"Head {head}")


@app.command()
def abandon(
    ledger: Where,
    job: Annotated[
        str, typer.Argument(help="The output of an interrupted job, or the job's name.")
    ],
    deleted: Annotated[
        bool, typer.Option("--deleted", help="Its folder was deleted, and nobody had read it.")
    ] = False,
    ledger_key: LedgerKey = None,
) -> None:
    """Give up a job that will never be finished: delete what it drew, take back its charges.

    Only a job whose output never appeared; it can never be resumed afterwards.

    Example: `voile ledger abandon ledger.db reviews.protected.csv --ledger-key ledger.db.key`
    """
    from voile.jobs.ledger_keep import abandon_job

    name, parts = abandon_job(ledger, job, key_file=ledger_key, deleted=deleted)
    typer.echo(f"Took back the charges of {parts:,} parts of job {name}.")
