"""Options that the use cases of places share: the public map, and how it is solved."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from voile.errors import InvalidInput, require
from voile.jobs.settings import Workers
from voile.options import Data, Option, Options
from voile.places.method_names import METHODS
from voile.values import one_of

Metric = Literal["l2", "l1", "linf"]
EXPONENTS = {"l2": 2.0, "l1": 1.0, "linf": float("inf")}
"""The exponent of each ℓ_p metric."""
REGION = 2500
"""Cells above which `best` solves for a region."""


@dataclass(frozen=True)
class Map(Options):
    """A public map: roads or a box, where people tend to be, and where they travel to."""

    roads: Annotated[
        Path | None,
        Option(
            ".graphml, .osm, .osm.pbf, or a folder with points.csv and edges.csv; without it, the "
            "embedded made-up city.",
            reads="public",
        ),
    ] = None
    box: Annotated[
        tuple[float, float, float, float] | None,
        Option("SOUTH,WEST,NORTH,EAST in degrees: no roads, straight lines."),
    ] = None
    cells: Annotated[
        str | tuple[int, int],
        Option("Rows × columns, such as 15x20; one output each.", shown=True),
    ] = "15x20"
    prior: Annotated[
        Data,
        Option("File of *public* points; without it, every junction alike.", reads="public"),
    ] = None
    tasks: Annotated[
        Data,
        Option("File of places people travel to; without it, sampled.", reads="public"),
    ] = None
    task_count: Annotated[int, Option("How many tasks to sample.")] = 80
    loss: Annotated[
        Any,
        Option(
            "Your own loss: a function, or FILE.py:FUNCTION, from the degrees of n places and m "
            "outputs to n × m numbers; or a table from_lat, from_lon, to_lat, to_lon, loss.",
            shown=True,
        ),
    ] = None
    seed: Annotated[int, Option("For sampled tasks and the made-up city.")] = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Columns and rows of the cells: the order of x and y on the map."""
        rows, columns = rows_and_columns(self.cells)
        return columns, rows


def rows_and_columns(cells: str | tuple[int, int]) -> tuple[int, int]:
    """Rows and columns, written as 15x20 or given as two numbers.

    >>> rows_and_columns("15x20"), rows_and_columns((15, 20))
    ((15, 20), (15, 20))
    """
    parts = re.split("[x×,]", cells.lower()) if isinstance(cells, str) else cells
    if len(parts) != 2 or not all(str(part).strip().isdigit() for part in parts):
        raise InvalidInput(f"--cells must be ROWSxCOLUMNS such as 15x20, got {cells!r}")
    return int(parts[0]), int(parts[1])


@dataclass(frozen=True)
class Solving(Options):
    """How a mechanism is solved for, and what it is compared with."""

    method: Annotated[str, Option(f"One of {', '.join(METHODS)}.", "How strong", shown=True)] = (
        "best"
    )
    metric: Annotated[Metric, Option("l2, l1 or linf.", "How strong")] = "l2"
    resolution: Annotated[float, Option("Metres; part of the guarantee.", "How strong")] = 1.0
    bound: Annotated[bool, Option("Compute the lower bound and the gap.", "Running")] = True
    bound_sweeps: Annotated[
        int, Option("Sweeps over the bound: more are tighter and slower.", "Running")
    ] = 400
    against_aipo: Annotated[bool, Option("Also solve AIPO, to compare.", "Running")] = False

    def __post_init__(self) -> None:
        METHODS.find(self.method)
        one_of(self.metric, tuple(EXPONENTS), "--metric")
        require(self.resolution > 0, "--resolution", "> 0", self.resolution)
        require(self.bound_sweeps >= 1, "--bound-sweeps", "at least 1", self.bound_sweeps)

    def as_region(self, area: Map) -> bool:
        """Whether a map is solved for without a table of all places, nodes and outputs."""
        many = area.shape[0] * area.shape[1] > REGION and self.metric != "linf"
        name = METHODS.find(self.method).name
        return name == "region" or (name == "best" and many and area.loss is None)

    @property
    def p(self) -> float:
        """The exponent of the ℓ_p metric."""
        return EXPONENTS[self.metric]

    @property
    def step(self) -> float:
        """The resolution in km."""
        return self.resolution / 1000


MADE_UP, USUAL, HERE = Map(), Solving(), Workers()
"""What holds where nothing is said: a made-up city, one process."""
