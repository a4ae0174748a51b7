"""The attacker who knows the law and how sensitive words follow one another: exact, untrained."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voile.attackers.attack import Observed
from voile.attackers.corpus import Corpus
from voile.attackers.markov import MarkovAttack, MarkovPrior, fit_markov, markov_attack
from voile.core.arrays import Floats
from voile.errors import InvalidInput


def sensitive_only(texts: Corpus, items: Sequence[Observed]) -> list[Observed]:
    """Each document as the sequence of its sensitive words, released words as candidates.

    Documents without any are left out. Released words must themselves be candidates, as they are
    where a law over the candidates drew them.
    """
    kept = []
    for item in items:
        if not len(item.sensitive):
            continue
        words = texts.seen[item.releases[item.sensitive]]
        places = np.minimum(np.searchsorted(texts.candidates, words), len(texts.candidates) - 1)
        if not np.array_equal(texts.candidates[places], words):
            raise InvalidInput("released words must be candidates; some are not")
        kept.append(Observed(places, item.secrets[item.sensitive], np.arange(len(places))))
    return kept


def word_chain(texts: Corpus, items: Sequence[Observed]) -> MarkovPrior:
    """How sensitive words follow one another in public documents."""
    told = [item.secrets[item.sensitive] for item in items if len(item.sensitive)]
    return fit_markov(told, size=len(texts.candidates))


def chain_attacker(law: Floats, chain: MarkovPrior) -> MarkovAttack:
    """Forward–backward over a document's sensitive words; reads what `sensitive_only` makes.

    It ignores the words left in clear, and in exchange errs by nothing: where secrets do follow
    the chain, no attacker who sees these releases believes better.
    """
    with np.errstate(divide="ignore"):
        return markov_attack(np.log(law), chain)
