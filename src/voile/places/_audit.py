"""Auditing a design for places: its certificate, the paper's ratio test, and attacks in km."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voile.attackers.markov import MarkovAttack, fit_markov, markov_attack
from voile.audit.finding import Finding
from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, MissingExtra, require
from voile.jobs import Engine, spread
from voile.optimise.smooth import SmoothMechanism
from voile.places.columns import read_degrees, read_traces
from voile.places.designs import PlacesDesign
from voile.places.ratios import close_blocks, random_blocks, random_ratio


def audit_design(
    design: PlacesDesign, *, places: int = 1000, seed: int = 0, engine: Engine | None = None
) -> dict[str, Any]:
    """Certificate, PPR over random places, and the error of the best inference attack.

    PPR (AIPO, section 6.2): |ln p_y(x) − ln p_y(x')| / d(x, x') over all pairs of random places;
    beside it close pairs, 1 to 50 m apart, where a fault shows first. d is the geodesic distance on
    the ellipsoid, which no projection enters. Both can only find a violation, never rule one out;
    the certificate can.

    `engine` spreads the certificate, the attack and blocks of pairs over processes or nodes; each
    block has a seed of its own, so the figures are the same wherever it was computed.
    """
    require(places >= 2, "places", ">= 2", places)
    random, close = random_blocks(places, seed=seed), close_blocks(20 * places, seed=seed)
    parts: list[Callable[[PlacesDesign], Any]] = [_certificate_finding, inference_error]
    certificate, attack, *ratios = spread(
        _part, [*parts, *random, *close], common=design, engine=engine
    )
    largest, share = random_ratio(ratios[: len(random)])
    nearby = max(ratios[len(random) :])
    claim, unit = design.guarantee.epsilon, design.guarantee.metric.unit
    findings = [
        certificate,
        Finding(
            "Largest ratio over random pairs (PPR)",
            claim,
            largest,
            samples=places,
            unit=unit,
            detail=f"{100 * share:.3g} % of pairs above the claim",
        ),
        Finding("Largest ratio over close pairs", claim, nearby, samples=20 * places, unit=unit),
    ]
    return {
        "findings": findings,
        "ppr_violations": share,
        "attack": attack,
        "facts": dict(design.facts),
    }


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


def inference_error(design: PlacesDesign, *, largest: int = 1500) -> dict[str, float]:
    """The least expected distance (km) between the true place and a guess.

    `with_prior`: the attacker knows the prior, sees y, and guesses argmin_x̂ E[‖x − x̂‖ | y], the
    Bayes-optimal attack (Shokri et al., S&P 2011). `without_prior`: the same with even beliefs,
    scored under the true prior. `blind`: the prior alone, no release. All over the public places
    (thinned to `largest`).
    """
    from scipy.spatial.distance import cdist

    step = max(1, -(-len(design.places) // largest))
    places, prior = design.places[::step], design.prior[::step] / design.prior[::step].sum()
    law = design.mechanism.probabilities(places)
    apart = cdist(places, places)
    joint = prior[:, None] * law
    with_prior = float((joint.T @ apart).min(axis=1).sum())
    guess = (law.T @ apart).argmin(axis=1)
    without = float((joint * apart[:, guess]).sum())
    moved = cdist(places, np.asarray(design.mechanism.outputs, dtype=float))
    return {
        "with_prior": with_prior,
        "without_prior": without,
        "blind": float((prior @ apart).min()),
        "displacement": float((joint * moved).sum()),
    }


def audit_files(
    design: PlacesDesign,
    original: str | Path,
    released: str | Path,
    *,
    lat: str = "lat",
    lon: str = "lon",
    trace: str | None = None,
    engine: Engine | None = None,
) -> dict[str, Any]:
    """What the release of a file gives away: attacks on its very rows, in km.

    Rows of the two files must correspond. With `trace`, rows of one value are steps of one trace:
    a Markov chain is fitted on half of the traces and the other half attacked by forward–backward.
    `engine` spreads batches of traces over processes or nodes.
    """
    truth = design.projection.to_km(*read_degrees(original, lat=lat, lon=lon))
    shown = design.projection.to_km(*read_degrees(released, lat=lat, lon=lon))
    require(
        len(truth) == len(shown), "the two files", "of equally many rows", (len(truth), len(shown))
    )
    outputs, off = _matched(design, shown)
    found: dict[str, Any] = {
        "rows": len(truth),
        "not_an_output": off,
        "mean_displacement": float(np.linalg.norm(truth - shown, axis=1).mean()),
    }
    low, high = design.box
    inside = np.clip(truth, low, high)
    guess = _bayes_guesses(design)
    found["bayes_error"] = float(np.linalg.norm(inside - guess[outputs], axis=1).mean())
    if trace is not None:
        found |= _trace_attack(design, inside, outputs, read_traces(original, trace), engine)
    return found


def _certificate_finding(design: PlacesDesign) -> Finding:
    unit, claim = design.guarantee.metric.unit, design.guarantee.epsilon
    if isinstance(design.mechanism, SmoothMechanism):
        found = design.mechanism.certificate()
        return Finding(
            "Privacy loss on the whole map",
            claim,
            found.lower,  # the plane shortens no distance, so it holds per geodesic km as well
            design.certificate(),
            unit=unit,
            detail=f"gradient supremum {found.supremum:.6g}, rounding {found.rounding:.1e}, the "
            f"plane's stretch {design.stretch - 1:.1e}",
        )
    return Finding(
        "Privacy loss on the whole map",
        claim,
        0.0,
        design.certificate(),
        unit=unit,
        detail="proved: noise with an ε-Lipschitz density, then post-processing; the plane's "
        f"stretch {design.stretch - 1:.1e} is taken off",
    )


def _matched(design: PlacesDesign, shown: Floats) -> tuple[Indices, int]:
    """The output of each released row, and how many rows are none (a metre's slack)."""
    from scipy.spatial import cKDTree

    distance, nearest = cKDTree(np.asarray(design.mechanism.outputs, dtype=float)).query(shown)
    off = int((np.asarray(distance) > 0.001).sum())
    if off > len(shown) / 2:
        raise InvalidInput(
            f"{off} of {len(shown)} released rows are not outputs of this mechanism; "
            "is it the one that released them?"
        )
    return np.asarray(nearest, dtype=np.intp), off


def _candidates(design: PlacesDesign, largest: int = 1500) -> tuple[Floats, Floats]:
    step = max(1, -(-len(design.places) // largest))
    return design.places[::step], design.prior[::step] / design.prior[::step].sum()


def _bayes_guesses(design: PlacesDesign) -> Floats:
    from scipy.spatial.distance import cdist

    places, prior = _candidates(design)
    joint = prior[:, None] * design.mechanism.probabilities(places)
    return np.asarray(places[(joint.T @ cdist(places, places)).argmin(axis=1)])


@dataclass(frozen=True, eq=False)
class _Attacker:
    """What all batches of traces share; it travels once to a process or node."""

    attack: MarkovAttack
    places: Floats
    apart: Floats


def _trace_attack(
    design: PlacesDesign,
    truth: Floats,
    outputs: Indices,
    traces: Sequence[Indices],
    engine: Engine | None,
) -> dict[str, Any]:
    """Forward–backward over a thinned set of places; errors in km on held-out traces."""
    from scipy.spatial import cKDTree
    from scipy.spatial.distance import cdist

    require(len(traces) >= 2, "traces", "at least two", len(traces))
    places, _ = _candidates(design, largest=400)
    states = np.asarray(cKDTree(places).query(truth)[1])
    known, attacked = traces[: len(traces) // 2], traces[len(traces) // 2 :]
    chain = fit_markov([states[rows] for rows in known], size=len(places))
    attack = markov_attack(np.log(design.mechanism.probabilities(places) + 1e-300), chain)
    batches = (
        [(outputs[rows], truth[rows]) for rows in some]
        for some in _batches(sorted(attacked, key=len))
    )
    attacker = _Attacker(attack, places, cdist(places, places))
    errors = spread(_errors, batches, common=attacker, engine=engine)
    return {"markov_error": float(np.concatenate(errors).mean()), "traces_attacked": len(attacked)}


def _errors(attacker: _Attacker, traces: list[tuple[Indices, Floats]]) -> Floats:
    """How far the best guess is from the true place, at every step of these traces."""
    found = []
    with _one_thread():
        beliefs = attacker.attack.log_posteriors([outputs for outputs, _ in traces])
        for (_, truth), belief in zip(traces, beliefs, strict=True):
            best = (np.exp(belief) @ attacker.apart).argmin(axis=1)
            found.append(np.linalg.norm(attacker.places[best] - truth, axis=1))
    return np.concatenate(found)


def _batches(traces: Sequence[Indices], *, steps: int = 20_000) -> Iterator[list[Indices]]:
    """Traces of similar length together, at most so many padded steps at once."""
    batch: list[Indices] = []
    for trace in traces:
        if batch and (len(batch) + 1) * len(trace) > steps:
            yield batch
            batch = []
        batch.append(trace)
    if batch:
        yield batch
