"""`voile.places.design`: the public map in, a certified design out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from voile.errors import InvalidInput, require
from voile.files.locations import Overwrite
from voile.interrupts import best_so_far
from voile.jobs import check_output
from voile.jobs.settings import Workers
from voile.options import Option, use_case
from voile.places.coordinates import DEGREES, Coordinates
from voile.places.designs import PlacesDesign
from voile.places.methods import MethodComparison
from voile.places.price import priced
from voile.places.public_map import public_map
from voile.places.settings import HERE, MADE_UP, USUAL, Map, Solving
from voile.places.solve import check_epsilon, solve
from voile.places.sweep import Designs, compare_sweep, design_sweep, file_for, require_distinct
from voile.progress import say
from voile.storage import save


@use_case("places design")
def design(
    *,
    epsilon: Annotated[
        float | tuple[float, ...],
        Option("Privacy parameter per km; several with commas: one design each.", "How strong"),
    ],
    area: Map = MADE_UP,
    columns: Coordinates = DEGREES,
    solving: Solving = USUAL,
    compare: Annotated[
        bool, Option("Run all methods and print a table; saves nothing.", "Running")
    ] = False,
    sweep: Annotated[
        tuple[float, ...],
        Option("More epsilons to solve for, so that the report shows a curve.", "Running"),
    ] = (),
    workers: Workers = HERE,
    out: Annotated[
        Path | None, Option("Where to save the mechanism.", "Output", writes=True)
    ] = None,
    overwrite: Overwrite = False,
) -> PlacesDesign | Designs | MethodComparison:
    """Solve for the mechanism of least travel error at a stated epsilon, and certify it.

    Example: `voile places design --roads city.graphml --epsilon 0.8 --out city.voile`

    Several epsilons, on all cores: `voile places design --epsilon 0.4,0.8 --jobs 0 --out c.voile`
    writes c-0.4.voile and c-0.8.voile. Ctrl-C while it improves keeps the best so far.

    >>> made = design(box=(45.0, 5.0, 45.05, 5.05), cells=(2, 3), epsilon=0.8, method="laplace",
    ...               bound=False)
    >>> made.guarantee.epsilon, made.facts.outputs
    (0.8, 6)
    """
    epsilons = _several(epsilon)
    for one in (*epsilons, *sweep):
        check_epsilon(one)
    require_distinct(epsilons)
    if out is not None and not compare:
        for path in [file_for(out, e) for e in epsilons] if len(epsilons) > 1 else [Path(out)]:
            check_output(path, overwrite=overwrite)
    alone = workers.engine == "local" and workers.jobs == 1
    region = solving.as_region(area) and not compare
    if len(epsilons) == 1 and not (alone or region):
        raise InvalidInput(
            "--jobs and --engine spread designs for several epsilons, or the windows of a region "
            "(--method region), got one epsilon"
        )
    engine = workers.chosen()
    public = public_map(area, columns, step=solving.step, region=region)
    if compare:
        with best_so_far() as keeping:
            rows = compare_sweep(public, epsilons=epsilons, solving=solving, engine=engine)
        return MethodComparison(public.description, rows, stopped=keeping.asked)
    if len(epsilons) > 1:
        return design_sweep(public, epsilons=epsilons, solving=solving, out=out, engine=engine)

    def ready(made: PlacesDesign) -> None:
        if out is not None:
            save(made, out)
        if not region and (solving.bound or solving.against_aipo):
            say(_first_line(made, out, bounded=solving.bound))

    with best_so_far():
        made = solve(public, epsilon=epsilons[0], solving=solving, ready=ready, engine=engine)
        curve = priced(public, made, epsilons=sweep, solving=solving)
    if out is not None and not region:  # a region was saved as it is: nothing comes after it
        save(made, out)
    return replace(made, sweep=curve, saved=None if out is None else str(out))


def _first_line(made: PlacesDesign, out: Path | None, *, bounded: bool) -> str:
    """What is known of a design before it is compared with others; a region is with none."""
    facts = made.facts
    saved = "" if out is None else f", saved as {Path(out).name}"
    return (
        f"the design: loss {facts.loss:.4f} km, ε {facts.basis} at {facts.certificate:.6f}{saved}; "
        f"now {'what none can go below' if bounded else 'AIPO, to compare with'} (Ctrl-C ends it)"
    )


def _several(epsilon: float | Sequence[float]) -> tuple[float, ...]:
    """One epsilon or more, as given."""
    found = tuple(epsilon) if isinstance(epsilon, Sequence) else (epsilon,)
    require(len(found) > 0, "epsilon", "at least one number", "none")
    return found
