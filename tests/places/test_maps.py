"""Maps: projections, road networks from files, the made-up city, losses on streets."""

from __future__ import annotations

import numpy as np
import pytest

from voile.errors import BadFile, InvalidInput
from voile.places.city import synthetic_city
from voile.places.problems import (
    counted_prior,
    road_problem,
    sampled_tasks,
    straight_problem,
    travel_loss,
)
from voile.places.projection import Projection
from voile.places.readers import read_roads
from voile.places.roads import network_from_degrees

SQUARE = np.array([[45.0, 5.0], [45.0, 5.01], [45.01, 5.01], [45.01, 5.0]])
RING = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])


def test_projection_goes_there_and_back_and_keeps_distances():
    around = Projection(45.0, 5.0)
    rng = np.random.default_rng(1)
    lat, lon = rng.uniform(44.85, 45.15, 200), rng.uniform(4.8, 5.2, 200)
    points = around.to_km(lat, lon)
    back = around.to_degrees(points)
    assert np.abs(back[0] - lat).max() < 1e-9
    assert np.abs(back[1] - lon).max() < 1e-9
    pyproj = pytest.importorskip("pyproj")
    _, _, metres = pyproj.Geod(ellps="WGS84").inv(lon[:-1], lat[:-1], lon[1:], lat[1:])
    flat = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert np.abs(flat / (metres / 1000) - 1).max() < 4e-6


def test_coordinates_that_cannot_be_are_refused_without_being_shown():
    around = Projection(45.0, 5.0)
    with pytest.raises(InvalidInput, match="swapped") as caught:
        around.to_km(np.array([123.456]), np.array([45.0]))
    assert "123.456" not in str(caught.value)
    with pytest.raises(InvalidInput, match="finite"):
        around.to_km(np.array([np.nan]), np.array([5.0]))


def test_one_way_streets_count_and_paths_are_directed():
    network = network_from_degrees(*SQUARE.T, RING)
    assert len(network) == 4
    assert network.dropped == ""
    to_first = network.distances_to(np.array([0]))[0]
    perimeter = network.lengths.sum()
    assert to_first[1] == pytest.approx(perimeter - network.lengths[0])
    assert to_first[3] == pytest.approx(network.lengths[3])


def test_the_largest_part_is_kept_and_what_was_dropped_is_said():
    points = np.concatenate([SQUARE, [[45.02, 5.0], [45.02, 5.01]]])
    edges = np.concatenate([RING, [[4, 5], [0, 4]]])  # reachable, but no way back
    network = network_from_degrees(*points.T, edges)
    assert len(network) == 4
    assert "2 of 6 junctions" in network.dropped


def test_networks_that_cannot_serve_are_refused():
    with pytest.raises(InvalidInput, match="reach each other"):
        network_from_degrees(*SQUARE.T, RING[:3])
    with pytest.raises(InvalidInput, match="street"):
        network_from_degrees(*SQUARE.T, np.zeros((0, 2), dtype=int))
    with pytest.raises(InvalidInput, match="swapped"):
        network_from_degrees(SQUARE[:, 1] + 95, SQUARE[:, 0], RING)
    with pytest.raises(InvalidInput, match="swapped, or the lengths"):
        network_from_degrees(*SQUARE.T, RING, lengths=np.full(4, 0.01))


def test_graphml_as_osmnx_writes_it(tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = networkx.MultiDiGraph(crs="epsg:4326")
    for i, (lat, lon) in enumerate(SQUARE):
        graph.add_node(str(i), y=float(lat), x=float(lon))
    for first, second in RING:
        graph.add_edge(str(first), str(second), length="1200.5", oneway="True")
    networkx.write_graphml(graph, tmp_path / "town.graphml")
    network = read_roads(tmp_path / "town.graphml")
    assert len(network) == 4
    assert network.lengths == pytest.approx([1.2005] * 4)
    graph.add_node("bare")
    networkx.write_graphml(graph, tmp_path / "bad.graphml")
    with pytest.raises(BadFile, match="on every node"):
        read_roads(tmp_path / "bad.graphml")
    (tmp_path / "broken.graphml").write_text("<graphml>")
    with pytest.raises(BadFile, match="GraphML"):
        read_roads(tmp_path / "broken.graphml")


@pytest.mark.parametrize("head", [True, False])
def test_tables(tmp_path, head):
    points = "".join(f"{i + 1},{a},{b}\n" for i, (a, b) in enumerate(SQUARE))
    edges = "".join(f"{i},{a + 1},{b + 1}\n" for i, (a, b) in enumerate(RING))
    if head:
        points, edges = "id,lat,lon\n" + points, "key,source,target\n" + edges
    (tmp_path / "points.csv").write_text(points)
    (tmp_path / "edges.csv").write_text(edges)
    network = read_roads(tmp_path)
    assert len(network) == 4
    assert network.lengths[1] == pytest.approx(1.111, abs=2e-3)
    (tmp_path / "edges.csv").write_text("key,source,target\n0,1,77\n")
    with pytest.raises(BadFile, match="does not have"):
        read_roads(tmp_path)
    (tmp_path / "edges.csv").write_text("a,b,c\n0,1,2\n")
    with pytest.raises(BadFile, match="column named"):
        read_roads(tmp_path)


def test_openstreetmap_xml(tmp_path):
    pytest.importorskip("osmium")
    nodes = "".join(
        f"<node id='{i + 1}' lat='{a}' lon='{b}' version='1'/>" for i, (a, b) in enumerate(SQUARE)
    )
    ways = (
        "<way id='9' version='1'><nd ref='1'/><nd ref='2'/><nd ref='3'/>"
        "<tag k='highway' v='residential'/></way>"
        "<way id='10' version='1'><nd ref='3'/><nd ref='4'/><nd ref='1'/>"
        "<tag k='highway' v='primary'/><tag k='oneway' v='yes'/></way>"
        "<way id='11' version='1'><nd ref='1'/><nd ref='3'/><tag k='highway' v='footway'/></way>"
    )
    (tmp_path / "t.osm").write_text(f"<osm version='0.6'>{nodes}{ways}</osm>")
    network = read_roads(tmp_path / "t.osm")
    assert len(network) == 4
    assert len(network.edges) == 6
    (tmp_path / "e.osm").write_text("<osm version='0.6'></osm>")
    with pytest.raises(BadFile, match="drivable"):
        read_roads(tmp_path / "e.osm")


def test_unknown_and_missing_files(tmp_path):
    with pytest.raises(BadFile, match="no file"):
        read_roads(tmp_path / "x.graphml")
    (tmp_path / "x.shp").write_text("")
    with pytest.raises(InvalidInput, match="graphml"):
        read_roads(tmp_path / "x.shp")


def test_manhattan(shared_data):
    network = read_roads(shared_data / "manhattan")
    assert len(network) > 4000
    assert 8 < np.ptp(network.points[:, 0]) < 10
    assert 18 < np.ptp(network.points[:, 1]) < 20


def test_city_is_repeatable_and_has_a_river():
    first, prior = synthetic_city(seed=3, columns=32, rows=24)
    again, _ = synthetic_city(seed=3, columns=32, rows=24)
    other, _ = synthetic_city(seed=4, columns=32, rows=24)
    assert (first.points == again.points).all()
    assert len(first.edges) == len(again.edges)
    assert len(first.edges) != len(other.edges) or (first.points != other.points).any()
    assert prior.min() > 0
    x, y = first.points[:, 0] + 10, first.points[:, 1] + 7.5
    side = y > 7.5 + 2 * np.sin(x / 3)
    crossings = (side[first.edges[:, 0]] != side[first.edges[:, 1]]).sum()
    assert 4 <= crossings <= 40


def test_travel_loss_by_hand():
    network = network_from_degrees(*SQUARE.T, np.concatenate([RING, RING[:, ::-1]]))
    loss = travel_loss(network, np.array([0]), np.arange(4))
    paths = network.distances_to(np.array([0]))[0]
    assert loss == pytest.approx(np.abs(paths[:, None] - paths[None, :]))


def test_problems_from_maps():
    network, prior = synthetic_city(seed=1, columns=12, rows=9)
    tasks = sampled_tasks(network, count=5, prior=prior, seed=1)
    problem = road_problem(network, cells=(4, 3), tasks=tasks, prior=prior)
    assert problem.loss.shape == (len(network), 12)
    assert np.abs(problem.places - network.points).max() <= 0.0005 + 1e-9
    with pytest.raises(InvalidInput, match="tasks"):
        road_problem(network, cells=(4, 3), tasks=np.array([], dtype=int))
    with pytest.raises(InvalidInput, match="two cells"):
        road_problem(network, cells=(1, 1), tasks=tasks)
    box = straight_problem(
        (0.0, 0.0), (4.0, 3.0), cells=(4, 3), prior_points=np.array([[1.0, 1.0]] * 9)
    )
    assert box.prior.max() > 0.7
    assert box.loss.min() < 0.2
    with pytest.raises(InvalidInput, match="public"):
        counted_prior(box.places, np.zeros((0, 2)))
