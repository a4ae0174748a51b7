"""Models small enough to train in seconds, for tests, examples and trying things out.

Built from a configuration over a vocabulary of whole words; loaded and used like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from voile.rewriting.adept import WORD, vocabulary_of, words_of
from voile.rewriting.language_model import LanguageModel
from voile.rewriting.models import require_neural

SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", "<mask>")


def word_tokenizer(public_texts: Sequence[str], *, most: int = 2000, sentence: bool) -> Any:
    """A tokeniser of whole words; `sentence` puts <s> … </s> around a text."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = [*SPECIAL, *vocabulary_of(public_texts, most=most)]
    inner = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
    inner.normalizer = normalizers.Lowercase()
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(WORD.pattern), "removed", invert=True)
    if sentence:
        inner.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>",
            pair="<s> $A </s> $B:1 </s>:1",
            special_tokens=[("<s>", 2), ("</s>", 3)],
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token="<pad>",
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        mask_token="<mask>",
        cls_token="<s>",
        sep_token="</s>",
        model_max_length=512,
    )


def tiny_causal(public_texts: Sequence[str], *, width: int = 32, seed: int = 0) -> LanguageModel:
    """A two-layer GPT-2."""
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = word_tokenizer(public_texts, sentence=False)
    settings = GPT2Config(
        vocab_size=len(tokenizer), n_embd=width, n_layer=2, n_head=2, n_positions=128,
        bos_token_id=2, eos_token_id=3, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    return LanguageModel(_built(GPT2LMHeadModel, settings, seed), tokenizer, 96)


def tiny_encoder_decoder(
    public_texts: Sequence[str], *, width: int = 32, size: float = 1.0, seed: int = 0
) -> LanguageModel:
    """A BART with one layer on each side, whose encoder states begin at about this `size`.

    DP-BART clips states at 0.1, which suits a trained BART. States ten times that size are all
    clipped, no gradient passes, and a model trained so may learn to write without reading.
    """
    from transformers import BartConfig, BartForConditionalGeneration

    tokenizer = word_tokenizer(public_texts, sentence=True)
    settings = BartConfig(
        vocab_size=len(tokenizer), d_model=width, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=2 * width,
        decoder_ffn_dim=2 * width, max_position_embeddings=128, dropout=0.0,
        pad_token_id=0, bos_token_id=2, eos_token_id=3, decoder_start_token_id=3,
        forced_eos_token_id=None,
    )  # fmt: skip
    model = _built(BartForConditionalGeneration, settings, seed)
    model.get_encoder().layers[-1].final_layer_norm.weight.data.fill_(size)
    return LanguageModel(model, tokenizer, 96)


def tiny_masked(public_texts: Sequence[str], *, width: int = 32, seed: int = 0) -> LanguageModel:
    """A two-layer BERT with a head that fills masks."""
    from transformers import BertConfig, BertForMaskedLM

    tokenizer = word_tokenizer(public_texts, sentence=True)
    settings = BertConfig(
        vocab_size=len(tokenizer), hidden_size=width, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=2 * width, max_position_embeddings=256, pad_token_id=0,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    return LanguageModel(_built(BertForMaskedLM, settings, seed), tokenizer, 192)


def headed_minilm(folder: str, *, seed: int = 0) -> LanguageModel:
    """A mask-filling head on a ready BERT encoder such as MiniLM; train it with `train_masked`."""
    require_neural()
    import torch
    from transformers import AutoTokenizer, BertForMaskedLM
    from transformers.utils import logging

    noise = logging.get_verbosity()
    logging.set_verbosity_error()  # the head is new: that is the point
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = BertForMaskedLM.from_pretrained(folder).eval()
    finally:
        logging.set_verbosity(noise)
    return LanguageModel(network, AutoTokenizer.from_pretrained(folder), 256)


def spaced(text: str) -> str:
    """A text whose words and marks stand apart, as a whole-word vocabulary needs it.

    >>> spaced("To St. Louis!")
    'to st . louis !'
    """
    return " ".join(words_of(text))


def _built(kind: Any, settings: Any, seed: int) -> Any:
    require_neural()
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind(settings).eval()
