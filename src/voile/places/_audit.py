"""`voile.places.audit`: a design's certificate, the paper's ratio test, and attacks in km."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Annotated, Any

import numpy as np

from voile.audit.finding import Finding
from voile.audit.map_ratios import close_blocks, random_blocks, random_ratio
from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, MissingExtra, require
from voile.jobs import Engine, spread
from voile.jobs.settings import Workers
from voile.optimise.on_lattice import SplineMechanism
from voile.options import Data, Option, use_case
from voile.places.audited import AttackedRows, Audited, Guesses
from voile.places.blurring import Saved
from voile.places.columns import read_both
from voile.places.coordinates import DEGREES, Coordinates
from voile.places.designs import PlacesDesign
from voile.places.knowing import Following
from voile.places.loading import opened_design
from voile.places.settings import HERE
from voile.places.trace_attack import followed, read_rows
from voile.places.trace_evidence import DesignEvidence, candidates
from voile.places.tracing import Times, Tracing
from voile.progress import tell


@use_case("places audit")
def audit(
    mechanism: Saved,
    *,
    against: Annotated[
        tuple[Data, Data] | None,
        Option("ORIGINAL RELEASED, two files row by row.", reads="private"),
    ] = None,
    columns: Coordinates = DEGREES,
    trace: Annotated[
        str | None,
        Option("Column that names a trace: attack each as a whole, with --public.", shown=True),
    ] = None,
    time: Times = None,
    following: Following = Following(),
    preview: Annotated[
        bool, Option("Map the rows before and after on the page: not to be handed on.", "Output")
    ] = False,
    places: Annotated[int, Option("Random places of the ratio test.", "Running")] = 1000,
    seed: Annotated[int, Option("For the random places.", "Running")] = 0,
    workers: Workers = HERE,
) -> Audited:
    """Recompute the certificate, test ratios, and attack the release.

    Exit code 1 if a claim is violated. Example: `voile places audit city.voile --jobs 0`

    With two files the attacks run on their very rows, which must correspond. With `trace`, rows
    of one value are one trace, read as `places follow` does: exact forward–backward on how people
    move in the public trips; on squares, or matched to `roads`. PPR (AIPO, section
    6.2) is |ln p_y(x) − ln p_y(x')| / d(x, x') over all pairs of random places; beside it close
    pairs, 1 to 50 m apart, where a fault shows first. d is the geodesic distance on the ellipsoid,
    which no projection enters. Both can only find a violation, never rule one out; the certificate
    can. Work is spread in blocks with seeds of their own, so the figures are the same wherever
    they were computed.
    """
    require(places >= 2, "places", ">= 2", places)
    design, engine = opened_design(mechanism), workers.chosen()
    findings, guesses = _tested(design, places, seed, engine)
    files = points = None
    if against is not None:
        tracing = Tracing(trace=trace, time=time)
        files, points = _attacked(design, against, columns, tracing, following, engine, preview)
    elif trace is not None:
        raise InvalidInput("--trace goes with --against, the files whose traces are attacked")
    return Audited(findings, guesses, files, design, points if preview else None)


def _tested(
    design: PlacesDesign, places: int, seed: int, engine: Engine
) -> tuple[tuple[Finding, ...], Guesses]:
    """The certificate, the ratios of random and of close pairs, and the best guess."""
    tell("the certificate, ratios of pairs, and the best guess")
    random, close = random_blocks(places, seed=seed), close_blocks(20 * places, seed=seed)
    parts: list[Callable[[PlacesDesign], Any]] = [_certificate_finding, inference_error]
    certificate, guesses, *ratios = spread(
        _part, [*parts, *random, *close], common=design, engine=engine
    )
    largest, share = random_ratio(ratios[: len(random)])
    nearby = max(ratios[len(random) :])
    claim, unit = design.guarantee.epsilon, design.guarantee.metric.unit
    above = f"{100 * share:.3g} % of pairs above the claim"
    pairs = "Largest ratio over random pairs (PPR)"
    near = "Largest ratio over close pairs"
    return (
        certificate,
        Finding(pairs, claim, largest, samples=places, unit=unit, detail=above),
        Finding(near, claim, nearby, samples=20 * places, unit=unit),
    ), guesses


def _part(design: PlacesDesign, part: Callable[[PlacesDesign], Any]) -> Any:
    """A part of the audit, on one thread: sums of products are then the same on every machine."""
    with _one_thread():
        return part(design)


def _one_thread() -> AbstractContextManager[Any]:
    try:
        from threadpoolctl import threadpool_limits
    except ImportError as problem:
        raise MissingExtra("threadpoolctl", extra="places") from problem
    limits: AbstractContextManager[Any] = threadpool_limits(1)
    return limits


def _certificate_finding(design: PlacesDesign) -> Finding:
    unit, claim = design.guarantee.metric.unit, design.guarantee.epsilon
    lower = 0.0
    detail = (
        "proved: noise with an ε-Lipschitz density, then post-processing; the plane's stretch "
        f"{design.stretch - 1:.1e} is taken off"
    )
    if isinstance(design.mechanism, SplineMechanism):
        found = design.mechanism.certificate()
        lower = found.lower  # the plane shortens no distance, so it holds per geodesic km as well
        detail = (
            f"gradient supremum {found.supremum:.6g}, rounding {found.rounding:.1e}, the plane's "
            f"stretch {design.stretch - 1:.1e}"
        )
    question = "Privacy loss on the whole map"
    return Finding(question, claim, lower, design.certificate(), unit=unit, detail=detail)


def inference_error(design: PlacesDesign, *, largest: int = 1500) -> Guesses:
    """The least expected distance (km) between the true place and a guess.

    `with_prior`: the attacker knows the prior, sees y, and guesses argmin_x̂ E[‖x − x̂‖ | y], the
    Bayes-optimal attack (Shokri et al., S&P 2011). `without_prior`: the same with even beliefs,
    scored under the true prior. `blind`: the prior alone, no release. All over the public places
    (thinned to `largest`).
    """
    from scipy.spatial.distance import cdist

    places, prior = candidates(design, largest)
    law = design.mechanism.probabilities(places)
    apart = cdist(places, places)
    joint = prior[:, None] * law
    guess = (law.T @ apart).argmin(axis=1)
    moved = cdist(places, np.asarray(design.mechanism.outputs, dtype=float))
    return Guesses(
        with_prior=float((joint.T @ apart).min(axis=1).sum()),
        without_prior=float((joint * apart[:, guess]).sum()),
        blind=float((prior @ apart).min()),
        displacement=float((joint * moved).sum()),
    )


# ── the rows of two files ──────────────────────────────────────────────────────────────────────


def _attacked(
    design: PlacesDesign,
    against: tuple[Data, Data],
    columns: Coordinates,
    tracing: Tracing,
    following: Following,
    engine: Engine,
    preview: bool,
) -> tuple[AttackedRows, tuple[Floats, Floats]]:
    """What the release of a file gives away: attacks on its very rows, in km."""
    tell("attacking the rows given")
    require(len(against) == 2, "--against", "an original and its release", len(against))
    truth, shown = (design.projection.to_km(*table.T) for table in read_both(*against, columns))
    law = DesignEvidence(design)
    outputs, off = _matched(law, shown)
    inside = np.clip(truth, *design.box)
    errors = np.linalg.norm(inside - law.guesses[outputs], axis=1)
    found = None
    if tracing.trace is not None:
        rows = read_rows(*against, columns, tracing)
        with _one_thread():
            found = followed(law, rows, following, columns, tracing, engine=engine, preview=preview)
    return AttackedRows(
        rows=len(truth),
        not_an_output=off,
        mean_displacement=float(np.linalg.norm(truth - shown, axis=1).mean()),
        bayes_error=float(errors.mean()),
        traces=found,
    ), (truth, shown)


def _matched(law: DesignEvidence, shown: Floats) -> tuple[Indices, int]:
    """The output of each released row, and how many rows are none (a metre's slack)."""
    nearest, distance = law.matched(shown)
    off = int((distance > 0.001).sum())
    if off > len(shown) / 2:
        raise InvalidInput(
            f"{off} of {len(shown)} released rows are not outputs of this mechanism; "
            "is it the one that released them?"
        )
    return nearest, off
