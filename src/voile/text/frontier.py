"""The answer to "which one should I take?"."""

from __future__ import annotations

from voile.text.comparison import Cell, Comparison, or_endless
from voile.text.game import SHAPE


def recommend(
    comparison: Comparison, *, target: float | None = None, least_f1: float | None = None
) -> tuple[Cell | None, str]:
    """The most useful cell that no attack here showed above the target, and a sentence on it.

    "Not above" means that the upper end of every attack's interval stays below the target; a
    statement about these attacks, not a promise about all. Where no attack looked at what stands
    in clear, nothing is recommended: such attacks show little whatever the release gives away.
    """
    if SHAPE not in comparison.attacks:
        return None, (
            "nothing can be recommended on these attacks' word: the number of words, punctuation "
            "and case, which rewriters of words leave in clear, were not part of them; add "
            f"{SHAPE} to --attacks"
        )
    fit = [
        cell
        for cell in comparison.cells
        if (target is None or cell.most <= target)
        and (least_f1 is None or (cell.f1 is not None and cell.f1 >= least_f1))
    ]
    if fit:
        best = max(fit, key=lambda c: (c.f1 or 0.0, c.similarity or 0.0, -c.worst.middle))
        unit = f" for {best.granularity}" if best.granularity else ""
        use = f", F1 {best.f1:.3f}" if best.f1 is not None else ""
        return best, (
            f"{best.called}{unit}: no attack here "
            f"shows more than {_top(best)}{use}; others may, so treat it as the best of these, "
            "not as safe"
        )
    calm = min(comparison.cells, key=lambda cell: cell.most)
    useful = max(comparison.cells, key=lambda c: c.f1 or 0.0)
    return None, (
        "no mechanism and epsilon here meets this: the least distinguishable is "
        f"{calm.called} (up to {_top(calm)}{_f1(calm)}), the most useful {useful.called} (up to "
        f"{_top(useful)}{_f1(useful)}); try other epsilons or more trials"
    )


def _f1(cell: Cell) -> str:
    return f", F1 {cell.f1:.3f}" if cell.f1 is not None else ""


def _top(cell: Cell) -> str:
    return or_endless(cell.most)
