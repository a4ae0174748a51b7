"""Distances between secrets: each has a unit, and says whether it is a true metric."""

from voile.metrics.angular import angular, cosine_distance
from voile.metrics.discrete import discrete, hamming
from voile.metrics.haversine import haversine
from voile.metrics.lp import chebyshev, euclidean, lp, manhattan, squared_euclidean
from voile.metrics.precomputed import precomputed, shortest_path_closure
from voile.metrics.registry import metric_from

__all__ = [
    "angular",
    "chebyshev",
    "cosine_distance",
    "discrete",
    "euclidean",
    "hamming",
    "haversine",
    "lp",
    "manhattan",
    "metric_from",
    "precomputed",
    "shortest_path_closure",
    "squared_euclidean",
]
