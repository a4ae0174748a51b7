"""What released places are still good for: counts of areas, what is nearest, routes, one's loss."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.errors import InvalidInput, require
from voile.names import placed
from voile.options import Data, Option, Options
from voile.places.columns import read_degrees, read_names
from voile.places.coordinates import Coordinates
from voile.places.earth import Globe
from voile.places.lengths import length_km, length_words
from voile.places.projection import projection_around
from voile.places.readers import read_roads
from voile.places.routes import Routes, choices_kept, trips_kept
from voile.places.traces import KM_A_DEGREE
from voile.report.drawing import percent
from voile.report.words import counted

_CODE = re.compile(r":[A-Za-z_]\w*$")
"""FILE.py:FUNCTION, and no table."""
Loss = Callable[[Floats, Floats], Floats]
"""Rows of (latitude, longitude) before and after; a number for each row, or for each pair."""


@dataclass(frozen=True)
class Use:
    """What is left of some rows' use; shares between 0 and 1."""

    area_km: float
    areas_misplaced: float
    """The share of rows that would have to change their area for the counts of areas to be right:
    half of the summed differences (total variation)."""
    nearest: int | None = None
    nearest_kept: float | None = None
    """Of the k public places nearest to a true place, the share that is still among the k nearest
    to the released one; with k = 1, how often the choice of the nearest stays the same."""
    own_loss: float | None = None
    """The mean of the user's own loss."""
    routes: Routes | None = None

    def sentences(self) -> list[str]:
        """What the rows are still good for, in words."""
        said = [
            f"Counts of areas of {length_words(self.area_km)}: {percent(self.areas_misplaced)} of "
            "the rows would have to change area for them to be right."
        ]
        if self.nearest_kept is not None:
            one = self.nearest == 1
            what = "the nearest public place" if one else f"{self.nearest} nearest places"
            said.append(f"Of {what}, {percent(self.nearest_kept)} stay the same.")
        if self.own_loss is not None:
            said.append(f"Your own loss: {self.own_loss:.4g} on average.")
        if self.routes is not None:
            said += _route_words(self.routes)
        return said


def _route_words(routes: Routes) -> list[str]:
    """Routes in words; none where no route has a length."""
    if not routes.routes:
        return ["Every route begins where it ends: there is no street to compare."]
    said = [
        f"Of {counted(routes.routes, 'route')}, {length_words(routes.route_m / 1000)} long on "
        f"average, {percent(routes.same_streets)} of the streets stay the same and "
        f"{percent(routes.same_routes)} of the routes do as a whole; led from the released place, "
        f"people go {length_words(routes.detour_m / 1000)} farther on average."
    ]
    if routes.same_choice is not None:
        said.append(
            f"The public place that is nearest by road stays the same in "
            f"{percent(routes.same_choice)} of the rows."
        )
    if routes.far_from_streets:
        said.append(
            f"{counted(routes.far_from_streets, 'place')} more than 1 km from any street: "
            "counted for the junction nearest to it."
        )
    return said


def area_difference(before: Floats, after: Floats, *, side: float) -> float:
    """Total variation between the counts of squares of so many km a side.

    >>> area_difference(np.array([[0.1, 0.1], [5.0, 5.0]]), np.array([[0.2, 0.9], [9.0, 9.0]]),
    ...                 side=1.0)
    0.5
    """
    cells = np.floor(np.concatenate([before, after]) / side).astype(np.int64)
    _, member = np.unique(cells, axis=0, return_inverse=True)
    member = member.reshape(-1)
    count = int(member.max()) + 1
    counts = [
        np.bincount(m, minlength=count) for m in (member[: len(before)], member[len(before) :])
    ]
    return float(np.abs(counts[0] - counts[1]).sum() / 2 / len(before))


def _in_squares(degrees: Sequence[Floats], side: float) -> list[Floats]:
    """Km in which whole sides are the edges of areas, of places before and after.

    On one plane where the true places fit on one. Else a row of areas lies between two parallels,
    and its areas are as wide as at the middle one: such places may lie anywhere on Earth.
    """
    try:
        around = projection_around(*degrees[0].T)
    except InvalidInput:
        return [_by_parallels(table, side) for table in degrees]
    return [around.to_km(*table.T) for table in degrees]


def _by_parallels(degrees: Floats, side: float) -> Floats:
    north = degrees[:, 0] * KM_A_DEGREE
    middle = (np.floor(north / side) + 0.5) * side / KM_A_DEGREE
    east = degrees[:, 1] * KM_A_DEGREE * np.cos(np.radians(np.clip(middle, -90, 90)))
    return np.stack([east, north], axis=1)


def nearest_kept(before: Floats, after: Floats, public: Floats, *, k: int) -> float:
    """The share of the k nearest public places that stays among the k nearest."""
    from scipy.spatial import cKDTree

    require(1 <= k <= len(public), "nearest", f"between 1 and {len(public)} places", k)
    tree = cKDTree(public)
    first, second = (np.asarray(tree.query(p, k=[*range(1, k + 1)])[1]) for p in (before, after))
    same = (first[:, :, None] == second[:, None, :]).any(axis=2)
    return float(same.mean())


@dataclass(frozen=True, eq=False)
class TableLoss:
    """A loss from a table: rows of a place before, a place after, and what that costs.

    Every other place counts as the one of the table nearest to it.
    """

    before: Floats
    after: Floats
    costs: Floats

    @classmethod
    def read(cls, data: Data) -> TableLoss:
        """From columns from_lat, from_lon, to_lat, to_lon and loss; all pairs must be there."""
        ends = [
            np.stack(read_degrees(data, Coordinates(lat=f"{end}_lat", lon=f"{end}_lon")), axis=1)
            for end in ("from", "to")
        ]
        (before, first), (after, last) = (
            np.unique(places, axis=0, return_inverse=True) for places in ends
        )
        try:
            cost = read_names(data, "loss", do="--loss needs a column `loss`").astype(float)
        except ValueError:
            raise InvalidInput("the column `loss` of --loss must hold numbers") from None
        table = np.full((len(before), len(after)), np.nan)
        table[first.reshape(-1), last.reshape(-1)] = cost
        require(bool(np.isfinite(cost).all()), "the column `loss`", "finite numbers", "others")
        missing = int(np.isnan(table).sum())
        if missing:
            raise InvalidInput(
                f"--loss must have a row for each of its {len(before):,} places before and each of "
                f"its {len(after):,} after, and {missing:,} pairs have none"
            )
        return cls(before, after, table)

    def __call__(self, before: Floats, after: Floats, *, pairs: bool = False) -> Floats:
        """For each row, or for each pair."""
        from scipy.spatial import cKDTree

        ground = Globe()
        first, last = (
            np.asarray(cKDTree(ground.to_km(*known.T)[0]).query(ground.to_km(*given.T)[0])[1])
            for known, given in ((self.before, before), (self.after, after))
        )
        return self.costs[np.ix_(first, last)] if pairs else self.costs[first, last]


def losses(loss: Loss, before: Floats, after: Floats, *, shape: tuple[int, ...]) -> Floats:
    """The user's own losses, of the shape that is needed, finite."""
    if isinstance(loss, TableLoss):
        return loss(before, after, pairs=len(shape) == 2)
    try:
        found = np.asarray(loss(before, after), dtype=float)
    except Exception as problem:  # whatever it says may hold a place
        raise InvalidInput(
            f"loss must take two arrays of (latitude, longitude) and give numbers: "
            f"{type(problem).__name__}"
        ) from None
    ok = found.shape == shape and bool(np.isfinite(found).all())
    require(ok, "loss", f"finite numbers of shape {shape}", f"shape {found.shape}")
    return found


@dataclass(frozen=True)
class Usefulness(Options):
    """What the rows of two files are to be still good for."""

    area: Annotated[str, Option("Side of the areas that rows are counted in.", shown=True)] = "1km"
    poi: Annotated[
        Data, Option("Public places: is the nearest still the nearest?", reads="public")
    ] = None
    nearest: Annotated[int, Option("How many of the nearest --poi to look at.")] = 1
    loss: Annotated[
        Any,
        Option(
            "Your own loss: a function, FILE.py:FUNCTION, or a table from_lat, from_lon, to_lat, "
            "to_lon, loss.",
            shown=True,
        ),
    ] = None

    routes: Annotated[
        str | Path | None,
        Option(
            "Public streets: how do routes change? With --trace from its first place to its last, "
            "else to the --poi nearest by road.",
            reads="public",
        ),
    ] = None

    def found(
        self, columns: Coordinates, degrees: Sequence[Floats], traces: Sequence[Indices] | None
    ) -> Use:
        """What is left, of rows of degrees before and after."""
        side = length_km(self.area, "--area")
        truth, shown = _in_squares(degrees, side)
        public = None if self.poi is None else read_degrees(self.poi, columns)
        kept = own = None
        if public is not None:
            tables = (*degrees, np.stack(public, axis=1))
            kept = nearest_kept(*(Globe().to_km(*table.T)[0] for table in tables), k=self.nearest)
        if self.loss is not None:
            own = float(losses(own_loss(self.loss), *degrees, shape=(len(truth),)).mean())
        asked = None if self.poi is None else self.nearest
        routes = self._routed(degrees, traces, public)
        return Use(side, area_difference(truth, shown, side=side), asked, kept, own, routes)

    def _routed(
        self,
        degrees: Sequence[Floats],
        traces: Sequence[Indices] | None,
        public: tuple[Floats, Floats] | None,
    ) -> Routes | None:
        if self.routes is None:
            return None
        if traces is None and public is None:
            raise InvalidInput(
                "--routes must lead somewhere: name the column of traces with --trace, or public "
                "places with --poi"
            )
        network = read_roads(self.routes)
        before, after = (network.projection.to_km(*table.T) for table in degrees)
        if traces is not None:
            first, last = (np.array([rows[end] for rows in traces]) for end in (0, -1))
            return trips_kept(network, before[first], after[first], before[last])
        assert public is not None  # as asked above
        return choices_kept(network, before, after, network.projection.to_km(*public))


def own_loss(given: Any) -> Loss:
    """The function that was given, or that a file holds."""
    coded = callable(given) or _CODE.search(str(given)) is not None
    if not coded and not isinstance(given, int | float):
        given = TableLoss.read(given)
    if isinstance(given, str):
        given = placed(given, "--loss").load()
    if not callable(given):
        raise InvalidInput(
            "loss must be a function of two arrays of (latitude, longitude), or a file"
        )
    found: Loss = given
    return found
