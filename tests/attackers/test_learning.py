"""Whether an attacker learned anything: opinions about noise are no evidence, knowledge is."""

import math
from dataclasses import replace

import numpy as np
import pytest

from voile.attackers.attack import Observed
from voile.attackers.learning import learned_beside, learned_from
from voile.errors import InvalidInput

SIZE = 8


class Opinion:
    """Firmly believes that the secret is a fixed function of the release; right or not."""

    def __init__(self, of_release, *, sure=0.99):
        self.of_release, self.sure = of_release, sure

    def log_posteriors(self, sequences, sensitive=None):
        tables = []
        for sequence in sequences:
            table = np.full((len(sequence), SIZE), (1 - self.sure) / (SIZE - 1))
            table[np.arange(len(sequence)), self.of_release[sequence]] = self.sure
            tables.append(np.log(table))
        return tables


def documents(count, *, told, words=5, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        secrets = rng.integers(SIZE, size=words)
        releases = secrets if told else rng.integers(SIZE, size=words)
        yield Observed(releases, secrets, np.arange(1, words))


def test_knowledge_is_shown_and_an_opinion_about_noise_is_not():
    knows = Opinion(np.arange(SIZE))
    found = learned_from(knows, list(documents(100, told=True)))
    assert found.shown(1e-9)
    assert found.gain > 3
    assert found.blocks == 50
    idle = learned_from(knows, list(documents(100, told=False)))
    assert not idle.shown(0.01)
    wrong = learned_from(Opinion((np.arange(SIZE) + 1) % SIZE), list(documents(100, told=True)))
    assert wrong.gain < 0
    assert wrong.p_value == 1.0


def test_the_bound_is_that_of_random_signs():
    """Every block alike: ΣD = nD, ΣD² = nD², so p = exp(−n/2); two documents make a block."""
    two = [
        Observed(np.array([0]), np.array([0]), np.array([0])),
        Observed(np.array([1]), np.array([1]), np.array([0])),
    ]
    knows = Opinion(np.arange(SIZE))
    swapped = [learned_from(knows, two, seed=seed) for seed in range(64)]
    gains = {round(found.gain, 9) for found in swapped}
    assert gains == {0.0, round(math.log(0.99 / (0.01 / 7)), 9)}
    assert {round(found.p_value, 9) for found in swapped} == {1.0, round(math.exp(-0.5), 9)}


def test_noise_is_taken_for_knowledge_no_more_often_than_said():
    """800 audits of noise at 0.1: Hoeffding's bound is above the tail, so 160 are beyond chance."""
    knows = Opinion(np.arange(SIZE), sure=0.6)
    wrong = sum(
        learned_from(knows, list(documents(20, told=False, seed=seed)), seed=seed).shown(0.1)
        for seed in range(800)
    )
    assert wrong < 160  # P(binomial(800, 0.1) ≥ 160) < 1e-16


def test_copies_that_are_released_alike_count_once():
    """Twenty of each text, each time with the same release: four documents show nothing."""
    few = list(documents(4, told=True))
    copies = [replace(few[n % 4], owner=n % 4) for n in range(80)]
    knows, other = Opinion(np.arange(SIZE)), Opinion(np.arange(SIZE), sure=0.5)
    once = learned_from(knows, few)
    assert learned_from(knows, copies) == once
    assert not once.shown(0.05)
    assert learned_beside(knows, other, copies) == learned_beside(knows, other, few)


def test_texts_of_one_person_count_apart():
    told = [replace(item, owner=n % 2) for n, item in enumerate(documents(60, told=True))]
    assert learned_from(Opinion(np.arange(SIZE)), told).documents == 60


def test_documents_without_a_secret_are_refused():
    blank = Observed(np.array([0]), np.array([0]), np.array([], dtype=int))
    with pytest.raises(InvalidInput, match="at least one with a sensitive word"):
        learned_from(Opinion(np.arange(SIZE)), [blank])
