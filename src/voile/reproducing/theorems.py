"""Theorems of the papers on numbers: exact computations, milliseconds each."""

from __future__ import annotations

from itertools import product

import numpy as np

from voile.attackers.bayes import joint_bayes
from voile.attackers.markov import MarkovPrior, markov_attack
from voile.audit.empirical import ceiling
from voile.core.arrays import Floats
from voile.core.space import Space
from voile.leakage.labels import (
    belief_gain,
    belief_gain_bound,
    response_law,
    unexpected_advantage,
    with_features,
)
from voile.leakage.labels_privacy import conditional_epsilon, label_privacy, local_epsilon
from voile.leakage.posterior import posterior_leakage
from voile.mechanisms import exponential, randomised_response, remap, truncated_exponential
from voile.mechanisms.spaces.truncated_exponential import truncation_distance
from voile.metrics import euclidean
from voile.reproducing.experiment import Claim, Found, Measured, Work

TOLERANCE = 1e-9
DRAWS = 50


def joint_reading(work: Work) -> Found:
    """Section 2.4 and appendix C.1 of the mPL paper: two bits, each safe, together not."""
    law = np.log([[0.72, 0.28], [0.28, 0.72]])
    attack = joint_bayes(law, np.array([[0.01, 0.49], [0.49, 0.01]]))
    before, alone, both = attack.log_posteriors(
        [np.array([-1, -1]), np.array([0, -1]), np.array([0, 1])]
    )
    single, joint = (float(np.diff((after - before)[0])[0]) for after in (alone, both))
    return Found(
        "two bits that differ with probability 0.98, channel 0.72/0.28, ε = 1; exact",
        [
            Measured("mPL of one release", abs(single), theirs="0.944"),
            Measured("mPL of both releases", abs(joint), theirs="1.846"),
        ],
        [
            Claim("one release keeps ε = 1", abs(single) <= 1),
            Claim("both together leak 1.846 > ε", abs(abs(joint) - 1.84568) < 5e-6),
        ],
    )


def worst_in_a_chain(agree: float, read: int) -> float:
    """The largest leakage about the middle of `read` bits, over all releases at ε = 1.

    Each bit equals the one before with probability `agree`; exact, by forward–backward over every
    possible sequence of releases.
    """
    from scipy import sparse

    channel = randomised_response(["no", "yes"], epsilon=1.0)
    step = sparse.csr_array(np.array([[agree, 1 - agree], [1 - agree, agree]]))
    chain = MarkovPrior(np.array([0.5, 0.5]), step, np.zeros(2))
    attack = markov_attack(channel.log_probabilities(), chain)
    sequences = [np.array(releases) for releases in product((0, 1), repeat=read)]
    beliefs = np.array([table[read // 2] for table in attack.log_posteriors(sequences)])
    shifts = beliefs - np.log(0.5)
    return posterior_leakage(shifts, channel.space.distances(), epsilons=[1.0]).supremum


def post_processing(work: Work) -> Found:
    """Proposition 1: a remap never raises what one release tells."""
    before, after = [], []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        space = Space(rng.normal(size=(8, 2)), metric=euclidean())
        channel = exponential(space, epsilon=1.0)
        better = remap(channel, loss=space.distances(), prior=rng.dirichlet(np.ones(8)))
        before.append(channel.certificate().epsilon)
        after.append(better.certificate().epsilon)
    rise = float(np.max(np.array(after) - np.array(before)))
    return Found(
        f"EM on {DRAWS} random spaces of 8 points, random priors; exact",
        [Measured("largest rise of the certificate by the remap", rise)],
        [Claim("post-processing never raises the leakage", rise <= TOLERANCE)],
    )


def single_release(work: Work) -> Found:
    """Proposition 2: one release leaks at most ε if and only if the mechanism has ε-mDP."""
    gaps = []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        space = Space(rng.normal(size=(8, 2)), metric=euclidean())
        channel = exponential(space, epsilon=1.0)
        prior = np.log(rng.dirichlet(np.ones(8)))
        joint = prior[:, None] + channel.log_probabilities()
        posterior = joint - np.logaddexp.reduce(joint, axis=0)
        found = posterior_leakage(posterior.T - prior, space.distances(), epsilons=[1.0])
        gaps.append(abs(found.supremum - channel.certificate().epsilon))
    return Found(
        f"EM on {DRAWS} random spaces of 8 points, random priors; exact",
        [Measured("largest gap between mPL and the mDP certificate", max(gaps))],
        [Claim("the supremum of mPL is the ε of mDP, whatever the prior", max(gaps) < 1e-6)],
    )


def independent_releases(work: Work) -> Found:
    """Proposition 3, and what happens without independence."""
    reads = (1, 3, 5, 7)
    alone = [worst_in_a_chain(0.5, read) for read in reads]
    linked = [worst_in_a_chain(0.9, read) for read in reads]
    return Found(
        "a chain of bits by randomised response at ε = 1, up to 7 releases; exact",
        [
            Measured("independent bits, 7 releases: largest mPL", alone[-1]),
            Measured("bits equal to the one before in 90 %: largest mPL", linked[-1]),
        ],
        [
            Claim("independent secrets leak no more together", max(alone) <= 1 + 1e-6),
            Claim("dependent ones do", linked[-1] > 1.5),
        ],
    )


def truncated(work: Work) -> Found:
    """TEM's Theorem 2: Algorithm 2's law is the closed form, and certified."""
    gaps, over = [], []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        space = Space(rng.normal(size=(12, 3)), metric=euclidean())
        channel = truncated_exponential(space, epsilon=1.5, gamma=1.5)
        gaps.append(
            float(np.abs(_algorithm_2(space.distances(), 1.5, 1.5) - channel.probabilities()).max())
        )
        over.append(channel.certificate().epsilon - 1.5)
    return Found(
        f"{DRAWS} random spaces of 12 points, ε = 1.5, γ = 1.5; exact",
        [
            Measured("largest gap of Algorithm 2's law to the closed form", max(gaps)),
            Measured("largest certificate minus ε", max(over)),
        ],
        [
            Claim("Algorithm 2 draws Pr ∝ exp(−(ε/2)·min(d, γ))", max(gaps) < 1e-6),
            Claim("it has ε-mDP", max(over) <= 0),
        ],
    )


def _algorithm_2(distances: Floats, epsilon: float, gamma: float) -> Floats:
    """Gumbel noise of scale 2/ε and the largest: a softmax of scores; ⊥ spread over the rest."""
    inside = distances <= gamma
    outside = (~inside).sum(axis=1)
    with np.errstate(divide="ignore"):
        rest = np.where(outside > 0, outside * np.exp(-epsilon / 2 * gamma), 0.0)
    near = np.where(inside, np.exp(-epsilon / 2 * distances), 0.0)
    total = near.sum(axis=1) + rest
    each = np.divide(rest, outside, out=np.zeros(len(outside)), where=outside > 0)
    return np.asarray(np.where(inside, near, each[:, None]) / total[:, None])


def truncation(work: Work) -> Found:
    """TEM's Theorem 3: γ from β."""
    gamma = truncation_distance(400_000, epsilon=2.0, beta=0.001)
    shares = []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        distances = Space(20 * rng.normal(size=(40, 2)), metric=euclidean()).distances()
        reach = truncation_distance(40, epsilon=1.0, beta=0.05)
        shares.append(
            float((_algorithm_2(distances, 1.0, reach) * (distances <= reach)).sum(axis=1).min())
        )
    return Found(
        f"400,000 words, ε = 2, β = 0.001; and {DRAWS} random spaces of 40 points, β = 0.05",
        [
            Measured("γ", gamma, theirs="19.806"),
            Measured("smallest chance to stay within γ", min(shares), theirs="≥ 0.95"),
        ],
        [Claim("a draw stays within γ with probability 1 − β", min(shares) >= 0.95)],
    )


def belief_bound(work: Work) -> Found:
    """UEL's Proposition 4.1 over a grid of beliefs, priors and ε."""
    worst = 0.0
    grid = np.linspace(0.02, 0.98, 25)
    for epsilon in (0.1, 1.0, 4.0):
        response = response_law(2, epsilon=epsilon)
        for q in grid:
            posteriors, prior = np.stack([grid, 1 - grid], axis=1), np.array([q, 1 - q])
            gain = np.abs(belief_gain(posteriors, prior, response)).max(axis=(1, 2))
            bound = belief_gain_bound(posteriors, prior, epsilon=epsilon)
            apart = bound > 1e-12
            worst = max(worst, float((gain[apart] / bound[apart]).max()))
    return Found(
        "25 × 25 beliefs and priors, ε = 0.1, 1, 4; exact",
        [Measured("largest gain over its bound e^ε·|p − q|", worst)],
        [Claim("individual unexpected leakage is at most e^ε·(p − q)", worst <= 1 + TOLERANCE)],
    )


def ratio_rises(work: Work) -> Found:
    """UEL's Corollary 4.2: leakage where r(x, y) > 1, growing with it."""
    beliefs = np.linspace(0.5, 0.99, 50)
    gain = belief_gain(np.stack([beliefs, 1 - beliefs], axis=1), np.array([0.5, 0.5]),
                       response_law(2, epsilon=1.0))[:, 0, :].mean(axis=1)  # fmt: skip
    return Found(
        "prior ½, beliefs ½ … 0.99, ε = 1; exact",
        [Measured("gain at a belief of 0.99", float(gain[-1]))],
        [
            Claim("r > 1 leaks", bool((gain[1:] > 0).all())),
            Claim("more with every r", bool((np.diff(gain) > 0).all())),
        ],
    )


def conditional_privacy(work: Work) -> Found:
    """UEL's Theorem 5.1 and Corollary 5.3 on random laws."""
    advantage, apart = [], []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        joint = rng.dirichlet(np.ones(8)).reshape(4, 2)
        law = rng.dirichlet(np.ones(5), size=(4, 2))
        own = conditional_epsilon(joint, law)
        advantage.append(unexpected_advantage(joint, law, epsilon=own))
        apart.append(own - local_epsilon(law))
    joint = np.array([[0.45, 0.05], [0.05, 0.45]])
    clear = with_features(response_law(2, epsilon=1.0), features=2)
    return Found(
        f"{DRAWS} random laws of 4 features and 2 labels, each at its own tight ε; exact",
        [
            Measured("largest advantage at the law's own CF-ε", max(advantage)),
            Measured("CF-ε of randomised response with features in clear at ε = 1",
                     conditional_epsilon(joint, clear)),
        ],
        [
            Claim("Label DP-CF has no unexpected leakage", max(advantage) <= TOLERANCE),
            Claim("ε-LDP implies ε-Label DP-CF", max(apart) <= TOLERANCE),
        ],
    )  # fmt: skip


def cf_implies_label_dp(work: Work) -> Found:
    """UEL's Theorem 5.2 is false as stated: y ⊕ h(x) with h a fair coin given either label."""
    law = np.zeros((2, 2, 2))
    for x, y in product((0, 1), repeat=2):
        law[x, y, x ^ y] = 1.0
    found = label_privacy(np.full((2, 2), 0.25), law)
    return Found(
        "M(x, y) = y ⊕ h(x), h(X) a fair coin given either label; exact",
        [
            Measured("CF-ε", found.conditional),
            Measured("label-DP ε", min(found.label, 1e9)),
        ],
        [
            Claim(
                "every mechanism with ε-Label DP-CF has ε-Label DP",
                found.label <= found.conditional,
            )
        ],
    )


def finite_sample_ceiling(work: Work) -> Found:
    """The dashed line of Figures 2 and 3."""
    ours = ceiling(10_000, candidates=2, failure_probability=0.01)
    return Found(
        "k = 2, T = 10,000, all guesses right, Clopper–Pearson at 1 %",
        [Measured("ceiling", ours, theirs="7.54")],
        [Claim("the ceiling is about 7.54", abs(ours - 7.54) < 0.005)],
    )
