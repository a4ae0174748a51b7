"""A metric from its name, unit and parameters, as a saved file holds them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from voile.core.arrays import Floats
from voile.core.metric import Metric
from voile.errors import BadFile
from voile.metrics.angular_distance import angular
from voile.metrics.discrete_distance import discrete, hamming
from voile.metrics.distance_tables import precomputed
from voile.metrics.great_circle import haversine
from voile.metrics.lp_norms import lp


def metric_from(
    name: str, unit: str, parameters: Mapping[str, float | str], matrix: Floats | None = None
) -> Metric:
    """The metric that a file names; `matrix` is the table of a precomputed one.

    >>> metric_from("euclidean", "km", {"p": 2.0}).unit
    'km'
    """
    if name == "precomputed" and matrix is not None:
        metric = precomputed(np.asarray(matrix), unit=unit)
    elif "p" in parameters:
        metric = lp(float(parameters["p"]), unit=unit)
    elif name == "haversine":
        metric = haversine(unit=unit)
    else:
        simple = {"discrete": discrete, "hamming": hamming, "angular": angular}
        if name not in simple:
            raise BadFile(f"the file names a metric that this version does not know: {name!r}")
        metric = simple[name]()
    if (metric.name, metric.unit, dict(metric.parameters)) != (name, unit, dict(parameters)):
        raise BadFile(f"the file's metric {name!r} does not match its parameters")
    return metric
