"""The solver's banded matrices against dense ones."""

from __future__ import annotations

import numpy as np
import pytest

from voile.optimise import _band_kernels as kernels


def in_bands(matrix, band):
    """Rows of a symmetric banded matrix as the kernels hold them."""
    n = len(matrix)
    rows = np.zeros((n, band + 1))
    for i in range(n):
        first = max(0, i - band)
        rows[i, band - i + first :] = matrix[i, first : i + 1]
    return rows


@pytest.mark.parametrize(
    ("n", "band"), [(1, 0), (7, 2), (33, 16), (40, 5), (45, 20), (60, 20), (20, 19), (100, 3)]
)
def test_inverses_of_banded_matrices_add_up(n, band):
    rng = np.random.default_rng(n)
    dense = rng.normal(size=(3, n, n))
    near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= band
    dense = (dense + dense.transpose(0, 2, 1)) * near + 4 * (band + 1) * np.eye(n)
    bands = np.stack([in_bands(matrix, band) for matrix in dense], axis=2)
    assert kernels.factorise(bands, 0.0) == 0
    total = np.ones((n, n))
    kernels.add_inverses(bands, total)
    wanted = 1 + np.linalg.inv(dense).sum(axis=0)
    np.testing.assert_allclose(np.tril(total), np.tril(wanted), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("depth", [1, 3])
def test_hessians_are_sums_over_constraints(depth):
    rng = np.random.default_rng(depth)
    index = np.array([[0, 1, 3], [0, 1, 3], [4, 2, 1], [2, 3, 4], [2, 3, 4], [0, 1, 3]])
    matrix = rng.normal(size=(6, depth, 3))
    sign = np.where(np.arange(depth) == 0, 1.0, -1.0)
    signed = np.einsum("mdi,d,mdj->mij", matrix, sign, matrix)
    w = rng.normal(size=(6, depth, 2))
    w[:, 0] = np.sqrt(1 + (w[:, 1:] ** 2).sum(axis=1))  # hyperbolic: w₀² − |w₁|² = 1
    eta = rng.uniform(0.5, 2.0, size=(6, 2))
    bands = np.full((5, 4, 2), np.nan)
    kernels.assemble(index, matrix, signed, w, eta, bands)
    for y in range(2):
        wanted = np.zeros((5, 5))
        for k, at in enumerate(index):
            turned = (sign * w[k, :, y]) @ matrix[k]
            part = (2 * np.outer(turned, turned) - signed[k]) / eta[k, y] ** 2
            wanted[np.ix_(at, at)] += part
        np.testing.assert_allclose(bands[:, :, y], in_bands(wanted, 3), rtol=1e-12, atol=1e-12)
