"""Previews are for the owner's eyes: after a session nothing of the data lies anywhere on disk."""

import csv
import logging

import numpy as np
import pytest

from studio.house import Client, studio_open
from voile.places.sample_trips import write_trips

SECRETS = ("zebulon", "quaggawood", "marmaduke")
"""Words of the texts that stand nowhere else."""


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A studio whose temporary files, caches and home all lie below one folder."""
    for name in ("TMPDIR", "VOILE_CACHE", "XDG_CACHE_HOME", "HOME"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "TMPDIR"))
    with studio_open() as studio:
        yield studio


def written(folder, since):
    """What lies below a folder and was not there before, as bytes by name."""
    found = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {path: content for path, content in found.items() if path not in since}


def test_no_preview_is_left_on_disk_in_caches_or_logs(house, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    client, rng = Client(house), np.random.default_rng(1)
    words = [*SECRETS, "please", "send", "the", "report", "to", "my", "doctor", "tomorrow"]
    texts = [" ".join(rng.choice(words, size=5)) for _ in range(30)]
    with (tmp_path / "texts.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [("text", "kind"), *((t, "ab"[k % 2]) for k, t in enumerate(texts))]
        )
    write_trips(tmp_path / "trips.csv", vehicles=4, stops=5)
    since = set(tmp_path.rglob("*"))

    client.ask("open", {"path": str(tmp_path / "texts.csv")})
    for more in ({}, {"remap": True}, {"keep_stopwords": True}):
        look = {"column": "text", **more}
        client.ask("text/look", look)
        client.ask("text/preview", {"look": look, "asked": {"epsilon": 2.0}})
        client.ask("text/figures", {"look": look, "asked": {"epsilon": 2.0}})
    use = client.ask("text/use", {"look": {"column": "text"}, "asked": {"label": "kind"}})
    assert use["rows"] == 30
    client.ask("open", {"path": str(tmp_path / "trips.csv")})
    look = {"lat": "lat", "lon": "lon", "trace": "vehicle"}
    point = client.ask("places/look", look)["points"][0]
    seen = client.ask("places/blurred", {"look": look, "asked": {"epsilon": 9.0, "per": "trace"}})
    client.ask("places/around", {"look": look, "asked": {"lat": 45.0, "lon": 5.0, "epsilon": 1.0}})
    for name in ("trace", "read"):
        client.ask(f"places/{name}", {"look": look, "asked": {"name": "v001", "epsilon": 9.0}})
    client.ask("places/roads", {"look": look, "asked": {}})
    before = written(tmp_path, since)
    house.close()
    private = [*SECRETS, *(str(v) for v in (*point, *seen["points"][0]))]
    for path, content in {**before, **written(tmp_path, since)}.items():
        for secret in private:
            assert secret.encode() not in content, (path, secret)
            assert secret not in path.name
    assert not any(secret in caplog.text for secret in private)
    assert not list((tmp_path / "TMPDIR").iterdir()), "the desk is cleared"
