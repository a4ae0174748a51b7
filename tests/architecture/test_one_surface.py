"""The rules of the one surface: options stated once, typed results, nothing said by string keys."""

import ast
import dataclasses
import inspect
import re
from collections import Counter
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from voile.cli.outlines import outline
from voile.options import Option, Options, Panel, case_of
from voile.report.result import Result
from voile.surface import ABOUT, ROOMS, names, use_case_named

UPPER = {"cli", "report", "text", "places", "labels", "demo", "studio"}
MOST_PARAMETERS = 15
MOST_STRING_KEYS = 60


def trees(root: Path):
    for path in sorted((root / "src" / "voile").rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def functions(root: Path):
    for path, tree in trees(root):
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


@pytest.mark.parametrize("name", names())
def test_a_use_case_is_a_command_and_a_function_of_one_name(name):
    import voile

    function = use_case_named(name)
    assert case_of(function).name == name
    room, _, own = name.rpartition(" ")
    if name not in ("mechanisms", "demo", "studio"):  # rooms of the same name
        assert getattr(getattr(voile, room) if room else voile, own) is function
    said = inspect.getdoc(function) or ""
    assert re.search(rf"Example: `voile {name}\b", said), "its help must have an example"


@pytest.mark.parametrize("name", names())
def test_every_option_has_help_a_panel_and_one_place(name):
    case = case_of(use_case_named(name))
    for parameter in case.parameters.values():
        assert isinstance(parameter.option, Option)
        assert parameter.option.help.endswith((".", "…", ")", "?")), parameter.name
        assert parameter.option.panel in get_args(Panel)
    assert len(inspect.signature(case.function).parameters) <= MOST_PARAMETERS
    flags = [parameter.flag for parameter in case.parameters.values()]
    assert len(set(flags)) == len(flags)


@pytest.mark.parametrize("name", names())
def test_a_panel_of_options_fits_a_screen(name, monkeypatch, capsys):
    from voile.cli.app import app

    monkeypatch.setenv("COLUMNS", "80")
    with suppress(SystemExit):
        app([*name.split(), "--help"])
    panels = capsys.readouterr().out.split("╭")[1:]
    assert panels
    assert max(panel.count("\n") for panel in panels) <= 42


@pytest.mark.parametrize("name", names())
def test_a_result_is_a_frozen_value_that_knows_its_report(name):
    if name == "run":  # it returns what the recipe's own command returns
        return
    answer = get_type_hints(use_case_named(name).__wrapped__)["return"]
    for kind in getattr(answer, "__args__", (answer,)):
        assert issubclass(kind, Result), kind
        assert dataclasses.is_dataclass(kind)
        assert kind.__dataclass_params__.frozen
        assert not kind.__dataclass_params__.eq, "a result holds arrays: compare its to_dict()"
        assert "_report" in kind.__dict__ or any(
            "_report" in k.__dict__ for k in kind.__mro__[1:-2]
        )


def test_no_function_takes_more_than_a_reader_can_hold(root):
    many = [
        f"{path.name}:{node.lineno} {node.name}"
        for path, node in functions(root)
        if len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]) > MOST_PARAMETERS
    ]
    assert not many


def test_the_median_function_is_short(root):
    lengths = sorted(
        node.end_lineno - node.body[0].lineno + 1 for _, node in functions(root) if node.body
    )
    assert lengths[len(lengths) // 2] <= 8


def test_upper_rooms_read_fields_and_no_string_keys(root):
    found = [
        f"{path.relative_to(root)}:{node.lineno}"
        for path, tree in trees(root)
        if UPPER & set(path.relative_to(root).parts)
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
    ]
    assert len(found) <= MOST_STRING_KEYS, f"{len(found)}: {found}"


def test_an_option_is_stated_once(root):
    """What several use cases take alike is one alias, or stands in one group."""
    found = Counter(
        (name, ast.unparse(told.slice.elts[0]), ast.unparse(option.args[0]))
        for _, tree in trees(root)
        for node in ast.walk(tree)
        if isinstance(node, ast.arg | ast.AnnAssign)
        for name in [node.arg if isinstance(node, ast.arg) else ast.unparse(node.target)]
        for told in [node.annotation]
        if isinstance(told, ast.Subscript) and ast.unparse(told.value) == "Annotated"
        for option in told.slice.elts[1:]
        if isinstance(option, ast.Call) and ast.unparse(option.func) == "Option"
    )
    assert len(found) > 200
    assert not [stated for stated, times in found.items() if times > 1]


def test_options_that_travel_together_are_frozen(root):
    def below(kind):
        for child in kind.__subclasses__():
            yield child
            yield from below(child)

    for name in names():
        use_case_named(name)
    groups = [kind for kind in below(Options) if kind.__module__.startswith("voile.")]
    assert len(groups) > 8
    assert all(kind.__dataclass_params__.frozen for kind in groups)


def test_one_way_from_a_result_to_json(root):
    """`to_dict` of `Result`, and of the few values that have a serial form of their own."""
    own = {
        path.stem
        for path, node in functions(root)
        if node.name in ("to_dict", "as_dict", "as_facts", "facts_of") and not _is_result(path)
    }
    assert own <= {"result", "guarantee", "metric", "finding", "designs", "channel", "space"}, own


def _is_result(path):
    return path.name == "result.py"


def test_readers_of_user_files_live_in_one_room(root):
    """What parses records is in files/; lists of public words and models are not records."""
    reading = re.compile(r"csv\.(reader|DictReader)\(|read_csv\(|parquet\.(read_table|ParquetFile)")
    allowed = {"files", "mechanisms"}
    words = {"commands.py", "vocabulary_files.py", "sample_anonymised.py", "columns_in_clear.py"}
    found = [
        str(path.relative_to(root))
        for path, _ in trees(root)
        if reading.search(path.read_text(encoding="utf-8"))
        and not allowed & set(path.parts)
        and path.name not in words
    ]
    assert not found


def stubs(root):
    return sorted((root / "src" / "voile").rglob("__init__.pyi"))


def test_every_export_is_there_and_no_submodule_hides_behind_it(root):
    """What a stub says is what the package gives; its modules have names of their own."""
    assert len(stubs(root)) > 5
    for stub in stubs(root):
        package = import_module(".".join(stub.relative_to(root / "src").parent.parts))
        modules = {path.stem for path in stub.parent.glob("*.py")}
        assert not modules & set(package.__all__), package.__name__
        assert set(package.__all__) <= set(dir(package))
        for name in package.__all__:
            assert getattr(package, name) is not None
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = package.nothing


def told(case):
    """All that a help says; a class of ours goes by its name."""
    return [str(p).replace("outline of ", "") for p in case.parameters.values()]


@pytest.mark.parametrize("name", names())
def test_a_help_without_its_use_case_says_the_same(name):
    """The outline that a help is made from has the options, defaults and words of the function."""
    room, _, own = name.rpartition(" ")
    home = ROOMS[room][own]
    short, whole = case_of(outline(home)), case_of(use_case_named(name))
    assert told(short) == told(whole)
    assert outline(home).__doc__ == use_case_named(name).__doc__


def test_the_table_of_rooms_names_what_exists():
    import voile

    assert set(ROOMS) == {"", *ABOUT}
    assert {"text", "places", "labels", "ledger"} <= set(ABOUT) <= set(voile.__all__)
    assert len(names()) == len(set(names()))
