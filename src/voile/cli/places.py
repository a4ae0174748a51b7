"""Places on the command line: design a mechanism for a map, release with it, audit and show it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from voile.cli import _ledger
from voile.cli._places import (
    notes,
    parse_cells,
    parse_metric,
    parse_numbers,
    row_count,
    show_audit,
    show_comparison,
    show_design,
    show_released,
    show_sweep,
    without_infinity,
)
from voile.cli.engine import (
    Address,
    EngineName,
    InputFile,
    Jobs,
    OutputFile,
    chosen_engine,
    default_output,
)
from voile.cli.show import AsJson

app = typer.Typer(
    no_args_is_help=True,
    help="Blur places with mechanisms solved for a map, certified on all of it.",
    rich_markup_mode="markdown",
)

Latitude = Annotated[str, typer.Option("--lat", help="The latitude column.")]
Longitude = Annotated[str, typer.Option("--lon", help="The longitude column.")]


@app.command()
def design(
    epsilon: Annotated[
        str, typer.Option(help="Privacy parameter per km; several with commas: one design each.")
    ],
    roads: Annotated[
        Path | None,
        typer.Option(
            help=".graphml, .osm, .osm.pbf, or a folder with points.csv and edges.csv; "
            "without it, the embedded made-up city."
        ),
    ] = None,
    box: Annotated[
        str | None, typer.Option(help="SOUTH,WEST,NORTH,EAST in degrees: no roads, straight lines.")
    ] = None,
    cells: Annotated[str, typer.Option(help="Rows × columns; one output each.")] = "15x20",
    out: Annotated[Path | None, typer.Option(help="Where to save the mechanism.")] = None,
    method: Annotated[
        str, typer.Option(help="best, spline, bilinear, axis, laplace or laplace-remap.")
    ] = "best",
    metric: Annotated[str, typer.Option(help="l2, l1 or linf.")] = "l2",
    prior: Annotated[
        Path | None, typer.Option(help="CSV of *public* points; without it, every junction alike.")
    ] = None,
    tasks: Annotated[
        Path | None, typer.Option(help="CSV of places people travel to; without it, sampled.")
    ] = None,
    task_count: Annotated[int, typer.Option(help="How many tasks to sample.")] = 80,
    lat: Latitude = "lat",
    lon: Longitude = "lon",
    resolution: Annotated[float, typer.Option(help="Metres; part of the guarantee.")] = 1.0,
    seed: Annotated[int, typer.Option(help="For sampled tasks and the made-up city.")] = 0,
    bound: Annotated[bool, typer.Option(help="Compute the lower bound and the gap.")] = True,
    bound_size: Annotated[
        int, typer.Option(help="Places in a part of the bound: more is tighter and slower.")
    ] = 100,
    against_aipo: Annotated[bool, typer.Option(help="Also solve AIPO, to compare.")] = True,
    compare: Annotated[
        bool, typer.Option("--compare", help="Run all methods and print a table; saves nothing.")
    ] = False,
    jobs: Jobs = 1,
    engine: EngineName = "local",
    address: Address = None,
    as_json: AsJson = False,
) -> None:
    """Solve for the mechanism of least travel error at a stated epsilon, and certify it.

    Example: `voile places design --roads city.graphml --epsilon 0.8 --out city.voile`

    Several epsilons, on all cores: `voile places design --epsilon 0.4,0.8 --jobs 0 --out c.voile`
    writes c-0.4.voile and c-0.8.voile.
    """
    from voile.errors import InvalidInput
    from voile.tasks.places_design import compare_places, design_places, public_map

    rows, columns = parse_cells(cells)
    epsilons = parse_numbers(epsilon, None, "--epsilon")
    chosen = chosen_engine(engine, jobs, address)
    if len(epsilons) == 1 and (engine != "local" or jobs != 1):
        raise InvalidInput("--jobs and --engine spread designs for several epsilons, got one")
    with notes(quiet=as_json) as note:
        public = public_map(
            roads=roads,
            box=None if box is None else parse_numbers(box, 4, "--box"),
            rows=rows,
            columns=columns,
            prior_file=prior,
            tasks_file=tasks,
            tasks=task_count,
            lat=lat,
            lon=lon,
            resolution=resolution / 1000,
            seed=seed,
        )
        p = parse_metric(metric)
        if len(epsilons) > 1:
            from voile.tasks.places_sweep import compare_sweep, design_sweep

            if compare:
                swept = compare_sweep(public, epsilons=epsilons, p=p, engine=chosen, note=note)
            else:
                swept = design_sweep(
                    public,
                    epsilons=epsilons,
                    out=out,
                    method=method,
                    p=p,
                    resolution=resolution / 1000,
                    bound=bound,
                    bound_size=bound_size,
                    against_aipo=against_aipo,
                    engine=chosen,
                    note=note,
                )
        elif compare:
            found = compare_places(public, epsilon=epsilons[0], p=p, note=note)
        else:
            made = design_places(
                public,
                epsilon=epsilons[0],
                method=method,
                p=p,
                resolution=resolution / 1000,
                bound=bound,
                bound_size=bound_size,
                against_aipo=against_aipo,
                note=note,
            )
    if len(epsilons) > 1:
        show_sweep(swept, as_json)
        return
    if compare:
        show_comparison(found, as_json)
        return
    facts = dict(made.facts)
    if out is not None:
        from voile.storage import save

        save(made, out)
        facts["saved"] = str(out)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    show_design(facts, made.guarantee.explain())


@app.command()
def protect(
    file: InputFile,
    mechanism: Annotated[Path, typer.Option(help="What `voile places design` saved.")],
    lat: Latitude = "lat",
    lon: Longitude = "lon",
    out: OutputFile = None,
    jobs: Jobs = 1,
    engine: EngineName = "local",
    address: Address = None,
    on_error: Annotated[str, typer.Option(help="A bad row: fail, skip or mask.")] = "fail",
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
    as_json: AsJson = False,
) -> None:
    """Replace the place of every row by a draw; interrupted runs continue without a second draw.

    Example: `voile places protect trips.csv --lat lat --lon lon --mechanism city.voile`
    """
    from voile.errors import InvalidInput
    from voile.jobs import OnError
    from voile.tasks.places_protect import protect_places

    if on_error not in tuple(OnError):
        raise InvalidInput(f"--on-error must be fail, skip or mask, got {on_error!r}")
    target = out or default_output(file, ".csv")
    with row_count(quiet=as_json) as progress:
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
            ledger=_ledger.ledger_choice(ledger, person, budget, ledger_key, over_budget),
            progress=progress,
        )
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    show_released(facts)
    _ledger.show_charged(facts)


@app.command()
def audit(
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
    as_json: AsJson = False,
) -> None:
    """Recompute the certificate, test ratios, and attack the release.

    Exit code 1 if a claim is violated. Example: `voile places audit city.voile`
    """
    from dataclasses import asdict

    from voile.tasks.places_audit import audit_design, audit_files
    from voile.tasks.places_protect import load_design

    loaded = load_design(mechanism)
    found = audit_design(loaded, places=places, seed=seed)
    files = None
    if against is not None:
        files = audit_files(loaded, against[0], against[1], lat=lat, lon=lon, trace=trace)
    violated = any(str(f.verdict) == "violated" for f in found["findings"])
    if as_json:
        listed = [asdict(f) | {"verdict": str(f.verdict)} for f in found["findings"]]
        typer.echo(
            json.dumps(
                without_infinity({"findings": listed, "attack": found["attack"], "files": files}),
                indent=2,
                ensure_ascii=False,
            )
        )
    else:
        show_audit(found, files)
    if violated:
        raise typer.Exit(1)


@app.command()
def show(
    mechanism: Annotated[Path, typer.Argument(help="What `voile places design` saved.")],
    at: Annotated[str, typer.Option(help="LAT,LON of a person.")],
    out: Annotated[Path, typer.Option(help="Writes OUT.png and OUT.html.")] = Path("place"),
    as_json: AsJson = False,
) -> None:
    """Draw where a person standing at a place may be reported, over the streets.

    Example: `voile places show city.voile --at 45.01,5.02 --out here`
    """
    from voile.tasks.places_protect import load_design
    from voile.tasks.places_show import show_place

    latitude, longitude = parse_numbers(at, 2, "--at")
    facts = show_place(load_design(mechanism), latitude=latitude, longitude=longitude, out=out)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    if not facts["inside_the_map"]:
        typer.echo("This place is outside the map: it is moved to the border first.")
    typer.echo(
        f"Reported {facts['mean_distance_km']:.2f} km away on average; half the time within "
        f"{facts['half_within_km']:.2f} km, nine times in ten within "
        f"{facts['nine_in_ten_within_km']:.2f} km."
    )
    typer.echo(f"Wrote {facts['png']} and {facts['html']}")
