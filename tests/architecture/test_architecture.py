"""The shape of the project: a file, a test and a row for each mechanism, and light imports."""

import ast
import re
import subprocess
import sys

import pytest

from voile import mechanisms as folder
from voile.catalogue import FAMILIES, mechanisms

NAMES = folder.__all__


@pytest.mark.parametrize("name", NAMES)
def test_a_mechanism_has_a_constructor_examples_a_test_and_a_row(name, root):
    module = folder.module_of(name)
    assert callable(getattr(module, name, None)), f"{name}.py must define {name}()"
    assert module.examples(), f"{name}.py must define examples()"
    assert getattr(folder, name) is getattr(module, name)
    tests = list((root / "tests").rglob(f"test_{name}.py"))
    assert tests, f"tests must hold a test_{name}.py"
    rows = (root / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    assert f"| `{name}` |" in rows, f"docs/mechanisms.md must have a row for {name}"


def test_type_checkers_see_the_names_of_the_folders(root):
    done = subprocess.run(
        [sys.executable, root / "scripts" / "exports", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_a_name_is_its_constructor_whatever_was_imported_before():
    """No module hides behind a function of its name, nor a function behind its module."""
    code = "import voile.mechanisms.words.madlib, voile.mechanisms as m; print(callable(m.madlib))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = folder.nothing


def test_no_row_without_a_mechanism(root):
    rows = re.findall(r"^\| `(\w+)` \|", (root / "docs" / "mechanisms.md").read_text(), re.M)
    assert sorted(rows) == NAMES


def test_docstrings_cite_explain_and_show():
    """A constructor's docstring gives the law, why the guarantee holds, and an example."""
    for name in NAMES:
        text = getattr(folder, name).__doc__
        assert ">>>" in text, f"{name} must show an example"
        assert len(text.split()) > 60, f"{name} must explain itself"


def test_the_catalogue_holds_every_name_once_and_every_mechanism_of_the_folder():
    entries = mechanisms().mechanisms
    names = [entry.name for entry in entries]
    assert len(set(names)) == len(names), "one name for one thing"
    homes = {named.home for family, _ in FAMILIES.values() for named in family.entries}
    missing = [
        name
        for name in NAMES
        if name.replace("_", "-") not in names and f"voile.mechanisms:{name}" not in homes
    ]
    assert not missing
    for entry in entries:
        assert entry.law, entry.name
        assert entry.used, entry.name
        assert entry.metric, entry.name
        assert entry.basis, entry.name


def test_every_name_of_an_option_has_its_row(root):
    page = (root / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    missing = [
        named.name
        for family, _ in FAMILIES.values()
        for named in family.entries
        if f"| `{named.name}` (" not in page
    ]
    assert not missing, f"docs/mechanisms.md must name them: {missing}"


def source_files(root):
    return sorted((root / "src" / "voile").rglob("*.py"))


def test_files_stay_readable(root):
    long = [p.name for p in source_files(root) if len(p.read_text().splitlines()) > 300]
    assert not long, f"split by idea: {long}"


def test_mechanisms_do_not_import_each_other(root):
    for path in (root / "src" / "voile" / "mechanisms").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ImportFrom):
                continue
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                part = whole.removeprefix("voile.mechanisms.")
                assert part == whole or part.startswith("_"), f"{path.name} imports {part}"


def test_every_dependency_has_its_reason(root):
    import tomllib

    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    listed = list(project["dependencies"])
    for extra in project["optional-dependencies"].values():
        listed += extra
    names = {re.split(r"[\[<>=~!; ]", entry)[0] for entry in listed} - {"voile"}
    reasons = (root / "docs" / "dependencies.md").read_text()
    missing = sorted(name for name in names if f"`{name}`" not in reasons)
    assert not missing, f"docs/dependencies.md must say why: {missing}"


ROOMS = ("audit", "estimate", "labels", "ledger", "mechanisms", "metrics", "places", "text")
HEAVY = ("scipy", "torch", "transformers", "spacy", "ray", "pandas", "sklearn", "numba", "pyarrow")


def loaded_by(statement):
    code = f"import sys; {statement}; print(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("rooms", ["voile", "voile, " + ", ".join(f"voile.{r}" for r in ROOMS)])
def test_importing_voile_is_immediate(rooms):
    assert not loaded_by(f"import {rooms}") & {*HEAVY, "numpy", "typer", "rich"}


EVERY_HELP = """
import contextlib, io, sys
from voile.cli.app import app
from voile.surface import names
for name in ["", *names()]:
    shown = io.StringIO()
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(shown):
        app([*name.split(), "--help"])
    assert "--help" in shown.getvalue(), name
    heavy = {module.partition(".")[0] for module in sys.modules} & set(sys.argv[1:])
    assert not heavy, f"voile {name} --help loads {sorted(heavy)}"
"""


def test_no_help_loads_anything_heavy():
    words = [sys.executable, "-c", EVERY_HELP, *HEAVY, "numpy", "starlette", "narwhals"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert not done.returncode, done.stderr


def test_the_packaged_words_are_read_without_pandas():
    assert "pandas" not in loaded_by("from voile.text import glove; glove(top=9)")


def test_public_names_resolve():
    import voile

    for name in voile.__all__:
        assert getattr(voile, name) is not None
    with pytest.raises(AttributeError, match="no attribute"):
        _ = voile.nothing
