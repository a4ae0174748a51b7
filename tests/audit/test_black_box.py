"""A program under audit does not outlive the audit."""

import subprocess
import sys
import time

import pytest

LEFT_BEHIND = """
import sys, threading
from voile.audit import black_box
asleep = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(60)"]
answers = black_box.line_command(asleep).stream(["a", "b"])
heard = threading.Event()
def work():
    for _ in answers:
        heard.set()
threading.Thread(target=work, daemon=True).start()
heard.wait(20)
print(*(process.pid for process in black_box._RUNNING))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs sessions of POSIX")
def test_a_program_ends_with_whoever_started_it():
    done = subprocess.run(
        [sys.executable, "-c", LEFT_BEHIND], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    program = int(done.stdout)
    late = time.monotonic() + 10
    while _alive(program):
        assert time.monotonic() < late, "it is still at work"
        time.sleep(0.05)


def _alive(process: int) -> bool:
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True
    )
    return state.stdout.strip() != "" and not state.stdout.strip().startswith("Z")
