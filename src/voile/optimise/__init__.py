"""Mechanisms that are solved for: least loss under a stated epsilon, repaired and certified."""

from voile.optimise.anchored import aipo, aipo_relaxed
from voile.optimise.best import best
from voile.optimise.block_solver import solve_blocks
from voile.optimise.constopt import constopt
from voile.optimise.continuous import bilinear_axis, bilinear_cone, smooth_spline
from voile.optimise.laplace_remap import laplace_remap
from voile.optimise.least_loss import least_loss, least_loss_spanner
from voile.optimise.lower_bounds import paper_bound, partition_bound
from voile.optimise.problem import Problem
from voile.optimise.smooth import SmoothMechanism

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
    "paper_bound",
    "partition_bound",
    "smooth_spline",
    "solve_blocks",
]
