"""Equal strengths whose worst joint leakage is capped: a proof where tuning has an estimate."""

from __future__ import annotations

from collections.abc import Callable

from voile.adapt.ampl import Trial
from voile.errors import InvalidInput, require_epsilon
from voile.leakage.joint import JointBound
from voile.progress import about, tell

ROUNDS = 7


def capped(
    trial: Trial, *, cap: float, length: int, lowest: float = 0.01
) -> tuple[float, JointBound]:
    """The largest common strength found whose `joint` bound is at most `cap`, and that bound.

    Bisection; what is returned was itself bounded, so nothing rests on the bound's growing with
    the strength. Strengths are equal in all tiers: between tiers of different strengths a single
    release already tells more than any multiple of the distance.
    """
    require_epsilon(cap, "cap")
    at = _bounds(trial, length)
    bound = at(1.0)
    if bound.joint <= cap:
        return 1.0, bound
    low, best = lowest, at(lowest)
    if best.joint > cap:
        raise InvalidInput(
            f"cap must be at least {best.joint:.3g} for these texts, got {cap:g}: even strengths "
            f"of {lowest:g} allow that much; give a larger --cap, a smaller --epsilon, or fewer "
            "--words"
        )
    high = 1.0
    for _ in range(ROUNDS):
        middle = float(f"{(low * high) ** 0.5:.4g}")
        bound = at(middle)
        if bound.joint <= cap:
            low, best = middle, bound
        else:
            high = middle
    return low, best


def _bounds(trial: Trial, length: int) -> Callable[[float], JointBound]:
    def at(strength: float) -> JointBound:
        with about(f"strengths {strength:.3g}"):
            tell("bounding every release")
            return trial.joint((strength,) * (int(trial.secrets.levels.max()) + 1), length=length)

    return at
