"""The documentation site builds without a warning; every page can be reached, on a short way."""

import re
import subprocess
import sys
import tomllib

import pytest

from voile.surface import ROOMS


@pytest.fixture(scope="module")
def site(root, tmp_path_factory):
    """The built site. Strictly: a page that no other leads to is a warning, and so an error."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", str(folder)],
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return lambda name: (folder / name).read_text(encoding="utf-8")


def article(page):
    """What a page says itself, without side bars."""
    return re.search(r"<article.*?</article>", page, re.S).group()


def test_the_api_is_read_off_the_package(site):
    page = site("reference/api/mechanisms.html")
    assert "voile.mechanisms.spaces.exponential.exponential" in page
    assert "McSherry and Talwar" in page
    assert "<h2>spaces.exponential<" in page, "a heading for each module"
    assert "examples()" not in article(page)
    assert site("reference/api/attackers.html")


def test_the_reference_leaves_no_room_out(site, root):
    listed = article(site("reference/api.html"))
    rooms = {path.parent.name for path in (root / "src" / "voile").glob("*/__init__.py")}
    for room in rooms - {"cli", "demo", "studio"}:
        assert f"voile.{room}<" in listed, f"docs/reference/api.md must list {room}"


def test_a_use_case_comes_with_its_options(site):
    """As its signature says them: Python's name, the default, the help."""
    page = article(site("reference/api/voile.html"))
    text = re.sub(r"<[^>]+>", " ", page)
    assert re.search(r"candidates\s+whole number\s+100\s+How many secrets", text)
    assert re.search(r"epsilon\s+number\s+required\s+Privacy parameter", text)


def test_the_front_page_is_short_and_has_three_doors(site):
    page = article(site("index.html"))
    links = re.findall(r'<a class="[^"]*" href="([^"#]+\.html)', page)
    assert 10 < len(links) < 30
    doors = re.findall(r'sd-stretched-link[^>]*href="tutorials/([\w-]+)\.html"', page)
    assert doors == ["reviews-for-a-language-model", "pick-ups-of-a-fleet", "labelled-records"]


def test_tutorials_are_in_reading_order_with_a_sentence_each(site, root):
    page = article(site("tutorials/index.html"))
    entries = re.findall(r"<li>(.*?)</li>", page, re.S)
    order = [re.search(r'href="([\w-]+)\.html', entry).group(1) for entry in entries]
    assert order[0] == "first-channel"
    assert order[-1] == "a-mechanism-of-your-own"
    there = {path.stem for path in (root / "docs" / "tutorials").glob("*.md")} - {"index"}
    assert set(order) == there
    assert all(len(re.sub(r"<[^>]+>", "", entry).split()) > 12 for entry in entries)


def test_every_how_to_page_has_its_line(site, root):
    page = article(site("how-to/index.html"))
    for path in (root / "docs" / "how-to").glob("*.md"):
        if path.stem != "index":
            assert f'href="{path.stem}.html"' in page, f"docs/how-to/index.md must list {path.stem}"


def test_blocks_can_be_copied_and_the_version_is_shown(site, root):
    page = site("how-to/choose-epsilon.html")
    assert "copybutton.js" in page
    assert "voile.css" in page
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    assert f"Version {version}." in page
    assert "Documentation of another version" in site("reference/versions.html")


def test_every_command_has_its_row(root):
    page = (root / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    for room, names in ROOMS.items():
        for name in names:
            command = " ".join(filter(None, ["voile", room, name]))
            assert f"| `{command}` |" in page, f"docs/reference/command-line.md must list {command}"
