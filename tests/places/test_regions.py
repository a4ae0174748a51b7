"""Regions through the front door: designed, saved, released, one at a time, audited, refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import voile
from voile.errors import BadFile, InvalidInput
from voile.optimise.region import RegionMechanism
from voile.places import settings
from voile.places.designs import places_design_from_record
from voile.places.settings import Map, Solving

BOX = (45.0, 5.0, 45.03, 5.04)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("region") / "region.voile"
    made = voile.places.design(box=BOX, cells=(6, 7), epsilon=1.6, method="region", out=path)
    return made, path


def test_a_region_is_designed_certified_and_says_what_it_is(saved):
    made, _ = saved
    assert isinstance(made.mechanism, RegionMechanism)
    assert made.certificate() <= 1.6
    assert made.facts.lower_bound is None
    assert made.facts.loss < made.facts.losses["what it began with"]
    assert made.facts.spline_cells == (11, 11)
    said = made.report().text() if hasattr(made.report(), "text") else str(made.report())
    assert "No lower bound is worked out for a region" in said


def test_a_region_is_written_once(tmp_path, monkeypatch):
    """Nothing is worked out after it is certified, and its file may be of gigabytes."""
    written = []
    monkeypatch.setattr("voile.places._design.save", lambda made, out: written.append(made))
    how = {"box": BOX, "cells": (3, 3), "epsilon": 1.6, "out": tmp_path / "region.voile"}
    made = voile.places.design(**how, method="region")
    assert [w.facts for w in written] == [replace(made, saved=None).facts]


def test_a_loaded_region_draws_what_was_saved(saved):
    made, path = saved
    again = voile.load(path)
    assert isinstance(again.mechanism, RegionMechanism)
    assert again.certificate() == made.certificate()
    rng = np.random.default_rng(0)
    places = list(zip(rng.uniform(44.999, 45.031, 200), rng.uniform(5.0, 5.04, 200), strict=True))
    one, other = (d.release(places, rng=voile.seeded_rng(7)) for d in (made, again))
    assert one == other
    for place in places[:50]:
        alone = again.release(place, rng=voile.seeded_rng(8))
        assert [alone] == made.release([place], rng=voile.seeded_rng(8))
    words = [(0, 0, 0), (2**52 - 1, 2**62 - 1, 2**32 - 1), (2**51, 2**62 - 1, 0)]
    count = len(made.mechanism.outputs)
    assert all(0 <= made._one.draw(0.0, 0.0, w) < count for w in words)
    assert made._one.draw(0.0, 0.0, words[1]) == count - 1  # the floor's last
    assert made._one.draw(0.0, 0.0, words[2]) == 0  # and its first


def test_a_file_is_protected_and_audited(saved, tmp_path):
    made, path = saved
    rng = np.random.default_rng(1)
    trips = pd.DataFrame({"lat": rng.uniform(45.0, 45.03, 300), "lon": rng.uniform(5.0, 5.04, 300)})
    trips.to_csv(tmp_path / "trips.csv", index=False)
    done = voile.places.protect(
        tmp_path / "trips.csv", mechanism=path, out=tmp_path / "blurred.csv", seed=3
    )
    blurred = pd.read_csv(tmp_path / "blurred.csv")
    assert len(blurred) == 300
    assert done.guarantee.epsilon == 1.6
    outputs = {(round(a, 6), round(b, 6)) for a, b in zip(*made.output_degrees, strict=True)}
    assert {(round(a, 6), round(b, 6)) for a, b in blurred[["lat", "lon"]].to_numpy()} <= outputs
    found = voile.places.audit(mechanism=path)
    assert "holds" in str(found.verdict)


def test_best_solves_for_a_region_where_there_are_many_cells(monkeypatch):
    monkeypatch.setattr(settings, "REGION", 20)
    assert Solving().as_region(Map(cells=(5, 5)))
    assert not Solving().as_region(Map(cells=(4, 5)))
    assert not Solving(method="laplace").as_region(Map(cells=(5, 5)))
    assert not Solving(metric="linf").as_region(Map(cells=(5, 5)))
    assert not Solving().as_region(Map(cells=(5, 5), loss=lambda a, b: a))
    made = voile.places.design(box=BOX, cells=(5, 5), epsilon=0.8)
    assert isinstance(made.mechanism, RegionMechanism)


def test_roads_of_a_region_have_the_losses_of_the_map():
    from voile.places.city import synthetic_city
    from voile.places.problems import road_problem, road_region, sampled_tasks

    network, prior = synthetic_city(seed=1, columns=12, rows=9)
    tasks = sampled_tasks(network, count=8, prior=prior, seed=0)
    dense = road_problem(network, cells=(4, 3), tasks=tasks, prior=prior)
    region = road_region(network, cells=(4, 3), tasks=tasks, prior=prior)
    assert np.array_equal(dense.outputs, region.outputs)
    every = np.arange(len(dense.places)), np.arange(len(dense.outputs))
    assert region.losses.between(*every) == pytest.approx(dense.loss)
    assert region.prior == pytest.approx(dense.prior)


@pytest.mark.parametrize("step", [1e-9, 5e-324, 0.0, -1.0, float("nan"), 50.0])
@pytest.mark.parametrize("method", ["region", "bilinear"])
def test_a_forged_step_of_the_lattice_is_refused_before_anything_is_tabled(step, method, saved):
    made, _ = saved
    if method == "bilinear":
        made = voile.places.design(box=BOX, cells=(3, 3), epsilon=1.6, method=method, bound=False)
    _, meta, arrays = made.to_record()
    forged = {**meta, "inner": {**meta["inner"], "resolution": step}}
    with pytest.raises(BadFile, match="resolution must be at least"):
        places_design_from_record(forged, arrays)


def test_a_region_announces_no_bound_that_is_not_worked_out(monkeypatch):
    said = []
    monkeypatch.setattr("voile.places._design.say", said.append)
    how = {"box": BOX, "cells": (3, 3), "epsilon": 1.6}
    voile.places.design(**how, method="region")
    assert said == []
    voile.places.design(**how, method="laplace")
    assert "now what none can go below" in said[0]
    voile.places.design(**how, method="laplace", bound=False, against_aipo=True)
    assert "now AIPO, to compare with" in said[1]


def test_what_a_region_cannot_be_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="1 or 2"):
        voile.places.design(box=BOX, cells=(5, 5), epsilon=0.8, method="region", metric="linf")
    with pytest.raises(InvalidInput, match="cells, and at ε"):
        voile.places.design(box=(45.0, 5.0, 45.5, 5.5), cells=(5, 5), epsilon=40.0, method="region")
