"""Distances between secrets: each has a unit, and says whether it is a true metric."""

from voile.exports import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
