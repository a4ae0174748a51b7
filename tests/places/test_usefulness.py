"""What released places are still good for, losses of one's own, and maps of rows."""

from __future__ import annotations

import json

import numpy as np
import pytest

import voile
from voile.errors import InvalidInput
from voile.places.city import synthetic_city
from voile.places.geodesy import geodesic_km
from voile.places.lengths import length_words
from voile.places.point_charts import before_after_map, error_map
from voile.places.projection import Projection
from voile.places.roads import RoadNetwork
from voile.places.routes import choices_kept, trips_kept
from voile.places.sample_trips import trips, write_city
from voile.places.usefulness import area_difference, nearest_kept, own_loss

pytest.importorskip("pyproj")
pytest.importorskip("numba")
BOX = (45.0, 5.0, 45.05, 5.06)
QUICK = {"box": BOX, "cells": (3, 4), "epsilon": 0.8, "bound": False}


@pytest.fixture(scope="module")
def design():
    return voile.places.design(method="laplace", **QUICK)


@pytest.fixture(scope="module")
def rows(design):
    before = [(45.0 + i / 1000, 5.0 + i / 1000) for i in range(40)]
    return before, design.release(before, rng=voile.seeded_rng(1))


def test_areas_are_counted_exactly():
    rng = np.random.default_rng(0)
    before, after = rng.uniform(0, 5, (300, 2)), rng.uniform(0, 5, (300, 2))
    table = np.zeros((2, 5, 5))
    for kind, points in enumerate((before, after)):
        for x, y in points:
            table[kind, int(x), int(y)] += 1
    found = area_difference(before, after, side=1.0)
    assert found == pytest.approx(np.abs(table[0] - table[1]).sum() / 600)
    assert area_difference(before, before, side=1.0) == 0
    assert area_difference(before, before + 100, side=1.0) == 1
    assert area_difference(before, before[::-1], side=1.0) == 0  # counts, not rows


def test_the_nearest_are_counted_exactly():
    rng = np.random.default_rng(1)
    public, before = rng.uniform(0, 9, (30, 2)), rng.uniform(0, 9, (50, 2))
    after = before + rng.normal(0, 1, before.shape)

    def nearest(point, k):
        return set(np.argsort(np.linalg.norm(public - point, axis=1))[:k].tolist())

    for k in (1, 4):
        pairs = zip(before, after, strict=True)
        plain = np.mean([len(nearest(a, k) & nearest(b, k)) / k for a, b in pairs])
        assert nearest_kept(before, after, public, k=k) == pytest.approx(plain)
    with pytest.raises(InvalidInput, match="between 1 and 30"):
        nearest_kept(before, after, public, k=31)


def test_places_all_over_the_world_are_compared():
    """Counted by hand: errors are geodesic, areas as wide as at their own parallel."""
    before = [(48.86, 2.35), (-33.9, 151.2), (40.7, -74.0), (89.99, 10.0), (0.004, 179.999)]
    after = [(48.86, 2.36), (-33.9, 151.2), (40.8, -74.0), (89.99, 10.0), (0.004, -179.999)]
    files = [[{"lat": a, "lon": b} for a, b in rows] for rows in (before, after)]
    found = voile.places.utility(*files, area="5km", poi=files[0])
    off = geodesic_km(*np.array(before).T, *np.array(after).T)
    assert found.mean_error_km == pytest.approx(off.mean())
    assert found.use.areas_misplaced == 0.4  # 11 km north, and across the seam
    assert found.use.nearest_kept == 1.0
    again = voile.places.utility(files[0], files[0], area="5km")
    assert again.use.areas_misplaced == 0


def test_a_release_says_what_is_left_of_it(rows, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\ndef north(a, b):\n    return np.abs(a[:, 0] - b[:, 0]) * 111\n"
    )
    found = voile.places.utility(
        *rows, poi=rows[0][::5], nearest=2, area="500m", loss=f"{tmp_path / 'mine.py'}:north"
    )
    use = found.use
    before, after = (np.array(part) for part in rows)
    assert use.own_loss == pytest.approx((np.abs(before[:, 0] - after[:, 0]) * 111).mean())
    assert found.mean_error_km == pytest.approx(geodesic_km(*before.T, *after.T).mean())
    assert use.area_km == 0.5
    assert 0 < use.nearest_kept < 1
    text = str(found)
    assert "nearest places" in text
    assert "Your own loss" in text
    assert f"{length_words(found.mean_error_km)} off on average" in text
    json.dumps(found.to_dict())
    same = voile.places.utility(rows[0], rows[0], poi=rows[0][::5])
    assert (same.mean_error_km, same.use.areas_misplaced, same.use.nearest_kept) == (0, 0, 1)


# ── routes ─────────────────────────────────────────────────────────────────────────────────────


def streets(points, edges, *, both=True):
    """A network of streets, 1 km each."""
    pairs = np.array(edges + [(b, a) for a, b in edges] if both else edges)
    return RoadNetwork(
        np.array(points, dtype=float), pairs, np.ones(len(pairs)), Projection(45.0, 5.0)
    )


CROSS = streets([(0, 0), (1, 0), (2, 0), (3, 0), (1, 1)], [(0, 1), (1, 2), (2, 3), (1, 4)])


def at(*junctions):
    return CROSS.points[list(junctions)]


def test_trips_from_released_places_on_a_street_with_one_side_street():
    """0–1–2–3 and 4 beside 1, 1 km each: all that can happen to a trip from 0 to 3."""
    found = trips_kept(CROSS, at(0, 0, 0, 0), at(0, 1, 4, 3), at(3, 3, 3, 3))
    assert found.routes == 4
    assert found.route_m == pytest.approx(3000)
    assert found.same_streets == pytest.approx((1 + 2 / 3 + 2 / 3 + 0) / 4)
    assert found.same_routes == pytest.approx(1 / 4)
    assert found.detour_m == pytest.approx(1000 * (0 + 0 + 2 + 3 - 3 + 3 - 3 + 3 - 3 + 0) / 4)
    alone = trips_kept(CROSS, at(2), at(0), at(2))
    assert (alone.routes, alone.detour_m) == (0, 0)
    far = trips_kept(CROSS, at(0) + 5, at(0), at(3))
    assert far.far_from_streets == 1


def test_the_nearest_by_road_is_chosen_from_where_one_is_said_to_be():
    found = choices_kept(CROSS, at(1, 1), at(2, 4), at(0, 3))
    assert found.same_choice == 0.5  # from 2 it is 3, from 4 it is 0 as from 1
    assert found.detour_m == pytest.approx((2000 - 1000 + 0) / 2)
    assert found.same_streets == 0.5


def test_one_way_streets_count_in_their_direction():
    """A ring of five: who stands one junction too far is sent all the way round."""
    ring = streets([(k, 0) for k in range(5)], [(k, (k + 1) % 5) for k in range(5)], both=False)
    found = trips_kept(ring, ring.points[[0]], ring.points[[4]], ring.points[[2]])
    assert found.route_m == pytest.approx(2000)
    assert found.detour_m == pytest.approx(4000 + 3000 - 2000)
    assert found.same_routes == 1  # 4–0–1–2 holds all of 0–1–2


def test_detours_are_those_of_all_pairs():
    from scipy.sparse.csgraph import floyd_warshall

    network, _ = synthetic_city(seed=2, columns=9, rows=7)
    table = floyd_warshall(network.graph)
    rng = np.random.default_rng(3)
    a, b, d = rng.integers(len(network), size=(3, 60))
    found = trips_kept(network, *(network.points[k] for k in (a, b, d)))
    real = a != d
    more = (table[a, b] + table[b, d] - table[a, d])[real]
    assert found.detour_m == pytest.approx(1000 * more.mean())
    assert found.route_m == pytest.approx(1000 * table[a, d][real].mean())
    assert 0 < found.same_streets < 1
    goals = rng.integers(len(network), size=5)
    best = table[:, goals].argmin(axis=1)
    found = choices_kept(network, *(network.points[k] for k in (a, b, goals)))
    assert found.same_choice == pytest.approx((goals[best[a]] == goals[best[b]]).mean())
    real = table[a, goals[best[a]]] > 0
    more = (table[a, goals[best[b]]] - table[a, goals[best[a]]])[real]
    assert found.detour_m == pytest.approx(1000 * more.mean())


def test_routes_of_a_released_file(tmp_path):
    """From the files a user has: noise without a design, streets from a folder, trips by trace."""
    fleet = [dict(zip(("v", "stop", "lat", "lon"), row, strict=True)) for row in trips(12, stops=4)]
    roads = write_city(tmp_path / "city")
    done = voile.places.protect(fleet, epsilon=4, pass_="all", seed=1)
    found = voile.places.utility(fleet, done.data, trace="v", time="stop", routes=roads)
    assert found.use.routes.routes == 12
    assert found.use.routes.detour_m > 0
    text = str(found)
    assert f"people go {length_words(found.use.routes.detour_m / 1000)} farther" in text
    shops = fleet[::7]
    found = voile.places.utility(fleet, done.data, poi=shops, routes=roads)
    assert "nearest by road stays the same" in str(found)
    same = voile.places.utility(fleet, fleet, poi=shops, routes=roads, trace="v").use.routes
    assert (same.same_routes, same.detour_m) == (1, 0)
    with pytest.raises(InvalidInput, match="must lead somewhere"):
        voile.places.utility(fleet, done.data, routes=roads)
    with pytest.raises(InvalidInput, match="equally many rows"):
        voile.places.utility(fleet, done.data[1:])
    with pytest.raises(InvalidInput, match="differ in 'v'"):
        voile.places.utility(fleet, done.data[::-1], trace="v", routes=roads)


def test_rows_are_mapped_only_where_their_owner_asks(design, rows, tmp_path):
    pytest.importorskip("vl_convert")
    plain = voile.places.audit(design, against=rows, places=50)
    asked = voile.places.audit(design, against=rows, places=50, preview=True)
    names = [
        [chart.name for chart in found.report(tmp_path / "r.html").charts]
        for found in (plain, asked)
    ]
    assert "before-after" not in names[0]
    assert names[1][0] == "before-after"
    assert "do not hand it on" in (tmp_path / "r.html").read_text()
    assert not {"points", "before"} & set(asked.to_dict())


def test_maps_say_what_they_show(design, rows):
    pytest.importorskip("altair")
    errors = error_map(design, size=6)
    values = [row[2] for row in errors.data.rows]
    middle = np.array([[row[0], row[1]] for row in errors.data.rows])
    outputs = np.asarray(design.mechanism.outputs, dtype=float)
    law = design.mechanism.probabilities(middle)
    again = (law * np.linalg.norm(outputs[None] - middle[:, None], axis=2)).sum(axis=1)
    assert np.allclose(values, again, atol=0.002)
    km = [design.projection.to_km(*np.array(part).T) for part in rows]
    shown = before_after_map(*km, box=design.box, streets=np.zeros((0, 2, 2)))
    assert len(shown.data.rows) == 80
    assert length_words(np.linalg.norm(km[0] - km[1], axis=1).mean()) in shown.alt


def test_a_design_is_solved_for_a_loss_of_one_s_own():
    def north(places, outputs):
        return np.abs(places[:, None, 0] - outputs[None, :, 0]) * 111.2

    mine = voile.places.design(method="laplace-remap", loss=north, **QUICK)
    plain = voile.places.design(method="laplace-remap", **QUICK)
    table = north(
        *(
            np.stack(mine.projection.to_degrees(p), axis=1)
            for p in (mine.places, np.asarray(mine.mechanism.outputs, dtype=float))
        )
    )
    cost = [d.mechanism.expected_loss(d.places, table, d.prior) for d in (mine, plain)]
    assert mine.solved.loss == pytest.approx(cost[0], rel=1e-6)
    assert cost[0] <= cost[1] * (1 + 1e-9)
    assert "a loss of one's own" in str(mine)


def test_a_loss_may_be_a_table(design, rows, tmp_path):
    """Of four places and three outputs; any other place counts as the nearest of those."""
    rng = np.random.default_rng(3)
    before, after = (np.array(part)[:count] for part, count in zip(rows, (4, 3), strict=True))
    costs = rng.uniform(0, 5, (4, 3)).round(3)
    lines = ["from_lat,from_lon,to_lat,to_lon,loss"]
    lines += [
        ",".join(map(str, (*before[a], *after[b], costs[a, b]))) for a in range(4) for b in range(3)
    ]
    path = tmp_path / "costs.csv"
    path.write_text("\n".join(lines) + "\n")
    made = own_loss(str(path))
    apart = [
        geodesic_km(*(np.repeat(p[:, None], len(q), 1)[..., k].ravel() for k in (0, 1)),
                    *(np.repeat(q[None], len(p), 0)[..., k].ravel() for k in (0, 1)))
        .reshape(len(p), len(q)).argmin(axis=1)
        for p, q in ((np.array(rows[0]), before), (np.array(rows[1]), after))
    ]  # fmt: skip
    assert np.allclose(made(*map(np.array, rows)), costs[apart[0], apart[1]])
    assert np.allclose(made(*map(np.array, rows), pairs=True), costs[apart[0]][:, apart[1]])
    found = voile.places.utility(*rows, loss=str(path))
    assert found.use.own_loss == pytest.approx(costs[apart[0], apart[1]].mean())
    mine = voile.places.design(method="laplace-remap", loss=str(path), **QUICK)
    assert mine.solved.loss <= costs.max()
    for lost, said in (
        (lines[:-1], "1 pairs have none"),
        ([*lines[:-1], lines[-1] + "x"], "numbers"),
    ):
        path.write_text("\n".join(lost) + "\n")
        with pytest.raises(InvalidInput, match=said):
            own_loss(str(path))


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (lambda a, b: np.zeros(3), "of shape"),
        (lambda a, b: np.full((len(a), len(b)), np.nan), "finite"),
        (lambda a, b: -np.ones((len(a), len(b))), "below 0"),
        (lambda a: a, "must take two arrays"),
        (lambda a, b: {}[a[0, 0]], "give numbers: KeyError$"),
        (lambda a, b: 1 // 0, "give numbers: ZeroDivisionError$"),
        ("nowhere.py:cost", "Python file"),
        (3, "must be a function"),
    ],
)
def test_a_loss_that_is_none_is_refused(loss, said):
    with pytest.raises(InvalidInput, match=said) as refused:
        voile.places.design(method="laplace", loss=loss, **QUICK)
    assert refused.value.__cause__ is None  # what a loss of one's own says may hold a place
