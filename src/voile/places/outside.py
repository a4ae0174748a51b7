"""Places that do not lie on the map: how many may be moved to its border, and which never."""

from __future__ import annotations

from enum import StrEnum

from voile.errors import InvalidInput
from voile.places.lengths import length_words

FEW = 10
"""So many, or a tenth of a part, may lie off the map before it looks like another city's."""


class Outside(StrEnum):
    """What happens to places off the map; farther than its `reach` they are always refused."""

    FEW = "few"  # moved to the border, unless more than a tenth are
    MOVE = "move"  # moved to the border, however many
    REFUSE = "refuse"  # not released


def refused(off: int, far: int, count: int, reach: float, rule: Outside) -> InvalidInput | None:
    """Why these places are refused as a whole, if they are; counts, never places."""
    if far:
        return InvalidInput(
            f"places must lie within {length_words(reach)} of the map's centre, and {far} of "
            f"{count} do not; are latitude and longitude swapped, or is it another city's "
            "mechanism?"
        )
    if off and rule == Outside.REFUSE:
        return InvalidInput(f"places must lie on the map, and {off} of {count} do not")
    return many_off(off, count) if rule == Outside.FEW else None


def many_off(off: int, count: int) -> InvalidInput | None:
    """Why these places are refused if only few may be moved to the border."""
    if off <= FEW or off <= count / 10:
        return None
    return InvalidInput(
        f"places must lie on the mechanism's map, and {off} of {count} in one part do not: each "
        "would be moved to the border; design a mechanism for the whole area (are --lat and --lon "
        "swapped?), or say that it is meant with outside='move' (--outside move)"
    )
