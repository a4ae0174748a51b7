# Written by scripts/exports.
from types import ModuleType

from voile.mechanisms.labels.columnwise import columnwise
from voile.mechanisms.labels.design_response import design_response
from voile.mechanisms.labels.label_cf import label_cf
from voile.mechanisms.labels.local_hashing import local_hashing
from voile.mechanisms.labels.randomised_response import randomised_response
from voile.mechanisms.labels.rr_with_prior import rr_with_prior
from voile.mechanisms.labels.sampled_column import sampled_column
from voile.mechanisms.labels.subset_selection import subset_selection
from voile.mechanisms.labels.unary_encoding import unary_encoding
from voile.mechanisms.places.planar_laplace import planar_laplace
from voile.mechanisms.places.planar_laplace_grid import planar_laplace_grid
from voile.mechanisms.spaces.calibrated import calibrated
from voile.mechanisms.spaces.exponential import exponential
from voile.mechanisms.spaces.geometric import geometric
from voile.mechanisms.spaces.multivariate_laplace import multivariate_laplace
from voile.mechanisms.spaces.remap import remap
from voile.mechanisms.spaces.tiered import tiered
from voile.mechanisms.spaces.tight_constraints import tight_constraints
from voile.mechanisms.spaces.truncated_exponential import truncated_exponential
from voile.mechanisms.spaces.word_remap import word_remap
from voile.mechanisms.words.custext import custext
from voile.mechanisms.words.madlib import madlib
from voile.mechanisms.words.mahalanobis import mahalanobis
from voile.mechanisms.words.santext_plus import santext_plus
from voile.mechanisms.words.vickrey import vickrey
from voile.mechanisms.words.word_exponential import word_exponential
from voile.mechanisms.words.word_truncated_exponential import word_truncated_exponential

__all__ = [
    "calibrated",
    "columnwise",
    "custext",
    "design_response",
    "exponential",
    "geometric",
    "label_cf",
    "local_hashing",
    "madlib",
    "mahalanobis",
    "multivariate_laplace",
    "planar_laplace",
    "planar_laplace_grid",
    "randomised_response",
    "remap",
    "rr_with_prior",
    "sampled_column",
    "santext_plus",
    "subset_selection",
    "tiered",
    "tight_constraints",
    "truncated_exponential",
    "unary_encoding",
    "vickrey",
    "word_exponential",
    "word_remap",
    "word_truncated_exponential",
]

def module_of(name: str) -> ModuleType: ...
def names_in(family: str) -> tuple[str, ...]: ...
