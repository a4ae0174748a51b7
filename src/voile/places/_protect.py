"""`voile.places.protect`: each row's place replaced by a draw."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Literal

import numpy as np

from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput, require_epsilon
from voile.files.source import Source
from voile.jobs import ColumnsInClear, JobReport, columns_in_clear, open_source
from voile.jobs.ledger_choice import charging_for
from voile.jobs.release import Columns as ReleasedColumns
from voile.jobs.release import Rows, carry_out, output_for
from voile.jobs.settings import Columns, LedgerChoice, Running, Seed
from voile.options import Data, Option, use_case
from voile.places.blurring import Blurring
from voile.places.columns import heights_among, times_among
from voile.places.coordinates import DEGREES, Coordinates
from voile.places.designs import PlacesDesign
from voile.places.earth import carrier
from voile.places.fallen import fall, trace_fall
from voile.places.made_by import trace_digest
from voile.places.noise import PlacesNoise
from voile.places.not_private import refuse_private_places
from voile.places.outside import Outside
from voile.places.released import PlacesRelease, Traces, distance, named
from voile.places.releaser import Blur, PlacesReleaser
from voile.places.restoring import Restoring
from voile.places.trace_releaser import MakeTraceReleaser
from voile.places.traces import TraceLaw
from voile.places.tracing import ALONE, Tracing
from voile.progress import tell
from voile.values import one_of

IN_PARTS, NONE_NAMED, NOT_NAMED = Running(batch_rows=20_000), Columns(), Blurring()
AS_DRAWN = Restoring()


@use_case("places protect")
def protect(
    data: Annotated[
        Data,
        Option(
            "CSV, JSONL, Parquet, GeoJSON, GPKG, GPX or GeoParquet; .gz allowed; a path or a URL "
            "(s3://…); in Python also tables, arrays and lists.",
            reads="private",
        ),
    ],
    *,
    blurring: Blurring = NOT_NAMED,
    tracing: Tracing = ALONE,
    restoring: Restoring = AS_DRAWN,
    coordinates: Coordinates = DEGREES,
    out: Annotated[
        str | None,
        Option(
            "Output, a path or a URL; default FILE.protected.*, as its input.",
            "Output",
            writes=True,
        ),
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
    charge: LedgerChoice = LedgerChoice(),
    seed: Seed = None,
) -> PlacesRelease:
    """Replace the place of every row by a draw; interrupted runs continue without a second draw.

    Example: `voile places protect trips.csv --epsilon 2 --pass stop --drop driver`

    Without a design, exact Laplace noise for any place on Earth, ε per geodesic km; --mechanism
    city.voile draws from a design, which loses less. Every column beside the place must be named
    in --pass or --drop. Places beyond the reach of a public map are bad rows. With a ledger, a
    row charges its person the mechanism's epsilon; its column is no exception. A file gets
    `<out>.guarantee.json` beside its release; a table, an array or a list comes back as `.data`,
    of the same kind.
    """
    tracing.check()
    restoring.check(tracing.trace is not None)
    rule = Outside(one_of(outside, ("few", "move", "refuse"), "--outside"))
    target = output_for(data, out, overwrite=running.overwrite)
    if seed is not None:
        seeded_rng(seed)
    source = open_source(data)
    source.must_have(*coordinates.names, do="name it with --lat and --lon")
    coordinates.check(source)
    coordinates.check_release(source)
    if tracing.trace is not None:
        return _traces(
            source,
            target,
            blurring,
            tracing,
            restoring,
            coordinates,
            columns,
            running,
            charge,
            seed,
        )
    chosen = blurring.chosen()
    blur = chosen.opened()
    if isinstance(blur, PlacesNoise) and blur.remap is not None:
        refuse_private_places(blur.remap, source, coordinates)
    clear = columns_in_clear(
        source, changed=coordinates.names, passing=columns.passing, dropping=columns.drop
    )
    times = tuple(times_among(source, clear))
    _compile(blur)

    def describe(report: JobReport) -> PlacesRelease:
        return _described(blur, chosen.digest, clear, times, coordinates, report, seed)

    return carry_out(
        source,
        partial(PlacesReleaser, chosen.blur, coordinates, rule, clear, source.format == "jsonl"),
        out=target,
        describe=describe,
        identity={
            "task": "places protect",
            "mechanism": chosen.digest,
            "columns": [*coordinates.names, coordinates.crs],
            "seed": seed,
            "outside": str(rule),
        },
        clear=clear,
        running=running,
        charging=charging_for(charge, blur.guarantee, source.columns, seed=seed),
        seed=seed,
    )


def _traces(
    source: Source,
    target: str | None,
    blurring: Blurring,
    tracing: Tracing,
    restoring: Restoring,
    coordinates: Coordinates,
    columns: Columns,
    running: Running,
    charge: LedgerChoice,
    seed: int | None,
) -> PlacesRelease:
    """Whole traces, each under its own budget."""
    if blurring.epsilon is None or blurring.mechanism is not None or blurring.remap is not None:
        raise InvalidInput("--trace must go with --epsilon, and --box if there is one")
    source.must_have(tracing.trace, tracing.time, do="name it with --trace and --time")
    law = restoring.split(
        TraceLaw(require_epsilon(blurring.epsilon), tracing, carrier(blurring.box)),
        source,
        coordinates,
    )
    tracing = law.tracing
    clear = columns_in_clear(
        source, changed=coordinates.names, passing=columns.passing, dropping=columns.drop
    )
    times = tuple(times_among(source, clear))
    charging = charging_for(charge, law.guarantee, source.columns, seed=seed)
    if charging is not None:
        charging = replace(charging, beforehand=True)
    restorer = restoring.restorer(law, source, coordinates)
    how = None if restorer is None else (restoring.side, restoring.roads, restorer.fingerprint)
    known = trace_digest(law.epsilon, tracing, blurring.box, how)

    def describe(report: JobReport) -> PlacesRelease:
        made = _described(law, known, clear, times, coordinates, report, seed)
        traces, draws = (int(report.totals.get(name, 0)) for name in ("traces", "draws"))
        fitted = None if restoring.every_by is None else tracing.every
        drawn = Traces(
            tracing.way,
            tracing.per,
            traces,
            draws,
            restored=restorer is not None,
            every=fitted,
            fall=trace_fall(report.totals),
            public_left_out=0 if restorer is None else restorer.public.left_out,
        )
        return replace(made, traces=drawn)

    return carry_out(
        source,
        MakeTraceReleaser(
            law,
            coordinates,
            clear,
            None if charging is None else charge.person,
            source.format == "jsonl",
            restorer,
        ),
        out=target,
        describe=describe,
        identity={
            "task": "places protect traces",
            "mechanism": known,
            "columns": [*coordinates.names, coordinates.crs, tracing.trace, tracing.time],
            "seed": seed,
        },
        clear=clear,
        running=running,
        charging=charging,
        seed=seed,
    )


def _compile(blur: Blur) -> None:
    """Draw once, before any worker starts: loops become machine code here and are kept."""
    tell("preparing to draw")
    if isinstance(blur, PlacesDesign):
        blur.drawn(np.asarray(blur.mechanism.outputs[:1], dtype=float), np.random.default_rng(0))


def _described(
    blur: Blur | TraceLaw,
    digest: str,
    clear: ColumnsInClear,
    times: tuple[str, ...],
    coordinates: Coordinates,
    report: JobReport,
    seed: int | None,
) -> PlacesRelease:
    """What was promised for a finished job."""
    return PlacesRelease(
        domain="places",
        mechanism=named(blur),
        guarantee=blur.guarantee,
        columns=ReleasedColumns.of(clear),
        rows=Rows.of(report),
        seed=seed,
        explanation=tuple(blur.guarantee.explain().splitlines()),
        distance=distance(blur),
        times_in_clear=times,
        heights_in_clear=tuple(heights_among(clear)),
        mechanism_sha256=digest,
        places_outside_the_map=int(report.totals.get("outside", 0)),
        reference_system=coordinates.crs,
        places_outside_the_system=int(report.totals.get("strays", 0)),
        fall=fall(blur, report.totals) if isinstance(blur, PlacesNoise) else None,
        blur=blur,
    )
