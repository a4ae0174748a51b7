"""Audits: a question put to a mechanism or a release, answered by a `Finding`."""

from voile.exports import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
