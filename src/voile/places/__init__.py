"""Places: design a mechanism for a map, release with it, attack it, look at it.

>>> import voile
>>> town = voile.places.design(
...     box=(45.0, 5.0, 45.05, 5.05), cells="2x3", epsilon=0.8, method="laplace", bound=False,
...     against_aipo=False,
... )
>>> released = town.release([(45.01, 5.02)])        # degrees in, degrees out
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voile.places._audit import audit
    from voile.places._design import design
    from voile.places._export import export
    from voile.places._protect import protect
    from voile.places._show import show
    from voile.places.designs import PlacesDesign
    from voile.places.outside import Outside

_HOMES = {
    "Outside": "voile.places.outside",
    "PlacesDesign": "voile.places.designs",
    "audit": "voile.places._audit",
    "design": "voile.places._design",
    "export": "voile.places._export",
    "protect": "voile.places._protect",
    "show": "voile.places._show",
}

__all__ = ["Outside", "PlacesDesign", "audit", "design", "export", "protect", "show"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'voile.places' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
