"""Designs, or comparisons of all methods, for several epsilons on one map."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voile.errors import CannotWrite, InvalidInput
from voile.jobs import Engine, spread
from voile.places._design import PublicMap, design_places
from voile.places.methods import compare_places
from voile.storage import save


@dataclass(frozen=True, eq=False)
class _Wanted:
    """What all designs share; it travels once to a process or node."""

    public: PublicMap
    method: str
    p: float
    resolution: float
    bound: bool
    bound_size: int
    against_aipo: bool


def design_sweep(
    public: PublicMap,
    *,
    epsilons: Sequence[float],
    out: str | Path | None = None,
    method: str = "best",
    p: float = 2.0,
    resolution: float = 0.001,
    bound: bool = True,
    bound_size: int = 100,
    against_aipo: bool = True,
    engine: Engine | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> list[dict[str, Any]]:
    """One certified design for each epsilon, saved as `city-0.4.voile` for `out` city.voile.

    Returns the facts of each, in the order given. Designs are independent of each other: `engine`
    spreads them over processes or nodes, and a design comes back as the bytes of its file.
    """
    _distinct(epsilons)
    wanted = _Wanted(public, method, p, resolution, bound, bound_size, against_aipo)
    made = spread(_designed, _noted(epsilons, note), common=wanted, engine=engine)
    rows = []
    for epsilon, (facts, content) in zip(epsilons, made, strict=True):
        if out is not None:
            path = file_for(out, epsilon)
            try:
                path.write_bytes(content)
            except OSError as problem:
                raise CannotWrite(f"cannot write {path}: {problem.strerror}") from problem
            facts = facts | {"saved": str(path)}
        rows.append(facts)
    return rows


def compare_sweep(
    public: PublicMap,
    *,
    epsilons: Sequence[float],
    p: float = 2.0,
    engine: Engine | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> list[dict[str, Any]]:
    """All methods for each epsilon: rows of `compare_places` with their epsilon."""
    _distinct(epsilons)
    found = spread(_compared, _noted(epsilons, note), common=(public, p), engine=engine)
    return [
        {"epsilon": epsilon} | row
        for epsilon, rows in zip(epsilons, found, strict=True)
        for row in rows
    ]


def file_for(out: str | Path, epsilon: float) -> Path:
    """The file of one epsilon's design.

    >>> file_for("maps/city.voile", 0.4).name
    'city-0.4.voile'
    """
    path = Path(out)
    return path.with_name(f"{path.stem}-{epsilon:g}{path.suffix}")


def _distinct(epsilons: Sequence[float]) -> None:
    if len({f"{epsilon:g}" for epsilon in epsilons}) < len(epsilons):
        raise InvalidInput("epsilons must differ, some are given twice")


def _noted(epsilons: Sequence[float], note: Callable[[str], None]) -> Iterator[float]:
    for epsilon in epsilons:
        note(f"ε = {epsilon:g} per km")
        yield epsilon


def _designed(wanted: _Wanted, epsilon: float) -> tuple[dict[str, Any], bytes]:
    made = design_places(
        wanted.public,
        epsilon=epsilon,
        method=wanted.method,
        p=wanted.p,
        resolution=wanted.resolution,
        bound=wanted.bound,
        bound_size=wanted.bound_size,
        against_aipo=wanted.against_aipo,
    )
    with tempfile.TemporaryDirectory() as folder:
        return dict(made.facts), save(made, Path(folder) / "design.voile").read_bytes()


def _compared(common: tuple[PublicMap, float], epsilon: float) -> list[dict[str, Any]]:
    return compare_places(common[0], epsilon=epsilon, p=common[1])
