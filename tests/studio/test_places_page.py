"""The screens of places and labels in a browser: a wish, a map, a frontier, a release."""

import csv
import json

import pytest

from studio.checks import looked_over
from studio.house import studio_open, to
from voile.labels.sample_clinic import write_clinic
from voile.places.sample_trips import write_trips


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


def test_the_trace_of_one_person_before_and_after(page):
    asked = "[...document.querySelectorAll('label')].find(l => l.textContent === 'ε is for')"
    assert page.ask(f"{asked}.getClientRects().length") == 0, "the command has no trace yet"
    choose(page, "Trace of one person", "v002")
    assert page.ask(f"{asked}.getClientRects().length") == 1
    page.until("document.querySelectorAll('.map polyline').length === 2")
    page.until(
        "[...document.querySelectorAll('.hint')].some(p => p.textContent.includes('8 places'))"
    )
    page.until("document.querySelector('.way pre').textContent.includes('--trace vehicle')")
    said = "[...document.querySelectorAll('.hint')].some(p => p.textContent.includes('share ε'))"
    assert page.ask(said), "the figures are those of one place"
    choose(page, "ε is for", "place")
    page.until(f"!{said}")
    choose(page, "Trace of one person", "")
    page.until("!document.querySelector('.way pre').textContent.includes('--trace')")


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
    command = "document.querySelector('.way pre').textContent"
    page.until(f"{command}.includes('--epsilon 2.0') && {command}.includes('--mechanism rr')")
    looked_over(page, page.port)
