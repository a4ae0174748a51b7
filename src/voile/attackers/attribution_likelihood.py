"""Attribution by likelihood: the best use of what was drawn, where its law is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voile.attackers.attribution import check_trials
from voile.core.arrays import Floats, Indices
from voile.progress import tell

PairLikelihood = Callable[[Sequence[str], Sequence[Any]], Any]
"""ln K(release | text), text by text: lists of one length in, as many numbers out."""


@dataclass(frozen=True)
class Likelihood:
    """The candidate under which the release is likeliest: ln K(y|x), largest first.

    With equally likely candidates this is the Bayes decision about *what the law covers*: no
    attack that sees the drawn words or tokens alone names the source more often. What is released
    beside the draw, in clear (punctuation, spacing, case), is no part of the law, and another
    attack that reads it may show more. `log_likelihood` takes texts and releases side by side, a
    batch at a time.

    >>> import numpy as np
    >>> def law(texts, releases):
    ...     return np.where(np.array(texts) == np.array(releases), np.log(0.8), np.log(0.2))
    >>> Likelihood(law).scores(["a", "b"], np.array([[0, 1]]), ["b"]).round(2)
    array([[-1.61, -0.22]])
    """

    log_likelihood: PairLikelihood
    name: str = "likelihood"
    batch: int = 1024

    def scores(self, pool: Sequence[str], sets: Indices, releases: Sequence[Any]) -> Floats:
        """Log-probabilities; a release impossible under every candidate scores them alike."""
        check_trials(pool, sets, releases)
        texts = [pool[i] for i in sets.ravel().tolist()]
        paired = [release for release in releases for _ in range(sets.shape[1])]
        found = np.empty(len(texts))
        for i in range(0, len(texts), self.batch):
            part = slice(i, i + self.batch)
            found[part] = self.log_likelihood(texts[part], paired[part])
            tell(
                "pairs of text and release weighed",
                done=min(part.stop, len(texts)),
                total=len(texts),
            )
        return found.reshape(sets.shape)
