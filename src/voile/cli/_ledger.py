"""The options of a ledger, the same for every command that releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from voile.jobs.ledger_choice import LedgerChoice

Person = Annotated[
    str | None, typer.Option(help="The column that says whose row it is, for --ledger.")
]
BudgetOption = Annotated[
    float | None, typer.Option(help="What all releases about a person may spend; set once.")
]
LedgerWhere = Annotated[
    str | None, typer.Option("--ledger", help="Charge persons in this file or postgresql:// URL.")
]
LedgerKey = Annotated[
    str | None,
    typer.Option(
        "--ledger-key", envvar="VOILE_LEDGER_KEY", show_envvar=True, help="The ledger's key file."
    ),
]
WhenOver = Annotated[
    str, typer.Option("--over-budget", help="A row beyond its budget: refuse, mask or drop.")
]


def ledger_choice(
    ledger: str | None,
    person: str | None,
    budget: float | None,
    key_file: str | None,
    over_budget: str,
) -> LedgerChoice:
    """What was chosen; the options go together."""
    from typing import Any, cast

    from voile.jobs.ledger_choice import LedgerChoice

    return LedgerChoice(ledger, person, budget, cast(Any, over_budget), key_file)


def show_charged(facts: dict[str, Any]) -> None:
    """What the ledger did, after a release."""
    found = facts.get("ledger")
    if found is None:
        return
    typer.echo(found["promise"])
    if found["rows_over_budget"]:
        done = {"mask": "masked", "drop": "left out"}[found["over_budget"]]
        typer.echo(f"{found['rows_over_budget']:,} rows were beyond their budget and are {done}.")
    typer.echo(f"Ledger at entry {found['head'].split(':')[0]}; its head is in the guarantee file.")
