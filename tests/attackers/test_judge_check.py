"""A judge is tested before it is shown a text, and one in this process weighs and does not pick."""

from math import comb

import numpy as np
import pytest

from judges import asked_of, first, knows, leans
from voile.attackers.attribution_likelihood import Likelihood
from voile.attackers.judge_check import LEAST, PAIRS, JudgeFailed, check_judge
from voile.attackers.llm_judge import ORDERS, LlmJudge
from voile.errors import InvalidInput

POOL = [f"text {name}" for name in "abcdefghij"]


def judge(reply, heard=None):
    def ask(prompts):
        if heard is not None:
            heard.extend(prompts)
        return [reply(prompt) for prompt in prompts]

    return LlmJudge(ask)


def test_whoever_draws_lots_hardly_passes():
    chance = sum(comb(len(PAIRS), n) for n in range(LEAST, len(PAIRS) + 1)) / 2 ** len(PAIRS)
    assert 1 / chance == pytest.approx(478, abs=1)
    assert len({text for pair in PAIRS for text in pair}) == 2 * len(PAIRS)


@pytest.mark.parametrize("candidates", [2, 3, 7, 16, 40])
def test_a_judge_that_knows_passes_and_one_with_a_favourite_place_does_not(candidates):
    check_judge(judge(knows), candidates=candidates)
    for liar in (first, leans, lambda prompt: "I cannot say"):
        with pytest.raises(JudgeFailed, match="ask another model"):
            check_judge(judge(liar), candidates=candidates)


@pytest.mark.parametrize("size", [2, 3, 4, 9])
def test_each_question_is_asked_in_orders_that_depend_on_the_texts_alone(size):
    heard, again = [], []
    columns = np.arange(size)
    found = judge(knows, heard).scores(POOL, columns[None, :], ["text c"])
    other = judge(knows, again).scores(POOL, columns[None, ::-1], ["text c"])
    assert heard == again, "where the source stood in the set has no part in it"
    assert np.array_equal(found, other[:, ::-1])
    shown = [asked_of(prompt)[1] for prompt in heard]
    assert len(shown) == min(size, ORDERS)
    for text in POOL[:size]:
        assert len({order.index(text) for order in shown}) == len(shown), "each time elsewhere"


def test_the_first_order_is_shuffled():
    """Without it a judge that prefers a place would prefer the file's first rows."""
    heard = []
    sets = np.array([[i, j] for i in range(10) for j in range(i + 1, 10)])
    judge(first, heard).scores(POOL, sets, ["x"] * len(sets))
    begins = [asked_of(prompt)[1] for prompt in heard[::2]]
    assert 10 < sum(a < b for a, b in begins) < len(sets) - 10


def test_votes_of_all_orders_are_added():
    """A judge that is wrong in one order of three keeps two thirds of its votes."""
    replies = iter(range(100))
    wavering = judge(lambda prompt: first(prompt) if next(replies) % 3 == 0 else knows(prompt))
    found = wavering.scores(POOL, np.array([[0, 1, 2]] * 5), ["text b"] * 5)
    assert (found[:, 1] >= 2 / 3 - 1e-12).all()
    assert np.allclose(found.sum(axis=1), 1.0)


@pytest.fixture(scope="module")
def models():
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from voile.rewriting.tiny import tiny_causal, tiny_encoder_decoder, tiny_masked

    texts = ["Original: red cat", "Rewritten: blue dog and bird"]
    return tiny_causal(texts), tiny_encoder_decoder(texts), tiny_masked(texts)


def test_the_likelihood_is_the_models_own_token_by_token(models):
    """Against one forward pass a token, without padding; and the batch changes nothing."""
    from voile.attackers.language_likelihood import QUESTION, language_likelihood
    from voile.rewriting.language_model import Reading

    texts, releases = ["red cat", "blue dog and bird", ""], ["dog", "red and blue bird", ""]
    for language in models[:2]:
        found = language_likelihood(language)(texts, releases)
        for text, release, value in zip(texts, releases, found, strict=True):
            plain = {"add_special_tokens": False}
            question = language.tokenizer(QUESTION.format(text), **plain)["input_ids"]
            answer = language.tokenizer(f" {release}", **plain)["input_ids"] or [language.end]
            reading, total = Reading(language, [tuple(question)]), 0.0
            for token in [*answer, language.end]:
                logits = reading.logits()[0].astype(float)
                total += logits[token] - np.log(np.exp(logits - logits.max()).sum()) - logits.max()
                reading.follow([0], [token])
            assert value == pytest.approx(total, abs=1e-3)
            alone = language_likelihood(language)([text], [release])
            assert value == pytest.approx(float(alone[0]), abs=1e-4)


def test_texts_longer_than_the_model_reads_are_cut_and_the_question_stays(models):
    from voile.attackers.language_likelihood import language_likelihood

    law = language_likelihood(models[0])
    long = law(["cat " * 5000, "dog " * 5000], ["bird " * 5000] * 2)
    assert np.isfinite(long).all()
    assert long[0] != long[1]


def test_a_model_that_fills_masks_or_knows_nothing_is_refused(models):
    from voile.attackers.language_likelihood import language_likelihood

    with pytest.raises(InvalidInput, match="must be a model that writes"):
        language_likelihood(models[2])
    with pytest.raises(JudgeFailed):
        check_judge(Likelihood(language_likelihood(models[0])))
