"""The places screen: what the bench of places answers, for one file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from voile.places.workbench import NoiseFigures, PlacesBench, Points, TraceShown, open_places
from voile.studio.asking import Around, Blurred, PlacesLook, TraceOf
from voile.studio.desk import Desk, Latest


@dataclass(frozen=True)
class PlacesShown:
    """The first places of the file, and the traces among them."""

    points: Points
    traces: tuple[str, ...]
    left_out: int


@dataclass(frozen=True)
class BlurredShown:
    """All places once, seeded, and what the strength means."""

    figures: NoiseFigures
    points: Points
    stamp: str = "Preview, seeded: not a release, written nowhere"


@dataclass
class PlacesScreen:
    """Answers about the open file's places."""

    desk: Desk
    drawing: Latest = field(default_factory=Latest)

    def look(self, asked: PlacesLook) -> PlacesShown:
        """The first places."""
        bench = self._bench(asked)
        points = tuple((float(lat), float(lon)) for lat, lon in bench.points)
        return PlacesShown(points, bench.names(), bench.left_out)

    def blurred(self, look: PlacesLook, asked: Blurred) -> BlurredShown:
        """All of them at a strength, given as ε or as a mean error."""
        bench = self._bench(look)

        def draw() -> BlurredShown:
            epsilon = asked.epsilon or bench.epsilon_for(asked.mean_error or "")
            return BlurredShown(bench.figures(epsilon), bench.blurred(epsilon, seed=asked.seed))

        return self.drawing.do(draw)

    def around(self, look: PlacesLook, asked: Around) -> Points:
        """Where one place may be reported."""
        return self._bench(look).around(asked.lat, asked.lon, asked.epsilon)

    def trace(self, look: PlacesLook, asked: TraceOf) -> TraceShown:
        """One trace before and after."""
        return self._bench(look).trace(asked.name, asked.epsilon, per=asked.per, seed=asked.seed)

    def _bench(self, asked: PlacesLook) -> PlacesBench:
        kept = self.desk.kept  # before the path: another file that is opened meanwhile has its own
        path = self.desk.need().path
        if asked not in kept:
            kept[asked] = open_places(path, lat=asked.lat, lon=asked.lon, trace=asked.trace)
        found: Any = kept[asked]
        return found
