"""A release that stands in a repository: its recipe runs, and its thresholds are held."""

import json
import re
import stat
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba", reason="the text extra is not installed")

from in_process import voile
from voile import check, run
from voile.core.rounding import at_most
from voile.errors import BadFile, CannotWrite, InvalidInput
from voile.recipe import read_recipe, write_recipe
from voile.runs import Check, Checked

WORDS = ["the", "cat", "sat", "ann", "bob", "london", "hiv"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOILE_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(2)
    lines = [f"{w} " + " ".join(f"{x:.4f}" for x in 2 * rng.normal(size=4)) for w in WORDS]
    Path("words.txt").write_text("\n".join(lines) + "\n")
    Path("names.txt").write_text("ann\nbob\n")
    Path("in.csv").write_text('text,n\n"Ann sat, mail ann@example.org",1\n"Bob has HIV",2\n')
    return tmp_path


ASKED = ("text", "protect", "in.csv", "--epsilon", "2", "--vocabulary", "words.txt")


def made(*more: str) -> Path:
    code, _, err = voile(*ASKED, "--pass", "n", *more, "--save-recipe", "r.toml")
    assert code == 0, err
    return Path("r.toml")


def with_checks(**checks: float) -> Path:
    path = Path("r.toml")
    kept = path.read_text().partition("\n[checks]")[0]
    lines = "".join(f"{name} = {value}\n" for name, value in checks.items())
    path.write_text(f"{kept}\n[checks]\n{lines}")
    return path


def test_a_saved_recipe_runs_again_and_does_the_same(folder):
    recipe = made("--seed", "7")
    first = Path("in.protected.csv").read_text()
    guarantee = json.loads(Path("in.protected.csv.guarantee.json").read_text())
    with pytest.raises(CannotWrite, match="exists already"):
        run(recipe)
    Path("in.protected.csv").unlink()
    done = run(recipe)
    assert Path("in.protected.csv").read_text() == first
    assert done.guarantee_file() == guarantee
    assert stat.S_IMODE(recipe.stat().st_mode) == 0o600
    assert read_recipe(recipe).options["pass_"] == ["n"]


@pytest.mark.parametrize(
    ("name", "more", "said"),
    [
        ("in.csv", (), "--save-recipe must name a .toml file, got 'in.csv'"),
        ("out.toml", ("--out", "out.toml"), "a file of its own, and out.toml is one"),
        ("other.toml", (), "exists already; name another file"),
        ("other.toml", ("--overwrite",), "replaces recipes only, and other.toml is none"),
        ("kept.toml", ("--overwrite",), "thresholds under .checks., which would be lost"),
        ("folder.toml", (), "folder.toml is a folder"),
        ("nowhere/r.toml", (), "cannot write nowhere/r.toml: No such file"),
    ],
)
def test_a_recipe_takes_nobodys_place_and_is_refused_before_anything_is_done(
    folder, name, more, said
):
    Path("other.toml").write_text("[tool]\nmine = 1\n")
    Path("kept.toml").write_text("voile = 1\ncommand = 'explain'\n[checks]\nepsilon = 1\n")
    Path("folder.toml").mkdir()
    before = {path: path.is_dir() or path.read_bytes() for path in folder.iterdir()}
    code, _, err = voile(*ASKED, "--pass", "n", *more, "--save-recipe", name)
    assert code == 2
    assert re.search(said, err), err
    assert {path: path.is_dir() or path.read_bytes() for path in folder.iterdir()} == before


def test_a_recipe_is_written_once_its_command_succeeded_and_replaced_if_asked(folder):
    code, _, err = voile(*ASKED, "--save-recipe", "r.toml")
    assert (code, "n" in err, Path("r.toml").exists()) == (2, True, False)
    made()
    Path("in.protected.csv").unlink()
    assert "r.toml exists already" in voile(*ASKED, "--pass", "n", "--save-recipe", "r.toml")[2]
    made("--overwrite")
    assert read_recipe("r.toml").options["overwrite"] is True


def test_a_recipe_is_not_written_over_what_its_command_reads(folder):
    Path("in.csv").rename("in.toml")
    data = Path("in.toml").read_bytes()
    code, _, err = voile("text", "protect", "in.toml", "--overwrite", "--save-recipe", "./in.toml")
    assert (code, "in.toml is one that this command reads or writes" in err) == (2, True)
    assert Path("in.toml").read_bytes() == data


def test_what_runs_a_recipe_has_none_to_save():
    for name in ("run", "check"):
        assert "Write these options as" not in voile(name, "--help")[1]
        assert "No such option" in voile(name, "r.toml", "--save-recipe", "s.toml")[2]
    assert "Write these options as" in voile("explain", "--help")[1]


def test_thresholds_that_are_kept_and_missed(folder):
    made()
    kept = check(with_checks(epsilon=2, columns_in_clear=1, identifiers_left=0, rows_lost=0))
    assert not kept.violated
    missed = check(with_checks(epsilon=1.9, columns_in_clear=0, identifiers_left=0))
    assert [one.name for one in missed.checks if not one.met] == ["epsilon", "columns_in_clear"]
    assert voile("check", "r.toml")[0] == 1
    assert voile("check", str(with_checks(epsilon=2)))[0] == 0


def test_the_worst_watched_word_and_spending_are_those_of_the_release(folder):
    made()
    facts = json.loads(Path("in.protected.csv.guarantee.json").read_text())
    worst = max(p for group in facts["levels"][0]["watched"] for _, p in group["most"])
    found = {c.name: c.found for c in check(with_checks(worst_watched=1, unit_epsilon=99)).checks}
    spent = facts["spent"][0]["largest"]
    assert found == {"seeded": 0, "worst_watched": worst, "unit_epsilon": spent}


def test_names_left_are_counted_in_the_released_file(folder):
    """Names in clear are found; a release that replaced them has none left."""
    made("--tiers", "pii", "--alpha", "0.001,keep", "--pipeline", "names.txt", "--seed", "3")
    path = with_checks(names_left=0)
    left = check(path).checks[-1]
    released = Path("in.protected.csv").read_text().lower()
    assert left.found == sum(name in released for name in ("ann", "bob"))
    assert 0 <= left.found <= 2


def test_a_drawn_number_is_no_identifier_left_unless_nobody_can_tell(folder, monkeypatch):
    """One that stands in its original counts; without the originals, everything does."""
    from voile import runs

    before = ["call 030 7946 0958 or a@example.org", "nothing here"]
    after = ["call 030 7946 0958 for it", "ring 030 7946 1111 or b@example.org"]
    counts = {}
    for originals in (before, before[:1], None):

        def texts(made, *, original=False, given=originals):
            if original and given is None:
                raise InvalidInput("absent")
            return given if original else after

        monkeypatch.setattr(runs, "_texts", texts)
        counts[len(originals or ())] = runs._identifiers_left(None)
    assert counts == {2: 1.0, 1: 3.0, 0: 3.0}


def test_another_file_than_the_release_is_no_release(folder):
    made()
    path = with_checks(epsilon=2)
    assert not check(path).violated
    released = Path("in.protected.csv").read_text()
    Path("in.protected.csv").write_text(Path("in.csv").read_text())
    with pytest.raises(BadFile, match="must be the release that"):
        check(path)
    Path("in.protected.csv").unlink()
    with pytest.raises(BadFile, match="must be the release that"):
        check(path)
    Path("in.protected.csv").write_text(released)
    assert not check(path).violated


def test_a_seeded_release_is_never_good_enough(folder):
    made("--seed", "3")
    found = check(with_checks(epsilon=2))
    assert found.violated
    assert [one.name for one in found.checks if not one.met] == ["seeded"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('keep_stopwords = "false"', "--keep-stopwords must be true or false, got a str"),
        ('overwrite = "no"', "--overwrite must be true or false"),
        ('top = "x"', "--top must be a whole number"),
        ('unknown = "eat"', "--unknown must be perturb, drop, fail or keep, got 'eat'"),
    ],
)
def test_a_value_of_another_type_is_refused_and_never_read_as_true(folder, line, said):
    recipe = made()
    recipe.write_text(recipe.read_text() + line + "\n")
    with pytest.raises(InvalidInput, match=said):
        run(recipe)


def test_a_recipe_may_spell_an_option_as_the_command_line_does(folder):
    made("--batch-rows", "3")
    recipe, written = Path("r.toml"), Path("r.toml").read_text()
    Path("in.protected.csv").unlink()
    recipe.write_text(written.replace("pass_ =", "pass =").replace("batch_rows", "batch-rows"))
    assert run(recipe).columns.passed_in_clear == ("n",)
    recipe.write_text(written + 'pass = "all"\n')
    with pytest.raises(BadFile, match=r"r\.toml must say pass once, it says it in two spellings"):
        run(recipe)


def test_one_number_is_told_in_one_way_and_rounded_up(folder):
    made()
    missed = check(with_checks(worst_watched=0.5))
    shown = at_most(missed.checks[-1].found, digits=4)
    assert re.findall(r"0\.\d{2,}", str(missed)) == [shown, shown]
    close = Checked("x.csv", (Check("epsilon", "ε", 0.90385, 0.903812, True),))
    assert "0.903812" in str(close)
    assert "0.9039" not in str(close)


def test_a_release_that_is_not_found_is_told_by_where_it_was_looked_for(folder, monkeypatch):
    made()
    recipe = with_checks(epsilon=2).absolute()
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with pytest.raises(BadFile, match=rf"none in {elsewhere}; run the recipe first, or go to"):
        check(recipe)


def test_a_signed_address_stays_out_of_recipes(tmp_path):
    with pytest.raises(InvalidInput, match="password or a signed address"):
        write_recipe(tmp_path / "r.toml", "explain", {"data": "https://host/x.csv?sig=hunter2"})
    assert not (tmp_path / "r.toml").exists()


def test_a_recipe_must_say_what_its_command_needs(folder):
    Path("r.toml").write_text("voile = 1\ncommand = 'text protect'\n[options]\nepsilon = 1.0\n")
    with pytest.raises(BadFile, match="must say data for text protect"):
        run("r.toml")


def test_a_level_in_clear_keeps_its_words_always(folder):
    made("--tiers", "pii", "--alpha", "0.3,keep", "--pipeline", "names.txt")
    assert check(with_checks(worst_watched=0.99)).checks[-1].found == 1.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must begin with voile = 1"),
        ("voile = 2\ncommand = 'x'", "must begin with voile = 1"),
        ("voile = 1\ncommand = 'text fly'\n", "must be one of explain"),
        ("voile = 1\ncommand = 'run'\n[options]\nrecipe = 'r.toml'", "must not run another"),
        ("voile = 1\ncommand = 'explain'\n[options]\nepsilonn = 1", "has no option 'epsilonn'"),
        ("voile = 1\ncommand = 'explain'\nother = 1", "tables .options. and .checks."),
        ("not toml", "must be a TOML file: it is none at line 1, column 5"),
    ],
)
def test_what_is_no_recipe_is_one_clear_line(folder, text, said):
    Path("bad.toml").write_text(text)
    with pytest.raises((BadFile, InvalidInput), match=said):
        run("bad.toml" and Path("bad.toml"))


def test_checks_must_be_known_numbers_about_a_release_that_exists(folder):
    recipe = made()
    with pytest.raises(BadFile, match="must have thresholds"):
        check(recipe)
    with pytest.raises(BadFile, match="knows epsilon"):
        check(with_checks(beauty=1))
    with_checks(epsilon=2)
    Path("r.toml").write_text(
        Path("r.toml").read_text().replace("epsilon = 2\n", "epsilon = '2'\n")
    )
    with pytest.raises(BadFile, match="epsilon must be a number"):
        check(Path("r.toml"))
    Path("in.protected.csv.guarantee.json").unlink()
    with pytest.raises(BadFile, match="run the recipe first"):
        check(with_checks(epsilon=2))


def test_values_come_back_as_they_were_written(tmp_path):
    options = {
        "a": 'quo"te, back\\slash é',
        "b": 1.5,
        "c": True,
        "d": ("x", "y"),
        "e": 3,
        "f": None,
    }
    write_recipe(tmp_path / "r.toml", "explain", options)
    found = read_recipe(tmp_path / "r.toml").options
    assert found == {"a": 'quo"te, back\\slash é', "b": 1.5, "c": True, "d": ["x", "y"], "e": 3}


def test_a_recipe_holds_no_ledger_and_is_run_with_one(folder):
    """The address and the key stay out of the file, and are given when it is run."""
    assert (
        voile("ledger", "init", "books.db", "--budget", "50", "--ledger-key", "books.key")[0] == 0
    )
    given = ("--ledger", "books.db", "--ledger-key", "books.key", "--person", "n")
    recipe = made(*given, "--out", "first.csv")
    assert "books" not in recipe.read_text()
    again = recipe.read_text().replace("first.csv", "second.csv")
    recipe.write_text(again)
    with pytest.raises(InvalidInput, match="must go with --ledger"):
        run(recipe)
    done = run(recipe, ledger="books.db", ledger_key="books.key")
    assert done.ledger is not None
    assert "books" not in json.dumps(done.guarantee_file())
