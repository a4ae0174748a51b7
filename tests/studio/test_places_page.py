"""The screens of places and labels in a browser: a wish, a map, a frontier, a release."""

import csv
import json

import pytest

from studio.checks import looked_over
from studio.house import studio_open, to
from voile.labels.sample_clinic import write_clinic
from voile.places.sample_trips import write_city, write_trips


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("places")
    write_trips(folder / "trips.csv", vehicles=6, stops=8)
    write_clinic(folder / "clinic.csv", count=200)
    return folder


@pytest.fixture(scope="module")
def page(browser, place):
    with studio_open(place / "trips.csv") as studio:
        browser.visit(studio.keys.address, width=1280)
        browser.port = studio.keys.port
        yield browser


def choose(page, label, value):
    page.ask(
        f"(() => {{ const l = [...document.querySelectorAll('label')].find(l => l.textContent === "
        f"{json.dumps(label)}); const c = document.getElementById(l.htmlFor); c.value = "
        f"{json.dumps(value)}; c.dispatchEvent(new Event('change')); }})()"
    )


def strength(page):
    return float(page.ask("document.querySelector('.figures')?.dataset.epsilon ?? 0"))


def test_a_mean_error_becomes_an_epsilon_per_km(page):
    to(page, "places")
    page.until("!!document.querySelector('.figures').dataset.epsilon")
    before = strength(page)
    assert 4 < before < 6, "500 m on average"
    page.ask("document.querySelector('input[type=range]').focus()")
    page.press("ArrowRight")
    page.until(f"Number(document.querySelector('.figures').dataset.epsilon) < {before}")
    assert page.ask("document.querySelectorAll('.map .after-point').length") == 48
    looked_over(page, page.port)


def test_a_click_shows_where_a_place_may_be_reported(page):
    page.until("document.querySelectorAll('.map .cell').length === 400")
    before = page.ask("document.querySelector('.map .here').getAttribute('cx')")
    page.click(".map svg")
    page.until(f"document.querySelector('.map .here').getAttribute('cx') !== '{before}'")
    assert page.ask("document.querySelectorAll('.map .ring').length") == 2
    view = page.ask("document.querySelector('.map svg').getAttribute('viewBox')")
    page.click(".zoom button")
    assert page.ask("document.querySelector('.map svg').getAttribute('viewBox')") != view
    page.ask("document.querySelector('.map svg').focus()")
    page.press("ArrowLeft")


def test_streets_lie_under_the_map(page, place):
    page.until("document.querySelector('.map .street')?.getAttribute('d').length > 1000")
    write_city(place / "city")
    choose(page, "Roads under the map", str(place / "city"))
    said = "[...document.querySelectorAll('.hint')].some(p => p.textContent.startsWith('city: '))"
    page.until(said)


def test_the_trace_of_one_person_before_and_after(page):
    """Shown as it would be released: places share ε, and a reader of all of them is told of."""
    asked = (
        "[...document.querySelectorAll('label')].find(l => l.textContent === 'A trace is drawn so')"
    )
    command = "document.querySelector('.way pre').textContent"
    assert page.ask(f"{asked}.getClientRects().length") == 0, "the command has no trace yet"
    alone = strength(page)
    choose(page, "Trace of one person", "v002")
    page.until("document.querySelectorAll('.map polyline').length === 2")
    page.until(
        "[...document.querySelectorAll('.hint')].some(p => p.textContent.includes('8 places'))"
    )
    assert page.ask(f"{asked}.getClientRects().length") == 1
    page.until(f"{command}.includes('--trace vehicle')")
    assert strength(page) > 7 * alone, "eight places share what one had"
    whose = "document.querySelector('section[aria-label=\"How strong\"]').textContent"
    page.until(f"{whose}.includes('A draw of this trace')")
    page.until("[...document.querySelectorAll('.hint')].some(p => p.dataset.done)")
    said = page.ask("[...document.querySelectorAll('.hint')].find(p => p.dataset.done).textContent")
    assert "knows 5 other traces" in said
    assert "off on average" in said
    assert page.ask("document.querySelectorAll('.map .guess').length") == 1
    choose(page, "A trace is drawn so", "stays")
    page.until(f"{command}.includes('--way stays')")
    choose(page, "ε is for", "place")
    page.until(f"!{command}.includes('--trace')")
    page.until(f"Number(document.querySelector('.figures').dataset.epsilon) === {alone}")
    choose(page, "Trace of one person", "")
    looked_over(page, page.port)


def test_methods_stand_side_by_side_while_they_are_solved(page):
    page.ask("document.querySelector('details[data-panel=design]').open = true")
    choose(page, "Cells, rows x columns", "2x3")
    page.click("section[aria-label='Design for a map'] .buttons button")
    done = "document.querySelector('section[aria-label=\"Design for a map\"] .job').dataset.done"
    row = "document.querySelectorAll('section[aria-label=\"Design for a map\"] tbody tr').length"
    page.until(f"{row} > 1")
    page.until(f"{done} === 'yes'")
    table = "document.querySelector('section[aria-label=\"Design for a map\"] table').textContent"
    said = page.ask(table)
    assert "lower bound" in said
    assert "NOT PRIVATE" in said, "AIPO-R is no private method"
    assert page.ask(f"/\\d %/.test({table})"), "the gap to the bound"
    assert "loses least" in page.ask(
        "document.querySelector('section[aria-label=\"Design for a map\"] .answer').textContent"
    )
    page.ask("document.querySelector('details[data-panel=design]').open = false")


def test_places_are_released_from_the_page(page, place):
    chosen = strength(page)
    page.click("section[aria-label='Take it away'] button.main")
    page.until("document.querySelector('.job').dataset.done === 'yes'")
    with (place / "trips.protected.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 48
    assert list(rows[0]) == ["lat", "lon"]
    promised = json.loads((place / "trips.protected.csv.guarantee.json").read_text())
    assert promised["guarantee"]["epsilon"] == chosen
    looked_over(page, page.port)


def test_labels_weigh_features_and_pick_a_point(page, place):
    to(page, "open")
    page.ask(
        f"document.querySelector('form input').value = {json.dumps(str(place / 'clinic.csv'))}"
    )
    page.click("form button")
    page.until("document.getElementById('file').textContent === 'clinic.csv'")
    to(page, "labels")
    choose(page, "The secret label", "diabetic")
    shown = "document.querySelector('section[aria-label=\"Take it away\"] .ways').textContent"
    page.until(f"{shown}.includes('which values the label has')")
    assert page.ask("document.querySelector('button.main').disabled"), "it would be refused"
    colour = "getComputedStyle(document.querySelector('button.main')).backgroundColor"
    greyed = page.ask(colour)
    page.click("section[aria-label='What features add'] button")
    page.until("!!document.querySelector('section[aria-label=\"What features add\"] .bars')")
    names = page.ask(
        '[...document.querySelectorAll(\'section[aria-label="What features add"] > div > .bars li '
        "span:first-child')].map(s => s.textContent)"
    )
    assert "glucose" in names[:3]
    page.click("section[aria-label='Use against leakage'] button")
    page.until("!!document.querySelector('.frontier')")
    page.ask(
        "[...document.querySelectorAll('.pick')].find(p => p.getAttribute('aria-label')"
        ".startsWith('label DP, ε 2:')).focus()"
    )
    page.press("Enter")
    page.until("document.querySelector('.epsilon').textContent === 'rr, ε = 2'")
    command = "(document.querySelector('.way pre')?.textContent ?? '')"
    choose(page, "Values of the label", "no,yes")
    page.until(f"{command}.includes('--epsilon 2.0') && {command}.includes('--mechanism rr')")
    looked_over(page, page.port)
    pick = (
        "[...document.querySelectorAll('.pick')].find(p => p.getAttribute('aria-label')"
        ".startsWith({0}))"
    )
    assert not page.ask("document.querySelector('button.main').disabled")
    assert page.ask(colour) != greyed, "whoever looks sees which"
    page.ask(pick.format("'sampled column, ε 4:'") + ".focus()")
    page.press("Enter")
    page.until(f"{shown}.startsWith('Name a public recipe')")
    page.click("section[aria-label='Chosen'] input[type=checkbox]")
    page.until(f"{command}.includes('--mechanism sample')")
    page.ask(pick.format("'central DP'") + ".focus()")
    page.press("Enter")
    page.until("!!document.querySelector('section[aria-label=\"Use against leakage\"] .warn')")
    assert "another trust" in page.ask(
        "document.querySelector('section[aria-label=\"Use against leakage\"] .warn').textContent"
    )
    assert "--mechanism sample" in page.ask(command), "nothing is taken that cannot be released"
