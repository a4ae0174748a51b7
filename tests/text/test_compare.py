"""Comparing rewriters: the table, the answer, what is kept, and the commands."""

import csv
import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import voile
from voile.attackers.names import ATTACKS
from voile.audit.black_box import line_command
from voile.errors import InvalidInput, VoileError
from voile.metrics import discrete
from voile.rewriting.prepared import Prepared
from voile.rewriting.workshop import Workshop
from voile.text import kept_releases as text_releases
from voile.text.cells import Beside, play
from voile.text.comparison import Shown
from voile.text.frontier import recommend
from voile.text.game import Playing
from voile.text.kept_releases import make_releases
from voile.text.rewriters import MECHANISMS, Rewriters
from voile.text.word_likelihood import word_likelihood

pytest.importorskip("sklearn")

WORDS = ("flight", "boston", "denver", "song", "play", "jazz", "cheap", "morning")
TEXTS = [f"{a} {b} {c}" for a in WORDS for b in WORDS for c in WORDS[:3]]
LABELS = ["music" if "song" in t or "jazz" in t else "travel" for t in TEXTS]


class Coins(Rewriters):
    """Every word is kept with a probability that grows with epsilon, else drawn anew."""

    calls = 0
    encoder = None

    def prepare(self, which, epsilon):
        keep = 1 - len(WORDS) / (np.exp(epsilon) + len(WORDS) - 1)

        def rewrite(texts, rng):
            self.calls += len(texts)
            return [
                " ".join(w if rng.random() < keep else str(rng.choice(WORDS)) for w in t.split())
                for t in texts
            ]

        guarantee = voile.Guarantee(epsilon, discrete(), "one word", "proved")
        return Prepared(rewrite, guarantee, lambda texts: 3.0)


def run(
    rewriters=None,
    *,
    texts=TEXTS,
    mechanisms=("tem",),
    epsilons=(0.1, 2.0, 9.0),
    beside=Beside(LABELS, LABELS),
    attacks=("tf-idf", "overlap"),
    trials=600,
    folder=None,
):
    return play(
        texts,
        mechanisms=MECHANISMS.find_all(mechanisms),
        epsilons=epsilons,
        rewriters=rewriters or Coins(),
        attacks=ATTACKS.find_all(attacks),
        game=Playing(temperature=0.0, trials=trials),
        beside=beside,
        folder=folder,
    )


def test_the_table_moves_as_it_must():
    found = run()
    first, second, third = found.cells
    assert first.worst.lower == 0.0
    assert first.worst.middle < second.worst.middle <= third.worst.middle
    assert second.worst.upper <= second.text_epsilon == 6.0
    assert first.f1 < third.f1 <= 1.0
    assert first.attribute_f1 < third.attribute_f1
    assert found.clean_f1 == pytest.approx(1.0, abs=0.05)
    assert found.cells[0].rows_per_second > 0
    each = found.failure_probability / (3 * 3 * 2)  # cells, attacks with their stack, two bounds
    assert third.shown[0].ceiling == voile.audit.empirical.ceiling(
        600, candidates=2, failure_probability=each
    )


def test_the_answer():
    found = run(attacks=["tf-idf", "overlap", "shape"])
    best, words = recommend(found, target=6.0, least_f1=0.5)
    assert best is not None
    assert best.epsilon == 2.0
    assert "no attack here shows more than" in words
    assert "not as safe" in words
    nothing, words = recommend(found, target=0.01)
    assert nothing is None
    assert "no mechanism and epsilon here meets this" in words
    assert "inf" not in words


def test_nothing_is_recommended_that_was_not_attacked_by_what_stands_in_clear():
    best, words = recommend(run(trials=100), target=100.0)
    assert best is None
    assert "the number of words, punctuation and case" in words
    assert "add shape to --attacks" in words


def test_the_number_of_words_alone_stops_a_recommendation():
    """Words drawn uniformly: nothing is left of them, and the length tells texts apart."""
    texts = [" ".join(["word"] * n) for n in range(1, 41)]

    class Noise(Coins):
        def prepare(self, which, epsilon):
            def rewrite(texts, rng):
                return [" ".join(rng.choice(WORDS, size=len(t.split()))) for t in texts]

            guarantee = voile.Guarantee(epsilon, discrete(), "one word", "proved")
            return Prepared(rewrite, guarantee, lambda texts: 3.0)

    found = run(
        Noise(),
        texts=texts,
        epsilons=[0.01],
        trials=400,
        attacks=["tf-idf", "overlap", "shape"],
        beside=Beside(),
    )
    shown = {s.attack: s for s in found.cells[0].shown}
    assert shown["tf-idf"].lower == shown["overlap"].lower == 0.0
    assert shown["shape"].lower > 3
    assert recommend(found, target=1.0)[0] is None


def test_a_judge_that_did_not_compare_is_no_reason_to_recommend():
    from dataclasses import replace

    found = run(trials=100, attacks=["shape"])
    idle = Shown("llm", 0.0, 0.0, 0.1, 5.0, 0.5, "it did not compare", is_evidence=False)
    cells = tuple(
        replace(c, shown=(replace(c.shown[0], is_evidence=False), idle)) for c in found.cells
    )
    assert recommend(replace(found, cells=cells), target=100.0)[0] is None


def test_releases_are_made_once_and_survive_a_crash(tmp_path, monkeypatch):
    coins = Coins()
    first = run(coins, folder=tmp_path)
    asked = coins.calls
    again = run(coins, folder=tmp_path)
    assert coins.calls == asked, "nothing is released twice"
    assert [c.shown for c in again.cells] == [c.shown for c in first.cells]
    monkeypatch.setattr(text_releases, "PART", 10)
    done = []

    def failing(texts, rng):
        if len(done) == 3:
            raise RuntimeError
        done.append(len(texts))
        return [t.upper() for t in texts]

    with pytest.raises(RuntimeError):
        make_releases(failing, TEXTS[:100], identity="x", seed=1, folder=tmp_path)
    file = max(tmp_path.glob("*.jsonl"), key=lambda p: p.stat().st_mtime)
    file.write_text(file.read_text()[:-4])  # the last line was cut off
    made = make_releases(
        lambda texts, rng: done.append(0) or [t.upper() for t in texts],
        TEXTS[:100],
        identity="x",
        seed=1,
        folder=tmp_path,
    )
    assert made.drawn == [t.upper() for t in TEXTS[:100]]
    assert len(done) == 3 + 8, "two whole parts were kept, the cut one and the rest made"


def test_another_model_is_another_mechanism(tmp_path):
    """Releases of one model are never taken for those of another, whoever uses it."""
    first, second = Coins(), Coins()
    second.workshop.models = {"dp-mlm": "another"}
    run(first, folder=tmp_path, mechanisms=["dp-mlm-plus"])
    run(second, folder=tmp_path, mechanisms=["dp-mlm-plus"])
    assert second.calls == first.calls


def test_bad_input():
    def asked(**more):
        options = {"mechanisms": ("tem",), "epsilon": (1.0,)} | more
        return voile.text.compare(TEXTS, **options)

    with pytest.raises(InvalidInput, match="mechanisms must be one of tem, "):
        asked(mechanisms=("nothing",))
    with pytest.raises(InvalidInput, match="attacks must be one of embedding, "):
        asked(attacks=("guess",))
    with pytest.raises(InvalidInput, match="epsilon must be a finite number > 0"):
        asked(epsilon=(-1.0,))
    with pytest.raises(InvalidInput, match="labels must be one for each"):
        asked(label=["a"])
    with pytest.raises(InvalidInput, match="must be one of text"):
        asked(label="stars")
    with pytest.raises(InvalidInput, match="--model must be for one of adept, "):
        asked(model=("dp-mlm-plus=x",))
    with pytest.raises(InvalidInput, match="dp-st is trained here and needs public texts"):
        Workshop()._public("dp-st")
    with pytest.raises(InvalidInput, match=r"one text a line$"):
        Workshop()._public("dp-bart-pr")


def test_likelihood_of_words_is_the_sum_over_words():
    from voile.text import protector, vocabulary

    words = vocabulary(["good", "fine", "bad"], [[0.0], [0.1], [7.0]])
    blur = protector(
        words, epsilon=1.0, identifiers=False, mechanism=voile.mechanisms.word_exponential
    )
    law = word_likelihood(blur)
    table = blur.laws[0].log_prob(np.arange(len(words.words)), np.arange(len(words.words)))
    good, fine, bad = (list(words.words).index(w) for w in ("good", "fine", "bad"))
    found = law(["good bad", "fine fine", "good"], ["fine bad", "good bad", "good bad"])
    assert found[0] == pytest.approx(table[good, fine] + table[bad, bad])
    assert found[1] == pytest.approx(table[fine, good] + table[fine, bad])
    assert found[2] <= -1e6


def test_programs_as_black_boxes(tmp_path):
    echo = line_command([sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.read())"])
    assert echo(["one\ntwo", "", "three"]) == ["one two", "", "three"]
    for program, message in (
        ("raise SystemExit(3)", "must exit with 0, got 3"),
        ("print('once')", "the lines written must be as many as read"),
        ("import time; time.sleep(9)", "must answer 2 lines within 0.3 s"),
    ):
        with pytest.raises(InvalidInput, match=message):
            line_command(
                [sys.executable, "-c", program], timeout=0.3 if "sleep" in program else 60
            )(["a", "b"])
    with pytest.raises(InvalidInput, match="a program that exists"):
        line_command([str(tmp_path / "no-such")])(["a"])


@pytest.fixture
def table_file(tmp_path):
    path = tmp_path / "texts.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label", "released"])
        writer.writerows(
            [t, y, t if i % 3 else "song"]
            for i, (t, y) in enumerate(zip(TEXTS, LABELS, strict=True))
        )
    return path


def invoke(*words):
    from voile.cli.app import app

    return CliRunner().invoke(app, ["text", *(str(word) for word in words)])


def test_calibrate_pairs_on_the_command_line(table_file):
    done = invoke(
        "calibrate", table_file, "--released", "released", "--attacks", "overlap",
        "--temperature", "0", "--claim", "0.5",
    )  # fmt: skip
    assert done.exit_code == 1, done.output
    assert "violated" in done.output
    assert "never “safe”" in done.output
    done = invoke(
        "calibrate", table_file, "--released", "released", "--attacks", "overlap,tf-idf",
        "--temperature", "0", "--json",
    )  # fmt: skip
    assert done.exit_code == 0
    content = json.loads(done.output)
    assert content["trials"] == 192
    assert {row["attack"] for row in content["attacks"]} == {"overlap", "tf-idf", "stack"}


def test_calibrate_a_program_on_the_command_line(table_file):
    program = f"{sys.executable} -c \"import sys; [print('same') for _ in sys.stdin]\""
    done = invoke(
        "calibrate", table_file, "--command", program, "--attacks", "overlap",
        "--temperature", "0", "--trials", "500", "--claim", "0.5",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "open" in done.output
    done = invoke("calibrate", table_file)
    assert isinstance(done.exception, VoileError)
    assert "either --released COLUMN (or FILE) or --command PROGRAM" in str(done.exception)


def test_compare_on_the_command_line_writes_table_and_charts(table_file, tmp_path, monkeypatch):
    pytest.importorskip("vl_convert")
    monkeypatch.setattr(Rewriters, "prepare", Coins.prepare)
    monkeypatch.setattr(Rewriters, "calls", 0, raising=False)
    out = tmp_path / "out"
    done = invoke(
        "compare", table_file, "--mechanisms", "tem,word_exponential", "--epsilon", "0.1,9",
        "--label", "label", "--attacks", "overlap,shape", "--temperature", "0", "--trials", "400",
        "--out", out, "--target-epsilon-emp", "9",
    )  # fmt: skip
    assert done.exit_code == 0, (done.output, done.exception)
    assert done.output.startswith("Take ")
    assert "Wrote out/ (comparison.json, comparison.csv, charts" in done.output
    names = {path.name for path in out.iterdir()}
    assert {"comparison.json", "comparison.csv", "calibration.png", "frontier.svg",
            "converted.png"} <= names  # fmt: skip
    content = json.loads((out / "comparison.json").read_text())
    assert len(content["cells"]) == 4
    assert len((out / "comparison.csv").read_text().splitlines()) == 1 + 4 * 3
    assert "the shape attack reads them" in done.output
    assert (
        "no attack here looked at them"
        in invoke(
            "calibrate",
            table_file,
            "--released",
            "released",
            "--attacks",
            "overlap",
            "--temperature",
            "0",
        ).output
    )
    for words, message in (
        (("--epsilon", "x"), "--epsilon must be numbers between commas"),
        (("--epsilon", "1", "--model", "dp-mlm"), "NAME=ID or NAME=FOLDER"),
        (("--epsilon", "1", "--judge-url", "http://x"), "needs --judge-model"),
    ):
        done = invoke("compare", table_file, "--mechanisms", "tem", *words)
        assert message in str(done.exception)


def test_a_claim_for_one_text_that_an_attack_refutes_is_violated():
    """An identity that promises ε = 0.001 for one text: the verdict, and the sentence behind it."""
    pytest.importorskip("transformers")
    from voile import metrics
    from voile import text as rooms
    from voile.core.guarantee import Basis, Guarantee

    class Identity:
        name = "identity"
        guarantee = Guarantee(0.001, metrics.discrete(), "one text", Basis.PROVED)

        def release(self, texts, rng):
            return list(texts)

    texts = [f"message number {i} about topic {i % 7} and {i * i}" for i in range(60)]
    found = rooms.compare(
        texts, mechanisms=(Identity(),), epsilon=(1.0,), attacks=("overlap",), trials=200
    )
    assert found.violated
    assert [cell.mechanism for cell in found.broken] == ["identity"]
    assert "promises ε = 0.001 for one text; overlap shows at least" in str(found)
    assert "∞" not in found.report().answer
