"""The documentation site builds without a warning, and every page can be reached."""

import subprocess
import sys


def test_the_site_builds_strictly(root, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", str(tmp_path)],
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "reference" / "api" / "mechanisms.html").read_text(encoding="utf-8")
    assert "voile.mechanisms.exponential.exponential" in page
    assert "McSherry and Talwar" in page
    assert (tmp_path / "reference" / "api" / "attackers.html").exists()
