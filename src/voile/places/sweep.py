"""Designs, or comparisons of all methods, for several epsilons on one map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from voile.errors import CannotWrite, InvalidInput
from voile.jobs import Engine, spread
from voile.places.designs import PlacesDesign
from voile.places.lengths import to_a_tenth
from voile.places.loading import design_bytes, load_design
from voile.places.methods import Compared, compared
from voile.places.public_map import PublicMap
from voile.places.settings import Solving
from voile.places.solve import solve
from voile.places.solved import DesignFacts
from voile.progress import tell
from voile.report.model import Report, Table, worst_verdict
from voile.report.result import Result


@dataclass(frozen=True, repr=False, eq=False)
class Designs(Result):
    """One design for each epsilon, in the order asked for."""

    designs: tuple[PlacesDesign, ...]

    def _records(self) -> list[DesignFacts]:
        return [design.facts for design in self.designs]

    def _report(self) -> Report:
        """A row for each design."""
        facts = [design.facts for design in self.designs]
        reports = [design._report() for design in self.designs]
        return Report(
            title="Mechanisms for places",
            answer=f"{len(facts)} mechanisms for {facts[0].map}, one for each ε.",
            verdict=worst_verdict([r.verdict for r in reports if r.verdict is not None]),
            because="Each bound was computed or proved for itself.",
            tables=(
                Table(
                    "What each ε costs",
                    ("ε per km", "method", "loss km", "certificate", "lower bound", "seconds",
                     "file"),
                    tuple(
                        (f.epsilon, f.method, to_a_tenth(f.loss), f.certificate,
                         to_a_tenth(f.lower_bound), f.seconds,
                         f.saved and Path(f.saved).name)
                        for f in facts
                    ),
                ),
            ),
            not_protected=reports[0].not_protected,
            terms=reports[0].terms,
        )  # fmt: skip

    def _outputs(self) -> tuple[str, ...]:
        return tuple(design.saved for design in self.designs if design.saved is not None)


@dataclass(frozen=True, eq=False)
class _Wanted:
    """What all designs share; it travels once to a process or node."""

    public: PublicMap
    solving: Solving


def design_sweep(
    public: PublicMap,
    *,
    epsilons: Sequence[float],
    solving: Solving,
    out: Path | None,
    engine: Engine,
) -> Designs:
    """One certified design for each epsilon, saved as `city-0.4.voile` for `out` city.voile.

    Designs are independent of each other: `engine` spreads them over processes or nodes, and a
    design comes back as the bytes of its file, certified anew.
    """
    found = spread(_designed, _told(epsilons), common=_Wanted(public, solving), engine=engine)
    made = []
    for epsilon, content in zip(epsilons, found, strict=True):
        design = load_design("a design", content=content)
        if out is not None:
            design = replace(design, saved=str(_written(file_for(out, epsilon), content)))
        made.append(design)
    return Designs(tuple(made))


def compare_sweep(
    public: PublicMap, *, epsilons: Sequence[float], solving: Solving, engine: Engine
) -> tuple[Compared, ...]:
    """All methods for each epsilon."""
    found = spread(_compared, _told(epsilons), common=_Wanted(public, solving), engine=engine)
    return tuple(row for rows in found for row in rows)


def file_for(out: str | Path, epsilon: float) -> Path:
    """The file of one epsilon's design.

    >>> file_for("maps/city.voile", 0.4).name
    'city-0.4.voile'
    """
    path = Path(out)
    return path.with_name(f"{path.stem}-{epsilon:g}{path.suffix}")


def require_distinct(epsilons: Sequence[float]) -> None:
    """Refuse epsilons that would have one file between them."""
    if len({f"{epsilon:g}" for epsilon in epsilons}) < len(epsilons):
        raise InvalidInput("epsilons must differ, some are given twice")


def _told(epsilons: Sequence[float]) -> Iterator[float]:
    for count, epsilon in enumerate(epsilons):
        tell(f"ε = {epsilon:g} per km", done=count, total=len(epsilons))
        yield epsilon


def _designed(wanted: _Wanted, epsilon: float) -> bytes:
    made = solve(wanted.public, epsilon=epsilon, solving=wanted.solving)
    return design_bytes(made)[1]


def _compared(wanted: _Wanted, epsilon: float) -> tuple[Compared, ...]:
    return compared(wanted.public, epsilon=epsilon, solving=wanted.solving)


def _written(path: Path, content: bytes) -> Path:
    try:
        path.write_bytes(content)
    except OSError as problem:
        raise CannotWrite(f"cannot write {path}: {problem.strerror}") from problem
    return path
