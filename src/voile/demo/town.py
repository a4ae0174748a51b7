"""The demo's first room, which needs nothing but the base: eight mechanisms in a small town."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from voile import mechanisms, metrics
from voile.audit import certificate, sampler
from voile.audit.finding import Finding, Verdict
from voile.core.arrays import Floats
from voile.core.channel import Channel
from voile.core.guarantee import Guarantee
from voile.core.randomness import secure_rng, seeded_rng
from voile.core.space import Space
from voile.demo.steps import Event, Plan, step
from voile.report.charts_common import bar_chart
from voile.report.model import Chart, Report, Table, promised, worst_verdict
from voile.report.result import SILENT, Result
from voile.report.words import sentence
from voile.storage import save

EPSILON = 2.0
DRAWS = 200_000
AGAIN = "The same person reported again: each report spends ε anew."


@dataclass(frozen=True)
class Price:
    """What one mechanism claims, what was computed of the claim, and how far off it reports."""

    mechanism: str
    claim: float
    certified: float
    mean_error_km: float
    verdict: Verdict


@dataclass(frozen=True, repr=False, eq=False)
class Prices(Result):
    """The same promise kept by several mechanisms, from the dearest to the best."""

    mechanisms: tuple[Price, ...]
    guarantee: Guarantee
    channel: Channel = field(metadata=SILENT)
    """The best one."""

    @property
    def best(self) -> Price:
        """The one that is off least."""
        return min(self.mechanisms, key=lambda price: price.mean_error_km)

    @property
    def worst(self) -> Price:
        """The one that is off most."""
        return max(self.mechanisms, key=lambda price: price.mean_error_km)

    def sentences(self) -> Iterator[str]:
        """That each keeps its promise, and what that costs."""
        held = sum(price.verdict is Verdict.HOLDS for price in self.mechanisms)
        every = "each holds" if held == len(self.mechanisms) else f"{held} hold"
        yield f"Each claims ε = {EPSILON:g} per km; computed over all pairs and outputs, {every}."
        yield (
            f"Same promise, different price: {self.worst.mechanism} is off by "
            f"{self.worst.mean_error_km:.2f} km on average, {self.best.mechanism} by "
            f"{self.best.mean_error_km:.2f} km."
        )

    def table(self) -> Table:
        """A row for each mechanism."""
        return Table(
            "Eight mechanisms at the same ε",
            ("mechanism", "claimed ε", "certified ε", "error km", "claim"),
            tuple(
                (p.mechanism, p.claim, p.certified, p.mean_error_km, str(p.verdict))
                for p in self.mechanisms
            ),
        )

    def _report(self) -> Report:
        held, compared = self.sentences()
        return Report(
            title="Eight mechanisms in a small town",
            answer=compared,
            verdict=worst_verdict([price.verdict for price in self.mechanisms]),
            because=f"{held} The integers that are drawn were read, not samples of them.",
            guarantee=promised(self.guarantee),
            not_protected=(*(sentence(item) for item in self.guarantee.outside), AGAIN),
            tables=(self.table(),),
            draw=self._charts,
            terms=("epsilon", "odds", "certified", "mechanism"),
        )

    def _charts(self) -> tuple[Chart, ...]:
        ordered = sorted(self.mechanisms, key=lambda price: price.mean_error_km)
        best = self.best.mechanism
        return (
            bar_chart(
                [(price.mechanism, price.mean_error_km) for price in ordered],
                name="town",
                title="The same promise, the distance it costs",
                alt=f"Mean error in km at the same ε; {best}, highlighted, is the smallest.",
                axis="mean error (km)",
                columns=("mechanism", "mean error (km)"),
                strong=best,
            ),
        )


@dataclass(frozen=True, repr=False, eq=False)
class Sampled(Result):
    """Draws of a channel against its stated law."""

    finding: Finding
    guarantee: Guarantee
    candidates: int

    def sentences(self) -> Iterator[str]:
        """What the draws say, and what the law allows."""
        verdict = self.finding.verdict
        yield "No difference found." if verdict is Verdict.OPEN else f"Claim {verdict}."
        yield from self.guarantee.explain(candidates=self.candidates).splitlines()[1:2]

    def _report(self) -> Report:
        found, allowed = self.sentences()
        return Report(
            title="Draws against their law",
            answer=f"{self.finding.samples:,} draws against their stated law. {found}",
            verdict=self.finding.verdict,
            because="Sampling can find a difference, never rule one out.",
            guarantee=(allowed,),
            terms=("odds", "mechanism"),
        )


def town_steps(folder: Path, seed: int | None) -> Iterator[Event]:
    """Build, certify and compare; then test the best one's draws against its stated law."""
    town, prior = _town()
    prices = yield from step(
        Plan(
            "town",
            "Eight mechanisms on the street corners of a small town, certified and compared",
            partial(_priced, town, prior),
            "In Python alone: docs/tutorials/first-channel.md. `voile mechanisms` lists them all.",
        ),
        Prices.sentences,
        table=Prices.table,
    )
    save(prices.channel, folder / "town.voile")
    yield from step(
        Plan(
            "town",
            f"{DRAWS:,} draws of the best one against its stated law",
            partial(_sampled, prices.channel, int(prior.argmax()), seed),
            "In Python: voile.audit.sampler, on town.voile. `voile explain` puts any ε into words.",
        ),
        Sampled.sentences,
    )


def _priced(town: Space, prior: Floats) -> Prices:
    distances = town.distances()
    channels = _candidates(town, distances, prior)
    prices = [_price(name, channel, distances, prior) for name, channel in channels.items()]
    best = channels[min(prices, key=lambda price: price.mean_error_km).mechanism]
    return Prices(tuple(prices), best.guarantee, best)


def _sampled(channel: Channel, secret: int, seed: int | None) -> Sampled:
    rng = secure_rng() if seed is None else seeded_rng(seed)
    law = channel.probabilities()[secret]
    found = sampler(channel.draw(np.full(DRAWS, secret), rng), law)
    return Sampled(found, channel.guarantee, len(channel.space))


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


def _price(name: str, channel: Channel, distances: Floats, prior: Floats) -> Price:
    finding = certificate(channel.space, channel.weights, claim=channel.guarantee.epsilon)
    return Price(
        mechanism=name,
        claim=channel.guarantee.epsilon,
        certified=channel.certificate().epsilon,
        mean_error_km=channel.expected_loss(distances, prior),
        verdict=finding.verdict,
    )
