"""Route choice: how far people are led along other streets from where they are said to be.

Streets are public and directed, places count for the junction nearest to them, and routes are the
shortest. A **trip** goes from a trace's first place o to its last, d. Navigated from the released
o′ it costs length(o → o′) + length(o′ → d) − length(o → d) more: whoever stands at o goes to where
the route begins and follows it. A **choice** goes to the public place nearest by road: the one
nearest to the released place is reached from the true one with length(o → p′) − length(o → p) more.
Neither is below 0. The same streets are counted by length: the share of the route from o that the
route from o′ takes as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from voile.core.arrays import Floats, Indices
from voile.places.roads import RoadNetwork

_AT_ONCE = 200
"""Ends whose tables are held together."""
FAR = 1.0
"""Km from any street: such a place is counted apart."""


@dataclass(frozen=True)
class Routes:
    """What becomes of routes, on average over those that have a length."""

    routes: int
    same_streets: float
    """The share of a route, by length, that is also on the route from the released place."""
    same_routes: float
    """The share of routes of which no street changes."""
    detour_m: float
    route_m: float
    """How long the true routes are."""
    same_choice: float | None = None
    """How often the public place that is nearest by road stays the same."""
    far_from_streets: int = 0
    """True places more than a kilometre from any street."""


def trips_kept(network: RoadNetwork, before: Floats, after: Floats, ends: Floats) -> Routes:
    """Trips from places to ends (km, row by row), navigated from the released places."""
    start, shown, goal = (network.nearest(points) for points in (before, after, ends))
    length, same, detour = np.zeros(len(start)), np.zeros(len(start)), np.zeros(len(start))
    for rows, distance, following in _to(network, goal):
        for row in rows:
            length[row] = distance[start[row]]
            same[row] = _shared(start[row], shown[row], distance, following)
            detour[row] = distance[shown[row]] - distance[start[row]]
    for rows, distance, _ in _to(network, shown):
        detour[rows] += distance[start[rows]]
    return _routes(network, before, length, same, detour)


def choices_kept(network: RoadNetwork, before: Floats, after: Floats, public: Floats) -> Routes:
    """Routes to whichever public place is nearest by road."""
    from scipy.sparse.csgraph import dijkstra

    start, shown = network.nearest(before), network.nearest(after)
    found = dijkstra(
        network.graph.T.tocsr(),
        indices=np.unique(network.nearest(public)),
        return_predecessors=True,
        min_only=True,
    )
    distance = np.asarray(found[0])
    following, chosen = (np.asarray(table, dtype=np.intp) for table in found[1:])
    pairs = zip(start, shown, strict=True)
    same = np.array([_shared(a, b, distance, following) for a, b in pairs])
    detour = np.empty(len(start))
    for rows, there, _ in _to(network, chosen[shown]):
        detour[rows] = there[start[rows]] - distance[start[rows]]
    agree = float((chosen[start] == chosen[shown]).mean())
    return _routes(network, before, distance[start], same, detour, agree)


def _to(network: RoadNetwork, goals: Indices) -> Iterator[tuple[Indices, Floats, Indices]]:
    """For each goal: the rows that have it, lengths of all ways to it, and each next junction."""
    from scipy.sparse.csgraph import dijkstra

    backwards = network.graph.T.tocsr()
    different, member = np.unique(goals, return_inverse=True)
    member = np.asarray(member).reshape(-1)
    order = np.argsort(member, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(member))[:-1])
    for first in range(0, len(different), _AT_ONCE):
        block = different[first : first + _AT_ONCE]
        lengths, following = dijkstra(backwards, indices=block, return_predecessors=True)
        for place in range(len(block)):
            yield rows[first + place], lengths[place], following[place]


def _shared(start: int, shown: int, distance: Floats, following: Indices) -> float:
    """The length of the way from `start` that the way from `shown` takes as well.

    Ways to one goal by one table of next junctions stay together once they meet.
    """
    seen = set()
    here = shown
    while here >= 0:
        seen.add(int(here))
        here = following[here]
    here = start
    while int(here) not in seen:
        if following[here] < 0:
            return 0.0
        here = following[here]
    return float(distance[here])


def _routes(
    network: RoadNetwork,
    before: Floats,
    length: Floats,
    same: Floats,
    detour: Floats,
    agree: float | None = None,
) -> Routes:
    from scipy.spatial import cKDTree

    real = length > 0
    away = np.asarray(cKDTree(network.points).query(before)[0])
    count = max(1, int(real.sum()))
    share = np.divide(same, length, out=np.ones_like(length), where=real)
    return Routes(
        routes=int(real.sum()),
        same_streets=float(share[real].sum() / count),
        same_routes=float((share[real] >= 1 - 1e-12).sum() / count),
        detour_m=1000 * float(np.maximum(detour[real], 0).sum() / count),
        route_m=1000 * float(length[real].sum() / count),
        same_choice=agree,
        far_from_streets=int((away > FAR).sum()),
    )
