"""What every use case returns: a typed value that knows its report.

Terminal, page and notebook show the same `Report`; JSON is the value itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from voile.audit.finding import Verdict
from voile.errors import InvalidInput, needs
from voile.options import Call
from voile.report.model import Report
from voile.report.provenance import digests_of, provenance_of

SILENT: Mapping[str, Any] = {"json": False}
"""The metadata of a field that JSON leaves out: a mechanism, an array, a reader's own data."""

IN_MEMORY = "data in memory"
"""Stands for a source that is no file: whoever reads its page is its owner alone."""


_OWNERS = ("_call", "_key", "_found", "sample")
"""What stays with the owner when a result travels."""


class Result:
    """The base of results: frozen dataclasses, declared with `repr=False, eq=False`.

    A subclass says what it found in `_report`; the rest follows. `releases` is true where
    something was drawn to be handed on.
    """

    releases: ClassVar[bool] = False
    _call: Call | None = None

    def noted(self, call: Call) -> None:
        """Keep the call that led here; the first one counts, a use case may call another."""
        if self._call is None:
            object.__setattr__(self, "_call", call)

    def __getstate__(self) -> dict[str, Any]:
        """What travels to another process: all but the call, whose arguments are its caller's."""
        return {name: value for name, value in vars(self).items() if name not in _OWNERS}

    def _report(self) -> Report:
        raise NotImplementedError

    def report(self, path: str | Path | None = None, *, charts: str | Path | None = None) -> Report:
        """What was found, as one report; written as a page and as pictures where that is asked."""
        from voile.report.page import write_report
        from voile.report.pictures import write_charts

        found = self._on_screen()
        digests, key = digests_of(self._call, self._outputs())
        found = replace(found, provenance=replace(found.provenance, digests=digests))
        private = self._sources()
        if charts is not None:
            write_charts(found.all_charts(), Path(charts), sources=private)
        if path is not None:
            write_report(found, path, sources=private)
            if key:
                object.__setattr__(self, "_key", key)
        return found

    def _on_screen(self) -> Report:
        """The report and how it came to be, for a screen: no file is read again to be hashed."""
        made = provenance_of(self._call, releases=self.releases)
        return replace(self._found, provenance=made)

    @cached_property
    def _found(self) -> Report:
        return self._report()

    def _sources(self) -> list[str | Path]:
        """Private files that a page must be no more readable than; memory has no readers at all."""
        if self._call is None:
            return []
        in_memory = self._call.in_memory()
        return [*self._call.files("private"), *([IN_MEMORY] if in_memory else [])]

    def _outputs(self) -> tuple[str | Path, ...]:
        """Files that this result was written to: public, since they are handed on."""
        return ()

    def _piped(self) -> str | None:
        """What a command prints in the place of the report, where the result is itself a text."""
        return None

    @property
    def hash_key(self) -> str:
        """The key of the private files' hashes in the page written last; it stands nowhere else."""
        return getattr(self, "_key", "")

    @property
    def violated(self) -> bool:
        """Whether a claim was found not to hold."""
        return self._found.verdict is Verdict.VIOLATED

    def to_dict(self) -> dict[str, Any]:
        """The value as JSON holds it; null stands for an infinity."""
        return {
            field.name: plain(getattr(self, field.name))
            for field in fields(self)  # type: ignore[arg-type]
            if field.metadata.get("json", True)
        }

    def _records(self) -> Iterable[Any]:
        """The rows of a result that is a table: values with the same fields."""
        raise InvalidInput(f"{type(self).__name__} is no table; to_dict() gives all that it holds")

    def to_frame(self) -> Any:
        """The rows of a result that is a table, as a pandas frame with a column for each field."""
        rows = [plain(record) for record in self._records()]
        with needs("pandas", extra="dev"):
            import pandas
        return pandas.DataFrame(rows)

    def __str__(self) -> str:
        from voile.report.terminal import as_text

        return as_text(self._on_screen())

    def __repr__(self) -> str:
        found = self._found
        answer = found.answer if len(found.answer) < 300 else found.answer[:297] + "…"
        return f"{type(self).__name__}: {answer}"

    def _repr_html_(self) -> str:
        from voile.report.page import embedded

        return embedded(self.report())


def plain(value: Any) -> Any:
    """A value as JSON holds it: dataclasses by field, null for what is no finite number.

    >>> plain({"upper": float("inf"), "bins": (1, 2.5)})
    {'upper': None, 'bins': [1, 2.5]}
    """
    if isinstance(value, Result):
        return value.to_dict()
    if hasattr(value, "to_dict") and not isinstance(value, type):
        return plain(value.to_dict())
    if is_dataclass(value) and not isinstance(value, type):
        shown = [field for field in fields(value) if field.metadata.get("json", True)]
        return {field.name: plain(getattr(value, field.name)) for field in shown}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner) for inner in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
