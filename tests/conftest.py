"""What all tests share: Hypothesis without deadlines (machines are noisy), repeatable."""

from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile(
    "voile", deadline=None, derandomize=True, max_examples=60, database=None
)
hypothesis.settings.load_profile("voile")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real files that lie beside some checkouts; absent elsewhere."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no shared/data beside this checkout")
    return folder
