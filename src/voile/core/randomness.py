"""Where randomness comes from: the operating system for releases, a seed for experiments."""

from __future__ import annotations

import os
import secrets

import numpy as np
from randomgen import AESCounter

from voile.core.arrays import Weights
from voile.errors import ForkedGenerator, require

Generator = np.random.Generator


class _SecureBits(AESCounter):  # type: ignore[misc]  # randomgen ships no types
    """AES-128 in counter mode under a key that the operating system drew."""

    def __init__(self, key: int | None = None) -> None:
        super().__init__(key=secrets.randbits(128) if key is None else key)
        self.process = os.getpid()


def secure_rng() -> Generator:
    """A cryptographic generator for releases: AES-128 in counter mode, keyed by the system.

    It belongs to the process that made it. A copy in a forked worker would repeat the same
    draws, which is a privacy failure, so drawing from such a copy raises `ForkedGenerator`:
    each worker calls `secure_rng` itself.

    >>> is_secure(secure_rng()), is_secure(seeded_rng(1))
    (True, False)
    """
    return Generator(_SecureBits())


def keyed_rng(key: int) -> Generator:
    """The same generator under a key that the caller drew with `secrets.randbits(128)`.

    For work that may be tried again elsewhere and must then draw the same. The key is as secret as
    the data: whoever has it can take the noise off.

    >>> int(keyed_rng(5).integers(2**60)) == int(keyed_rng(5).integers(2**60))
    True
    """
    ok = isinstance(key, int) and 0 <= key < 2**128
    require(ok, "a key", "an integer of 128 bits", "another")
    return Generator(_SecureBits(key))


def seeded_rng(seed: int) -> Generator:
    """A repeatable generator for experiments; what it draws must not be released.

    >>> int(seeded_rng(7).integers(100)) == int(seeded_rng(7).integers(100))
    True
    """
    ok = isinstance(seed, int | np.integer) and seed >= 0
    require(ok, "seed", "an integer >= 0", seed)
    return np.random.default_rng(int(seed))


def is_secure(rng: Generator) -> bool:
    """Whether a generator was made by `secure_rng` or `keyed_rng`."""
    return isinstance(rng.bit_generator, _SecureBits)


def uniform_bits(rng: Generator, size: int, *, bits: int) -> Weights:
    """Independent uniform integers below 2**bits, taken from the generator's raw 64-bit words."""
    source = rng.bit_generator
    if isinstance(source, _SecureBits) and source.process != os.getpid():
        raise ForkedGenerator(
            "a secure generator must stay in the process that made it; "
            "call voile.secure_rng() in each worker"
        )
    words = np.asarray(source.random_raw(size), dtype=np.uint64)
    return words >> np.uint64(64 - bits)
