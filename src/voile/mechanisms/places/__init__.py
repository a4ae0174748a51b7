"""Noise in the plane; what `places design` solves for stands in voile.optimise."""
