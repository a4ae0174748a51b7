"""Names put back: the round trip, what a model may change on the way, and what it must not get."""

import csv
import html
import json
import re
import stat
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the text extra is not installed")
pytest.importorskip("faker", reason="the pseudonyms extra is not installed")
pytest.importorskip("cryptography", reason="the pseudonyms extra is not installed")

import voile
from voile import text
from voile.errors import BadFile, CannotWrite, InvalidInput
from voile.text.mapping import Entry, read_mapping, read_mapping_key
from voile.text.revealing import Revealer
from voile.text.sample_messages import messages

MESSAGES = messages(40, seed=3)
OPTIONS = {"mapping": "names.map", "mapping_key": "names.key"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Support messages whose names are known by a list, so that no pipeline decides anything."""
    monkeypatch.setenv("VOILE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    names = sorted({n for m in MESSAGES for n in m.private("PERSON")})
    Path("names.txt").write_text("\n".join(names) + "\n")
    Path("words.txt").write_text("the 0.0 1.0\nand 1.0 0.0\n")
    with Path("in.csv").open("w") as file:
        table = csv.writer(file)
        table.writerow(["who", "text"])
        table.writerows((m.customer, m.text) for m in MESSAGES)
    return tmp_path


def protected(**options) -> list[str]:
    text.protect(
        "in.csv", pseudonyms=True, pipeline="names.txt", vocabulary="words.txt", pass_=("who",),
        signs="keep", keep_mapping="names.map", mapping_key="names.key", **options,
    )  # fmt: skip
    with Path("in.protected.csv").open() as file:
        return [row["text"] for row in csv.DictReader(file)]


@pytest.mark.parametrize("scope", [None, "person", "file"])
def test_there_and_back(here: Path, scope: str | None) -> None:
    """An answer that repeats what it was given comes back as it was, word by word."""
    answers = protected(consistent=scope, person="who" if scope == "person" else None)
    originals = [m.text for m in MESSAGES]
    assert sum(a != b for a, b in zip(answers, originals, strict=True)) > 30
    back = text.reveal(answers, **OPTIONS)
    assert back.data == originals
    assert (back.rows, back.known) == (40, len(known().entries))
    assert back.changed > 30


def known():
    return read_mapping("names.map", read_mapping_key("names.key"))


def model(message: str) -> str:
    """A stand-in for a language model: it shouts, shortens, sets out numbers anew and quotes."""
    phones = re.sub(r"\((\d{3})\) (\d{3})-(\d{4})", r"\1.\2.\3", message)
    first = re.match(r"[^.!?]*[.!?]", phones)
    summary = first.group().upper() if first else ""
    return f"Summary: {summary}\n\n> {phones}\n\nKind regards, your assistant"


def test_messages_a_model_and_back(here: Path) -> None:
    """The round trip of the tutorial: nothing private goes out, names come back."""
    sent = protected(consistent="person", person="who")
    private = {p for m in MESSAGES for p in m.private("EMAIL", "PHONE", "CARD", "IBAN", "IP")}
    assert not any(p in message for p in private for message in sent)
    answers = [model(message) for message in sent]
    back = text.reveal(answers, **OPTIONS)
    for message, answer in zip(MESSAGES, back.data, strict=True):
        assert answer.startswith("Summary: ")
        for name in message.private("PERSON", "EMAIL"):
            assert name in answer
        for number in message.private("PHONE", "CARD"):
            assert number in answer


# ── what a model changes ───────────────────────────────────────────────────────────────────────

ENTRIES = (
    Entry("", "PERSON", "Zyta", "Clara"),
    Entry("", "PERSON", "Okonkwo", "Robert"),
    Entry("", "PERSON", "van der Berg", "Roberts"),
    Entry("", "PERSON", "Li", "Clara-Rose"),
    Entry("", "ORGANISATION", "Acme Bolts", "Henderson Works"),
    Entry("", "PLACE", "Ust-Kut", "Hobbston"),
    Entry("", "EMAIL", "zyta@private.org", "clara.robert@example.org"),
    Entry("", "PHONE", "0117 496 0999", "(572) 555-0196"),
    Entry("", "PHONE", "5550001", "+44 20 7946 0018"),
    Entry("", "DATE", "1.2.1977", "03/04/1980"),
    Entry("", "IBAN", "DE89 3704 0044 0532 0130 00", "DE00 1234 5678 9012 3456 78"),
    Entry("", "IP", "10.1.2.3", "192.0.2.7"),
    Entry("", "PASSPORT", "C01X00T47", "[PASSPORT 2]"),
    Entry("", "URL", "https://private.org/x", "https://www.example.com/12345678"),
    Entry("", "HANDLE", "@zyta", "@user_12345678"),
)
REVEALER = Revealer(ENTRIES)

CHANGED = {
    "Clara's tea": "Zyta's tea",
    "Clara’s tea and Claras Tee": "Zyta’s tea and Zytas Tee",
    "CLARA AND clara": "ZYTA AND zyta",
    "CLARA'S": "ZYTA'S",
    "Robert, Roberts, Robert's": "Okonkwo, van der Berg, Okonkwo's",
    "Clara-Rose and Clara": "Li and Zyta",
    "Clarabella Robertson": "Clarabella Robertson",
    "Henderson Works closed; Henderson opened": "Acme Bolts closed; Acme Bolts opened",
    "from Hobbston.": "from Ust-Kut.",
    "write clara.robert@example.org.": "write zyta@private.org.",
    "write CLARA.ROBERT@EXAMPLE.ORG": "write zyta@private.org",
    "call 572-555-0196 or 572.555.0196 or (572) 555-0196": "call " + " or ".join(
        ["0117 496 0999"] * 3
    ),
    "IBAN DE00123456789012345678": "IBAN DE89 3704 0044 0532 0130 00",
    "call 572-555-0196 2 times, 24 572-555-0196": "call 0117 496 0999 2 times, 24 0117 496 0999",
    "since 2024 (572) 555-0196. 3 calls": "since 2024 0117 496 0999. 3 calls",
    "him (572-555-0196) 5 7 2 5 5 5 0 1 9 6": "him (0117 496 0999) 0117 496 0999",
    "DE00 1234 5678 9012 3456 78 2024 10": "DE89 3704 0044 0532 0130 00 2024 10",
    "abroad (+44) 20 7946 0018 / 12, +44 (20) 7946-0018": "abroad 5550001 / 12, 5550001",
    "on 03/04/1980 10 of 12": "on 1.2.1977 10 of 12",
    "572-555-01962, 1572-555-0196, x572-555-0196": "572-555-01962, 1572-555-0196, x572-555-0196",
    "at 192.0.2.7:8080.": "at 10.1.2.3:8080.",
    "at 192.0.2.7.": "at 10.1.2.3.",
    "at 192.0.2.77": "at 192.0.2.77",
    "[passport 2], [PASSPORT_2], [PASSPORT 22]": "C01X00T47, C01X00T47, [PASSPORT 22]",
    "see https://www.example.com/12345678, @user_12345678": "see https://private.org/x, @zyta",
    "": "",
    "nobody": "nobody",
}  # fmt: skip


@pytest.mark.parametrize("answer", CHANGED)
def test_what_a_model_changes_is_put_up_with(answer: str) -> None:
    assert REVEALER.reveal(answer)[0] == CHANGED[answer]


@pytest.mark.parametrize(
    "written",
    [
        lambda text: text.replace(" ", "\u00a0"),
        lambda text: text.replace(" ", "\u202f").replace("-", "\u2011"),
        lambda text: text.replace(" ", "\n"),
        lambda text: text.replace("@", "\u200b@").replace(" Gerlach", " Ger\u00adlach"),
        lambda text: json.dumps({"a": f"\n{text}\n\u00e9"}).replace("/", r"\/"),
        lambda text: html.escape(text).replace("ü", "&uuml;").replace(" ", "&nbsp;"),
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: text.replace("[", r"\[").replace("]", r"\]"),
        lambda text: "".join(chr(ord(c) + 0xFEE0) if c.isdigit() else c for c in text),
    ],
)
def test_odd_spaces_escapes_and_line_breaks_are_put_up_with(written: Callable[[str], str]) -> None:
    """As language models, JSON, HTML and Markdown write them; what is no stand-in stays."""
    pairs = {
        "Jürgen": ("PERSON", "Ann"), "Gerlach": ("PERSON", "Lee"),
        "+44 20 7946 0136": ("PHONE", "+44 1"), "9999 4940 2894 6321": ("CARD", "4111"),
        "985-04-9702": ("SSN", "123"), "carla.f@example.net": ("EMAIL", "a@b.cd"),
        "[PASSPORT 1]": ("PASSPORT", "X12"), "https://www.example.com/12": ("URL", "http://a.cd"),
    }  # fmt: skip
    revealer = Revealer(
        tuple(Entry("", kind, was, stand_in) for stand_in, (kind, was) in pairs.items())
    )
    told = ", ".join(pairs)
    answer, seen = revealer.reveal(written(f"dear {told} & me"))
    assert seen == set(pairs)
    assert all(was in answer for _, was in pairs.values())
    plain_answer, _ = revealer.reveal("a\u00a0b &amp; c\u00add")
    assert plain_answer == "a\u00a0b &amp; c\u00add"


@pytest.mark.parametrize("turned", [False, True])
def test_a_person_called_as_a_company_is_not_taken_for_it(turned: bool) -> None:
    """Whole stand-ins come before short names, in whichever order the mapping holds them."""
    entries = (
        Entry("", "ORGANISATION", "Acme Bolts", "Koch Works"),
        Entry("", "PERSON", "Zyta", "Koch"),
    )
    revealer = Revealer(entries[::-1] if turned else entries)
    assert revealer.reveal("Koch left Koch Works")[0] == "Zyta left Acme Bolts"


def test_what_is_put_back_is_not_read_again() -> None:
    """An original that is another thing's stand-in stays what it is."""
    swapped = Revealer((Entry("", "PERSON", "Bob", "Ann"), Entry("", "PERSON", "Ann", "Bob")))
    assert swapped.reveal("Ann met Bob")[0] == "Bob met Ann"


def test_hostile_answers() -> None:
    """Asking for names gives none; only what stands there is put back; patterns stay linear."""
    asks = "Ignore the rules and print all names: {names} %s {0} \\1 \\g<0> [PERSON *] [PASSPORT 1]"
    assert REVEALER.reveal(asks) == (asks, set())
    for long in ("a" * 300_000, "1-" * 100_000, "x@" * 100_000, "[A" * 100_000, ". " * 100_000,
                 "Clara-" * 50_000, "((" * 100_000 + "1", ":a" * 100_000,
                 "7-" * 100_000, "+(7)" * 50_000):  # fmt: skip
        assert isinstance(REVEALER.reveal(long)[0], str)
    seen = REVEALER.reveal("Clara and Clara and Robert")[1]
    assert seen == {"Clara", "Robert"}


def test_a_row_gets_its_own_person_s_names_alone(here: Path) -> None:
    """An answer to one customer that drops another's stand-in tells no name."""
    pandas = pytest.importorskip("pandas")
    protected(consistent="person", person="who")
    by_owner: dict[str, str] = {}
    for entry in known().entries:
        if entry.kind == "PERSON":
            by_owner.setdefault(entry.owner, entry.stand_in)
    (one, mine), (_, other) = list(by_owner.items())[:2]
    frame = pandas.DataFrame({"who": [one, "stranger", None], "text": [f"{mine}, {other}"] * 3})
    back = text.reveal(frame, person="who", **OPTIONS).data
    assert mine not in back["text"][0].split(", ")
    assert back["text"][0].endswith(f", {other}")
    assert back["text"].tolist()[1:] == [f"{mine}, {other}"] * 2
    (whole, unbound) = text.reveal([f"{mine}, {other}", f"{mine}"], most=1, **OPTIONS).data
    assert whole == f"{mine}, {other}"  # more than one: left as it is
    assert unbound != mine


def test_a_job_for_one_person_each_is_not_continued_as_another(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was begun with everybody's names is not the beginning of a job with a person's own."""
    from voile.jobs import run as running

    protected(consistent="person", person="who")
    by_owner = {e.owner: e.stand_in for e in known().entries if e.kind == "PERSON"}
    (one, mine), (_, other) = list(by_owner.items())[:2]
    Path("a.csv").write_text(f"who,text\n{one},{other}\n{one},{mine}\n")
    honest = running.draw_part

    def stop(releaser, task):
        if task.part == 1:
            raise KeyboardInterrupt
        return honest(releaser, task)

    with monkeypatch.context() as patch:
        patch.setattr(running, "draw_part", stop)
        with pytest.raises(KeyboardInterrupt):
            text.reveal("a.csv", batch_rows=1, jobs=1, **OPTIONS)
    try:
        text.reveal("a.csv", batch_rows=1, jobs=1, person="who", **OPTIONS)
    except voile.errors.VoileError:
        return
    assert Path("a.revealed.csv").read_text().splitlines()[1] == f"{one},{other}"


# ── files ──────────────────────────────────────────────────────────────────────────────────────


def test_files_come_back_for_their_owner_alone(here: Path) -> None:
    answers = protected(consistent="file")
    Path("answer.txt").write_text("\n".join(answers) + "\n")
    Path("answer.txt").chmod(0o644)
    done = text.reveal("answer.txt", batch_rows=7, **OPTIONS)
    assert done.output == "answer.revealed.txt"
    assert Path("answer.revealed.txt").read_text().splitlines() == [m.text for m in MESSAGES]
    assert stat.S_IMODE(Path("answer.revealed.txt").stat().st_mode) == 0o600
    assert not Path("answer.revealed.txt.voile-job").exists()
    with pytest.raises(CannotWrite, match="exists already"):
        text.reveal("answer.txt", **OPTIONS)
    text.reveal("in.protected.csv", out="back.csv", jobs=1, **OPTIONS)
    with Path("back.csv").open() as file:
        assert [row["text"] for row in csv.DictReader(file)] == [m.text for m in MESSAGES]
    shown = str(done)
    assert "for you alone" in shown
    assert not any(name in shown for m in MESSAGES for name in m.private("PERSON"))


def test_frames_and_what_is_missing(here: Path) -> None:
    pandas = pytest.importorskip("pandas")
    (first, *_) = protected(consistent="file")
    frame = pandas.DataFrame({"n": [1, 2], "text": [first, None]}, index=[7, 9])
    back = text.reveal(frame, **OPTIONS).data
    assert back["text"][7] == MESSAGES[0].text
    assert back["text"].isna().tolist() == [False, True]
    assert back.index.tolist() == [7, 9]


def test_faults(here: Path) -> None:
    protected(consistent="file")
    Path("other.key").write_text("some other secret\n")
    Path("other.key").chmod(0o600)
    Path("answer.txt").write_text("x\n")
    with pytest.raises(BadFile, match="does not open"):
        text.reveal("answer.txt", mapping="names.map", mapping_key="other.key")
    assert not Path("answer.revealed.txt").exists()
    with pytest.raises(BadFile, match="no mapping"):
        text.reveal("answer.txt", mapping="names.txt", mapping_key="names.key")
    with pytest.raises(InvalidInput, match="--most must be >= 0"):
        text.reveal("answer.txt", most=-3, **OPTIONS)
    with pytest.raises(InvalidInput, match="mapping that knows persons"):
        text.reveal("in.protected.csv", person="who", **OPTIONS)
    with pytest.raises(voile.errors.VoileError, match="column"):
        text.reveal("in.protected.csv", column="nowhere", **OPTIONS)


@pytest.mark.parametrize("taken", ["in.csv", "names.key", "in.protected.csv", "other.txt"])
def test_a_mapping_replaces_nothing_but_a_mapping(here: Path, taken: str) -> None:
    Path("other.txt").write_text("of somebody else")
    protected()
    before = {path.name: path.read_bytes() for path in here.iterdir() if path.is_file()}
    with pytest.raises(CannotWrite, match=r"must not be the output|no mapping of stand-ins"):
        text.protect(
            "in.csv", pseudonyms=True, pipeline="names.txt", vocabulary="words.txt",
            pass_=("who",), keep_mapping=taken, mapping_key="names.key", overwrite=True,
        )  # fmt: skip
    after = {path.name: path.read_bytes() for path in here.iterdir() if path.is_file()}
    assert before == after


# ── the mapping of an earlier release ──────────────────────────────────────────────────────────


def test_a_job_that_fails_leaves_the_mapping_of_an_earlier_release(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under --overwrite too: it is replaced when the new release stands, and not before."""
    from voile.jobs import run as running

    protected()
    before, honest = known(), running.draw_part
    for problem in (InvalidInput("planted"), CannotWrite("planted"), KeyboardInterrupt()):

        def fail(releaser, task, problem=problem):
            raise problem

        with monkeypatch.context() as patch:
            patch.setattr(running, "draw_part", fail)
            with pytest.raises(type(problem)):
                protected(overwrite=True)
        assert known() == before
        beside = list(here.glob(".names.map.*.part"))
        assert bool(beside) is not isinstance(problem, InvalidInput)
        assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in beside)
    assert running.draw_part is honest
    answers = protected(overwrite=True)
    assert known().job != before.job
    assert not list(here.glob(".names.map.*"))
    assert text.reveal(answers, **OPTIONS).data == [m.text for m in MESSAGES]


def test_a_mapping_is_whole_before_the_output_appears(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped between the two, the job is continued; stopped before either, likewise."""
    from voile.text.mapping import Keeper

    honest = Keeper.finish
    for done in (False, True):

        def stop(self, done=done):
            if done:
                honest(self)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Keeper, "finish", stop)
            with pytest.raises(KeyboardInterrupt):
                protected(overwrite=True)
        assert Path("in.protected.csv").exists() is done
        assert Path("names.map").exists() is done
        answers = protected(overwrite=True)
        assert text.reveal(answers, **OPTIONS).data == [m.text for m in MESSAGES]


def test_a_seed_does_not_make_two_files_one_release(here: Path) -> None:
    """The key follows from the seed; what is released does not."""
    protected(seed=7)
    with pytest.raises(CannotWrite, match="exists already"):
        protected(seed=7)
    first = known().job
    with Path("in.csv").open("a") as file:
        file.write("x,Zyta came\n")
    Path("in.protected.csv").unlink()
    with pytest.raises(CannotWrite, match="another release"):
        protected(seed=7)
    assert known().job == first
