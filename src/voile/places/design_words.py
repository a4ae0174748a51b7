"""What a design's guarantee says of distances, and what it leaves out."""

from __future__ import annotations

import numpy as np

from voile.metrics.lattice import rounding_reach
from voile.places.geodesy import GEODESIC_ERROR
from voile.places.lengths import length_words


def distance_words(p: float, reach: float) -> str:
    """What ε is per, and between which places."""
    kinds = {
        1.0: "km east plus km north on the map",
        2.0: "geodesic km on the WGS 84 ellipsoid",
        np.inf: "the larger of km east and km north on the map",
    }
    kind = kinds.get(p, "km on the map")
    return f"{kind}, between any two places within {length_words(reach)} of the map's centre"


def limits(p: float, step: float, *, dimensions: int = 2) -> tuple[str, ...]:
    """What rounding to a lattice of step km, and another metric than the Earth's, leave out."""
    reach = rounding_reach(step + 4 * GEODESIC_ERROR, p=p, dimensions=dimensions)
    rounding = (
        f"the rounding of places to {1000 * step:.3g} m: between two places d apart the loss "
        f"is at most ε·(d + {length_words(reach, bound=True)}), which matters "
        "where d is a few metres"
    )
    if p != 1.0:
        return (rounding,)
    return (
        rounding,
        "distances as the crow flies: they are counted as km east plus km north on the "
        "map, so one geodesic km may cost up to √2·ε",
    )
