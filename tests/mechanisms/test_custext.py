"""Private within a group, open about the group."""

from __future__ import annotations

import math

import numpy as np
import pytest

import voile
from voile.mechanisms import custext
from voile.mechanisms._embedding import Embedding

pytest.importorskip("numba")


def cloud(size: int = 40, dimension: int = 4) -> Embedding:
    return Embedding.of(np.random.default_rng(size).normal(size=(size, dimension)))


def worst(mechanism: object, size: int) -> float:
    """The largest log-ratio per distance over pairs at a finite distance."""
    everything = np.arange(size)
    logs = mechanism.log_prob(everything, everything)  # type: ignore[attr-defined]
    distances = mechanism.space.distances()  # type: ignore[attr-defined]
    found = 0.0
    for x in everything:
        with np.errstate(invalid="ignore"):
            gaps = np.nan_to_num(np.abs(logs - logs[x]), nan=0.0, posinf=math.inf).max(axis=1)
        near = np.isfinite(distances[x]) & (distances[x] > 0)
        if near.any():
            found = max(found, float((gaps[near] / distances[x][near]).max()))
    return found


def test_custext_is_private_within_a_group_and_open_about_the_group() -> None:
    law = custext(cloud(), epsilon=2.0, size=7)
    assert sorted(law.members[law.members >= 0].tolist()) == list(range(40))
    assert (np.bincount(law.group) <= 7).all()
    assert 1.0 < worst(law, 40) <= 2.0
    released = law.release(np.arange(40), voile.secure_rng())
    assert (law.group[released] == law.group).all()
    assert any("groups" in note for note in law.guarantee.outside)
    whole = custext(cloud(), epsilon=2.0, size=40)
    assert whole.guarantee.outside == ()
