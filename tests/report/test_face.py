"""The page's face: its banner, its contents, what is said first, and how charts and frames fit."""

from __future__ import annotations

import re
import time
from html import unescape
from html.parser import HTMLParser

import pytest

from report.browser import Browser, executable
from report.contrast import contrast
from report.runs import HOW
from voile.audit.finding import Verdict
from voile.meaning import explain
from voile.report import Digest, Provenance, Report, Table, combined, render, write_report
from voile.report.charts_common import bar_chart, frontier_chart, reach
from voile.report.page import embedded
from voile.report.theme import DARK, LIGHT

EVIL = "</p></iframe><script>alert(1)</script>\"'><img src=x onerror=alert(1)>&"
MADE = Provenance(
    "1.2.3", "voile x", "secure", "2026-01-02 03:04 UTC", 1.5,
    (Digest("reviews.csv", "ab", keyed=True), Digest("out.csv", "cd")), "tem",
)  # fmt: skip


def bars(*values: float, name: str = "bars"):
    return bar_chart(
        [(f"row {k}", value) for k, value in enumerate(values)],
        name=name, title="Shares", alt="Some shares of the whole, as bars.", axis="share",
        columns=("what", "share"), shares=True,
    )  # fmt: skip


def report(**changes) -> Report:
    values = {
        "title": "A title",
        "answer": "An answer.",
        "verdict": Verdict.HOLDS,
        "because": "Because.",
        "guarantee": ("Promised.",),
        "not_protected": ("Something else.",),
        "provenance": MADE,
        "tables": (Table("A table", ("what", "value"), (("x", 1.25),)),),
        "terms": ("epsilon",),
    }
    return Report(**(values | changes))


class Tags(HTMLParser):
    """All tags with their attributes."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def body(text: str) -> str:
    return text[text.index("<body>") :]


# ── what is said first ─────────────────────────────────────────────────────────────────────────


def test_the_banner_says_what_when_of_which_file_with_what_and_the_verdict():
    banner = re.search(r'<header class="banner">(.*?)</header>', render(report()), re.S).group(1)
    for said in ("<h1>A title</h1>", "2026-01-02 03:04 UTC", "reviews.csv", "tem", "✓ Holds"):
        assert said in banner
    assert "out.csv" not in banner  # what was made is not what it was made from
    plain = render(report(provenance=Provenance("1", "from Python", "x", "", 0.0), verdict=None))
    assert "<dt>Made</dt>" not in plain
    assert 'class="chip' not in body(plain)


def test_what_is_in_clear_stands_before_the_answer_and_above_any_tick():
    text = body(render(report(in_clear=("IN CLEAR: the column stars.",))))
    places = [text.index(part) for part in ('class="in-clear"', "An answer.", "✓ Holds.")]
    assert places == sorted(places)
    assert "✓" not in text[: places[0]]
    assert "Not all is protected" in text[: places[0]]
    assert 'class="in-clear"' not in body(render(report()))


def test_what_one_part_leaves_in_clear_the_whole_says_first():
    parts = [report(), report(in_clear=("IN CLEAR: stars.",))]
    text = body(render(combined("All", parts, answer="Both.", provenance=HOW)))
    assert text.index("A title: IN CLEAR: stars.") < text.index("Both.")
    assert "✓" not in text[: text.index("IN CLEAR")]


def test_cards_are_the_report_s_own_figures():
    text = render(report(cards=(("rows", "60"), ("ε, at most", "<3"))))
    assert "<dt>ε, at most</dt><dd>&lt;3</dd>" in text
    assert 'class="cards"' not in body(render(report()))


def test_records_are_shown_only_where_the_report_carries_them():
    text = body(render(report(sample=(("before <b>", "after"),))))
    assert "The owner asked for this; do not hand it on." in text
    assert "Shows records: do not hand on" in text
    assert "before &lt;b&gt;" in text
    assert 'href="#sample"' in text
    parts = [report(), report(sample=(("a", "b"),))]
    whole = body(render(combined("All", parts, answer="Both.", provenance=HOW)))
    assert whole.index("Shows records: do not hand on") < whole.index('id="part-1"')
    without = body(render(report()))
    assert "do not hand" not in without
    assert 'id="sample"' not in without


# ── contents ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "made",
    [
        report(),
        report(guarantee=(), tables=(), not_protected=(), terms=(), verdict=None),
        report(sample=(("a", "b"),), terms=()),
        combined("All", [report(), report(guarantee=())], answer="Both.", provenance=HOW),
    ],
)
def test_contents_lead_to_every_section_and_to_nothing_else(made):
    tags = Tags(render(made)).found
    sections = [attrs["id"] for tag, attrs in tags if tag == "section"]
    nav = re.search(r"<nav .*?</nav>", render(made)).group(0)
    links = [attrs["href"][1:] for tag, attrs in Tags(nav).found if tag == "a"]
    assert links == ["answer", *sections]


def test_a_report_of_parts_names_the_parts_and_their_sections():
    made = combined(
        "All", [report(title="Text"), report(title="Places")], answer="Both.", provenance=HOW
    )
    nav = re.search(r"<nav .*?</nav>", render(made)).group(0)
    assert '<a href="#part-2">Places</a><ul><li><a href="#part-2-promise">' in nav


# ── charts ─────────────────────────────────────────────────────────────────────────────────────


def domains(spec) -> list[list[float]]:
    """Every domain of numbers in a chart."""
    if isinstance(spec, dict):
        own = spec.get("domain")
        found = [own] if isinstance(own, list) and not isinstance(own[0], str) else []
        return found + [d for value in spec.values() for d in domains(value)]
    return [d for value in spec for d in domains(value)] if isinstance(spec, list) else []


@pytest.mark.parametrize("top", [0.004, 0.3, 0.41, 0.95, 1.0])
def test_an_axis_of_shares_ends_between_0_and_100_percent(top):
    found = domains(bars(top, top / 2).spec)
    assert found
    assert all(low == 0 and top <= high <= 1 for low, high in found)


def test_a_frontier_of_shares_stays_within_them():
    table = Table("t", ("m", "ε", "leakage", "AUC"), (("a", 1.0, 0.0, 0.99), ("a", 2.0, 1.0, 1.0)))
    chart = frontier_chart(
        table, name="f", title="t", alt="Left and up is better.", x="leakage", y="AUC", group="m",
        beside="ε", chosen=(1.0, 1.0), levels=((1.0, "clean"),),
    )  # fmt: skip
    assert all(0 <= low < high <= 1 for low, high in domains(chart.spec))


def test_an_axis_has_room_where_values_may_be():
    assert reach([2.0, 4.0])[1] > 4
    assert reach([-0.5, 0.5])[0] < -0.5
    assert reach([3.0])[0] < 3 < reach([3.0])[1]
    assert reach([None, float("nan")])[0] < reach([])[1]


# ── in a notebook ──────────────────────────────────────────────────────────────────────────────


def test_a_frame_escapes_hostile_text():
    made = report(title=EVIL, answer=EVIL, in_clear=(EVIL,), cards=((EVIL, EVIL),),
                  sample=((EVIL, EVIL),), provenance=HOW)  # fmt: skip
    text = embedded(made)
    tags = Tags(text).found
    assert [tag for tag, _ in tags] == ["style", "iframe"]
    frame = tags[1][1]
    assert frame["sandbox"] == "allow-scripts allow-downloads"
    assert frame["title"] == EVIL
    inner = unescape(re.search(r'srcdoc="([^"]*)"', text).group(1))
    assert inner == render(made, framed=True) == frame["srcdoc"]
    assert "<script>alert" not in inner
    assert not [attrs for tag, attrs in Tags(inner).found if tag == "img"]


def test_a_frame_is_as_high_as_what_it_holds():
    heights = [
        int(re.search(r"height:(\d+)em", embedded(made)).group(1))
        for made in (
            report(tables=(), guarantee=()),
            report(),
            report(draw=lambda: (bars(0.5), bars(0.5, name="b"))),
        )
    ]
    assert heights == sorted(set(heights))
    assert "max-height:85vh" in embedded(report())


def test_a_result_shows_itself():
    shown = explain(epsilon=1.0)._repr_html_()
    assert [tag for tag, _ in Tags(shown).found] == ["style", "iframe"]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_what_is_in_clear_can_be_read(palette):
    assert contrast(palette["ink"], palette["amber"]) >= 7
    assert contrast(palette["open"], palette["amber"]) >= 4.5
    for bar in ("blue", "orange"):  # a bar's number may stand in it
        assert contrast(palette["paper"], palette[bar]) >= 4.5


# ── the browser ────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def browser():
    if executable() is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    tab = Browser()
    yield tab
    tab.close()


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """A page with charts, and a table that no phone is wide enough for."""
    wide = Table("Wide", tuple(f"a column {k}" for k in range(9)), ((1.5,) * 9,) * 12)
    made = report(
        tables=(wide,), guarantee=("Promised.",) * 20, not_protected=("Else.",) * 20,
        draw=lambda: (bars(0.97, 0.3), bars(0.2, name="more")),
    )  # fmt: skip
    return write_report(made, tmp_path_factory.mktemp("face") / "long.html")


BOX = "document.querySelector('%s').getBoundingClientRect().toJSON()"
CURRENT = "[...document.querySelectorAll('nav a[aria-current]')].map(a => a.hash).join()"


def settled(browser, expression: str, wanted):
    """What an expression becomes; scrolling takes a frame or two."""
    for _ in range(60):
        if browser.ask(expression) == wanted:
            break
        time.sleep(0.05)
    return browser.ask(expression)


@pytest.mark.parametrize("width", [1400, 390])
def test_the_contents_follow_the_reader(long, browser, width):
    browser.open(long, width=width)
    assert settled(browser, CURRENT, "#answer") == "#answer"
    browser.ask("document.getElementById('found').scrollIntoView()")
    assert settled(browser, CURRENT, "#found") == "#found"
    nav, link = (browser.ask(BOX % which) for which in ("nav", "nav [aria-current]"))
    assert 0 <= nav["top"] < 40  # still in sight
    assert nav["left"] - 1 <= link["left"] < link["right"] <= nav["right"] + 1
    browser.ask("scrollTo(0, document.documentElement.scrollHeight)")
    assert settled(browser, CURRENT, "#glossary") == "#glossary"


def test_contents_stand_beside_on_a_wide_screen_and_above_on_a_phone(long, browser):
    beside = (
        "document.querySelector('nav').getBoundingClientRect().right <= "
        "document.querySelector('main').getBoundingClientRect().left"
    )
    two = "new Set([...document.querySelectorAll('figure')].map(f => f.offsetLeft)).size"
    browser.open(long, width=1400)
    assert browser.ask(beside) is True
    assert browser.ask(two) == 2
    browser.open(long, width=390)
    assert browser.ask(beside) is False
    assert browser.ask(two) == 1
    assert browser.ask("document.documentElement.scrollWidth") <= 390


def test_a_table_shows_that_it_goes_on(long, browser):
    browser.open(long, width=390)
    scroll = "document.querySelector('.scroll')"
    assert browser.ask(f"{scroll}.scrollWidth > {scroll}.clientWidth")
    assert "gradient" in browser.ask(f"getComputedStyle({scroll}).backgroundImage")
    assert browser.ask(f"{scroll}.tabIndex") == 0


def test_a_link_opens_what_is_folded_and_paper_shows_it(long, browser):
    browser.open(long)
    assert browser.ask("document.querySelector('#how details').open") is False
    assert browser.ask("document.querySelector('#how dl').checkVisibility()") is False
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.ask("document.querySelector('#how dl').getBoundingClientRect().height") > 20
    browser.call("Emulation.setEmulatedMedia", media="")
    browser.ask("document.querySelector('nav a[href=\"#how\"]').click()")
    assert browser.ask("document.querySelector('#how details').open") is True


@pytest.mark.parametrize("light", ["true", "false"])
def test_a_frame_takes_the_notebook_s_colours_not_the_system_s(tmp_path, browser, light):
    """The frame cannot be asked; its picture can: the banner is light or dark."""
    import base64
    import io

    image = pytest.importorskip("PIL.Image")
    made = embedded(report(draw=lambda: (bars(0.9),)))
    host = tmp_path / "notebook.html"
    ready = '<script>document.documentElement.dataset.ready = "yes"</script>'
    host.write_text(
        f'<meta charset="utf-8"><body data-jp-theme-light="{light}" style="margin:0">{made}{ready}',
        encoding="utf-8",
    )
    browser.open(host, dark=light == "true")

    def brightness() -> float:
        shot = browser.call("Page.captureScreenshot", format="png")["data"]
        return float(image.open(io.BytesIO(base64.b64decode(shot))).convert("L").getpixel((15, 15)))

    seen = 128.0
    for _ in range(100):
        seen = brightness()
        if (seen > 200) == (light == "true") and seen != 255:
            break
        time.sleep(0.05)
    assert (seen > 200) == (light == "true"), seen
    assert browser.problems == []
    assert browser.requests == [host.resolve().as_uri()]


def test_a_link_in_a_frame_scrolls_the_frame_alone(tmp_path, browser):
    """A frame has no address that a link could lead to; the page around it stays where it is."""
    made = embedded(report(guarantee=("Promised.",) * 60))
    host = tmp_path / "notebook.html"
    ready = '<script>document.documentElement.dataset.ready = "yes"</script>'
    host.write_text(f'<meta charset="utf-8">{made}<div style="height:3000px"></div>{ready}')
    browser.open(host)
    before = browser.call("Page.captureScreenshot", format="png")["data"]
    browser.ask("document.querySelector('iframe').focus()")
    for key, code in (("Tab", 9), ("Tab", 9), ("Tab", 9), ("Enter", 13)):
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                         windowsVirtualKeyCode=code, **text)  # fmt: skip
    time.sleep(0.3)
    assert browser.ask("scrollY") == 0
    assert browser.call("Page.captureScreenshot", format="png")["data"] != before
    assert browser.requests == [host.resolve().as_uri()]
    assert browser.problems == []
