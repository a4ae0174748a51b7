"""Something breaks at every call that a job makes to the world; after the next run all is right.

Output complete and in order, each committed part as it was, rows released = rows charged, each
person once for what was released, the ledger whole, and nothing left behind but what
`docs/explanation/scaling.md` names. Every call of each job is broken here in one or two ways, which
change from call to call; `benchmarks/faults.py` breaks every call in every way.
"""

from __future__ import annotations

import pytest

from faults.breaking import WAYS
from faults.jobs import Case, made_case
from voile.jobs import Ray

ERRORS, DEATHS = WAYS[:3], WAYS[3:]

pytestmark = [  # the dead leave files open
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def break_everywhere(case: Case, *ways: tuple[str, ...]) -> int:
    """Break at every call, in the next of each sequence of ways; the number of points."""
    calls = case.calls()
    for at in range(1, calls + 1):
        for sequence in ways:
            case.break_and_resume(at, sequence[at % len(sequence)])
    return calls * len(ways)


@pytest.fixture
def made(tmp_path, monkeypatch, request):
    monkeypatch.setenv("VOILE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("VOILE_LEDGER_KEY", raising=False)

    def make(domain: str, store: str | None, output: str = "") -> Case:
        where = request.getfixturevalue("postgres") if store == "postgres" else store
        return made_case(tmp_path / "case", domain, where, output)

    return make


@pytest.mark.parametrize("store", [None, "sqlite"])
def test_every_call_of_a_job_fails_or_is_the_last(made, store, record_property):
    case = made("stub", store)
    points = break_everywhere(case, ERRORS, DEATHS)
    record_property("points", points)
    assert points >= (150 if store is None else 250)
    assert case.seen["died"] >= points // 3  # a few deaths come when all is done
    assert case.seen["CannotWrite"] >= points // 4


@pytest.mark.parametrize("store", [None, "sqlite"])
@pytest.mark.parametrize("domain", ["text", "places", "labels"])
def test_every_call_of_each_domain(made, domain, store, record_property):
    points = break_everywhere(made(domain, store), WAYS)
    record_property("points", points)
    assert points >= (60 if store is None else 90)


def test_every_call_to_a_server(made, record_property):
    case = made("stub", "postgres")
    points = break_everywhere(case, WAYS)
    record_property("points", points)
    assert points >= 100


def test_every_call_to_an_object_store(made, record_property):
    points = break_everywhere(made("stub", "sqlite", "memory://faults/out.csv"), WAYS)
    record_property("points", points)
    assert points >= 80


def test_a_driver_on_ray_at_some_calls(made, record_property):
    """A handful of points: what the driver does itself; the workers' deaths are in tests/jobs."""
    ray = pytest.importorskip("ray")
    case = made("places", "sqlite")
    case.engine = Ray(workers=1)
    # A cluster of its own: another test may have one at the same time.
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level=40)
    try:
        calls = case.calls()
        chosen = range(2, calls, max(1, calls // 6))
        for number, at in enumerate(chosen):
            case.break_and_resume(at, WAYS[number % len(WAYS)])
        record_property("points", len(chosen))
    finally:
        ray.shutdown()
    assert len(chosen) >= 5
