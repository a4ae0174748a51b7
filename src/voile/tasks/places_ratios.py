"""The privacy loss of a design, neighbourhood by neighbourhood."""

from __future__ import annotations

import numpy as np

from voile.core.arrays import Floats
from voile.domains.places.design import PlacesDesign
from voile.tasks.places_audit import doubt, exponent, log_law, snapped

STEP = 0.01
"""Ten metres: close enough for a gradient, far above the resolution that places snap to."""


def local_ratios(design: PlacesDesign, *, cells: int = 600) -> Floats:
    """The largest |ln p_y(x) − ln p_y(x′)| / d(x, x′) around the middle of each cell of the map.

    x′ runs over eight directions, ten metres off; y over all outputs. Each value is the loss of
    real pairs, less what rounding may add to it where a law is proved and not certified, so none
    exceeds the claim unless the mechanism does.

    About `cells` cells, nearly square, a row of the answer for each row of cells from the south.
    Costs nine laws a cell.
    """
    low, high = design.box
    width, height = high - low
    columns = max(2, round(float(np.sqrt(cells * width / height))))
    rows = max(2, round(cells / columns))
    xs = low[0] + (np.arange(columns) + 0.5) * width / columns
    ys = low[1] + (np.arange(rows) + 0.5) * height / rows
    middles = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    centres = snapped(design, middles)
    before = log_law(design, centres)
    worst = np.zeros(len(centres))
    for angle in np.arange(8) * np.pi / 4:
        turned = STEP * np.array([np.cos(angle), np.sin(angle)])
        moved = snapped(design, centres + turned)
        apart = np.linalg.norm(moved - centres, exponent(design), axis=1)
        gap = np.abs(log_law(design, moved) - before).max(axis=1)
        gap = np.maximum(gap - doubt(design), 0.0)
        ratio = np.divide(gap, apart, out=np.zeros_like(gap), where=apart > 0)
        worst = np.maximum(worst, ratio)
    return np.asarray(worst.reshape(rows, columns))
