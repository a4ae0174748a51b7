import numpy as np
import pytest
from scipy.integrate import dblquad

import voile
from voile.core.weights import quantise
from voile.errors import InvalidInput
from voile.mechanisms._laplace_cells import PRECISION, cell_log_masses


def grid(width, height, step=1.0):
    points = [[i * step, j * step] for i in range(width) for j in range(height)]
    return voile.Space(points, metric=voile.metrics.euclidean(unit="km"))


def mass(left, right, bottom, top, epsilon):
    borders = (np.array([value]) for value in (left, right, bottom, top))
    return float(np.exp(cell_log_masses(*borders, epsilon=epsilon))[0])


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 5.0])
@pytest.mark.parametrize(
    "cell",
    [(1.0, 2.0, -0.5, 0.5), (0.3, 1.1, 2.0, 2.7), (-3.0, -1.0, -9.0, -8.0), (4.0, 4.01, 0.0, 7.0)],
)
def test_cells_beside_the_secret_against_quadrature(cell, epsilon):
    left, right, bottom, top = cell

    def density(y, x):
        return epsilon**2 / (2 * np.pi) * np.exp(-epsilon * np.hypot(x, y))

    expected, _ = dblquad(density, left, right, bottom, top, epsabs=0, epsrel=1e-11)
    assert mass(*cell, epsilon) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("side", [1.0, 1e-2, 2.0**-14, 2.0**-20, 2.0**-40])
@pytest.mark.parametrize(
    "corner", [(0.0, 0.0), (-0.5, -0.5), (0.0, -0.5), (1.0, 0.0), (3.0, 2.0), (1e3, 7e4)]
)
def test_fine_cells_have_the_stated_precision(corner, side):
    """A cell of this side at so many sides from the secret, against a sum over its quarters.

    In units of the side, where e^(−side·r) is near 1; a secret within lies at the quarters' corner.
    """
    x, y = corner
    if side * max(x, y) > 30:
        return

    def quarter(left, bottom):
        def density(v, u):
            return np.exp(-side * np.hypot(left + u / 2, bottom + v / 2)) / 4

        found, _ = dblquad(density, 0, 1, 0, 1, epsabs=0, epsrel=1e-12)
        return found

    parts = sum(quarter(x + i / 2, y + j / 2) for i in (0, 1) for j in (0, 1))
    expected = side**2 / (2 * np.pi) * parts
    found = mass(x * side, (x + 1) * side, y * side, (y + 1) * side, 1.0)
    assert found == pytest.approx(expected, rel=10 * PRECISION)


@pytest.mark.parametrize("cell", [(-0.5, 0.5, -0.5, 0.5), (-0.1, 2.0, -3.0, 0.2)])
def test_cells_around_the_secret_against_quadrature(cell):
    left, right, bottom, top = cell
    parts = [
        dblquad(
            lambda r, angle: r * np.exp(-r) / (2 * np.pi),
            low, low + np.pi / 2, 0.0,
            lambda angle: min(
                (right if np.cos(angle) > 0 else left) / (np.cos(angle) or 1e-300),
                (top if np.sin(angle) > 0 else bottom) / (np.sin(angle) or 1e-300),
            ),
            epsrel=1e-9,
        )[0]
        for low in (0.0, np.pi / 2, np.pi, 3 * np.pi / 2)
    ]  # fmt: skip
    assert mass(*cell, 1.0) == pytest.approx(sum(parts), rel=1e-6)


def test_quadrants_edges_and_everything():
    infinite = np.inf
    assert mass(-infinite, infinite, -infinite, infinite, 1.0) == pytest.approx(1.0)
    assert mass(0.0, infinite, 0.0, infinite, 1.0) == pytest.approx(0.25)
    assert mass(-infinite, 0.0, -infinite, infinite, 2.0) == pytest.approx(0.5)


@pytest.mark.parametrize("epsilon", [0.05, 0.8, 6.0])
def test_the_cells_of_a_grid_share_everything(epsilon):
    channel = voile.mechanisms.planar_laplace_grid(grid(5, 4), epsilon=epsilon)
    space = channel.space
    x_low, x_high = np.array([-np.inf, 0.5, 1.5, 2.5, 3.5]), np.array([0.5, 1.5, 2.5, 3.5, np.inf])
    assert len(space) == 20
    total = sum(
        mass(x_low[i] - 1.0, x_high[i] - 1.0, y_low - 2.0, y_high - 2.0, epsilon)
        for i in range(5)
        for y_low, y_high in ((-np.inf, 0.5), (0.5, 1.5), (1.5, 2.5), (2.5, np.inf))
    )
    assert total == pytest.approx(1.0, abs=1e-12)
    assert channel.certificate().epsilon <= epsilon


def test_monte_carlo_agrees():
    """The channel's law is that of drawing Gamma noise and taking the nearest grid point."""
    from laws import FALSE_ALARM, draws_needed, p_value

    space = grid(4, 4)
    law = voile.mechanisms.planar_laplace_grid(space, epsilon=1.2).probabilities()[5]
    liar = voile.mechanisms.planar_laplace_grid(space, epsilon=2.4).probabilities()[5]
    count = max(draws_needed(law, liar), 20_000)
    noisy = voile.mechanisms.planar_laplace(epsilon=1.2, step=1e-6).release(
        np.repeat(space.items[[5]], count, axis=0), voile.seeded_rng(1)
    )
    counts = np.bincount(space.nearest(noisy), minlength=16)
    assert p_value(counts, law) > FALSE_ALARM
    assert p_value(counts, liar) < FALSE_ALARM


def test_twice_the_strength_is_caught():
    space = grid(4, 4)
    liar = voile.mechanisms.planar_laplace_grid(space, epsilon=2.0)
    finding = voile.audit.certificate(space, liar.weights, claim=1.0)
    assert finding.verdict == "violated"
    assert quantise(liar.log_probabilities(), floor=-1).shape == (16, 16)


@pytest.mark.parametrize(
    "points", [[[0, 0], [1, 0], [0, 1]], [[0, 0], [0, 0], [1, 0], [1, 0]], [[0, 0, 0], [1, 0, 0]]]
)
def test_what_is_no_grid_is_refused(points):
    space = voile.Space(points, metric=voile.metrics.euclidean())
    with pytest.raises(InvalidInput, match="planar_laplace_grid must have"):
        voile.mechanisms.planar_laplace_grid(space, epsilon=1.0)


def test_other_metrics_are_refused():
    space = voile.Space([[0, 0], [0, 1]], metric=voile.metrics.manhattan())
    with pytest.raises(InvalidInput, match="euclidean"):
        voile.mechanisms.planar_laplace_grid(space, epsilon=1.0)
