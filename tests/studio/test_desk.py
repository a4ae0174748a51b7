"""Opening files: guesses, hostile and huge ones, dropped ones; and what is taken away."""

import asyncio
import errno
import json
import os
import shlex
import stat
import sys
import threading
from contextlib import suppress
from types import SimpleNamespace

import pytest

import voile
from voile.errors import InvalidInput
from voile.files.column_guesses import glance
from voile.files.source import open_source
from voile.labels.sample_clinic import write_clinic
from voile.places.sample_trips import write_trips
from voile.studio._studio import StudioClosed, studio
from voile.studio.away import chosen, taken_away
from voile.studio.desk import Desk, Latest, Superseded
from voile.studio.running import Jobs
from voile.studio.security import Keys
from voile.studio.server import Studio
from voile.text.sample_messages import write_messages

HOSTILE = "<img src=x onerror=alert(1)><script>document.title='owned'</script>"


@pytest.fixture
def messages(tmp_path):
    path = tmp_path / "messages.csv"
    write_messages(path, count=60)
    return path


def test_columns_are_guessed(client, messages):
    opened = client.ask("open", {"path": str(messages)})
    found = {column["name"]: column for column in opened["glance"]["columns"]}
    assert found["text"]["role"] == "text"
    assert found["customer"]["role"] == "person"
    assert found["topic"]["role"] == "label"
    assert found["id"]["sign"] == "keys"
    assert opened["glance"]["looked_at"] == 60
    assert not opened["glance"]["more"]


def test_places_are_guessed_from_name_and_range():
    rows = [{"lat": 45.0 + k / 100, "lng": 5.0, "lon": 500.0} for k in range(10)]
    found = glance(open_source(rows))
    assert [column.role for column in found.columns] == ["latitude", "longitude", "number"]
    assert found.first("latitude") == "lat"
    assert found.first("text") is None


def test_of_a_huge_file_only_the_first_rows_are_read():
    read = []

    def rows():
        for k in range(10**9):
            read.append(k)
            yield k, {"text": f"row {k}"}

    found = glance(SimpleNamespace(columns=("text",), rows=rows))
    assert found.more
    assert found.looked_at == 1000
    assert len(read) == 1001


def test_a_dropped_file_is_the_owners_alone_and_gone_in_the_end(house, client, messages):
    answer, content = client.send(
        "POST", "/api/drop?name=..%2F..%2Fmy%20notes.csv", messages.read_bytes()
    )
    assert answer.status == 200
    opened = json.loads(content)
    assert opened["dropped"]
    assert opened["name"] == "my notes.csv"
    (kept,) = house.desk.folder.iterdir()
    assert str(kept) == opened["path"]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    house.close()
    assert not house.desk.folder.exists()


def test_a_drop_that_is_too_large_is_refused_and_not_kept(house, client, monkeypatch):
    monkeypatch.setattr("voile.studio.desk.LARGEST_DROP", 100)
    answer, content = client.send("POST", "/api/drop?name=a.csv", b"text\n" + b"x" * 200)
    assert answer.status == 400
    assert b"by its path" in content
    assert not list(house.desk.folder.iterdir())


def test_a_drop_that_is_cut_short_is_not_kept():
    """The disk is full, or the page was closed."""

    async def cut():
        yield b"text\n"
        raise OSError(errno.ENOSPC, "no space left on device")

    desk = Desk()
    try:
        with pytest.raises(OSError, match="no space"):
            asyncio.run(desk.open_drop("a.csv", cut()))
        assert not list(desk.folder.iterdir())
    finally:
        desk.leave()


def test_a_file_whose_name_is_no_unicode_is_opened(client, tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.csv"
    try:
        with open(path, "w") as file:
            file.write("text\nhello world\n")
    except OSError:
        pytest.skip("this system has no such names")
    answer, content = client.send("POST", "/api/open", json.dumps({"path": os.fsdecode(path)}))
    assert answer.status == 200, content
    opened = json.loads(content)["path"]
    assert os.fsencode(opened) == path
    options = {"data": opened, "column": "text", "epsilon": 3}
    asked = json.dumps({"command": "text protect", "options": options})
    answer, content = client.send("POST", "/api/away", asked)
    assert answer.status == 200, content


def at_once(work):
    """What two threads get, or why they are refused."""
    got = []

    def one():
        try:
            got.append(work())
        except InvalidInput as refused:
            got.append(refused)

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got


def test_of_two_jobs_that_are_begun_at_once_one_is_refused(monkeypatch):
    """To read a command's options its room is loaded, which may take a second."""
    both, end = threading.Barrier(2), threading.Event()

    def slow(command, options, *, passing):
        both.wait(30)
        return lambda: end.wait(30), {}

    monkeypatch.setattr("voile.studio.running.chosen", slow)
    jobs = Jobs()
    got = at_once(lambda: jobs.start("x", {}))
    end.set()
    assert sum(isinstance(one, InvalidInput) for one in got) == 1
    assert len(jobs.jobs) == 1


def test_two_first_questions_meet_one_screen(monkeypatch):
    both = threading.Barrier(2)

    def slow(name, desk):
        with suppress(threading.BrokenBarrierError):
            both.wait(0.5)
        return object()

    monkeypatch.setattr("voile.studio.server._made", slow)
    studio = Studio(Keys(1))
    first, second = at_once(lambda: studio.screen("jobs"))
    studio.desk.leave()
    assert first is second


@pytest.mark.parametrize("question", ["run", "away"])
def test_nothing_is_released_into_the_folder_that_is_deleted(house, client, messages, question):
    _, content = client.send("POST", "/api/drop?name=a.csv", messages.read_bytes())
    options = {**CHOSEN, "data": json.loads(content)["path"]}

    def refused(**more):
        body = {"command": "text protect", "options": {**options, **more}}
        return client.ask(question, body, status=400)["error"]

    assert "where to write" in refused()
    assert "must lie elsewhere" in refused(
        out=str(house.desk.folder / ".." / house.desk.folder.name / "x.csv")
    )
    assert [one.name for one in house.desk.folder.iterdir()] == ["dropped-1.csv"]


def test_a_dropped_file_is_taken_away_with_an_output_and_checked_without(house, messages):
    options = {**CHOSEN, "data": str(house.desk.folder / "a.csv")}
    for more in ({"out": str(messages.parent / "out.csv")}, {"dry_run": True}):
        assert taken_away("text protect", options | more, passing=house.desk.folder).command


@pytest.mark.parametrize("path", ["/nowhere/none.csv", "", "."])
def test_what_cannot_be_opened_is_said(client, path):
    assert client.ask("open", {"path": path}, status=400)["error"]


def test_questions_before_a_file_is_open_are_refused(client):
    assert "open a file" in client.ask("text/look", {"column": "text"}, status=400)["error"]


@pytest.mark.parametrize(
    ("abouts", "second"), [((None,) * 3, "superseded"), (("x", "x", "x"), "second")]
)
def test_only_the_latest_of_waiting_questions_is_answered(abouts, second):
    """Those about the same thing are all answered: a page that warms up turns nobody away."""
    import threading

    latest, going, free = Latest(), threading.Event(), threading.Event()

    def slow():
        going.set()
        free.wait(10)
        return "first"

    answers = {}

    def ask(name, work, about):
        try:
            answers[name] = latest.do(work, about)
        except Superseded:
            answers[name] = "superseded"

    threads = [threading.Thread(target=ask, args=("first", slow, abouts[0]))]
    threads[0].start()
    assert going.wait(10)
    for name, about in zip(("second", "third"), abouts[1:], strict=True):
        threads.append(threading.Thread(target=ask, args=(name, lambda name=name: name, about)))
        threads[-1].start()
        while latest.asked < len(threads):
            pass
    free.set()
    for thread in threads:
        thread.join(10)
    assert answers == {"first": "first", "second": second, "third": "third"}


# ── taking it away ─────────────────────────────────────────────────────────────────────────────

CHOSEN = {
    "column": "text", "epsilon": 2.5, "pass_": ["topic"], "drop": ["id", "customer", "tone",
    "region"], "language": "en", "seed": 5,
}  # fmt: skip


TAKEN = {
    "text protect": (
        lambda path: write_messages(path, count=60), {**CHOSEN, "top": 2000},
    ),
    "places protect": (
        lambda path: write_trips(path, vehicles=3, stops=4),
        {"epsilon": 30.5, "trace": "vehicle", "per": "trace", "way": "every",
         "drop": ["vehicle", "stop"], "seed": 5},
    ),
    "labels protect": (
        lambda path: write_clinic(path, count=100),
        {"label": "diabetic", "epsilon": 1.25, "mechanism": "rr", "classes": ["no", "yes"],
         "drop": ["ward"], "seed": 5,
         "pass_": ["age", "bmi", "glucose", "pulse", "sleep_hours", "smoker"]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("command", TAKEN)
def test_command_python_and_recipe_release_the_same(command, tmp_path, monkeypatch):
    """Under one seed: byte for byte, with one guarantee; and so does the page's own job."""
    from typer.testing import CliRunner

    from voile.cli.app import app
    from voile.studio.running import Jobs

    monkeypatch.chdir(tmp_path)
    write, options = TAKEN[command]
    data = write(tmp_path / "mine.csv")
    made = {}
    for name in ("command", "python", "recipe", "page"):
        out = tmp_path / f"{name}, of mine.csv"
        given = {**options, "data": str(data), "out": str(out)}
        away = taken_away(command, given)
        if name == "command":
            done = CliRunner().invoke(app, shlex.split(away.command)[1:])
            assert done.exit_code == 0, done.output
        elif name == "python":
            exec(away.python, {})
        elif name == "recipe":
            recipe = tmp_path / "release.toml"
            recipe.write_text(away.recipe, encoding="utf-8")
            voile.run(recipe)
        else:
            job = Jobs().start(command, given)
            assert job.done.wait(60)
            assert job.error == ""
        promised = json.loads(out.with_name(f"{out.name}.guarantee.json").read_text())
        assert promised["guarantee"]["epsilon"] == options["epsilon"]
        made[name] = out.read_bytes(), promised["guarantee"]
    assert made["command"] == made["python"] == made["recipe"] == made["page"]
    assert made["page"][0] != data.read_bytes()


NAMELESS = {
    "no classes": ({"mechanism": "rr"}, "classes must be public"),
    "no recipe": ({"mechanism": "cf"}, "give a --recipe"),
    "no such recipe": ({"mechanism": "ldp", "recipe": "nowhere.json"}, "nowhere.json"),
    "both": ({"mechanism": "rr", "classes": ["a", "b"], "learn_from_private": True}, "beside"),
    "one class": ({"mechanism": "rr", "classes": ["a"]}, "class"),
}


@pytest.mark.parametrize("how", NAMELESS)
def test_labels_that_the_command_would_refuse_are_not_taken_away(how):
    """By the command's own rules, before a record is read."""
    options, why = NAMELESS[how]
    given = {"data": "mine.csv", "label": "diabetic", "epsilon": 1.0}
    with pytest.raises(voile.VoileError, match=why):
        taken_away("labels protect", given | options)
    assert taken_away("labels protect", given | {"mechanism": "cf", "learn_from_private": True})


# ── audits ─────────────────────────────────────────────────────────────────────────────────────

OWN = "def same(text):\n    return text\n\ndef blank(text):\n    return 'x'\n"


@pytest.mark.parametrize(
    ("way", "verdict"),
    [
        ({"released": "released.csv"}, "violated"),
        ({"command": "{python} -u echo.py"}, "violated"),
        ({"command": "own.py:same"}, "violated"),
        ({"command": "own.py:blank"}, "open"),
    ],
)
def test_an_audit_of_two_files_a_command_and_ones_own_function(
    client, tmp_path, monkeypatch, way, verdict
):
    """What is released as it is hides nothing; what says nothing is not found to violate."""
    monkeypatch.chdir(tmp_path)
    texts = [f"a train to {town} at {hour}" for town in ("rome", "oslo") for hour in range(9)]
    for name in ("texts.csv", "released.csv"):
        (tmp_path / name).write_text("\n".join(["text", *texts]) + "\n")
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "echo.py").write_text("import sys\nfor line in sys.stdin: print(line, end='')\n")
    way = {name: value.format(python=sys.executable) for name, value in way.items()}
    options = {
        "texts": "texts.csv", "attacks": ["overlap"], "temperature": 0.0, "claim": 0.5,
        "trials": 200, **way,
    }  # fmt: skip
    job = client.ask("run", {"command": "text calibrate", "options": options})["job"]
    _, content = client.send("GET", f"/api/jobs/{job}")
    last = json.loads(content.decode().strip().split("\n\n")[-1][6:])
    assert last["error"] == ""
    assert last["verdict"] == verdict


def test_names_with_commas_and_quotes_survive():
    options = {"data": "a b.csv", "epsilon": 1.0, "drop": ['city, "old"', "x"], "pass_": ["it's"]}
    away = taken_away("text protect", options)
    from voile.cli.commands import listed

    words = shlex.split(away.command)
    assert words[3] == "a b.csv"
    drop = words[words.index("--drop") + 1]
    assert listed(drop, tuple[str, ...], "--drop") == ('city, "old"', "x")
    assert repr("it's") in away.python or '"it\'s"' in away.python


def test_names_keep_the_spaces_that_are_theirs():
    away = taken_away("text protect", {"data": "a.csv", "epsilon": 1.0, "drop": [" lead", "x "]})
    from voile.cli.commands import listed

    words = shlex.split(away.command)
    drop = words[words.index("--drop") + 1]
    assert listed(drop, tuple[str, ...], "--drop") == (" lead", "x ")
    assert listed(' a , "b ",c ', tuple[str, ...], "--drop") == ("a", "b ", "c")


def test_a_file_is_not_taken_for_an_option():
    away = taken_away("text protect", {"data": "-x.csv", "epsilon": 1.0, "drop": ["id"]})
    assert shlex.split(away.command)[3] == "./-x.csv"


def test_what_may_not_stand_in_a_recipe_does_not():
    options = {"data": "a.csv", "epsilon": 1.0, "drop": ["id"], "ledger": "budget.sqlite",
               "person": "id"}  # fmt: skip
    away = taken_away("text protect", options)
    assert away.left_out == ("ledger",)
    assert "budget.sqlite" not in away.recipe
    assert "budget.sqlite" in away.command


@pytest.mark.parametrize("command", ["studio", "run", "demo", "text nothing", "", "serve"])
def test_what_is_not_started_from_a_page(command):
    with pytest.raises(voile.VoileError, match="must be one of"):
        chosen(command, {})


def test_an_option_of_no_meaning_is_refused(client, messages):
    client.ask("open", {"path": str(messages)})
    body = {"command": "text protect", "options": {"data": str(messages), "loud": True}}
    assert "no option" in client.ask("away", body, status=400)["error"]


def test_a_job_tells_how_far_it_is_and_ends_with_its_report(client, messages, tmp_path):
    out = tmp_path / "out.csv"
    options = {**CHOSEN, "data": str(messages), "out": str(out), "top": 2000}
    job = client.ask("run", {"command": "text protect", "options": options})["job"]
    _, content = client.send("GET", f"/api/jobs/{job}")
    states = [json.loads(part[6:]) for part in content.decode().strip().split("\n\n")]
    assert states[-1]["finished"]
    assert states[-1]["error"] == ""
    assert "IN CLEAR" in states[-1]["in_clear"][0]
    assert len(states) > 1
    assert out.exists()
    page, content = client.send("GET", states[-1]["report"], x_voile_key=None)
    assert page.status == 200
    assert b"A release of text" in content
    assert "sandbox allow-scripts" in page.headers["content-security-policy"]
    assert "frame-ancestors 'self'" in page.headers["content-security-policy"]
    assert client.send("GET", states[-1]["report"], cookie=None)[0].status == 403


def test_a_ledger_is_charged_with_the_key_of_the_environment(client, tmp_path, monkeypatch):
    monkeypatch.setenv("VOILE_LEDGER_KEY", str(tmp_path / "own.key"))
    made = voile.ledger.init(tmp_path / "ledger.db", budget=9.0)
    assert made.key_file == str(tmp_path / "own.key")
    (tmp_path / "in.csv").write_text("user,text\na,cat\nb,dog\n")
    (tmp_path / "words.txt").write_text("cat 1 0\ndog 0 1\nemu 1 1\n")
    options = {
        "data": str(tmp_path / "in.csv"), "epsilon": 1.0, "drop": ["user"], "person": "user",
        "vocabulary": str(tmp_path / "words.txt"), "ledger": str(tmp_path / "ledger.db"),
    }  # fmt: skip
    job = client.ask("run", {"command": "text protect", "options": options})["job"]
    _, content = client.send("GET", f"/api/jobs/{job}")
    assert json.loads(content.decode().strip().split("\n\n")[-1][6:])["error"] == ""
    (account,) = voile.ledger.show(tmp_path / "ledger.db", person=("a",)).persons
    assert account.spent > 0


def test_a_job_that_is_refused_says_why_and_releases_nothing(client, messages, tmp_path):
    options = {"data": str(messages), "epsilon": 2.0, "out": str(tmp_path / "out.csv")}
    job = client.ask("run", {"command": "text protect", "options": options})["job"]
    _, content = client.send("GET", f"/api/jobs/{job}")
    last = json.loads(content.decode().strip().split("\n\n")[-1][6:])
    assert "--pass" in last["error"]
    assert last["report"] is None
    assert not (tmp_path / "out.csv").exists()
    assert client.send("GET", f"/report/{job}")[0].status == 404
    assert client.send("GET", "/api/jobs/none")[0].status == 404


def test_a_job_stops_where_it_tells(monkeypatch):
    from voile.progress import tell
    from voile.studio.running import Job

    job = Job("x")

    def work():
        job.stopping = True
        tell("going on")
        raise AssertionError("it goes on")

    job.work(work, {})
    assert job.error.startswith("stopped")
    assert job.done.is_set()


def test_a_job_that_has_an_answer_is_asked_for_it_first():
    from voile.interrupts import asked_to_stop, best_so_far, worth_keeping
    from voile.progress import say
    from voile.studio.running import Job

    job = Job("x")

    def work():
        with best_so_far():
            assert not job.state()["keeps"]
            worth_keeping()
            assert job.state()["keeps"]
            job.stop()
            assert asked_to_stop()
            say("a line", {"loss": 1.0})
            job.stop()
            say("another")
            raise AssertionError("it goes on")

    job.work(work, {})
    assert job.state()["parts"] == [{"loss": 1.0}]
    assert job.error.startswith("stopped")


def test_a_form_is_the_signature(client):
    form = client.ask("form", {"command": "text calibrate"})
    found = {field["name"]: field for field in form["fields"]}
    assert found["texts"]["required"]
    assert found["delta"]["kind"] == "number"
    assert found["attacks"]["kind"] == "words"
    assert client.ask("form", {"command": "studio"}, status=400)["error"]


def test_a_file_that_is_not_there_is_told_in_the_terminal(tmp_path):
    """Before a page is opened on nothing."""
    with pytest.raises(voile.errors.BadFile, match=r"must exist, got 'nope\.csv'"):
        studio(tmp_path / "nope.csv", browser=False)


@pytest.mark.parametrize(
    ("seconds", "told"), [(3.2, "open for 3 s,"), (89, "89 s,"), (100, "about 2 min")]
)
def test_how_long_it_was_open_is_told_as_it_was(seconds, told):
    assert told in StudioClosed(seconds, 1)._report().answer
