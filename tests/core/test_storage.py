import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings

import voile
from laws import spaces
from voile.errors import BadFile, CannotWrite, GuaranteeBroken, InvalidInput

LINE = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean(unit="km"))
CHANNEL = voile.mechanisms.exponential(LINE, epsilon=1.0, granularity="one place")


@pytest.fixture
def saved(tmp_path):
    return voile.save(CHANNEL, tmp_path / "line.voile")


@settings(max_examples=20)
@given(spaces(most=6))
def test_any_channel_comes_back_as_it_was(tmp_path_factory, space):
    channel = voile.mechanisms.exponential(space, epsilon=0.7)
    again = voile.load(voile.save(channel, tmp_path_factory.mktemp("saved") / "x.voile"))
    assert np.array_equal(again.weights, channel.weights)
    assert np.array_equal(again.space.items, space.items)
    assert again.guarantee == channel.guarantee
    assert again.certificate() == channel.certificate()


@pytest.mark.parametrize(
    "channel",
    [
        voile.mechanisms.randomised_response(["yes", "no"], epsilon=1.0),
        voile.mechanisms.exponential(
            voile.Space([0, 2], metric=voile.metrics.precomputed(
                np.array([[0.0, 1, 2], [1, 0, 1.5], [2, 1.5, 0]]), unit="minute")),
            epsilon=1.0,
        ),
        voile.mechanisms.exponential(
            voile.Space([[48.85, 2.35], [51.5, -0.12]], metric=voile.metrics.haversine()),
            epsilon=0.01,
        ),
    ],
)  # fmt: skip
def test_labels_matrices_and_places(channel, tmp_path):
    again = voile.load(voile.save(channel, tmp_path / "x.voile"))
    assert np.array_equal(again.outputs, channel.outputs)
    assert again.guarantee == channel.guarantee


def test_equal_channels_give_equal_files(tmp_path):
    one = voile.save(CHANNEL, tmp_path / "one").read_bytes()
    assert one == voile.save(CHANNEL, tmp_path / "two").read_bytes()


def test_nothing_is_left_beside_the_file(saved):
    assert [path.name for path in saved.parent.iterdir()] == ["line.voile"]


def test_a_flipped_bit_anywhere_is_noticed_or_harmless(saved):
    """Damage in data or checksums is an error; bytes that zip does not read change nothing."""
    whole = bytearray(saved.read_bytes())
    harmless = 0
    for position in range(0, len(whole), 7):
        damaged = whole.copy()
        damaged[position] ^= 0x10
        saved.write_bytes(damaged)
        try:
            again = voile.load(saved)
        except voile.VoileError:
            continue
        harmless += 1
        assert np.array_equal(again.weights, CHANNEL.weights)
        assert again.guarantee == CHANNEL.guarantee
    assert harmless < len(whole) / 7 / 2


@pytest.mark.parametrize("cut", [0, 10, 200, -30])
def test_a_truncated_file_is_a_clear_error(saved, cut):
    saved.write_bytes(saved.read_bytes()[:cut])
    with pytest.raises(BadFile, match="damaged or foreign"):
        voile.load(saved)


def rewrite(path, change):
    """Edit the manifest and sign it again, as a forger would."""
    from voile.storage import _digest

    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(entries["voile.json"])
    change(manifest)
    manifest["sha256"] = _digest(manifest)
    entries["voile.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, blob in entries.items():
            archive.writestr(name, blob)


def test_a_forged_claim_does_not_load(saved):
    """The certificate is computed anew: a file cannot promise more than its numbers keep."""
    rewrite(saved, lambda manifest: manifest["values"].update(epsilon=0.1))
    with pytest.raises(GuaranteeBroken):
        voile.load(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(version=99), "upgrade voile"),
        (lambda m: m.update(kind="spaceship"), "does not know"),
        (lambda m: m.update(format="other"), "not a voile file"),
        (lambda m: m["values"].pop("metric"), "does not hold what a channel needs"),
        (
            lambda m: m["values"]["metric"].update(name="levenshtein", parameters={}),
            "does not know",
        ),
        (lambda m: m["arrays"].pop("weights"), "does not hold what a channel needs"),
    ],
)
def test_foreign_files(saved, change, message):
    rewrite(saved, change)
    with pytest.raises(BadFile, match=message):
        voile.load(saved)


def test_an_array_of_objects_is_never_unpickled(saved, tmp_path):
    import hashlib
    import io

    class Bomb:
        def __reduce__(self):
            return (tmp_path.joinpath("exploded").touch, ())

    buffer = io.BytesIO()
    np.save(buffer, np.array([Bomb()], dtype=object), allow_pickle=True)
    blob = buffer.getvalue()

    rewrite(saved, lambda m: m["arrays"].update(items=hashlib.sha256(blob).hexdigest()))
    with zipfile.ZipFile(saved) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["items.npy"] = blob
    with zipfile.ZipFile(saved, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    with pytest.raises(BadFile):
        voile.load(saved)
    assert not (tmp_path / "exploded").exists()


def test_no_file_no_folder_no_kind(tmp_path):
    with pytest.raises(BadFile, match="there is no file"):
        voile.load(tmp_path / "absent.voile")
    with pytest.raises(CannotWrite, match="cannot write"):
        voile.save(CHANNEL, tmp_path / "absent" / "x.voile")
    with pytest.raises(InvalidInput, match="can be saved"):
        voile.save(object(), tmp_path / "x.voile")
