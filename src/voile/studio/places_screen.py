"""The places screen: what the bench of places answers, for one file."""

from __future__ import annotations

from dataclasses import dataclass, field

from voile.places.roads_shown import RoadsShown, roads_shown
from voile.places.trace_read import TraceRead, read_trace
from voile.places.tracing import Tracing
from voile.places.workbench import NoiseFigures, PlacesBench, Points, TraceShown, open_places
from voile.studio.asking import Around, Blurred, PlacesLook, RoadsOf, TraceOf
from voile.studio.desk import Desk, Latest


@dataclass(frozen=True)
class PlacesShown:
    """The first places of the file, and the traces of it."""

    points: Points
    traces: tuple[str, ...]
    left_out: int
    more: bool


@dataclass(frozen=True)
class BlurredShown:
    """All places once, seeded, and what the strength means for one draw among them."""

    epsilon: float
    figures: NoiseFigures
    points: Points
    stamp: str = "Preview, seeded: not a release, written nowhere"


@dataclass(frozen=True)
class TraceWithReader:
    """What a reader of the whole trace gets; None where too little is known to say."""

    found: TraceRead | None


@dataclass
class PlacesScreen:
    """Answers about the open file's places."""

    desk: Desk
    drawing: Latest = field(default_factory=Latest)
    reading: Latest = field(default_factory=Latest)

    def look(self, asked: PlacesLook) -> PlacesShown:
        """The first places."""
        bench = self._bench(asked)
        return PlacesShown(bench.shown, bench.names(), bench.left_out, bench.more)

    def blurred(self, look: PlacesLook, asked: Blurred) -> BlurredShown:
        """All of them at a strength, given as ε or as a mean error; by traces if they share ε."""
        bench, tracing = self._bench(look), _tracing(asked)

        def draw() -> BlurredShown:
            epsilon = asked.epsilon or bench.epsilon_for(
                asked.mean_error or "", tracing, asked.name
            )
            points = bench.blurred(epsilon, tracing=tracing, seed=asked.seed)
            return BlurredShown(epsilon, bench.figures(epsilon, tracing, asked.name), points)

        return self.drawing.do(draw)

    def around(self, look: PlacesLook, asked: Around) -> Points:
        """Where one place may be reported."""
        return self._bench(look).around(asked.lat, asked.lon, asked.epsilon)

    def trace(self, look: PlacesLook, asked: TraceOf) -> TraceShown:
        """One trace before and after, as it would be released."""
        bench, tracing = self._bench(look), _tracing(asked)
        return bench.trace(asked.name, asked.epsilon, tracing=tracing, seed=asked.seed)

    def read(self, look: PlacesLook, asked: TraceOf) -> TraceWithReader:
        """What somebody who reads the whole of it gets."""
        bench, tracing = self._bench(look), _tracing(asked)

        def work() -> TraceRead | None:
            return read_trace(bench, asked.name, asked.epsilon, tracing=tracing, seed=asked.seed)

        return TraceWithReader(self.reading.do(work))

    def roads(self, look: PlacesLook, asked: RoadsOf) -> RoadsShown:
        """Streets under the map."""
        return roads_shown(self._bench(look).points, asked.roads)

    def _bench(self, asked: PlacesLook) -> PlacesBench:
        return self.desk.once(
            asked,
            lambda path: open_places(
                path, lat=asked.lat, lon=asked.lon, trace=asked.trace, time=asked.time
            ),
        )


def _tracing(asked: Blurred | TraceOf) -> Tracing | None:
    """How traces share ε; None where each place is by itself."""
    alone = asked.per == "place" and asked.way == "each"
    return None if alone else Tracing(trace="trace", per=asked.per, way=asked.way)
