"""Where randomness comes from: the operating system for releases, a seed for experiments.

Whatever is released is drawn from `uniform_bits`, which takes whole 64-bit words from generators
that are known to give them. A secure generator guards itself: it can be neither copied nor saved,
and in a forked process every method of it refuses to draw.
"""

from __future__ import annotations

import os
import secrets
from typing import Any, NoReturn

import numpy as np
from numpy.random import PCG64, PCG64DXSM, SFC64, Philox
from randomgen import AESCounter

from voile.core.arrays import Weights
from voile.errors import ForkedGenerator, InvalidInput, require

Generator = np.random.Generator


_forks = 0
"""How many forks lie between the first process and this one: a child may have its parent's number,
in a container of its own or when numbers are used again."""


def _forked() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):  # where there are no forks there is nothing to count
    os.register_at_fork(after_in_child=_forked)


class _HomeLock:
    """The lock that every method of NumPy's `Generator` takes before it draws.

    It opens in the process that made it and nowhere else, and asks which process this is before
    it waits: a thread that held it while another thread forked does not block the child.
    """

    def __init__(self, lock: Any) -> None:
        self._process = (os.getpid(), _forks)
        self._lock = lock

    def require_home(self) -> None:
        """Refuse in any other process than the one that made the generator."""
        if (os.getpid(), _forks) != self._process:
            raise ForkedGenerator(
                "a secure generator must stay in the process that made it; "
                "call voile.secure_rng() in each worker"
            )

    def acquire(self, *args: Any, **kwargs: Any) -> bool:
        """As a lock's."""
        self.require_home()
        return self._lock.acquire(*args, **kwargs)

    def release(self) -> None:
        """As a lock's."""
        self._lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


def _refused(*_: Any, **__: Any) -> NoReturn:
    raise ForkedGenerator(
        "a secure generator must not be copied, saved or sent: both copies would draw the same; "
        "call voile.secure_rng() where the draws are made"
    )


class _SecureBits(AESCounter):  # type: ignore[misc]  # randomgen ships no types
    """AES-128 in counter mode under a key that the operating system drew."""

    def __init__(self, key: int | None = None) -> None:
        super().__init__(key=secrets.randbits(128) if key is None else key)
        self._home = _HomeLock(super().lock)

    @property
    def lock(self) -> _HomeLock:
        """What NumPy's `Generator` takes around every draw, whatever the method."""
        return self._home

    @property
    def capsule(self) -> Any:
        """The compiled half; no `Generator` can be made of it in another process."""
        self._home.require_home()
        return super().capsule

    def random_raw(self, size: Any = None, output: bool = True) -> Any:
        """Raw 64-bit words, drawn under the same lock."""
        self._home.require_home()
        return super().random_raw(size, output)

    def seed(self, *args: Any, **kwargs: Any) -> None:
        """Called once, by the constructor."""
        if hasattr(self, "_home"):
            _refused()
        super().seed(*args, **kwargs)

    # Each of these would carry key and counter somewhere else, or turn the counter back.
    __reduce__ = __reduce_ex__ = __copy__ = __deepcopy__ = _refused
    __getstate__ = __setstate__ = jump = jumped = advance = spawn = _refused
    state = seed_seq = ctypes = cffi = generator = property(_refused, _refused)


_WHOLE_WORDS = (_SecureBits, PCG64, PCG64DXSM, SFC64, Philox)
"""Generators whose raw words have 64 random bits. Others (MT19937, 32-bit ones) have fewer."""


def secure_rng() -> Generator:
    """A cryptographic generator for releases: AES-128 in counter mode, keyed by the system.

    It belongs to the process that made it. A copy would repeat the same draws, which is a privacy
    failure: copying, pickling and, in a forked worker, drawing in any way raise
    `ForkedGenerator`. Each worker calls `secure_rng` itself.

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
    source: Any = getattr(rng, "bit_generator", rng)
    if type(source) not in _WHOLE_WORDS:
        raise InvalidInput(
            f"a generator must give 64 random bits a word, got {type(source).__name__}; use "
            "voile.secure_rng() to release, voile.seeded_rng(seed) or NumPy's default_rng(seed) "
            "for experiments"
        )
    words = np.asarray(source.random_raw(size), dtype=np.uint64)
    return words >> np.uint64(64 - bits)
