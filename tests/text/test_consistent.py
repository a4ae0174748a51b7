"""One draw for one thing: what is drawn alike, what it costs, and what is said of it."""

import csv
import itertools
import json
import re
import stat
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba", reason="the text extra is not installed")

import voile
from voile import text
from voile.errors import BadFile, InvalidInput, OverBudget
from voile.jobs import run as running
from voile.jobs.workspace import Workspace
from voile.ledger import Ledger, read_key
from voile.text import consistent, sharing
from voile.text.consistent import Scope
from voile.text.plain_protector import protector
from voile.text.word_protector import TextProtector

WORDS = [f"{a}{b}" for a in "bcdfghjklm" for b in ("an", "ell", "ip", "ot", "umb", "yre")]
EPSILON = 0.5
"""So small that a word rarely comes out alike twice by chance."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vocabulary, and rows of six persons: many share words, and some repeat their own."""
    monkeypatch.setenv("VOILE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    lines = [f"{w} " + " ".join(f"{x:.4f}" for x in rng.normal(size=4)) for w in WORDS]
    Path("words.txt").write_text("\n".join(lines) + "\n")
    with Path("in.csv").open("w") as file:
        table = csv.writer(file)
        table.writerow(["who", "text"])
        for row in range(30):
            words = rng.choice(WORDS[:15], size=8)
            table.writerow([f"p{row % 6}", " ".join([*words, words[0].upper(), "quux"])])
    return tmp_path


def protect(**options):
    given = {"epsilon": EPSILON, "vocabulary": "words.txt", "pass_": ("who",), "batch_rows": 4}
    return text.protect("in.csv", **{**given, **options})


def rows(name: str) -> list[tuple[str, list[str]]]:
    with Path(name).open() as file:
        return [(r["who"], r["text"].lower().split()) for r in csv.DictReader(file)]


def known(word: str) -> str:
    return word if word in WORDS else "unk"


def maps(scope: Callable[[int, str], object]) -> dict[object, dict[str, set[str]]]:
    """For each scope, what each word was replaced by, places compared one by one."""
    found: dict[object, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    pairs = zip(rows("in.csv"), rows("in.protected.csv"), strict=True)
    for number, ((who, before), (_, after)) in enumerate(pairs):
        for old, new in zip(before, after, strict=True):
            found[scope(number, who)][known(old)].add(new)
    return found


def one_each(found: dict[object, dict[str, set[str]]]) -> bool:
    return all(len(new) == 1 for words in found.values() for new in words.values())


def alike(found: dict[object, dict[str, set[str]]]) -> float:
    """How often two scopes replace a word of both alike."""
    agree = [
        a[word] == b[word]
        for a, b in itertools.combinations(found.values(), 2)
        for word in a.keys() & b.keys()
    ]
    return float(np.mean(agree))


SCOPES = {
    "document": lambda number, who: number,
    "person": lambda number, who: who,
    "file": lambda number, who: None,
}


@pytest.mark.parametrize("scope", SCOPES)
def test_a_word_is_replaced_alike_in_its_scope_and_there_alone(here: Path, scope: str) -> None:
    """Across parts of four rows. Elsewhere two draws agree by chance: below 1 in 4 here."""
    protect(consistent=scope, person="who" if scope == "person" else None)
    assert one_each(maps(SCOPES[scope]))
    if scope != "file":
        assert alike(maps(SCOPES[scope])) < 0.25
    assert not one_each(maps(SCOPES["file"])) or scope == "file"


def test_without_it_each_place_is_drawn_anew(here: Path) -> None:
    protect()
    assert not one_each(maps(SCOPES["document"]))


def test_a_draw_that_persons_share_is_seen(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the stream's name without the person in it."""
    honest = consistent._name
    monkeypatch.setattr(consistent, "_name", lambda scope, *rest: honest(b"", *rest))
    protect(consistent="person", person="who")
    assert alike(maps(SCOPES["person"])) == 1  # what the test above refuses


def test_workers_draw_alike(here: Path) -> None:
    protect(consistent="person", person="who", jobs=2)
    assert one_each(maps(SCOPES["person"]))
    assert alike(maps(SCOPES["person"])) < 0.25


def test_a_frame_is_drawn_alike_too(here: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv("in.csv")
    given = {"vocabulary": "words.txt", "epsilon": EPSILON, "pass_": ("who",), "batch_rows": 4}
    done = text.protect(frame, consistent="person", person="who", **given)
    done.data.to_csv("in.protected.csv", index=False)
    assert one_each(maps(SCOPES["person"]))
    assert alike(maps(SCOPES["person"])) < 0.25


# ── what it costs ──────────────────────────────────────────────────────────────────────────────


def distinct(*words: list[str]) -> int:
    return len({known(word) for some in words for word in some})


@pytest.mark.parametrize("scope", SCOPES)
def test_distinct_words_are_what_is_spent_and_said(here: Path, scope: str) -> None:
    """Column, distribution, file and sentences against a count of the input's own words."""
    person = "who" if scope == "person" else None
    done = protect(consistent=scope, person=person, document_column=True)
    counts = [distinct(words) for _, words in rows("in.csv")]
    with Path("in.protected.csv").open() as file:
        column = [float(row["document_epsilon"]) for row in csv.DictReader(file)]
    assert column == pytest.approx([EPSILON * n for n in counts])
    facts = json.loads(Path("in.protected.csv.guarantee.json").read_text())
    documents = facts["spent"][0]
    assert (documents["unit"], documents["largest"]) == ("document", EPSILON * max(counts))
    assert documents["median"] == EPSILON * sorted(counts)[14]
    assert facts["guarantee"]["granularity"] == f"one distinct word of a {scope}"
    assert Scope(scope).shows in facts["guarantee"]["outside"]
    assert facts["counts"]["draws"] == sum(counts) < facts["counts"]["drawn"] == 300
    said = "\n".join(facts["explanation"])
    assert f"300 words: ε = 0.5 for each distinct one of a {scope} (per unit, proved)." in said
    shown = str(done)
    assert (
        f"A document's distinct words together: ε = {EPSILON * sorted(counts)[14]:g} for" in shown
    )
    if scope == "person":
        largest = max(
            distinct(*(w for who, w in rows("in.csv") if who == f"p{i}")) for i in range(6)
        )
        assert facts["spent"][1]["unit"] == "person"
        assert facts["spent"][1]["largest"] == EPSILON * largest
        assert "A person's distinct words together: ε = " in shown


def test_a_budget_for_a_document_is_for_its_distinct_words(here: Path) -> None:
    protect(
        epsilon=None, document_epsilon=2.0, longest=4, consistent="document", document_column=True
    )
    after = rows("in.protected.csv")
    for (_, before), (_, words) in zip(rows("in.csv"), after, strict=True):
        assert distinct(before[: len(words)]) == 4  # longer than four where a word repeats
        assert len(words) >= 4
    with Path("in.protected.csv").open() as file:
        assert {float(row["document_epsilon"]) for row in csv.DictReader(file)} == {2.0}
    public = protect(
        epsilon=None, document_epsilon=2.0, public_length=True, consistent="document",
        document_column=True, overwrite=True,
    )  # fmt: skip
    assert public.spent[0].largest <= 2.0
    assert public.spent[0].median == pytest.approx(2.0)


# ── persons' budgets ───────────────────────────────────────────────────────────────────────────


@pytest.fixture
def ledger(here: Path) -> Callable[..., Ledger]:
    made = voile.ledger.init("ledger.db", budget=1000)
    assert made is not None
    key = next(here.glob("*.key"))

    def opened() -> Ledger:
        return Ledger("ledger.db", read_key(key))

    opened.options = {"ledger": "ledger.db", "ledger_key": str(key), "person": "who"}
    return opened


def test_a_person_is_charged_once_for_each_distinct_word_of_the_file(ledger) -> None:
    """Over eight parts; a second job draws under another key and is charged anew."""
    protect(consistent="person", **ledger.options)
    owed = {
        who: EPSILON * distinct(*(words for p, words in rows("in.csv") if p == who))
        for who in {who for who, _ in rows("in.csv")}
    }
    assert {who: ledger().spent(who) / 10**9 for who in owed} == owed
    first = rows("in.protected.csv")
    protect(consistent="person", overwrite=True, **ledger.options)
    assert {who: ledger().spent(who) / 10**9 for who in owed} == {w: 2 * e for w, e in owed.items()}
    assert rows("in.protected.csv") != first


def test_documents_are_charged_for_their_own_distinct_words(ledger) -> None:
    protect(consistent="document", **ledger.options)
    owed = sum(EPSILON * distinct(words) for who, words in rows("in.csv") if who == "p3")
    assert ledger().spent("p3") / 10**9 == owed


def test_whoever_is_not_covered_is_left_out_as_a_whole(ledger, here: Path) -> None:
    most = {p: distinct(*(w for who, w in rows("in.csv") if who == p)) for p in
            ("p0", "p1", "p2", "p3", "p4", "p5")}  # fmt: skip
    budget = EPSILON * sorted(most.values())[2]
    inside = {p for p, n in most.items() if EPSILON * n <= budget}
    assert 0 < len(inside) < 6
    with pytest.raises(OverBudget, match="nobody charged"):
        protect(consistent="person", budget=budget, **ledger.options)
    assert ledger().spent("p0") == 0
    done = protect(consistent="person", budget=budget, over_budget="mask", **ledger.options)
    pairs = zip(rows("in.csv"), rows("in.protected.csv"), strict=True)
    assert {who for (who, _), (_, after) in pairs if after} == inside
    assert {p for p in most if ledger().spent(p)} == inside
    assert done.rows.over_budget == 5 * (6 - len(inside))
    assert done.spent[1].largest <= budget


def test_what_cannot_go_together_is_refused(here: Path, ledger) -> None:
    with pytest.raises(InvalidInput, match="--consistent person must go with --person"):
        protect(consistent="person")
    with pytest.raises(voile.errors.VoileError, match="--person"):
        protect(consistent="person", person="nobody")
    with pytest.raises(InvalidInput, match="hangs on what others wrote"):
        protect(consistent="file", **ledger.options)
    with pytest.raises(InvalidInput, match="--public-length must go with"):
        protect(consistent="file", epsilon=None, document_epsilon=1.0, public_length=True)
    with pytest.raises(InvalidInput, match="consistent"):
        protect(consistent="town")
    Path("in.csv").write_text("who,text\n,ban dell\np1,ban\n")
    with pytest.raises(InvalidInput, match="names no person"):
        protect(consistent="person", person="who")
    assert protect(consistent="person", person="who", on_error="skip").rows.skipped == 1


# ── the key ────────────────────────────────────────────────────────────────────────────────────


def interrupted(monkeypatch: pytest.MonkeyPatch, after: int, **options) -> Workspace:
    """A job that stops when so many parts are there."""
    made = itertools.count(1)
    honest = running.draw_part

    def stop(releaser, task):
        if next(made) > after:
            raise KeyboardInterrupt
        return honest(releaser, task)

    with monkeypatch.context() as patch:
        patch.setattr(running, "draw_part", stop)
        with pytest.raises(KeyboardInterrupt):
            protect(**options)
    manifest = json.loads(Path("in.protected.csv.voile-job/manifest.json").read_text())
    return Workspace("in.protected.csv", manifest["job"])


@pytest.mark.parametrize("scope", ["person", "file"])
def test_a_restart_draws_alike_and_the_key_is_gone_then(
    here: Path, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    options = {"consistent": scope, "person": "who" if scope == "person" else None}
    space = interrupted(monkeypatch, 3, **options)
    key = here / "in.protected.csv.voile-job" / space.job / "key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_bytes()) == 32
    assert len(space.committed()) == 3
    assert protect(**options).resumed_parts == 3
    assert one_each(maps(SCOPES[scope]))
    assert not (here / "in.protected.csv.voile-job").exists()


def test_the_key_is_gone_before_the_output_has_its_name(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped just before the last rename: the parts are whole, no key is left; then finished."""
    from voile.files.disk import LocalFile

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LocalFile, "move", stop)
        with pytest.raises(KeyboardInterrupt):
            protect(consistent="file")
    assert not Path("in.protected.csv").exists()
    assert not list(here.glob("in.protected.csv.voile-job/*/key"))
    protect(consistent="file")
    assert one_each(maps(SCOPES["file"]))


def test_without_its_key_a_job_is_not_continued(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = interrupted(monkeypatch, 3, consistent="file")
    space.key.remove()
    with pytest.raises(BadFile, match="gone or damaged"):
        protect(consistent="file")
    assert not Path("in.protected.csv").exists()
    protect(consistent="file")  # anew
    assert one_each(maps(SCOPES["file"]))


def test_each_job_has_a_key_of_its_own(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two releases of one file under one key would be one; planted, the test sees that."""

    def twice() -> bool:
        protect(consistent="file", overwrite=True)
        first = rows("in.protected.csv")
        protect(consistent="file", overwrite=True)
        return rows("in.protected.csv") == first

    assert not twice()
    monkeypatch.setattr(Workspace, "shared_key", lambda self: bytes(32))
    assert twice()


def test_a_file_that_changes_between_two_readings_is_refused(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was charged for must be what is drawn."""
    honest = sharing.MakeSharing.told

    def meanwhile(self, *seen):
        content = Path("in.csv").read_text()
        Path("in.csv").write_text(content.replace("p5,", "p0,"))
        return honest(self, *seen)

    monkeypatch.setattr(sharing.MakeSharing, "told", meanwhile)
    with pytest.raises(voile.errors.VoileError, match="must not change"):
        protect(consistent="person", person="who")
    assert not Path("in.protected.csv").exists()


def test_seeded_draws_repeat(here: Path) -> None:
    protect(consistent="person", person="who", seed=4)
    first = rows("in.protected.csv")
    protect(consistent="person", person="who", seed=4, overwrite=True, batch_rows=7)
    assert rows("in.protected.csv") == first


# ── what an attacker makes of it ───────────────────────────────────────────────────────────────


def names_it(law, times: int) -> float:
    """The exact success of the best attacker who sees so many independent draws of one word."""
    size = len(law.embedding) - 1
    table = np.exp(law.log_prob(range(size), range(size + 1)))
    sums = 0.0
    for seen in itertools.product(range(size + 1), repeat=times):
        sums += np.prod(table[:, seen], axis=1).max()
    return sums / size


def test_repetition_no_longer_averages_out(here: Path) -> None:
    """Exact, by all releases of a small vocabulary: one draw names a word as seldom as one place.

    Then the attacker at work, on texts in which a word stands three times: at what is released
    consistently it is right as often as one draw allows; at independent draws far more often.
    """
    from voile.text.vocabularies import vocabulary

    rng = np.random.default_rng(1)
    listed = WORDS[:9]
    words = vocabulary(listed, rng.normal(size=(9, 3)))
    blur = protector(words, epsilon=3.0)
    once, thrice = names_it(blur.laws[0], 1), names_it(blur.laws[0], 3)
    assert thrice > once + 0.1
    table = blur.laws[0].log_prob(range(9), range(10))
    truth = rng.integers(9, size=4000)
    texts = [" ".join([listed[t]] * 3) for t in truth]

    def success(blurring: TextProtector) -> float:
        released = [r.text for r in blurring.release_texts(texts, voile.seeded_rng(3))]
        seen = [[words.positions.get(w, words.unknown) for w in r.split()] for r in released]
        if blurring.consistent is not None:
            seen = [places[:1] for places in seen]
        guesses = [table[:, places].sum(axis=1).argmax() for places in seen]
        return float(np.mean(guesses == truth))

    from dataclasses import replace

    shared = replace(blur, consistent=Scope.DOCUMENT)
    # Hoeffding at 4,000 texts: off by 0.06 less than once in 10⁹.
    assert abs(success(blur) - thrice) < 0.06
    assert abs(success(shared) - once) < 0.06


def test_in_python_without_a_job(here: Path) -> None:
    from dataclasses import replace

    words = text.read_vocabulary("words.txt")
    blur = replace(protector(words, epsilon=EPSILON), consistent=Scope.FILE)
    first, second = blur.release(["ban ban bell", "bell ban"], voile.seeded_rng(1))
    a, b, c = first.split()
    assert (a, [c, a]) == (b, second.split())
    with pytest.raises(InvalidInput, match="whose each text is"):
        replace(blur, consistent=Scope.PERSON).release(["ban"], voile.seeded_rng(1))
    assert re.search("Two distinct words of a file ", blur.explain())


@pytest.mark.parametrize(("scope", "refused"), [("document", False), ("file", True)])
def test_an_audit_of_rows_that_share_draws_is_refused(
    tmp_path: Path, scope: str, refused: bool
) -> None:
    """Its bound is one over documents; those of a file that shares draws are no sample of any."""
    from voile.text.pairs import made_of_draws

    source = tmp_path / "in.csv"
    source.write_text("text\nred blue\nblue red\n")
    (tmp_path / "v.txt").write_text("red 0.0 1.0\nblue 1.0 0.0\n")
    done = text.protect(str(source), epsilon=1.0, consistent=scope, no_cache=True,
                        vocabulary=str(tmp_path / "v.txt"))  # fmt: skip
    if refused:
        with pytest.raises(InvalidInput, match="rows share draws"):
            text.audit(str(source), done.output)
    else:
        assert made_of_draws(done.output) is None
    assert made_of_draws(str(source)) is None
    assert made_of_draws(["red blue"]) is None
