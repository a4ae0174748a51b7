"""Places on the command line: design a mechanism for a map, and show what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voile.cli import places_release
from voile.cli._places import (
    Latitude,
    Longitude,
    notes,
    parse_cells,
    parse_list,
    parse_metric,
    parse_numbers,
    show_comparison,
    show_design,
    show_sweep,
)
from voile.cli.engine import Address, EngineName, Jobs, chosen_engine
from voile.cli.reporting import ChartFolder, ReportFile, repeatable, wanted
from voile.cli.rooms import group
from voile.cli.show import AsJson, print_json

app = typer.Typer(
    cls=group("places"),
    no_args_is_help=True,
    help="Blur places with mechanisms solved for a map, certified on all of it.",
    rich_markup_mode="markdown",
)


@app.command()
def design(
    context: typer.Context,
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
    sweep: Annotated[
        str, typer.Option(help="More epsilons to solve for, so that the report shows a curve.")
    ] = "",
    report: ReportFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Solve for the mechanism of least travel error at a stated epsilon, and certify it.

    Example: `voile places design --roads city.graphml --epsilon 0.8 --out city.voile`

    Several epsilons, on all cores: `voile places design --epsilon 0.4,0.8 --jobs 0 --out c.voile`
    writes c-0.4.voile and c-0.8.voile.
    """
    from voile.errors import InvalidInput
    from voile.places._design import design_places, public_map
    from voile.places.methods import compare_places
    from voile.places.price import priced_places

    pages = wanted(context, report, charts)
    more = parse_list(sweep, "--sweep") if sweep else []
    rows, columns = parse_cells(cells)
    epsilons = parse_numbers(epsilon, None, "--epsilon")
    if pages and (compare or len(epsilons) > 1):
        raise InvalidInput(
            "--report is about one design; leave out --compare, give further epsilons to --sweep"
        )
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
            from voile.places.sweep import compare_sweep, design_sweep

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
            curve = priced_places(
                public,
                made,
                epsilons=more,
                method=method,
                p=p,
                bound=bound,
                bound_size=bound_size,
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
    if curve:
        facts["sweep"] = [row._asdict() for row in curve]
    if as_json:
        print_json(facts)
    else:
        show_design(facts, made.guarantee.explain())
    if not pages:
        return
    from voile.places.design_report import design_report
    from voile.places.ratios import local_ratios

    pages.write(
        lambda made_how: design_report(
            made, ratios=local_ratios(made), sweep=curve, provenance=made_how
        ),
        public=[p for p in (roads, prior, tasks, out) if p is not None],
        randomness=repeatable(seed),
        quiet=as_json,
    )


app.command()(places_release.protect)
app.command()(places_release.audit)


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
    from voile.places._protect import load_design
    from voile.places._show import show_place

    latitude, longitude = parse_numbers(at, 2, "--at")
    facts = show_place(load_design(mechanism), latitude=latitude, longitude=longitude, out=out)
    if as_json:
        print_json(facts)
        return
    if not facts["inside_the_map"]:
        typer.echo("This place is outside the map: it is moved to the border first.")
    typer.echo(
        f"Reported {facts['mean_distance_km']:.2f} km away on average; half the time within "
        f"{facts['half_within_km']:.2f} km, nine times in ten within "
        f"{facts['nine_in_ten_within_km']:.2f} km."
    )
    typer.echo(f"Wrote {facts['png']} and {facts['html']}")
