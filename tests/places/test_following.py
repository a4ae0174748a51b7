"""Readers of whole traces: exact beliefs, never weaker than the release, restored at the same ε."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest

import voile
from voile.attackers.markov import fit_markov
from voile.attackers.movement import fit_movement, plane_states, smoothed, street_states
from voile.errors import InvalidInput
from voile.places.city import synthetic_city
from voile.places.columns import read_traces
from voile.places.earth import Globe
from voile.places.following import Reading, follower
from voile.places.homes import apart, homes
from voile.places.knowing import Trip
from voile.places.lengths import length_words
from voile.places.noise import PlacesNoise
from voile.places.rehearsing import rehearsed
from voile.places.sample_trips import city, trips, write_city
from voile.places.trace_evidence import DesignEvidence, NoiseEvidence
from voile.places.traces import TraceLaw
from voile.places.tracing import Tracing

pytest.importorskip("pyproj")
WAYS = ("each", "every", "predict", "stays")


def table(rows):
    return [dict(zip(("v", "stop", "lat", "lon"), row, strict=True)) for row in rows]


def law(way="each", epsilon=20.0):
    return NoiseEvidence(TraceLaw(epsilon, Tracing(trace="v", way=way), Globe()))


FLEET, OTHERS = table(trips(15, stops=10)), table(trips(60, stops=10, seed=9))


# ── beliefs ────────────────────────────────────────────────────────────────────────────────────


def test_beliefs_are_those_of_all_ways_counted():
    """Forward–backward against the sum over every path, with another chain for each step."""
    rng = np.random.default_rng(2)
    walks = ([0, 1, 2, 1, 0, 2], [2, 2, 1, 0, 0, 0], [1, 0, 1, 2, 1], [2, 0, 2, 0])
    chains = [fit_markov([walk], size=3) for walk in walks]
    evidence = rng.normal(0, 2, (5, 3))
    exact = np.zeros((5, 3))
    for path in itertools.product(range(3), repeat=5):
        weight = chains[0].start[path[0]] * math.exp(evidence[range(5), path].sum())
        steps = zip(chains, itertools.pairwise(path), strict=True)
        weight *= math.prod(chain.dense()[a, b] for chain, (a, b) in steps)
        exact[range(5), path] += weight
    assert np.allclose(smoothed(chains, evidence), exact / exact.sum(axis=1, keepdims=True))


def test_steps_go_as_far_as_public_ones_do_in_the_time_they_took():
    """Two kinds of step, 1 km in a minute and 5 km in an hour: each gap has its own lengths."""
    points = np.array([[float(x), 0.0] for x in range(12)])
    states = plane_states(points, spacing=1.0, reach=6.0)
    rng = np.random.default_rng(1)
    walks, gaps = [], []
    for _ in range(40):
        hop = rng.choice([1, 5], 8, p=[0.7, 0.3])
        walks.append(
            np.stack([np.cumsum(np.append(0, hop)) % 12, np.zeros(9)], axis=1).astype(float)
        )
        gaps.append(np.where(hop == 1, 60.0, 3600.0))
    moved = fit_movement(states, walks, gaps)
    assert len(moved.chains) == 2
    for chain in moved.chains:
        assert np.allclose(chain.dense().sum(axis=1), 1)
    short, long = (moved.steps(np.array([gap]), 1)[0].dense()[3] for gap in (60.0, 3600.0))
    assert short[4] > 3 * short[8]
    assert long[8] > 3 * long[4]


def test_junctions_are_as_far_apart_as_streets_are_long():
    network, _ = synthetic_city(seed=1, columns=12, rows=9)
    states = street_states(network.points, network.graph, reach=4.0)
    entries = states.apart.tocoo()
    straight = np.linalg.norm(network.points[entries.row] - network.points[entries.col], axis=1)
    assert (entries.data <= 4.0).all()
    assert (entries.data >= straight - 0.002).all()  # junctions stand on whole metres
    assert (entries.data > 1.2 * straight).any()  # across the river


def test_the_density_is_that_of_the_noise():
    noise = PlacesNoise(2.0)
    radius = np.linspace(0, 40, 40_001)
    mass = np.exp(noise.log_density(radius)) * 2 * math.pi * radius
    assert float(np.trapezoid(mass, radius)) == pytest.approx(1, abs=1e-4)
    inside = radius <= 1.5
    within = float(np.trapezoid(mass[inside], radius[inside]))
    assert within == pytest.approx(noise.share_within(1.5), abs=1e-3)


# ── a design's releases ────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def design():
    pytest.importorskip("numba")
    network, _ = synthetic_city(seed=0, columns=32, rows=24)
    corners = network.projection.to_degrees(
        np.stack([network.points.min(axis=0), network.points.max(axis=0)])
    )
    box = (corners[0][0], corners[1][0], corners[0][1], corners[1][1])
    return voile.places.design(
        box=box, cells="4x5", epsilon=0.4, method="laplace-remap", bound=False
    )


def test_an_audit_of_traces_is_exact_under_the_law_that_is_drawn(design):
    """Beliefs against the sum over all ways through the states, with the design's own numbers."""
    around = design.projection
    states = np.array([[-2.0, 0.0], [0.0, 1.0], [2.0, -1.0]])
    trip = Trip(*around.to_degrees(states))
    made = follower(DesignEvidence(design), [trip, trip.cut(2)], side=2.0)
    chain = made.movement.chains[0]
    drawn = np.asarray(design.mechanism.outputs, dtype=float)[[3, 7, 11]]
    seen = made.around.to_km(*around.to_degrees(drawn))
    here = around.to_km(*made.around.to_degrees(made.states.points))
    law = np.asarray(design.mechanism.probabilities(np.clip(here, *design.box)))[:, [3, 7, 11]]
    moves = chain.dense()
    exact = np.zeros((3, len(here)))
    joint = (chain.start * law[:, 0])[:, None, None] * moves[:, :, None] * law[:, 1][:, None]
    joint = joint * moves[None] * law[:, 2]
    for place, others in enumerate(((1, 2), (0, 2), (0, 1))):
        exact[place] = joint.sum(axis=others)
    assert np.allclose(made.beliefs(seen, None, own=False), exact / exact.sum(axis=1)[:, None])


@pytest.mark.parametrize("roads", [False, True])
def test_an_audit_of_traces_knows_more_than_an_audit_of_places(design, roads, tmp_path):
    """It is closer than the release, tells homes by name, and matches to streets if there are."""
    fleet = table(trips(60, stops=10))
    done = design.release(fleet, pass_="all", rng=voile.seeded_rng(3))
    how = {"trace": "v", "time": "stop", "public": OTHERS, "side": "1500m", "places": 10}
    if roads:
        how["roads"] = write_city(tmp_path / "city")
    named = [{"name": f"stop {row['v']}", "lat": row["lat"], "lon": row["lon"]} for row in fleet]
    found = voile.places.audit(design, against=(fleet, done), named=named, **how)
    whole = found.files.traces
    assert whole.guess_error_m < 0.95 * whole.released_error_m
    assert whole.traces == len(whole.homes_named) == 60
    text = str(found)
    assert f"{length_words(whole.guess_error_m / 1000)} off on average" in text
    assert "homes called by the right name" in text
    if roads:
        assert whole.states == len(city()[0])  # it thinks in junctions


def test_where_trips_say_nothing_traces_are_read_place_by_place():
    """People who jump anywhere: a reader of traces is no weaker than one of places."""
    pytest.importorskip("numba")
    design = voile.places.design(
        box=(44.97, 4.95, 45.03, 5.05), cells="3x4", epsilon=0.4, method="laplace", bound=False
    )
    rng = np.random.default_rng(5)
    lat, lon = design.projection.to_degrees(rng.uniform(*design.box, (600, 2)))
    rows = [
        {"v": i // 6, "lat": a, "lon": b} for i, (a, b) in enumerate(zip(lat, lon, strict=True))
    ]
    done = design.release(rows[:300], pass_="all", rng=voile.seeded_rng(3))
    found = voile.places.audit(
        design, against=(rows[:300], done), trace="v", public=rows[300:], side="2km", places=10
    ).files
    assert found.bayes_error < 0.95 * found.mean_displacement
    assert found.traces.guess_error_m < 1000 * found.bayes_error * 1.02


def test_releases_in_another_order_are_not_audited(design):
    done = design.release(FLEET, pass_="all", rng=voile.seeded_rng(3))
    with pytest.raises(InvalidInput, match="differ in 'v'"):
        voile.places.audit(
            design, against=(FLEET, done[::-1]), trace="v", time="stop", public=OTHERS, places=10
        )


# ── the reading is chosen on public trips ──────────────────────────────────────────────────────


def walks(count, seed, *, step, places=12):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        moves = rng.normal(0, step, (places, 2))
        made.append(Trip(*(45 + np.cumsum(moves, axis=0)).T))
    return made


def test_where_public_trips_mislead_the_release_is_read_as_it_stands():
    """Public trips that jump about say nothing: at a large ε the release itself is the guess."""
    sharp = law(epsilon=2000.0)
    public = walks(8, 1, step=0.05)
    made = follower(sharp, public, side=2.0)
    assert rehearsed(made, public, longest=12, within=0.25).reading.weight <= 0.1
    blurred = follower(law(epsilon=4.0), public, side=2.0)
    assert rehearsed(blurred, public, longest=12, within=0.25).reading.weight >= 0.8


def test_one_public_trip_cannot_be_rehearsed_on():
    public = walks(1, 1, step=0.01)
    made = follower(law(), public, side=1.0)
    assert rehearsed(made, public, longest=12, within=0.25).reading == Reading()


@pytest.mark.parametrize("epsilon", [10, 400])
@pytest.mark.parametrize("way", WAYS)
def test_a_reader_of_traces_is_no_weaker_than_the_releases(way, epsilon):
    how = {"epsilon": epsilon, "trace": "v", "way": way}
    done = voile.places.protect(FLEET, **how, pass_="all", seed=1)
    found = voile.places.follow(FLEET, done.data, public=OTHERS, **how, side="1500m")
    assert found.traces == 15
    assert found.guess_error_m < found.released_error_m * 1.02
    if epsilon == 10 and way != "every":  # stops of the sample are no line
        assert found.guess_error_m < 0.95 * found.released_error_m
    assert found.homes_found <= found.homes
    assert len(found.restored[0]) == 150
    assert f"{length_words(found.guess_error_m / 1000)} off" in str(found)
    assert f"weigh the chain {100 * found.chain_weight:.0f} %" in str(found)


def test_traces_are_mapped_only_where_their_owner_asks(tmp_path):
    pytest.importorskip("vl_convert")
    how = {"epsilon": 40, "trace": "v", "public": OTHERS, "side": "2km"}
    done = voile.places.protect(FLEET, epsilon=40, trace="v", pass_="all", seed=1)
    for preview in (False, True):
        found = voile.places.follow(FLEET, done.data, **how, preview=preview)
        charts = {chart.name: chart for chart in found.report(tmp_path / "r.html").charts}
        assert ("traces" in charts) is preview
        assert ("do not hand it on" in (tmp_path / "r.html").read_text()) is preview
        assert "walks" not in found.to_dict()
    true, seen, read = found.walks[0]
    rows = charts["traces"].data.rows
    assert len(rows) == 3 * 3 * 10  # three traces of ten places, three times
    assert {row[1] for row in rows} == {"as it was", "as released", "as read"}
    off = np.concatenate([np.linalg.norm(walk[1] - walk[0], axis=1) for walk in found.walks])
    assert length_words(off.mean()) in charts["traces"].alt
    assert true.shape == seen.shape == read.shape == (10, 2)


def test_rows_of_one_draw_are_one_place():
    """For `stays` a row that returns to a square is guessed where its first visit is."""
    made = follower(law("stays"), walks(6, 2, step=0.01), side=1.0)
    seen = np.array([[0.0, 0.0], [3.0, 1.0], [0.0, 0.0], [0.0, 0.0], [3.0, 1.0]])
    beliefs = made.beliefs(seen, None, own=False)
    means = made.means(seen, beliefs)
    assert np.allclose(means[0], means[2])
    assert np.allclose(means[1], means[4])
    evidence = made.evidence(seen)
    assert np.allclose(evidence[2] + evidence[3], evidence[0])  # a run is one visit


# ── homes, and names ───────────────────────────────────────────────────────────────────────────


def test_a_reader_takes_for_one_trace_what_was_released_as_one():
    rows = [{"t": name, "lat": 45.0, "lon": 5.0} for name in ("a", "b", " a", "a ", "b")]
    assert [one.tolist() for one in read_traces(rows, "t")] == [[0, 2, 3], [1, 4]]
    done = voile.places.protect(rows, epsilon=20, trace="t", pass_=("t",))
    assert done.traces.traces == 2


def test_homes_are_where_most_places_are_and_the_second_is_elsewhere():
    points = np.array([[0.1, 0.1]] * 5 + [[0.4, 0.1]] * 4 + [[3.0, 3.0]] * 2 + [[9.0, 9.0]])
    assert np.allclose(homes(points, None, side=0.25), [[0.1, 0.1], [3.0, 3.0]])
    heavy = np.ones(len(points))
    heavy[-1] = 20
    assert np.allclose(homes(points, heavy, side=0.25)[0], [9.0, 9.0])
    alone = homes(points[:1], None, side=0.25)
    assert apart(alone, alone).tolist() == [0.0, math.inf]


def test_homes_are_called_by_the_names_of_public_places():
    rows, public = [], []
    for person in range(4):
        for place in range(12):
            at_home = place % 3 > 0
            lat = 45.0 + 0.05 * person + (0 if at_home else 0.02)
            rows.append({"v": f"p{person}", "stop": place, "lat": lat, "lon": 5.0})
            public.append({"v": f"q{person}", "stop": place, "lat": lat + 0.0003, "lon": 5.0})
    named = [{"name": f"house {k}", "lat": 45.0 + 0.05 * k, "lon": 5.0} for k in range(4)]
    how = {"epsilon": 3000, "trace": "v", "time": "stop"}
    done = voile.places.protect(rows, **how, pass_="all", seed=1)
    found = voile.places.follow(rows, done.data, public=public, **how, named=named)
    assert [home.called for home in found.homes_named] == [f"house {k}" for k in range(4)]
    assert all(home.right for home in found.homes_named)
    assert found.homes_found == 4
    assert found.seconds_found == 4
    text = str(found)
    assert "4 of 4 homes called by the right name" in text
    assert "house 2" in text
    assert "p2" not in text  # whose trace it is stays out of the report
    with pytest.raises(InvalidInput, match="column `name`"):
        voile.places.follow(rows, done.data, public=public, **how, named=public)


# ── restoring ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("way", ["each", "stays"])
def test_a_restored_release_is_a_function_of_the_release_and_public_trips(way):
    """What `--restore` writes is what `follow` would guess from the release as drawn."""
    how = {"epsilon": 10, "trace": "v", "time": "stop", "way": way, "side": "2km"}
    plain = {name: value for name, value in how.items() if name != "side"}
    drawn = voile.places.protect(FLEET, **plain, pass_="all", seed=1)
    done = voile.places.protect(FLEET, **how, restore=OTHERS, pass_="all", seed=1, batch_rows=60)
    assert done.guarantee == drawn.guarantee
    assert done.traces.restored
    assert "post-processing, at the same ε" in str(done)
    assert "post-processing" not in str(drawn)
    found = voile.places.follow(FLEET, drawn.data, public=OTHERS, **how)
    made = np.array([[row["lat"], row["lon"]] for row in done.data])
    assert np.abs(made - np.stack(found.restored, axis=1)).max() < 2e-4  # degrees were rounded


def test_the_private_file_is_no_public_one():
    how = {"epsilon": 10, "trace": "v", "pass_": "all"}
    copies = {
        "itself": FLEET,
        "some": FLEET[:100],
        "renamed": [row | {"v": f"x{row['v']}"} for row in FLEET],
        "among others": [*OTHERS, *FLEET],
        "in another order": [FLEET[i] for i in np.random.default_rng(1).permutation(len(FLEET))],
        "backwards, renamed": [row | {"v": f"x{row['v']}"} for row in FLEET[::-1]],
        "every other row": FLEET[::2],
        "one row in five, rounded": [
            row | {"lat": round(row["lat"], 5), "lon": round(row["lon"], 5)} for row in FLEET[::5]
        ],
        "half among others": [*OTHERS, *FLEET[::2]],
    }
    for copy in copies.values():
        for name in ("restore", "every_by"):
            with pytest.raises(InvalidInput, match="must not be the private file") as caught:
                voile.places.protect(FLEET, **how, way="every", **{name: copy})
            assert not re.search(r"\d", str(caught.value))  # nothing that private rows decide
    with pytest.raises(InvalidInput, match="goes with --trace"):
        voile.places.protect(FLEET, epsilon=2, pass_="all", restore=OTHERS)
    with pytest.raises(InvalidInput, match="go with --restore"):
        voile.places.protect(FLEET, **how, side="1km")
    bare = [{"v": "a", "lat": 1.0, "lon": 2.0}] * 3
    with pytest.raises(InvalidInput, match="'stop'"):
        voile.places.protect(FLEET, **how, time="stop", restore=bare)


def test_a_copy_is_known_by_its_times_where_traces_share_their_places():
    """People who go between five stations share them all: how they go is each one's own."""
    rng = np.random.default_rng(3)

    def between_stations(seed, count):
        rng = np.random.default_rng(seed)
        stations = [(45 + a / 100, 5 + b / 100) for a in range(8) for b in range(8)]
        for trip, place in itertools.product(range(count), range(6)):
            lat, lon = stations[rng.integers(64)]
            yield {"v": f"{seed}.{trip}", "t": 100 * trip + place, "lat": lat, "lon": lon}

    private, others = list(between_stations(1, 12)), list(between_stations(2, 60))
    how = {"epsilon": 40, "trace": "v", "time": "t", "way": "every", "pass_": "all"}
    done = voile.places.protect(private, **how, every_by=others, seed=1)
    assert done.traces.traces == 12
    copy = [private[i] for i in rng.permutation(len(private))]
    with pytest.raises(InvalidInput, match="must not be the private file"):
        voile.places.protect(private, **how, every_by=copy)


# ── bad input ──────────────────────────────────────────────────────────────────────────────────


def test_odd_traces_are_followed():
    """One place, one time for all, half-way round the Earth, at sea."""
    odd = [
        {"v": "one", "t": 5, "lat": 45.0, "lon": 5.0},
        *({"v": "same", "t": 5, "lat": 45.0 + k / 100, "lon": 5.0} for k in range(4)),
        {"v": "far", "t": 1, "lat": 45.0, "lon": 5.0},
        {"v": "far", "t": 2, "lat": -44.0, "lon": -174.0},
        {"v": "sea", "t": 1, "lat": 0.0, "lon": -30.0},
        {"v": "sea", "t": 2, "lat": 0.0, "lon": -30.1},
    ]
    public = [row | {"t": row["stop"]} for row in OTHERS[:300]]
    for way in WAYS:
        how = {"epsilon": 20, "trace": "v", "time": "t", "way": way}
        done = voile.places.protect(odd, **how, pass_="all", seed=1)
        found = voile.places.follow(odd, done.data, public=public, **how, side="2km")
        assert np.isfinite(np.stack(found.restored)).all()
        again = voile.places.protect(odd, **how, restore=public, side="2km", pass_="all")
        assert again.rows.released == len(odd)


@pytest.mark.parametrize("way", WAYS)
def test_a_trace_of_one_place_is_read_where_gaps_differ(way):
    """Chains by gap, and a trace without one: its evidence and where people start are all."""
    took = itertools.cycle([1, 60] * 40)
    public = [row | {"t": at} for row, at in zip(OTHERS, itertools.accumulate(took), strict=False)]
    one = [{"v": "one", "t": 5, "lat": 45.0, "lon": 5.0}]
    how = {"epsilon": 20, "trace": "v", "time": "t", "way": way}
    done = voile.places.protect(one, **how, pass_="all", seed=1)
    found = voile.places.follow(one, done.data, public=public, **how, side="2km")
    assert found.places == 1
    assert np.isfinite(found.guess_error_m)
    again = voile.places.protect(one, **how, restore=public, side="2km", pass_="all")
    assert again.rows.released == 1


def test_the_belief_in_one_place_is_its_evidence_and_the_start():
    states = plane_states(np.array([[0.0, 0], [1, 0], [2, 0]]), spacing=1.0, reach=1.5)
    walks = [states.points[[0, 1, 2, 1, 0, 1, 2, 1]]] * 20
    moved = fit_movement(states, walks, [np.array([1.0, 60, 1, 60, 1, 60, 1])] * 20)
    assert len(moved.chains) == 2
    evidence = np.array([[0.0, 1.0, -2.0]])
    belief = moved.chains[0].start * np.exp(evidence[0])
    found = smoothed(moved.steps(np.empty(0), 1), evidence)
    assert np.allclose(found, [belief / belief.sum()])


def test_public_places_off_the_map_are_left_out_and_counted():
    """Somebody flew: most of the public trips are here, and released places there stay there."""
    flown = [
        *OTHERS,
        {"v": "flown", "stop": 1, "lat": 45.0, "lon": 5.0},
        {"v": "flown", "stop": 2, "lat": -33.9, "lon": 151.2},
        {"v": "flown", "stop": 3, "lat": 45.01, "lon": 5.0},
        {"v": "abroad", "stop": 1, "lat": 40.7, "lon": -74.0},
    ]
    private = [*FLEET[:30], {"v": "z", "stop": 1, "lat": 40.7, "lon": -74.0}]
    how = {"epsilon": 20, "trace": "v", "way": "each"}
    done = voile.places.protect(private, **how, pass_="all", seed=1)
    found = voile.places.follow(private, done.data, public=flown, **how, side="1km")
    assert found.public_left_out == 2
    assert "2 public places lie farther than 750 km" in str(found)
    assert abs(found.restored[0][-1] - done.data[-1]["lat"]) < 1e-6
    assert abs(found.restored[1][-1] - done.data[-1]["lon"]) < 1e-6
    assert found.guess_error_m < 20_000
    again = voile.places.protect(private, **how, restore=flown, side="1km", pass_="all", seed=1)
    assert again.traces.public_left_out == 2
    assert "2 public places lie farther" in str(again)
    assert abs(again.data[-1]["lon"] + 74) < 0.5
    plain = voile.places.follow(private, done.data, public=OTHERS, **how, side="1km")
    assert plain.public_left_out == 0
    assert "public places lie" not in str(plain)


def test_a_reader_without_public_trips_or_rows_that_match_is_refused():
    frame = [{"v": "a", "lat": 45.0, "lon": 5.0}] * 4
    with pytest.raises(InvalidInput, match="equally many"):
        voile.places.follow(frame, frame[:2], public=frame, epsilon=2, trace="v")
    with pytest.raises(InvalidInput, match="--trace"):
        voile.places.follow(frame, frame, public=frame, epsilon=2)
    rows = [{"v": f"{i // 4}", "t": i, "lat": 45.0 + i / 100, "lon": 5.0} for i in range(8)]
    how = {"public": rows, "epsilon": 2, "trace": "v", "time": "t", "side": "5km"}
    with pytest.raises(InvalidInput, match="2 differ in 'v', the first is row 4"):
        voile.places.follow(rows, [rows[i] for i in (0, 1, 2, 4, 3, 5, 6, 7)], **how)
    with pytest.raises(InvalidInput, match="2 differ in 't', the first is row 2"):
        voile.places.follow(rows, [rows[i] for i in (0, 2, 1, 3, 4, 5, 6, 7)], **how)
    as_text = [{name: str(value) for name, value in row.items()} for row in rows]
    assert voile.places.follow(rows, as_text, **how).released_error_m == 0
    wide = [Trip(np.linspace(40, 50, 30_000), np.linspace(0, 10, 30_000))]
    with pytest.raises(InvalidInput, match="take larger ones"):
        follower(law(), wide, side=0.02)
