"""ADePT and DP-BART: clips, noise, internal attacks, pruning, training."""

import math

import numpy as np
import pytest

import voile
from voile.attackers.attribution_embedding import NearestLatent
from voile.audit.distinguishing import distinguish
from voile.errors import InvalidInput
from voile.rewriting.dp_bart import dp_bart, least_pruned, survivors

pytest.importorskip("torch")
pytest.importorskip("transformers")

from voile.rewriting.adept import Autoencoder, adept, vocabulary_of
from voile.rewriting.training import prune_bart, train_autoencoder, train_bart


@pytest.fixture(scope="module")
def autoencoder(public):
    import torch

    torch.manual_seed(0)
    model = Autoencoder.untrained(vocabulary_of(public), hidden=32, embedding=24)
    history = train_autoencoder(model, public, epochs=150, rate=1e-2)
    assert history[-1] < 0.3 * history[0]
    return model


def test_survivors_of_pruning():
    """768 dimensions: 576, 432, 324, 243, 182, 136, 102, 76, whatever the weights."""
    for seed in range(3):
        importance = np.random.default_rng(seed).random(768)
        kept, counts = np.arange(768), []
        for _ in range(8):
            kept = least_pruned(importance, kept)
            counts.append(len(kept))
        assert counts == [576, 432, 324, 243, 182, 136, 102, 76]
        assert importance[kept].min() >= np.sort(importance)[-77]


def test_survivors_read_the_key_projection(encoder_decoder):
    layer = encoder_decoder.model.get_decoder().layers[0].encoder_attn
    weights = np.abs(layer.k_proj.weight.detach().numpy()).sum(axis=0)
    kept = survivors(encoder_decoder)
    assert len(kept) == 24
    assert weights[kept].min() >= np.delete(weights, kept).max()


def test_adept_repeats_without_noise_and_forgets_with_it(autoencoder, public):
    clear = adept(autoencoder, epsilon=1e9)
    found = clear.rewrite(public, voile.seeded_rng(1))
    right = np.mean([a == b for a, b in zip(found.texts, public, strict=True)])
    assert right > 0.5
    noisy = adept(autoencoder, epsilon=0.1).rewrite(public * 10, voile.seeded_rng(2)).texts
    kept = np.mean([a == b for a, b in zip(noisy, public * 10, strict=True)])
    assert kept < 0.3
    assert clear.at(2.0).autoencoder is autoencoder


def test_latents_are_inside_the_ball_for_any_text(autoencoder):
    mechanism = adept(autoencoder, epsilon=1.0)
    texts = ["red cat", "", "unknown words only", "red " * 40]
    assert np.linalg.norm(mechanism.latent(texts), axis=1).max() <= autoencoder.clip * (1 + 1e-12)
    found = mechanism.rewrite(texts, voile.seeded_rng(1))
    assert found.cut == 1
    assert all(found.texts)
    assert mechanism.guarantee.delta == 1e-5
    assert adept(autoencoder, epsilon=100.0).noise.sigma == pytest.approx(0.94670, rel=1e-4)
    assert mechanism.guarantee.granularity == "one text"
    assert adept(autoencoder, epsilon=1.0, fidelity="as_released").guarantee.basis == "claimed"


def test_an_autoencoder_is_saved_and_loaded(autoencoder, tmp_path, public):
    from voile.errors import BadFile

    autoencoder.save(tmp_path / "model")
    again = adept(Autoencoder.load(tmp_path / "model"), epsilon=1.0)
    assert np.allclose(again.latent(public), adept(autoencoder, epsilon=1.0).latent(public))
    with pytest.raises(BadFile, match=r"must be a folder that save\(\) wrote"):
        Autoencoder.load(tmp_path)


def internal(mechanism, texts, *, trials, claim):
    rng = voile.seeded_rng(3)
    (found,) = distinguish(
        lambda sources: mechanism.noisy_latent(sources, rng),
        texts,
        attacks=[NearestLatent(mechanism.latent)],
        trials=trials,
        temperature=0.0,
        delta=mechanism.delta,
        failure_probability=1e-9,
        rng=rng,
    )
    return found, found.finding(claim=claim)


def test_the_internal_attack_rises_with_epsilon_and_respects_the_claim(autoencoder, public):
    shown = []
    for epsilon in (1.0, 10.0, 100.0):
        found, finding = internal(
            adept(autoencoder, epsilon=epsilon), public, trials=4000, claim=epsilon
        )
        assert finding.verdict == "open"
        shown.append(found.estimate.middle)
    assert shown[0] < shown[1] < shown[2]


def test_too_little_noise_is_caught(public):
    """The planted bug: noise calibrated to a tenth of the true sensitivity.

    Two latents at opposite ends of the ball reach the worst case, where the attack is sharpest.
    """

    class Ends:
        delta = 1e-5

        def __init__(self, sensitivity):
            from voile.rewriting.latent_noise import gaussian_noise

            self.noise = gaussian_noise(sensitivity=sensitivity, epsilon=2.0)

        def latent(self, texts):
            return np.array([[5.0 if "red" in t else -5.0] for t in texts])

        def noisy_latent(self, texts, rng):
            return self.noise.add(self.latent(texts), rng)

    _, honest = internal(Ends(10.0), ["red", "blue"], trials=20_000, claim=2.0)
    assert honest.verdict == "open"
    _, liar = internal(Ends(1.0), ["red", "blue"], trials=20_000, claim=2.0)
    assert liar.verdict == "violated"


def test_classical_noise_is_refuted_where_it_is_too_little():
    """At ε = 50 the published formula really gives 96: Gaussian tails, seen through one event.

    Named when the noisy value passes a threshold; exact counts, no simulation needed.
    """
    from scipy.stats import norm

    from voile.rewriting.gaussian import analytic_sigma, classical_sigma

    for scale, broken in ((classical_sigma, True), (analytic_sigma, False)):
        sigma = scale(sensitivity=1.0, epsilon=50.0, delta=1e-5)
        # (ε, δ) demands Pr[x > t | 1] ≤ e^ε Pr[x > t | 0] + δ for every threshold t
        t = np.linspace(-2, 6, 4001)
        left = norm.sf((t - 1) / sigma)
        with np.errstate(over="ignore"):
            right = np.exp(50.0 + norm.logsf(t / sigma)) + 1e-5
        assert bool((left > right * (1 + 1e-9)).any()) is broken


def test_dp_bart_clips_noises_and_decodes(encoder_decoder, public):
    mechanism = dp_bart(encoder_decoder, epsilon=50.0)
    k = 20 * 32
    assert mechanism.sensitivity == pytest.approx(0.2 * math.sqrt(k))
    saved = mechanism.noise.sigma
    assert saved == pytest.approx(3.71213 * mechanism.sensitivity / 24.787, rel=1e-4)  # ε = 50
    latents = mechanism.latent(["red cat", "", "dog " * 50])
    assert latents.shape == (3, k)
    assert np.abs(latents).max() <= 0.1
    found = mechanism.rewrite(["red cat", "", "dog " * 50], voile.seeded_rng(1))
    assert found.cut == 1
    assert all(found.texts), "an empty result is a space, never nothing"
    pruned = dp_bart(encoder_decoder, epsilon=50.0, kept=[3, 1, 3])
    assert pruned.sensitivity == pytest.approx(0.2 * math.sqrt(40))
    assert pruned.noise.sigma < mechanism.noise.sigma
    with pytest.raises(InvalidInput, match="kept must be dimensions below 32"):
        dp_bart(encoder_decoder, epsilon=1.0, kept=[99])


def test_pruning_and_training_under_noise(public):
    from voile.rewriting.tiny import tiny_encoder_decoder

    model = tiny_encoder_decoder(public, seed=5)
    start = dp_bart(model, epsilon=5000.0, positions=6)
    pruned, left = prune_bart(start, public, rounds=2, epochs=40, rate=1e-3)
    assert left == [24, 18]
    history = train_bart(pruned, public * 4, noisy=True, epochs=10, rate=1e-3)
    assert history[-1] < history[0]
    written = pruned.rewrite(public, voile.seeded_rng(1)).texts
    assert any(w.strip() for w in written)
    found, finding = internal(pruned, public, trials=1000, claim=5000.0)
    assert found.estimate.lower > 1
    assert finding.verdict == "open"


def test_training_does_not_depend_on_what_was_drawn_before(public):
    import torch

    from voile.rewriting.tiny import tiny_masked
    from voile.rewriting.training import train_masked

    losses = []
    for drawn_before in (1, 2):
        language = tiny_masked(public)
        for part in language.model.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.3
        torch.manual_seed(drawn_before)
        before = torch.get_rng_state()
        losses.append(train_masked(language, public, epochs=2))
        assert torch.equal(torch.get_rng_state(), before)
    assert losses[0] == losses[1]
