"""`voile places protect` and `voile places audit`: release with a mechanism, and attack it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voile.cli import _ledger
from voile.cli._places import Latitude, Longitude, show_audit, show_released
from voile.cli.columns import Drop, Pass, dropped_columns
from voile.cli.engine import (
    Address,
    EngineName,
    InputFile,
    Jobs,
    OutputFile,
    chosen_engine,
    default_output,
)
from voile.cli.reporting import ChartFolder, ReportFile, drawn, repeatable, wanted
from voile.cli.show import AsJson, plain, print_json
from voile.cli.showing import heard


def protect(
    context: typer.Context,
    file: InputFile,
    mechanism: Annotated[Path, typer.Option(help="What `voile places design` saved.")],
    lat: Latitude = "lat",
    lon: Longitude = "lon",
    out: OutputFile = None,
    passing: Pass = None,
    drop: Drop = None,
    jobs: Jobs = 1,
    engine: EngineName = "local",
    address: Address = None,
    on_error: Annotated[str, typer.Option(help="A bad row: fail, skip or mask.")] = "fail",
    outside: Annotated[
        str,
        typer.Option(
            help="Places off the map: few (moved to its border, refused if more than a tenth), "
            "move (however many) or refuse (bad rows)."
        ),
    ] = "few",
    batch_rows: Annotated[int, typer.Option(help="Rows in a part.")] = 20_000,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output.")] = False,
    ledger: _ledger.LedgerWhere = None,
    person: _ledger.Person = None,
    budget: _ledger.BudgetOption = None,
    over_budget: _ledger.WhenOver = "refuse",
    ledger_key: _ledger.LedgerKey = None,
    seed: Annotated[
        int | None, typer.Option(help="Repeatable draws, for experiments: not for release.")
    ] = None,
    report: ReportFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Replace the place of every row by a draw; interrupted runs continue without a second draw.

    Example: `voile places protect trips.csv --mechanism city.voile --pass stop --drop driver`

    Every column beside the two coordinates must be named in --pass or --drop.
    """
    from voile.errors import InvalidInput
    from voile.jobs import OnError, named_columns
    from voile.places._protect import load_design, protect_places
    from voile.places.outside import Outside

    pages = wanted(context, report, charts)
    if on_error not in tuple(OnError):
        raise InvalidInput(f"--on-error must be fail, skip or mask, got {on_error!r}")
    if outside not in tuple(Outside):
        raise InvalidInput(f"--outside must be few, move or refuse, got {outside!r}")
    target = out or default_output(file, ".csv")
    with heard(quiet=as_json):
        facts = protect_places(
            file,
            mechanism=mechanism,
            out=target,
            lat=lat,
            lon=lon,
            seed=seed,
            engine=chosen_engine(engine, jobs, address),
            on_error=OnError(on_error),
            batch_rows=batch_rows,
            overwrite=overwrite,
            pass_columns=named_columns(passing),
            drop_columns=dropped_columns(drop),
            outside=Outside(outside),
            ledger=_ledger.ledger_choice(ledger, person, budget, ledger_key, over_budget),
        )
    if as_json:
        print_json(facts)
    else:
        show_released(facts)
        _ledger.show_charged(facts)
    if pages:
        from voile.places.release_reports import protect_report

        pages.write(
            lambda how: protect_report(facts, load_design(mechanism), provenance=how),
            private=[file],
            public=[mechanism, target],
            randomness=drawn(seed),
            quiet=as_json,
        )


def audit(
    context: typer.Context,
    mechanism: Annotated[Path, typer.Argument(help="What `voile places design` saved.")],
    against: Annotated[
        tuple[Path, Path] | None, typer.Option(help="ORIGINAL.csv RELEASED.csv, row by row.")
    ] = None,
    lat: Latitude = "lat",
    lon: Longitude = "lon",
    trace: Annotated[
        str | None, typer.Option(help="Column that names a trace: attack it as a Markov chain.")
    ] = None,
    places: Annotated[int, typer.Option(help="Random places of the ratio test.")] = 1000,
    seed: Annotated[int, typer.Option(help="For the random places.")] = 0,
    jobs: Jobs = 1,
    engine: EngineName = "local",
    address: Address = None,
    report: ReportFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Recompute the certificate, test ratios, and attack the release.

    Exit code 1 if a claim is violated. Example: `voile places audit city.voile --jobs 0`
    """
    from dataclasses import asdict

    from voile.places._audit import audit_design, audit_files
    from voile.places._protect import load_design

    pages = wanted(context, report, charts)
    loaded = load_design(mechanism)
    where = chosen_engine(engine, jobs, address)
    found = audit_design(loaded, places=places, seed=seed, engine=where)
    files = None
    if against is not None:
        files = audit_files(
            loaded, against[0], against[1], lat=lat, lon=lon, trace=trace, engine=where
        )
    violated = any(str(f.verdict) == "violated" for f in found["findings"])
    listed = [asdict(f) | {"verdict": str(f.verdict)} for f in found["findings"]]
    facts = plain({"findings": listed, "attack": found["attack"], "files": files})
    if as_json:
        print_json(facts)
    else:
        show_audit(found, files)
    if pages:
        from voile.places.ratios import local_ratios
        from voile.places.release_reports import audit_report

        pages.write(
            lambda how: audit_report(facts, loaded, ratios=local_ratios(loaded), provenance=how),
            private=against or (),
            public=[mechanism],
            randomness=repeatable(seed),
            quiet=as_json,
        )
    if violated:
        raise typer.Exit(1)
