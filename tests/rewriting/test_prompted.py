"""DP-Prompt and DP-Paraphrase on tiny models, by enumeration of every text they can write."""

import functools
import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest

import voile
from laws import FALSE_ALARM, p_value
from voile.attackers.attribution_likelihood import Likelihood
from voile.audit.distinguishing import distinguish
from voile.errors import InvalidInput
from voile.rewriting.dp_paraphrase import dp_paraphrase
from voile.rewriting.dp_prompt import dp_prompt
from voile.rewriting.generation import generate
from voile.rewriting.language_model import LanguageModel, Reading
from voile.rewriting.prompted import PromptedRewriter
from voile.rewriting.public_law import MixtureSampler
from voile.rewriting.token_sampler import ReleasedSampler, TokenSampler

BOUNDS = (-2.0, 6.0)


def every_writing(vocabulary, end, most):
    """All token sequences that can be drawn: to the end token, or to the cap."""
    for length in range(1, most + 1):
        for body in itertools.product(range(vocabulary), repeat=length):
            if end in body[:-1]:
                continue
            if length == most or body[-1] == end:
                yield body


def law_of(rewriter, texts, writings):
    table = [rewriter.log_likelihood([text] * len(writings), writings) for text in texts]
    return np.array(table)


@pytest.mark.parametrize("epsilon", [1.0, 12.0, 300.0])
def test_the_bound_holds_for_all_pairs_of_short_texts(causal, short_texts, epsilon):
    """Every text of one or two words, every writing of up to two tokens: nothing is sampled."""
    rewriter = dp_paraphrase(causal, epsilon=epsilon, bounds=BOUNDS, max_new_tokens=2, batch=128)
    writings = list(every_writing(causal.vocabulary, causal.end, 2))
    law = law_of(rewriter, short_texts, writings)
    assert np.exp(law).sum(axis=1) == pytest.approx(np.ones(len(short_texts)), abs=1e-9)
    gaps = (law[:, None] - law[None]).max()
    assert gaps <= rewriter.text_guarantee.epsilon == 2 * rewriter.guarantee.epsilon
    assert rewriter.text_guarantee.epsilon <= 52.6793, "the floor's bound, two tokens"
    assert gaps >= 0.1 * epsilon, "the model must react to its input for this test to mean much"
    ended = [w for w in writings if w[0] == causal.end]
    assert law_of(rewriter, short_texts[:1], ended).shape == (1, 1)


@pytest.mark.parametrize(
    "liar",
    [
        ReleasedSampler(12.0, *BOUNDS, top_k=3),
        ReleasedSampler(12.0, -0.1, 0.1, clipped=False),
    ],
    ids=["top-k", "unclipped"],
)
def test_planted_shortcuts_are_caught_by_the_same_enumeration(causal, short_texts, liar):
    honest = dp_paraphrase(causal, epsilon=12.0, bounds=BOUNDS, max_new_tokens=2, batch=128)
    planted = PromptedRewriter(
        causal, liar, honest.prompt, honest.clean, 2, "as_released", batch=128
    )
    writings = list(every_writing(causal.vocabulary, causal.end, 2))
    law = law_of(planted, short_texts, writings)
    with np.errstate(invalid="ignore"):
        gaps = law[:, None] - law[None]
    assert np.nanmax(gaps) > 24.0


@pytest.mark.parametrize(("epsilon", "batch"), [(6.0, 3), (6.0, 500), (1.5, 500)])
def test_writing_follows_its_stated_law(causal, epsilon, batch):
    rewriter = dp_paraphrase(causal, epsilon=epsilon, bounds=BOUNDS, max_new_tokens=2, batch=batch)
    writings = list(every_writing(causal.vocabulary, causal.end, 2))
    law = np.exp(law_of(rewriter, ["red cat"], writings)[0])
    drawn, cut = rewriter.tokens(["red cat"] * 8000, voile.seeded_rng(4))
    assert cut == 0
    index = {w: i for i, w in enumerate(writings)}
    counts = np.bincount([index[w] for w in drawn], minlength=len(writings))
    assert p_value(counts, law / law.sum()) > FALSE_ALARM
    other = np.exp(law_of(rewriter, ["blue dog"], writings)[0])
    assert p_value(counts, other / other.sum()) < FALSE_ALARM


@pytest.mark.parametrize("epsilon", [0.2, 10.0])
def test_what_is_written_does_not_depend_on_what_is_read_together(causal, short_texts, epsilon):
    rewriter = dp_paraphrase(causal, epsilon=epsilon, bounds=BOUNDS, max_new_tokens=5)
    texts = short_texts * 3
    wide, narrow = (
        replace(rewriter, batch=batch).tokens(texts, voile.seeded_rng(1))[0] for batch in (64, 2)
    )
    assert wide == narrow
    assert len(set(wide)) > len(texts) / 3  # equal texts have draws of their own


def test_tokens_that_no_text_changes_are_not_read_for(causal, short_texts, monkeypatch):
    """At ε = 0.001 the logits decide one token in two thousand: hardly a text is read at all."""
    rewriter = dp_paraphrase(causal, epsilon=0.001, bounds=BOUNDS, max_new_tokens=6)
    seen = _sizes(causal, monkeypatch)
    drawn, _ = rewriter.tokens(short_texts, voile.seeded_rng(0))
    assert sum(seen) < len(short_texts) / 2
    for tokens in drawn:
        assert causal.end not in tokens[:-1]
        assert len(tokens) == 6 or tokens[-1] == causal.end
    assert {len(tokens) for tokens in drawn} >= {1, 2, 6}
    rewriter.at(20.0).tokens(short_texts, voile.seeded_rng(0))
    assert sum(seen) > 2 * len(short_texts)


def test_each_text_has_its_own_length(causal):
    """Lengths of as-released writing differ: no text is read or written beyond its own."""
    sampler = TokenSampler(0.05, *BOUNDS)
    prompts = [(5, 6)] * 300 + [(7,)] * 300
    lengths = [1, 2, 6] * 200
    drawn = generate(causal, prompts, sampler, lengths=lengths, rng=voile.seeded_rng(3))
    for tokens, length in zip(drawn, lengths, strict=True):
        assert causal.end not in tokens[:-1]
        assert len(tokens) == length or (len(tokens) < length and tokens[-1] == causal.end)


def test_batches_and_padding_do_not_change_the_law(causal, short_texts):
    """Left padding beside longer texts must not shift positions or attention."""
    rewriter = dp_paraphrase(causal, epsilon=5.0, bounds=BOUNDS, max_new_tokens=2)
    writings = [(5, 6)] * len(short_texts)
    alone = [
        rewriter.log_likelihood([t], [w])[0] for t, w in zip(short_texts, writings, strict=True)
    ]
    together = rewriter.log_likelihood(short_texts, writings)
    assert together == pytest.approx(np.array(alone), abs=1e-4)


@pytest.mark.parametrize("build", [dp_paraphrase, dp_prompt])
def test_a_drift_of_all_logits_changes_nothing(build, causal, short_texts, monkeypatch):
    """What a softmax does not see must not decide what is written; published code lets it."""
    writings = [(5, 6)] * len(short_texts)
    given = {"epsilon": 5.0, "bounds": BOUNDS, "max_new_tokens": 2}
    sound = build(causal, **given)
    published = build(causal, **given, fidelity="as_released")
    before = [r.log_likelihood(short_texts, writings) for r in (sound, published)]
    still = Reading.logits
    monkeypatch.setattr(Reading, "logits", lambda self: still(self) - 5)
    after = [r.log_likelihood(short_texts, writings) for r in (sound, published)]
    assert after[0] == pytest.approx(before[0], abs=1e-4)
    assert after[1] != pytest.approx(before[1], abs=0.1)


@pytest.mark.parametrize("kind", ["causal", "encoder_decoder"])
@pytest.mark.parametrize(("batch", "rows"), [(64, [4, 6, 6]), (2, None)], ids=["whole", "pieces"])
def test_texts_are_read_once_until_they_part(kind, batch, rows, short_texts, request, monkeypatch):
    """One row while prompt and tokens are the same, whatever pieces the batch is cut into."""
    language = request.getfixturevalue(kind)
    build = dp_paraphrase if kind == "causal" else dp_prompt
    rewriter = build(language, epsilon=5.0, bounds=BOUNDS, max_new_tokens=3, batch=batch)
    texts = [short_texts[i] for i in (3, 9, 3, 0, 9, 3, 5)]
    writings = [(5, 6, 7), (5, 6, 7), (6, 5, 7), (8, 4, 3), (4, 8, 3), (5, 6, 7), (7, 7, 7)]
    alone = [rewriter.log_likelihood([t], [w])[0] for t, w in zip(texts, writings, strict=True)]
    seen = _sizes(language, monkeypatch)
    together = rewriter.log_likelihood(texts, writings)
    assert together == pytest.approx(np.array(alone), abs=1e-4)
    assert alone[0] != pytest.approx(alone[2], abs=1e-3)  # one text, two writings
    assert max(seen) <= batch
    if rows:
        assert seen[-3:] == rows


def test_what_all_prompts_begin_with_is_read_once(causal, short_texts, monkeypatch):
    """Two examples before every text: one row of many tokens, then rows of few."""
    pairs = [("red cat", "blue dog"), ("dog", "cat")]
    rewriter = dp_paraphrase(causal, epsilon=5.0, bounds=BOUNDS, max_new_tokens=2, examples=pairs)
    writings = [(5, 6)] * len(short_texts)
    seen = _sizes(causal, monkeypatch)
    alone = [
        rewriter.log_likelihood([t], [w])[0] for t, w in zip(short_texts, writings, strict=True)
    ]
    assert set(seen) == {1}
    seen.clear()
    together = rewriter.log_likelihood(short_texts, writings)
    assert together == pytest.approx(np.array(alone), abs=1e-4)
    assert seen[0] == 1
    assert len(set(np.round(together, 6))) > 1


def test_texts_that_ended_are_read_no_more(causal, short_texts, monkeypatch):
    rewriter = dp_paraphrase(causal, epsilon=5.0, bounds=BOUNDS, max_new_tokens=4)
    seen = _sizes(causal, monkeypatch)
    end = causal.end
    rewriter.log_likelihood(short_texts[:3], [(end,), (5, end), (5, 6, 7, 8)])
    assert seen[-3:] == [2, 1, 1]


def test_after_examples_a_text_ends_with_its_line(causal, monkeypatch):
    """A token that holds a line break is the last one drawn, and shows in nothing."""
    rewriter = dp_paraphrase(
        causal, epsilon=5.0, bounds=BOUNDS, max_new_tokens=4, examples=[("red", "blue")]
    )
    monkeypatch.setitem(vars(causal), "line_ends", frozenset({causal.end, 6, 7}))
    drawn, _ = rewriter.tokens(["red cat"] * 300, voile.seeded_rng(2))
    ended = [tokens for tokens in drawn if {6, 7} & set(tokens)]
    assert ended
    assert all({6, 7, causal.end}.isdisjoint(tokens[:-1]) for tokens in drawn)
    assert all(tokens[-1] in (6, 7, causal.end) for tokens in drawn if len(tokens) < 4)


def test_tokens_with_a_line_break_are_found(causal, monkeypatch):
    assert causal.line_ends == {causal.end}  # whole words: none of them breaks a line
    spelled = ["a", "b\n", "\n\n"] + ["c"] * (len(causal.tokenizer) - 3)
    monkeypatch.setattr(causal.tokenizer, "batch_decode", lambda rows: spelled)
    assert LanguageModel(causal.model, causal.tokenizer).line_ends == {causal.end, 1, 2}


def _sizes(language, monkeypatch):
    """How many rows each call of the model reads, from here on."""
    sizes = []
    forward = type(language.model).forward

    def counted(self, *args, **rest):
        sizes.append(_rows(rest))
        return forward(self, *args, **rest)

    monkeypatch.setattr(type(language.model), "forward", functools.wraps(forward)(counted))
    return sizes


def _rows(inputs):
    found = inputs.get("input_ids")
    return len(inputs["decoder_input_ids"] if found is None else found)


@pytest.mark.parametrize("epsilon", [2.0, 80.0])
def test_dp_prompt_on_an_encoder_decoder(encoder_decoder, short_texts, epsilon):
    rewriter = dp_prompt(
        encoder_decoder, epsilon=epsilon, bounds=(-0.5, 0.5), max_new_tokens=2, batch=200
    )
    writings = list(every_writing(encoder_decoder.vocabulary, encoder_decoder.end, 2))
    law = law_of(rewriter, short_texts[:6], writings)
    assert np.exp(law).sum(axis=1) == pytest.approx(np.ones(6), abs=1e-9)
    assert (law[:, None] - law[None]).max() <= 2 * epsilon


def test_the_likelihood_attack_stays_below_the_guarantee(causal, public):
    """The strongest attack on tokens: above chance, below what the guarantee allows."""
    rewriter = dp_paraphrase(causal, epsilon=4.0, bounds=BOUNDS, max_new_tokens=2, batch=256)
    rng = voile.seeded_rng(6)
    (found,) = distinguish(
        lambda texts: rewriter.tokens(texts, rng)[0],
        public,
        attacks=[Likelihood(rewriter.log_likelihood)],
        trials=2000,
        temperature=0.0,
        failure_probability=1e-9,
        rng=rng,
    )
    assert 0.3 < found.estimate.lower <= 2 * 4.0
    assert found.finding(claim=8.0).verdict == "open"


def test_truncation_to_the_likeliest_tokens_is_what_makes_the_curve_flat(causal, public):
    """The published anomaly: with top-k the success barely falls with ε; without it, it does."""
    rng = voile.seeded_rng(8)

    def success(rewriter):
        (found,) = distinguish(
            lambda texts: rewriter.tokens(texts, rng)[0],
            public,
            attacks=[Likelihood(rewriter.log_likelihood)],
            trials=1500,
            temperature=0.0,
            failure_probability=1e-9,
            rng=rng,
        )
        return found.estimate

    sound = dp_paraphrase(causal, epsilon=0.1, bounds=BOUNDS, max_new_tokens=2, batch=256)
    topped = PromptedRewriter(
        causal,
        ReleasedSampler(0.1, *BOUNDS, top_k=3),
        sound.prompt,
        sound.clean,
        2,
        "as_released",
        batch=256,
    )
    assert success(sound).lower == 0.0
    assert success(topped).lower > 0.5  # far above 2·0.1: the claim of 0.1 a token is refuted


def test_guarantees_say_what_they_cover(causal):
    sound = dp_paraphrase(causal, epsilon=2.0, max_new_tokens=7)
    assert sound.guarantee.granularity == "one token"
    assert sound.guarantee.basis == "proved"
    assert sound.text_guarantee.epsilon == 7 * sound.guarantee.epsilon <= 14.0
    assert sound.text_guarantee.granularity == "one text"
    assert sound.at(0.3).guarantee.epsilon == pytest.approx(0.3, rel=0.2)
    assert sound.at(3.0).language is sound.language
    released = dp_paraphrase(causal, epsilon=2.0, fidelity="as_released")
    assert released.guarantee.basis == "claimed"
    assert any("50" in item for item in released.guarantee.outside)
    prompt = dp_prompt(causal, epsilon=2.0, fidelity="as_released")
    assert "the length of the text" in prompt.guarantee.outside
    assert isinstance(sound.sampler, TokenSampler)


def test_cuts_are_reported_and_empty_texts_pass(causal):
    short = LanguageModel(causal.model, causal.tokenizer, longest=8)
    rewriter = dp_paraphrase(short, epsilon=2.0, bounds=BOUNDS, max_new_tokens=3)
    found = rewriter.rewrite(["red cat blue dog red cat", "red", ""], voile.seeded_rng(1))
    assert found.cut == 1
    assert len(found.texts) == 3
    assert all(1 <= n <= 3 for n in found.units)
    assert "red" not in repr(found)
    again = rewriter.release(["red"], voile.seeded_rng(1))
    assert again.dtype == object
    with pytest.raises(InvalidInput, match="max_new_tokens must be between 1"):
        dp_paraphrase(causal, epsilon=2.0, max_new_tokens=0)
    with pytest.raises(InvalidInput, match="fidelity"):
        dp_prompt(causal, epsilon=2.0, fidelity="exact")


def test_models_load_from_folders(causal, encoder_decoder, masked, tmp_path):
    from voile.rewriting.models import load_model, logit_bounds

    for name, model in (("c", causal), ("e", encoder_decoder), ("m", masked)):
        model.model.save_pretrained(tmp_path / name)
        model.tokenizer.save_pretrained(tmp_path / name)
        loaded = load_model(tmp_path / name)
        assert type(loaded.model) is type(model.model)
        assert loaded.end == model.end
    low, high = logit_bounds(load_model(tmp_path / "c"), ["red cat >>>>> ", "dog >>>>> "])
    assert low < high
    fitted = dp_paraphrase(causal, epsilon=1.0).bounded_by(["red cat", "dog"]).sampler
    assert (fitted.lower, fitted.upper) == pytest.approx((low, high), abs=1e-5)
    with pytest.raises(InvalidInput, match="model must be a folder or hub id"):
        load_model(tmp_path / "nothing")


@pytest.mark.parametrize("epsilon", [1.0, 6.0, 300.0])
@pytest.mark.parametrize("law", ["mixture", "public"])
def test_laws_without_clipping_hold_for_all_pairs_of_short_texts(causal, short_texts, law, epsilon):
    """All texts of one or two words and all writings, the end token among them: none is sampled."""
    rewriter = dp_paraphrase(causal, epsilon=epsilon, law=law, max_new_tokens=2, batch=128)
    writings = list(every_writing(causal.vocabulary, causal.end, 2))
    table = law_of(rewriter, ["", *short_texts], writings)
    assert np.exp(table).sum(axis=1) == pytest.approx(np.ones(len(table)), abs=1e-9)
    gaps = (table[:, None] - table[None]).max()
    assert gaps <= rewriter.text_guarantee.epsilon == 2 * rewriter.guarantee.epsilon
    assert rewriter.text_guarantee.epsilon <= min(2 * epsilon, 52.682)
    assert gaps >= 0.5 * min(epsilon, 20), "the model must react to its input"
    assert rewriter.guarantee.outside == ()


class Peeking(PromptedRewriter):
    """A planted leak: what should be public reads the private text."""

    def log_likelihood(self, texts, written):
        (self.__dict__["peeked"],) = set(texts)
        return super().log_likelihood(texts, written)

    def _public(self, count):
        return self._encoded([self.__dict__["peeked"]])[0] * count


@dataclass(frozen=True)
class Forgetful(MixtureSampler):
    """A planted leak: the model's law alone, as if η were 0."""

    def common(self, size):
        return 1


@pytest.mark.parametrize("liar", ["peeks", "forgets"])
def test_planted_leaks_are_caught_by_the_same_enumeration(causal, short_texts, liar):
    law = "public" if liar == "peeks" else "mixture"
    honest = dp_paraphrase(causal, epsilon=2.0, law=law, max_new_tokens=2, batch=128)
    kind = Peeking if liar == "peeks" else PromptedRewriter
    planted = kind(
        causal,
        honest.sampler if liar == "peeks" else Forgetful(2.0),
        honest.prompt,
        honest.clean,
        2,
        "sound",
        batch=128,
    )
    writings = list(every_writing(causal.vocabulary, causal.end, 2))
    tables = [law_of(rewriter, short_texts, writings) for rewriter in (honest, planted)]
    gaps = [(table[:, None] - table[None]).max() for table in tables]
    assert gaps[0] <= 4.0 < gaps[1]


@pytest.mark.parametrize("batch", [3, 500])
@pytest.mark.parametrize("law", ["mixture", "public"])
def test_writing_without_clipping_follows_its_law(causal, law, batch):
    rewriter = dp_paraphrase(causal, epsilon=3.0, law=law, max_new_tokens=2, batch=batch)
    writings = list(every_writing(causal.vocabulary, causal.end, 2))
    texts = ["red cat", "blue dog"]
    laws = np.exp(law_of(rewriter, texts, writings))
    drawn, _ = rewriter.tokens(texts * 3000, voile.seeded_rng(4))
    index = {w: i for i, w in enumerate(writings)}
    for which in (0, 1):
        counts = np.bincount([index[w] for w in drawn[which::2]], minlength=len(writings))
        assert p_value(counts, laws[which] / laws[which].sum()) > FALSE_ALARM
        assert p_value(counts, laws[1 - which] / laws[1 - which].sum()) < FALSE_ALARM


def test_the_public_law_does_not_depend_on_what_is_read_together(causal, short_texts):
    rewriter = dp_paraphrase(causal, epsilon=3.0, law="public", max_new_tokens=5)
    texts = short_texts * 3
    wide, narrow = (
        replace(rewriter, batch=batch).tokens(texts, voile.seeded_rng(1))[0] for batch in (64, 2)
    )
    assert wide == narrow
    together = rewriter.log_likelihood(texts, wide)
    alone = [rewriter.log_likelihood([t], [w])[0] for t, w in zip(texts, wide, strict=True)]
    assert together == pytest.approx(np.array(alone), abs=1e-4)


def test_the_public_law_on_an_encoder_decoder(encoder_decoder, short_texts):
    rewriter = dp_prompt(encoder_decoder, epsilon=2.0, law="public", max_new_tokens=2, batch=200)
    writings = list(every_writing(encoder_decoder.vocabulary, encoder_decoder.end, 2))
    law = law_of(rewriter, short_texts[:6], writings)
    assert np.exp(law).sum(axis=1) == pytest.approx(np.ones(6), abs=1e-9)
    assert (law[:, None] - law[None]).max() <= 4.0


def test_published_code_knows_the_published_law_alone(causal):
    for make in (dp_prompt, dp_paraphrase):
        with pytest.raises(InvalidInput, match="law must be 'clipped' for code as it was released"):
            make(causal, epsilon=1.0, law="public", fidelity="as_released")
        with pytest.raises(InvalidInput, match="law must be 'clipped', 'mixture' or 'public'"):
            make(causal, epsilon=1.0, law="best")
        unclipped = make(causal, epsilon=1.0, law="mixture")
        assert unclipped.bounded_by(["red"]) is unclipped
