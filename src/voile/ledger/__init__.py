"""A budget for each person: what was released about whom, added up, durable and tamper-evident.

The sum over a person's releases bounds what all of them together can tell about that person. The
ledger keeps it: charged before the release, once for each part of a job, under one lock for all
processes, by keyed hash instead of by name.
"""

from voile.exports import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
