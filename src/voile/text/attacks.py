"""Attacks by name, and what each of them sees of a release."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from voile.attackers.attribution import Attribution
from voile.attackers.attribution_embedding import NearestEmbedding, NearestLatent
from voile.attackers.attribution_likelihood import Likelihood
from voile.attackers.attribution_shape import Shape
from voile.attackers.attribution_surface import Overlap, TfIdf
from voile.core.randomness import Generator
from voile.errors import InvalidInput
from voile.files import make_private_folder
from voile.text.models import language_named
from voile.text.prepared import Prepared

ON_TEXTS = ("embedding", "tf-idf", "overlap", "shape")
"""Attacks that read what was released, whoever wrote it."""
ATTACKS = (*ON_TEXTS, "likelihood", "internal")
"""And those that know the mechanism: by its law, or by the noisy vector inside it."""


def check_attacks(names: Sequence[str], known: Sequence[str] = ATTACKS) -> None:
    """Only names that there are."""
    strange = [name for name in names if name not in known]
    if strange:
        raise InvalidInput(f"attacks must be among {', '.join(known)}; got {strange[0]!r}")


def attacks_on_texts(names: Sequence[str], encode: Any) -> list[Attribution]:
    """The attacks of these names that read texts."""
    known: dict[str, Attribution] = {"tf-idf": TfIdf(), "overlap": Overlap(), "shape": Shape()}
    if encode is not None:
        known["embedding"] = NearestEmbedding(encode)
    return [known[name] for name in names if name in ON_TEXTS]


def judge(
    model: str,
    *,
    url: str | None = None,
    key: str | None = None,
    originals_leave_this_machine: bool = False,
    kept: Path | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Attribution:
    """A language model that is asked: behind a URL, or in this process by its name."""
    from voile.attackers.endpoint import endpoint
    from voile.attackers.llm_judge import LlmJudge, in_process

    if url is None:
        ask = in_process(language_named(model))
    else:
        leave = originals_leave_this_machine
        ask = endpoint(url, model=model, key=key, originals_leave_this_machine=leave)
    if kept:
        make_private_folder(kept.parent)
    return LlmJudge(
        ask,
        kept=kept,
        whom=f"{model} at {url or 'this process'}",
        progress=lambda done, of: progress(f"{done:,} of {of:,} questions answered by the judge"),
    )


def attacks_inside(
    names: Sequence[str],
    prepared: Prepared,
    *,
    sources: Sequence[str],
    drawn: Sequence[Any],
    rng: Generator,
) -> Iterator[tuple[Attribution, Any]]:
    """The attacks that know the mechanism, where they apply, each with what it sees.

    The likelihood attack sees what was drawn. The internal one sees the noisy vector of each
    source, drawn for it: no text is written from it.
    """
    if "likelihood" in names and prepared.log_likelihood is not None:
        yield Likelihood(prepared.log_likelihood, batch=10**7), drawn
    if "internal" in names and prepared.inside is not None:
        vectors = prepared.inside.noisy_latent(sources, rng)
        yield NearestLatent(prepared.inside.latent), vectors
