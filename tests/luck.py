"""No test passes or fails by luck: the keys that the system draws are derived from the test's name.

Whatever is released is drawn under a key from `secrets.randbits`, and an unseeded NumPy generator
takes its seed there too. While a test, an example or a fixture runs, that function answers with a
hash of the item's name and a counter: other keys for each call, the same in every run. VOILE_LUCK=n
in the environment gives other keys to all of them: what fails for some n rests on luck.

A process that a test starts has the system's own keys; `tests/architecture/test_chance.py` lists
the modules that start one.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import secrets
from collections.abc import Callable, Iterator

import numpy.random.bit_generator as numpy_bits
import pytest

TRUE_RANDBITS = secrets.randbits


def keys_of(name: str) -> Callable[[int], int]:
    """A stand-in for `secrets.randbits`, repeatable for a name."""
    calls = itertools.count()
    luck = os.environ.get("VOILE_LUCK", "")

    def randbits(k: int) -> int:
        answer = hashlib.shake_256(f"{luck} {name} {next(calls)}".encode()).digest(-(-k // 8))
        return int.from_bytes(answer, "little") >> (-k % 8)

    return randbits


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Set-up, call and tear-down of every item, examples in documents included."""
    derived = keys_of(item.nodeid)
    secrets.randbits = numpy_bits.randbits = derived  # type: ignore[assignment]
    try:
        return (yield)
    finally:
        secrets.randbits = numpy_bits.randbits = TRUE_RANDBITS
