"""Rewriters by name, for comparing them: word mechanisms and neural ones alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.guarantee import Guarantee
from voile.core.randomness import Generator, seeded_rng
from voile.errors import InvalidInput, require

WORD_LEVEL = {
    "tem": "tem", "em": "exponential", "exponential": "exponential", "madlib": "madlib",
    "mahalanobis": "mahalanobis", "vickrey": "vickrey", "custext": "custext",
    "santext": "santext", "santext+": "santext+",
}  # fmt: skip
NEURAL = ("adept", "dp-bart", "dp-paraphrase", "dp-prompt", "dp-mlm", "dp-mlm+", "dp-st")
NAMES = (*WORD_LEVEL, *NEURAL)

BOUND_PROMPTS = (
    "The weather is fine today and we will walk to the lake.",
    "She bought two tickets for the evening train.",
    "How many days are there in a year?",
    "The report was late because the printer was out of paper.",
)
"""Public sentences from which logit bounds are taken where a model comes without them."""

PARAPHRASES = (
    ("i would like to book a table for two people tonight",
     "please reserve a place for two this evening"),
    ("play some quiet music by a german composer",
     "put on something calm written by a composer from germany"),
    ("what is the weather going to be like tomorrow in paris",
     "tell me tomorrow's forecast for paris"),
    ("add this song to my list of favourites",
     "put that track on my favourites list"),
)  # fmt: skip
"""Public pairs that show a model what to do that was not trained to paraphrase."""


@dataclass(frozen=True)
class Prepared:
    """A rewriter at one epsilon, ready to run, with what it promises."""

    rewrite: Callable[[Sequence[str], Generator], list[str]]
    guarantee: Guarantee
    units: Callable[[Sequence[str]], float]
    """Mean number of units that one text costs, for conversion between granularities."""
    log_likelihood: Callable[[Sequence[str], Sequence[Any]], Any] | None = None


@dataclass
class Workshop:
    """Where rewriters are made: models by name or folder, public texts, one load for all epsilons.

    `models` maps a rewriter's name to a hub id or folder; `public` are texts that may be trained
    on. `fidelity` is that of `voile.rewriting`.
    """

    models: dict[str, str] = field(default_factory=dict)
    public: Sequence[str] = ()
    fidelity: Any = "sound"
    max_new_tokens: int = 24
    top: int = 20_000
    _loaded: dict[str, Any] = field(default_factory=dict, repr=False)

    def prepare(self, name: str, epsilon: float) -> Prepared:
        """The named rewriter at this epsilon; its model is loaded or trained once."""
        if name in WORD_LEVEL:
            return self._word(WORD_LEVEL[name], epsilon)
        require(name in NEURAL, "mechanism", "one of " + ", ".join(NAMES), name)
        if name not in self._loaded:
            self._loaded[name] = self._make(name)
        mechanism = self._loaded[name].at(epsilon)

        def rewrite(texts: Sequence[str], rng: Generator) -> list[str]:
            return list(mechanism.rewrite(list(texts), rng).texts)

        one = mechanism.guarantee.granularity == "one text"
        cap = getattr(mechanism, "most", None)
        if name.startswith("dp-mlm"):
            known = name == "dp-mlm" and self.fidelity == "sound"
            law = mechanism.log_likelihood if known else None
            return Prepared(rewrite, mechanism.guarantee, _mean_words, law)
        return Prepared(
            rewrite, mechanism.guarantee, lambda texts: 1.0 if one or cap is None else float(cap)
        )

    def _word(self, name: str, epsilon: float) -> Prepared:
        from voile.tasks.text_recipe import TextRecipe, build_protector

        recipe = TextRecipe(
            source="", column="", epsilon=epsilon, mechanism=name, top=self.top, identifiers=False
        )
        protector = build_protector(recipe)

        def rewrite(texts: Sequence[str], rng: Generator) -> list[str]:
            return [str(text) for text in protector.release(list(texts), rng)]

        protector.release(["a word"], seeded_rng(0))  # compiles: not to be counted as releasing
        law = word_likelihood(protector) if hasattr(protector.laws[0], "log_prob") else None
        return Prepared(rewrite, protector.guarantee, _mean_words, law)

    def _make(self, name: str) -> Any:
        if name in ("dp-prompt", "dp-paraphrase"):
            return self._prompted(name)
        if name.startswith("dp-mlm"):
            return self._masked(plus=name.endswith("+"))
        if name == "adept":
            return self._adept()
        return self._bart() if name == "dp-bart" else self._triples()

    def _language(self, name: str) -> Any:
        from voile.rewriting.models import load_model, packaged_model

        return load_model(self.models[name]) if name in self.models else packaged_model()

    def _prompted(self, name: str) -> Any:
        from voile.rewriting.dp_paraphrase import dp_paraphrase
        from voile.rewriting.dp_prompt import chat_question, dp_prompt

        language = self._language(name)
        if name == "dp-prompt":
            made = dp_prompt(
                language,
                epsilon=1.0,
                max_new_tokens=self.max_new_tokens,
                fidelity=self.fidelity,
                question=chat_question(language),
            )
        else:
            made = dp_paraphrase(
                language,
                epsilon=1.0,
                max_new_tokens=self.max_new_tokens,
                fidelity=self.fidelity,
                examples=() if name in self.models else PARAPHRASES,
            )
        return made.bounded_by(BOUND_PROMPTS)

    def _masked(self, *, plus: bool) -> Any:
        from voile.rewriting.dp_mlm import ROBERTA_BOUNDS, dp_mlm
        from voile.rewriting.models import load_model

        given = self.models.get("dp-mlm")
        language = load_model(given) if given else self._headed()
        return dp_mlm(
            language, epsilon=1.0, bounds=ROBERTA_BOUNDS, plus=plus, fidelity=self.fidelity
        )

    def _headed(self) -> Any:
        """MiniLM with a new mask-filling head, trained on the public texts."""
        from voile.attackers.sentence_encoder import minilm_folder
        from voile.rewriting.tiny import headed_minilm
        from voile.rewriting.training import train_masked

        texts = self._public("dp-mlm")[:2000]
        language = headed_minilm(minilm_folder())
        train_masked(language, texts, epochs=3, rate=3e-4, share=0.3)
        return language

    def _adept(self) -> Any:
        import torch

        from voile.rewriting.adept import Autoencoder, adept, vocabulary_of
        from voile.rewriting.training import train_autoencoder

        if "adept" in self.models:
            model = Autoencoder.load(self.models["adept"])
        else:
            texts = self._public("adept")
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)
                model = Autoencoder.untrained(vocabulary_of(texts), hidden=128, embedding=64)
            train_autoencoder(model, texts[:2000], epochs=30, rate=1e-2)
        return adept(model, epsilon=1.0, fidelity=self.fidelity)

    def _bart(self) -> Any:
        from voile.rewriting.dp_bart import dp_bart
        from voile.rewriting.models import load_model

        if "dp-bart" not in self.models:
            raise InvalidInput(
                "dp-bart needs an encoder–decoder model, such as --model dp-bart=FOLDER"
            )
        return dp_bart(load_model(self.models["dp-bart"]), epsilon=1.0, fidelity=self.fidelity)

    def _triples(self) -> Any:
        from voile.rewriting.dp_st import dp_st, triple_corpus
        from voile.rewriting.triples import triple_extractor

        texts, extract, encode = self._public("dp-st"), triple_extractor(), self.encoder
        triples = [triple for found in extract(list(texts)[:3000]) for triple in found]
        clusters = max(2, min(500, len(set(triples)) // 20))
        corpus = triple_corpus(triples, encode, clusters=clusters)
        return dp_st(corpus, extract=extract, encode=encode, epsilon=1.0, fidelity=self.fidelity)

    def empty(self) -> Workshop:
        """The same workshop before anything was loaded, so that it can travel."""
        return replace(self, _loaded={})

    @cached_property
    def encoder(self) -> Any:
        """The sentence encoder that attacks and candidate sets share."""
        from voile.attackers.sentence_encoder import sentence_encoder

        return sentence_encoder(self.models.get("encoder"))

    def _public(self, name: str) -> Sequence[str]:
        if not self.public:
            raise InvalidInput(
                f"{name} is trained here and needs public texts, such as --public FILE with one "
                f"text a line" + ("" if name == "dp-st" else f", or a model: --model {name}=FOLDER")
            )
        return self.public


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


def read_lines(path: str | Path) -> list[str]:
    """Non-empty lines of a text file."""
    try:
        content = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = type(problem).__name__
        raise InvalidInput(
            f"{Path(path).name} must be a readable UTF-8 text file: {reason}"
        ) from None
    return [line.strip() for line in content.splitlines() if line.strip()]


def _mean_words(texts: Sequence[str]) -> float:
    return sum(len(text.split()) for text in texts) / max(1, len(texts))
