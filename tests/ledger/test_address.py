"""A ledger's address: what is refused, and that no refusal repeats a password."""

from __future__ import annotations

import pickle
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from voile.cli.app import app
from voile.errors import CannotWrite, InvalidInput, VoileError
from voile.files.store import RemoteFile
from voile.jobs import Charging
from voile.ledger import Key, Ledger
from voile.ledger.address import is_server, server_address

SECRET = "sw0rdfish"
MALFORMED = [
    f"postgresql://voile:{SECRET}%@127.0.0.1:9/ledgers",
    f"postgresql://voile:%zz{SECRET}@127.0.0.1:9/ledgers",
    f"postgresql://voile:{SECRET} x@127.0.0.1:9/ledgers",
    f"postgresql://voile:a@{SECRET}@127.0.0.1:9/ledgers",
    f"postgresql://voile:a/{SECRET}@127.0.0.1:9/ledgers",
    f"postgresql://voile:9/{SECRET}@127.0.0.1:9/ledgers",
    f"postgresql://voile:a?{SECRET}@127.0.0.1:9/ledgers",
    f"postgresql://voile:9?{SECRET}=1",
    f"postgresql://voile:a#{SECRET}@127.0.0.1:9/ledgers",
    f"postgresql://voile:a:{SECRET}@127.0.0.1:9/ledgers",
    f"postgresql://:{SECRET}@127.0.0.1:9/ledgers",
    f"postgresql://voile:{SECRET}@127.0.0.1:port/ledgers",
    f"postgresql://voile:{SECRET}@[::1:9/ledgers",
    f"postgresql://voile:{SECRET}",
    f"postgresql://voile@127.0.0.1:9/ledgers?password={SECRET}&{SECRET}",
    f"postgresql://voile@127.0.0.1:9/ledgers?pasword={SECRET}",
    f"postgresql://voile@127.0.0.1:9/ledgers?password={SECRET}&sslmod={SECRET}",
    f'postgresql://voile:"{SECRET}"@127.0.0.1:9/ledgers',
    f"postgresql://voile:{SECRET}\n@127.0.0.1:9/ledgers",
    f"postgresql://voile:{SECRET}%00@127.0.0.1:9/ledgers",
    f"postgresql:/voile:{SECRET}@127.0.0.1:9/ledgers",
    f"postgresql:voile:{SECRET}@127.0.0.1/ledgers",
    f"postgresql+psycopg://voile:{SECRET}@127.0.0.1:9/ledgers",
    f"POSTGRESQL://voile:{SECRET}@127.0.0.1:9/ledgers",
    f" postgresql://voile:{SECRET}@127.0.0.1:9/ledgers",
    f"jdbc:postgresql://127.0.0.1:9/ledgers?user=voile&password={SECRET}",
    f"mysql://voile:{SECRET}@127.0.0.1:9/ledgers",
    f"s3://key:{SECRET}@bucket/ledger.db",
    f"host=127.0.0.1 password={SECRET}",
    f"password={SECRET}",
    f"dbname = ledgers password = '{SECRET}'",
    f"HOST=127.0.0.1 PASSWORD={SECRET}",
    f"user=voile\tpassword={SECRET}\tport=9",
    "service=ledgers",
    "",
    "\x00",
]  # fmt: skip


@pytest.mark.parametrize("where", MALFORMED)
def test_a_malformed_address_is_refused_unread(where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in (["init"], ["show"], ["verify"], ["export"]):
        done = CliRunner().invoke(app, ["ledger", *command, "--", where])
        assert isinstance(done.exception, InvalidInput), (command, done.exception)
        said = f"{done.exception}{done.output}"
        assert "a ledger must be a file's name or a postgresql:// URL" in said
        assert SECRET not in said
    assert list(tmp_path.iterdir()) == []  # in particular no SQLite file, and no key, of that name


@pytest.mark.parametrize(
    "where",
    [
        f"postgresql://voile:{SECRET}@127.0.0.1:9/ledgers",
        f"postgres://voile:{SECRET}%25%20%40@127.0.0.1:9/ledgers",
        f"postgresql://voile@127.0.0.1:9/ledgers?password={SECRET}%20x",
        f"postgresql://voile:{SECRET}@127.0.0.1:9,[::1]:9/ledgers?connect_timeout=1",
        f"postgresql://{SECRET}:{SECRET}@no.such.host.invalid:9/ledgers",
    ],
)
def test_a_server_that_cannot_be_reached_is_told_without_the_password(where):
    pytest.importorskip("psycopg")
    assert is_server(where)
    with pytest.raises(CannotWrite, match="the ledger on PostgreSQL cannot be used") as told:
        Ledger(where, None)
    assert SECRET not in str(told.value)
    chain = told.value
    while chain is not None:  # nor in anything that a traceback would print
        assert SECRET not in str(chain) or chain.__suppress_context__
        chain = None if chain.__suppress_context__ else (chain.__cause__ or chain.__context__)


def test_a_server_that_knows_the_password_by_heart(postgres_server):
    """It names the user, who is called like the password: then its reason is left out."""
    where = postgres_server.replace("voile@", "nobody:nobody@") + "postgres"
    with pytest.raises(CannotWrite, match="repeats the password and is not shown") as told:
        Ledger(where, None)
    assert "nobody" not in str(told.value)


@settings(max_examples=200)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_any_password_is_carried_if_quoted_and_never_shown(password):
    address = server_address(f"postgresql://voile:{quote(password, safe='')}@127.0.0.1:9/ledgers")
    assert password in address.secrets
    assert address.told(f"user {password} unknown") != f"user {password} unknown"
    assert repr(address) == "ServerAddress()"


@settings(max_examples=300)
@given(st.text(alphabet=st.sampled_from("ab1:@/?#%&=[] ,.-\\\"'\n"), max_size=24))
def test_whatever_is_typed_is_an_address_or_refused(text):
    """A refusal holds nothing of it: it is one of a few sentences."""
    for where in (f"postgresql://{text}", f"postgres:{text}", f"host={text}"):
        told = ""
        try:
            is_server(where)
        except InvalidInput as problem:
            told = str(problem)
        assert not told or told.startswith("a ledger must be a file's name")
        assert "b1" not in told


@pytest.mark.parametrize("name", ["ledger.db", "budget=20.db", "a b.db", "C:\\ledger.db", "x@y.db",
                                  "./host", "postgres.db", "user-1.db"])  # fmt: skip
def test_ordinary_files_are_files(name):
    assert not is_server(name)


def test_no_address_in_what_is_printed_of_a_charging():
    charging = Charging(f"postgresql://voile:{SECRET}@h/db", Key(bytes(32)), "user")
    assert SECRET not in repr(charging) + str(charging)
    assert pickle.loads(pickle.dumps(charging)) == charging


def test_credentials_in_other_urls_are_not_shown():
    file = RemoteFile(f"https://me:{SECRET}@host.example/folder/in.csv?token={SECRET}")
    assert str(file) == "https://host.example/folder/in.csv"
    assert SECRET not in repr(file)


def test_the_file_of_a_settings_string_is_never_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(VoileError):
        Ledger.create(f"host=db password={SECRET}", Key(bytes(32)))
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    "where",
    [f"u:{SECRET}@h/d", f"//u:{SECRET}@h/d", f"Server=h/d;Pwd={SECRET};", f"{SECRET}@h:5432/d"],
)
def test_what_may_be_a_login_and_is_no_file_is_not_repeated(where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in (["init"], ["show"], ["verify"], ["export"]):
        done = CliRunner().invoke(app, ["ledger", *command, "--", where])
        assert isinstance(done.exception, VoileError), (command, done.exception)
        said = f"{done.exception}{done.output}"
        assert "at that address" in said or "this is neither" in said
        assert SECRET not in said
    assert list(tmp_path.iterdir()) == []
