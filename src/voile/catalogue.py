"""Which mechanisms there are: what each does, on which ground, and where it is chosen by name."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

from voile import mechanisms as folder
from voile.core.mechanism import Mechanism
from voile.labels.mechanisms import MECHANISMS as LABELS
from voile.names import Family, Named, named_after_files
from voile.options import use_case
from voile.places.method_names import METHODS
from voile.report.model import Report, Table
from voile.report.result import Result
from voile.rewriting.names import REWRITERS
from voile.text.laws import LAWS

FAMILIES: dict[str, tuple[Family, str]] = {
    "words": (LAWS, "text protect --mechanism, text compare --mechanisms"),
    "texts": (REWRITERS, "text compare --mechanisms"),
    "places": (METHODS, "places design --method"),
    "labels": (LABELS, "labels protect --mechanism"),
}
"""The families of mechanisms, and the options that take their names."""
GROUNDS = "certified: computed from the very integers that are drawn; proved: a theorem."
ANY_SPACE = "any space"
"""The family of what Python builds over a space of its own."""


@dataclass(frozen=True)
class Entry:
    """One mechanism: what it does, the metric of its first example, its basis, where it is used."""

    family: str
    name: str
    law: str
    granularity: str
    metric: str
    basis: str
    used: str
    exact: bool


@dataclass(frozen=True, repr=False, eq=False)
class Catalogue(Result):
    """All mechanisms, family by family."""

    mechanisms: tuple[Entry, ...]

    def _records(self) -> tuple[Entry, ...]:
        return self.mechanisms

    def _report(self) -> Report:
        """A table for each family."""
        families = dict.fromkeys(entry.family for entry in self.mechanisms)
        return Report(
            title="Mechanisms",
            answer=(
                f"{len(self.mechanisms)} mechanisms in {len(families)} families; each is given to "
                "its option by this name."
            ),
            tables=tuple(self._table(family) for family in families),
            notes=(GROUNDS,),
            terms=("epsilon",),
        )

    def _table(self, family: str) -> Table:
        entries = [entry for entry in self.mechanisms if entry.family == family]
        return Table(
            f"For {family}: {entries[0].used}",
            ("mechanism", "what it does", "distance", "guarantee"),
            tuple((e.name, e.law.rstrip("."), e.metric or None, e.basis or None) for e in entries),
        )


@use_case("mechanisms")
def mechanisms() -> Catalogue:
    """List the mechanisms: what each does, for what, on which ground.

    Example: `voile mechanisms --json`

    >>> mechanisms().mechanisms[0].name
    'tem'
    """
    return Catalogue((*_chosen_by_name(), *_built_in_python()))


def _chosen_by_name() -> Iterator[Entry]:
    for family, (table, used) in FAMILIES.items():
        for named in table.listed():
            yield _entry(family, named, used)


def _built_in_python() -> Iterator[Entry]:
    """Modules of the folder that no option names: what is chosen by name is listed there."""
    known = [named for table, _ in FAMILIES.values() for named in table.entries]
    for named in named_after_files("voile.mechanisms", folder.__all__, but=known):
        yield _entry(ANY_SPACE, named, "voile.mechanisms in Python")


def _entry(family: str, named: Named, used: str) -> Entry:
    example = _example(named)
    guarantee = None if example is None else example.guarantee
    return Entry(
        family=family,
        name=named.name,
        law=named.about or _first_line(named),
        granularity="" if guarantee is None else guarantee.granularity,
        metric=named.metric if guarantee is None else guarantee.metric.name,
        basis=named.basis if guarantee is None else str(guarantee.basis),
        used=used,
        exact=hasattr(example, "log_prob"),
    )


def _first_line(named: Named) -> str:
    return (inspect.getdoc(named.load()) or "").partition("\n")[0]


def _example(named: Named) -> Mechanism | None:
    """The first example of the module that it stands in; rewriters and solvers have none."""
    where, _, attribute = named.home.rpartition(":")
    if where != "voile.mechanisms":
        return None
    found: Mechanism = folder.module_of(attribute).examples()[0]
    return found
