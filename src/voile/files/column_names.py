"""What may be said of a file's columns: usual names, and how many others there are.

If a file has no line of names, its first record stands where they should, and a message that
lists "the columns" prints it. No rule of form tells a name from a value (`Alice, HIV, London`
could be a header), so a word of the file is printed only if it is on a public list of words that
columns are usually called by. Nothing outside that list can be shown, whatever the file holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from voile.errors import InvalidInput

_WORDS = """
account action activity address age altitude amount answer article attribute author average avg
balance birth birthdate block body brand bucket case category cell channel chat city class
client code column comment company condition content cost count country county created currency
customer data dataset date day degrees delta description destination device diagnosis direction
distance district document dose dropoff duration edge education ele elevation email employee end
epsilon eur event family feature feedback fid field file first flag from gender geo gid grade group
hash head header height hour hours id ids idx income index input item job join journey key kg
kind km km2 label language last lat latitude lbl length lengths level line link list lng loan
location lon long longitude mail max mean measure median member merchant message meters metres
min minute model month n name node note notes nr num number object occupation offer order
origin osmid outcome output owner page paragraph passenger patient payment pct person phone
pickup pid place point points population post postcode price prior probability problem product
profile provider purpose quantity query question quote race rank rate rating reason record ref
region release released reply report request response result revenue review route row salary
sample score seconds secret section seg segment sender sensitive sentence sequence service session
sex share size source speed split stage star stars start state status std step stop store
street subject sum summary survey symptom table tag target task team temperature test text
ticket time timestamp title to token topic total town trace track transaction transcript trip tweet
txt type u uid unit update updated url usd user username utterance uuid v value vehicle version
visit week weight width word words x y year z zip zone
"""
USUAL = frozenset(_WORDS.split())
"""Words that columns are called by, in public files of every kind. None is a person or a secret;
answers (yes, no, m, f), grades and blood groups are left out."""

THE_INDEX = "the index"
"""What a frame's index is called in a message that has no name, or none that may be shown."""

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d]+")
_BETWEEN = frozenset(["_", "-", ".", " ", "/"])
_SHOWN = 20


def usual(name: str) -> bool:
    """Whether a column's name is made of usual words and short numbers alone.

    >>> [usual(name) for name in ("user_id", "textBody", "x12", "Alice", "17", "HIV+")]
    [True, True, True, False, False, False]
    """
    parts = _PARTS.findall(name)
    words = [part for part in parts if part.isalpha()]
    numbers = [part for part in parts if part.isdigit()]
    return (
        len(name) <= 40
        and bool(words)
        and len(words) <= 4
        and all(word.lower() in USUAL for word in words)
        and len(numbers) <= 1
        and all(len(number) <= 3 for number in numbers)
        and parts[0].isalpha()
        and all(part in _BETWEEN for part in parts if not part.isalnum())
    )


def called(name: str) -> str:
    """One column in a message: by its name if that is a usual one.

    >>> called("text"), called("Alice has HIV")
    ("the column 'text'", 'a column of no usual name')
    """
    return f"the column {name!r}" if usual(name) else "a column of no usual name"


def listed(columns: Sequence[str]) -> str:
    """The columns of usual names, and how many others there are.

    >>> listed(["id", "text", "Alice"])
    'id, text and 1 more whose name is not a usual one'
    """
    known = [name for name in columns if usual(name)][:_SHOWN]
    others = len(columns) - len(known)
    if not others:
        return ", ".join(known)
    if not known:
        return f"{others} whose names are not usual ones" if others > 1 else "1 of no usual name"
    tail = "name is not a usual one" if others == 1 else "names are not usual ones"
    return f"{', '.join(known)} and {others} more whose {tail}"


def unnamed(count: int) -> list[str]:
    """What columns are called that have no names: in an array, in tuples, without a header."""
    return [f"c{number}" for number in range(1, count + 1)]


def no_such_column(
    wanted: str, columns: Sequence[str], *, what: str = "the column", do: str = ""
) -> InvalidInput:
    """The one sentence for a column that is not there, in a file or in memory.

    >>> print(no_such_column("body", ["id", "text"]))
    the column must be one of id, text; got 'body'
    >>> print(no_such_column("text", ["17", "Alice was diagnosed in March"]))
    the column must be one of 2 whose names are not usual ones; got 'text'; if they are a file's \
first record, put a line of names above the records
    >>> print(no_such_column("text", ["c1", "c2"]))
    the column must be one of c1, c2, which are called so for want of names; got 'text'
    """
    advice = f"; {do}" if do else ""
    if list(columns) == unnamed(len(columns)):
        called = f"{', '.join(columns[:_SHOWN])}, which are called so for want of names"
        return InvalidInput(f"{what} must be one of {called}; got {wanted!r}{advice}")
    if any(usual(name) for name in columns):
        return InvalidInput(f"{what} must be one of {listed(columns)}; got {wanted!r}{advice}")
    return InvalidInput(
        f"{what} must be one of {listed(columns)}; got {wanted!r}; {_doubt(columns)}"
    )


def _doubt(columns: Sequence[str]) -> str:
    """Why a first line may hold no names, as far as its signs tell."""
    first = columns[0].lstrip("\ufeff ") if columns else ""
    if first.startswith(("{", "[")):
        return "the first line looks like JSON: call the file .jsonl"
    signs = {";": "semicolons", "\t": "tabs", "|": "bars"}
    for sign, marks in signs.items():
        if len(columns) == 1 and sign in columns[0]:
            return f"the first line has {marks}, which do not part the other lines alike: mend them"
    return "if they are a file's first record, put a line of names above the records"
