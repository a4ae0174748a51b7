"""What released data says about a population: shares, means, tables and maps with intervals.

    import voile

    channel = voile.mechanisms.randomised_response(["ill", "well"], epsilon=1.0)
    found = voile.estimate.unbiased_frequencies(channel, released)
    print(found[0])    # the share of the ill, and the interval that holds it

An estimate knows the channel that made the releases, and nothing else of the records.
"""

from voile.exports import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
