"""Mechanisms that are solved for: least loss under a stated epsilon, repaired and certified."""

from voile.optimise.anchored import aipo, aipo_relaxed
from voile.optimise.best import best
from voile.optimise.block_solver import solve_blocks
from voile.optimise.constopt import constopt
from voile.optimise.continuous import bilinear_axis, bilinear_cone, smooth_spline
from voile.optimise.laplace_remap import laplace_remap
from voile.optimise.least_loss import least_loss, least_loss_spanner
from voile.optimise.lower_bounds import lower_bound, paper_bound
from voile.optimise.problem import Problem
from voile.optimise.smooth import SmoothMechanism
from voile.optimise.windows import window_descent

__all__ = [
    "Problem",
    "SmoothMechanism",
    "aipo",
    "aipo_relaxed",
    "best",
    "bilinear_axis",
    "bilinear_cone",
    "constopt",
    "laplace_remap",
    "least_loss",
    "least_loss_spanner",
    "lower_bound",
    "paper_bound",
    "smooth_spline",
    "solve_blocks",
    "window_descent",
]
