"""Blur text, places and labels under a guarantee you can state, and measure what shows through.

A mechanism is a channel, its privacy a Lipschitz bound on log-probabilities, its leakage what an
attacker's beliefs do. Names below load on first use, so that ``import voile`` is immediate.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voile import audit, estimate, labels, ledger, mechanisms, metrics, places, text
    from voile.audit.finding import Finding, Verdict
    from voile.core.certificate import Certificate
    from voile.core.channel import Channel
    from voile.core.guarantee import Basis, Guarantee
    from voile.core.mechanism import ExactMechanism, Mechanism
    from voile.core.metric import Metric
    from voile.core.randomness import is_secure, secure_rng, seeded_rng
    from voile.core.space import Space
    from voile.errors import VoileError
    from voile.meaning import explain
    from voile.runs import check, run
    from voile.storage import load, save
    from voile.surface import schema

from voile.version import __version__ as __version__

_HOMES = {
    "check": "voile.runs",
    "explain": "voile.meaning",
    "run": "voile.runs",
    "schema": "voile.surface",
    "Basis": "voile.core.guarantee",
    "Certificate": "voile.core.certificate",
    "Channel": "voile.core.channel",
    "ExactMechanism": "voile.core.mechanism",
    "Finding": "voile.audit.finding",
    "Guarantee": "voile.core.guarantee",
    "Mechanism": "voile.core.mechanism",
    "Metric": "voile.core.metric",
    "Space": "voile.core.space",
    "Verdict": "voile.audit.finding",
    "VoileError": "voile.errors",
    "is_secure": "voile.core.randomness",
    "load": "voile.storage",
    "save": "voile.storage",
    "secure_rng": "voile.core.randomness",
    "seeded_rng": "voile.core.randomness",
}
_ROOMS = ("audit", "estimate", "labels", "ledger", "mechanisms", "metrics", "places", "text")

__all__ = [
    "Basis",
    "Certificate",
    "Channel",
    "ExactMechanism",
    "Finding",
    "Guarantee",
    "Mechanism",
    "Metric",
    "Space",
    "Verdict",
    "VoileError",
    "audit",
    "check",
    "estimate",
    "explain",
    "is_secure",
    "labels",
    "ledger",
    "load",
    "mechanisms",
    "metrics",
    "places",
    "run",
    "save",
    "schema",
    "secure_rng",
    "seeded_rng",
    "text",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"voile.{name}")
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'voile' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
