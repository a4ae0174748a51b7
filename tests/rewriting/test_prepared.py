"""Rewriters as audits see them: what is drawn, how it reads, its law, and the vector inside."""

import json
from dataclasses import replace

import numpy as np
import pytest

import voile
from voile.attackers.names import ATTACKS
from voile.errors import InvalidInput
from voile.rewriting.prepared import Prepared, prepared_prompted, prepared_whole
from voile.rewriting.workshop import Workshop
from voile.text.cells import play
from voile.text.game import Playing
from voile.text.rewriters import MECHANISMS, Rewriters

pytest.importorskip("torch")
pytest.importorskip("transformers")


class Shop(Rewriters):
    """Prepares one rewriter, whatever name is asked for."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    def prepare(self, which, epsilon):
        return self.make(epsilon)


def table(
    make,
    short_texts,
    *,
    mechanisms=("dp-prompt",),
    epsilons=(2.0,),
    attacks=("overlap", "likelihood"),
    trials=800,
    symmetric=False,
    folder=None,
):
    return play(
        short_texts,
        mechanisms=MECHANISMS.find_all(mechanisms),
        epsilons=epsilons,
        rewriters=Shop(make),
        attacks=ATTACKS.find_all(attacks),
        game=Playing(temperature=0.0, trials=trials, symmetric=symmetric),
        folder=folder,
    )


@pytest.fixture(scope="module")
def prompted(causal):
    from voile.rewriting.dp_paraphrase import dp_paraphrase

    def make(epsilon):
        made = dp_paraphrase(causal, epsilon=epsilon, bounds=(-4.0, 8.0), max_new_tokens=3)
        return prepared_prompted(made)

    return make


def test_tokens_are_kept_and_read_as_the_rewriter_reads_them(causal, prompted, short_texts):
    from voile.rewriting.dp_paraphrase import dp_paraphrase

    plain = dp_paraphrase(causal, epsilon=30.0, bounds=(-4.0, 8.0), max_new_tokens=3)
    expected = plain.rewrite(short_texts, voile.seeded_rng(3)).texts
    made = prompted(30.0)
    drawn = json.loads(json.dumps(made.draw(short_texts, voile.seeded_rng(3))))
    assert made.read(drawn) == expected == made.rewrite(short_texts, voile.seeded_rng(3))
    assert made.units(short_texts) == 3.0
    law = made.log_likelihood(short_texts, drawn)
    assert law == pytest.approx(plain.log_likelihood(short_texts, [tuple(t) for t in drawn]))


def test_likelihood_shows_most_and_never_more_than_epsilon(prompted, short_texts, tmp_path):
    found = table(prompted, short_texts, epsilons=[1.0, 8.0], trials=1500, folder=tmp_path)
    for cell in found.cells:
        shown = {s.attack: s for s in cell.shown}
        assert shown["likelihood"].lower <= cell.text_epsilon
        assert shown["likelihood"].middle >= shown["overlap"].middle - 0.1
    assert found.cells[1].worst.attack == "likelihood"
    assert found.cells[1].worst.lower > 0.5
    again = table(prompted, short_texts, epsilons=[1.0, 8.0], trials=1500, folder=tmp_path)
    assert [c.shown for c in again.cells] == [c.shown for c in found.cells]


def test_a_law_that_belongs_to_other_tokens_shows_nothing(prompted, short_texts):
    """The attack must see the very tokens of its trial: shifted by one, they say nothing."""

    def shifted(epsilon):
        made = prompted(epsilon)

        def law(texts, drawn):
            return made.log_likelihood(texts, [*drawn[2:], *drawn[:2]])

        return replace(made, log_likelihood=law)

    assert table(prompted, short_texts, epsilons=[8.0]).cells[0].shown[1].lower > 0.3
    assert table(shifted, short_texts, epsilons=[8.0]).cells[0].shown[1].lower == 0.0


def test_as_released_the_units_are_the_tokens_of_the_prompt(causal, short_texts):
    from voile.rewriting.dp_prompt import dp_prompt

    rewriter = dp_prompt(causal, epsilon=1.0, fidelity="as_released")
    made = prepared_prompted(rewriter)
    counts = [len(causal.encoded([rewriter.prompt(text)])[0][0]) for text in short_texts]
    assert made.units(short_texts) == pytest.approx(np.mean(counts))


@pytest.fixture(scope="module")
def autoencoder(public):
    import torch

    from voile.rewriting.adept import Autoencoder, vocabulary_of
    from voile.rewriting.training import train_autoencoder

    torch.manual_seed(4)
    model = Autoencoder.untrained(vocabulary_of(public), hidden=32, embedding=16)
    train_autoencoder(model, public, epochs=150, rate=1e-2)
    return model


def test_the_vector_inside_is_attacked_beside_the_text(autoencoder, short_texts):
    from voile.rewriting.adept import adept

    found = table(
        lambda epsilon: prepared_whole(adept(autoencoder, epsilon=epsilon)),
        short_texts, mechanisms=["adept"], epsilons=[1.0, 900.0],
        attacks=["overlap", "internal", "likelihood"],
    )  # fmt: skip
    low, high = found.cells
    shown = [s.attack for s in high.shown]
    assert shown == ["overlap", "internal", "stack"], "no law is known"
    assert high.shown[1].lower >= max(1.0, high.shown[0].lower)
    assert low.shown[1].lower <= 1.0
    assert high.text_epsilon == 900.0


def test_an_attack_that_does_not_apply_is_left_out_or_refused(prompted, short_texts):
    found = table(prompted, short_texts, attacks=["overlap", "internal"])
    assert [s.attack for s in found.cells[0].shown] == ["overlap"]
    with pytest.raises(InvalidInput, match="attacks must hold one that can read dp-prompt"):
        table(prompted, short_texts, attacks=["internal"])


def test_the_symmetric_form_is_another_estimate_of_the_same_guesses(prompted, short_texts):
    plain = table(prompted, short_texts, epsilons=[8.0])
    other = table(prompted, short_texts, epsilons=[8.0], symmetric=True)
    assert other.symmetric
    assert other.to_dict()["symmetric"] is True
    for a, b in zip(plain.cells[0].shown, other.cells[0].shown, strict=True):
        assert a.success == b.success
        assert a.lower != b.lower
        assert b.ceiling < a.ceiling, "rates have half of the trials and of the failure each"


def test_bart_is_trained_here_pruned_and_used_to_noise(public, short_texts, monkeypatch):
    from voile.rewriting import trained_here

    shop = Workshop(public=public * 4)

    def prepare(name, epsilon, shop=shop):
        return shop.prepare(name, epsilon, encoder=list)

    clear = prepare("dp-bart", 50.0)
    pruned = prepare("dp-bart-pr", 50.0)
    noisy = prepare("dp-bart-pr-plus", 50.0)
    assert isinstance(clear, Prepared)
    width = len(clear.inside.kept)
    left = width
    for _ in range(trained_here.ROUNDS):
        left -= left // 4
    assert abs(len(pruned.inside.kept) - left) <= 2
    assert pruned.inside.noise.sigma < clear.inside.noise.sigma
    assert np.array_equal(pruned.inside.kept, noisy.inside.kept)
    for made in (clear, pruned, noisy):
        vectors = made.inside.latent(short_texts)
        apart = np.linalg.norm(vectors[:1] - vectors[1:], axis=1) / made.inside.sensitivity
        assert apart.mean() > 0.1, "it reads: texts have vectors of their own"
    assert len(clear.rewrite(short_texts[:3], voile.seeded_rng(1))) == 3
    base = shop._loaded["dp-bart-pr-plus"].language.model.state_dict()
    twin = noisy.inside.language.model.state_dict()
    assert any(not (base[name] == twin[name]).all() for name in base), "it has learned"
    other = prepare("dp-bart-pr-plus", 5.0).inside.language.model.state_dict()
    assert any(not (other[name] == twin[name]).all() for name in base), "for its own epsilon"
    with pytest.raises(InvalidInput, match="dp-bart is trained here and needs public texts"):
        prepare("dp-bart", 1.0, shop=Workshop())


def test_what_is_trained_through_the_clip_is_not_clipped_from_the_start(public, monkeypatch):
    """Where every state is clipped no gradient passes, and a model learns to write unread texts."""
    from voile.rewriting import training
    from voile.rewriting.dp_bart import BOUND, dp_bart
    from voile.rewriting.trained_here import trained_bart

    monkeypatch.setattr(training, "train_bart", lambda *given, **more: [])
    states = dp_bart(trained_bart(public), epsilon=1.0).latent(public)
    assert np.mean(np.abs(states) < BOUND) > 0.4


def test_whole_words_stand_apart_from_marks():
    from voile.rewriting.tiny import word_tokenizer

    tokenizer = word_tokenizer(["Don't go to St. Louis!"], sentence=False)
    ids = tokenizer("don't go, louis!")["input_ids"]
    known = tokenizer.convert_ids_to_tokens(ids)
    assert known == ["don't", "go", "<unk>", "louis", "!"]


def test_laws_have_names_and_share_a_model(causal, masked, short_texts, tmp_path):
    """A rewriter's laws are made of one model, loaded once, and say what each promises."""
    for name, model in (("causal", causal), ("masked", masked)):
        model.model.save_pretrained(tmp_path / name)
        model.tokenizer.save_pretrained(tmp_path / name)
    models = {
        "dp-prompt": str(tmp_path / "causal"),
        "dp-paraphrase": str(tmp_path / "causal"),
        "dp-mlm": str(tmp_path / "masked"),
    }
    shop = Workshop(models, max_new_tokens=2)
    for kind in ("dp-prompt", "dp-paraphrase", "dp-mlm"):
        for law in ("", "-mixture", "-public"):
            made = shop.prepare(f"{kind}{law}", 3.0, encoder=lambda: None)
            assert made.guarantee.epsilon <= 3.0
            assert made.guarantee.basis == "proved"
            drawn = made.draw(short_texts[:3], voile.seeded_rng(1))
            assert len(made.read(drawn)) == 3
            assert np.isfinite(made.log_likelihood(short_texts[:3], drawn)).all()
    loaded = [what for what in shop._loaded if what.startswith("model")]
    assert len(loaded) == 2
    with pytest.raises(InvalidInput, match="'clipped' for code as it was released"):
        Workshop(models, fidelity="as_released").prepare(
            "dp-prompt-public", 1.0, encoder=lambda: None
        )
