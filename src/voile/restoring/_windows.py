"""Whole texts, a window at a time: candidates filled in, both passes, and what is handed out.

Imported on first use only: it loads numba.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from voile.mechanisms._word_kernels import njit
from voile.restoring._kernels import normalise
from voile.restoring._passes import keep_best, least_loss, pair_beliefs, tie
from voile.restoring._triples import triple_beliefs

Array = Any

WINDOW, OVERLAP = 1024, 64
"""Texts of more words are read in windows of so many, which overlap by so many at either end."""
REFINED = 12
"""So many candidates of a word are looked at again with triples."""
SURE_ENOUGH = 0.5
"""Where the unknown word is likeliest, a draw that the law keeps so often is left as it is."""
FAINT = 1e-4
"""A word believed less than this passes on its back-off alone."""


class Places(NamedTuple):
    """Texts place by place: where each ends, states that are known, draws, their lists, cases."""

    ends: Array
    known: Array
    drawn: Array
    rows: Array
    cases: Array


class Listed(NamedTuple):
    """Candidates of draws, and what is believed of words at large."""

    words: Array
    chances: Array
    widths: Array
    case_shares: Array
    general: Array
    directions: Array


@njit(cache=True, nogil=True)
def read_texts(
    places: Places, chain: Array, listed: Listed, edge: int, unread: int, serving: bool,
    tied: bool, answers: Array, plain: Array, evidence: Array, listed_words: Array,
    listed_chances: Array, listed_widths: Array,
) -> None:  # fmt: skip
    """Read texts one by one; see `Reader`. `evidence[d]` is ln P of text d: n-grams, general.

    Where there is room in `listed_…`, the best candidates of each place are left there.
    """
    ends, known, rows, cases = places.ends, places.known, places.rows, places.cases
    unigram, directions = chain.unigram, listed.directions
    longest = 0
    first = 0
    for d in range(len(ends)):
        longest = max(longest, ends[d] - first)
        first = ends[d]
    room = min(longest, WINDOW + 2 * OVERLAP)
    most = listed.words.shape[1]
    words, likely = np.empty((room, most), dtype=np.int32), np.empty((room, most))
    beliefs, widths = np.empty((room, most)), np.empty(room, dtype=np.int64)
    chosen = np.empty((room, REFINED), dtype=np.int64)
    few = np.empty((room, REFINED), dtype=np.int32)
    few_likely, few_beliefs = np.empty((room, REFINED)), np.empty((room, REFINED))
    few_widths, kept = np.empty(room, dtype=np.int64), np.empty(room)
    hits, hit_shares = np.empty((2**16, 2), dtype=np.int16), np.empty(2**16)
    slots = np.full(len(unigram), -1, dtype=np.int32)
    first = 0
    for d in range(len(ends)):
        begin = first
        while begin < ends[d]:
            stop = min(begin + WINDOW, ends[d])
            low, high = max(first, begin - OVERLAP), min(ends[d], stop + OVERLAP)
            size = high - low
            for t in range(size):
                place = low + t
                if known[place] >= 0:
                    words[t, 0], likely[t, 0], widths[t] = known[place], 1.0, 1
                    if begin <= place < stop:
                        evidence[d, 1] += math.log(unigram[known[place]])
                    continue
                row = rows[place]
                widths[t] = listed.widths[row]
                best, total, top, kept[t] = 0.0, 0.0, -1, 0.0
                for j in range(widths[t]):
                    word = listed.words[row, j]
                    words[t, j], likely[t, j] = word, listed.chances[row, j]
                    if cases[place] >= 0:
                        likely[t, j] *= listed.case_shares[word, cases[place]]
                    if word == places.drawn[place]:
                        kept[t] = listed.chances[row, j]
                    value = likely[t, j] * listed.general[word]
                    total += value
                    if value > best and word != unread:
                        best, top = value, word
                if begin <= place < stop:
                    evidence[d, 1] += math.log(max(total, 1e-300))
                    plain[place] = top
            # a window's edges are taken for the text's: 64 words on, that has been forgotten
            found, hits, hit_shares = pair_beliefs(
                words[:size], likely[:size], widths[:size], edge, chain, slots, FAINT, hits,
                hit_shares, beliefs[:size],
            )  # fmt: skip
            evidence[d, 0] += found * (stop - begin) / size
            if tied and tie(
                rows[low:high], listed.chances, widths[:size], likely[:size], beliefs[:size]
            ):
                _, hits, hit_shares = pair_beliefs(
                    words[:size], likely[:size], widths[:size], edge, chain, slots, FAINT, hits,
                    hit_shares, beliefs[:size],
                )  # fmt: skip
            for t in range(size):
                few_widths[t] = keep_best(beliefs[t], widths[t], chosen[t])
                for k in range(few_widths[t]):
                    few[t, k] = words[t, chosen[t, k]]
                    few_likely[t, k] = likely[t, chosen[t, k]]
                    few_beliefs[t, k] = beliefs[t, chosen[t, k]]
                normalise(few_beliefs[t], few_widths[t])
            if len(chain.triple_columns) > 0:  # else the pairs have said it all
                triple_beliefs(
                    few[:size], few_likely[:size], few_widths[:size], edge, chain, slots,
                    few_beliefs[:size],
                )  # fmt: skip
            for place in range(begin, stop):
                t = place - low
                if len(listed_widths) > 0:
                    listed_widths[place] = few_widths[t]
                    for k in range(few_widths[t]):
                        listed_words[place, k] = few[t, k]
                        listed_chances[place, k] = few_likely[t, k]
                if known[place] >= 0:
                    continue
                mass = 0.0
                for k in range(few_widths[t]):
                    mass += beliefs[t, chosen[t, k]]
                top, best, strange = -1, -1.0, 0.0
                for k in range(few_widths[t]):
                    belief = few_beliefs[t, k] * mass
                    beliefs[t, chosen[t, k]] = belief
                    if few[t, k] == unread:
                        strange = belief
                    elif belief > best:
                        best, top = belief, few[t, k]
                if serving:
                    top = least_loss(words[t], beliefs[t], widths[t], directions, unread)
                if strange > best and kept[t] >= SURE_ENOUGH:
                    top = -1
                answers[place] = top
            begin = stop
        first = ends[d]
