"""The ledger's commands as functions: the same options, typed answers, and no secret in any."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import voile
from voile.audit.finding import Verdict
from voile.cli.app import app
from voile.cli.rooms import ROOMS
from voile.errors import CannotWrite
from voile.jobs.settings import LedgerChoice
from voile.ledger import Bill, Budget, Kind, Ledger, read_key, simple_cost
from voile.options import case_of
from voile.report.page import render
from voile.surface import schema

PASSWORD = "swordfish"
ADDRESS = f"postgresql://voile:{PASSWORD}@127.0.0.1:9/ledgers"


@pytest.fixture
def charged(tmp_path, monkeypatch):
    """A ledger with two persons in it; the name of its key's file."""
    monkeypatch.chdir(tmp_path)
    made = voile.ledger.init("ledger.db", budget=5)
    with Ledger("ledger.db", read_key(made.key_file)) as ledger:
        ledger.agree(Kind("one location", "euclidean", "km"), Budget(5.0))
        ledger.charge("job", 0, ["ann", "bob"], Bill.listed([simple_cost(1.0)] * 2))
    return made.key_file


@pytest.mark.parametrize("name", ROOMS["ledger"])
def test_every_command_is_a_function_of_its_name(name):
    case = case_of(getattr(voile.ledger, name))
    assert case.name == f"ledger {name}"
    assert next(iter(case.parameters)) == "ledger"


def test_there_is_no_other_name():
    with pytest.raises(AttributeError, match="no attribute 'burn'"):
        voile.ledger.burn  # noqa: B018


def test_what_was_spent_is_a_value(charged):
    found = voile.ledger.show("ledger.db", person=["ann"], ledger_key=charged)
    assert (found.people, found.rows, found.largest_spent) == (2, 2, 1.0)
    assert (found.persons[0].person, found.persons[0].left) == ("ann", 4.0)
    assert "odds" in found.persons[0].meaning
    assert voile.ledger.show(Path("ledger.db")).persons == ()


def test_a_budget_that_is_set_is_told_before_the_first_release(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    voile.ledger.init("set.db", budget=10)
    said = "Nothing was charged yet; budget 10 a person; the first release sets what it counts."
    assert said in str(voile.ledger.show("set.db"))
    voile.ledger.init("bare.db")
    assert "the first release sets kind and budget" in str(voile.ledger.show("bare.db"))


def test_a_person_is_named_on_the_owner_s_screen_alone(charged):
    """One by option, however it is written: a comma in a name does not make two of it."""
    found = voile.ledger.show("ledger.db", person=["ann", "Smith, Eve"], ledger_key=charged)
    assert [account.person for account in found.persons] == ["ann", "Smith, Eve"]
    assert "Smith, Eve" in str(found)
    shown = render(found.report()) + found._repr_html_()
    assert "Smith" not in shown
    assert "ann<" not in shown
    words = ["ledger", "show", "ledger.db", "--person", "Smith, Eve", "--person", "ann"]
    done = CliRunner().invoke(app, [*words, "--ledger-key", charged, "--json"])
    assert [p["person"] for p in json.loads(done.stdout)["persons"]] == ["Smith, Eve", "ann"]


def test_holds_only_with_the_key_and_an_earlier_head(charged, tmp_path):
    head = voile.ledger.show("ledger.db").head
    assert voile.ledger.verify("ledger.db").verdict is Verdict.OPEN
    assert voile.ledger.verify("ledger.db", head=head).verdict is Verdict.OPEN
    assert voile.ledger.verify("ledger.db", ledger_key=charged).verdict is Verdict.HOLDS
    Path(charged + ".seen").unlink()
    unseen = voile.ledger.verify("ledger.db", ledger_key=charged)
    assert unseen.verdict is Verdict.OPEN
    assert "only a noted --head tells" in str(unseen)
    with sqlite3.connect("ledger.db") as database:
        database.execute("UPDATE entries SET rows = rows + 1 WHERE number = 4")
    database.close()
    changed = voile.ledger.verify("ledger.db", ledger_key=charged, head=head)
    assert (changed.whole, changed.violated, changed.verdict) == (False, True, Verdict.VIOLATED)
    assert "CHANGED: entry 4 was changed" in str(changed)


def test_an_export_is_a_text_or_a_file(charged):
    text = voile.ledger.export("ledger.db")
    assert text.text.splitlines()[0] == "person,rows,spent,left"
    file = voile.ledger.export("ledger.db", out="accounts.csv")
    assert (text.lines, file.lines, file.text) == (2, 2, None)
    assert Path("accounts.csv").read_text() == text.text
    with pytest.raises(CannotWrite, match="exists already"):
        voile.ledger.export("ledger.db", out="accounts.csv")
    assert voile.ledger.export("ledger.db", out="accounts.csv", overwrite=True, entries=True)
    assert json.loads(Path("accounts.csv").read_text().splitlines()[0])["event"] == "opened"


def test_json_keeps_its_schema(charged):
    for name, words in (
        ("export", ["--out", "accounts.csv"]),
        ("backup", ["backup.db"]),
        ("show", []),
        ("verify", []),
        ("migrate", ["new.db", "--ledger-key", charged]),
    ):
        done = CliRunner().invoke(app, ["ledger", name, "ledger.db", *words, "--json"])
        assert done.exit_code == 0, done.output
        Draft202012Validator(schema(f"ledger {name}")).validate(json.loads(done.stdout))
    gone = voile.ledger.abandon("new.db", "0" * 32, deleted=True, ledger_key=charged)
    Draft202012Validator(schema("ledger abandon")).validate(gone.to_dict())


# ── secrets ────────────────────────────────────────────────────────────────────────────────────


def test_a_recipe_keeps_no_address_no_key_and_no_person(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOILE_LEDGER_KEY", "from-the-environment.key")
    voile.ledger.init(f"{PASSWORD}.db", ledger_key="from-the-environment.key")
    recipe = ["--save-recipe", "r.toml"]
    done = CliRunner().invoke(app, ["ledger", "show", ADDRESS, "--person", "annabel", *recipe])
    assert not Path("r.toml").exists(), "the command failed"
    assert PASSWORD not in done.output + str(done.exception)
    words = ["ledger", "show", f"{PASSWORD}.db", "--person", "annabel", *recipe]
    done = CliRunner().invoke(app, words)
    kept = Path("r.toml").read_text()
    assert 'command = "ledger show"' in kept
    assert "from-the-environment" not in kept
    for secret in (PASSWORD, "annabel"):
        assert secret not in kept + done.stderr + str(done.exception)
    assert "without LEDGER, --person, --ledger-key\n" in done.stderr


def test_what_is_left_out_of_a_recipe_is_given_to_run_or_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    done = run(app, ["ledger", "init", "a.db", "--save-recipe", "r.toml"])
    assert "without LEDGER: to be given when it is run" in done.stderr
    assert "give --ledger" in str(run(app, ["run", "r.toml"]).exception)
    assert run(app, ["run", "r.toml", "--ledger", "b.db"]).exit_code == 0
    assert Path("b.db").exists()
    done = run(app, ["ledger", "migrate", "a.db", "c.db", "--save-recipe", "m.toml"])
    assert "no recipe may hold TO" in str(done.exception)
    assert not Path("m.toml").exists()


def test_every_address_and_key_of_a_ledger_is_secret():
    ledgers = [p for n in ROOMS["ledger"] for p in _options(getattr(voile.ledger, n))]
    secret = {p.name for p in ledgers if p.option.secret}
    assert secret == {"ledger", "ledger_key", "person", "to"}
    hints = {name: str(kind) for name, kind in LedgerChoice.__annotations__.items()}
    assert "secret=True" in hints["ledger"]
    assert "KeyFile" in hints["ledger_key"]


def _options(function):
    return case_of(function).parameters.values()


def test_a_page_says_which_command_it_was_without_its_secrets(charged):
    for found in (
        voile.ledger.show("ledger.db", ledger_key=charged),
        voile.ledger.verify("ledger.db", ledger_key=charged),
    ):
        shown = render(found.report())
        assert "--ledger-key …" in shown
        assert charged not in shown
        assert Path(charged).read_text().split()[-1] not in shown
