"""A message about columns shows words of a public list, and nothing else of the file."""

import re

from hypothesis import given
from hypothesis import strategies as st

from voile.files.column_names import USUAL, listed, no_such_column, usual


def test_usual_names_are_listed_and_others_counted():
    assert listed(["id", "text"]) == "id, text"
    said = str(no_such_column("body", ["id", "text", "Alice Miller", "17.5"]))
    assert said == (
        "the column must be one of id, text and 2 more whose names are not usual ones; got 'body'"
    )


def test_a_first_record_is_not_shown_and_the_advice_fits_it():
    said = str(no_such_column("text", ["17", "Alice has HIV"]))
    assert "one of 2 whose names are not usual ones" in said
    assert "put a line of names above the records" in said
    assert "call the file .jsonl" in str(no_such_column("text", ['{"text": "Alice has HIV"}']))
    assert "semicolons" in str(no_such_column("text", ["17;Alice has HIV"]))
    assert "tabs" in str(no_such_column("text", ["17\tAlice has HIV"]))


def test_values_that_look_like_names_are_none():
    for value in ("Alice", "HIV", "London", "m", "F", "yes", "no", "O", "52.5", "id 123456", ""):
        assert not usual(value), value


def words_of(sentence):
    return set(re.findall(r"[^\W\d_]+", sentence.lower()))


SHAPES = (["17"], ["17", "x!"], ["{"], ["a;b"], ["a\tb"], ["a|b"], ["id", "?"], ["id", "?", "?"])
FRAME = {word for columns in SHAPES for word in words_of(str(no_such_column("wanted", columns)))}


@given(st.lists(st.text(max_size=60), min_size=1, max_size=30))
def test_every_word_that_is_shown_is_on_the_list(columns):
    assert words_of(str(no_such_column("wanted", columns))) <= USUAL | FRAME
