"""How likely a release of words is under each text that it may have come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def word_likelihood(protector: Any) -> Callable[[Sequence[str], Sequence[Any]], Any]:
    """Ln K(release | text) of a protector whose law is known, word by word.

    How many words there are is released as it is, so a text of another number of words is far less
    likely than any of the same number: the nearer the number, the likelier. (Not −∞: a drawn word
    such as “o'clock” may be read back as two.)
    """

    def positions(text: str) -> list[int]:
        pieces = protector.tokenizer.split(text)
        return [piece.position for piece in pieces if not isinstance(piece, str)]

    def law(texts: Sequence[str], releases: Sequence[Any]) -> Any:
        known = {text: positions(text) for text in {*texts, *releases}}
        total = np.zeros(len(texts))
        places: dict[int, list[tuple[int, int]]] = {}
        for row, (text, release) in enumerate(zip(texts, releases, strict=True)):
            before, after = known[text], known[release]
            if len(before) != len(after):
                total[row] = -1e6 * abs(len(before) - len(after))
                continue
            for word, drawn in zip(before, after, strict=True):
                places.setdefault(word, []).append((row, drawn))
        for word, found in places.items():
            ends, columns = np.unique([end for _, end in found], return_inverse=True)
            values = protector.laws[0].log_prob([word], ends)[0]
            np.add.at(total, [row for row, _ in found], values[columns.ravel()])
        return total

    return law
