"""The demo's places room: design a mechanism for a city, release a fleet's pick-ups, attack."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from voile.core.rounding import exp_upwards, odds_at_most
from voile.demo.steps import Event, Found, Plan, seeded
from voile.jobs.release import Rows
from voile.places._audit import audit
from voile.places._design import design
from voile.places._protect import protect
from voile.places.audited import Audited
from voile.places.designs import PlacesDesign
from voile.places.sample_trips import write_city, write_crowd, write_trips
from voile.places.solved import DesignFacts

EPSILON = 0.8
CELLS = "6x8"
VEHICLES, STOPS = 60, 12


def places_steps(folder: Path, seed: int | None) -> Iterator[Event]:
    """Design from public files, release private ones, audit both."""
    roads, crowd = write_city(folder / "city"), write_crowd(folder / "crowd.csv")
    trips = write_trips(folder / "trips.csv", vehicles=VEHICLES, stops=STOPS)
    mechanism, released = folder / "city.voile", folder / "trips.protected.csv"
    plan = Plan(
        "places",
        "Design: solve for the blur that costs least, certified on the whole map",
        f"voile places design --roads city --prior crowd.csv --epsilon {EPSILON:g} "
        f"--cells {CELLS} --out city.voile --overwrite",
    )
    yield plan
    made = design(
        roads=roads, prior=crowd, epsilon=EPSILON, cells=CELLS, out=mechanism, overwrite=True
    )
    facts = cast(PlacesDesign, made).facts  # one epsilon: one design
    yield Found(plan, _design_lines(facts), _design_facts(facts))
    plan = Plan(
        "places",
        f"Release {VEHICLES * STOPS} pick-ups of a fleet, each place a draw",
        "voile places protect trips.csv --mechanism city.voile --pass vehicle,stop"
        f"{seeded(seed)} --overwrite",
    )
    yield plan
    done = protect(trips, mechanism=mechanism, pass_=("vehicle", "stop"), seed=seed, overwrite=True)
    rows, clear = (done.rows or Rows()).released, done.columns.passed_in_clear
    yield Found(
        plan,
        (
            f"{rows:,} places released; two places 1 km apart: odds change by at most "
            f"e^{EPSILON:g} = {odds_at_most(exp_upwards(EPSILON))}. In clear: "
            f"{', '.join(clear)}.",
        ),
        {"rows": rows, "passed_in_clear": list(clear)},
    )
    plan = Plan(
        "places",
        "Audit: the certificate again, ratios at close pairs, and attacks in kilometres",
        "voile places audit city.voile --against trips.csv trips.protected.csv --trace vehicle",
    )
    yield plan
    found = audit(mechanism, against=(trips, released), trace="vehicle")
    yield Found(plan, _audit_lines(found), found.to_dict())


def _design_lines(facts: DesignFacts) -> tuple[str, ...]:
    others = {name: loss for name, loss in facts.losses.items() if name != facts.method}
    compared = ", ".join(f"{name} {loss:.2f} km" for name, loss in sorted(others.items()))
    return (
        f"{facts.method}: travel distances wrong by {facts.loss:.2f} km on average, "
        f"certified ε = {facts.certificate:.4f} per km. At the same ε: {compared}.",
        f"No private mechanism with these outputs goes below {facts.lower_bound:.2f} km: at "
        f"most {100 * float(facts.gap or 0):.0f} % are left to gain.",
    )


def _design_facts(facts: DesignFacts) -> dict[str, Any]:
    return {
        "method": facts.method,
        "epsilon": facts.epsilon,
        "loss": facts.loss,
        "certificate": facts.certificate,
        "basis": facts.basis,
        "lower_bound": facts.lower_bound,
        "gap": facts.gap,
        "losses": dict(facts.losses),
    }


def _audit_lines(found: Audited) -> tuple[str, ...]:
    verdicts = [str(finding.verdict) for finding in found.findings]
    files = found.files
    assert files is not None  # two files were given, with traces
    return (
        f"On the whole map: {verdicts[0]}. Random and close pairs: "
        f"{', '.join(verdicts[1:])} (sampling never says holds).",
        f"Best guess of a place: {found.attack.blind:.1f} km off before a release, "
        f"{files.bayes_error:.1f} km after one, {files.markov_error:.1f} km for somebody "
        "who reads whole traces.",
    )
