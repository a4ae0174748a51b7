"""The methods of `voile places design`, by name."""

from __future__ import annotations

from voile.names import Family, Named

_HOME = "voile.optimise"

METHODS = Family(
    "method",
    (
        Named("best", home=f"{_HOME}.best:best"),
        Named("spline", home=f"{_HOME}.continuous:smooth_spline", former=("smooth-spline",)),
        Named("bilinear", home=f"{_HOME}.continuous:bilinear_cone", former=("bilinear-cone",)),
        Named("axis", home=f"{_HOME}.continuous:bilinear_axis", former=("bilinear-axis",)),
        Named(
            "laplace",
            "Laplace noise in cells, each released as its middle.",
            home=f"{_HOME}.laplace_remap:laplace_remap",
        ),
        Named("laplace-remap", home=f"{_HOME}.laplace_remap:laplace_remap"),
    ),
)
