"""`voile.places.export`: a design as one source file that a phone or a gateway draws from."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Integers
from voile.errors import CannotWrite, InvalidInput
from voile.files.locations import Overwrite
from voile.jobs import check_output
from voile.optimise.on_lattice import SplineMechanism
from voile.optimise.region import WORDS, RegionMechanism
from voile.optimise.smooth import SmoothMechanism
from voile.options import Option, use_case
from voile.places.blurring import Blurring, Noise, SavedOrNone
from voile.places.designs import PlacesDesign
from voile.places.exported import filled, noise_code, numbers, piece
from voile.places.lengths import length_words
from voile.places.loading import opened_design
from voile.places.noise import PlacesNoise
from voile.report.model import Report, Table, promised
from voile.report.result import Result
from voile.report.words import sentence
from voile.values import one_of

NONE_NAMED = Noise()
ENDINGS = {"c": ".c", "js": ".mjs"}
MOST_ENTRIES = 5_000_000
"""Numbers of a region that a file of source code may hold: some 130 MB of C."""


@dataclass(frozen=True, repr=False, eq=False)
class Exported(Result):
    """A file of source code, and what its draws promise."""

    output: str
    format: str
    epsilon: float = 0.0
    bytes: int = 0
    promise: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()
    outputs: int | None = None
    lattice_places: int | None = None
    mean_error: float | None = None
    """Of noise without a design: km, on average at most."""

    def _report(self) -> Report:
        name = Path(self.output).name
        rows: list[tuple[str, str | int]] = [("file", name), ("size (kB)", self.bytes // 1000)]
        if self.outputs is not None and self.lattice_places is not None:
            what = "the design draws: the same integers, and the same output"
            rows += [("outputs", self.outputs), ("places of the lattice", self.lattice_places)]
        else:
            what = "`places protect` draws without a design: the same integers"
            off = length_words(self.mean_error or 0.0, bound=True)
            rows += [("off on average, at most", off)]
        return Report(
            title="A mechanism as source code",
            answer=f"{name} draws what {what} for the same random bits.",
            guarantee=self.promise,
            not_protected=self.not_covered,
            tables=(Table("What was written", ("what", "value"), tuple(rows)),),
            terms=("epsilon", "mechanism"),
        )

    def _outputs(self) -> tuple[str, ...]:
        return (self.output,)


@use_case("places export")
def export(
    mechanism: SavedOrNone = None,
    *,
    noise: Noise = NONE_NAMED,
    format: Annotated[Literal["c", "js"], Option("c (C99) or js (an ES module).")] = "c",
    out: Annotated[
        Path | None,
        Option("Where to write; default design.c or .mjs.", "Output", writes=True),
    ] = None,
    overwrite: Overwrite = False,
) -> Exported:
    """Write a design or noise as one source file: tables of integers, and the lines that draw.

    Example: `voile places export city.voile --format js --out city.mjs`

    Degrees in, degrees out, without a library: the projection, the snap to the lattice and the
    draw are in the file, the randomness is the host's. What is drawn are the very
    integers that were certified or proved, so the guarantee holds. Everything in it is public.
    Without a design: `voile places export --epsilon 2 --format js --out noise.mjs`.
    """
    kind = one_of(format, tuple(ENDINGS), "--format")
    default = "noise" if mechanism is None else "design"
    name = Path(mechanism).stem if isinstance(mechanism, str | Path) else default
    target = Path(f"{name}{ENDINGS[kind]}") if out is None else out
    check_output(target, overwrite=overwrite)
    done = Exported(str(target), kind)
    if mechanism is None:
        blur = Blurring(noise.epsilon, noise.mean_error, noise.box).chosen().opened()
        assert isinstance(blur, PlacesNoise)  # no design was named
        text, guarantee = noise_code(blur, kind), blur.guarantee
        done = replace(done, mean_error=blur.mean_error)
    else:
        if noise != NONE_NAMED:
            raise InvalidInput("--epsilon, --mean-error and --box go with noise, without a design")
        design = opened_design(mechanism)
        text, guarantee = source_code(design, kind), design.guarantee
        first, second = spline(design).lattice_tables
        cells = len(first.cells) * len(second.cells)
        done = replace(done, outputs=len(design.mechanism.outputs), lattice_places=cells)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise CannotWrite(f"cannot write {target}: {problem.strerror}") from problem
    return replace(
        done,
        epsilon=guarantee.epsilon,
        bytes=len(text.encode()),
        promise=promised(guarantee),
        not_covered=(
            *(sentence(item) for item in guarantee.outside),
            "The host's random numbers, and what it keeps or sends beside the release.",
        ),
    )


def spline(design: PlacesDesign) -> SplineMechanism:
    """The design's mechanism, if it is of the kind that is exported."""
    if not isinstance(design.mechanism, SplineMechanism):
        raise InvalidInput(
            f"only designs of splines are exported, and this is {design.solved.method}; solve "
            "for one with --method spline"
        )
    return design.mechanism


def source_code(design: PlacesDesign, kind: str) -> str:
    """The whole file."""
    mechanism = spline(design)
    grid = mechanism.grid
    first, second = mechanism.lattice_tables
    lat, lon = design.output_degrees
    write = _C if kind == "c" else _JS
    return filled(
        "design",
        kind,
        design.guarantee,
        {
            **tables(mechanism, kind),
            "PLANE": piece("plane", kind),
            "SOURCE": piece("source", kind) if kind == "c" else "",
            "OUTPUTS": str(len(mechanism.outputs)),
            "STENCIL": str(grid.degree + 1),
            "LOW": numbers(grid.low),
            "HIGH": numbers(grid.high),
            "STEP": repr(float(mechanism.resolution)),
            "REACH": repr(float(design.reach)),
            "CENTRE": numbers((design.projection.latitude, design.projection.longitude)),
            "LAST": ", ".join(map(str, mechanism.last_steps)),
            "STRIDES": ", ".join(map(str, grid.strides)),
            "CELLS_0": write.short(first.cells),
            "CELLS_1": write.short(second.cells),
            "BASIS_0": write.doubles(first.weights),
            "BASIS_1": write.doubles(second.weights),
            "PLACES": write.places(np.stack([lat, lon], axis=1)),
        },
    )


def tables(mechanism: SplineMechanism, kind: str) -> dict[str, str]:
    """The integers that are drawn by, and the lines that draw by them: dense or of a region."""
    write = _C if kind == "c" else _JS
    if isinstance(mechanism, RegionMechanism):
        if len(mechanism.sums) > MOST_ENTRIES:
            raise InvalidInput(
                f"a file of source code holds at most {MOST_ENTRIES / 1e6:.0f} million numbers; "
                f"this region has {len(mechanism.sums) / 1e6:,.0f} million: use the design itself, "
                "or export one of a smaller region"
            )
        arrays = {
            "ROWS": write.long(mechanism.rows),
            "LISTED": write.listed(mechanism.listed),
            "SUMS": write.long(mechanism.sums),
            "FLOOR": write.long(mechanism.floor),
        }
        shape, words = "region", len(WORDS)
    else:
        assert isinstance(mechanism, SmoothMechanism)
        arrays, shape, words = {"SUMS": write.sums(mechanism.table)}, "dense", 1
    found = piece(f"{shape}_tables", kind)
    for name, value in arrays.items():
        found = found.replace(f"@{name}@", value)
    return {"TABLES": found, "CHOICE": piece(f"{shape}_choice", kind), "WORDS": str(words)}


class _C:
    """Arrays as C's initialisers; doubles in hexadecimal, which is exact."""

    @staticmethod
    def short(values: Integers | NDArray[np.int32]) -> str:
        return ",".join(map(str, values.tolist()))

    long = listed = short

    @staticmethod
    def doubles(values: Floats) -> str:
        return ",".join(value.hex() for value in values.ravel().tolist())

    @staticmethod
    def sums(table: Integers) -> str:
        rows = ("{" + ",".join(map(str, row)) + "}" for row in table.tolist())
        return ",\n".join(rows)

    @staticmethod
    def places(values: Floats) -> str:
        return ",".join(f"{{{a:.6f}, {b:.6f}}}" for a, b in values.tolist())


class _JS:
    """Arrays as base64 of their bytes, low byte first."""

    @staticmethod
    def short(values: Integers) -> str:
        return _packed(values.astype("<u2"))

    @staticmethod
    def listed(values: NDArray[np.int32]) -> str:
        return _packed(values.astype("<i4"))

    @staticmethod
    def long(values: Integers) -> str:
        return _packed(values.astype("<i8"))

    @staticmethod
    def doubles(values: Floats) -> str:
        return _packed(values.astype("<f8"))

    sums = long

    @staticmethod
    def places(values: Floats) -> str:
        return "[" + ", ".join(f"[{a:.6f}, {b:.6f}]" for a, b in values.tolist()) + "]"


def _packed(values: Floats | Integers | NDArray[np.int32]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
