"""Auditing a design for places: its certificate, the paper's ratio test, and attacks in km."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from voile.attackers.markov import fit_markov, markov_attack
from voile.audit.finding import Finding
from voile.core.arrays import Floats, Indices
from voile.domains.places.design import PlacesDesign
from voile.errors import InvalidInput, require
from voile.metrics.lp import lp
from voile.optimise.smooth import SmoothMechanism
from voile.tasks.places_design import read_degrees


def audit_design(design: PlacesDesign, *, places: int = 1000, seed: int = 0) -> dict[str, Any]:
    """Certificate, PPR over random places, and the error of the best inference attack.

    PPR (AIPO, section 6.2): |ln p_y(x) − ln p_y(x')| / d(x, x') over all pairs of random places;
    beside it close pairs, 1 to 50 m apart, where a fault shows first. Both can only find a
    violation, never rule one out; the certificate can.
    """
    random = _ratios(design, places=places, seed=seed)
    close = _close_ratios(design, pairs=20 * places, seed=seed)
    claim, unit = design.guarantee.epsilon, design.guarantee.metric.unit
    findings = [
        _certificate_finding(design),
        Finding(
            "Largest ratio over random pairs (PPR)",
            claim,
            random[0],
            samples=places,
            unit=unit,
            detail=f"{100 * random[1]:.3g} % of pairs above the claim",
        ),
        Finding("Largest ratio over close pairs", claim, close, samples=20 * places, unit=unit),
    ]
    return {
        "findings": findings,
        "ppr_violations": random[1],
        "attack": inference_error(design),
        "facts": dict(design.facts),
    }


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
) -> dict[str, Any]:
    """What the release of a file gives away: attacks on its very rows, in km.

    Rows of the two files must correspond. With `trace`, rows of one value are steps of one trace:
    a Markov chain is fitted on half of the traces and the other half attacked by forward–backward.
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
        found |= _trace_attack(design, inside, outputs, _groups(original, trace))
    return found


def _certificate_finding(design: PlacesDesign) -> Finding:
    unit, claim = design.guarantee.metric.unit, design.guarantee.epsilon
    if isinstance(design.mechanism, SmoothMechanism):
        found = design.mechanism.certificate()
        return Finding(
            "Privacy loss on the whole map",
            claim,
            found.lower,
            found.epsilon,
            unit=unit,
            detail=f"gradient supremum {found.supremum:.6g}, rounding {found.rounding:.1e}",
        )
    return Finding(
        "Privacy loss on the whole map",
        claim,
        0.0,
        claim,
        unit=unit,
        detail="proved: noise with an ε-Lipschitz density, then post-processing",
    )


def _ratios(design: PlacesDesign, *, places: int, seed: int) -> tuple[float, float]:
    from scipy.spatial.distance import cdist

    rng = np.random.default_rng(seed)
    low, high = design.box
    points = snapped(design, rng.uniform(low, high, (places, len(low))))
    logs = log_law(design, points)
    gaps = cdist(logs, logs, "chebyshev")
    apart = lp(exponent(design)).pairwise(points, points)
    upper = np.triu_indices(places, k=1)
    far = apart[upper] > 0
    ratio = np.maximum(gaps[upper][far] - doubt(design), 0.0) / apart[upper][far]
    return float(ratio.max()), float((ratio > design.guarantee.epsilon).mean())


def _close_ratios(design: PlacesDesign, *, pairs: int, seed: int) -> float:
    rng = np.random.default_rng([seed, 1])
    low, high = design.box
    first = rng.uniform(low, high, (pairs, len(low)))
    turn = rng.normal(size=first.shape)
    turn *= rng.uniform(0.001, 0.05, (pairs, 1)) / np.linalg.norm(turn, axis=1, keepdims=True)
    first, second = snapped(design, first), snapped(design, first + turn)
    apart = np.linalg.norm(first - second, exponent(design), axis=1)
    keep = apart > 0
    worst = 0.0
    for start in range(0, len(first), 4096):
        rows = slice(start, start + 4096)
        gap = np.abs(log_law(design, first[rows]) - log_law(design, second[rows])).max(axis=1)
        here = keep[rows]
        if here.any():
            sure = np.maximum(gap[here] - doubt(design), 0.0)
            worst = max(worst, float((sure / apart[rows][here]).max()))
    return worst


def doubt(design: PlacesDesign) -> float:
    """What of a difference of logarithms may be rounding: a proved law is evaluated in doubles.

    Its probabilities are good to about 1e-11 of themselves; a certified law's are what is drawn.
    """
    return 0.0 if isinstance(design.mechanism, SmoothMechanism) else 1e-10


def snapped(design: PlacesDesign, points: Floats) -> Floats:
    """The points as a release sees them: on the map, and at its resolution where it has one."""
    low, high = design.box
    if isinstance(design.mechanism, SmoothMechanism):
        return design.mechanism.snap(points)
    return np.asarray(np.clip(points, low, high))


def log_law(design: PlacesDesign, points: Floats) -> Floats:
    """Log-probabilities; below 1e-280, and where an output is never drawn, all alike."""
    return np.asarray(np.log(np.maximum(design.mechanism.probabilities(points), 1e-280)))


def exponent(design: PlacesDesign) -> float:
    """P of the ℓ_p metric that the guarantee speaks of."""
    return design.mechanism.p


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


def _trace_attack(
    design: PlacesDesign, truth: Floats, outputs: Indices, traces: Sequence[Indices]
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
    apart = cdist(places, places)
    errors = []
    for some in _batches(sorted(attacked, key=len)):
        beliefs = attack.log_posteriors([outputs[rows] for rows in some])
        for rows, belief in zip(some, beliefs, strict=True):
            guess = places[(np.exp(belief) @ apart).argmin(axis=1)]
            errors.append(np.linalg.norm(guess - truth[rows], axis=1))
    return {"markov_error": float(np.concatenate(errors).mean()), "traces_attacked": len(attacked)}


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


def _groups(path: str | Path, column: str) -> list[Indices]:
    import csv

    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        if column not in (reader.fieldnames or ()):
            raise InvalidInput(f"{Path(path).name} must have the trace column {column!r}")
        names = np.array([row[column] for row in reader])
    _, member = np.unique(names, return_inverse=True)
    order = np.argsort(member, kind="stable")
    return list(np.split(order, np.flatnonzero(np.diff(member[order])) + 1))
