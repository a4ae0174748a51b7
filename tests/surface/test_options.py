"""What Python and the command line make of a signature, the one place that states an option."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from voile import surface
from voile.cli.commands import command
from voile.errors import InvalidInput
from voile.options import Call, Data, Option, Options, case_of, current_call, use_case
from voile.report.model import Report
from voile.report.provenance import spelled
from voile.report.result import Result
from voile.values import choices_of


@dataclass(frozen=True)
class Running(Options):
    jobs: Annotated[int, Option("Processes.", "Running")] = 1
    engine: Annotated[Literal["local", "ray"], Option("Where.", "Running")] = "local"


@dataclass(frozen=True, repr=False, eq=False)
class Echo(Result):
    given: str

    def _report(self) -> Report:
        return Report(title="Echo", answer=self.given)


@use_case("test echo")
def echo(
    data: Annotated[Data, Option("What.", reads="private")],
    *,
    epsilon: Annotated[float | None, Option("How strong.", "How strong")] = None,
    levels: Annotated[tuple[float, ...], Option("Several.")] = (0.5, 1.0),
    pass_: Annotated[Literal["all"] | tuple[str, ...], Option("Columns.", shown=True)] = (),
    secret: Annotated[str, Option("A word.")] = "",
    keep: Annotated[bool, Option("Keep it.")] = True,
    note: Annotated[Path | None, Option("A file.", reads="public")] = None,
    running: Running = Running(),
) -> Echo:
    """Say what was given.

    Example: `voile test echo`
    """
    assert current_call() is not None
    return Echo(f"{epsilon} {levels} {pass_} {keep} {running.jobs} {running.engine} {note}")


def on_the_command_line(*words: str) -> str:
    app = typer.Typer()
    app.command()(command(echo))
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output + str(done.exception)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["x.csv"], {}),
        (["x.csv", "--epsilon", "3"], {"epsilon": 3.0}),
        (["x.csv", "--levels", "1,2.5"], {"levels": (1.0, 2.5)}),
        (["x.csv", "--pass", "all"], {"pass_": "all"}),
        (["x.csv", "--pass", 'a,"b, c"'], {"pass_": ("a", "b, c")}),
        (["x.csv", "--no-keep", "--jobs", "4"], {"keep": False, "jobs": 4}),
        (["x.csv", "--engine", "ray"], {"engine": "ray"}),
        (["x.csv", "--note", "n.txt"], {"note": Path("n.txt")}),
    ],
)
def test_the_command_is_the_function_spelled_with_spaces(words, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("x.csv", "n.txt"):
        Path(name).write_text("x\n")
    assert on_the_command_line(*words) == echo("x.csv", **options).given


def test_a_group_may_be_given_whole_or_option_by_option():
    assert echo("x", running=Running(jobs=3)).given == echo("x", jobs=3).given
    assert echo("x", running=Running(engine="ray"), jobs=3).given.split()[-3:-1] == ["3", "ray"]


def test_a_wrong_name_is_refused_with_the_nearest_one():
    with pytest.raises(TypeError, match="no option 'epsilo'; did you mean epsilon"):
        echo("x", epsilo=3)
    with pytest.raises(TypeError, match="takes 1 arguments by position"):
        echo("x", 3.0)


def test_the_signature_shows_every_option_by_itself():
    import inspect

    names = list(inspect.signature(echo).parameters)
    assert names[0] == "data"
    assert {"jobs", "engine", "epsilon"} <= set(names)
    assert "running" not in names


def test_a_report_spells_the_command_without_private_words():
    done = echo("/home/ann/x.csv", epsilon=2.0, secret="hunter2", pass_=("a", "b"), jobs=2)
    said = spelled(done._call)
    assert said == "voile test echo x.csv --epsilon 2 --pass a,b --secret … --jobs 2"


def test_a_choice_is_spelled_wherever_it_may_be_left_out():
    """Else a guarantee file's command would not repeat its release."""
    told = 0
    for name in surface.names():
        case = case_of(surface.use_case_named(name))
        for one in case.parameters.values():
            for word in () if one.option.secret else choices_of(one.type):
                said = spelled(Call(case, {one.name: word}, 0.0, ""))
                assert said.split()[-1] == word or word == one.default, (name, one.flag, said)
                told += word != one.default
    assert told > 100


def test_data_in_memory_is_never_spelled_out():
    """A list of texts is one value: none stands in a command, and none is opened as a file."""
    done = echo(["Ann has HIV", "/etc/hostname"])
    assert spelled(done._call) == "voile test echo <list>"
    assert done._call.files("private") == []
    assert "HIV" not in done.report().provenance.command


def test_an_option_without_its_help_is_a_mistake_of_ours():
    with pytest.raises(TypeError, match="'x' must be annotated"):

        @use_case("test bad")
        def bad(x: int) -> None: ...


def test_numbers_that_are_none_are_one_clear_line():
    app = typer.Typer()
    app.command()(command(echo))
    done = CliRunner().invoke(app, ["x", "--levels", "1,much"])
    assert isinstance(done.exception, InvalidInput)
    assert str(done.exception) == "--levels must be numbers between commas"
    assert case_of(echo).name == "test echo"


@use_case("test key")
def with_a_key(
    key: Annotated[str | None, Option("A file.", environment="VOILE_TEST_KEY", secret=True)] = None,
) -> str:
    """Say which.

    Example: `voile test key`
    """
    return str(key)


def test_python_reads_the_variable_that_the_command_line_reads(monkeypatch):
    monkeypatch.delenv("VOILE_TEST_KEY", raising=False)
    assert with_a_key() == "None"
    monkeypatch.setenv("VOILE_TEST_KEY", "there.key")
    assert with_a_key() == with_a_key(key=None) == "there.key"
    assert with_a_key("mine.key") == "mine.key"
    monkeypatch.setenv("VOILE_TEST_KEY", "")
    assert with_a_key() == "None"


def test_numbers_among_names_go_by_their_text_and_a_wrong_one_is_told_by_its_place():
    assert "('0', '1', 'True')" in echo("x", pass_=(0, np.int8(1), True)).given
    assert "('0.5',)" in echo("x", pass_=[0.5]).given
    for given, said in (
        (("a", None), "got a tuple whose value 2 is nothing"),
        ([b"a"], "got a list whose value 1 is a bytes"),
        (True, "got a bool"),
    ):
        with pytest.raises(InvalidInput, match=f"--pass must be all or names, {said}$"):
            echo("x", pass_=given)
    with pytest.raises(InvalidInput, match="--levels must be numbers, got a list whose value 2 is"):
        echo("x", levels=[1, "much"])
