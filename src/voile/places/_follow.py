"""`voile.places.follow`: what an attacker who reads whole traces finds, in metres."""

from __future__ import annotations

from typing import Annotated

from voile.options import Data, Option, use_case
from voile.places.coordinates import DEGREES, Coordinates
from voile.places.followed import Followed
from voile.places.knowing import Following
from voile.places.made_by import BESIDE, MadeBy
from voile.places.trace_attack import followed, read_rows
from voile.places.trace_evidence import NoiseEvidence
from voile.places.traces import TraceLaw
from voile.places.tracing import ALONE, Tracing


@use_case("places follow")
def follow(
    original: Annotated[Data, Option("The file of traces.", reads="private")],
    released: Annotated[
        Data, Option("What `voile places protect --trace` made of it.", reads="private")
    ],
    *,
    made_by: MadeBy = BESIDE,
    tracing: Tracing = ALONE,
    columns: Coordinates = DEGREES,
    following: Following = Following(),
    preview: Annotated[
        bool, Option("Map some traces before and after: not to be handed on.", "Output")
    ] = False,
) -> Followed:
    """Attack released traces as a whole: forward–backward on how people move; homes; in metres.

    Example: `voile places follow trips.csv trips.protected.csv --public others.csv
    --trace vehicle --way each`

    Give the options of traces that the release was made with: the attacker knows the mechanism.
    ε is that of the guarantee file beside the release; without one, say it.
    It rehearses on public trips whether to trust the chain or the release, so that it is not
    weaker than reading each place by itself. A home is the square where a trace has most of its
    places, its second place (work) the next such square.
    """
    rows = read_rows(original, released, columns, tracing)
    law = made_by.of(released, tracing, as_drawn=False)
    assert isinstance(law, TraceLaw)  # rows are those of traces
    return followed(NoiseEvidence(law), rows, following, columns, tracing, preview=preview)
