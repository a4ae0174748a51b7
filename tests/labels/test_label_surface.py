"""One surface: what Python returns is what the command prints, from a file or from a frame."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("sklearn")

from voile import labels
from voile.audit.finding import Verdict
from voile.cli.app import app
from voile.errors import InvalidInput
from voile.labels.audited import AuditedLabels, LeakageAtEpsilon
from voile.labels.compared import TradePoint
from voile.leakage.bounds import Interval
from voile.progress import heard_by
from voile.report.terminal import show

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

run = CliRunner()


def printed(*words: object) -> Any:
    done = run.invoke(app, ["labels", *map(str, words), "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.output)


# ── a command is its function ──────────────────────────────────────────────────────────────────


def test_an_audit_from_python_is_the_commands(patients: Path) -> None:
    found = labels.audit(patients, label="state", epsilon=(0.5, 2.0), seed=3, worst=2)
    words = ("audit", patients, "--label", "state", "--epsilon", "0.5,2", "--seed", 3, "--worst", 2)
    assert json.loads(json.dumps(found.to_dict())) == printed(*words)


def test_a_comparison_from_python_is_the_commands(patients: Path) -> None:
    asked = {"label_epsilon": (2.0,), "record_epsilon": (2.0,), "repeats": 2}
    found = labels.compare(patients, label="state", **asked)
    words = ("--label-epsilon", 2, "--record-epsilon", 2, "--repeats", 2)
    assert found.to_dict() == printed("compare", patients, "--label", "state", *words)


def test_a_recipe_from_python_is_the_commands(public: Path, tmp_path: Path) -> None:
    made = labels.recipe(public, label="state", out=tmp_path / "r.json", cells=5)
    text = (tmp_path / "r.json").read_text()
    words = ("--out", tmp_path / "r.json", "--cells", 5, "--overwrite")
    assert made.to_dict() == printed("recipe", public, "--label", "state", *words)
    assert (tmp_path / "r.json").read_text() == text


def test_a_release_from_python_is_the_commands(
    patients: Path, recipe: Path, tmp_path: Path
) -> None:
    asked = {"label": "state", "epsilon": 2.0, "recipe": recipe, "seed": 4}
    found = labels.protect(patients, out=str(tmp_path / "o.csv"), **asked).to_dict()
    drawn = (tmp_path / "o.csv").read_bytes()
    words = ("--epsilon", 2, "--recipe", recipe, "--seed", 4, "--overwrite")
    shown = printed("protect", patients, "--label", "state", "--out", tmp_path / "o.csv", *words)
    assert (tmp_path / "o.csv").read_bytes() == drawn
    of_this_run = ("seconds", "repeat")
    assert {k: v for k, v in found.items() if k not in of_this_run} == {
        k: v for k, v in shown.items() if k not in of_this_run
    }
    said = json.loads((tmp_path / "o.csv.guarantee.json").read_text())
    assert said == {k: v for k, v in shown.items() if k in said}


# ── frames ─────────────────────────────────────────────────────────────────────────────────────


def records(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    ill = rng.integers(2, size=300)
    return {
        "dose": rng.normal(size=300) + ill,
        "town": rng.choice(["north", "south"], size=300),
        "smokes": rng.random(300) < 0.5,
        "visits": rng.integers(5, size=300).astype("int16"),
        "state": ill,
    }


KINDS = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "arrow": lambda columns: pyarrow.table({n: pyarrow.array(v) for n, v in columns.items()}),
}


def schema_of(frame: Any) -> Any:
    return frame.dtypes.to_dict() if isinstance(frame, pandas.DataFrame) else frame.schema


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mechanism", ["rr", "cf", "ldp"])
def test_a_frame_comes_back_as_what_it_was(kind: str, mechanism: str, tmp_path: Path) -> None:
    public, private = KINDS[kind](records(1)), KINDS[kind](records(2))
    made = labels.recipe(public, label="state")
    release = labels.protect(
        private,
        label="state",
        epsilon=2,
        mechanism=mechanism,
        recipe=made,
        pass_="all" if mechanism == "rr" else (),
    )
    assert type(release.data) is type(private)
    assert schema_of(release.data) == schema_of(private)
    assert len(release.data) == release.records == 300
    assert set(np.asarray(release.data["state"]).tolist()) == {0, 1}
    assert (release.output, release.recipe, made.recipe) == (None, None, None)
    same = np.asarray(release.data["dose"]).tolist() == np.asarray(private["dose"]).tolist()
    assert same == (mechanism == "rr")


def test_an_index_is_kept_and_a_frame_is_not_changed() -> None:
    private = pandas.DataFrame(records(2))
    private.index = range(1000, 1300)
    before = private.copy()
    made = labels.recipe(pandas.DataFrame(records(1)), label="state")
    release = labels.protect(private, label="state", epsilon=2, recipe=made, drop=("town",))
    assert release.data.index.equals(private.index)
    assert list(release.data) == ["dose", "smokes", "visits", "state"]
    pandas.testing.assert_frame_equal(private, before)


def test_a_file_and_its_frame_give_the_same_figures(patients: Path) -> None:
    asked = {"label": "state", "epsilon": (1.0,), "seed": 2}
    frame = labels.audit(pandas.read_csv(patients), **asked).to_dict()
    file = labels.audit(patients, **asked).to_dict()
    assert frame["epsilons"] == file["epsilons"]
    assert [w["line"] + 1 for w in frame["worst_lines"]] == [w["line"] for w in file["worst_lines"]]


def test_what_memory_cannot_do_is_refused(patients: Path, tmp_path: Path) -> None:
    frame = pandas.read_csv(patients)
    classes = ("ill", "well")
    asked = {"label": "state", "epsilon": 1.0, "mechanism": "rr", "classes": classes}
    with pytest.raises(InvalidInput, match="data in memory comes back"):
        labels.protect(frame, **asked, pass_="all", out=str(tmp_path / "o.csv"))
    with pytest.raises(InvalidInput, match="--no-header must go with a CSV file"):
        labels.audit(frame, label="state", header=False)
    with pytest.raises(InvalidInput, match="got neither for weight"):
        labels.protect(frame, **asked)
    frame.loc[3, "state"] = "dead"
    with pytest.raises(InvalidInput, match=r"row 4: the label is none of the recipe's") as caught:
        labels.protect(frame, **asked, pass_="all")
    assert "dead" not in str(caught.value)
    frame.loc[3, "town"] = None
    with pytest.raises(InvalidInput, match="row 4: the value of 'town' is missing"):
        labels.audit(frame, label="state")
    assert list(tmp_path.iterdir()) == [patients]


def test_a_recipe_of_the_very_frame_is_not_public() -> None:
    frame = pandas.DataFrame(records(2))
    made = labels.recipe(frame, label="state", mechanism="ldp")
    asked = {"label": "state", "epsilon": 1.0, "mechanism": "ldp", "recipe": made}
    with pytest.raises(InvalidInput, match="was made from this very file"):
        labels.protect(frame, **asked)
    release = labels.protect(frame, **asked, learn_from_private=True)
    assert str(release).startswith("LEARNED FROM THE PRIVATE FILE")
    assert release.guarantee.basis == "claimed"


# ── what a result says of itself ───────────────────────────────────────────────────────────────


def test_a_result_is_short_in_a_console_and_whole_in_a_notebook(
    patients: Path, recipe: Path
) -> None:
    found = labels.audit(patients, label="state", epsilon=(1.0,))
    assert repr(found).startswith("AuditedLabels: At ε = 1 the label is guessed ")
    release = labels.protect(pandas.read_csv(patients), label="state", epsilon=2, recipe=recipe)
    assert repr(release).startswith("ProtectedLabels: 400 records released by label DP-CF")
    for result in (found, release):
        assert "\n" not in repr(result)
        assert len(repr(result)) < 400
    assert "by line" in str(found)  # for its owner's own screen …
    assert "by line" not in found._repr_html_()  # … and no page


def test_results_are_frames_where_they_are_tables(patients: Path) -> None:
    frame = labels.audit(patients, label="state", epsilon=(0.5, 2.0)).to_frame()
    assert frame["epsilon"].tolist() == [0.5, 2.0]
    assert set(frame["verdict"]) == {"violated"}
    asked = {"label_epsilon": (2.0,), "record_epsilon": (2.0,), "repeats": 2}
    found = labels.compare(patients, label="state", **asked)
    frame = found.to_frame()
    assert list(frame) == [field.name for field in fields(TradePoint)]
    assert frame["auc"].tolist() == [point.auc for point in found.points]


def audited(verdict: Verdict, *, strict: bool) -> AuditedLabels:
    share = Interval(0.6, 0.5, 0.7)
    point = LeakageAtEpsilon(1.0, 0.5, share, share, 0.6, share, 0.5, 0.6, 2.0, 1.5, verdict, 1e-3)
    return AuditedLabels(
        records=100, classes=2, guess=0.5, classifier="trees", log_loss={}, nats=0.1, auc=0.6,
        epsilons=(point,), features=(), by_class=(), worst_lines=(), warnings=(),
        notes=(), strict=strict,
    )  # fmt: skip


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("verdict", [Verdict.VIOLATED, Verdict.OPEN])
def test_only_a_strict_audit_fails_for_what_it_found(verdict: Verdict, strict: bool) -> None:
    found = audited(verdict, strict=strict)
    assert found.verdict is verdict
    assert found.violated == (strict and verdict is Verdict.VIOLATED)


def test_what_is_at_risk_is_said_first_in_red(patients: Path, tmp_path: Path) -> None:
    import io

    from rich.console import Console

    release = labels.protect(
        patients, label="state", epsilon=2, mechanism="ldp", learn_from_private=True,
        out=str(tmp_path / "o.csv"),
    )  # fmt: skip
    out = io.StringIO()
    show(release.report(), Console(file=out, force_terminal=True, color_system="standard"))
    assert out.getvalue().startswith("\x1b[1;31mLEARNED FROM THE PRIVATE FILE")
    page = release._repr_html_()
    assert page.index("LEARNED FROM THE PRIVATE FILE") < page.index("half-sure")
    assert str(tmp_path) not in page


def test_long_work_tells_how_far_it_is(patients: Path) -> None:
    heard: list[Any] = []
    with heard_by(heard.append):
        labels.audit(patients, label="state", epsilon=(1.0,))
    steps = {(step.what, step.total) for step in heard}
    assert {("fitting folds", 5), ("fitting features", 3)} <= steps
    heard.clear()
    with heard_by(heard.append):
        labels.compare(patients, label="state", label_epsilon=(1.0,), record_epsilon=(), repeats=2)
    assert ("comparing on splits", 2, 2) in {(s.what, s.done, s.total) for s in heard}


def test_a_former_name_gives_the_new_one(patients: Path) -> None:
    with pytest.raises(InvalidInput, match="`randomised-response` is now `rr`"):
        labels.protect(patients, label="state", epsilon=1, mechanism="randomised-response")


def test_a_file_without_a_header_goes_by_numbers(patients: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.csv"
    bare.write_text(patients.read_text().split("\n", 1)[1])
    named = labels.audit(patients, label="state", epsilon=(1.0,)).to_dict()
    found = labels.audit(bare, label="c4", epsilon=(1.0,), header=False).to_dict()
    assert found["epsilons"] == named["epsilons"]
    assert {share["name"] for share in found["features"]} == {"c1", "c2", "c3"}
    shown = printed("audit", bare, "--label", "c4", "--epsilon", 1, "--no-header")
    assert shown == json.loads(json.dumps(found))
