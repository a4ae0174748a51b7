"""How a released file was made: by its guarantee file, or by its reader's word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from voile.errors import BadFile, InvalidInput, require_epsilon
from voile.files.source import Source
from voile.jobs.guarantee_file import (
    check_content,
    fields_of,
    guarantee_beside,
    guarantee_record,
    is_release_of,
)
from voile.jobs.settings import EpsilonToldOf, GuaranteeFile
from voile.labels.choice import recipe_of
from voile.labels.law import Draws, Law
from voile.labels.mechanisms import MECHANISMS
from voile.labels.protection import Protection
from voile.labels.recipe_file import recipe_digest, recipe_text
from voile.labels.recipes import Recipe
from voile.labels.released import LabelBounds, ProtectedLabels
from voile.options import Data, Option, Options

NEAR = 1e-6
"""How far, as a part of it, a bound may be from the one stated: the channels are built anew."""


@dataclass(frozen=True)
class _Record:
    """The fields of a guarantee file that are read, as they stand there."""

    draws: Any
    epsilon: Any
    learned_from_private: Any
    output_sha256: Any


@dataclass(frozen=True, eq=False)
class Made:
    """A release's recipe and law, and whether its guarantee file vouches for them."""

    recipe: Recipe
    protection: Protection
    vouched: bool

    @property
    def word(self) -> str:
        """On whose word figures from this release stand."""
        if self.vouched:
            return (
                "ε, mechanism, share and recipe are those of the release's guarantee file, which "
                "was written for this very release."
            )
        return (
            "ε, mechanism, share and recipe are the reader's word, since no guarantee file was "
            "read: if they are not the release's own, neither are these figures."
        )


ReleasedFile = Annotated[Data, Option("What `voile labels protect` wrote.", reads="private")]


@dataclass(frozen=True)
class MadeBy(Options):
    """The mechanism and its recipe, as given to `voile labels protect`.

    The guarantee file beside a release says all of it but the recipe itself, whose hash it holds.
    What is said beside it must agree. Without such a file all of it is the reader's word.
    """

    guarantee: GuaranteeFile = None
    recipe: Annotated[
        Data,
        Option("The recipe; else the one beside the release (FILE.recipe.json).", reads="public"),
    ] = None
    mechanism: Annotated[
        str | None,
        Option(
            "Without a guarantee file: by which it was released, sample unless said.", shown=True
        ),
    ] = None
    epsilon: EpsilonToldOf = None
    label_share: Annotated[
        float | None,
        Option("Without a guarantee file: as given to the release, for cf and ldp.", "How strong"),
    ] = None
    prior: Annotated[
        tuple[float, ...],
        Option("Without a guarantee file: as given to the release, for prior.", "How strong"),
    ] = ()

    def of(self, source: Source) -> Made:
        """The recipe, and the law that drew what is in a source."""
        given = self
        if self.epsilon is not None:
            given = replace(given, epsilon=require_epsilon(self.epsilon))
        if self.mechanism is not None:
            given = replace(given, mechanism=MECHANISMS.find(self.mechanism).name)
        guarantee = guarantee_beside(source) if self.guarantee is None else self.guarantee
        if guarantee is None:
            return given._by_word(source)
        record = _record_of(guarantee_record(guarantee))
        told = _draws_of(record.draws)
        check_content(source, record.output_sha256, what="records")
        recipe = given._recipe(source)
        if recipe_digest(recipe) != told.recipe_sha256:
            raise InvalidInput(
                "the recipe must be the one that the release was drawn by, and its hash is "
                "another; give the one that was given to `voile labels protect`, or that lies "
                "beside the release"
            )
        given._agree(told, recipe)
        recipe = replace(recipe, learned=recipe.learned or bool(record.learned_from_private))
        law = Law(recipe_text(recipe), told.epsilon, told.mechanism, told.prior, told.label_share)
        protection = law.protection()
        _check_bounds(protection, record.epsilon)
        return Made(recipe, protection, vouched=True)

    def _by_word(self, source: Source) -> Made:
        if self.epsilon is None:
            raise InvalidInput(
                "--epsilon must be given: no guarantee file lies beside the release "
                "(FILE.guarantee.json), which would say it; --guarantee names another"
            )
        recipe = self._recipe(source)
        name = self.mechanism or "sample"
        law = Law(recipe_text(recipe), self.epsilon, name, tuple(self.prior), self.label_share)
        return Made(recipe, law.protection(), vouched=False)

    def _recipe(self, source: Source) -> Recipe:
        """The recipe that was given, of the release in memory, or that lies beside the file."""
        if self.recipe is not None:
            return recipe_of(self.recipe)
        if isinstance(self.guarantee, ProtectedLabels):
            return self.guarantee.by
        if not source.in_memory:
            beside = source.location.beside(source.location.name + ".recipe.json")
            if beside.exists():
                return recipe_of(beside)
        raise InvalidInput(
            "a release is read with its --recipe: the one given to `voile labels protect`, or the "
            "file that lies beside it (FILE.recipe.json)"
        )

    def _agree(self, told: Draws, recipe: Recipe) -> None:
        """Refuse what was said if the guarantee file says otherwise."""
        share = recipe.shares[-1] if told.label_share is None else told.label_share
        pairs = (
            ("--mechanism", self.mechanism, told.mechanism),
            ("--epsilon", self.epsilon, told.epsilon),
            ("--label-share", self.label_share, share),
            ("--prior", tuple(self.prior) or None, told.prior),
        )
        for option, said, written in pairs:
            if said is not None and said != written:
                raise InvalidInput(
                    f"{option} must be what the release's guarantee file says, {written!r}, got "
                    f"{said!r}; leave it out"
                )


def _record_of(record: Mapping[str, Any]) -> _Record:
    if not is_release_of("labels", record):
        raise InvalidInput("the guarantee file must be that of released labelled records")
    try:
        return fields_of(_Record, record)
    except KeyError as missing:
        raise BadFile(f"the guarantee file must have the field {missing.args[0]}") from None


def _draws_of(given: Any) -> Draws:
    """What a guarantee file says of the draws; refused where it is nothing that protect writes."""
    try:
        found = fields_of(Draws, given)
        return Draws(
            mechanism=MECHANISMS.find(str(found.mechanism)).name,
            epsilon=require_epsilon(float(found.epsilon)),
            label_share=None if found.label_share is None else float(found.label_share),
            prior=tuple(map(float, found.prior)),
            recipe_sha256=str(found.recipe_sha256),
        )
    except KeyError as missing:
        raise BadFile(f"the guarantee file must have the field {missing.args[0]}") from None
    except (TypeError, ValueError, AttributeError, OverflowError):
        raise BadFile("the guarantee file has draws that labels protect does not write") from None


def _check_bounds(protection: Protection, given: Any) -> None:
    """Refuse a law that is not the one whose bounds were stated, as another version's may be."""
    try:
        told = fields_of(LabelBounds, given)
        pairs = zip(vars(LabelBounds.of(protection)).values(), vars(told).values(), strict=True)
        near = all(
            stated is None or (built is not None and abs(built - stated) <= NEAR * stated)
            for built, stated in pairs
        )
    except (KeyError, TypeError, AttributeError):
        raise BadFile("the guarantee file has bounds that labels protect does not write") from None
    if not near:
        raise InvalidInput(
            "recipe and draws must give the bounds that the guarantee file states, and they give "
            "others: it was changed, or another version of voile drew the release"
        )


BESIDE = MadeBy()
