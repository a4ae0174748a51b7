"""Labelled tables: reading, encoding, cutting into cells, and the recipe that keeps it all.

The commands are functions of the same names:

    import voile

    found = voile.labels.audit(frame, label="diagnosis")
    made = voile.labels.recipe("public.csv", label="diagnosis")
    release = voile.labels.protect(frame, label="diagnosis", epsilon=2, recipe=made)
    found = voile.labels.estimate(release.data, guarantee=release)
    model = voile.labels.learn(release.data, guarantee=release)
    ways = voile.labels.compare(frame, label="diagnosis")
"""

from voile.exports import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
