"""What is written beside a private file is private: folders, parts, notes, outputs, reports."""

import os
import stat
from pathlib import Path

import pytest

from in_process import voile
from releasers import Simple
from voile.files import add_line, like_source, make_private_folder, open_private, write_private
from voile.files.disk import LocalFile
from voile.jobs import open_source, run_job


@pytest.fixture(autouse=True)
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path):
    return stat.S_IMODE(Path(path).stat().st_mode)


def modes_under(folder):
    return {str(p.relative_to(folder)): oct(mode(p)) for p in sorted(Path(folder).rglob("*"))}


def csv_with(path, permissions):
    path.write_text("id,text\n" + "".join(f"{n},a\n" for n in range(9)))
    path.chmod(permissions)
    return open_source(path)


def same(batch):
    return {"text": batch.column("text")}


@pytest.mark.parametrize(("given", "made"), [(0o600, 0o600), (0o644, 0o644), (0o640, 0o640)])
def test_a_release_is_readable_as_its_source_is(tmp_path, given, made):
    source, out = csv_with(tmp_path / "in.csv", given), tmp_path / "out.csv"
    run_job(source, out, Simple(same), identity={}, guarantee=lambda report: {"rows": report.rows})
    assert mode(out) == made
    assert mode(tmp_path / "out.csv.guarantee.json") == made


def test_what_an_interrupted_job_leaves_is_its_owners_alone(tmp_path):
    source = csv_with(tmp_path / "in.csv", 0o600)

    def interrupted(batch):
        if batch.part == 2:
            raise KeyboardInterrupt
        return same(batch)

    with pytest.raises(KeyboardInterrupt):
        run_job(source, tmp_path / "out.csv", Simple(interrupted), identity={}, batch_rows=2)
    folder = tmp_path / "out.csv.voile-job"
    left = modes_under(folder)
    assert mode(folder) == 0o700
    assert len(left) >= 6  # a folder, two parts, two notes, the manifest
    for name, found in left.items():
        assert found == ("0o700" if (folder / name).is_dir() else "0o600"), (name, left)


def test_a_file_is_private_from_its_first_byte_on(tmp_path):
    place = LocalFile(tmp_path / "x")
    with place.writing() as file:
        file.write(b"a")
        assert mode(tmp_path / "x") == 0o600
    assert LocalFile(tmp_path / "y").create(b"a")
    LocalFile(tmp_path / "z").write(b"a")
    assert set(modes_under(tmp_path).values()) == {"0o600"}


def test_helpers_close_what_was_open(tmp_path):
    (tmp_path / "open").write_text("before")
    (tmp_path / "open").chmod(0o644)
    write_private(tmp_path / "open", "after")
    assert mode(tmp_path / "open") == 0o600
    make_private_folder(tmp_path / "a" / "b")
    assert (mode(tmp_path / "a"), mode(tmp_path / "a" / "b")) == (0o755, 0o700)
    add_line(tmp_path / "kept" / "replies", "one")
    assert (mode(tmp_path / "kept"), mode(tmp_path / "kept" / "replies")) == (0o700, 0o600)
    with open_private(tmp_path / "new", encoding="utf-8") as file:
        file.write("x")
    assert mode(tmp_path / "new") == 0o600


def test_the_least_readable_source_decides_and_an_unknown_one_closes(tmp_path):
    one, two, made = (tmp_path / name for name in ("one", "two", "made"))
    for path in (one, two, made):
        path.write_text("x")
    one.chmod(0o644)
    two.chmod(0o600)
    like_source(made, [one])
    assert mode(made) == 0o644
    like_source(made, [one, two])
    assert mode(made) == 0o600
    like_source(made, [one, "s3://bucket/three"])
    assert mode(made) == 0o600


def test_recipes_exports_reports_and_charts_follow(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{n % 5},{'pq'[n % 2]}\n" for n in range(40))
    Path("private.csv").write_text("n,y\n" + rows)
    Path("private.csv").chmod(0o600)
    assert voile("ledger", "init", "ledger.db")[0] == 0
    assert voile("ledger", "export", "ledger.db", "--out", "accounts.csv")[0] == 0
    code, _, err = voile(
        "labels", "protect", "private.csv", "--label", "y", "--epsilon", "1", "--mechanism", "ldp",
        "--learn-from-private", "--out", "out.csv", "--report", "r.html", "--charts", "charts",
    )  # fmt: skip
    assert code == 0, err
    for name in (
        "accounts.csv",
        "out.csv",
        "out.csv.recipe.json",
        "out.csv.guarantee.json",
        "r.html",
    ):
        assert mode(name) == 0o600, name
    assert set(modes_under("charts").values()) == {"0o600"}
