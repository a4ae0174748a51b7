"""Mechanisms: one file each, a constructor and `examples()`; the folder is the registry."""

from voile.mechanisms.calibrated import calibrated
from voile.mechanisms.columnwise import columnwise
from voile.mechanisms.exponential import exponential
from voile.mechanisms.geometric import geometric
from voile.mechanisms.label_cf import label_cf
from voile.mechanisms.multivariate_laplace import multivariate_laplace
from voile.mechanisms.planar_laplace import planar_laplace
from voile.mechanisms.planar_laplace_grid import planar_laplace_grid
from voile.mechanisms.randomised_response import randomised_response
from voile.mechanisms.remap import remap
from voile.mechanisms.rr_with_prior import rr_with_prior
from voile.mechanisms.tiered import tiered
from voile.mechanisms.tight_constraints import tight_constraints
from voile.mechanisms.truncated_exponential import truncated_exponential

__all__ = [
    "calibrated",
    "columnwise",
    "exponential",
    "geometric",
    "label_cf",
    "multivariate_laplace",
    "planar_laplace",
    "planar_laplace_grid",
    "randomised_response",
    "remap",
    "rr_with_prior",
    "tiered",
    "tight_constraints",
    "truncated_exponential",
]
