"""Which mechanisms there are, read off the folder they live in."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from importlib import import_module

from voile import mechanisms


@dataclass(frozen=True)
class Entry:
    """One mechanism: what it does, the metric of its first example, and its basis."""

    name: str
    law: str
    granularity: str
    metric: str
    basis: str
    exact: bool


def mechanism_names() -> list[str]:
    """The modules of the folder; one with a leading underscore is a part of others."""
    found = (module.name for module in pkgutil.iter_modules(mechanisms.__path__))
    return sorted(name for name in found if not name.startswith("_"))


def catalogue() -> list[Entry]:
    """Every mechanism, described by its own docstring and its own first example.

    >>> catalogue()[0].name
    'calibrated'
    """
    entries = []
    for name in mechanism_names():
        module = import_module(f"voile.mechanisms.{name}")
        example = module.examples()[0]
        guarantee = example.guarantee
        entries.append(
            Entry(
                name=name,
                law=(getattr(module, name).__doc__ or "").strip().splitlines()[0],
                granularity=guarantee.granularity,
                metric=guarantee.metric.name,
                basis=str(guarantee.basis),
                exact=hasattr(example, "log_prob"),
            )
        )
    return entries
