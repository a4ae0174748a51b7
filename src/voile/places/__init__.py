"""Places: design a mechanism for a map, release with it, attack it, look at it.

>>> import voile
>>> town = voile.places.design(
...     box=(45.0, 5.0, 45.05, 5.05), cells="2x3", epsilon=0.8, method="laplace", bound=False,
... )
>>> released = town.release([(45.01, 5.02)])        # degrees in, degrees out
"""

from voile.exports import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
