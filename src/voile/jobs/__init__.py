"""Releasing a whole file: batches in, parts on disk, one finished file out.

A release cannot be taken back, and releasing a record twice with fresh noise spends its budget
twice. So a job draws each part once, keeps it, and shows the output only when it is whole.
"""

from voile.exports import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
