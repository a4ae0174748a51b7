"""Other processors are imitated as `scripts/processors.py` says, and a red run there is red."""

from __future__ import annotations

import importlib.util
import os
import platform
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

X86 = platform.machine() in ("x86_64", "AMD64")
HASHES = """
import hashlib, math
import numpy as np
from voile.mechanisms._word_kernels import exp_minus
x = np.linspace(0, 41, 20_001)
for values in (np.exp(-x), [exp_minus(v) for v in x]):
    print(hashlib.sha256(np.asarray(values).tobytes()).hexdigest())
"""


@pytest.fixture
def processors(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("processors", root / "scripts/processors.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("codes", [(0, 0), (0, 1), (1, 0)])
def test_a_red_run_is_told_and_ends_in_one(
    processors: ModuleType,
    codes: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers = iter(codes)
    runs: list[dict[str, str]] = []

    def run(command: list[str], **how: object) -> SimpleNamespace:
        runs.append(how["env"])  # type: ignore[arg-type]
        return SimpleNamespace(returncode=next(answers), stdout="1 failed", stderr="")

    monkeypatch.setattr(processors.subprocess, "run", run)
    monkeypatch.setattr(processors.platform, "machine", lambda: "x86_64")
    assert processors.main() == max(codes)
    assert ("1 failed" in capsys.readouterr().out) == any(codes)
    assert [r["OPENBLAS_CORETYPE"] for r in runs] == ["Prescott", "Haswell"]
    monkeypatch.setattr(processors.platform, "machine", lambda: "arm64")
    assert processors.main() == 0
    assert "none is imitated on arm64" in capsys.readouterr().out


@pytest.mark.skipif(not X86, reason="imitates x86-64")
def test_numpy_takes_the_settings_and_repeatable_numbers_stay(processors: ModuleType) -> None:
    """No warning about unknown names; NumPy's exp may change its bits, ours may not."""
    pytest.importorskip("numba")
    found = []
    for name, settings in processors.PROCESSORS.items():
        off = {"NPY_DISABLE_CPU_FEATURES": processors.numpy_leaves_out(name)}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", HASHES],
            env={**os.environ, **settings, **off},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.split())
    assert len({ours for _, ours in found}) == 1


def test_the_rooms_are_there_and_the_suite_s_count_is_the_last_line(
    processors: ModuleType, root: Path
) -> None:
    for room in processors.ROOMS:
        assert (root / room.removeprefix("--ignore=")).exists()
    script = (root / "scripts" / "check").read_text()
    assert script.index("processors.py") < script.index('"$bin"/pytest')
    assert script.rstrip().endswith('exit "$elsewhere"')
