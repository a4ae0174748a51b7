"""The methods of `voile places design`, by name."""

from __future__ import annotations

from voile.names import Family, Named

_HOME = "voile.optimise"


def _named(name: str, home: str, basis: str, about: str = "", former: str = "") -> Named:
    where = f"{_HOME}.{home}"
    return Named(name, about, where, (former,) if former else (), metric="l_p", basis=basis)


METHODS = Family(
    "method",
    (
        _named("best", "best:best", "as the better one"),
        _named("spline", "continuous:smooth_spline", "certified", former="smooth-spline"),
        _named("bilinear", "continuous:bilinear_cone", "certified", former="bilinear-cone"),
        _named("axis", "continuous:bilinear_axis", "certified", former="bilinear-axis"),
        _named(
            "laplace",
            "laplace_remap:laplace_remap",
            "proved",
            "Laplace noise in cells, each released as its middle.",
        ),
        _named("region", "region_descent:region_descent", "certified"),
        _named("laplace-remap", "laplace_remap:laplace_remap", "proved"),
    ),
)
