"""Columns that a release leaves as they are: each must be passed or dropped by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from voile.errors import InvalidInput
from voile.files.column_names import THE_INDEX, usual
from voile.files.column_signs import sign_of
from voile.files.geojson import HEIGHT
from voile.files.rows import ColumnRows, Row, RowProblem
from voile.files.source import Source

ALL: Literal["all"] = "all"
Named = Sequence[str] | Literal["all"]
"""Columns by name, or all there are."""

SAMPLE = 1000
"""So many first rows are looked at."""


@dataclass(frozen=True)
class ColumnsInClear:
    """What happens to the columns that no mechanism changes; each was named by the user."""

    passed: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    passed_all: bool = False
    signs: Mapping[str, str] = field(default_factory=dict)
    """What each column looks like, empty for nothing that identifies."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """How all columns that were there may be called in a message."""

    def strangers(self, rows: Sequence[Row]) -> dict[int, RowProblem]:
        """Rows with a field that nobody named: a JSON record may have one of its own.

        All that pass are all that were looked at and listed: a later field is not among them.
        """
        if isinstance(rows, ColumnRows):
            return {}
        known = self.shown.keys()
        problem = RowProblem(
            f"it has a field that the first {SAMPLE:,} records lack; to release it in clear name "
            "every field that passes in --pass, this one too"
        )
        return {place: problem for place, row in enumerate(rows) if row.keys() - known}


def columns_in_clear(
    source: Source,
    *,
    changed: Sequence[str],
    passing: Named = (),
    dropping: Sequence[str] = (),
) -> ColumnsInClear:
    """Refuse a release until every column but the `changed` ones is passed or dropped by name.

    A mechanism protects what it changes, and a column beside it can undo all of that: an address
    of the person whose words were drawn. So nothing passes unless somebody said so, and what
    passed is part of the guarantee. `passing="all"` says it for every column that is not dropped.

    Columns are known from the file's header and its first 1,000 records, values of these are
    looked at for what identifies, and no message repeats one. A column of an unusual name
    goes by its number unless the user named it: a file without a header has a record there.
    A field that only later JSON records have passes if it is named, never because all do.
    An index that a filter left with gaps passes by itself, and is told as any other.
    """
    names, signs = _looked_at(source, {*changed, *dropping})
    labels = source.row_labels
    if labels is not None and labels.in_order and passing != ALL and labels.name not in dropping:
        passing = [*passing, labels.name]
    given = () if passing == ALL else passing
    if source.format == "jsonl":
        later = [name for name in dict.fromkeys(given) if name not in names]
        names, signs = [*names, *later], signs | {name: sign_of(name, []) for name in later}
    if "all" in dropping and "all" not in names:
        raise InvalidInput("--drop must name its columns, got all")
    _require_known("--pass", given, names, changed)
    _require_known("--drop", dropping, names, changed)
    both = set(dropping) & set(given)
    if both:
        raise InvalidInput(f"a column must be in --pass or in --drop, {len(both)} are in both")
    shown = _shown(source, names, {*dropping, *given})  # what the user typed is no secret
    others = [name for name in names if name not in changed]
    kept = [name for name in others if name not in dropping]
    unnamed = [] if passing == ALL else [name for name in kept if name not in given]
    if unnamed:
        raise _unnamed(source, unnamed, shown, signs)
    return ColumnsInClear(
        tuple(kept),
        tuple(name for name in others if name in dropping),
        passing == ALL and bool(kept),
        signs,
        shown,
    )


def _shown(source: Source, names: Sequence[str], said: Set[str]) -> dict[str, str]:
    """How each column may be called in a message: by its name, or by where its owner finds it."""
    shown = {
        name: name if usual(name) or name in said else source.place_of(name) or f"column {place}"
        for place, name in enumerate(names, 1)
    }
    index = {} if source.row_labels is None else {source.row_labels.name: THE_INDEX}
    return shown | index


def _unnamed(
    source: Source, names: Sequence[str], shown: Mapping[str, str], signs: Mapping[str, str]
) -> InvalidInput:
    """What is said of columns that were neither passed nor dropped."""
    notes = {name: f" (looks like {sign})" for name, sign in signs.items() if sign}
    if source.says_where is not None:
        notes[HEIGHT] = " (the z of the points)"
    index = None if source.row_labels is None else source.row_labels.name
    told = [name if name == index else shown[name] for name in names[:20]]
    listed = ", ".join(
        name + notes.get(own, "") for name, own in zip(told, names[:20], strict=True)
    )
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return InvalidInput(
        f"every column that is not protected must be named in --pass (it is released IN "
        f"CLEAR) or in --drop (it is left out), got neither for {listed}{more}; "
        "--pass all passes every one"
    )


def _looked_at(source: Source, out: Set[str]) -> tuple[list[str], dict[str, str]]:
    """The columns in order, and what each that is to stand in clear looks like in the first rows.

    Values of a column that is drawn or left out are not looked at.
    """
    rows = [row for _, row in islice(source.rows(), SAMPLE) if not isinstance(row, RowProblem)]
    names = list(dict.fromkeys([*source.columns, *(name for row in rows for name in row)]))
    names += [] if source.row_labels is None else [source.row_labels.name]
    return names, {
        name: "" if name in out else sign_of(name, [row.get(name) for row in rows])
        for name in names
    }


def _require_known(
    option: str, given: Sequence[str], names: Sequence[str], changed: Sequence[str]
) -> None:
    for name in given:
        if name in changed:
            raise InvalidInput(f"{option} must not name {name!r}: it is what is protected")
        if name not in names:
            raise InvalidInput(f"{option} must name columns of the file, it has no {name!r}")
