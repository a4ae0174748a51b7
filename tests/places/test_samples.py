"""A made-up city and its trips, read back as they were written."""

import numpy as np
import pytest

NAMED = ("PERSON", "PLACE", "STREET")


def test_the_city_is_read_back_as_it_was_written(tmp_path):
    pytest.importorskip("pyproj")
    from voile.places.readers import read_roads
    from voile.places.sample_trips import city, write_city

    network, _ = city()
    again = read_roads(write_city(tmp_path / "city"))
    assert len(again) == len(network)
    assert len(again.edges) == len(network.edges)
    assert np.allclose(np.sort(again.lengths), np.sort(network.lengths), atol=1e-4)


def test_trips_stay_near_streets_and_hang_together():
    pytest.importorskip("pyproj")
    from voile.places.sample_trips import city, trips

    network, _ = city()
    rows = trips(40, stops=10)
    points = network.projection.to_km(*np.array([row[2:] for row in rows]).T)
    near = np.linalg.norm(points - network.points[network.nearest(points)], axis=1)
    assert near.max() < 0.05
    steps = np.linalg.norm(np.diff(points.reshape(40, 10, 2), axis=1), axis=2).mean()
    apart = np.linalg.norm(points[:, None] - points, axis=2).mean()
    assert steps < 0.6 * apart  # a trace tells more than its points
