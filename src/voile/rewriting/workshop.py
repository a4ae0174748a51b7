"""Where neural rewriters are made, by name: models by hub id or folder, or trained here."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from voile.errors import InvalidInput
from voile.rewriting.names import law_of
from voile.rewriting.prepared import (
    Prepared,
    prepared_masked,
    prepared_prompted,
    prepared_whole,
)
from voile.rewriting.trained_here import PACKAGED, language_named

PROMPTED = ("dp-prompt", "dp-paraphrase")
MASKED = ("dp-mlm", "dp-mlm-plus")
WITH_MODELS = ("adept", "dp-bart", "dp-mlm", "dp-paraphrase", "dp-prompt", "dp-st")
"""Rewriters that a model can be named for; the variants of one share it."""

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
    batch: int = 64
    """Rows that a prompted rewriter's model reads at once; more is quicker and takes memory."""
    _loaded: dict[str, Any] = field(default_factory=dict, repr=False)

    def prepare(self, name: str, epsilon: float, *, encoder: Callable[[], Any]) -> Prepared:
        """The named rewriter at this epsilon; its model is loaded or trained once.

        `encoder` gives a sentence encoder, for rewriters that need one.
        """
        mechanism = self._once(name, lambda: self._make(name, encoder)).at(epsilon)
        if name == "dp-bart-pr-plus":
            from voile.rewriting.trained_here import used_to_noise

            fresh = "dp-bart" not in self.models
            mechanism = used_to_noise(mechanism, self._public(name), fresh=fresh)
        kind, _ = law_of(name)
        if kind in PROMPTED:
            return prepared_prompted(mechanism)
        if kind in MASKED:
            return prepared_masked(mechanism, known=kind == "dp-mlm" and self.fidelity == "sound")
        return prepared_whole(mechanism)

    def _once(self, what: str, make: Callable[[], Any]) -> Any:
        """What was made or loaded before, or is now."""
        if what not in self._loaded:
            self._loaded[what] = make()
        return self._loaded[what]

    def _make(self, name: str, encoder: Callable[[], Any]) -> Any:
        kind, law = law_of(name)
        if kind in PROMPTED:
            return self._prompted(kind, law)
        if kind in MASKED:
            return self._masked(law, plus=kind == "dp-mlm-plus")
        if kind == "adept":
            return self._adept()
        if kind == "dp-st":
            return self._triples(encoder(), law)
        return self._bart(pruned=kind != "dp-bart")

    def _language(self, name: str) -> Any:
        model = self.models.get(name, PACKAGED)
        return self._once(f"model {model}", lambda: language_named(model))

    def _prompted(self, name: str, law: Any) -> Any:
        from voile.rewriting.dp_paraphrase import dp_paraphrase
        from voile.rewriting.dp_prompt import chat_question, dp_prompt

        language = self._language(name)
        if name == "dp-prompt":
            made = dp_prompt(
                language,
                epsilon=1.0,
                max_new_tokens=self.max_new_tokens,
                fidelity=self.fidelity,
                law=law,
                batch=self.batch,
                question=chat_question(language),
            )
        else:
            made = dp_paraphrase(
                language,
                epsilon=1.0,
                max_new_tokens=self.max_new_tokens,
                fidelity=self.fidelity,
                law=law,
                batch=self.batch,
                examples=() if name in self.models else PARAPHRASES,
            )
        return made.bounded_by(BOUND_PROMPTS)

    def _masked(self, law: Any, *, plus: bool) -> Any:
        from voile.rewriting.dp_mlm import ROBERTA_BOUNDS, dp_mlm
        from voile.rewriting.models import load_model
        from voile.rewriting.trained_here import trained_masks

        given = self.models.get("dp-mlm")
        language = self._once(
            "model for masks",
            lambda: load_model(given) if given else trained_masks(self._public("dp-mlm")),
        )
        return dp_mlm(
            language,
            epsilon=1.0,
            bounds=ROBERTA_BOUNDS,
            plus=plus,
            fidelity=self.fidelity,
            law=law,
        )

    def _adept(self) -> Any:
        from voile.rewriting.adept import Autoencoder, adept
        from voile.rewriting.trained_here import trained_autoencoder

        given = self.models.get("adept")
        model = Autoencoder.load(given) if given else trained_autoencoder(self._public("adept"))
        return adept(model, epsilon=1.0, fidelity=self.fidelity)

    def _bart(self, *, pruned: bool) -> Any:
        from voile.rewriting.dp_bart import dp_bart
        from voile.rewriting.models import load_model
        from voile.rewriting.trained_here import pruned_bart, trained_bart

        given = self.models.get("dp-bart")
        language = load_model(given) if given else trained_bart(self._public("dp-bart"))
        made = dp_bart(language, epsilon=1.0, fidelity=self.fidelity)
        return pruned_bart(made, self._public("dp-bart-pr"), fresh=not given) if pruned else made

    def _triples(self, encode: Any, law: Any) -> Any:
        from voile.rewriting.dp_st import dp_st, triple_corpus
        from voile.rewriting.dp_st_writing import GuidedWriter, model_writer
        from voile.rewriting.triples import triple_extractor

        texts, extract = self._public("dp-st"), triple_extractor()
        triples = [triple for found in extract(list(texts)[:3000]) for triple in found]
        clusters = max(2, min(500, len(set(triples)) // 20))
        corpus = triple_corpus(triples, encode, clusters=clusters)
        write: Any = model_writer(self._language("dp-st")) if "dp-st" in self.models else None
        if law == "public":
            write = GuidedWriter(self._language("dp-st"), self.max_new_tokens)
        return dp_st(
            corpus,
            extract=extract,
            encode=encode,
            write=write,
            epsilon=1.0,
            fidelity=self.fidelity,
            law=law,
        )

    def identity(self) -> str:
        """Everything here that a rewriter's law depends on."""
        public = hashlib.sha256("\0".join(self.public).encode()).hexdigest()
        models = repr(sorted(self.models.items()))
        return "|".join([str(self.fidelity), models, public, str(self.max_new_tokens)])

    def empty(self) -> Workshop:
        """The same workshop before anything was loaded, so that it can travel."""
        return replace(self, _loaded={})

    def _public(self, name: str) -> Sequence[str]:
        if self.public:
            return self.public
        own = name in WITH_MODELS and name != "dp-st"
        raise InvalidInput(
            f"{name} is trained here and needs public texts, such as --public FILE with one text "
            "a line" + (f", or a model: --model {name}=FOLDER" if own else "")
        )
