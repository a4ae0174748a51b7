"""All methods for one map side by side."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from voile.optimise.anchored import aipo, aipo_relaxed
from voile.optimise.best import best
from voile.optimise.continuous import bilinear_axis, bilinear_cone, smooth_spline
from voile.optimise.laplace_remap import exponential_law, laplace_remap
from voile.optimise.lower_bounds import paper_bound, partition_bound
from voile.places._design import Note, PublicMap, certified, check_epsilon
from voile.places.designs import geodesic_epsilon
from voile.places.size import require_solver


def compare_places(
    public: PublicMap, *, epsilon: float, p: float = 2.0, note: Note = lambda text: None
) -> list[dict[str, Any]]:
    """All methods on one map: loss, certified or proved supremum per geodesic km, seconds."""
    check_epsilon(epsilon)
    problem, cells, plane = public.problem, public.cells, public.plane_epsilon(epsilon)
    require_solver(len(problem.outputs), cells, method="spline", against_aipo=True)
    rows: list[dict[str, Any]] = []

    def add(name: str, work: Callable[[], tuple[float, float | None]]) -> None:
        note(name)
        begun = time.monotonic()
        loss, supremum = work()
        rows.append(
            {
                "method": name,
                "loss": loss,
                "supremum": None
                if supremum is None
                else geodesic_epsilon(supremum, public.stretch),
                "seconds": time.monotonic() - begun,
            }
        )

    def smooth(build: Callable[..., Any]) -> tuple[float, float]:
        found = build(problem, epsilon=plane, cells=cells, p=p, tolerance=1e-4)
        return found.loss, found.mechanism.certificate().epsilon

    def exponential() -> tuple[float, float]:
        law = exponential_law(problem.places, problem.outputs, epsilon=plane, p=p)
        return problem.expected(law), plane

    def noise(bayes: bool) -> tuple[float, float]:
        found = laplace_remap(problem, epsilon=plane, cells=cells, p=p, bayes=bayes)
        return problem.expected(found.probabilities(problem.places)), plane

    def anchored(build: Callable[..., Any]) -> tuple[float, float]:
        found = build(problem, epsilon=plane, cells=cells, p=p, tolerance=1e-4)
        return found.loss, found.supremum

    def chosen() -> tuple[float, float]:
        found = best(problem, epsilon=plane, cells=cells, p=p, note=note)
        return found.loss, certified(found.mechanism)

    add("exponential", exponential)
    if p in (1.0, 2.0):
        add("Laplace", lambda: noise(False))
        add("Laplace + remap", lambda: noise(True))
    add("AIPO", lambda: anchored(aipo))
    add("AIPO-R (not private)", lambda: anchored(aipo_relaxed))
    add("(d) bilinear, axis budgets", lambda: smooth(bilinear_axis))
    add("(e) bilinear, exact cone", lambda: smooth(bilinear_cone))
    add("(f) smooth spline", lambda: smooth(smooth_spline))
    add("best", chosen)
    add(
        "bound of the AIPO paper",
        lambda: (paper_bound(problem, epsilon=epsilon, cells=cells, p=p).value, None),
    )
    add("lower bound", lambda: (partition_bound(problem, epsilon=epsilon, p=p).value, None))
    return rows
