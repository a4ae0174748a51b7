"""The page: what it says is escaped, in order, and within its own policy; colours can be read."""

import base64
import hashlib
import itertools
import re
from html.parser import HTMLParser

import pytest

from report.contrast import contrast
from report.runs import HOW
from voile.audit.finding import Verdict
from voile.errors import CannotWrite, InvalidInput
from voile.report import Chart, Digest, Provenance, Report, Table, combined, render, write_report
from voile.report.glossary import GLOSSARY
from voile.report.theme import DARK, LIGHT, SERIES, painted

BAR = {
    "data": {"values": [{"a": 1, "b": 2}]},
    "mark": {"type": "bar", "color": "var(--blue)"},
    "encoding": {"x": {"field": "a", "type": "quantitative"}},
    "height": 80,
}


def report(**changes):
    values = {
        "title": "A title",
        "answer": "An answer.",
        "verdict": Verdict.OPEN,
        "because": "Because.",
        "guarantee": ("Promised.",),
        "not_protected": ("Something else.",),
        "provenance": HOW,
        "draw": lambda: (chart(),),
        "tables": (Table("A table", ("what", "value"), (("x", 1.23456),)),),
        "terms": ("epsilon",),
    }
    return Report(**(values | changes))


def chart(name="bars"):
    return Chart(name, "A chart", "One bar.", BAR, Table("Bars", ("a", "b"), ((1, 2),)))


class Seen(HTMLParser):
    """Tags in order, with attributes."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def of(self, *names):
        return [(tag, attrs) for tag, attrs in self.tags if tag in names]


@pytest.fixture(scope="module")
def page():
    return render(report())


def test_sections_stand_in_the_order_of_the_questions(page):
    wanted = ["An answer.", "Open.", "Promised.", "A chart", "Something else.", "voile x",
              GLOSSARY["epsilon"][:30]]  # fmt: skip
    places = [page.index(text) for text in wanted]
    assert places == sorted(places)


def test_headings_never_skip_a_level(page):
    for text in (
        page,
        render(combined("All", [report(), report()], answer="Yes.", provenance=HOW)),
    ):
        levels = [int(tag[1]) for tag, _ in Seen(text).of("h1", "h2", "h3", "h4", "h5")]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(b <= a + 1 for a, b in itertools.pairwise(levels))


def test_it_can_be_read_aloud_and_by_keyboard(page):
    seen = Seen(page)
    assert seen.of("html")[0][1]["lang"] == "en"
    skip = seen.of("a")[0][1]
    assert skip["class"] == "skip"
    assert f'id="{skip["href"][1:]}"' in page
    tables = seen.of("table")
    assert len(seen.of("caption")) == len(tables) == 2
    assert all(attrs.get("scope") in ("col", "row") for _, attrs in seen.of("th"))
    assert len(seen.of("figcaption")) == len(seen.of("figure")) == 1
    assert 'aria-label="One bar."' in page  # the drawing itself has its words
    identities = [a["id"] for _, a in seen.tags if "id" in a]
    assert len(set(identities)) == len(identities)
    assert all(a["href"][1:] in identities for _, a in seen.of("a") if a["href"][0] == "#")


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_contrast(palette):
    for ground in ("paper", "panel"):
        for text in ("ink", "muted", "link", "violated", "holds", "open"):
            assert contrast(palette[text], palette[ground]) >= 4.5, (text, ground)
    for mark in SERIES:
        assert contrast(palette[mark], palette["paper"]) >= 3, mark


def test_the_policy_allows_its_own_scripts_and_nothing_else(page):
    policy = next(a["content"] for _, a in Seen(page).of("meta") if a.get("http-equiv") is not None)
    assert policy.startswith("default-src 'none';")
    assert "unsafe-eval" not in policy
    assert "http" not in policy
    scripts = re.findall(r'<script type="module">(.*?)</script>', page, re.S)
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert len(scripts) == 2
    assert re.search(r"script-src (.*)$", policy).group(1) == " ".join(
        f"'sha256-{h}'" for h in hashes
    )


def test_nothing_is_loaded_from_elsewhere(page):
    for tag, attrs in Seen(page).tags:
        for name in ("src", "href", "action", "poster", "data", "srcset"):
            value = attrs.get(name) or "#"
            assert value.startswith(("#", "data:")), (tag, name, value[:60])
    style = re.search(r"<style>(.*?)</style>", page, re.S).group(1)
    assert "url(" not in style
    assert "@import" not in style


def test_markup_in_any_text_stays_text():
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>&\"'"
    bars = Chart(
        "bars", evil, evil, BAR | {"description": evil, "data": {"values": [{"a": 1, "n": evil}]}},
        Table(evil, (evil, "b"), ((evil, 2),)),
    )  # fmt: skip
    how = Provenance(evil, evil, evil, evil, 0.0, (Digest(evil, evil),))
    made = report(
        title=evil, answer=evil, because=evil, guarantee=(evil,), not_protected=(evil,),
        notes=(evil,), draw=lambda: (bars,), provenance=how,
    )  # fmt: skip
    for text in (render(made), render(combined(evil, [made], answer=evil, provenance=how))):
        tags = Seen(text)
        assert not [t for t in tags.of("img") if "onerror" in t[1]]
        assert len(tags.of("script")) == 3
        assert "<script>alert" not in text


def test_a_seeded_release_is_stamped():
    seeded = Provenance("1", "c", "seeded with 3: not for release", "now", 1.0)
    assert "Seeded: not for release</p>" in render(report(provenance=seeded))
    assert "Seeded: not for release</p>" not in render(report())


def test_a_report_without_charts_runs_no_script():
    text = render(report(draw=tuple))
    assert "<script" not in text
    assert "script-src 'none'" in text
    assert len(text) < 20_000


def test_the_worst_part_speaks_for_the_whole():
    parts = [report(verdict=v) for v in (Verdict.HOLDS, Verdict.VIOLATED, Verdict.OPEN)]
    whole = combined("All", parts, answer="One is broken.", provenance=HOW)
    assert whole.verdict == Verdict.VIOLATED
    assert [c.name for c in whole.all_charts()] == ["1-bars", "2-bars", "3-bars"]
    assert combined("x", parts[:1], answer="y", provenance=HOW).verdict == Verdict.HOLDS


def test_a_report_is_refused_where_it_would_mislead():
    with pytest.raises(InvalidInput, match="charts must be of different names"):
        report(draw=lambda: (chart(), chart())).all_charts()
    with pytest.raises(InvalidInput, match="answer must be a sentence"):
        report(answer=" ")
    with pytest.raises(InvalidInput, match="name must be small letters"):
        chart("../out")
    with pytest.raises(InvalidInput, match="rows must be of 2 values"):
        Table("t", ("a", "b"), ((1,),))


def test_nothing_is_half_written(tmp_path):
    with pytest.raises(CannotWrite):
        write_report(report(draw=tuple), tmp_path / "missing" / "r.html")
    target = write_report(report(draw=tuple), tmp_path / "r.html")
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_pictures_have_colours_of_their_own():
    assert "var(" not in str(painted(BAR))
    assert LIGHT["blue"] in str(painted(BAR))
