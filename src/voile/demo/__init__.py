"""The use cases: what the command line calls, and nothing deeper."""
