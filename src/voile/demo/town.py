"""The demo's first room, which needs nothing but the base: eight mechanisms in a small town."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from voile import mechanisms, metrics
from voile.audit import certificate, sampler
from voile.core.arrays import Floats
from voile.core.channel import Channel
from voile.core.randomness import secure_rng, seeded_rng
from voile.core.space import Space
from voile.demo.steps import Event, Found, Plan
from voile.storage import save

EPSILON = 2.0
DRAWS = 200_000


def town_steps(folder: Path, seed: int | None) -> Iterator[Event]:
    """Build, certify and compare; then test the best one's draws against its stated law."""
    plan = Plan(
        "town",
        "Eight mechanisms on the street corners of a small town, certified and compared",
        None,
        "In Python alone: docs/tutorials/first-channel.md. `voile mechanisms` lists them all.",
    )
    yield plan
    town, prior = _town()
    distances = town.distances()
    channels = _candidates(town, distances, prior)
    rows = [_row(name, channel, distances, prior) for name, channel in channels.items()]
    best = min(rows, key=lambda row: float(row["mean_error_km"]))
    channel = channels[str(best["mechanism"])]
    save(channel, folder / "town.voile")
    worst = max(rows, key=lambda row: float(row["mean_error_km"]))
    yield Found(
        plan,
        (
            f"Each claims ε = {EPSILON:g} per km; computed over all pairs and outputs, each holds.",
            f"Same promise, different price: {worst['mechanism']} is off by "
            f"{worst['mean_error_km']:.2f} km on average, {best['mechanism']} by "
            f"{best['mean_error_km']:.2f} km.",
        ),
        {"mechanisms": rows, "chosen": best["mechanism"]},
    )
    plan = Plan(
        "town",
        f"{DRAWS:,} draws of the best one against its stated law",
        None,
        "In Python: voile.audit.sampler, on town.voile. `voile explain` puts any ε into words.",
    )
    yield plan
    rng = secure_rng() if seed is None else seeded_rng(seed)
    busiest = int(prior.argmax())
    law = channel.probabilities()[busiest]
    check = sampler(channel.draw(np.full(DRAWS, busiest), rng), law)
    told = "no difference found" if check.verdict == "open" else f"claim {check.verdict}"
    sentences = channel.guarantee.explain(candidates=len(town)).splitlines()
    yield Found(plan, (f"{told[0].upper()}{told[1:]}.", *sentences[1:2]), {"sampler": told})


def _town() -> tuple[Space, Floats]:
    """Street corners 500 m apart, and two busy quarters."""
    corners = np.array([[x / 2, y / 2] for x in range(12) for y in range(9)])
    busy = sum(
        weight * np.exp(-((corners - centre) ** 2).sum(axis=1) / (2 * spread**2))
        for centre, spread, weight in (((1.5, 1.0), 0.7, 1.0), ((4.5, 3.0), 1.0, 0.8))
    )
    prior = (busy + 0.02) / (busy + 0.02).sum()
    return Space(corners, metric=metrics.euclidean(unit="km")), prior


def _candidates(town: Space, distances: Floats, prior: Floats) -> dict[str, Channel]:
    place = "one location"

    def exponential(strength: float) -> Channel:
        return mechanisms.exponential(town, epsilon=strength, granularity=place)

    laplace = mechanisms.planar_laplace_grid(town, epsilon=EPSILON)
    full = mechanisms.calibrated(exponential, epsilon=EPSILON)
    tight = mechanisms.tight_constraints(town, epsilon=EPSILON, granularity=place)
    plain = {
        "exponential": exponential(EPSILON),
        "exponential (full ε)": full,
        "planar Laplace": laplace,
        "tight constraints": tight,
    }
    remapped = {
        f"{name} + remap": mechanisms.remap(channel, loss=distances, prior=prior)
        for name, channel in plain.items()
    }
    return plain | remapped


def _row(name: str, channel: Channel, distances: Floats, prior: Floats) -> dict[str, str | float]:
    finding = certificate(channel.space, channel.weights, claim=channel.guarantee.epsilon)
    return {
        "mechanism": name,
        "claim": channel.guarantee.epsilon,
        "certified": channel.certificate().epsilon,
        "mean_error_km": channel.expected_loss(distances, prior),
        "verdict": str(finding.verdict),
    }
