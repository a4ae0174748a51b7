"""The text screen in a browser: from a wish to ε, to a release, with mouse and keys."""

import csv
import json

import pytest

from studio.checks import looked_over
from studio.house import studio_open, to
from voile.text.sample_messages import write_messages

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    write_messages(folder / "messages.csv", count=40)
    return folder


@pytest.fixture(scope="module")
def page(browser, place):
    """The text screen of the messages, loaded once."""
    with studio_open(place / "messages.csv") as studio:
        browser.visit(studio.keys.address, width=1280)
        browser.port = studio.keys.port
        yield browser


def test_the_first_screen_shows_the_file_and_no_token(page):
    assert page.ask("location.search") == ""
    assert page.ask("document.cookie") == "", "no script reads the cookie"
    assert page.ask("document.getElementById('file').textContent") == "messages.csv"
    said = page.ask("document.querySelector('main').textContent")
    assert "40 rows" in said
    assert "customer (keys)" in said
    looked_over(page, page.port)


def shown(page):
    return page.ask("document.querySelector('.epsilon').textContent")


def settled(page):
    page.until("document.querySelector('.figures')?.dataset.exact === 'yes'")


def test_a_wish_becomes_an_epsilon_and_the_law_keeps_it(page):
    to(page, "text")
    settled(page)
    assert shown(page).startswith("ε = ")
    worst = page.ask("parseFloat(document.querySelector('.figures dd').textContent)")
    assert 10 < worst <= 20
    before = shown(page)
    page.ask("document.getElementById('range-watched').focus()")
    for _ in range(4):
        page.press("ArrowRight")
    page.until(f"document.querySelector('.epsilon').textContent !== {json.dumps(before)}")
    settled(page)
    assert float(shown(page).split()[-1]) > float(before.split()[-1])
    page.until("document.querySelector('.means').textContent.includes('odds')")
    looked_over(page, page.port)


def test_words_say_what_became_of_them(page):
    page.until("document.querySelectorAll('.after .word').length > 0")
    fates = page.ask("[...document.querySelectorAll('.after .word')].map(w => w.className)")
    assert {"word kept", "word drawn", "word placeholder"} <= set(fates)
    assert "seeded: not a release" in page.ask("document.querySelector('.stamp').textContent")
    page.ask("document.querySelector('.after .word').focus()")
    page.until("!!document.querySelector('.law .bars')")
    first = page.ask("document.querySelector('.law h3').textContent")
    page.press("ArrowRight")
    page.until(f"document.querySelector('.law h3')?.textContent !== {json.dumps(first)}")
    assert page.ask("document.activeElement.classList.contains('word')")
    bars = page.ask("[...document.querySelectorAll('.bars meter')].map(m => m.value)")
    assert bars == sorted(bars, reverse=True)
    assert len(bars) == 8


def test_a_click_on_the_curves_chooses_the_point(page):
    page.click(".curves svg")
    page.until("document.getElementById('wish-epsilon').checked")
    settled(page)
    chosen = float(shown(page).split()[-1])
    drawn = "Number(document.querySelector('.texts').dataset.epsilon)"
    page.until(f"{drawn} === {chosen}")
    assert f"--epsilon {chosen:g}" in page.ask("document.querySelector('.way pre').textContent")


def test_the_reader_can_be_the_measure(page):
    page.until("!document.getElementById('range-reader').disabled")
    page.click("#wish-reader")
    settled(page)
    assert page.ask("document.querySelectorAll('.line.named').length") == 1
    named = page.ask("parseFloat(document.querySelectorAll('.figures dd')[1].textContent)")
    assert named <= 15


def test_topics_still_right_can_be_the_measure(page):
    """The label column of the file is the topic; ε follows, and no ε where none will do."""
    page.until("!document.getElementById('range-topic').disabled")
    page.click("#wish-topic")
    settled(page)
    assert page.ask("document.querySelectorAll('.line.topic').length") == 1
    said = page.ask("document.querySelector('section[aria-label=Curves]').textContent")
    assert "40 rows" in said
    right = "parseFloat(document.querySelectorAll('.figures dd')[3].textContent)"
    wanted = page.ask("Number(document.getElementById('number-topic').value)")
    assert page.ask(right) >= wanted - 0.5, "percent are shown to three digits"
    least = float(shown(page).split()[-1])
    put(page, "number-topic", wanted / 2)
    settled(page)
    assert float(shown(page).split()[-1]) < least
    put(page, "number-topic", 99.9)
    assert shown(page) == "no ε"
    assert "originals" in page.ask("document.querySelector('.means').textContent")
    put(page, "number-topic", wanted)
    settled(page)
    looked_over(page, page.port)
    page.click("#wish-reader")
    settled(page)


def named(label):
    """The control of this name."""
    return (
        "document.getElementById([...document.querySelectorAll('label')].find(l => "
        f"l.firstChild.textContent === {json.dumps(label)}).htmlFor)"
    )


def test_stand_ins_and_public_text_are_previewed(page, place):
    """Each is in the command as it is in the preview."""
    pytest.importorskip("spacy")
    command = "document.querySelector('.way pre')?.textContent ?? ''"
    box = named("stand-ins for names and identifiers")
    page.ask(f"{box}.click()")
    page.until("document.querySelectorAll('.after .word.stand-in').length > 0")
    page.until(f"({command}).includes('--pseudonyms')")
    page.ask("document.querySelector('.after .word.stand-in').focus()")
    assert "says nothing of who" in page.ask("document.querySelector('.law').textContent")
    page.ask(f"{box}.click()")
    settled(page)
    public = place.parent / "public.txt"
    public.write_text("my order came late again\nplease close the account of my father\n" * 30)
    put(page, page.ask(f"{named('Public text to read them with')}.id"), json.dumps(str(public)))
    assert "--public" not in page.ask(command), "without restoring it is of no use"
    restoring = page.ask(f"{named('Read the draws as a whole')}.id")
    put(page, restoring, "'reading'")
    page.until(f"({command}).includes('--restore reading') && ({command}).includes('--public')")
    settled(page)
    assert "before the draws are read" in page.ask("document.querySelector('.figures').textContent")
    put(page, restoring, "''")
    settled(page)
    page.until(f"!({command}).includes('--public')")


WAYS = "[...document.querySelectorAll('.ways, section[aria-label=\"Take it away\"] > .buttons')]"


def put(page, control, value):
    page.ask(
        f"(() => {{ const box = document.getElementById({json.dumps(control)}); "
        f"box.value = {value}; box.dispatchEvent(new Event('change')); }})()"
    )


def test_where_no_epsilon_will_do_none_can_be_released(page):
    put(page, "number-reader", 0.1)
    assert shown(page) == "no ε"
    assert page.ask(f"{WAYS}.map(part => part.hidden)") == [True, True]
    page.click("section[aria-label='Before and after'] .buttons button")
    assert "No ε keeps that" in page.ask("document.querySelector('.means').textContent")
    assert page.ask("document.querySelector('.figures').childElementCount") == 0
    put(page, "number-reader", 15)
    settled(page)
    assert page.ask(f"{WAYS}.map(part => part.hidden)") == [False, False]


def test_nothing_is_released_until_what_was_chosen_is_shown(page):
    label = (
        "[...document.querySelectorAll('label')].find(l => l.textContent === 'postal addresses')"
    )
    box = f"document.getElementById({label}.htmlFor)"
    command = "document.querySelector('.way pre')?.textContent"
    assert page.ask(f"({box}.click(), {WAYS}.map(part => part.hidden))") == [True, True]
    assert page.ask("document.querySelector('.figures').childElementCount") == 0
    page.until(f"{WAYS}.every(part => !part.hidden)")
    page.until(f"{command}?.includes('addresses')")
    page.ask(f"{box}.click()")
    settled(page)
    page.until(f"{command} && !{command}.includes('addresses')")


def test_a_release_from_the_page(page, place):
    chosen = float(shown(page).split()[-1])
    page.click("section[aria-label='Take it away'] button.main")
    page.until("document.querySelector('.job').dataset.done === 'yes'")
    page.until("!!document.querySelector('iframe')")
    assert "ε = " in page.ask("document.querySelector('.job .answer').textContent")
    made = place / "messages.protected.csv"
    with made.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 40
    assert list(rows[0]) == ["text"]
    promised = json.loads((place / "messages.protected.csv.guarantee.json").read_text())
    assert promised["guarantee"]["epsilon"] == chosen
    assert promised["seed"] is None, "a preview's seed must not reach a release"
    assert not page.problems


def test_nothing_but_the_release_was_written(place):
    assert sorted(path.name for path in place.iterdir()) == [
        "messages.csv", "messages.protected.csv", "messages.protected.csv.guarantee.json",
    ]  # fmt: skip


def test_cells_that_hold_markup_stay_text(page, place):
    path = place.parent / "hostile.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "a<b>c"])
        writer.writerows([[f"please read this {HOSTILE} now", HOSTILE]] * 3)
    to(page, "open")
    page.ask(f"document.querySelector('form input').value = {json.dumps(str(path))}")
    page.click("form button")
    page.until("document.getElementById('file').textContent === 'hostile.csv'")
    assert page.ask("document.querySelector('td').textContent").startswith("please read this <img")
    to(page, "text")
    settled(page)
    assert page.ask("document.querySelectorAll('main img, main script').length") == 0
    assert page.ask("document.title") == "voile studio"
    looked_over(page, page.port)


def test_what_is_refused_is_said_and_the_page_lives_on(page):
    to(page, "open")
    page.ask("document.querySelector('form input').value = '/nowhere/none.csv'")
    page.click("form button")
    page.until("document.getElementById('notice').textContent.length > 10")
    assert "hostile.csv" in page.ask("document.getElementById('file').textContent")
    page.problems.clear()  # the browser logs every refused request


def test_the_audit_screen_attacks_pairs(page, place):
    path = place.parent / "pairs.csv"
    texts = [f"a train to {town} at {hour}" for town in ("rome", "oslo") for hour in range(9)]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("text", "released"), *((text, text) for text in texts)])
    to(page, "audit")
    page.until("!!document.querySelector('form.panel')")

    def put(label, value):
        page.ask(
            f"(() => {{ const l = [...document.querySelectorAll('label')].find(l => l.textContent "
            f"=== {json.dumps(label)}); const i = document.getElementById(l.htmlFor); "
            f"i.value = {json.dumps(value)}; i.dispatchEvent(new Event('change')); }})()"
        )

    for label, value in (("texts", str(path)), ("released", "released"), ("attacks", "overlap"),
                         ("temperature", "0"), ("claim", "0.5"), ("trials", "200")):  # fmt: skip
        put(label, value)
    page.click("form button[type=submit]")
    page.until("document.querySelector('.job').dataset.done === 'yes'")
    assert page.ask("document.querySelector('.verdict')?.textContent") == "violated"
    looked_over(page, page.port)
