"""Which voile this is; the lowest room of all, so that every other may say it."""

__version__ = "0.1.0"
