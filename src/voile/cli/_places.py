"""What the places commands parse and print."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from voile.core.rounding import percent_at_most

Latitude = Annotated[str, typer.Option("--lat", help="The latitude column.")]
Longitude = Annotated[str, typer.Option("--lon", help="The longitude column.")]


def show_design(facts: dict[str, Any], explanation: str) -> None:
    """The design's loss, certificate, gap, and how it compares."""
    from voile.cli.show import table

    typer.echo(
        f"{facts['method']}: expected loss {facts['loss']:.4f} km, {facts['basis']} ε = "
        f"{facts['certificate']:.6f} per km, {facts['seconds']:.0f} s"
    )
    if facts["lower_bound"] is not None:
        typer.echo(
            f"No private mechanism with these outputs goes below {facts['lower_bound']:.4f} "
            f"km: this one is at most {percent_at_most(facts['gap'])} above the optimum"
        )
    rows = [
        [name, f"{loss:.4f}", f"{100 * (facts['loss'] / loss - 1):+.1f} %"]
        for name, loss in sorted(facts["losses"].items(), key=lambda item: item[1])
    ]
    table(["method", "loss km", "this design"], rows)
    for line in design_notes(facts):
        typer.echo(line)
    typer.echo(explanation)
    if "saved" in facts:
        typer.echo(f"Saved {facts['saved']}")


def design_notes(facts: dict[str, Any]) -> list[str]:
    """What a design's figures do not say by themselves."""
    said = [f"Whatever is reported is one of {facts['outputs']:,} places, at most one a cell."]
    asked, solved = facts["cells"], facts["spline_cells"]
    if facts["spline_capped"] and solved is not None:
        said.append(
            f"The spline was solved on {solved[0]}×{solved[1]} cells to be done in time "
            f"({asked[0]}×{asked[1]} outputs were asked for); a finer one may lose a little less."
        )
    said.append(
        f"ε is per {facts['distance']}; the map's plane lengthens distances by "
        f"{100 * (facts['stretch'] - 1):.2g} % at most, which is taken off beforehand."
    )
    return said


def show_sweep(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Designs or methods at several epsilons, one a row."""
    from voile.cli.show import plain, print_json, table

    if as_json:
        print_json(plain(rows))
        return

    def number(value: float | None, digits: int = 4) -> str:
        return "–" if value is None else f"{value:.{digits}f}"

    if "supremum" in rows[0]:
        head = ["ε per km", "method", "loss km", "supremum", "seconds"]
        cells = [
            [f"{r['epsilon']:g}", r["method"], number(r["loss"]), number(r["supremum"]),
             number(r["seconds"], 1)]
            for r in rows
        ]  # fmt: skip
    else:
        head = ["ε per km", "method", "loss km", "certificate", "lower bound", "seconds", "file"]
        cells = [
            [f"{r['epsilon']:g}", r["method"], number(r["loss"]), number(r["certificate"]),
             number(r["lower_bound"]), number(r["seconds"], 1), r.get("saved", "–")]
            for r in rows
        ]  # fmt: skip
    table(head, cells)


def show_comparison(rows: list[dict[str, Any]], as_json: bool) -> None:
    """All methods, one a row."""
    from voile.cli.show import print_json, table

    if as_json:
        print_json(rows)
        return
    table(
        ["method", "loss km", "ε per km", "seconds"],
        [
            [
                r["method"],
                f"{r['loss']:.4f}",
                "" if r["supremum"] is None else f"{r['supremum']:.4f}",
                f"{r['seconds']:.1f}",
            ]
            for r in rows
        ],
    )


def show_audit(found: dict[str, Any], files: dict[str, Any] | None) -> None:
    """Findings, then the attacks in sentences."""
    for finding in found["findings"]:
        typer.echo(str(finding))
    attack = found["attack"]
    typer.echo(
        f"Best guess of the true place, on average: {attack['blind']:.2f} km off before any "
        f"release, {attack['with_prior']:.2f} km off after one (knowing where people tend to "
        f"be), {attack['without_prior']:.2f} km off without that knowledge."
    )
    if files is None:
        return
    typer.echo(
        f"On the {files['rows']:,} rows given: displaced {files['mean_displacement']:.2f} km "
        f"on average; the Bayes guess is {files['bayes_error']:.2f} km off."
    )
    if files["not_an_output"]:
        typer.echo(f"{files['not_an_output']:,} released rows are not outputs of this mechanism.")
    if "markov_error" in files:
        typer.echo(
            f"Reading whole traces (Markov chain, {files['traces_attacked']:,} traces "
            f"attacked): {files['markov_error']:.2f} km off."
        )


def show_released(facts: dict[str, Any]) -> None:
    """What stands in clear, what was released, and what it promises."""
    from voile.cli.columns import show_in_brief
    from voile.report.words import columns_in_clear, times_in_clear

    clear = (
        columns_in_clear(facts["passed_in_clear"], facts["looks_like_identifiers"]),
        times_in_clear(facts.get("times_in_clear") or ()),
    )
    show_in_brief([line for line in clear if line])
    speed = facts["rows"] / max(facts["seconds"], 1e-9)
    typer.echo(
        f"Released {facts['rows']:,} places in {facts['seconds']:.1f} s ({speed:,.0f} a "
        f"second) to {facts['output']}"
    )
    if facts["resumed_parts"]:
        typer.echo(
            f"Continued an interrupted job: {facts['resumed_parts']:,} parts were there and were "
            "not drawn again"
        )
    if facts["skipped"] or facts["masked"]:
        typer.echo(f"Bad rows: {facts['skipped']:,} skipped, {facts['masked']:,} masked")
    if facts["places_outside_the_map"]:
        typer.echo(
            f"{facts['places_outside_the_map']:,} places lay outside the map and were "
            "moved to its border first"
        )
    if facts["dropped"]:
        typer.echo(f"Left out: the columns {', '.join(facts['dropped'])}")
    if facts["seed"] is not None:
        typer.echo("seeded: not for release")
    typer.echo(facts["explanation"])


def parse_cells(text: str) -> tuple[int, int]:
    """Rows and columns of a text such as 15x20."""
    from voile.errors import InvalidInput

    parts = text.lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.strip().isdigit() for part in parts):
        raise InvalidInput(f"--cells must be ROWSxCOLUMNS such as 15x20, got {text!r}")
    return int(parts[0]), int(parts[1])


def parse_numbers(text: str, count: int | None, name: str) -> list[float]:
    """Numbers with commas between them: so many, or at least one."""
    from voile.errors import InvalidInput

    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not values or count not in (None, len(values)):
        many = "numbers" if count is None else f"{count} numbers"
        raise InvalidInput(f"{name} must be {many} with commas between them")
    return values


def parse_list(text: str, name: str) -> list[float]:
    """As many numbers as there are, with commas between them."""
    return parse_numbers(text, text.count(",") + 1, name)


def parse_metric(metric: str) -> float:
    """The exponent of an ℓ_p metric by its name."""
    from voile.errors import InvalidInput

    known = {"l1": 1.0, "l2": 2.0, "linf": float("inf")}
    if metric not in known:
        raise InvalidInput(f"--metric must be l2, l1 or linf, got {metric!r}")
    return known[metric]


@contextmanager
def notes(*, quiet: bool) -> Iterator[Callable[[str], None]]:
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
def row_count(*, quiet: bool) -> Iterator[Callable[[int], None]]:
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
