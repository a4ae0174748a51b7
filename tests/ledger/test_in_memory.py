"""Data in memory is charged as a file is: in order, before the draw, and not at all if it fails."""

from __future__ import annotations

from dataclasses import replace

import pandas
import pytest

from releasers import Simple
from voile.errors import InvalidInput, OverBudget
from voile.jobs import (
    Charging,
    OnError,
    RowProblem,
    WhenSpent,
    open_source,
    release_in_memory,
    run_job,
)
from voile.jobs import charging as charging_module
from voile.ledger import Budget, Key, Kind, Ledger, verify

KIND = Kind("one location", "euclidean", "km")


@pytest.fixture
def charging(tmp_path):
    key = Key(bytes(range(32)))
    ledger = Ledger.create(str(tmp_path / "ledger.db"), key)
    ledger.agree(KIND, Budget(3.0))
    ledger.close()
    charging_module._opened.cache_clear()
    yield Charging(str(tmp_path / "ledger.db"), key, "user", WhenSpent.DROP)
    charging_module._opened.cache_clear()


def frame(users: str) -> pandas.DataFrame:
    """A row for each letter: its user; a blank for nobody, a capital for a missing value."""
    values = [None if user.isupper() else str(i) for i, user in enumerate(users)]
    return pandas.DataFrame({"value": values, "user": [u.lower().strip() for u in users]})


def noisy(batch):
    return {"value": [f"noisy {value}" for value in batch.column("value")]}


def missing(batch):
    bad = RowProblem("the value is missing")
    return {i: bad for i, value in enumerate(batch.column("value")) if not value}


def release(data, charging, **options):
    options = {"batch_rows": 2, **options}
    return release_in_memory(
        open_source(data), Simple(noisy, missing, seen="rows"), charging=charging, **options
    )


@pytest.mark.parametrize("policy", list(WhenSpent))
@pytest.mark.parametrize("on_error", ["skip", "mask"])
@pytest.mark.parametrize("users", ["aababaaab", "aaAaaa", "aa Bbb", "b"])
def test_a_file_and_a_frame_are_charged_alike(tmp_path, charging, policy, on_error, users) -> None:
    charging = replace(charging, when_spent=policy)
    data = frame(users)
    data.to_csv(tmp_path / "in.csv", index=False)

    releaser = Simple(noisy, missing, seen="rows")
    policies = {"on_error": OnError(on_error), "batch_rows": 2}
    refused, of_file = None, None
    try:
        of_file = run_job(
            open_source(tmp_path / "in.csv"), tmp_path / "out.csv", releaser,
            identity={}, charging=charging, **policies,
        )  # fmt: skip
    except OverBudget as found:
        refused = str(found)
    if refused is not None:
        with pytest.raises(OverBudget) as also:
            release(data, charging, **policies)
        assert str(also.value).split(": ", 1)[1] == refused.split(": ", 1)[1]
        assert str(also.value).startswith("row ")
        assert [charging.ledger.spent(p) for p in "ab"] == [0, 0]
        return
    spent = [charging.ledger.spent(p) for p in "ab"]
    others = frame(users.replace("a", "c").replace("b", "d").replace("A", "C").replace("B", "D"))
    made, report = release(others, charging, **policies)
    assert [charging.ledger.spent(p) for p in "cd"] == spent
    for name in ("rows", "skipped", "masked", "over_budget", "parts", "totals"):
        assert getattr(report, name) == getattr(of_file, name), name
    written = pandas.read_csv(tmp_path / "out.csv")
    assert list(written["value"].isna()) == list(made["value"].isna())
    assert list(written["value"].dropna()) == list(made["value"].dropna())
    assert not verify(charging.ledger).problems


def test_a_release_that_fails_or_is_stopped_is_refunded(charging) -> None:
    with pytest.raises(InvalidInput, match="row 5: the value is missing"):
        release(frame("aabbAa"), charging)
    assert charging.ledger.spent("a") == 0

    def stopped(batch):
        if batch.part == 1:
            raise KeyboardInterrupt
        return noisy(batch)

    with pytest.raises(KeyboardInterrupt):
        release_in_memory(
            open_source(frame("aabb")), Simple(stopped), charging=charging, batch_rows=2
        )
    assert charging.ledger.spent("a") == 0


def test_a_seed_draws_the_same_again_and_the_guarantee_is_told() -> None:
    class Random(Simple):
        def draw(self, planned, paid, rng):
            drawn = rng.integers(10**9, size=len(paid))
            return super().draw(planned, paid, rng).__class__({"value": drawn})

    def run(seed):
        return release_in_memory(
            open_source(frame("abab")), Random(noisy), batch_rows=3, seed=seed,
            guarantee=lambda report: {"rows": report.rows},
        )  # fmt: skip

    one, report = run(1)
    assert report.guarantee == {"rows": 4}
    assert one.equals(run(1)[0])
    assert not one.equals(run(None)[0])
