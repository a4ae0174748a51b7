"""Places on the command line: design a mechanism for a map, release with it, audit and show it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    no_args_is_help=True,
    help="Blur places with mechanisms solved for a map, certified on all of it.",
    rich_markup_mode="markdown",
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for another program.")]
Latitude = Annotated[str, typer.Option("--lat", help="The latitude column.")]
Longitude = Annotated[str, typer.Option("--lon", help="The longitude column.")]


@app.command()
def design(
    epsilon: Annotated[float, typer.Option(help="Privacy parameter per km.")],
    roads: Annotated[
        Path | None,
        typer.Option(help=".graphml, .osm, .osm.pbf, or a folder with points.csv and edges.csv; "
                     "without it, the embedded made-up city."),
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
    against_aipo: Annotated[bool, typer.Option(help="Also solve AIPO, to compare.")] = True,
    compare: Annotated[
        bool, typer.Option("--compare", help="Run all methods and print a table; saves nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Solve for the mechanism of least travel error at a stated epsilon, and certify it.

    Example: `voile places design --roads city.graphml --epsilon 0.8 --out city.voile`
    """
    from voile.tasks.places_design import compare_places, design_places, public_map

    rows, columns = _cells(cells)
    with _notes(quiet=as_json) as note:
        public = public_map(
            roads=roads, box=None if box is None else _numbers(box, 4, "--box"), rows=rows,
            columns=columns, prior_file=prior, tasks_file=tasks, tasks=task_count, lat=lat,
            lon=lon, resolution=resolution / 1000, seed=seed,
        )
        p = _exponent(metric)
        if compare:
            found = compare_places(public, epsilon=epsilon, p=p, note=note)
        else:
            made = design_places(
                public, epsilon=epsilon, method=method, p=p, resolution=resolution / 1000,
                bound=bound, against_aipo=against_aipo, note=note,
            )
    if compare:
        _show_comparison(found, as_json)
        return
    facts = dict(made.facts)
    if out is not None:
        from voile.storage import save

        save(made, out)
        facts["saved"] = str(out)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    _show_design(facts, made.guarantee.explain())


@app.command()
def protect(
    file: Annotated[Path, typer.Argument(help="CSV, JSONL or Parquet; .gz allowed.")],
    mechanism: Annotated[Path, typer.Option(help="What `voile places design` saved.")],
    lat: Latitude = "lat",
    lon: Longitude = "lon",
    out: Annotated[Path | None, typer.Option(help="Output; default FILE.protected.csv")] = None,
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
    on_error: Annotated[str, typer.Option(help="A bad row: fail, skip or mask.")] = "fail",
    batch_rows: Annotated[int, typer.Option(help="Rows in a part.")] = 20_000,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output.")] = False,
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
    target = out or file.with_name(f"{file.name.split('.')[0]}.protected.csv")
    with _rows(quiet=as_json) as progress:
        facts = protect_places(
            file, mechanism=mechanism, out=target, lat=lat, lon=lon, seed=seed, jobs=jobs,
            on_error=OnError(on_error), batch_rows=batch_rows, overwrite=overwrite,
            progress=progress,
        )
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    speed = facts["rows"] / max(facts["seconds"], 1e-9)
    typer.echo(f"Released {facts['rows']:,} places in {facts['seconds']:.1f} s ({speed:,.0f} a "
               f"second) to {facts['output']}")
    if facts["skipped"] or facts["masked"]:
        typer.echo(f"Bad rows: {facts['skipped']:,} skipped, {facts['masked']:,} masked")
    if facts["places_outside_the_map"]:
        typer.echo(f"{facts['places_outside_the_map']:,} places lay outside the map and were "
                   "moved to its border first")
    if facts["columns_in_clear"]:
        typer.echo(f"Not protected, passed as they are: {', '.join(facts['columns_in_clear'])}")
    if seed is not None:
        typer.echo("seeded: not for release")
    typer.echo(facts["explanation"])


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
    """Recompute the certificate, test ratios, and attack: how near can the true place be guessed?

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
        typer.echo(json.dumps(_finite({"findings": listed, "attack": found["attack"],
                                       "files": files}), indent=2, ensure_ascii=False))
    else:
        _show_audit(found, files)
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

    latitude, longitude = _numbers(at, 2, "--at")
    facts = show_place(load_design(mechanism), latitude=latitude, longitude=longitude, out=out)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    if not facts["inside_the_map"]:
        typer.echo("This place is outside the map: it is moved to the border first.")
    typer.echo(f"Reported {facts['mean_distance_km']:.2f} km away on average; half the time within "
               f"{facts['half_within_km']:.2f} km, nine times in ten within "
               f"{facts['nine_in_ten_within_km']:.2f} km.")
    typer.echo(f"Wrote {facts['png']} and {facts['html']}")


# ── showing ────────────────────────────────────────────────────────────────────────────────────


def _show_design(facts: dict[str, Any], explanation: str) -> None:
    from voile.cli.show import table

    typer.echo(f"{facts['method']}: expected loss {facts['loss']:.4f} km, {facts['basis']} ε = "
               f"{facts['certificate']:.6f} per km, {facts['seconds']:.0f} s")
    if facts["lower_bound"] is not None:
        typer.echo(f"No private mechanism with these outputs goes below {facts['lower_bound']:.4f} "
                   f"km: this one is at most {100 * facts['gap']:.1f} % above the optimum")
    rows = [[name, f"{loss:.4f}", f"{100 * (facts['loss'] / loss - 1):+.1f} %"]
            for name, loss in sorted(facts["losses"].items(), key=lambda item: item[1])]
    table(["method", "loss km", "this design"], rows)
    typer.echo(explanation)
    if "saved" in facts:
        typer.echo(f"Saved {facts['saved']}")


def _show_comparison(rows: list[dict[str, Any]], as_json: bool) -> None:
    from voile.cli.show import table

    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    table(
        ["method", "loss km", "ε per km", "seconds"],
        [[r["method"], f"{r['loss']:.4f}",
          "" if r["supremum"] is None else f"{r['supremum']:.4f}", f"{r['seconds']:.1f}"]
         for r in rows],
    )


def _show_audit(found: dict[str, Any], files: dict[str, Any] | None) -> None:
    for finding in found["findings"]:
        typer.echo(str(finding))
    attack = found["attack"]
    typer.echo(f"Best guess of the true place, on average: {attack['blind']:.2f} km off before any "
               f"release, {attack['with_prior']:.2f} km off after one (knowing where people tend to "
               f"be), {attack['without_prior']:.2f} km off without that knowledge.")
    if files is None:
        return
    typer.echo(f"On the {files['rows']:,} rows given: displaced {files['mean_displacement']:.2f} km "
               f"on average; the Bayes guess is {files['bayes_error']:.2f} km off.")
    if files["not_an_output"]:
        typer.echo(f"{files['not_an_output']:,} released rows are not outputs of this mechanism.")
    if "markov_error" in files:
        typer.echo(f"Reading whole traces (Markov chain, {files['traces_attacked']:,} traces "
                   f"attacked): {files['markov_error']:.2f} km off.")


# ── parsing ────────────────────────────────────────────────────────────────────────────────────


def _cells(text: str) -> tuple[int, int]:
    from voile.errors import InvalidInput

    parts = text.lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.strip().isdigit() for part in parts):
        raise InvalidInput(f"--cells must be ROWSxCOLUMNS such as 15x20, got {text!r}")
    return int(parts[0]), int(parts[1])


def _numbers(text: str, count: int, name: str) -> list[float]:
    from voile.errors import InvalidInput

    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) != count:
        raise InvalidInput(f"{name} must be {count} numbers with commas between them")
    return values


def _exponent(metric: str) -> float:
    from voile.errors import InvalidInput

    known = {"l1": 1.0, "l2": 2.0, "linf": float("inf")}
    if metric not in known:
        raise InvalidInput(f"--metric must be l2, l1 or linf, got {metric!r}")
    return known[metric]


def _finite(value: Any) -> Any:
    """JSON has no infinity: null stands for it."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and value in (float("inf"), float("-inf")) else value


@contextmanager
def _notes(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """One line on the terminal that says what is being done."""
    if quiet:
        yield lambda text: None
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("reading the map") as status:

        def note(text: str) -> None:
            if console.is_terminal:
                status.update(text)
            elif ", step " not in text:
                console.print(text, highlight=False, soft_wrap=True)

        yield note


@contextmanager
def _rows(*, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A count of rows on the terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda rows: None
        return
    done = 0
    with console.status("releasing") as status:

        def progress(rows: int) -> None:
            nonlocal done
            done += rows
            status.update(f"{done:,} places released")

        yield progress
