"""Where the neighbours of words come from: a table of the vocabulary, or memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from voile.files.source import Source
from voile.mechanisms._neighbours import Neighbours, cache_folder, neighbours_of
from voile.names import Named
from voile.progress import tell
from voile.text.laws import uses_neighbours
from voile.text.vocabularies import Vocabulary

if TYPE_CHECKING:
    from voile.text.settings import TextSettings

LONG_SOURCE = 2**20
"""From this many bytes on, a table of neighbours for the whole vocabulary pays."""


def neighbours_for(
    mechanism: Named, words: Vocabulary, cache: Literal["none", "read", "fill"]
) -> Neighbours | None:
    """What a mechanism draws from, or None; nothing is kept of a private vocabulary."""
    from voile.mechanisms.words.santext_plus import first_rare

    if not uses_neighbours(mechanism.load()):
        return None
    space, rare = words.embedding, mechanism.name == "santext-plus"
    return neighbours_of(
        space,
        outputs=np.arange(first_rare(space), len(space)) if rare else None,
        cache=None if cache == "none" or words.private else cache_folder(),
        fill=cache == "fill",
        progress=lambda done, rows: tell(
            "neighbours of all words, once for this vocabulary", done=done, total=rows
        ),
    )


def fill_neighbours(settings: TextSettings, words: Vocabulary, source: Source) -> TextSettings:
    """Make the table of neighbours where it pays; settings for workers, who do so on other nodes.

    It pays for a source of a megabyte: a release of that length shows that there was one. For a
    shorter one the rows of its words are worked out in memory, and nothing is written.
    """
    if settings.cache == "none" or source.size() < LONG_SOURCE:
        return settings
    filling = replace(settings, cache="fill")
    if not words.private:
        neighbours_for(settings.mechanism, words, "fill")
    return filling
