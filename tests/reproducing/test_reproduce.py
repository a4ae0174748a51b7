"""The papers run again: the list, the runs, what is kept, and the page that is made from them."""

import ast
import gzip
import json
import re
import subprocess
import sys
from dataclasses import replace
from importlib import import_module

import pytest
from typer.testing import CliRunner

import voile
from voile.errors import CannotWrite, InvalidInput
from voile.progress import heard_by
from voile.reproducing import _reproduce, theorems
from voile.reproducing.ampl import Bench
from voile.reproducing.ampl_documents import documents
from voile.reproducing.experiment import (
    ENDLESS,
    Claim,
    Found,
    Measured,
    Outcome,
    Work,
    above,
    mean_with_interval,
)
from voile.reproducing.page import page, read_outcomes
from voile.reproducing.papers import ENTRIES, PAPERS, entry
from voile.reproducing.teda_figures import rises

QUICK = [one.id for one in ENTRIES if one.small == "exact, a second"]


def outcome(*holds, size="small", id="uel-5.2"):
    claims = tuple(Claim(f"claim {n}", value) for n, value in enumerate(holds))
    return Outcome(id, size, "a setting", (Measured("x", 1.0, 0.5, 2.0, "3"),), claims, 4.0)


def test_every_entry_is_of_a_paper_and_runs_or_says_why_not(root):
    ids = [one.id for one in ENTRIES]
    assert len(set(ids)) == len(ids)
    for one in ENTRIES:
        assert one.paper in PAPERS
        assert bool(one.home) + bool(one.checked) + bool(one.instead) == 1, one.id
        if one.home:
            module, _, name = one.home.partition(":")
            assert callable(getattr(import_module(module), name))
            assert one.small, f"{one.id} must state its sizes and times"
            assert one.paper_size, f"{one.id} must state its sizes and times"
        for named in one.checked.split():
            file, _, test = named.partition("::")
            found = ast.parse((root / file).read_text(encoding="utf-8")).body
            assert test in {d.name for d in found if isinstance(d, ast.FunctionDef)}, named
        if one.more:
            assert (root / "benchmarks" / "results" / one.more).exists(), one.more


def test_no_figure_table_or_theorem_of_the_papers_is_left_out():
    """Counted in the papers: numbers that must stand among the items, by kind."""
    wanted = {
        "ampl": {"Figure": range(1, 10), "Table": range(1, 4), "Proposition": range(1, 6)},
        "teda": {"Figure": range(1, 12), "Table": range(1, 6)},
        "tem": {"Figure": range(1, 2), "Theorem": range(1, 4)},
        "uel": {"Figure": range(1, 3)},
        "aipo": {"Figure": range(1, 8), "Table": range(1, 4), "Theorem": range(1, 3),
                 "Proposition": range(1, 6)},
    }  # fmt: skip
    for paper, kinds in wanted.items():
        items = "; ".join(one.item for one in ENTRIES if one.paper == paper)
        for kind, numbers in kinds.items():
            found = set()
            for listed in re.findall(rf"{kind}s? ([\d ,and to]+)", items):
                for low, high in re.findall(r"(\d+)(?: to (\d+))?", listed):
                    found |= set(range(int(low), int(high or low) + 1))
            assert set(numbers) <= found, f"{paper}: {kind} {set(numbers) - found}"


def test_the_list_and_what_cannot_be_run():
    listed = voile.reproduce()
    assert [one.id for one in listed.listed] == [one.id for one in ENTRIES]
    assert voile.reproduce(("list",)).listed == listed.listed
    assert "can be run" in str(listed).replace("\n", " ")
    with pytest.raises(InvalidInput, match="did you mean teda-3"):
        voile.reproduce(("teda3",))
    with pytest.raises(InvalidInput, match="cannot be run here: needs the published paraphraser"):
        voile.reproduce(("teda-11",))
    with pytest.raises(InvalidInput, match="tests/core/test_lattice_laplace"):
        voile.reproduce(("tem-theorem-1",))
    with pytest.raises(InvalidInput, match="--data must name a folder"):
        voile.reproduce(("uel-5.2",), data="nowhere-at-all")


@pytest.mark.parametrize("id", [one.id for one in ENTRIES if one.runs])
@pytest.mark.parametrize("size", ["small", "paper"])
def test_every_entry_can_be_started(id, size, tmp_path, monkeypatch):
    """As far as its first cell, or a datum that is not there: what was moved is still called."""

    class Reached(Exception):
        pass

    def first(self, file, setting, compute):
        assert file.endswith(".jsonl")
        assert setting
        json.dumps(setting)
        assert callable(compute)
        raise Reached

    monkeypatch.setattr(Work, "cell", first)
    one = entry(id)
    if one.small == "exact, a second" or id in ("ampl-figure-4", "uel-1"):
        return  # run whole by the tests below
    try:
        found = _reproduce.run(one, size, None, None)
    except Reached:
        return
    except InvalidInput as problem:
        wanted = re.search(r"this needs [\w./]+ in the folder of --data", str(problem))
        if size == "paper" and wanted:
            return
        raise
    pytest.fail(f"{id} must go through cells, so that it can be resumed: {found}")


@pytest.mark.parametrize("id", QUICK)
def test_exact_entries_hold_but_the_one_that_is_false(id):
    found = voile.reproduce((id,)).outcomes[0]
    assert found.verdict == ("does not" if id == "uel-5.2" else "holds"), found.claims


def test_a_wrong_law_is_caught(monkeypatch):
    """Planted: Algorithm 2 with the sign of the printed proof."""
    right = theorems._algorithm_2
    monkeypatch.setattr(
        theorems, "_algorithm_2", lambda d, epsilon, gamma: right(d, epsilon, -gamma)
    )
    assert voile.reproduce(("tem-theorem-2",)).outcomes[0].verdict != "holds"


def test_a_run_is_written_resumed_and_private(tmp_path, monkeypatch):
    calls = []

    def experiment(work):
        rows = [work.cell("cells.jsonl", {"n": n}, lambda n=n: calls.append(n) or {"value": n})
                for n in range(3)]  # fmt: skip
        return Found("three cells", [Measured("sum", sum(r["value"] for r in rows))],
                     [Claim("it is three", sum(r["value"] for r in rows) == 3)])  # fmt: skip

    monkeypatch.setattr(theorems, "joint_reading", experiment)
    out = tmp_path / "out"
    heard = []
    with heard_by(heard.append):
        first = voile.reproduce(("ampl-example",), out=out)
    assert heard[0].what == "ampl-example, small: exact, a second", "sizes and time come first"
    assert calls == [0, 1, 2]
    cells = out / "small" / "cells.jsonl"
    cells.write_text("\n".join(cells.read_text().splitlines()[:-1]) + '\n{"n": 2, "val')
    voile.reproduce(("ampl-example",), out=out)
    assert calls == [0, 1, 2, 2], "the cell that was cut off is computed again, and no other"
    assert voile.reproduce(("ampl-example",), size="paper", out=out).outcomes[0].size == "paper"
    assert (out / "cells.jsonl").exists(), "larger cells lie apart"
    assert "three cells" in (out / "reproduced.html").read_text()
    written = out / "outcomes" / "ampl-example-small.json"
    assert Outcome.read(written) == first.outcomes[0]
    for path in (written, cells, out / "reproduced.html"):
        assert path.stat().st_mode & 0o077 == 0 or path.suffix == ".html"
    (tmp_path / "file").touch()
    with pytest.raises(CannotWrite):
        voile.reproduce(("ampl-example",), out=tmp_path / "file")


def test_the_command_says_the_same(tmp_path):
    from voile.cli.app import app

    done = CliRunner().invoke(app, ["reproduce", "uel-5.2", "uel-4.1", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout[done.stdout.index("{") :])["outcomes"]
    assert [one["id"] for one in found] == ["uel-5.2", "uel-4.1"]
    assert CliRunner().invoke(app, ["reproduce", "--size", "huge"]).exit_code == 2


def test_a_run_without_its_data_says_what_it_needs(tmp_path):
    with pytest.raises(InvalidInput, match=r"this needs imdb/train\.csv\.gz in the folder"):
        voile.reproduce(("tem-1",), size="paper", data=tmp_path)


def test_verdicts_follow_from_claims():
    assert outcome(True, True).verdict == "holds"
    assert outcome(True, None).verdict == "holds in part"
    assert outcome(True, False).verdict == "holds in part"
    assert outcome(False, None).verdict == "does not"
    assert outcome(None).verdict == outcome().verdict == "open"
    one, other = Measured("a", 2.0, 1.5, 2.5), Measured("b", 1.0, 0.5, 1.4)
    assert (above(one, other), above(other, one)) == (True, False)
    assert above(one, replace(other, upper=1.6)) is None
    assert mean_with_interval("x", [1.0]).lower is None
    assert str(Measured("x", ENDLESS)) == "∞"
    low, high = ({"lower": a, "upper": b} for a, b in ((0.0, 1.0), (2.0, 3.0)))
    assert rises([low, high]) is True
    assert rises([high, low]) is False
    assert rises([low, low]) is None


def test_places_are_tested_on_the_lattice_and_a_liar_is_caught():
    """The Laplace law is private between lattice places; one at twice its ε is not."""
    from voile.reproducing.aipo import city_problem, methods, violations

    problem = city_problem("synthetic, small", 0, "")
    law = methods(problem, (8, 6), 1.2, 2.0, 100)["EM"]()[0]
    twice = methods(problem, (8, 6), 2.4 * 2, 2.0, 100)["EM"]()[0]
    assert violations(law, problem, 1.2, 2.0, 0) == 0
    assert violations(twice, problem, 1.2, 2.0, 0) > 1


def test_claims_about_places_follow_from_the_cells():
    from voile.reproducing import aipo_tables

    rows = [{"city": "synthetic, small", "epsilon": e, "seed": 0, "method": name, "loss": loss,
             "violations": 0.0, "seconds": 1.0}
            for name, losses in (("EM", (4.0, 2.0)), ("AIPO", (3.0, 1.0)))
            for e, loss in zip((0.4, 1.2), losses, strict=True)]  # fmt: skip
    assert aipo_tables._ratios(rows, "EM") == [0.75, 0.5]
    assert not aipo_tables._flat(rows)
    assert "8×6 cells" in aipo_tables._where(rows)


def test_the_page_takes_the_larger_size_and_invents_nothing():
    made = page([outcome(True, id="tem-1"), outcome(False, size="paper", id="tem-1")])
    row = next(line for line in made.splitlines() if "`tem-1`" in line)
    assert "**does not**<br>✗ claim 0" in row
    assert "a setting (paper, 4 CPU s)" in row
    assert "x: 1.000 (0.500 – 2.000) / 3" in row
    other = next(line for line in made.splitlines() if "`teda-3`" in line)
    assert "| not run | `voile reproduce teda-3 --size paper --data DATA --out" in other
    cannot = next(line for line in made.splitlines() if "`teda-11`" in line)
    assert "cannot be run here: needs the published paraphraser" in cannot


def test_the_page_is_what_the_outcomes_make_and_every_name_in_it_exists(root):
    done = subprocess.run(
        [sys.executable, root / "scripts" / "reproductions", "--check"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    text = (root / "docs" / "reproductions.md").read_text(encoding="utf-8")
    for id in re.findall(r"`((?:ampl|teda|tem|uel|aipo)-[\w.-]+)`", text):
        assert entry(id)
    for id in re.findall(r"voile reproduce ([\w.-]+)", text):
        assert entry(id).runs
    for one in read_outcomes(root / "benchmarks" / "results" / "outcomes"):
        assert entry(one.id).runs
        assert one.size in ("small", "paper")
        assert one.claims


def test_small_runs_do_without_data():
    """On what scikit-learn carries and on made-up messages, which the setting says."""
    leaks, remapped = voile.reproduce(("uel-1", "ampl-figure-4")).outcomes
    assert leaks.claims[1].holds, "more where features and label are closer"
    assert remapped.claims[0].holds, "the remap lowers the loss"
    assert "made-up messages" in remapped.setting


@pytest.mark.parametrize("size", ["small", "paper"])
def test_a_network_of_the_learning_curve_reads_enough_to_be_checked(size, monkeypatch):
    from voile.reproducing import ampl, ampl_tables

    read = []

    def learned(bench, dataset, epsilon, method, attacker, count):
        read.append(count)
        return dict.fromkeys(("triples", "lower", "upper", "largest", "gain"), 0.0)

    monkeypatch.setattr(ampl.Bench, "learned", learned)
    monkeypatch.setattr(ampl.Bench, "judged", lambda *_: {"largest": 0.0})
    monkeypatch.setattr(ampl.Bench, "datasets", lambda bench: {ampl.MESSAGES: ampl.MESSAGES})
    ampl_tables.figure_9(Work(size, None))
    assert read == sorted(set(read))
    assert min(read) >= 30
    assert read[-1] == (ampl.SMALL if size == "small" else ampl.PAPER).search


def test_strengths_that_leak_alike_are_no_pairs_that_disagree(monkeypatch):
    from voile.reproducing import ampl, ampl_tables

    tried = [[1.0, 1.0, 0.0, 0.2], [0.5, 1.0, 0.0, 0.3]]
    monkeypatch.setattr(ampl.Bench, "chosen", lambda *_: {"tried": tried})
    monkeypatch.setattr(ampl.Bench, "datasets", lambda bench: {ampl.MESSAGES: ampl.MESSAGES})
    found = ampl_tables.figure_8(Work("small", None))
    assert [one.ours for one in found.measured] == [0.0, 0.0], "documents, and no share of pairs"
    assert found.claims[0].holds is None
    tried[1][2] = 0.1
    assert ampl_tables.figure_8(Work("small", None)).measured[-1].ours == 0.0


def test_there_are_messages_enough_for_all_four_halves(monkeypatch):
    from voile.reproducing import tem

    def run(bench, way, epsilon, seed):
        assert [len(texts) for texts, _ in bench.halves] == [bench.sizes.reviews] * 4
        return {"accuracy": 0.5, "auc": 0.5, "kept": 0.1}

    monkeypatch.setattr(tem.Bench, "run", run)
    monkeypatch.setattr(tem.Bench, "_read", lambda bench, texts, labels, count: (texts, labels))
    assert "1,000 texts a half" in tem.figure_1(Work("small", None)).setting


def test_a_game_and_a_model_on_made_up_messages():
    pytest.importorskip("torch")
    from voile.reproducing import tem
    from voile.reproducing.teda import MESSAGES, Bench, cell

    todo = cell("figure5", "tem", 8.0, data=MESSAGES, trials=80, pool=40, attack="overlap",
                **{"lambda": 0.0})  # fmt: skip
    row = Bench(None).run(todo)
    assert row["lower"] > 1, "at ε = 8 hardly a word changes"
    assert row["texts"] == 40
    found = tem.Bench(tem.Sizes(40, 20, 3000), None).run("TEM", 12.0, 0)
    assert found["kept"] > 0.9
    assert 0 <= found["accuracy"] <= 1


@pytest.mark.parametrize(
    ("madlib", "holds"), [(0.52, True), (0.595, None), (0.66, False)], ids=["ahead", "open", "not"]
)
def test_what_whole_reviews_say_of_tem(monkeypatch, tmp_path, madlib, holds) -> None:
    """Claims follow from intervals over the reviews tested on; the paper's numbers stand beside."""
    from voile.reproducing import tem, tem_whole

    told = {("TEM", 50): 0.60, ("TEM", 100): 0.64, ("Madlib", 50): madlib, ("Madlib", 100): 0.52}

    def run(bench, way, epsilon, seed):
        value = told.get((way, bench.sizes.dimensions), 0.83) if epsilon == 2.0 else 0.8
        return {"accuracy": value, "auc": 0.5, "kept": 0.1}

    monkeypatch.setattr(tem.Bench, "run", run)
    (tmp_path / "imdb").mkdir()
    (tmp_path / "imdb" / "train.csv.gz").touch()
    found = tem_whole.whole_reviews(Work("paper", tmp_path))
    assert [claim.holds for claim in found.claims] == [holds, True, False, True]
    measured = {one.what: one for one in found.measured}
    assert measured["100d, TEM at ε = 2: accuracy"].theirs == "0.75"
    assert measured["100d, TEM at ε = 2: accuracy"].lower > 0.62
    assert "12,500 whole texts a half" in found.setting
    small = tem_whole.whole_reviews(Work("small"))
    assert len(small.measured) == 3


def test_the_seconds_of_a_cell_are_counted_once(tmp_path):
    for work in (Work(folder=tmp_path), Work(folder=tmp_path)):  # made, then kept
        for _ in range(3):
            work.cell("cells.jsonl", {"kind": "one"}, lambda: {"seconds": 2.0})
        work.cell("cells.jsonl", {"kind": "other"}, lambda: {"seconds": 3.0})
        assert work.seconds == 5.0


def test_a_text_that_stands_in_two_files_is_one_document(tmp_path):
    """What strengths were chosen on must not be what they are judged on."""
    (tmp_path / "amazon").mkdir()
    for part in ("train", "test-labeled"):
        rows = [f"review number {n}\t1" for n in range(20)]
        text = "\n".join(["sentence\tlabel", *rows]) + "\n"
        (tmp_path / "amazon" / f"books-{part}.tsv.gz").write_bytes(gzip.compress(text.encode()))
    found = documents("amazon", tmp_path, 100, words=30)
    assert len(found) == len(set(found)) == 20


@pytest.mark.parametrize(("share", "tried", "chosen"), [(0.005, 1, 1.0), (0.04, 3, 0.75)])
def test_a_network_that_finds_little_leaves_nothing_to_adapt(monkeypatch, share, tried, chosen):
    pytest.importorskip("torch")

    class Stub:
        def evaluate(self, strengths):
            return (share if strengths == (1.0, 1.0) else 0.0), 1.0 - sum(strengths) / 4

    class OneWorld:
        def trial(self, epsilon, **how):
            assert how["attacker"] == "lstm"
            return Stub()

    bench = Bench(Work())
    monkeypatch.setattr(bench, "world", lambda dataset: OneWorld())
    row = bench.adapted("ag_news", 3.0, "lstm")
    assert len(row["tried"]) == tried
    assert min(row["strengths"]["AmPL"]) == chosen
    assert row["strengths"]["EM"] == [1.0, 1.0]
