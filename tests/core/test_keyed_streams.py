"""Draws under a key: the law they follow, that they depend on their name alone, and on the key."""

import hashlib
import math

import numpy as np
import pytest

pytest.importorskip("numba", reason="the text extra is not installed")

from voile.core import keyed_streams
from voile.core.keyed_streams import KeyedStreams, release_each
from voile.errors import InvalidInput
from voile.mechanisms import madlib, word_exponential, word_truncated_exponential
from voile.mechanisms._embedding import Embedding
from voile.mechanisms.spaces.word_remap import word_remap

WORDS = Embedding.of(np.random.default_rng(3).normal(size=(12, 3)))
LAW = word_truncated_exponential(WORDS, epsilon=2.0, neighbours=4)
KEY = bytes(range(32))


def names(count: int) -> list[bytes]:
    return [i.to_bytes(4, "little") for i in range(count)]


def test_bits_are_keyed_blake2b_of_block_and_name() -> None:
    """An oracle: the same from the standard library in one line a block."""
    found = KeyedStreams(KEY).words([b"ann"], 16)
    oracle = b"".join(
        hashlib.blake2b(
            block.to_bytes(4, "little") + b"ann", key=KEY, person=b"voile bits"
        ).digest()
        for block in range(2)
    )
    assert found.tobytes() == oracle


@pytest.mark.parametrize(
    "law", [LAW, word_remap(word_exponential(WORDS, epsilon=3.0), prior=np.ones(12))]
)
def test_draws_follow_the_law(law) -> None:
    """Frequencies over many names against exact probabilities; false alarms below 1e-9 each.

    Hoeffding: 2·exp(−2·n·t²) < 1e-10 for each of 12 outputs.
    """
    n, secret = 40_000, 5
    drawn = release_each(law, np.full(n, secret), names(n), KeyedStreams(KEY))
    wrong = math.sqrt(math.log(2 / 1e-11) / (2 * n))
    found = np.bincount(drawn, minlength=12) / n
    assert np.abs(found - np.exp(law.log_prob([secret], range(12))[0])).max() < wrong


def test_a_draw_depends_on_its_own_name_word_and_key_alone() -> None:
    secrets = np.arange(200) % 12
    together = release_each(LAW, secrets, names(200), KeyedStreams(KEY))
    back = release_each(LAW, secrets[::-1], names(200)[::-1], KeyedStreams(KEY))[::-1]
    one_by_one = [
        int(release_each(LAW, secrets[i : i + 1], names(200)[i : i + 1], KeyedStreams(KEY))[0])
        for i in range(200)
    ]
    assert together.tolist() == back.tolist() == one_by_one
    other = release_each(LAW, secrets, names(200), KeyedStreams(bytes(32)))
    assert (other != together).mean() > 0.3


def test_a_stream_that_runs_out_goes_on_where_it_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = np.arange(3000) % 12
    short = word_truncated_exponential(WORDS, epsilon=2.0, neighbours=1)  # many tries fail
    long = release_each(short, secrets, names(3000), KeyedStreams(KEY))
    monkeypatch.setattr(keyed_streams, "_FIRST", 8)
    assert (short.release_from(secrets, KeyedStreams(KEY).words(names(3000), 8)) < 0).any()
    assert release_each(short, secrets, names(3000), KeyedStreams(KEY)).tolist() == long.tolist()


def test_a_law_that_reads_no_bits_is_drawn_by_a_generator_of_the_name() -> None:
    law = madlib(WORDS, epsilon=3.0)
    some = np.arange(24) % 12
    first = release_each(law, some, names(24), KeyedStreams(KEY))
    again = release_each(law, some[::-1], names(24)[::-1], KeyedStreams(KEY))[::-1]
    assert first.tolist() == again.tolist()


def test_a_key_has_32_bytes() -> None:
    with pytest.raises(InvalidInput, match="32 bytes"):
        KeyedStreams(b"short")
