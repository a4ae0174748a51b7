"""The three commands on small files, as a user runs them."""

from __future__ import annotations

import csv
import json
import stat

import numpy as np
import pytest
from typer.testing import CliRunner

from label_files import write_rows

pytest.importorskip("sklearn")

from voile import labels
from voile.cli.app import app
from voile.errors import CannotWrite, InvalidInput
from voile.labels.draw import LabelReleaser

run = CliRunner()


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


LABEL_ALONE = {"mechanism": "rr", "classes": ("ill", "well"), "pass_": "all"}


@pytest.mark.parametrize("mechanism", ["rr", "prior", "cf", "ldp"])
def test_protect_writes_every_record_once(patients, recipe, tmp_path, mechanism):
    out = tmp_path / "out.csv"
    prior = (0.4, 0.6) if mechanism == "prior" else ()
    clear = mechanism in ("rr", "prior")
    done = labels.protect(
        patients, out=out, label="state", epsilon=1.0, mechanism=mechanism, prior=prior,
        recipe=recipe, pass_="all" if clear else (),
    )  # fmt: skip
    before, after = rows_of(patients), rows_of(out)
    assert len(after) == len(before) == done.records == 400
    assert list(after[0]) == list(before[0])
    assert {row["state"] for row in after} <= {"ill", "well"}
    same = [
        all(a[c] == b[c] for c in ("smokes", "town")) for a, b in zip(before, after, strict=True)
    ]
    assert all(same) == clear
    assert done.recipe == str(recipe)
    promised = json.loads((tmp_path / "out.csv.guarantee.json").read_text(encoding="utf-8"))
    assert promised["epsilon"] == {
        name: bound.epsilon if bound else None
        for name, bound in (
            ("label", done.protection.label),
            ("conditional", done.protection.conditional),
            ("local", done.protection.local),
        )
    }
    assert not list(tmp_path.glob("*.voile-job"))


def test_protect_refuses_to_draw_again_over_an_output(patients, tmp_path):
    out = tmp_path / "out.csv"
    labels.protect(patients, out=out, label="state", epsilon=1.0, **LABEL_ALONE)
    first = out.read_bytes()
    with pytest.raises(CannotWrite, match="exists already"):
        labels.protect(patients, out=out, label="state", epsilon=1.0, **LABEL_ALONE)
    assert out.read_bytes() == first


@pytest.mark.parametrize("overwrite", [False, True])
def test_an_interrupted_job_keeps_its_recipe_and_its_draws(
    patients, tmp_path, monkeypatch, overwrite
):
    """Killed and repeated word for word, also over an output: what was learned is not relearned."""
    out = tmp_path / "out.csv"
    asked = {"label": "state", "epsilon": 1.0, "mechanism": "cf", "learn_from_private": True,
             "batch_rows": 150}  # fmt: skip
    if overwrite:
        labels.protect(patients, out=out, **asked)
    before = out.read_bytes() if overwrite else None
    real, calls = LabelReleaser.plan, []

    def failing(self, batch):
        calls.append(batch.part)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(self, batch)

    monkeypatch.setattr(LabelReleaser, "plan", failing)
    with pytest.raises(KeyboardInterrupt):
        labels.protect(patients, out=out, **asked, overwrite=overwrite)
    assert (out.read_bytes() if out.exists() else None) == before
    beside = tmp_path / "out.csv.recipe.json"
    assert beside.exists() == overwrite, "what was learned is not seen before all is drawn"
    manifest = tmp_path / "out.csv.voile-job" / "manifest.json"
    recipe = json.loads(manifest.read_text())["settings"]["drafted"]
    assert stat.S_IMODE(manifest.parent.stat().st_mode) == 0o700
    part = next(tmp_path.glob("*.voile-job/*/part-00000000.[!j]*")).read_bytes()
    monkeypatch.setattr(LabelReleaser, "plan", real)
    with pytest.raises(CannotWrite, match="differs in cells"):
        labels.protect(patients, out=out, **asked, cells=4, overwrite=overwrite)
    done = labels.protect(patients, out=out, **asked, overwrite=overwrite)
    assert done.resumed_parts == 1
    assert beside.read_text() == recipe
    assert out.read_bytes().split(b"\n", 1)[1].startswith(part)


def test_a_kept_recipe_serves_later_records_and_refuses_strangers(recipe, tmp_path):
    later = write_rows(
        tmp_path / "later.csv",
        ["weight", "smokes", "town", "state"],
        [[500, "yes", "north", "ill"], [70, "no", "south", "well"]],
    )
    asked = {"label": "state", "epsilon": 1.0, "mechanism": "ldp", "recipe": recipe}
    done = labels.protect(later, out=tmp_path / "b.csv", **asked)
    assert done.records == 2
    assert done.protection.local is not None
    assert done.protection.local.outside == ()
    for bad, message in (
        ([70, "often", "north", "ill"], "'smokes' is missing or unknown"),
        ([70, "yes", "north", "dead"], "none of the recipe's classes"),
        ([70, "yes", "north", ""], "the label is missing"),
        (["heavy", "yes", "north", "ill"], "'weight' is no number"),
        ([70, "yes", "", "ill"], "'town' is missing or unknown"),
    ):
        write_rows(later, ["weight", "smokes", "town", "state"], [[70, "no", "west", "ill"], bad])
        for policy in ("fail", "skip"):  # leaving a record out would tell what it holds
            with pytest.raises(InvalidInput, match=f"line 3: .*{message}") as caught:
                labels.protect(later, out=tmp_path / "c.csv", **asked, on_error=policy)
            assert not any(str(cell) in str(caught.value) for cell in ("often", "dead", "heavy"))
            assert not (tmp_path / "c.csv").exists()


def test_seeds_repeat_and_are_stamped(patients, recipe, tmp_path):
    files = []
    for name in ("a.csv", "b.csv"):
        result = run.invoke(
            app,
            ["labels", "protect", str(patients), "--label", "state", "--epsilon", "1",
             "--mechanism", "cf", "--out", str(tmp_path / name), "--seed", "3",
             "--recipe", str(recipe)],
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        assert "SEEDED: NOT FOR RELEASE" in result.output
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]


def test_protect_speaks_of_its_bounds(patients, recipe, tmp_path):
    result = run.invoke(
        app,
        ["labels", "protect", str(patients), "--label", "state", "--epsilon", "2", "--json",
         "--out", str(tmp_path / "o.csv"), "--recipe", str(recipe)],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert found["mechanism"] == "label DP-CF"
    assert found["epsilon"]["conditional"] <= 2.0
    assert found["epsilon"]["label"] <= 1.0
    assert found["randomness"] == "secure"
    assert found["guarantee"]["basis"] == "statistical"
    assert found["guarantee"]["confidence"] == 0.999
    assert not found["learned_from_private"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epsilon", "0"], "epsilon must be"),
        (["--epsilon", "1", "--mechanism", "magic"], "mechanism must be one of"),
        (["--epsilon", "1", "--mechanism", "prior"], "must be given one"),
        (["--epsilon", "1", "--learn-from-private", "--label-share", "1"], "label_share must be"),
        (["--epsilon", "1", "--on-error", "ignore"], "Invalid value for '--on-error'"),
    ],
)
def test_protect_refuses_bad_settings_and_writes_nothing(patients, tmp_path, options, message):
    out = tmp_path / "no.csv"
    result = run.invoke(
        app, ["labels", "protect", str(patients), "--label", "state", "--out", str(out), *options]
    )
    assert result.exit_code
    assert message in f"{result.exception} {' '.join(result.output.split())}"
    assert not out.exists()
    assert not (tmp_path / "no.csv.recipe.json").exists()


def test_audit_of_a_file(patients):
    result = run.invoke(
        app, ["labels", "audit", str(patients), "--label", "state", "--epsilon", "0.5,2"]
    )
    assert result.exit_code == 0, result.output
    assert "Which features carry it" in result.output
    assert "weight" in result.output


def test_audit_as_json_lists_lines_and_no_values(patients):
    result = run.invoke(
        app,
        [
            "labels",
            "audit",
            str(patients),
            "--label",
            "state",
            "--epsilon",
            "1",
            "--json",
            "--strict",
        ],
    )
    assert result.exit_code == 1  # the features leak, and --strict was asked
    found = json.loads(result.output)
    point = found["epsilons"][0]
    assert point["verdict"] == "violated"
    assert point["total"]["lower"] <= point["total"]["value"] <= point["total"]["upper"]
    assert point["unexpected"]["value"] == pytest.approx(
        point["total"]["value"] - point["expected"]
    )
    assert [share["name"] for share in found["features"]][-1] == "town"
    assert all(2 <= entry["line"] <= 401 for entry in found["worst_lines"])


def test_audit_says_what_is_odd_about_a_file(tmp_path):
    rng = np.random.default_rng(3)
    state = rng.choice(["ill", "well"], size=200)
    rows = [[s.upper(), "same", i, rng.normal(), s] for i, s in enumerate(state)]
    rows = [[a, b, f"id{c}", d, e] for a, b, c, d, e in rows]
    path = write_rows(tmp_path / "odd.csv", ["copy", "flat", "id", "n", "state"], rows)
    found = labels.audit(path, label="state", epsilon=(1.0,), seed=1)
    text = " ".join(found.notes)
    assert "'copy' determines the label" in text
    assert "of no use to anybody: flat" in text
    assert "'id' is nearly unique" in text
    assert found.epsilons[0].total.value > 0.99
    assert found.features[0].name == "copy"


def test_a_file_of_constants_is_refused(tmp_path):
    path = write_rows(tmp_path / "f.csv", ["c", "y"], [["k", "p"], ["k", "q"]] * 20)
    with pytest.raises(InvalidInput, match="all are constant"):
        labels.audit(path, label="y", epsilon=(1.0,), seed=1)


def test_comparison_holds_its_caps(patients):
    found = labels.compare(
        patients,
        label="state",
        seed=1,
        label_epsilon=(4.0, 0.1),
        record_epsilon=(2.0,),
        repeats=2,
        draws=1,
    )
    names = {"label DP", "label DP-CF", "local DP", "sampled column", "central DP"}
    assert {p.mechanism for p in found.points} == names
    for point in found.points:
        assert 0 <= point.auc <= 1
        if point.cap is not None:  # 280 records: 5 standard errors of a share
            assert point.leakage <= point.cap + 5 * 0.5 / np.sqrt(280)
    best = max(p.auc for p in found.points if p.mechanism == "label DP")
    assert best > 0.8
    assert found.features_alone > found.guess


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("mechanism", "magic", "mechanism must be one of rr, prior, cf, ldp"),
        ("on_error", "ignore", "--on-error must be fail"),
    ],
)
def test_python_is_held_to_the_choices_of_the_command(patients, tmp_path, option, value, message):
    asked = {"label": "state", "epsilon": 1.0, "learn_from_private": True, option: value}
    with pytest.raises(InvalidInput, match=message):
        labels.protect(patients, out=tmp_path / "o.csv", **asked)
    assert list(tmp_path.iterdir()) == [patients]


def test_seeded_parts_do_not_repeat_each_other(tmp_path):
    rows = [[i % 2, "ill" if i % 3 else "well"] for i in range(6)] * 100
    path = write_rows(tmp_path / "t.csv", ["n", "y"], rows)
    labels.protect(path, out=tmp_path / "o.csv", label="y", epsilon=1.0, seed=1, batch_rows=300,
                   **LABEL_ALONE)  # fmt: skip
    answers = [row["y"] for row in rows_of(tmp_path / "o.csv")]
    assert answers[:300] != answers[300:]
