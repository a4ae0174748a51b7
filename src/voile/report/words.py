"""Sentences that several reports share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from voile.files.column_names import THE_INDEX

TESTED = "What was tested"
OWN_FIGURES = (
    "This report itself: its figures were computed from the originals, and no ε covers them. "
    "Keep it with the data, or think before you hand it on."
)
ONE_ATTACKER = (
    "Stronger attackers: this is what these attacks found with the knowledge they were given. "
    "Another may find more."
)
COUNTS = (
    "How many records there are, and the other counts in this report: they were taken from the "
    "originals, and no ε covers them."
)
_GROUNDS = {
    "certified": (
        "The bound was computed from the very numbers that are drawn, over all cases, and it does "
        "not exceed the claim."
    ),
    "proved": (
        "The bound is a theorem about the mechanism, up to what the documentation's page of known "
        "limits leaves to trust."
    ),
    "statistical": (
        "The bound was computed from the very numbers that are drawn, for every law of the "
        "features that a sample supports; how often such a sample misleads is stated."
    ),
    "claimed": "The bound is taken on the mechanism's word; nothing here has checked it.",
}


def ground(basis: str, *, clear: bool = False) -> str:
    """What a guarantee's verdict rests on, after what leaves it open whatever the basis.

    >>> ground("claimed", clear=True)[:41]
    'Part of what is released stands in clear.'
    """
    return ("Part of what is released stands in clear. " if clear else "") + _GROUNDS[basis]


def sentence(text: str) -> str:
    """A listed item as a sentence of its own.

    >>> sentence("the length of a text")
    'The length of a text.'
    """
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def columns_in_clear(passed: Sequence[str], signs: Mapping[str, str]) -> str:
    """Which columns a release passed in clear, and what they look like; empty if none did.

    >>> columns_in_clear(["mail", "stars"], {"mail": "e-mail addresses"})
    'IN CLEAR: the columns mail (looks like e-mail addresses), stars.'
    >>> columns_in_clear(["stars", "the index"], {})
    'IN CLEAR: the column stars and the index.'
    """
    if not passed:
        return ""
    told = [name + (f" (looks like {signs[name]})" if name in signs else "") for name in passed]
    index = [name for name in told if name.startswith(THE_INDEX)]
    columns = [name for name in told if name not in index]
    many = "s" if len(columns) > 1 else ""
    named = [f"the column{many} {', '.join(columns)}"] if columns else []
    return f"IN CLEAR: {' and '.join([*named, *index])}."


def times_in_clear(times: Sequence[str]) -> str:
    """What times beside released places give away; empty if there are none.

    >>> times_in_clear(["pickup_time"])
    'Times IN CLEAR (pickup_time) narrow places down: who met a person then and there finds their rows.'
    """  # noqa: E501
    if not times:
        return ""
    return (
        f"Times IN CLEAR ({', '.join(times)}) narrow places down: who met a person then and there "
        "finds their rows."
    )


def counted(number: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "row"), counted(12_000, "row")
    ('1 row', '12,000 rows')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
