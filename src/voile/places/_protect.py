"""`voile.places.protect`: each row's place replaced by a draw."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from voile.core.randomness import seeded_rng
from voile.files import no_such_column
from voile.jobs import ColumnsInClear, JobReport, columns_in_clear, open_source
from voile.jobs.ledger_choice import NO_LEDGER, LedgerChoice, charging_for
from voile.jobs.release import Columns as ReleasedColumns
from voile.jobs.release import Rows, carry_out, output_for
from voile.jobs.settings import Columns, Running
from voile.options import Data, Option, use_case
from voile.places.columns import times_among
from voile.places.designs import PlacesDesign, distance_words
from voile.places.loading import design_bytes
from voile.places.outside import Outside
from voile.places.released import PlacesRelease
from voile.places.releaser import MakePlacesReleaser, loaded_once
from voile.places.settings import DEGREES, Coordinates
from voile.progress import tell
from voile.values import one_of

IN_PARTS, NONE_NAMED = Running(batch_rows=20_000), Columns()


@use_case("places protect")
def protect(
    data: Annotated[
        Data,
        Option(
            "CSV, JSONL or Parquet; .gz allowed; a path or a URL (s3://…); in Python also tables, "
            "arrays and lists.",
            reads="private",
        ),
    ],
    *,
    mechanism: Annotated[
        str | Path | PlacesDesign, Option("What `voile places design` saved.", reads="public")
    ],
    coordinates: Coordinates = DEGREES,
    out: Annotated[
        str | None,
        Option("Output, a path or a URL; default FILE.protected.csv.", "Output", writes=True),
    ] = None,
    columns: Columns = NONE_NAMED,
    outside: Annotated[
        Literal["few", "move", "refuse"],
        Option(
            "Places off the map: few (moved to its border, refused if more than a tenth), move "
            "(however many) or refuse (bad rows).",
            "Running",
        ),
    ] = "few",
    running: Running = IN_PARTS,
    charge: LedgerChoice = NO_LEDGER,
    seed: Annotated[
        int | None, Option("Repeatable draws, for experiments: not for release.", "Running")
    ] = None,
) -> PlacesRelease:
    """Replace the place of every row by a draw; interrupted runs continue without a second draw.

    Example: `voile places protect trips.csv --mechanism city.voile --pass stop --drop driver`

    Every column beside the two coordinates must be named in --pass or --drop. Places beyond the
    design's reach are bad rows. With a ledger, a row charges its person the mechanism's epsilon;
    its column is no exception. A file gets `<out>.guarantee.json` beside its release; a table,
    an array or a list comes back as `.data`, of the same kind.
    """
    rule = Outside(one_of(outside, ("few", "move", "refuse"), "--outside"))
    target = output_for(data, out, overwrite=running.overwrite, ending=".csv")
    if seed is not None:
        seeded_rng(seed)
    source = open_source(data)
    lat, lon = coordinates.lat, coordinates.lon
    for column in (lat, lon):
        if column not in source.columns:
            raise no_such_column(column, source.columns, do="name it with --lat and --lon")
    name, content = design_bytes(mechanism)
    design = loaded_once(name, content)
    clear = columns_in_clear(
        source, changed=(lat, lon), passing=columns.passing, dropping=columns.drop
    )
    times = tuple(times_among(source, clear))
    _compile(design)
    digest = hashlib.sha256(content).hexdigest()

    def describe(report: JobReport) -> PlacesRelease:
        return _described(design, digest, clear, times, report, seed)

    return carry_out(
        source,
        MakePlacesReleaser(name, content, lat, lon, rule, clear),
        out=target,
        describe=describe,
        identity={
            "task": "places protect",
            "mechanism": digest,
            "lat": lat,
            "lon": lon,
            "seed": seed,
            "outside": str(rule),
        },
        clear=clear,
        running=running,
        charging=charging_for(charge, design.guarantee, source.columns, seed=seed),
        seed=seed,
    )


def _compile(design: PlacesDesign) -> None:
    """Draw once, before any worker starts: loops become machine code here and are kept."""
    tell("preparing to draw")
    one = np.asarray(design.mechanism.outputs[:1], dtype=float)
    design.mechanism.draw(one, np.random.default_rng(0))


def _described(
    design: PlacesDesign,
    digest: str,
    clear: ColumnsInClear,
    times: tuple[str, ...],
    report: JobReport,
    seed: int | None,
) -> PlacesRelease:
    """What was promised for a finished job."""
    return PlacesRelease(
        domain="places",
        mechanism=design.solved.method,
        guarantee=design.guarantee,
        columns=ReleasedColumns.of(clear),
        rows=Rows.of(report),
        seed=seed,
        explanation=tuple(design.guarantee.explain().splitlines()),
        distance=distance_words(design.mechanism.p, design.reach),
        times_in_clear=times,
        mechanism_sha256=digest,
        places_outside_the_map=int(report.totals.get("outside", 0)),
        design=design,
    )
