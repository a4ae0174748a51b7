import hashlib
import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import voile
from laws import spaces
from voile.errors import BadFile, CannotWrite, GuaranteeBroken, InvalidInput
from voile.recipe import write_recipe

LINE = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean(unit="km"))
CHANNEL = voile.mechanisms.exponential(LINE, epsilon=1.0, granularity="one place")


def without_note(channel):
    """The guarantee, but for the last thing outside: that a file's words cannot be checked."""
    *outside, note = channel.guarantee.outside
    assert "its words cannot be" in note
    return replace(channel.guarantee, outside=tuple(outside))


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
    assert without_note(again) == channel.guarantee
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
    assert without_note(again) == channel.guarantee
    assert voile.load(voile.save(again, tmp_path / "y.voile")).guarantee == again.guarantee


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
        assert without_note(again) == CHANNEL.guarantee
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
    rewrite(saved, lambda manifest: manifest["values"]["guarantee"].update(epsilon=0.1))
    with pytest.raises(GuaranteeBroken):
        voile.load(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(version=99), "upgrade voile"),
        (lambda m: m.update(kind="spaceship"), "does not know"),
        (lambda m: m.update(format="other"), "not a voile file"),
        (lambda m: m.update(version="two"), "damaged or foreign"),
        (lambda m: m.update(kind=[]), "damaged or foreign"),
        (lambda m: m.update(arrays=[]), "damaged or foreign"),
        (lambda m: m["values"].pop("guarantee"), "does not hold what a channel needs"),
        (lambda m: m["values"].update(guarantee=7), "does not hold what a channel needs"),
        (lambda m: m["values"]["guarantee"].pop("metric"), "does not hold what a channel needs"),
        (
            lambda m: m["values"]["guarantee"]["metric"].update(name="levenshtein", parameters={}),
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


def test_other_files_of_voiles_own_are_read_or_say_what_reads_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = [{"age": n % 5, "ill": "yes" if n % 3 else "no"} for n in range(40)]
    made = voile.labels.recipe(records, label="ill", out="r.json")
    assert voile.load("r.json").columns == made.content.columns
    (tmp_path / "in.csv").write_text("lat,lon\n48.0,2.0\n")
    done = voile.places.protect("in.csv", epsilon=2.0)
    stated = voile.load("in.protected.csv.guarantee.json")
    assert stated.to_dict() == done.guarantee.to_dict()
    write_recipe(tmp_path / "r.toml", "explain", {"epsilon": 1.0})
    with pytest.raises(BadFile, match=r"carry it out with voile\.run"):
        voile.load("r.toml")
    with pytest.raises(InvalidInput, match=r"protect itself \(out=\).* \.guarantee_file\(\)"):
        voile.save(done, "d.voile")
    with pytest.raises(InvalidInput, match=r"write its \.to_dict\(\) as JSON, or give out="):
        voile.save(stated, "g.voile")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "damaged or foreign"),
        ("[1]", "damaged or foreign"),
        ('{"format": "of others"}', "damaged or foreign"),
        ('{"format": "voile-release/1"}', "it states no guarantee"),
        ('{"format": "voile-release/1", "guarantee": {}}', "a guarantee of version 1"),
        ('{"format": "voile label recipe"}', "must be of version"),
    ],
)
def test_text_that_is_none_of_voiles_files_is_refused(tmp_path, content, said):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(BadFile, match=said):
        voile.load(tmp_path / "x.json")


# ── what is new in the second version, and what is refused ─────────────────────────────────────


def test_files_of_the_first_version_are_read(saved):
    def older(manifest):
        guarantee = manifest["values"].pop("guarantee")
        manifest["version"] = 1
        manifest["values"] = {
            "epsilon": guarantee["epsilon"],
            "granularity": guarantee["granularity"],
            "outside": guarantee["outside"],
            "metric": {"name": "euclidean", "unit": "km", "parameters": {"p": 2.0}},
        }

    rewrite(saved, older)
    assert without_note(voile.load(saved)) == CHANNEL.guarantee


def put(path, name, blob, *, method=zipfile.ZIP_DEFLATED):
    """Another array under its right checksum."""
    rewrite(path, lambda m: m["arrays"].update({name: hashlib.sha256(blob).hexdigest()}))
    with zipfile.ZipFile(path) as archive:
        entries = {entry: archive.read(entry) for entry in archive.namelist()}
    entries[f"{name}.npy"] = blob
    with zipfile.ZipFile(path, "w", method) as archive:
        for entry, data in entries.items():
            archive.writestr(entry, data)


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_a_small_file_does_not_unpack_to_a_large_one(saved, monkeypatch):
    """A few kilobytes that would become many megabytes are refused before they are unpacked."""
    put(saved, "more", npy(np.zeros((2**10, 2**10))))
    assert saved.stat().st_size < 2**15
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("unpacked"))
    with pytest.raises(BadFile, match="unpack to at most 1,048,576 bytes, it says 8,"):
        voile.load(saved, largest=2**20)
    with pytest.raises(BadFile, match="unpack to at most"):
        voile.load(saved, content=saved.read_bytes(), largest=2**20)


def test_the_limit_can_be_raised_and_is_a_gigabyte(saved):
    assert voile.storage.LARGEST == 2**30
    assert voile.load(saved, largest=10**6).guarantee.epsilon == 1.0
    with pytest.raises(BadFile, match="unpack to at most 100 bytes"):
        voile.load(saved, largest=100)


def test_a_header_that_asks_for_more_than_there_is_allocates_nothing(saved):
    blob = npy(np.zeros(3, dtype=np.uint64)).replace(b"(3,), }", b"(99999999999999,), }", 1)
    put(saved, "weights", blob)
    with pytest.raises(BadFile, match=r"not what its header says|damaged or foreign"):
        voile.load(saved)


def test_other_ways_of_packing_are_refused(saved):
    put(saved, "more", npy(np.zeros(3)), method=zipfile.ZIP_LZMA)
    with pytest.raises(BadFile, match="packed in a way"):
        voile.load(saved)


def test_a_forged_unit_is_not_certified_silently(saved):
    """No number says what a unit is: the guarantee lists it among what was not checked."""
    rewrite(saved, lambda m: m["values"]["guarantee"]["metric"].update(unit="nanometre"))
    text = voile.load(saved).guarantee.explain()
    assert "Not covered: whether a secret is one place and distances are in nanometre" in text


def test_a_unit_that_a_metric_fixes_cannot_be_forged(tmp_path):
    labels = voile.mechanisms.randomised_response(["yes", "no"], epsilon=1.0)
    path = voile.save(labels, tmp_path / "x.voile")
    rewrite(path, lambda m: m["values"]["guarantee"]["metric"].update(unit="lifetime"))
    with pytest.raises(BadFile, match="does not match"):
        voile.load(path)


@pytest.mark.parametrize(
    "change", [{"unit": "m"}, {"granularity": "one year of locations"}], ids=["unit", "secret"]
)
def test_a_design_for_places_speaks_of_kilometres_and_one_location(change):
    from voile.storage import _with_words

    honest = {"inner": {"unit": "km", "granularity": "one location"}}
    assert _with_words("places design", honest) is honest
    with pytest.raises(BadFile, match="must speak of km"):
        _with_words("places design", {"inner": honest["inner"] | change})


def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    from voile.mechanisms._embedding import Embedding

    words = Embedding.of(np.random.default_rng(0).normal(size=(5, 3)))
    own = voile.Metric("euclidean", "km", lambda a, b: np.abs(a - b.T), parameters=(("p", 2.0),))
    for space in (words.space, voile.Space([[0.0], [1.0]], metric=own)):
        channel = voile.mechanisms.exponential(space, epsilon=1.0)
        with pytest.raises(InvalidInput, match="can be saved if a file can say"):
            voile.save(channel, tmp_path / "x.voile")
    things = np.empty(2, dtype=object)
    things[:] = [(1, 2), "b"]
    objects = voile.mechanisms.randomised_response(things, epsilon=1.0)
    with pytest.raises(InvalidInput, match="texts or numbers"):
        voile.save(objects, tmp_path / "x.voile")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("p", [64.0, 400.0])
def test_a_forged_identity_over_an_overflowing_metric_does_not_load(tmp_path, p):
    """Far points under a high p: the sum of powers overflows, the distance does not."""
    far = voile.Space([[0.0], [1e5]], metric=voile.metrics.lp(p, unit="km"))
    honest = voile.mechanisms.exponential(far, epsilon=1e-6)
    assert 0 < honest.certificate().epsilon <= 1e-6
    path = voile.save(honest, tmp_path / "far.voile")
    near_identity = np.array([[2**62 - 2**56, 2**56], [2**56, 2**62 - 2**56]], dtype=np.uint64)
    put(path, "weights", npy(near_identity))
    with pytest.raises(GuaranteeBroken):
        voile.load(path)
    true = np.log(float(2**62 - 2**56) / 2**56) / 1e5
    rewrite(path, lambda m: m["values"]["guarantee"].update(epsilon=true * 1.001))
    assert voile.load(path).certificate().epsilon == pytest.approx(true)


def test_a_small_file_does_not_ask_for_hours(monkeypatch, tmp_path):
    """All pairs are certified on loading: many equal rows pack into a few bytes."""
    line = voile.Space([[0.0], [1.0], [2.0]], metric=voile.metrics.euclidean())
    voile.save(voile.mechanisms.exponential(line, epsilon=1.0), tmp_path / "three.voile")
    monkeypatch.setattr("voile.storage.MOST_SECRETS", 2)
    with pytest.raises(BadFile, match="at most 2 secrets"):
        voile.load(tmp_path / "three.voile")
