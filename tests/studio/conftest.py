"""One browser and one studio for all tests of the pages."""

import pytest

from report.browser import Browser, executable
from studio.house import Client, studio_open

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("uvicorn", reason="the extra web is not installed")


@pytest.fixture
def house():
    with studio_open() as studio:
        yield studio


@pytest.fixture
def client(house):
    return Client(house)


@pytest.fixture(scope="session")
def browser():
    if executable() is None:
        pytest.skip("needs a Chromium")
    found = Browser()
    found.call("Emulation.setFocusEmulationEnabled", enabled=True)
    yield found
    found.close()
