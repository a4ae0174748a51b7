import json
import os
import subprocess
import sys

import pytest


def run(*arguments, code=0, env=None):
    done = subprocess.run(
        [sys.executable, "-m", "voile", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100", **(env or {})},
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    return done


def test_help_has_an_example_for_each_command():
    assert "explain" in run("--help").stdout
    for command in ("explain", "mechanisms", "demo"):
        assert "Example:" in run(command, "--help").stdout


def test_version():
    import voile

    assert run("--version").stdout.strip() == f"voile {voile.__version__}"


def test_explain_answers_the_question():
    text = run("explain", "--epsilon", "0.8", "--distance", "1", "--candidates", "100").stdout
    assert "odds between them change by at most e^0.8 = 2.23×" in text
    assert "at most 2.2 % of the time, instead of 1 %" in text
    assert "█" in text


def test_explain_for_a_program():
    found = json.loads(
        run("explain", "--epsilon", "1", "--local", "--candidates", "2", "--json").stdout
    )
    assert found["rows"] == [
        {"distance": 1.0, "odds_factor": pytest.approx(2.71828, rel=1e-5),
         "best_guess": pytest.approx(0.73106, rel=1e-4)}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("explain", "--epsilon", "-1"), "error: epsilon must be a finite number > 0, got -1.0"),
        (("explain", "--epsilon", "nan"), "error: epsilon must be a finite number > 0, got nan"),
        (("explain", "--epsilon", "1", "--distance", "-2"), "error: distance must be a finite"),
        (("explain", "--epsilon", "1", "--candidates", "0"), "error: candidates must be"),
        (("explain", "--epsilon", "1", "--delta", "2"), "error: delta must be between 0 and 1"),
        (("demo", "--out", "/dev/null/x"), "error: cannot make the folder"),
        (("demo", "--seed", "-3", "--out", "{tmp}"), "error: seed must be an integer"),
        (("demo", "--room", "attic", "--out", "{tmp}"), "error: a room must be start, text"),
    ],
)
def test_bad_input_is_one_clean_line(arguments, message, tmp_path):
    done = run(*(a.replace("{tmp}", str(tmp_path)) for a in arguments), code=2)
    assert done.stderr.startswith(message)
    assert len(done.stderr.strip().splitlines()) == 1


def test_wrong_usage_exits_with_two():
    assert "Missing option" in run("explain", code=2).stderr
    assert "No such command" in run("fly", code=2).stderr


def test_a_fault_of_ours_shows_no_traceback(monkeypatch, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import voile.meaning as task\n"
        "def bad(epsilon): raise RuntimeError('hunter2')\n"
        "task.require_epsilon = bad\n"
    )
    done = run("explain", "--epsilon", "1", code=70, env={"PYTHONPATH": str(tmp_path)})
    assert done.stderr.startswith("internal error: RuntimeError; set VOILE_DEBUG=1")
    assert "hunter2" not in done.stderr


def test_mechanisms_lists_all():
    from voile.catalogue import mechanisms

    found = json.loads(run("mechanisms", "--json").stdout)["mechanisms"]
    assert found == mechanisms().to_dict()["mechanisms"]
    names = [entry["name"] for entry in found]
    assert len(set(names)) == len(names), "one name for one thing"
    assert {"tem", "dp-mlm", "spline", "rr", "tight-constraints"} <= set(names)
    assert "tight-constraints" in run("mechanisms").stdout


def test_demo_writes_what_it_says(tmp_path):
    out = tmp_path / "here"
    found = json.loads(run("demo", "--room", "start", "--out", str(out), "--json").stdout)
    assert found == json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert found["randomness"] == "secure"
    assert found["steps"][0]["result"]["epsilon"] == 2.0
    assert (out / "report.html").exists()
