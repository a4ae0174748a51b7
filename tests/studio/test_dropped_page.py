"""A file that is dropped on the page is released only where its owner says."""

import json

from studio.house import studio_open
from voile.places.sample_trips import write_trips

RELEASE = "document.querySelector(\"section[aria-label='Take it away'] button.main\")"
WAYS = "document.querySelector('.ways').textContent"


def put(page, value):
    page.ask(
        "(() => { const l = [...document.querySelectorAll('label')].find(l => l.textContent === "
        f"'Output'); const c = document.getElementById(l.htmlFor); c.value = {json.dumps(value)}; "
        "c.dispatchEvent(new Event('change')); })()"
    )


def test_a_dropped_file_has_no_command_before_its_output_is_named(browser, tmp_path):
    write_trips(tmp_path / "trips.csv", vehicles=2, stops=4)
    content = json.dumps((tmp_path / "trips.csv").read_text())
    with studio_open() as studio:
        browser.visit(studio.keys.address, width=1280)
        browser.until("!!document.querySelector('.drop')")
        browser.ask(
            f"(() => {{ const d = new DataTransfer(); d.items.add(new File([{content}], 't.csv'));"
            "document.querySelector('.drop').dispatchEvent(new DragEvent('drop', "
            "{dataTransfer: d, cancelable: true})); })()"
        )
        browser.until("!!document.querySelector('#seen')")
        browser.click('nav a[data-screen="places"]')
        browser.until("!!document.querySelector('.ways')?.textContent")
        assert "Say under Output" in browser.ask(WAYS)
        assert browser.ask(f"{RELEASE}.disabled")
        put(browser, str(tmp_path / "out.csv"))
        browser.until(f"{WAYS}.includes('--out')")
        assert "ends with the studio" in browser.ask(WAYS)
        assert not browser.ask(f"{RELEASE}.disabled")
        put(browser, "")
        assert "--out" not in browser.ask(WAYS)
        assert browser.ask(f"{RELEASE}.disabled")
        assert not browser.problems, browser.problems
