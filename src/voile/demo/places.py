"""The demo's places room: design a mechanism for a city, release a fleet's pick-ups, attack."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from voile.core.rounding import odds_at_most
from voile.demo.steps import Event, Plan, step
from voile.jobs.release import Rows
from voile.places._audit import audit
from voile.places._design import design
from voile.places._protect import protect
from voile.places.audited import Audited
from voile.places.designs import PlacesDesign
from voile.places.released import PlacesRelease
from voile.places.sample_trips import write_city, write_crowd, write_trips

EPSILON = 0.8
VEHICLES, STOPS = 60, 12


def places_steps(folder: Path, seed: int | None) -> Iterator[Event]:
    """Design from public files, release private ones, audit both."""
    roads, crowd = write_city(folder / "city"), write_crowd(folder / "crowd.csv")
    trips = write_trips(folder / "trips.csv", vehicles=VEHICLES, stops=STOPS)
    others = write_trips(folder / "others.csv", vehicles=VEHICLES, stops=STOPS, seed=1)
    mechanism, released = folder / "city.voile", folder / "trips.protected.csv"
    yield from step(
        Plan(
            "places",
            "Design: solve for the blur that costs least, certified on the whole map",
            partial(
                design,
                roads=roads,
                prior=crowd,
                epsilon=EPSILON,
                cells="6x8",
                out=mechanism,
                overwrite=True,
            ),
        ),
        _design_sentences,
    )
    yield from step(
        Plan(
            "places",
            f"Release {VEHICLES * STOPS} pick-ups of a fleet, each place a draw",
            partial(
                protect,
                trips,
                mechanism=mechanism,
                pass_=("vehicle", "stop"),
                seed=seed,
                overwrite=True,
            ),
        ),
        _release_sentences,
    )
    yield from step(
        Plan(
            "places",
            "Audit: the certificate again, ratios at close pairs, and attacks in kilometres",
            partial(audit, mechanism, against=(trips, released), trace="vehicle", public=others),
        ),
        _audit_sentences,
    )


def _design_sentences(made: object) -> Iterator[str]:
    assert isinstance(made, PlacesDesign)  # one epsilon: one design
    facts = made.facts
    others = {name: loss for name, loss in facts.losses.items() if name != facts.method}
    compared = ", ".join(f"{name} {loss:.2f} km" for name, loss in sorted(others.items()))
    yield (
        f"{facts.method}: travel distances wrong by {facts.loss:.2f} km on average, "
        f"certified ε = {facts.certificate:.4f} per km. At the same ε: {compared}."
    )
    yield (
        f"No private mechanism with these outputs goes below {facts.lower_bound:.2f} km: at "
        f"most {100 * float(facts.gap or 0):.0f} % are left to gain."
    )


def _release_sentences(done: PlacesRelease) -> Iterator[str]:
    epsilon = done.guarantee.epsilon
    yield (
        f"{(done.rows or Rows()).released:,} places released; two places 1 km apart: odds change "
        f"by at most e^{epsilon:g} = {odds_at_most(done.guarantee.odds_factor(1.0))}. In clear: "
        f"{', '.join(done.columns.passed_in_clear)}."
    )


def _audit_sentences(found: Audited) -> Iterator[str]:
    whole_map, *pairs = (str(finding.verdict) for finding in found.findings)
    files = found.files
    assert files is not None  # two files were given,
    assert files.traces is not None  # with traces
    yield (
        f"On the whole map: {whole_map}. Random and close pairs: {', '.join(pairs)} (sampling "
        "never says holds)."
    )
    yield (
        f"Best guess of a place: {found.attack.blind:.1f} km off before a release, "
        f"{files.bayes_error:.1f} km after one, {files.traces.guess_error_m / 1000:.1f} km for "
        "somebody who reads whole traces and knows how others move."
    )
