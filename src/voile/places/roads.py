"""A road network: junctions on a plane, directed streets with lengths."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.arrays import Floats, Indices, frozen
from voile.errors import InvalidInput, require
from voile.metrics.great_circle import EARTH_RADIUS
from voile.places.projection import Projection, check_degrees, projection_around


@dataclass(frozen=True, eq=False)
class RoadNetwork:
    """Junctions (km), directed edges (from, to) with lengths (km), and the map's projection.

    Every junction can reach every other; `dropped` says what was left out to make it so.
    """

    points: Floats
    edges: Indices
    lengths: Floats
    projection: Projection
    dropped: str = ""

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"RoadNetwork({len(self)} junctions, {len(self.edges)} directed streets)"

    @cached_property
    def graph(self) -> Any:
        """The sparse matrix of lengths; of parallel streets the shortest."""
        return _graph(self.edges, self.lengths, len(self.points))

    def distances_to(self, junctions: Indices) -> Floats:
        """Shortest path lengths from every junction to each given one: (given, all)."""
        from scipy.sparse.csgraph import dijkstra

        table: Floats = dijkstra(self.graph.T.tocsr(), indices=np.asarray(junctions))
        return table

    def nearest(self, points: Floats) -> Indices:
        """The junction nearest each point, as the crow flies."""
        from scipy.spatial import cKDTree

        return np.asarray(cKDTree(self.points).query(points)[1], dtype=np.intp)


def network_from_degrees(
    latitudes: Floats, longitudes: Floats, edges: Indices, lengths: Floats | None = None
) -> RoadNetwork:
    """Project, check and keep the largest part in which every junction reaches every other.

    `lengths` are in km; without them streets are as long as the great circle between their ends.
    """
    lat, lon = np.asarray(latitudes, dtype=float), np.asarray(longitudes, dtype=float)
    require(len(lat) > 1, "a road network", "at least two junctions", len(lat))
    check_degrees(lat, lon)
    pairs = np.asarray(edges, dtype=np.intp).reshape(-1, 2)
    require(len(pairs) > 0, "a road network", "at least one street", "none")
    inside = bool(((pairs >= 0) & (pairs < len(lat))).all())
    require(inside, "streets", "between junctions that exist", "others")
    straight = _great_circle(lat, lon, pairs)
    given = straight if lengths is None else np.asarray(lengths, dtype=float)
    good = given.shape == (len(pairs),) and bool((given >= 0).all() and np.isfinite(given).all())
    require(good, "street lengths", "finite and >= 0", "others")
    if lengths is not None and float(np.median(given + 1e-6) / np.median(straight + 1e-6)) < 0.8:
        raise InvalidInput(
            "streets must not be shorter than the straight line between their ends, and most of "
            "these are: latitude and longitude may be swapped, or the lengths not in metres"
        )
    keep = _largest_part(pairs, given, len(lat))  # a lost junction elsewhere must not move the map
    centre = projection_around(lat[keep], lon[keep])
    return connected(centre.to_km(lat, lon), pairs, given, centre)


def connected(
    points: Floats, edges: Indices, lengths: Floats, projection: Projection
) -> RoadNetwork:
    """The largest strongly connected part of a network, saying what was dropped."""
    keep = _largest_part(edges, lengths, len(points))
    number = np.cumsum(keep) - 1
    inner = keep[edges].all(axis=1) & (edges[:, 0] != edges[:, 1])
    note = ""
    if not keep.all():
        lost = int((~keep).sum())
        note = (
            f"dropped {lost} of {len(points)} junctions ({100 * lost / len(points):.1f} %) "
            f"outside the largest part in which every junction reaches every other"
        )
    return RoadNetwork(
        np.asarray(frozen(points[keep])), number[edges[inner]], lengths[inner], projection, note
    )


def _largest_part(edges: Indices, lengths: Floats, size: int) -> NDArray[np.bool_]:
    """Which junctions lie in the largest part where every one reaches every other."""
    from scipy.sparse.csgraph import connected_components

    parts, label = connected_components(
        _graph(edges, lengths, size), directed=True, connection="strong"
    )
    keep = label == np.bincount(label).argmax()
    if keep.sum() < 2:
        raise InvalidInput(
            f"the road network must have a part in which junctions reach each other, got "
            f"{size} junctions in {parts} parts of one; are streets missing, or all one-way?"
        )
    return np.asarray(keep)


def _graph(edges: Indices, lengths: Floats, size: int) -> Any:
    from scipy.sparse import csr_array

    order = np.lexsort((lengths, edges[:, 1], edges[:, 0]))
    pairs, values = edges[order], np.maximum(lengths[order], 1e-9)
    first = np.ones(len(pairs), dtype=bool)
    first[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    pairs, values = pairs[first], values[first]
    return csr_array((values, (pairs[:, 0], pairs[:, 1])), shape=(size, size))


def _great_circle(lat: Floats, lon: Floats, pairs: Indices) -> Floats:
    a, b = np.radians(lat), np.radians(lon)
    first, second = pairs[:, 0], pairs[:, 1]
    chord = (
        np.sin((a[first] - a[second]) / 2) ** 2
        + np.cos(a[first]) * np.cos(a[second]) * np.sin((b[first] - b[second]) / 2) ** 2
    )
    return np.asarray(2 * EARTH_RADIUS["km"] * np.arcsin(np.sqrt(np.minimum(chord, 1.0))))
