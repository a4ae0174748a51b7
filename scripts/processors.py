"""Run the tests of numbers again as older processors would, on any x86-64.

    .venv/bin/python scripts/processors.py [pytest's own arguments]

What BLAS, NumPy, the C library and numba choose by processor is chosen for another one: another
order of sums, no fused additions, other last bits of exp and log. A tie that a last bit decides,
or an assertion on it, shows here. Nothing is imitated on other machines: there it says so.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = [
    "tests/core/test_certificate.py",
    "tests/core/test_channel.py",
    "tests/core/test_discrete_gaussian.py",
    "tests/core/test_lattice_laplace.py",
    "tests/core/test_rounding.py",
    "tests/core/test_weights.py",
    "tests/metrics",
    "tests/mechanisms",
    "tests/leakage",
    "tests/audit",
    "tests/optimise/test_block_solver.py",
    "tests/labels/test_leakage_exact.py",
    "tests/text/test_published_formula.py",
    "tests/text/test_sequences.py",
    "docs/tutorials/a-mechanism-of-your-own.md",
    "docs/tutorials/first-channel.md",
    "--ignore=tests/mechanisms/test_neighbour_table.py",
]
"""Where a last bit could decide something; about a minute for both on two free cores."""

PROCESSORS = {
    "without AVX (2008)": {
        "OPENBLAS_CORETYPE": "Prescott",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX2,-FMA,-FMA4,-AVX",
        "NUMBA_CPU_NAME": "nehalem",
        "NUMBA_CPU_FEATURES": "",
        "ATEN_CPU_CAPABILITY": "default",
    },
    "with AVX2 (2013)": {
        "OPENBLAS_CORETYPE": "Haswell",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL",
        "ATEN_CPU_CAPABILITY": "avx2",
    },
}
"""Settings of OpenBLAS, glibc, numba and torch; NumPy is asked what it can leave out."""


def numpy_leaves_out(processor: str) -> str:
    """The features that NumPy would choose here and that this processor has not."""
    from numpy._core import _multiarray_umath as numpy

    chosen = [name for name in numpy.__cpu_dispatch__ if numpy.__cpu_features__.get(name)]
    if "AVX2" in processor:
        chosen = [name for name in chosen if name == "X86_V4" or name.startswith("AVX512")]
    return " ".join(chosen)


def main() -> int:
    """Run the tests as each processor; 1 if one of them is red."""
    if platform.machine() not in ("x86_64", "AMD64"):
        print(f"Other processors: none is imitated on {platform.machine()}.")
        return 0
    failed = 0
    for name, settings in PROCESSORS.items():
        begun = time.monotonic()
        command = [sys.executable, "-m", "pytest", "-q", "-n", os.environ.get("JOBS", "2")]
        done = subprocess.run(
            [*command, "--dist", "loadfile", *(sys.argv[1:] or ROOMS)],
            cwd=ROOT,
            env={**os.environ, **settings, "NPY_DISABLE_CPU_FEATURES": numpy_leaves_out(name)},
            capture_output=True,
            text=True,
        )
        failed += done.returncode != 0
        said = "the same" if done.returncode == 0 else f"\n{done.stdout}{done.stderr}"
        print(f"Processor {name}: {said} ({time.monotonic() - begun:.0f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
