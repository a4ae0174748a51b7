"""What is no data, or nearly: one clear sentence, and nothing of the data in it."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from voile.errors import InvalidInput
from voile.files.source import open_source
from voile.options import Data
from voile.values import fitted

SECRET = "Wilhelmina"


class Hostile:
    """Whatever is asked of it raises, and says more than it should."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(SECRET)


class Elsewhere:
    """A path that is none of pathlib's."""

    def __init__(self, path: Any) -> None:
        self.path = path

    def __fspath__(self) -> Any:
        return self.path()


@pytest.mark.parametrize(
    ("data", "advice"),
    [
        (Hostile(), "got Hostile"),
        (object(), "got object"),
        (3, "got int"),
        (None, "got NoneType"),
        (str, "got type"),
        (range(3), "got range"),
        (deque([SECRET]), "got deque"),
        (b"Wilhelmina", "decode it"),
        ({"text": [SECRET]}, "make a frame of it, or a list of one dictionary a record"),
        ({SECRET}, "give sorted(…) of it"),
        (frozenset([SECRET]), "give sorted(…) of it"),
        ((word for word in [SECRET]), "give list(…) of it"),
        (iter([SECRET]), "give list(…) of it"),
        (np.array(SECRET), "one dimension or two"),
        (np.array(3), "one dimension or two"),
        (np.zeros((2, 2, 2)), "one dimension or two"),
        ([Hostile()], "a list must hold strings"),
        ([b"Wilhelmina"], "a list must hold strings"),
        ([SECRET, 3.0, {}], "a list must hold strings"),
        (f"{SECRET}\nwas here", "got a text; put it into a list"),
        (SECRET * 40, "got a text; put it into a list"),
        (f"{SECRET} was here", "a text goes into a list"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else type(value).__name__,
)
def test_it_is_refused_in_a_sentence_that_says_what_to_do(data: Any, advice: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        list(open_source(data).rows())
    assert advice in str(refused.value)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("name", ["folder", "folder.csv"])
def test_a_folder_is_no_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(InvalidInput, match=r"must (end in|be a file)"):
        open_source(tmp_path / name)


def test_a_path_of_another_kind_is_a_path() -> None:
    assert fitted(Elsewhere(lambda: "in.csv"), Data, "data") == Path("in.csv")


@pytest.mark.parametrize("path", [lambda: 3, lambda: 1 / 0])
def test_a_path_that_fails_is_refused(path: Any) -> None:
    with pytest.raises(InvalidInput, match=r"data must be .*, got a Elsewhere"):
        fitted(Elsewhere(path), Data, "data")


def test_columns_without_names_are_named_and_not_called_a_file() -> None:
    from voile.files import no_such_column

    for data in ([("a", "b")], np.array([["a", "b"]])):
        said = str(no_such_column("text", open_source(data).columns))
        assert said.startswith("the column must be one of c1, c2, which are called so for want of")
        assert "file" not in said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('["Wilhelmina"]', "line 1: must be a JSON object"),
        ('{"text": "Wilhelmina \\ud83d"}', "line 1: not valid Unicode"),
        ("Wilhelmina", "line 1: not valid JSON"),
        ("{}", "line 1: must have at least one field"),
    ],
)
def test_json_lines_without_a_record_say_what_is_wrong_with_the_first(tmp_path, line, said) -> None:
    (tmp_path / "in.jsonl").write_text(f"{line}\n{line}\n")
    with pytest.raises(InvalidInput, match=said) as refused:
        open_source(tmp_path / "in.jsonl")
    assert SECRET not in str(refused.value)
    (tmp_path / "in.jsonl").write_text(f'{line}\n{{"text": "a"}}\n')
    assert open_source(tmp_path / "in.jsonl").columns == ("text",), "a bad row is for --on-error"
