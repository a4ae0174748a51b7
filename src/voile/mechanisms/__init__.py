"""Mechanisms: one file each, a constructor and `examples()`; the folder is the registry."""

from voile.mechanisms.calibrated import calibrated
from voile.mechanisms.columnwise import columnwise
from voile.mechanisms.custext import custext
from voile.mechanisms.exponential import exponential
from voile.mechanisms.geometric import geometric
from voile.mechanisms.label_cf import label_cf
from voile.mechanisms.madlib import madlib
from voile.mechanisms.mahalanobis import mahalanobis
from voile.mechanisms.multivariate_laplace import multivariate_laplace
from voile.mechanisms.planar_laplace import planar_laplace
from voile.mechanisms.planar_laplace_grid import planar_laplace_grid
from voile.mechanisms.randomised_response import randomised_response
from voile.mechanisms.remap import remap
from voile.mechanisms.rr_with_prior import rr_with_prior
from voile.mechanisms.santext_plus import santext_plus
from voile.mechanisms.tiered import tiered
from voile.mechanisms.tight_constraints import tight_constraints
from voile.mechanisms.truncated_exponential import truncated_exponential
from voile.mechanisms.vickrey import vickrey
from voile.mechanisms.word_exponential import word_exponential
from voile.mechanisms.word_remap import word_remap
from voile.mechanisms.word_truncated_exponential import word_truncated_exponential

__all__ = [
    "calibrated",
    "columnwise",
    "custext",
    "exponential",
    "geometric",
    "label_cf",
    "madlib",
    "mahalanobis",
    "multivariate_laplace",
    "planar_laplace",
    "planar_laplace_grid",
    "randomised_response",
    "remap",
    "rr_with_prior",
    "santext_plus",
    "tiered",
    "tight_constraints",
    "truncated_exponential",
    "vickrey",
    "word_exponential",
    "word_remap",
    "word_truncated_exponential",
]
