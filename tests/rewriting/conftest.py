"""Tiny models, trained for seconds, that the tests of rewriters share."""

import itertools

import numpy as np
import pytest

WORDS = ("red", "blue", "cat", "dog")
PUBLIC = [" ".join(pair) for pair in itertools.product(WORDS, repeat=2)]


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Tiny matrices: more threads than one only wait for each other."""
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def public():
    return PUBLIC


@pytest.fixture(scope="session")
def short_texts():
    """All texts of one or two words."""
    return [*WORDS, *PUBLIC]


def train_paraphraser(language, public_pairs, *, join, epochs, rate, batch=16, seed=0):
    """Teach a causal model to continue join(text) with its paraphrase and the end token."""
    import torch

    from voile.rewriting.training import fit

    rows = []
    for text, paraphrase in public_pairs:
        prompt = language.tokenizer(join(text))["input_ids"]
        answer = language.tokenizer(paraphrase)["input_ids"]
        rows.append((prompt, [*answer, language.end]))

    def loss(chosen):
        part = [rows[i] for i in chosen]
        width = max(len(a) + len(b) for a, b in part)
        ids = torch.full((len(part), width), language.end)
        labels = torch.full((len(part), width), -100)
        mask = torch.zeros((len(part), width), dtype=torch.long)
        for row, (a, b) in enumerate(part):
            size = len(a) + len(b)
            ids[row, :size] = torch.tensor(a + b)
            labels[row, len(a) : size] = torch.tensor(b)
            mask[row, :size] = 1
        return language.model(input_ids=ids, attention_mask=mask, labels=labels).loss

    return fit(language.model, loss, len(rows), epochs, batch, rate, seed)


@pytest.fixture(scope="session")
def causal():
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from voile.rewriting.dp_paraphrase import prompt
    from voile.rewriting.tiny import tiny_causal

    model = tiny_causal([*PUBLIC, ">>>>>"], seed=1)
    history = train_paraphraser(model, [(t, t) for t in PUBLIC], join=prompt, epochs=60, rate=5e-3)
    assert history[-1] < 0.2 * history[0]
    return model


@pytest.fixture(scope="session")
def encoder_decoder():
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from voile.rewriting.tiny import tiny_encoder_decoder

    return tiny_encoder_decoder(PUBLIC, seed=2)


@pytest.fixture(scope="session")
def masked():
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from voile.rewriting.tiny import tiny_masked
    from voile.rewriting.training import train_masked

    model = tiny_masked(PUBLIC, seed=3)
    history = train_masked(model, PUBLIC * 4, epochs=25, rate=5e-3, share=0.4)
    assert history[-1] < 0.7 * history[0]
    return model


@pytest.fixture(scope="session")
def letters():
    """A sentence encoder that needs no model."""

    def encode(texts):
        table = [[text.count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
        return np.array(table, dtype=float)

    return encode
