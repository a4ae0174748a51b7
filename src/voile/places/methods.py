"""All methods for one map side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from voile.interrupts import asked_to_stop, worth_keeping
from voile.optimise.anchored import aipo, aipo_relaxed
from voile.optimise.best import best
from voile.optimise.continuous import bilinear_axis, bilinear_cone, smooth_spline
from voile.optimise.laplace_remap import exponential_law, laplace_remap
from voile.optimise.lower_bounds import lower_bound, paper_bound
from voile.places.designs import certified
from voile.places.geodesy import geodesic_epsilon
from voile.places.lengths import to_a_tenth
from voile.places.public_map import PublicMap
from voile.places.settings import Solving
from voile.places.size import require_solver
from voile.places.solve import NOISY, check_epsilon
from voile.progress import say, tell
from voile.report.model import Report, Table
from voile.report.result import Result


@dataclass(frozen=True)
class Compared:
    """One method at one epsilon: its loss (km), and the largest loss of privacy per geodesic km.

    A bound has no privacy, since it is no mechanism.
    """

    epsilon: float
    method: str
    loss: float
    supremum: float | None
    seconds: float

    def __str__(self) -> str:
        what = "a bound" if self.supremum is None else f"largest loss {self.supremum:.3g} per km"
        return f"{self.method}: {self.loss:.4f} km, {what}, {self.seconds:.0f} s"


@dataclass(frozen=True, repr=False, eq=False)
class MethodComparison(Result):
    """All methods on one map."""

    map: str
    methods: tuple[Compared, ...]
    stopped: bool = False
    """Whether somebody asked for what there was before all methods had run."""

    def _records(self) -> tuple[Compared, ...]:
        return self.methods

    def _report(self) -> Report:
        """The methods as a table, and which of them costs least."""
        private = [row for row in self.methods if row.supremum is not None and _kept(row)]
        least = min(private, key=lambda row: row.loss)
        return Report(
            title="Methods for places, side by side",
            answer=f"Of {len({row.method for row in private})} private methods on {self.map}, "
            f"{least.method} loses least at ε = {least.epsilon:g}: {least.loss:.4f} km.",
            tables=(
                Table(
                    "What each method costs",
                    ("ε per km", "method", "loss km", "largest loss per km", "seconds"),
                    tuple(
                        (row.epsilon, row.method, to_a_tenth(row.loss), row.supremum, row.seconds)
                        for row in self.methods
                    ),
                ),
            ),
            notes=(
                *(("It was stopped: the other methods did not run.",) if self.stopped else ()),
                "Nothing was saved: name one of the methods with --method to keep a design.",
            ),
            terms=("epsilon", "loss", "lower bound"),
        )


def _kept(row: Compared) -> bool:
    return row.supremum is not None and row.supremum <= row.epsilon


LOWER_BOUND = "lower bound"
Figures = tuple[float, float | None]
"""A loss, and the largest loss of privacy per km of the plane."""


def compared(public: PublicMap, *, epsilon: float, solving: Solving) -> tuple[Compared, ...]:
    """All methods on one map at one epsilon; asked to stop, those that ran to their end."""
    check_epsilon(epsilon)
    outputs = len(public.problem.outputs)
    require_solver(outputs, public.cells, method="spline", against_aipo=True)
    rows: list[Compared] = []
    work = dict(_methods(public, epsilon, solving))
    for count, (name, figures) in enumerate(work.items()):
        tell(name, done=count, total=len(work))
        begun = time.monotonic()
        loss, plane = figures()
        if rows and asked_to_stop():
            break
        supremum = None if plane is None else geodesic_epsilon(plane, public.stretch)
        rows.append(Compared(epsilon, name, loss, supremum, time.monotonic() - begun))
        worth_keeping()
        say(str(rows[-1]), rows[-1])
    return tuple(rows)


def _methods(
    public: PublicMap, epsilon: float, solving: Solving
) -> Iterator[tuple[str, Callable[[], Figures]]]:
    """Every method by name; the bounds at the full ε, ours as soon as there is something below."""
    problem, plane, p = public.dense, public.plane_epsilon(epsilon), solving.p
    how: dict[str, Any] = {"epsilon": plane, "cells": public.cells, "p": p}

    def smooth(build: Callable[..., Any]) -> Figures:
        found = build(problem, tolerance=1e-4, **how)
        return found.loss, found.mechanism.certificate().epsilon

    def anchored(build: Callable[..., Any]) -> Figures:
        found = build(problem, tolerance=1e-4, **how)
        return found.loss, found.supremum

    def noise(bayes: bool) -> Figures:
        found = laplace_remap(problem, bayes=bayes, **how)
        return problem.expected(found.probabilities(problem.places)), plane

    def exponential() -> Figures:
        law = exponential_law(problem.places, problem.outputs, epsilon=plane, p=p)
        return problem.expected(law), plane

    def chosen() -> Figures:
        found = best(problem, **how)
        return found.loss, certified(found.mechanism)

    yield "exponential", exponential
    if p in (1.0, 2.0):
        yield "Laplace", partial(noise, False)
        yield NOISY, partial(noise, True)
    full, sweeps = how | {"epsilon": epsilon}, solving.bound_sweeps
    yield (
        LOWER_BOUND,
        lambda: (lower_bound(problem, epsilon=epsilon, p=p, sweeps=sweeps).value, None),
    )
    yield "AIPO", partial(anchored, aipo)
    yield "AIPO-R (not private)", partial(anchored, aipo_relaxed)
    yield "(d) bilinear, axis budgets", partial(smooth, bilinear_axis)
    yield "(e) bilinear, exact cone", partial(smooth, bilinear_cone)
    yield "(f) smooth spline", partial(smooth, smooth_spline)
    yield "best", chosen
    yield "bound of the AIPO paper", lambda: (paper_bound(problem, **full).value, None)
