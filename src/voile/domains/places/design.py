"""A designed mechanism with the public map it was designed for, as one file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from voile.core.arrays import Floats, Indices, Items
from voile.core.guarantee import Guarantee
from voile.domains.places.projection import Projection
from voile.errors import BadFile
from voile.optimise.laplace_remap import LaplaceRemap, laplace_remap_from_record
from voile.optimise.smooth import SmoothMechanism, smooth_from_record

_LOADERS: dict[str, Callable[..., SmoothMechanism | LaplaceRemap]] = {
    "smooth mechanism": smooth_from_record,
    "laplace remap": laplace_remap_from_record,
}


@dataclass(frozen=True, eq=False)
class PlacesDesign:
    """A mechanism on a map: projection, public places with their prior, streets, and facts.

    Everything in it is public: the prior must come from public points (see `counted_prior`).
    `facts` hold method, loss, lower_bound, gap, seconds and the losses of other methods.
    """

    mechanism: SmoothMechanism | LaplaceRemap
    projection: Projection
    places: Floats
    prior: Floats
    streets: Indices
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def guarantee(self) -> Guarantee:
        """What one release promises."""
        return self.mechanism.guarantee

    @property
    def box(self) -> tuple[Floats, Floats]:
        """The corners of the map, km."""
        if isinstance(self.mechanism, SmoothMechanism):
            grid = self.mechanism.grid
            return np.asarray(grid.low), np.asarray(grid.high)
        xs, ys = self.mechanism.xs, self.mechanism.ys
        return np.array([xs[0], ys[0]]), np.array([xs[-1], ys[-1]])

    def to_record(self) -> tuple[str, dict[str, Any], dict[str, Items]]:
        """Kind, description and arrays, for `voile.save`."""
        kind, inner, arrays = self.mechanism.to_record()
        meta = {
            "mechanism": kind,
            "inner": inner,
            "facts": dict(self.facts),
            "latitude": self.projection.latitude,
            "longitude": self.projection.longitude,
        }
        mine = {"places": self.places, "prior": self.prior, "streets": self.streets}
        return "places design", meta, {**{f"inner_{k}": v for k, v in arrays.items()}, **mine}


def places_design_from_record(meta: Mapping[str, Any], arrays: Mapping[str, Items]) -> PlacesDesign:
    """The design of a saved record; its mechanism is certified anew."""
    kind = str(meta["mechanism"])
    if kind not in _LOADERS:
        raise BadFile(f"the file holds a mechanism that this version does not know: {kind!r}")
    inner = {k.removeprefix("inner_"): v for k, v in arrays.items() if k.startswith("inner_")}
    return PlacesDesign(
        _LOADERS[kind](meta["inner"], inner),
        Projection(float(meta["latitude"]), float(meta["longitude"])),
        np.asarray(arrays["places"], dtype=float),
        np.asarray(arrays["prior"], dtype=float),
        np.asarray(arrays["streets"], dtype=np.intp).reshape(-1, 2),
        dict(meta["facts"]),
    )
