"""The map of the certificate: no cell above it, and a planted fault shows in its cell."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="the places extra is not installed")

from voile.audit.map_ratios import local_ratios
from voile.places.price import priced
from voile.places.public_map import public_map
from voile.places.settings import Map, Solving
from voile.places.solve import solve

AXIS = Solving(method="axis", bound=False)


@pytest.fixture(scope="module")
def public():
    return public_map(Map(box=(44.97, 4.95, 45.03, 5.05), cells=(3, 4)))


def test_no_cell_exceeds_the_certificate_and_some_come_near(public):
    made = solve(public, epsilon=0.8, solving=AXIS)
    ratios = local_ratios(made, cells=80)
    assert ratios.max() <= made.facts.certificate
    assert ratios.max() > 0.5 * made.facts.certificate
    assert ratios.min() >= 0


@pytest.mark.parametrize("metric", ["l1", "l2"])
def test_a_proved_law_stays_below_its_bound_uncut(public, metric):
    how = Solving(method="laplace-remap", metric=metric, bound=False)
    made = solve(public, epsilon=2.0, solving=how)
    ratios = local_ratios(made, cells=200)
    assert 1.9 < ratios.max() <= 2.0


def test_a_fault_of_the_law_shows_where_it_is(public, monkeypatch):
    from voile.audit import map_ratios

    made = solve(public, epsilon=0.8, solving=AXIS)
    honest = map_ratios.log_law
    low, high = made.box
    middle = (low + high) / 2

    def steep(design, points):
        logs = honest(design, points)
        bump = np.where((points < middle).all(axis=1), 5 * points[:, 0], 0.0)
        logs[:, 0] += bump
        return logs

    monkeypatch.setattr(map_ratios, "log_law", steep)
    ratios = local_ratios(made, cells=80)
    rows, columns = ratios.shape
    assert ratios[0, 0] > 3
    assert ratios[rows - 1, columns - 1] <= 0.8


def test_a_sweep_has_the_design_itself_and_pays_more_for_more_privacy(public):
    how = Solving(method="laplace-remap", bound_sweeps=40)
    made = solve(public, epsilon=0.8, solving=how)
    assert priced(public, made, epsilons=[], solving=how) == ()
    found = priced(public, made, epsilons=[1.6, 0.4, 0.8], solving=how)
    assert [row.epsilon for row in found] == [0.4, 0.8, 1.6]
    assert found[1].loss == made.facts.loss
    losses = [row.loss for row in found]
    assert losses == sorted(losses, reverse=True)
    assert all(row.lower_bound <= row.loss for row in found)
