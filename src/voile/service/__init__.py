"""Protection at request time: the commands' own functions behind HTTP, and a gateway for prompts.

It holds no logic of its own. What a route does is what `voile text protect`, `places protect` or
`labels protect` would do to a file of the same records, by the same mechanism, guarantee and
ledger.
"""

from voile.exports import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
