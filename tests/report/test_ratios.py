"""The map of the certificate: no cell above it, and a planted fault shows in its cell."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="the places extra is not installed")

from voile.places.ratios import local_ratios

from voile.places._design import design_places, public_map
from voile.places.price import priced_places


@pytest.fixture(scope="module")
def public():
    return public_map(box=(44.97, 4.95, 45.03, 5.05), rows=3, columns=4)


def test_no_cell_exceeds_the_certificate_and_some_come_near(public):
    made = design_places(public, epsilon=0.8, method="axis", bound=False, against_aipo=False)
    ratios = local_ratios(made, cells=80)
    assert ratios.max() <= made.facts["certificate"]
    assert ratios.max() > 0.5 * made.facts["certificate"]
    assert ratios.min() >= 0


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_a_proved_law_stays_below_its_bound_uncut(public, p):
    made = design_places(
        public, epsilon=2.0, p=p, method="laplace-remap", bound=False, against_aipo=False
    )
    ratios = local_ratios(made, cells=200)
    assert 1.9 < ratios.max() <= 2.0


def test_a_fault_of_the_law_shows_where_it_is(public, monkeypatch):
    from voile.places import ratios as places_ratios

    made = design_places(public, epsilon=0.8, method="axis", bound=False, against_aipo=False)
    honest = places_ratios.log_law
    low, high = made.box
    middle = (low + high) / 2

    def steep(design, points):
        logs = honest(design, points)
        bump = np.where((points < middle).all(axis=1), 5 * points[:, 0], 0.0)
        logs[:, 0] += bump
        return logs

    monkeypatch.setattr(places_ratios, "log_law", steep)
    ratios = local_ratios(made, cells=80)
    rows, columns = ratios.shape
    assert ratios[0, 0] > 3
    assert ratios[rows - 1, columns - 1] <= 0.8


def test_a_sweep_has_the_design_itself_and_pays_more_for_more_privacy(public):
    made = design_places(
        public, epsilon=0.8, method="laplace-remap", bound_size=12, against_aipo=False
    )
    assert priced_places(public, made, epsilons=[]) == []
    found = priced_places(
        public, made, epsilons=[1.6, 0.4, 0.8], method="laplace-remap", bound_size=12
    )
    assert [row.epsilon for row in found] == [0.4, 0.8, 1.6]
    assert found[1].loss == made.facts["loss"]
    losses = [row.loss for row in found]
    assert losses == sorted(losses, reverse=True)
    assert all(row.lower_bound <= row.loss for row in found)
