"""Writing a text from triples: plain sentences, a model, or a model that also reads the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from voile.core.arrays import Floats
from voile.core.randomness import Generator
from voile.rewriting.generation import generate, likeliest, log_likelihood
from voile.rewriting.language_model import LanguageModel, Tokens
from voile.rewriting.prompted import check_length
from voile.rewriting.public_law import BandSampler
from voile.rewriting.triples import Triple

Writer = Callable[[Sequence[Sequence[Triple]]], Sequence[str]]
"""Public triples of each text in, a text for each out."""

ASKED = (
    "Write one short, natural and grammatical text from these facts. Use only the facts, "
    "leave out what does not fit, and give no explanation.\nFacts: "
)
BESIDE = "\nSay it as close to this as you can: "


def plain_sentences(drawn: Sequence[Sequence[Triple]]) -> list[str]:
    """Triples as short sentences; needs no model.

    >>> plain_sentences([[("a man", "goes to", "boston")]])
    ['a man goes to boston.']
    """
    return [" ".join(f"{' '.join(triple)}." for triple in triples) for triples in drawn]


def model_writer(language: LanguageModel, *, max_new_tokens: int = 48, batch: int = 32) -> Writer:
    """Let an instruction-following model write one natural text from the triples of each.

    The likeliest text, without a draw; equal triples are written once.
    """

    def write(drawn: Sequence[Sequence[Triple]]) -> list[str]:
        prompts = [_question(language, ASKED + _facts(triples)) for triples in drawn]
        tokens = likeliest(language, prompts, length=max_new_tokens, batch=batch)
        return _decoded(language, tokens)

    return write


@dataclass(frozen=True, eq=False)
class GuidedWriter:
    """A model that writes from public triples with an eye on the text, each token under ε/n.

    The public law of a token is what the model says to the same question with the drawn triples
    and no text (they are released, or could be), and `BandSampler` draws. At most `most` tokens,
    the end among them, so a text costs `most` times what a token does; together ε.
    """

    language: LanguageModel
    most: int = 32
    epsilon: float = 1.0
    batch: int = 32

    def __post_init__(self) -> None:
        check_length(self.most)

    def at(self, epsilon: float) -> GuidedWriter:
        """The same at another epsilon for the whole of a text."""
        return replace(self, epsilon=epsilon)

    @property
    def sampler(self) -> BandSampler:
        """The law of one token."""
        return BandSampler(self.epsilon / self.most)

    @property
    def stated(self) -> float:
        """What writing one text costs at most."""
        return self.most * self.sampler.stated(self.language.vocabulary)

    def write(
        self, drawn: Sequence[Sequence[Triple]], texts: Sequence[str], rng: Generator
    ) -> list[str]:
        """A text for each, from its public triples and itself."""
        prompts, public = self._prompts(drawn, texts)
        lengths = [self.most] * len(prompts)
        tokens = generate(
            self.language,
            prompts,
            self.sampler,
            lengths=lengths,
            rng=rng,
            public=public,
            batch=self.batch,
        )
        return _decoded(self.language, tokens)

    def log_likelihood(
        self,
        drawn: Sequence[Sequence[Triple]],
        texts: Sequence[str],
        written: Sequence[Tokens],
    ) -> Floats:
        """ln of the probability of writing exactly these tokens, given the triples."""  # noqa: D403
        prompts, public = self._prompts(drawn, texts)
        return log_likelihood(
            self.language, prompts, written, self.sampler, public=public, batch=self.batch
        )

    def _prompts(
        self, drawn: Sequence[Sequence[Triple]], texts: Sequence[str]
    ) -> tuple[list[Tokens], list[Tokens]]:
        facts = [ASKED + _facts(triples) + BESIDE for triples in drawn]
        both = [_question(self.language, f + t) for f, t in zip(facts, texts, strict=True)]
        return both, [_question(self.language, f) for f in facts]


def _facts(triples: Sequence[Triple]) -> str:
    return "; ".join(" | ".join(triple) for triple in triples)


def _question(language: LanguageModel, asked: str) -> Tokens:
    """What is asked in the words of the model's own chat template, if it has one."""
    tokenizer = language.tokenizer
    if getattr(tokenizer, "chat_template", None):
        chat = [{"role": "user", "content": asked}]
        asked = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
    found = tokenizer(asked, add_special_tokens=False)["input_ids"]
    return tuple(found[-language.longest :]) or (language.end,)


def _decoded(language: LanguageModel, tokens: Sequence[Tokens]) -> list[str]:
    return [str(language.tokenizer.decode(t, skip_special_tokens=True)).strip() for t in tokens]
