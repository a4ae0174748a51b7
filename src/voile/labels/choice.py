"""Which recipe a release of labelled records uses: a public one, or another by a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from voile.core.randomness import Generator
from voile.errors import BadFile, InvalidInput, require_epsilon
from voile.files.disk import LocalFile
from voile.jobs import Location, Source, location
from voile.labels._recipe import FEATURES_TOO, drafted_recipe
from voile.labels.columns import LEVELS
from voile.labels.reading import file_digest, read_labelled
from voile.labels.recipe_file import load_recipe, recipe_from
from voile.labels.recipes import Recipe, label_recipe
from voile.labels.table import OnError

MECHANISMS = ("rr", "prior", "cf", "ldp")


@dataclass(frozen=True)
class LabelChoice:
    """What a user says about mechanism and recipe; None is not said.

    Ranges, names of categories and classes, and typical records stand in the output as they stand
    in the recipe. So the recipe is a given one, or the classes are; `learn_from_private` is the
    word for the risk of taking them from the private file itself.
    """

    label: str
    mechanism: str
    epsilon: float
    prior: Sequence[float] = ()
    recipe: str | Path | None = None
    classes: Sequence[str] = ()
    learn_from_private: bool = False
    label_share: float | None = None
    levels: int | None = None
    cells: int | None = None

    def check(self) -> None:
        """Refuse what does not go together: nothing that was said is ignored."""
        require_epsilon(self.epsilon)
        if self.mechanism not in MECHANISMS:
            raise InvalidInput(
                f"mechanism must be one of {', '.join(MECHANISMS)}, got {self.mechanism!r}"
            )
        features, learned = self.mechanism in FEATURES_TOO, self.learn_from_private
        given = self.recipe is not None
        fixed = (
            "must not stand beside --recipe, which fixes it; make another by `voile labels recipe`"
        )
        rules = (
            (self.prior and self.mechanism != "prior", "--prior", "must go with --mechanism prior"),
            (self.cells and self.mechanism != "cf", "--cells", "must go with --mechanism cf"),
            (self.levels and not features, "--levels", "must go with --mechanism cf or ldp"),
            (self.label_share is not None and not features, "--label-share",
             "must go with --mechanism cf or ldp: rr and prior spend all of ε on the label"),
            (self.levels and given, "--levels", fixed),
            (self.cells and given, "--cells", fixed),
            (self.classes and given, "--classes", fixed),
            (self.classes and learned, "--classes", "must not stand beside --learn-from-private"),
            (self.classes and features, "--classes",
             "must go with --mechanism rr or prior; for cf and ldp `voile labels recipe` takes it"),
            ((self.levels or self.cells) and not learned, "--levels and --cells",
             "must go where a recipe is made: give them to `voile labels recipe`"),
        )  # fmt: skip
        for broken, option, must in rules:
            if broken:
                raise InvalidInput(f"{option} {must}")
        if self.mechanism == "prior" and not self.prior:
            raise InvalidInput(
                "randomised response with a prior must be given one: the public probabilities of "
                "the classes in the recipe's order; use --prior"
            )


def chosen_recipe(
    choice: LabelChoice,
    source: Source,
    *,
    beside: Location,
    interrupted: bool,
    leave: tuple[str, ...],
    on_error: OnError,
    rng: Generator,
) -> tuple[Recipe, bool]:
    """The recipe of a release, and whether it is new: then it is to be written beside the output.

    A given one, or that of the interrupted job, or one from the names of the classes, or one
    learned from the private file, without the columns to `leave`. Otherwise a refusal that says
    what can be done.
    """
    choice.check()
    if choice.recipe is not None or (interrupted and beside.exists()):
        place = beside if choice.recipe is None else location(choice.recipe)
        found = _public(_recipe_at(place), source, private=choice.learn_from_private)
        if found.label != choice.label:
            raise InvalidInput(f"the recipe is for the label {found.label!r}, got {choice.label!r}")
        return found, False
    if choice.classes:
        return label_recipe(choice.label, choice.classes), True
    if choice.learn_from_private:
        gaps: OnError = on_error if choice.mechanism in FEATURES_TOO else "mask"  # features pass
        table = read_labelled(source.location, label=choice.label, on_error=gaps, drop=leave)
        return drafted_recipe(
            table, rng, mechanism=choice.mechanism, levels=choice.levels or LEVELS,
            cells=choice.cells, private=True,
        ), True  # fmt: skip
    raise InvalidInput(_refusal(choice, beside))


def _refusal(choice: LabelChoice, beside: Location) -> str:
    found = f" (one lies at {beside.name})" if beside.exists() else ""
    ways = (
        f"give a --recipe{found}, made from public records by `voile labels recipe PUBLIC.csv`"
        if choice.mechanism in FEATURES_TOO
        else f"name them with --classes a,b,c, or give a --recipe{found}"
    )
    what = "ranges, categories and" if choice.mechanism in FEATURES_TOO else "the"
    return (
        f"{what} classes must be public, since the output shows them: {ways}; "
        "--learn-from-private takes them from the private file, and the guarantee is then "
        "claimed, not certified"
    )


def _public(recipe: Recipe, source: Source, *, private: bool) -> Recipe:
    """The recipe if it is public, or if a private one was asked for in a word."""
    same = bool(recipe.made_from) and file_digest(source.location) == recipe.made_from
    if (recipe.learned or same) and not private:
        what = "was made from this very file" if same else "was learned from private records"
        raise InvalidInput(
            f"the recipe must be public, since the output shows it, and it {what}; make one from "
            "public records with `voile labels recipe`, or say --learn-from-private (the guarantee "
            "is then claimed, not certified)"
        )
    return replace(recipe, learned=recipe.learned or same)


def _recipe_at(place: Location) -> Recipe:
    if isinstance(place, LocalFile):
        return load_recipe(place.path)
    try:
        with place.open() as file:
            return recipe_from(file.read().decode("utf-8"))
    except UnicodeDecodeError:
        raise BadFile(f"{place.name} is not a recipe: it is not UTF-8 text") from None
    except OSError as problem:
        raise InvalidInput(f"cannot read {place.name}: {problem.strerror or problem}") from None
