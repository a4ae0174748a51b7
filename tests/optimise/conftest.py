from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array

from voile.optimise.cones import Cones
from voile.optimise.problem import Problem
from voile.places.city import synthetic_city
from voile.places.problems import road_problem, sampled_tasks


@pytest.fixture(scope="session")
def town() -> Problem:
    """A little city: 12 outputs, two hundred junctions or so."""
    network, prior = synthetic_city(seed=2, columns=18, rows=13)
    tasks = sampled_tasks(network, count=12, prior=prior, seed=2)
    return road_problem(network, cells=(4, 3), tasks=tasks, prior=prior)


@pytest.fixture(scope="session")
def line() -> Problem:
    places = (np.arange(12)[:, None] + 0.5) / 2
    return Problem(
        places, np.arange(12) + 1.0, places[::2], np.abs(places - places[::2].T), (0.0,), (6.0,)
    )


@pytest.fixture(scope="session")
def cube() -> Problem:
    rng = np.random.default_rng(4)
    places, outputs = rng.uniform(0, 3, (60, 3)), rng.uniform(0, 3, (5, 3))
    loss = np.linalg.norm(places[:, None] - outputs[None], axis=2)
    return Problem(places, np.ones(60), outputs, loss, (0.0,) * 3, (3.0,) * 3)


def _sparse_rows(cones: Cones):
    """All rows of all constraints of one output, as a sparse matrix (m·D, n)."""
    m, depth, width = cones.matrix.shape
    rows = np.repeat(np.arange(m * depth), width)
    columns = np.repeat(cones.index[:, None, :], depth, axis=1).ravel()
    return coo_array((cones.matrix.ravel(), (rows, columns)), shape=(m * depth, cones.size)).tocsr()


@pytest.fixture(scope="session")
def sparse_rows():
    return _sparse_rows
