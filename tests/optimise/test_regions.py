"""Regions: a sparse table that is the dense law, certified, drawn exactly, improved by windows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

import voile
from voile.core.guarantee import Basis, Guarantee
from voile.errors import BadFile, GuaranteeBroken, InvalidInput
from voile.interrupts import best_so_far
from voile.metrics.lp_norms import lp
from voile.optimise import (
    _region_kernels,
    region,
    region_problem,
    region_start,
    region_windows,
)
from voile.optimise.certificate import certify_splines
from voile.optimise.region import RegionMechanism, region_from_record
from voile.optimise.region_descent import (
    expected_loss,
    integral,
    region_descent,
    region_grid,
)
from voile.optimise.region_problem import Apart, RegionProblem, Tabled, as_region
from voile.optimise.region_start import started
from voile.optimise.region_windows import Run, State, obeys, solved
from voile.optimise.smooth import SmoothMechanism

EPSILON = 0.5
HOW = {"epsilon": EPSILON, "cells": (20, 15), "side": 12}


@pytest.fixture(scope="module")
def begun(town):
    """A grid, the problem with the outputs used, and the rows that a descent begins with."""
    grid = region_grid(as_region(town), epsilon=EPSILON, cells=(20, 15), p=2.0)
    return grid, *started(as_region(town), grid, epsilon=EPSILON, p=2.0)


@pytest.fixture(scope="module")
def found(town):
    return region_descent(as_region(town), sweeps=1, **HOW)


def dense(mechanism: RegionMechanism) -> np.ndarray:
    """The coefficients (outputs, nodes) of a region, floor and all."""
    nodes = np.repeat(np.arange(mechanism.grid.size), np.diff(mechanism.rows))
    table = np.zeros((len(mechanism.outputs), mechanism.grid.size))
    firsts = mechanism.rows[:-1][np.diff(mechanism.rows) > 0]
    before = np.concatenate([[0], mechanism.sums[:-1]])
    before[firsts] = 0
    table[mechanism.listed, nodes] = (mechanism.sums - before) / 2.0**62
    return table + mechanism.shares[:, None] * (1 - table.sum(axis=0))


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_the_start_lies_in_the_cone_as_it_is(town, p):
    """Nothing is lifted, filled or mended: cutting the tails off costs no privacy."""
    grid = region_grid(as_region(town), epsilon=EPSILON, cells=(20, 15), p=p)
    some, rows = started(as_region(town), grid, epsilon=EPSILON, p=p)
    made = integral(rows, grid, some, epsilon=EPSILON, p=p, resolution=0.001, unit="km")
    assert 0.85 * EPSILON < made.certificate().epsilon < 0.95 * EPSILON
    assert rows.left.min() >= region_start.KAPPA
    assert rows.left.max() < 2.01 * region_start.KAPPA


def wide_start(size: float):
    """Places far apart: a grid, the outputs used, and the rows that a descent begins with."""
    places = np.random.default_rng(0).uniform(0, size, (400, 2))
    losses = Apart(places, places, "cityblock")
    wide = RegionProblem(places, np.ones(400), places, losses, (0.0, 0.0), (size, size))
    grid = region_grid(wide, epsilon=1.0, cells=(1, 1), p=2.0)
    return grid, *started(wide, grid, epsilon=1.0, p=2.0)


@pytest.fixture(scope="module")
def wide():
    """The problem of a wide region and what it begins with, as a mechanism."""
    grid, some, rows = wide_start(80.0)
    return some, integral(rows, grid, some, epsilon=1.0, p=2.0, resolution=0.001, unit="km")


def test_a_table_is_sparse_where_the_region_is_wide():
    """Rows list what lies near: their number does not grow with the region."""
    mean = []
    for size in (40.0, 80.0):
        grid, some, rows = wide_start(size)
        mean.append(len(rows.listed) / len(some.outputs) / grid.size)
    assert mean[1] < 0.45 * mean[0]


def test_the_loss_of_a_wide_region_needs_those_of_near_outputs_only(wide, monkeypatch):
    some, made = wide
    table = some.losses.between(np.arange(400), np.arange(len(some.outputs)))
    wanted = some.prior @ (made.probabilities(some.places) * table).sum(axis=1)
    asked, sorted_anew = [], []
    between, means = Apart.between, Apart.means

    def counted(losses, places, outputs):
        asked.append(len(places) * len(outputs))
        return between(losses, places, outputs)

    def noted(losses, places, shares):
        sorted_anew.append(len(places))
        return means(losses, places, shares)

    monkeypatch.setattr(Apart, "between", counted)
    monkeypatch.setattr(Apart, "means", noted)
    assert expected_loss(made, some) == pytest.approx(float(wanted), rel=1e-12)
    assert 0 < sum(asked) < 0.5 * table.size
    assert sorted_anew == [len(some.places)]


@pytest.mark.parametrize("metric", ["cityblock", "euclidean"])
def test_mean_losses_are_means_of_losses(metric, monkeypatch):
    rng = np.random.default_rng(1)
    places, outputs = rng.integers(0, 9, (50, 3)) / 2, rng.integers(0, 9, (20, 3)) / 2  # and ties
    shares, here = rng.dirichlet(np.ones(20)), rng.permutation(50)[:30]
    monkeypatch.setattr(region_problem, "PLACES", 7)
    losses = Apart(places, outputs, metric, 3.0)
    table = losses.between(np.arange(50), np.arange(20))
    assert losses.means(here, shares) == pytest.approx(table[here] @ shares, rel=1e-12)
    assert Tabled(table).means(here, shares) == pytest.approx(table[here] @ shares, rel=1e-12)


def test_a_certificate_gathers_some_outputs_at_a_time(wide, monkeypatch):
    """Else the table would be in memory a second time, and by output."""
    _, made = wide
    gathered, by_output = [], _region_kernels.by_output

    def counted(*args):
        found = by_output(*args)
        gathered.append(len(found[1]))
        return found

    monkeypatch.setattr(_region_kernels, "by_output", counted)
    monkeypatch.setattr(region, "AT_ONCE", 50)
    assert region.certified(made) == made.certificate()
    assert sum(gathered) == len(made.sums)
    assert max(gathered) < 0.3 * len(made.sums)


def test_entries_by_output_are_those_of_the_rows(wide):
    _, made = wide
    before = np.concatenate([[0], made.sums[:-1]])
    before[made.rows[:-1][np.diff(made.rows) > 0]] = 0
    wanted = csr_array((made.sums - before, made.listed, made.rows)).tocsc()
    begins, nodes, weights = _region_kernels.by_output(made.rows, made.listed, made.sums, 30, 90)
    part = slice(wanted.indptr[30], wanted.indptr[90])
    assert np.array_equal(begins, wanted.indptr[30:91] - part.start)
    assert np.array_equal(nodes, wanted.indices[part])
    assert np.array_equal(weights, wanted.data[part])


def test_descent_is_certified_and_falls_as_far_as_it_says(town, found, begun):
    grid, some, rows = begun
    first = integral(rows, grid, some, epsilon=EPSILON, p=2.0, resolution=0.001, unit="km")
    assert found.mechanism.certificate().epsilon <= EPSILON
    assert found.loss < 0.97 * found.began_at
    assert found.began_at == pytest.approx(expected_loss(first, some), rel=1e-9)
    assert found.windows == 4
    assert found.rejected <= 1
    table, loss = dense(found.mechanism), town.loss[:, np.isin(town.outputs, some.outputs).all(1)]
    index, weight = grid.basis(town.places)
    law = (table[:, index] * weight).sum(axis=2).T
    assert found.loss == pytest.approx(float(town.prior @ (law * loss).sum(axis=1)), rel=1e-9)


def test_it_is_the_dense_law(found):
    """The same coefficients as a dense mechanism: law to 1e-12, the same supremum."""
    made = found.mechanism
    table, places = (
        dense(made),
        np.random.default_rng(1).uniform(made.grid.low, made.grid.high, (50, 2)),
    )
    guarantee = Guarantee(EPSILON, lp(2.0, unit="km"), "one location", Basis.CERTIFIED)
    same = SmoothMechanism(made.grid, made.outputs, table, guarantee)
    ours, theirs = made.probabilities(places), same.probabilities(places)
    assert np.abs(ours - theirs).max() < 1e-12
    assert np.abs(np.log(ours / theirs)).max() < 1e-8
    assert np.abs(ours.sum(axis=1) - 1).max() < 1e-12
    other = certify_splines(made.grid, table, p=2.0, resolution=0.001, weight_bits=62, pieces=1)
    mine = made.certificate()
    assert mine.supremum == pytest.approx(other.supremum, rel=1e-9)
    assert mine.lower == pytest.approx(other.lower, rel=1e-9)
    assert 0 < mine.smallest <= other.smallest


def test_draws_follow_the_law(found):
    made, count = found.mechanism, 200_000
    place = np.array([[0.31, -0.77]])
    law = made.probabilities(place)[0]
    drawn = np.bincount(
        made.draw(np.repeat(place, count, 0), voile.seeded_rng(2)), minlength=len(law)
    )
    spread = np.sqrt(law * (1 - law) / count) + 1 / count
    assert np.abs(drawn / count - law).max() < 1e-2
    assert (np.abs(drawn / count - law) < 6.5 * spread).all()


def test_the_floor_is_drawn_by_its_shares(begun):
    """A region of nothing but floor: every output by the cells that are released as it."""
    grid, some, rows = begun
    empty = np.zeros(grid.size + 1, dtype=np.int64)
    guarantee = Guarantee(EPSILON, lp(2.0, unit="km"), "one location", Basis.CERTIFIED)
    made = RegionMechanism(
        grid, some.outputs, empty, np.zeros(0, np.int32), empty[:0], rows.floor, guarantee
    )
    assert made.probabilities(np.zeros((1, 2)))[0] == pytest.approx(rows.shares)
    assert made.certificate().supremum < 1e-9
    drawn = made.draw(np.zeros((100_000, 2)), voile.seeded_rng(3))
    share = np.bincount(drawn, minlength=len(some.outputs)) / 100_000
    assert np.abs(share - rows.shares).max() < 0.011


def solve_one(run, window):
    asked = run.asked(window, run.state.windows)
    run.take(asked, solved(None, asked))


def test_windows_of_one_colour_do_not_know_of_each_other(begun):
    grid, some, rows = begun
    run = Run(some, grid, State(rows), EPSILON, 2.0)
    for sweep in range(4):
        for colour in run.windows(5, sweep):
            blocks = [np.unique(run.numbers[run._block(window)[0]]) for window in colour]
            for one, window in enumerate(colour):
                mine = run.numbers[window].ravel()
                others = [block for other, block in enumerate(blocks) if other != one]
                assert not any(np.isin(mine, block).any() for block in others)


def test_the_windows_that_are_planned_are_those_that_are_solved(town, found):
    """Of shifted sweeps too, which have windows of their own: what is left is told by them."""
    assert found.windows == found.planned
    twice = region_descent(as_region(town), sweeps=2, **HOW)
    assert twice.windows == twice.planned > found.planned


def all_at_once(work, asked):
    """Every window of a colour asked for before the first answer, and answered backwards."""
    return reversed([work(None, one) for one in list(asked)[::-1]])


def test_a_colour_solved_at_once_is_a_colour_solved_in_turn(town, found, monkeypatch):
    again = region_descent(as_region(town), sweeps=1, spread=all_at_once, **HOW)
    assert np.array_equal(again.mechanism.sums, found.mechanism.sums)
    # planted: one colour for all, so that neighbours do not see each other's answers
    windows = Run.windows
    monkeypatch.setattr(
        Run, "windows", lambda *args: [[w for colour in windows(*args) for w in colour]]
    )
    with pytest.raises(GuaranteeBroken):
        region_descent(as_region(town), sweeps=1, spread=all_at_once, **HOW)


def test_a_window_leaves_the_floor_and_the_rest_as_they_are(begun):
    grid, some, rows = begun
    state = State(replace(rows, values=rows.values.copy()))
    run = Run(some, grid, state, EPSILON, 2.0)
    window = run.windows(12, 0)[0][0]
    solve_one(run, window)
    assert state.gained > 0
    assert np.abs(state.table.left - rows.left).max() < 1e-13
    nodes = np.repeat(np.arange(grid.size), np.diff(rows.rows))
    inside = np.isin(nodes, run.numbers[window])
    assert np.array_equal(state.table.values[~inside], rows.values[~inside])
    assert not np.array_equal(state.table.values[inside], rows.values[inside])


def test_what_breaks_a_constraint_is_not_taken(begun, monkeypatch):
    """The planted mistake, not looking, is caught by the certificate; looking rejects it."""
    grid, some, rows = begun
    solve = region_windows.solve_blocks

    def bold(*args, **how):
        answer = solve(*args, **how)
        first = how["around"].start
        return replace(answer, coefficients=first + 1.3 * (answer.coefficients - first))

    monkeypatch.setattr(region_windows, "solve_blocks", bold)

    def one(look):
        monkeypatch.setattr(region_windows, "obeys", look)
        state = State(replace(rows, values=rows.values.copy()))
        run = Run(some, grid, state, EPSILON, 2.0)
        solve_one(run, run.windows(12, 0)[0][0])
        return integral(
            state.table, grid, some, epsilon=EPSILON, p=2.0, resolution=0.001, unit="km"
        )

    assert one(obeys).certificate().epsilon <= EPSILON
    with pytest.raises(GuaranteeBroken):
        one(lambda *_: True)


def test_a_descent_that_was_cut_ends_where_it_would_have_ended(town, found):
    kept = []

    def keep(state):
        kept.append({**state.record(), "values": state.table.values.copy()})

    region_descent(as_region(town), sweeps=1, keep=keep, **HOW)
    again = region_descent(as_region(town), sweeps=1, kept=kept[1], **HOW)
    assert np.array_equal(again.mechanism.sums, found.mechanism.sums)
    assert again.windows == found.windows
    with pytest.raises(InvalidInput, match="numbers"):
        region_descent(as_region(town), sweeps=1, kept={**kept[1], "values": np.ones(3)}, **HOW)


def test_an_interrupt_keeps_the_state_of_that_moment(town):
    with best_so_far() as keeping:

        def keep(state):
            keeping.asked = state.windows == 2

        cut = region_descent(as_region(town), sweeps=2, keep=keep, **HOW)
    assert (cut.sweeps, cut.windows, cut.planned) == (0, 2, 10)
    assert cut.loss < cut.began_at
    assert cut.mechanism.certificate().epsilon <= EPSILON


def test_saved_and_loaded_it_is_the_same_and_as_sparse(found, tmp_path):
    path = voile.save(found.mechanism, tmp_path / "region.voile")
    again = voile.load(path)
    assert isinstance(again, RegionMechanism)
    assert again.certificate() == found.mechanism.certificate()
    assert np.array_equal(again.sums, found.mechanism.sums)
    assert not hasattr(again, "coefficients")


def test_tables_that_lie_are_refused(found):
    kind, meta, arrays = found.mechanism.to_record()
    sums, listed = arrays["sums"].copy(), arrays["listed"].copy()
    assert kind == "region mechanism"
    row = arrays["rows"][100]
    wrong = {
        "sums": [np.where(np.arange(len(sums)) == row, sums * 0 - 1, sums), sums[:-1], sums * 1.0],
        "listed": [listed[::-1].copy(), np.where(listed == 0, 10**6, listed), listed - 1],
        "rows": [arrays["rows"][:-1], arrays["rows"][::-1].copy(), arrays["rows"] + 1],
        "floor": [arrays["floor"] * 0, arrays["floor"][:-1], arrays["floor"] - 1],
    }
    for name, ways in wrong.items():
        for value in ways:
            with pytest.raises((BadFile, InvalidInput)):
                region_from_record(meta, {**arrays, name: value})
    with pytest.raises(BadFile):
        region_from_record({**meta, "p": "many"}, arrays)
    with pytest.raises(GuaranteeBroken):
        region_from_record({**meta, "epsilon": 0.9 * EPSILON}, arrays)
    steep = sums.copy()
    last = arrays["rows"][101] - 1
    steep[last] = max(steep[last - 1], steep[last] - 2**52)
    with pytest.raises(GuaranteeBroken):
        region_from_record(meta, {**arrays, "sums": steep})
    whole = sums.copy()
    whole[arrays["rows"][1:] - 1] = 2**62  # no row leaves anything for the floor
    with pytest.raises(GuaranteeBroken, match="got inf"):
        region_from_record(meta, {**arrays, "sums": whole})


def test_sizes_that_cannot_be_done_are_refused_with_the_estimate(town, monkeypatch):
    region = as_region(town)
    with pytest.raises(InvalidInput, match=r"cells, and at ε = 40"):
        region_descent(region, epsilon=40.0, cells=(20, 15))
    with pytest.raises(InvalidInput, match="1 or 2"):
        region_descent(region, epsilon=1.0, cells=(20, 15), p=np.inf)
    monkeypatch.setattr(region_start, "physical_memory", lambda: 2 * region_start.BYTES * 2000)
    with pytest.raises(InvalidInput, match=r"may have 0.002 million numbers \(4.8e-05 GB"):
        region_descent(region, **HOW)
    monkeypatch.setattr(region_start, "MOST_ENTRIES", 100)
    with pytest.raises(InvalidInput, match="fewer --cells"):
        region_descent(region, **HOW)


def test_a_size_that_is_far_too_large_is_refused_before_any_work(town, monkeypatch):
    monkeypatch.setattr(region_start, "physical_memory", lambda: region_start.BYTES * 1000)
    monkeypatch.setattr(region_start, "remapped", lambda *_, **__: pytest.fail("it began"))
    with pytest.raises(InvalidInput, match="million or more"):
        region_descent(as_region(town), **HOW)


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_the_estimate_is_about_what_the_table_has(town, epsilon):
    region = as_region(town)
    grid = region_grid(region, epsilon=epsilon, cells=(20, 15), p=2.0)
    some, rows = started(region, grid, epsilon=epsilon, p=2.0)
    tables = region_start.kernel(grid, epsilon=0.9 * epsilon, p=2.0)
    most = region_start.most_numbers(tables, grid, some.outputs)
    assert 0.7 * most < len(rows.listed) < 3 * most


def test_losses_in_pieces_are_the_losses(town, monkeypatch):
    region = as_region(town)
    grid = region_grid(region, epsilon=EPSILON, cells=(20, 15), p=2.0)
    whole = region_start.remapped(region, grid, epsilon=EPSILON)
    monkeypatch.setattr(region_start, "HELD", 7 * len(region.outputs))
    again = region_start.remapped(region, grid, epsilon=EPSILON)
    assert (whole == again).mean() > 0.99  # ties may fall otherwise


def test_losses_worked_out_are_losses_of_the_table(town):
    rng = np.random.default_rng(0)
    paths = rng.uniform(0, 9, (len(town.places), 5))
    losses = Apart(paths, paths[::7], "cityblock", 5.0)
    some, few = np.array([3, 9, 4]), np.array([1, 0])
    plain = np.abs(paths[some][:, None] - paths[::7][few][None]).mean(axis=2)
    assert losses.between(some, few) == pytest.approx(plain)
    assert losses.with_outputs(few).between(some, np.array([1])) == pytest.approx(plain[:, 1:])
    with pytest.raises(InvalidInput, match="reach"):
        Apart(np.full((2, 1), np.inf), paths, "cityblock")
