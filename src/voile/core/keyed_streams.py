"""One stream of uniform bits for each name, all from one key: draws that agree without talking.

Where the same thing occurs in rows that different processes or machines draw for, they must draw
alike and share nothing but a key. So the bits of a draw are F_k(name, 0), F_k(name, 1), … with F
BLAKE2b under the key k, 256 bits from the operating system.

**Why the guarantee is the same.** Were F a random function, the streams of different names would be
independent uniform bits, and a sampler that is exact on uniform bits draws for every name from its
law, independently: exactly what a fresh generator for each name would do. Nobody tells F_k from a
random function without k (a pseudo-random function: RFC 7693 offers keyed BLAKE2b as one), so
nobody tells the two releases apart either: whatever is inferred from one is inferred from the
other, up to the advantage against F. It is the assumption that `secure_rng` makes of AES, made of
BLAKE2b too. It falls with the key: whoever holds it repeats every draw, so it must be drawn anew
for each job, kept from everybody, and deleted when the last draw is made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from voile.core.arrays import Indices, Items, Weights
from voile.core.mechanism import Mechanism
from voile.core.randomness import Generator, keyed_rng
from voile.errors import require

KEY_BYTES = 32
_BLOCK = 8
"""Words of 64 bits in a digest of BLAKE2b."""
_FIRST = 16
"""Words that a draw gets at first: a try takes three, and few are turned down."""


class KeyedStreams:
    """A stream of bits for each name.

    >>> streams = KeyedStreams(bytes(32))
    >>> streams.words([b"ann", b"bob", b"ann"], 24).shape
    (3, 24)
    >>> bool((streams.words([b"ann"], 8) == streams.words([b"ann"], 24)[:, :8]).all())
    True
    """

    def __init__(self, key: bytes) -> None:
        ok = isinstance(key, bytes) and len(key) == KEY_BYTES
        require(ok, "a key", f"{KEY_BYTES} bytes", "another")
        self._bits = hashlib.blake2b(key=key, person=b"voile bits")
        self._keys = hashlib.blake2b(key=key, person=b"voile keys", digest_size=16)

    def words(self, names: Sequence[bytes], count: int) -> Weights:
        """The first `count` words of each name's stream, a multiple of eight; one row a name."""
        require(count % _BLOCK == 0, "count", f"a multiple of {_BLOCK}", count)
        blocks = [block.to_bytes(4, "little") for block in range(count // _BLOCK)]
        digests = []
        for name in names:
            for block in blocks:
                state = self._bits.copy()
                state.update(block + name)  # a block's number has four bytes: no name runs into it
                digests.append(state.digest())
        return np.frombuffer(b"".join(digests), dtype="<u8").reshape(len(names), count)

    def rng(self, name: bytes) -> Generator:
        """A generator of this name's own, for laws that take no bits."""
        state = self._keys.copy()
        state.update(name)
        return keyed_rng(int.from_bytes(state.digest(), "little"))


def release_each(
    law: Mechanism, secrets: Items, names: Sequence[bytes], streams: KeyedStreams
) -> Items:
    """One release for each secret, each drawn from its own name's stream alone.

    A law that can read bits does (`release_from`); any other gets a generator for each secret,
    which takes some hundred times as long.
    """
    read: Any = getattr(law, "release_from", None)
    if read is None:
        drawn = [
            law.release(secrets[i : i + 1], streams.rng(name))[0] for i, name in enumerate(names)
        ]
        return np.array(drawn, dtype=np.intp)
    released = np.empty(len(secrets), dtype=np.intp)
    left: Indices = np.arange(len(secrets))
    count = _FIRST
    while len(left):  # from the beginning with more bits: the tries that failed fail again
        found = read(secrets[left], streams.words([names[i] for i in left], count))
        released[left] = found
        left, count = left[found < 0], 2 * count
    return released
