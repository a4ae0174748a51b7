"""`voile.places.export`: a design as one source file that a phone or a gateway draws from."""

from __future__ import annotations

import base64
import textwrap
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from voile.core.arrays import Floats, Integers
from voile.errors import CannotWrite, InvalidInput
from voile.jobs import check_output
from voile.optimise.smooth import SmoothMechanism
from voile.options import Option, use_case
from voile.places.designs import PlacesDesign
from voile.places.loading import opened_design
from voile.report.model import Report, Table, promised
from voile.report.result import Result
from voile.report.words import sentence
from voile.values import one_of
from voile.version import __version__

ENDINGS = {"c": ".c", "js": ".mjs"}


@dataclass(frozen=True, repr=False, eq=False)
class Exported(Result):
    """A file of source code, and what its draws promise."""

    output: str
    format: str
    epsilon: float
    outputs: int
    lattice_places: int
    bytes: int
    promise: tuple[str, ...]
    not_covered: tuple[str, ...]

    def _report(self) -> Report:
        name = Path(self.output).name
        return Report(
            title="A mechanism as source code",
            answer=f"{name} draws what the design draws: the same integers, and the same output "
            "for the same random bits.",
            guarantee=self.promise,
            not_protected=self.not_covered,
            tables=(
                Table(
                    "What was written",
                    ("what", "value"),
                    (
                        ("file", name),
                        ("size (MB)", self.bytes / 1e6),
                        ("outputs", self.outputs),
                        ("places of the lattice", self.lattice_places),
                    ),
                ),
            ),
            terms=("epsilon", "mechanism"),
        )

    def _outputs(self) -> tuple[str, ...]:
        return (self.output,)


@use_case("places export")
def export(
    mechanism: Annotated[
        str | Path | PlacesDesign, Option("What `voile places design` saved.", reads="public")
    ],
    *,
    format: Annotated[Literal["c", "js"], Option("c (C99) or js (an ES module).")] = "c",
    out: Annotated[
        Path | None, Option("Where to write; default design.c or .mjs.", "Output", writes=True)
    ] = None,
    overwrite: Annotated[bool, Option("Replace the output.", "Output")] = False,
) -> Exported:
    """Write a design as one source file: tables of integers, and the few lines that draw.

    Example: `voile places export city.voile --format js --out city.mjs`

    Degrees in, degrees out, without a library: the projection, the snap to the lattice and the
    nine-point evaluation are in the file, the randomness is the host's. What is drawn are the very
    integers that were certified, so the design's guarantee holds. Everything in it is public.
    """
    kind = one_of(format, tuple(ENDINGS), "--format")
    design = opened_design(mechanism)
    name = Path(mechanism).stem if isinstance(mechanism, str | Path) else "design"
    target = Path(f"{name}{ENDINGS[kind]}") if out is None else out
    check_output(target, overwrite=overwrite)
    text = source_code(design, kind)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise CannotWrite(f"cannot write {target}: {problem.strerror}") from problem
    guarantee = design.guarantee
    tables = spline(design).lattice_tables
    return Exported(
        output=str(target),
        format=kind,
        epsilon=guarantee.epsilon,
        outputs=len(design.mechanism.outputs),
        lattice_places=len(tables[0].cells) * len(tables[1].cells),
        bytes=len(text.encode()),
        promise=promised(guarantee),
        not_covered=(
            *(sentence(item) for item in guarantee.outside),
            "The host's random numbers, and what it keeps or sends beside the release.",
        ),
    )


def spline(design: PlacesDesign) -> SmoothMechanism:
    """The design's mechanism, if it is of the kind that is exported."""
    if not isinstance(design.mechanism, SmoothMechanism):
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
    promise = textwrap.wrap(" ".join(design.guarantee.explain().splitlines()), 92)
    filled = {
        "VERSION": __version__,
        "PROMISE": "\n * ".join(promise),
        "OUTPUTS": str(len(mechanism.outputs)),
        "STENCIL": str(grid.degree + 1),
        "LOW": _numbers(grid.low),
        "HIGH": _numbers(grid.high),
        "STEP": repr(float(mechanism.resolution)),
        "REACH": repr(float(design.reach)),
        "CENTRE": _numbers((design.projection.latitude, design.projection.longitude)),
        "LAST": ", ".join(map(str, mechanism.last_steps)),
        "STRIDES": ", ".join(map(str, grid.strides)),
        "CELLS_0": write.short(first.cells),
        "CELLS_1": write.short(second.cells),
        "BASIS_0": write.doubles(first.weights),
        "BASIS_1": write.doubles(second.weights),
        "SUMS": write.sums(mechanism.table),
        "PLACES": write.places(np.stack([lat, lon], axis=1)),
    }
    template = (files("voile.places.exports") / f"design.{kind}").read_text(encoding="utf-8")
    for name, value in filled.items():
        template = template.replace(f"@{name}@", value)
    return template


def _numbers(values: tuple[float, ...]) -> str:
    return ", ".join(repr(float(value)) for value in values)


class _C:
    """Arrays as C's initialisers; doubles in hexadecimal, which is exact."""

    @staticmethod
    def short(values: Integers) -> str:
        return ",".join(map(str, values.tolist()))

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
    def doubles(values: Floats) -> str:
        return _packed(values.astype("<f8"))

    @staticmethod
    def sums(table: Integers) -> str:
        return _packed(table.astype("<i8"))

    @staticmethod
    def places(values: Floats) -> str:
        return "[" + ", ".join(f"[{a:.6f}, {b:.6f}]" for a, b in values.tolist()) + "]"


def _packed(values: Floats | Integers) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
