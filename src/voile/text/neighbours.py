"""Where the neighbours of a recipe's words come from: a table of the vocabulary, or memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from voile.jobs import Source
from voile.mechanisms._neighbours import Neighbours, cache_folder, neighbours_of
from voile.text import Vocabulary
from voile.text.laws import KNOWN_WORD_BY_WORD

if TYPE_CHECKING:
    from voile.text.settings import TextRecipe

LONG_SOURCE = 2**20
"""From this many bytes on, a table of neighbours for the whole vocabulary pays."""


def neighbours_for(
    recipe: TextRecipe,
    words: Vocabulary,
    progress: Callable[[int, int], None] = lambda done, rows: None,
) -> Neighbours | None:
    """What the recipe's mechanism draws from, or None; nothing is kept of a private vocabulary."""
    from voile.mechanisms.santext_plus import first_rare

    if recipe.mechanism not in (*KNOWN_WORD_BY_WORD, "santext-plus"):
        return None
    space, rare = words.embedding, recipe.mechanism == "santext-plus"
    return neighbours_of(
        space,
        outputs=np.arange(first_rare(space), len(space)) if rare else None,
        cache=None if recipe.cache == "none" or words.private else cache_folder(),
        fill=recipe.cache == "fill",
        progress=progress,
    )


def fill_neighbours(
    recipe: TextRecipe,
    source: Source,
    progress: Callable[[int, int], None] = lambda done, rows: None,
) -> TextRecipe:
    """Make the table of neighbours where it pays; the recipe for workers, who do so on other nodes.

    It pays for a source of a megabyte: a release of that length shows that there was one. For a
    shorter one the rows of its words are worked out in memory, and nothing is written.
    """
    from voile.text.settings import PRIVATE_CORPUS, load_vocabulary

    if recipe.cache == "none" or source.location.facts()[0] < LONG_SOURCE:
        return recipe
    filling = replace(recipe, cache="fill")
    if recipe.vocabulary != PRIVATE_CORPUS:
        neighbours_for(filling, load_vocabulary(filling), progress)
    return filling
