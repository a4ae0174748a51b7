"""The adversary of `benchmarks/places_attack.py` on a little town: honest laws pass."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def adversary():
    root = Path(__file__).resolve().parents[2]
    found = importlib.util.spec_from_file_location(
        "places_attack", root / "benchmarks" / "places_attack.py"
    )
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["places_attack"] = module
    found.loader.exec_module(module)
    yield module
    del sys.modules["places_attack"]


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_no_pair_violates_a_method_that_claims_the_map(adversary, p):
    problem = adversary.town(columns=12, rows=9, cells=(4, 3))
    for subject in adversary.subjects(problem, 1.2, p, (6, 5)):
        found = adversary.attack(subject, pairs=120_000)
        assert found.violations == 0, subject.name
        assert found.pairs >= 120_000
        assert set(found.worst) == {*adversary.SHARES, "climbing"}


def test_every_liar_is_found(adversary):
    problem = adversary.town(columns=12, rows=9, cells=(4, 3))
    for subject in adversary.liars(problem, 1.2, (6, 5)):
        assert adversary.attack(subject, pairs=400_000).violations > 0, subject.name
