"""Kill −9 at random moments: rows released = rows charged. The long version is the benchmark."""

from __future__ import annotations

import subprocess
import sys


def test_a_small_storm(root):
    done = subprocess.run(
        [sys.executable, str(root / "benchmarks" / "kill_storm.py"), "--kills", "6", "--rows",
         "3000", "--batch-rows", "50", "--budget", "20", "--longest", "3"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    facts = dict(line.strip("| ").split(" | ") for line in done.stdout.splitlines()[2:] if line)
    assert int(facts["kills"]) == 6
    assert facts["rows released"] == facts["rows charged"]
    assert int(facts["rows refused"]) > 0
