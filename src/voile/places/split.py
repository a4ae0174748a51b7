"""How a trace's budget is shared out, as other people's public trips ask for.

Of m draws with ε_1 + … + ε_m = ε, each wrong by c/ε_i on average, the mean error is least where
all ε_i are equal: Σ 1/ε_i ≥ m²/ε (Cauchy–Schwarz). What is left to choose is m: with one new place
in k, draws are fewer and closer, and those between lie on lines that people do not follow. Which k
serves best hangs on how people move, so it is looked for on public trips, released at the very ε
with each k. Private places have no part in it: the proof of each k holds for the chosen one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput
from voile.places.geodesy import geodesic_km
from voile.places.knowing import Trip
from voile.places.traces import TraceLaw
from voile.progress import tell

STEPS = (1, 2, 3, 5, 8, 13, 21, 34)
"""One new place in so many: what is tried."""
_MOST = 40
"""Public trips that are released, evenly chosen."""
_TIMES = 3


def fitted_to(law: TraceLaw, public: Sequence[Trip]) -> TraceLaw:
    """The same law with the `every` that leaves public trips least far off on average."""
    rows = np.linspace(0, len(public) - 1, min(len(public), _MOST)).astype(int)
    some = [public[row] for row in np.unique(rows)]
    laws = [replace(law, tracing=replace(law.tracing, every=every)) for every in STEPS]
    errors = []
    for count, tried in enumerate(laws):
        tell("one new place in how many", done=count, total=len(laws))
        errors.append(_error(tried, some))
    if not np.isfinite(errors).any():
        raise InvalidInput("public trips are too long for the budget; raise ε or cut traces")
    return laws[int(np.argmin(errors))]


def _error(law: TraceLaw, trips: Sequence[Trip]) -> float:
    """Km off, on average over places; infinite where a trip is too long for its budget."""
    off = []
    for seed, trip in enumerate(trips):
        for time in range(_TIMES):
            rng = seeded_rng(_TIMES * seed + time)
            try:
                made = law.release(trip.latitudes, trip.longitudes, trip.times, rng)
            except InvalidInput:
                return float("inf")
            here = (trip.latitudes, trip.longitudes)
            off.append(geodesic_km(*here, made.latitudes, made.longitudes))
    return float(np.concatenate(off).mean())
