"""Amounts in bytes: whatever is packed comes back, and what was not packed is told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.ledger.entries import packed, unpacked

AMOUNTS = st.sampled_from([0, 1, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32, 10**18, 2**63 - 1])


@given(st.lists(st.tuples(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS), max_size=6))
@settings(max_examples=300, deadline=None)
def test_what_is_packed_comes_back(rows):
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    assert np.array_equal(unpacked(packed(table), len(table)), table)


@given(st.integers(1, 10**12), st.lists(st.integers(0, 10**5), min_size=1, max_size=50))
@settings(max_examples=300, deadline=None)
def test_one_price_for_all_rows_comes_back(price, counts):
    rows = np.array(counts, dtype=np.int64)
    nothing = np.zeros_like(rows)
    table = np.stack([price * rows, nothing, nothing, rows], axis=1)
    blob = packed(table)
    assert np.array_equal(unpacked(blob, len(table)), table)
    if rows[0]:
        assert len(blob) <= 4 + 8 + 4 * len(rows)


def test_damaged_amounts_are_told():
    table = np.array([[800, 0, 0, 1], [1600, 0, 0, 2]])
    blob = packed(table)
    high = blob[:4] + b"\xff" * 8 + blob[12:]
    for damaged in (blob[:-1], blob + b"\0", blob[:6], b"\x0a" + blob[1:], high):
        with pytest.raises(ValueError, match=r"damaged|buffer"):
            unpacked(damaged, 2)
    with pytest.raises(ValueError, match=">= 0"):
        packed(-table)
