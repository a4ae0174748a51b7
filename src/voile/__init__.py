"""Blur text, places and labels under a guarantee you can state, and measure what shows through.

A mechanism is a channel, its privacy a Lipschitz bound on log-probabilities, its leakage what an
attacker's beliefs do. Names below load on first use, so that ``import voile`` is immediate.
"""

from voile.exports import exported
from voile.version import __version__ as __version__

__getattr__, __dir__, __all__ = exported(__name__, __file__)
