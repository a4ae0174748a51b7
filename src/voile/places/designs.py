"""A designed mechanism with the public map it was designed for, as one file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices, Items
from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator, secure_rng
from voile.core.rounding import percent_at_most
from voile.errors import BadFile, GuaranteeBroken
from voile.files.columns_in_clear import Named
from voile.optimise.laplace_remap import LaplaceRemap, laplace_remap_from_record
from voile.optimise.on_lattice import SplineMechanism
from voile.optimise.region import region_from_record
from voile.optimise.smooth import smooth_from_record
from voile.places.design_words import distance_words, limits
from voile.places.frames import is_one, with_places
from voile.places.geodesy import GEODESIC_ERROR, geodesic_epsilon, geodesic_km, reach_of, stretch
from voile.places.one_place import OnePlace, one_place
from voile.places.outside import Outside, refused
from voile.places.projection import Projection
from voile.places.solved import (
    NOT_STATED,
    DesignFacts,
    Priced,
    Solved,
    gap_of,
    map_from,
    solved_from,
)
from voile.report.model import Report
from voile.report.result import Result, plain

_LOADERS: dict[str, Callable[..., SplineMechanism | LaplaceRemap]] = {
    "smooth mechanism": smooth_from_record,
    "region mechanism": region_from_record,
    "laplace remap": laplace_remap_from_record,
}


@dataclass(frozen=True, repr=False, eq=False)
class PlacesDesign(Result):
    """A mechanism on a map: projection, public places with their prior, streets, how it was solved.

    The mechanism's ε is per km of the plane, `epsilon` per geodesic km: with D ≤ stretch·d for all
    places within `reach` of the centre, a loss of at most ε_plane·D is at most ε·d as long as
    ε_plane·stretch ≤ ε, which the constructor checks. Without `epsilon` it is that product.

    Everything in it is public: the prior must come from public points (see `counted_prior`).

    >>> import voile
    >>> design = voile.places.design(
    ...     box=(48.80, 2.25, 48.92, 2.43), cells=(3, 4), epsilon=0.8, method="laplace",
    ...     bound=False,
    ... )
    >>> len(design.release([(48.8584, 2.2945), (48.8530, 2.3499)]))
    2
    """

    mechanism: SplineMechanism | LaplaceRemap
    projection: Projection
    places: Floats
    prior: Floats
    streets: Indices
    solved: Solved = NOT_STATED
    epsilon: float | None = None
    sweep: tuple[Priced, ...] = ()
    """What other epsilons cost on the same map, where that was asked for."""
    saved: str | None = None

    def __post_init__(self) -> None:
        needed = geodesic_epsilon(self.mechanism.guarantee.epsilon, self.stretch)
        if self.epsilon is None:
            object.__setattr__(self, "epsilon", needed)
        elif not needed <= self.epsilon:
            raise GuaranteeBroken(
                f"epsilon per geodesic km must be at least the plane's times its stretch, "
                f"{needed:.9g}, got {self.epsilon:.9g}; design the mechanism for "
                "`plane_epsilon(epsilon, stretch)`"
            )

    @cached_property
    def box(self) -> tuple[Floats, Floats]:
        """The corners of the map, km."""
        if isinstance(self.mechanism, SplineMechanism):
            grid = self.mechanism.grid
            return np.asarray(grid.low), np.asarray(grid.high)
        xs, ys = self.mechanism.xs, self.mechanism.ys
        return np.array([xs[0], ys[0]]), np.array([xs[-1], ys[-1]])

    @cached_property
    def reach(self) -> float:
        """How far from the centre (km) a place may lie: twice as far as the map's last corner."""
        return reach_of(*self.box)

    @cached_property
    def stretch(self) -> float:
        """The most by which the plane lengthens a distance between places within reach."""
        return stretch(self.reach)

    @cached_property
    def guarantee(self) -> Guarantee:
        """What one release promises, per geodesic km on the WGS 84 ellipsoid."""
        assert self.epsilon is not None
        return replace(
            self.mechanism.guarantee,
            epsilon=self.epsilon,
            outside=limits(self.mechanism.p, self.mechanism.resolution),
        )

    def certificate(self) -> float:
        """The largest loss per geodesic km that is certified or proved; never above the claim."""
        return geodesic_epsilon(certified(self.mechanism), self.stretch)

    # ── what it says of itself ─────────────────────────────────────────────────────────────

    @cached_property
    def facts(self) -> DesignFacts:
        """All that JSON holds of it: how it was solved, and what its own numbers say anew."""
        p, guarantee = self.mechanism.p, self.guarantee
        return DesignFacts(
            **{f.name: getattr(self.solved, f.name) for f in fields(self.solved)},
            epsilon=guarantee.epsilon,
            p="inf" if np.isinf(p) else p,
            unit=guarantee.metric.unit,
            certificate=self.certificate(),
            basis=str(guarantee.basis),
            gap=gap_of(self.solved.loss, self.solved.lower_bound),
            outputs=len(self.mechanism.outputs),
            resolution=self.mechanism.resolution,
            distance=distance_words(p, self.reach),
            stretch=self.stretch,
            reach=self.reach,
            saved=self.saved,
            sweep=self.sweep,
        )

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON holds them."""
        found: dict[str, Any] = plain(self.facts)
        return found

    def _report(self) -> Report:
        from voile.places.design_report import design_report

        return design_report(self)

    def _outputs(self) -> tuple[str, ...]:
        return () if self.saved is None else (self.saved,)

    def __repr__(self) -> str:
        facts, (low, high) = self.facts, self.box
        loss = "" if facts.loss is None else f", expected loss {facts.loss:.4g} {facts.unit}"
        gap = "" if facts.gap is None else f", {percent_at_most(facts.gap)} above the best at most"
        return (
            f"PlacesDesign: {facts.method} on {facts.map}\n"
            f"ε = {facts.epsilon:g} per {facts.unit}, {facts.basis} {facts.certificate:.6g}"
            f"{loss}{gap}\n"
            f"{facts.outputs:,} places can be reported on {high[0] - low[0]:.1f} × "
            f"{high[1] - low[1]:.1f} {facts.unit}; release(places) takes degrees and gives degrees"
        )

    # ── degrees in, degrees out ────────────────────────────────────────────────────────────

    def release(
        self,
        places: Any,
        *,
        lat: str = "lat",
        lon: str = "lon",
        pass_: Named = (),
        rng: Generator | None = None,
        outside: Outside | str = Outside.FEW,
    ) -> Any:
        """One blurred place for each place, both in degrees, as the same kind that was given.

        `places` are one (latitude, longitude), rows of them as a list or an array, or a pandas,
        polars or Arrow table with the columns `lat` and `lon`. A table's other columns are left
        out, and an index that does not just count rows, unless `pass_` names them (an index
        without a name is "index"; "all" passes every one IN CLEAR). Drawn securely by
        default. Places off the map are moved to its border if they are few (`Outside`); places
        beyond `reach` are refused.
        """
        one = is_one(places)
        if one is not None and self._one is not None and outside != Outside.REFUSE:
            found = self._one.release(*one, rng)
            if found is not None:
                return found
        if one is not None:
            (pair,) = self.release([one], rng=rng, outside=outside)
            return pair

        def drawn(latitudes: Floats, longitudes: Floats) -> tuple[Floats, Floats]:
            points, off, far = self.located(latitudes, longitudes)
            rule = Outside(outside)
            problem = refused(int(off.sum()), int(far.sum()), len(points), self.reach, rule)
            if problem is not None:
                raise problem
            return self.drawn(points, secure_rng() if rng is None else rng)

        return with_places(places, drawn, lat=lat, lon=lon, passing=pass_)

    @cached_property
    def _one(self) -> OnePlace | None:
        """For one place at a time, where the mechanism is a spline."""
        mechanism = self.mechanism
        return one_place(self, mechanism) if isinstance(mechanism, SplineMechanism) else None

    def probabilities(
        self, latitudes: Sequence[float] | Floats, longitudes: Sequence[float] | Floats
    ) -> Floats:
        """The probability of each output at each place given in degrees."""
        return self.mechanism.probabilities(self.located(latitudes, longitudes)[0])

    def located(
        self, latitudes: Sequence[float] | Floats, longitudes: Sequence[float] | Floats
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Each place on the map (moved to its border if need be); which were off it; which far.

        Moving to the border of a box moves no two coordinates apart, so the loss between two
        places within reach stays at most ε_plane·D ≤ ε·d, on the map or off it.
        """
        points = self.projection.to_km(np.asarray(latitudes), np.asarray(longitudes))
        inside = np.clip(points, *self.box)
        off = np.asarray((points != inside).any(axis=1))
        far = np.zeros(len(points), dtype=bool)
        far[off] = np.linalg.norm(points[off], axis=1) > self.reach
        return inside, off, far

    def drawn(self, points: Floats, rng: Generator) -> tuple[Floats, Floats]:
        """A latitude and a longitude among the outputs for each point of the map."""
        chosen = self.mechanism.draw(points, rng)
        return self.output_degrees[0][chosen], self.output_degrees[1][chosen]

    @cached_property
    def output_degrees(self) -> tuple[Floats, Floats]:
        """Latitudes and longitudes of the outputs."""
        return self.projection.to_degrees(np.asarray(self.mechanism.outputs, dtype=float))

    def apart(self, first: Floats, second: Floats) -> Floats:
        """The distance that ε is per, between points of the plane, pair by pair; rounded up.

        Geodesic for ℓ₂; for another ℓ_p the plane's, in which no axis is shorter than the Earth's.
        """
        p = self.mechanism.p
        if p != 2.0:
            return np.asarray(np.linalg.norm(first - second, p, axis=1))
        ends = (*self.projection.to_degrees(first), *self.projection.to_degrees(second))
        return geodesic_km(*ends) + GEODESIC_ERROR

    # ── keeping ────────────────────────────────────────────────────────────────────────────

    def to_record(self) -> tuple[str, dict[str, Any], dict[str, Items]]:
        """Kind, description and arrays, for `voile.save`."""
        kind, inner, arrays = self.mechanism.to_record()
        meta = {
            "mechanism": kind,
            "inner": inner,
            "facts": plain(asdict(self.solved)),
            "latitude": self.projection.latitude,
            "longitude": self.projection.longitude,
            "epsilon": self.epsilon,
        }
        mine = {"places": self.places, "prior": self.prior, "streets": self.streets}
        return "places design", meta, {**{f"inner_{k}": v for k, v in arrays.items()}, **mine}


def certified(mechanism: SplineMechanism | LaplaceRemap) -> float:
    """The largest loss per km of the plane that is certified or proved."""
    if isinstance(mechanism, SplineMechanism):
        return mechanism.certificate().epsilon
    return mechanism.guarantee.epsilon


def places_design_from_record(meta: Mapping[str, Any], arrays: Mapping[str, Items]) -> PlacesDesign:
    """The design of a saved record; its mechanism is certified anew, and so is its map."""
    kind = str(meta["mechanism"])
    if kind not in _LOADERS:
        raise BadFile(f"the file holds a mechanism that this version does not know: {kind!r}")
    inner = {k.removeprefix("inner_"): v for k, v in arrays.items() if k.startswith("inner_")}
    stated = meta.get("epsilon")  # older files state none
    return PlacesDesign(
        _LOADERS[kind](meta["inner"], inner),
        Projection(float(meta["latitude"]), float(meta["longitude"])),
        *map_from(arrays),
        solved_from(meta["facts"]),
        None if stated is None else float(stated),
    )
