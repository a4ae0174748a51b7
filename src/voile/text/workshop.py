"""Rewriters by name, for comparing them: word mechanisms and neural ones alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput, require
from voile.text.models import PACKAGED, language_named
from voile.text.prepared import (
    Prepared,
    prepared_masked,
    prepared_prompted,
    prepared_whole,
    prepared_words,
)

WORD_LEVEL = {
    "tem": "tem", "em": "exponential", "exponential": "exponential", "madlib": "madlib",
    "mahalanobis": "mahalanobis", "vickrey": "vickrey", "custext": "custext",
    "santext": "santext", "santext+": "santext+",
}  # fmt: skip
BART = ("dp-bart", "dp-bart-pr", "dp-bart-pr+")
NEURAL = ("adept", *BART, "dp-paraphrase", "dp-prompt", "dp-mlm", "dp-mlm+", "dp-st")
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
    batch: int = 64
    """Rows that a prompted rewriter's model reads at once; more is quicker and takes memory."""
    kept: Path | None = None
    """A folder for the vectors of the sentence encoder, so that none is made twice."""
    _loaded: dict[str, Any] = field(default_factory=dict, repr=False)

    def prepare(self, name: str, epsilon: float) -> Prepared:
        """The named rewriter at this epsilon; its model is loaded or trained once."""
        if name in WORD_LEVEL:
            return self._word(WORD_LEVEL[name], epsilon)
        require(name in NEURAL, "mechanism", "one of " + ", ".join(NAMES), name)
        if name not in self._loaded:
            self._loaded[name] = self._make(name)
        mechanism = self._loaded[name].at(epsilon)
        if name == "dp-bart-pr+":
            from voile.text.models import used_to_noise

            mechanism = used_to_noise(
                mechanism, self._public(name), fresh="dp-bart" not in self.models
            )
        if name in ("dp-prompt", "dp-paraphrase"):
            return prepared_prompted(mechanism)
        if name.startswith("dp-mlm"):
            return prepared_masked(mechanism, known=name == "dp-mlm" and self.fidelity == "sound")
        return prepared_whole(mechanism)

    def _word(self, name: str, epsilon: float) -> Prepared:
        from voile.text.settings import TextRecipe, build_protector

        recipe = TextRecipe(
            source="", column="", epsilon=epsilon, mechanism=name, top=self.top, identifiers=False
        )
        protector = build_protector(recipe)
        protector.release(["a word"], seeded_rng(0))  # compiles: not to be counted as releasing
        return prepared_words(protector)

    def _make(self, name: str) -> Any:
        if name in ("dp-prompt", "dp-paraphrase"):
            return self._prompted(name)
        if name.startswith("dp-mlm"):
            return self._masked(plus=name.endswith("+"))
        if name == "adept":
            return self._adept()
        return self._bart(pruned=name != "dp-bart") if name in BART else self._triples()

    def _language(self, name: str) -> Any:
        return language_named(self.models.get(name, PACKAGED))

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
                batch=self.batch,
                question=chat_question(language),
            )
        else:
            made = dp_paraphrase(
                language,
                epsilon=1.0,
                max_new_tokens=self.max_new_tokens,
                fidelity=self.fidelity,
                batch=self.batch,
                examples=() if name in self.models else PARAPHRASES,
            )
        return made.bounded_by(BOUND_PROMPTS)

    def _masked(self, *, plus: bool) -> Any:
        from voile.rewriting.dp_mlm import ROBERTA_BOUNDS, dp_mlm
        from voile.rewriting.models import load_model
        from voile.text.models import trained_masks

        given = self.models.get("dp-mlm")
        language = load_model(given) if given else trained_masks(self._public("dp-mlm"))
        return dp_mlm(
            language, epsilon=1.0, bounds=ROBERTA_BOUNDS, plus=plus, fidelity=self.fidelity
        )

    def _adept(self) -> Any:
        from voile.rewriting.adept import Autoencoder, adept
        from voile.text.models import trained_autoencoder

        given = self.models.get("adept")
        model = Autoencoder.load(given) if given else trained_autoencoder(self._public("adept"))
        return adept(model, epsilon=1.0, fidelity=self.fidelity)

    def _bart(self, *, pruned: bool) -> Any:
        from voile.rewriting.dp_bart import dp_bart
        from voile.rewriting.models import load_model
        from voile.text.models import pruned_bart, trained_bart

        given = self.models.get("dp-bart")
        language = load_model(given) if given else trained_bart(self._public("dp-bart"))
        made = dp_bart(language, epsilon=1.0, fidelity=self.fidelity)
        return pruned_bart(made, self._public("dp-bart-pr"), fresh=not given) if pruned else made

    def _triples(self) -> Any:
        from voile.rewriting.dp_st import dp_st, model_writer, triple_corpus
        from voile.rewriting.triples import triple_extractor

        texts, extract, encode = self._public("dp-st"), triple_extractor(), self.encoder
        triples = [triple for found in extract(list(texts)[:3000]) for triple in found]
        clusters = max(2, min(500, len(set(triples)) // 20))
        corpus = triple_corpus(triples, encode, clusters=clusters)
        write = model_writer(self._language("dp-st")) if "dp-st" in self.models else None
        return dp_st(
            corpus,
            extract=extract,
            encode=encode,
            write=write,
            epsilon=1.0,
            fidelity=self.fidelity,
        )

    def empty(self) -> Workshop:
        """The same workshop before anything was loaded, so that it can travel."""
        return replace(self, _loaded={})

    @cached_property
    def encoder(self) -> Any:
        """The sentence encoder that attacks and candidate sets share."""
        from voile.attackers.sentence_encoder import sentence_encoder

        return sentence_encoder(self.models.get("encoder"), kept=self.kept)

    def _public(self, name: str) -> Sequence[str]:
        if not self.public:
            raise InvalidInput(
                f"{name} is trained here and needs public texts, such as --public FILE with one "
                f"text a line" + ("" if name == "dp-st" else f", or a model: --model {name}=FOLDER")
            )
        return self.public


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
