"""What lies in a released file, what is said of it, and what is refused."""

from __future__ import annotations

import csv
import json
from collections import Counter

import numpy as np
import pytest
from typer.testing import CliRunner

from label_files import write_rows

pytest.importorskip("sklearn")

from voile import labels
from voile.cli.app import app
from voile.errors import CannotWrite, InvalidInput

run = CliRunner()


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def facts_at(path):
    return json.loads(path.with_name(path.name + ".guarantee.json").read_text(encoding="utf-8"))


def protect(*words):
    return run.invoke(app, ["labels", "protect", *map(str, words), "--label", "state"])


# ── nothing that was said is ignored ───────────────────────────────────────────────────────────


@pytest.mark.parametrize("mechanism", ["rr", "cf", "ldp"])
def test_dropped_columns_are_not_in_the_file(patients, recipe, tmp_path, mechanism):
    out = tmp_path / "out.csv"
    passing = ("--pass", "weight,smokes") if mechanism == "rr" else ()
    shown = protect(patients, "--epsilon", 1, "--mechanism", mechanism, "--recipe", recipe,
                    "--drop", "town", "--out", out, *passing)  # fmt: skip
    assert shown.exit_code == 0, shown.exception
    assert out.read_text().splitlines()[0] == "weight,smokes,state"
    assert facts_at(out)["columns"]["dropped"] == ["town"]
    assert "Left out: the columns town." in shown.output


def test_a_dropped_column_stays_dropped_beside_an_old_recipe(patients, recipe, tmp_path):
    """A recipe that lies beside the output is not taken up unasked."""
    out = tmp_path / "out.csv"
    (tmp_path / "out.csv.recipe.json").write_bytes(recipe.read_bytes())
    asked = {"label": "state", "epsilon": 1.0, "mechanism": "ldp"}
    with pytest.raises(InvalidInput, match=r"one lies at out\.csv\.recipe\.json"):
        labels.protect(patients, out=out, **asked, drop=("town",))
    labels.protect(patients, out=out, **asked, drop=("town",), learn_from_private=True)
    assert set(rows_of(out)[0]) == {"weight", "smokes", "state"}
    assert "town" not in (tmp_path / "out.csv.recipe.json").read_text()


def test_the_persons_column_is_not_handed_on(patients, recipe, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [[f"user{i % 40}", *row.values()] for i, row in enumerate(rows_of(patients))]
    path = write_rows(tmp_path / "who.csv", ["user", "weight", "smokes", "town", "state"], rows)
    ledger = ["--ledger", "l.db", "--ledger-key", "l.db.key", "--person", "user"]
    assert run.invoke(app, ["ledger", "init", "l.db", "--budget", "100"]).exit_code == 0
    out = tmp_path / "out.csv"
    done = protect(path, "--epsilon", 1, "--mechanism", "ldp", "--recipe", recipe, "--out", out,
                   *ledger)  # fmt: skip
    assert done.exit_code == 0, done.exception
    assert "user" not in out.read_text()
    done = protect(path, "--epsilon", 1, "--mechanism", "ldp", "--recipe", recipe, "--overwrite",
                   "--pass", "user", "--out", out, *ledger)  # fmt: skip
    assert done.exit_code == 0, done.exception
    assert done.output.startswith("IN CLEAR: the column user")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--levels", "4"], "--levels must not stand beside --recipe, which fixes it"),
        (["--cells", "4"], "--cells must not stand beside --recipe"),
        (["--classes", "a,b"], "--classes must not stand beside --recipe"),
        (["--prior", ".5,.5"], "--prior must go with --mechanism prior"),
        (["--mechanism", "ldp", "--cells", "4"], "--cells must go with --mechanism cf"),
        (["--mechanism", "rr", "--levels", "4"], "--levels must go with --mechanism cf or"),
        (["--mechanism", "rr", "--label-share", ".4"], "rr and prior spend all of ε on the label"),
        (["--drop", "twon"], "it has no 'twon'"),
        (["--drop", "state"], "must not name 'state'"),
    ],
)
def test_options_that_a_recipe_overrules_are_refused(patients, recipe, tmp_path, words, message):
    done = protect(patients, "--epsilon", 1, "--recipe", recipe, "--out", tmp_path / "o.csv",
                   *words)  # fmt: skip
    assert isinstance(done.exception, InvalidInput)
    assert message in str(done.exception)
    assert not (tmp_path / "o.csv").exists()


@pytest.mark.parametrize("mechanism", ["cf", "ldp"])
def test_a_label_share_is_honoured_with_a_recipe(patients, recipe, tmp_path, mechanism):
    done = labels.protect(
        patients, out=tmp_path / "o.csv", label="state", epsilon=1.0, mechanism=mechanism,
        recipe=recipe, label_share=0.2,
    )  # fmt: skip
    assert done.protection.label.epsilon == pytest.approx(0.2, rel=1e-6)


def test_what_the_cells_do_not_need_goes_to_the_label(tmp_path):
    rng = np.random.default_rng(4)
    rows = [[round(rng.random(), 2), "pq"[i % 2]] for i in range(3000)]  # tells nothing
    path = write_rows(tmp_path / "n.csv", ["n", "y"], rows)
    labels.recipe(path, out=tmp_path / "r.json", label="y", cells=3)
    write_rows(path, ["n", "y"], rows[:50])
    done = labels.protect(path, out=tmp_path / "o.csv", label="y", epsilon=4.0, mechanism="cf",
                          recipe=tmp_path / "r.json")  # fmt: skip
    assert done.protection.kept > 0.999
    assert done.protection.label.epsilon > 2.5  # half of 4, and what is left over
    assert done.protection.conditional.epsilon <= 4.0


# ── ranges, names and classes are public ───────────────────────────────────────────────────────


def test_nothing_is_learned_from_the_private_file_unasked(patients, tmp_path):
    out = tmp_path / "o.csv"
    for mechanism, message in (
        ("cf", "ranges, categories and classes must be public"),
        ("ldp", "voile labels recipe PUBLIC.csv"),
        ("rr", "name them with --classes"),
    ):
        with pytest.raises(InvalidInput, match=message):
            labels.protect(patients, out=out, label="state", epsilon=1.0, mechanism=mechanism)
    assert list(tmp_path.iterdir()) == [patients]


def test_learning_from_the_private_file_is_said_in_red_and_claimed(patients, tmp_path):
    out = tmp_path / "o.csv"
    rows = [[*row.values()] for row in rows_of(patients)]
    rows[7][0], rows[7][2] = 987654321, "gnadenhutten"
    write_rows(patients, ["weight", "smokes", "town", "state"], rows)
    done = protect(patients, "--epsilon", 2, "--mechanism", "ldp", "--learn-from-private", "--out",
                   out, "--report", tmp_path / "r.html")  # fmt: skip
    assert done.exit_code == 0, done.exception
    assert done.output.startswith("LEARNED FROM THE PRIVATE FILE")
    assert "(claimed)" in done.output
    assert "certif" not in done.output
    text = out.read_text()
    assert "987654321" not in text
    assert "gnadenhutten" not in text
    facts = facts_at(out)
    assert (facts["guarantee"]["basis"], facts["learned_from_private"]) == ("claimed", True)
    assert "learned from the private file" in facts["guarantee"]["outside"][0]
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "LEARNED FROM THE PRIVATE FILE" in page


def test_a_recipe_of_the_file_itself_or_of_private_records_is_not_public(patients, tmp_path):
    labels.recipe(patients, out=tmp_path / "own.json", label="state", mechanism="ldp")
    asked = {"label": "state", "epsilon": 1.0, "mechanism": "ldp", "recipe": tmp_path / "own.json"}
    with pytest.raises(InvalidInput, match="was made from this very file"):
        labels.protect(patients, out=tmp_path / "o.csv", **asked)
    done = labels.protect(patients, out=tmp_path / "o.csv", **asked, learn_from_private=True)
    assert done.guarantee.basis == "claimed"
    body = json.loads((tmp_path / "own.json").read_text()) | {"learned": True, "made_from": ""}
    (tmp_path / "own.json").write_text(json.dumps(body))
    with pytest.raises(InvalidInput, match="was learned from private records"):
        labels.protect(patients, out=tmp_path / "p.csv", **asked)


def test_every_value_in_the_output_is_one_of_the_recipe(patients, recipe, tmp_path):
    rows = [[*row.values()] for row in rows_of(patients)]
    rows[7][0] = 987654321
    write_rows(patients, ["weight", "smokes", "town", "state"], rows)
    public = json.loads(recipe.read_text())
    for mechanism in ("cf", "ldp"):
        out = tmp_path / f"{mechanism}.csv"
        labels.protect(patients, out=out, label="state", epsilon=4.0, mechanism=mechanism,
                       recipe=recipe)  # fmt: skip
        for column in public["columns"]:
            shown = {row[column["name"]] for row in rows_of(out)}
            if "levels" in column:
                assert set(map(float, shown)) <= set(column["levels"])
            else:
                assert shown <= set(column["categories"])


def test_a_recipe_is_made_from_a_public_file(public, tmp_path):
    said = run.invoke(app, ["labels", "recipe", str(public), "--label", "state"])
    assert said.exit_code == 0, said.exception
    assert "400 records that you say are public" in said.output
    path = tmp_path / "public.csv.recipe.json"
    first = path.read_bytes()
    again = run.invoke(app, ["labels", "recipe", str(public), "--label", "state"])
    assert isinstance(again.exception, CannotWrite)
    done = run.invoke(
        app, ["labels", "recipe", str(public), "--label", "state", "--overwrite", "--json"]
    )
    assert json.loads(done.output)["cells"] == 13  # one for every thirty of 400 records
    assert path.read_bytes() == first  # the same file, the same recipe
    bad = run.invoke(app, ["labels", "recipe", str(public), "--label", "state", "--mechanism", "rr",
                           "--overwrite"])  # fmt: skip
    assert "mechanism must be cf, ldp or sample" in str(bad.exception)
    few = run.invoke(app, ["labels", "recipe", str(public), "--label", "state", "--overwrite",
                           "--classes", "ill,x"])  # fmt: skip
    assert "classes must be all that occur in the file" in str(few.exception)


# ── missing is a value ─────────────────────────────────────────────────────────────────────────


@pytest.fixture
def tested(tmp_path):
    """600 records of which a test is missing, mostly for the well; and as many public ones."""

    def write(name, seed):
        rng = np.random.default_rng(seed)
        rows = []
        for _ in range(600):
            ill = rng.random() < 0.5
            gone = rng.random() < (0.05 if ill else 0.9)
            result = "" if gone else round(float(rng.normal(5 + ill)), 1)
            kind = "" if rng.random() < 0.1 else rng.choice(["a", "b"])
            rows.append([result, kind, "ill" if ill else "well"])
        return write_rows(tmp_path / name, ["test", "kind", "state"], rows)

    return write("tested.csv", 1), write("others.csv", 2)


@pytest.mark.parametrize("mechanism", ["cf", "ldp"])
def test_a_missing_value_tells_no_more_than_epsilon_allows(tested, tmp_path, mechanism):
    """Whoever guesses "blank, so well" is right no more often than the claim says, by 6 σ."""
    private, others = tested
    epsilon, out = 0.5, tmp_path / "o.csv"
    labels.recipe(others, out=tmp_path / "r.json", label="state", mechanism=mechanism)
    labels.protect(private, out=out, label="state", epsilon=epsilon, mechanism=mechanism,
                   recipe=tmp_path / "r.json", on_error="mask", seed=5)  # fmt: skip
    before, after = rows_of(private), rows_of(out)
    assert len(after) == len(before) == 600
    assert all(row["state"] in ("ill", "well") for row in after)  # no row is blank
    blank = [old["state"] for old, new in zip(before, after, strict=True) if not new["test"]]
    well = Counter(blank)["well"]
    cap = np.exp(epsilon) / (1 + np.exp(epsilon))
    if blank:
        assert well <= cap * len(blank) + 6 * np.sqrt(len(blank) / 4)
    leaked = [old["state"] for old in before if not old["test"]]
    assert Counter(leaked)["well"] / len(leaked) > 0.9  # what a blank row would tell


def test_without_a_code_what_is_missing_is_taken_for_another_value(patients, recipe, tmp_path):
    rows = [[*row.values()] for row in rows_of(patients)]
    for i in range(0, 400, 2):
        rows[i][i % 3] = ""
    rows[9][2] = "atlantis"
    write_rows(patients, ["weight", "smokes", "town", "state"], rows)
    out = tmp_path / "o.csv"
    for policy in ("fail", "skip"):
        with pytest.raises(InvalidInput, match=r"line 2: .*no code for that") as caught:
            labels.protect(patients, out=out, label="state", epsilon=1.0, mechanism="ldp",
                           recipe=recipe, on_error=policy)  # fmt: skip
        assert "atlantis" not in str(caught.value)
    labels.protect(patients, out=out, label="state", epsilon=1.0, mechanism="ldp", recipe=recipe,
                   on_error="mask")  # fmt: skip
    after = rows_of(out)
    assert len(after) == 400
    assert all(all(row.values()) for row in after)
    facts = facts_at(out)
    assert facts["rows"] == {"released": 400, "skipped": 0, "masked": 0, "over_budget": 0}


def test_a_label_that_is_no_class_stops_the_job_or_is_one(patients, tmp_path):
    rows = [[*row.values()] for row in rows_of(patients)]
    rows[3][3] = ""
    write_rows(patients, ["weight", "smokes", "town", "state"], rows)
    asked = {"label": "state", "epsilon": 1.0, "mechanism": "rr", "pass_": "all"}
    for policy in ("fail", "skip", "mask"):
        with pytest.raises(InvalidInput, match=r"line 5: the label is missing; .*'\(missing\)'"):
            labels.protect(patients, out=tmp_path / "o.csv", **asked, classes=("ill", "well"),
                           on_error=policy)  # fmt: skip
    labels.protect(patients, out=tmp_path / "o.csv", **asked, classes=("ill", "well", "(missing)"))
    assert {row["state"] for row in rows_of(tmp_path / "o.csv")} == {"ill", "well", "(missing)"}


def test_broken_rows_are_counted_among_what_is_not_covered(patients, recipe, tmp_path):
    with patients.open("a") as file:
        file.write("70,yes\n")
    done = labels.protect(patients, out=tmp_path / "o.csv", label="state", epsilon=1.0,
                          mechanism="ldp", recipe=recipe, on_error="skip")  # fmt: skip
    assert done.rows.skipped == 1
    assert "1 rows could not be read" in " ".join(done.guarantee.outside)


def test_none_and_na_are_classes(tmp_path):
    rows = [[i, ("None", "NA", "some")[i % 3]] for i in range(90)]
    path = write_rows(tmp_path / "n.csv", ["n", "y"], rows)
    labels.recipe(path, out=tmp_path / "r.json", label="y", mechanism="ldp")
    assert json.loads((tmp_path / "r.json").read_text())["classes"] == ["NA", "None", "some"]
    labels.protect(path, out=tmp_path / "o.csv", label="y", epsilon=1.0, mechanism="rr",
                   classes=("None", "NA", "some"), pass_="all")  # fmt: skip
    assert {row["y"] for row in rows_of(tmp_path / "o.csv")} == {"None", "NA", "some"}


def test_features_that_say_nothing_leave_all_of_epsilon_to_the_label(tmp_path):
    path = write_rows(tmp_path / "k.csv", ["c", "y"], [["k", "pq"[i % 2]] for i in range(100)])
    done = labels.protect(path, out=tmp_path / "o.csv", label="y", epsilon=1.0, mechanism="cf",
                          learn_from_private=True)  # fmt: skip
    assert done.protection.label.epsilon == pytest.approx(1.0, abs=1e-5)
    assert {row["c"] for row in rows_of(tmp_path / "o.csv")} == {"k"}


# ── what passes, passes as it is, and is named ─────────────────────────────────────────────────


@pytest.mark.parametrize("asked", [("--pass", "all"), ("--drop", "weight,smokes,town")])
def test_classes_are_learned_whatever_becomes_of_the_features(patients, tmp_path, asked):
    out = tmp_path / "o.csv"
    done = protect(patients, "--epsilon", 1, "--mechanism", "rr", "--learn-from-private", *asked,
                   "--out", out)  # fmt: skip
    assert done.exit_code == 0, done.exception
    before, after = rows_of(patients), rows_of(out)
    assert {row["state"] for row in after} == {row["state"] for row in before}
    kept = [name for name in before[0] if asked[0] == "--pass" and name != "state"]
    assert set(after[0]) == {*kept, "state"}
    assert [[row[name] for name in kept] for row in after] == [
        [row[name] for name in kept] for row in before
    ]


def test_a_file_of_labels_alone_is_released(tmp_path):
    path = write_rows(tmp_path / "y.csv", ["y"], [["pq"[i % 2]] for i in range(60)])
    labels.protect(path, out=tmp_path / "o.csv", label="y", epsilon=1.0, mechanism="rr",
                   learn_from_private=True)  # fmt: skip
    assert {row["y"] for row in rows_of(tmp_path / "o.csv")} == {"p", "q"}
    with pytest.raises(InvalidInput, match="must have a feature beside the label"):
        labels.protect(path, out=tmp_path / "c.csv", label="y", epsilon=1.0, mechanism="cf",
                       learn_from_private=True)  # fmt: skip


@pytest.mark.parametrize("mechanism", ["rr", "prior"])
def test_features_pass_as_text(tmp_path, mechanism):
    odd = ["007", "4000123412341234", "0.12345678901234567", "1e3", " x ", "", "?", 'a "b", c', "ü"]
    rows = [[f"{cell}", i, "pq"[i % 2]] for i, cell in enumerate(odd * 3)]
    path = write_rows(tmp_path / "in.csv", ["code", "i", "y"], rows)
    labels.protect(path, out=tmp_path / "o.csv", label="y", epsilon=1.0, mechanism=mechanism,
                   classes=("p", "q"), prior=(0.5, 0.5) if mechanism == "prior" else (),
                   pass_="all")  # fmt: skip
    if mechanism == "rr":  # gaps are in the features alone, and they pass
        labels.protect(path, out=tmp_path / "p.csv", label="y", epsilon=1.0, mechanism="rr",
                       learn_from_private=True, pass_="all")  # fmt: skip
    before, after = rows_of(path), rows_of(tmp_path / "o.csv")
    assert [row["code"] for row in after] == [row["code"] for row in before]
    assert [row["i"] for row in after] == [row["i"] for row in before]


def test_columns_in_clear_are_named_first_and_recorded(patients, tmp_path):
    rows = [[f"p{i}@example.org", *row.values()] for i, row in enumerate(rows_of(patients))]
    path = write_rows(tmp_path / "in.csv", ["mail", "weight", "kind", "town", "state"], rows)
    words = [path, "--epsilon", 1, "--mechanism", "rr", "--classes", "ill,well", "--out",
             tmp_path / "o.csv"]  # fmt: skip
    refused = protect(*words)
    assert "mail (looks like e-mail addresses), weight" in str(refused.exception)
    assert "@" not in str(refused.exception)
    done = protect(*words, "--drop", "mail", "--pass", "all", "--report", tmp_path / "r.html")
    assert done.exit_code == 0, done.exception
    assert done.output.startswith("IN CLEAR: the columns weight, kind, town.")
    facts = facts_at(tmp_path / "o.csv")
    assert facts["columns"]["passed_in_clear"] == ["weight", "kind", "town"]
    assert facts["columns"]["passed_all"]
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "IN CLEAR: the columns weight, kind, town." in page
    assert "may give the label away" in page
    assert "one of 2 equally likely ones" in page  # as the file says it
    assert "one of 2 equally likely ones" in " ".join(facts["explanation"])
    assert "Verdict: holds" not in page


def test_columns_beside_the_recipe_must_be_named(patients, recipe, tmp_path):
    rows = [[i, *row.values()] for i, row in enumerate(rows_of(patients))]
    path = write_rows(tmp_path / "in.csv", ["row", "weight", "smokes", "town", "state"], rows)
    asked = {"label": "state", "epsilon": 1.0, "mechanism": "cf", "recipe": recipe}
    with pytest.raises(InvalidInput, match="got neither for row"):
        labels.protect(path, out=tmp_path / "o.csv", **asked)
    labels.protect(path, out=tmp_path / "o.csv", **asked, drop=("row",))
    assert "row" not in rows_of(tmp_path / "o.csv")[0]


@pytest.mark.parametrize("mechanism", ["cf", "ldp"])
def test_a_column_in_clear_leaves_only_the_bound_of_the_labels_noise(
    patients, recipe, tmp_path, mechanism
):
    rows = [[*row.values(), row["state"]] for row in rows_of(patients)]
    path = write_rows(tmp_path / "in.csv", ["weight", "smokes", "town", "state", "copy"], rows)
    words = (path, "--epsilon", 1, "--mechanism", mechanism, "--recipe", recipe)
    done = protect(*words, "--pass", "copy", "--out", tmp_path / "o.csv")
    assert done.exit_code == 0, done.exception
    assert done.output.count("not bounded") == 2
    facts = facts_at(tmp_path / "o.csv")
    epsilon = facts["epsilon"]
    assert epsilon["conditional"] is epsilon["local"] is None
    assert facts["guarantee"]["epsilon"] == epsilon["label"] < 1
    said = "IN CLEAR (copy): IT MAY GIVE THE LABEL AWAY"
    assert said in facts["guarantee"]["outside"][0]
    assert said in " ".join(" ".join(facts["explanation"]).split())
    protect(*words, "--drop", "copy", "--out", tmp_path / "d.csv")
    assert facts_at(tmp_path / "d.csv")["epsilon"]["conditional"] is not None


# ── the shape of what is released ──────────────────────────────────────────────────────────────


def test_the_shape_of_a_release_of_typical_records_is_announced(patients, recipe, tmp_path):
    out = tmp_path / "o.csv"
    done = protect(patients, "--epsilon", 4, "--recipe", recipe, "--out", out, "--seed", 1,
                   "--report", tmp_path / "r.html")  # fmt: skip
    shape = facts_at(out)["shape"]
    distinct = {tuple(row.values()) for row in rows_of(out)}
    assert len(distinct) <= shape["different_rows"] <= 2 * 13  # labels times cells
    said = f"The output holds at most {shape['different_rows']} different rows for 400 records"
    assert said in done.output
    assert said in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "a statistical certificate at 99.9 %" in done.output
    assert "(certified)" not in done.output
    assert "a statistical certificate at 99.9 %" in " ".join(facts_at(out)["explanation"])
    for name in ("weight", "smokes", "town"):
        varies = len({row[name] for row in rows_of(out)}) > 1
        assert varies == (name in shape["features_that_vary"])
    labels.protect(patients, out=tmp_path / "l.csv", label="state", epsilon=1.0, mechanism="ldp",
                   recipe=recipe)  # fmt: skip
    assert facts_at(tmp_path / "l.csv")["shape"] is None


def test_the_shape_leaves_out_columns_in_clear_and_dropped_ones(patients, recipe, tmp_path):
    rows = [[i, *row.values()] for i, row in enumerate(rows_of(patients))]
    path = write_rows(tmp_path / "in.csv", ["row", "weight", "smokes", "town", "state"], rows)
    words = (path, "--epsilon", 4, "--recipe", recipe, "--seed", 1)
    whole = protect(*words, "--drop", "row", "--out", tmp_path / "w.csv")
    assert "\nThe output holds at most" in "\n" + whole.output
    varying = facts_at(tmp_path / "w.csv")["shape"]["features_that_vary"]
    assert varying
    out = tmp_path / "o.csv"
    done = protect(*words, "--pass", "row", "--drop", ",".join(varying), "--out", out)
    assert done.exit_code == 0, done.exception
    assert "Apart from the columns in clear, the output holds at most 2 diff" in done.output
    assert "Features that vary: none" in " ".join(done.output.split())
    facts = facts_at(out)["shape"]
    assert facts == {"different_rows": 2, "typical_records": 1, "features_that_vary": []}


@pytest.mark.parametrize("epsilon", [100.5, 745, 1e300])
def test_an_epsilon_that_cells_cannot_be_solved_for_is_refused(patients, recipe, tmp_path, epsilon):
    done = protect(patients, "--epsilon", epsilon, "--recipe", recipe, "--out", tmp_path / "o.csv")
    assert isinstance(done.exception, InvalidInput)
    assert "epsilon must be at most 100" in str(done.exception)
    assert not (tmp_path / "o.csv").exists()


# ── other formats ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mechanism", ["rr", "cf", "ldp"])
def test_parquet_and_json_keep_their_types(patients, recipe, tmp_path, mechanism):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    rows = rows_of(patients)
    table = pyarrow.table(
        {
            "weight": [float(row["weight"]) for row in rows],
            "smokes": [row["smokes"] for row in rows],
            "town": [row["town"] for row in rows],
            "state": [row["state"] for row in rows],
        }
    )
    parquet.write_table(table, tmp_path / "in.parquet")
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(r) + "\n" for r in table.to_pylist()))
    for end in ("parquet", "jsonl"):
        out = tmp_path / f"out.{end}"
        labels.protect(
            tmp_path / f"in.{end}", out=out, label="state", epsilon=1.0, recipe=recipe,
            mechanism=mechanism, pass_="all" if mechanism == "rr" else (),
        )  # fmt: skip
        if end == "parquet":
            released = parquet.read_table(out)
            assert released.schema == table.schema
            weights = released["weight"].to_pylist()
        else:
            weights = [json.loads(line)["weight"] for line in out.read_text().splitlines()]
        assert len(weights) == 400
        assert all(isinstance(weight, int | float) for weight in weights)
        assert (weights == table["weight"].to_pylist()) == (mechanism == "rr")


def test_a_class_may_be_zero_or_false(tmp_path):
    records = [{"n": i / 7, "y": i % 2} for i in range(60)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    labels.recipe(tmp_path / "in.jsonl", out=tmp_path / "r.json", label="y", mechanism="ldp")
    assert json.loads((tmp_path / "r.json").read_text())["classes"] == ["0", "1"]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records[:50]))
    labels.protect(tmp_path / "in.jsonl", out=tmp_path / "o.jsonl", label="y", epsilon=1.0,
                   mechanism="ldp", recipe=tmp_path / "r.json")  # fmt: skip
    answers = [json.loads(line)["y"] for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert set(answers) == {0, 1}


@pytest.mark.parametrize("end", ["csv", "jsonl"])
@pytest.mark.parametrize("mechanism", ["cf", "ldp"])
def test_how_a_column_is_written_tells_nothing_of_a_private_record(
    patients, recipe, tmp_path, mechanism, end
):
    """Whole or not, number or text: a first record must not set the type of a whole column."""
    rows = [dict(row, weight=float(row["weight"])) for row in rows_of(patients)]
    released = []
    firsts = (37, 37.0, "37", None) if mechanism == "ldp" else (37, 37.0, "37")
    for place, weight in enumerate(firsts):  # cf has no code for None, and stops
        path, out = tmp_path / f"in{place}.jsonl", tmp_path / f"out{place}.{end}"
        first = {"weight": weight, **{k: v for k, v in rows[0].items() if k != "weight"}}
        path.write_text("".join(json.dumps(row) + "\n" for row in (first, *rows[1:])))
        labels.protect(path, out=out, label="state", epsilon=1.0, mechanism=mechanism,
                       recipe=recipe, on_error="mask", seed=3)  # fmt: skip
        released.append(out.read_text().splitlines()[2:])
    assert all(lines == released[0] for lines in released)


def test_a_file_without_a_line_of_names_is_not_quoted(tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text("39,State-gov,Ada Lovelace,ill\n" * 20)
    for command in ("protect", "audit", "recipe"):
        more = ["--epsilon", "1", "--classes", "a,b", "--mechanism", "rr"] * (command == "protect")
        done = run.invoke(app, ["labels", command, str(path), "--label", "state", *more])
        assert isinstance(done.exception, InvalidInput)
        assert "the label must be one of" in str(done.exception)
        assert not any(word in str(done.exception) for word in ("State-gov", "Ada", "39"))


def test_cells_are_solved_for_once_however_often_a_release_speaks_of_them(
    patients, recipe, tmp_path, monkeypatch
):
    from voile.mechanisms.labels import label_cf as module

    asked, solve = [], module.least_costly_cells
    monkeypatch.setattr(
        module, "least_costly_cells", lambda *a, **k: asked.append(1) or solve(*a, **k)
    )
    out = tmp_path / "r.csv"
    labels.protect(patients, out=out, label="state", epsilon=1.23, recipe=recipe, seed=1)
    labels.estimate(out, recipe=recipe)
    assert len(asked) == 1
