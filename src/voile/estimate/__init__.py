"""What released data says about a population: shares, means, tables and maps with intervals.

    import voile

    channel = voile.mechanisms.randomised_response(["ill", "well"], epsilon=1.0)
    found = voile.estimate.unbiased_frequencies(channel, released)
    print(found[0])    # the share of the ill, and the interval that holds it

An estimate knows the channel that made the releases, and nothing else of the records.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voile.estimate.frequencies import (
        Frequencies,
        likeliest_frequencies,
        unbiased_frequencies,
        unbiased_mean,
    )
    from voile.estimate.intervals import Estimate, sample_size
    from voile.estimate.oracles import FrequencyOracle, supported_frequencies
    from voile.estimate.tables import TwoWay, two_way_counts, unbiased_table

_HOMES = {
    "Estimate": "intervals",
    "Frequencies": "frequencies",
    "FrequencyOracle": "oracles",
    "TwoWay": "tables",
    "likeliest_frequencies": "frequencies",
    "sample_size": "intervals",
    "supported_frequencies": "oracles",
    "two_way_counts": "tables",
    "unbiased_frequencies": "frequencies",
    "unbiased_mean": "frequencies",
    "unbiased_table": "tables",
}
"""Where each name is at home; it is imported when it is first asked for."""

__all__ = [
    "Estimate",
    "Frequencies",
    "FrequencyOracle",
    "TwoWay",
    "likeliest_frequencies",
    "sample_size",
    "supported_frequencies",
    "two_way_counts",
    "unbiased_frequencies",
    "unbiased_mean",
    "unbiased_table",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'voile.estimate' has no attribute {name!r}")
    value = getattr(import_module(f"voile.estimate.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
