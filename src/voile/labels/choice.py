"""Which recipe a release of labelled records uses: a public one, or another by a word."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

from voile.core.randomness import Generator
from voile.errors import BadFile, InvalidInput, require_epsilon
from voile.files.disk import LocalFile
from voile.files.locations import Location, location
from voile.files.rows import OnError
from voile.files.source import Source
from voile.labels._recipe import FEATURES_TOO, MadeRecipe, drafted_recipe
from voile.labels.columns import LEVELS
from voile.labels.mechanisms import MECHANISMS
from voile.labels.private_learning import Price, learn_privately
from voile.labels.reading import one_record_each, table_from
from voile.labels.recipe_file import load_recipe, recipe_from
from voile.labels.recipes import Recipe, binned_recipe, label_recipe
from voile.options import Data, Option, Options


@dataclass(frozen=True)
class LabelChoice(Options):
    """What a user says about mechanism and recipe; None is not said.

    Ranges, names of categories and classes, and typical records stand in the output as they stand
    in the recipe. So the recipe is a given one, or the classes are; `learn_from_private` is the
    word for the risk of taking them from the private file itself.
    """

    mechanism: Annotated[
        str,
        Option(
            "rr: noise on the label, features clear. prior: the same among likely labels. "
            "cf: label and what features say of it. ldp: the whole record. "
            "sample: one random column with the label, to learn from.",
            "How strong",
            shown=True,
        ),
    ] = "cf"
    recipe: Annotated[
        Data,
        Option("For cf, ldp and sample: a public recipe (`voile labels recipe`).", reads="public"),
    ] = None
    classes: Annotated[
        tuple[str, ...],
        Option(
            'For rr and prior: the names of the classes, a,b,c; with --edges "(missing)".',
            shown=True,
        ),
    ] = ()
    learn_from_private: Annotated[
        bool,
        Option(
            "RISKY: take ranges, names and cells from this file; the output shows them, and the "
            "guarantee is claimed only."
        ),
    ] = False
    learn_epsilon: Annotated[
        float | None,
        Option(
            "For rr and ldp: learn ranges and names from this file under differential privacy, at "
            "this epsilon beside the release's own; with a ledger no row may be left out."
        ),
    ] = None
    learn_delta: Annotated[
        float, Option("With --learn-epsilon: the chance that a rare name shows.")
    ] = 1e-6
    prior: Annotated[
        tuple[float, ...],
        Option("For prior: public probabilities of the classes, in their order.", "How strong"),
    ] = ()
    label_share: Annotated[
        float | None,
        Option("For cf and ldp: the label's own part of epsilon; else the recipe's.", "How strong"),
    ] = None
    cells: Annotated[
        int | None, Option("For cf with --learn-from-private: how many cells.", "How strong")
    ] = None
    records: Annotated[
        int | None,
        Option(
            "For sample: about how many records there are (sets how coarse); else counted.",
            "How strong",
        ),
    ] = None
    levels: Annotated[
        int | None,
        Option("With --learn-from-private: levels of a number (16).", "How strong"),
    ] = None

    @property
    def changes_features(self) -> bool:
        """Whether features are drawn as well."""
        return self.mechanism in FEATURES_TOO

    def checked(self, epsilon: float) -> LabelChoice:
        """The same, if it goes together: nothing that was said is ignored."""
        require_epsilon(epsilon)
        return replace(self, mechanism=MECHANISMS.find(self.mechanism).name)._held_to_rules()

    def _held_to_rules(self) -> LabelChoice:
        for broken, option, must in self._rules():
            if broken:
                raise InvalidInput(f"{option} {must}")
        if self.mechanism == "prior" and not self.prior:
            raise InvalidInput(
                "randomised response with a prior must be given one: the public probabilities of "
                "the classes in the recipe's order; use --prior"
            )
        return self

    def _rules(self) -> tuple[tuple[bool, str, str], ...]:
        """Whether each rule is broken, by which option, and what must hold."""
        features, learned = self.changes_features, self.learn_from_private
        given = self.recipe is not None
        prior, classes = bool(self.prior), bool(self.classes)
        levels, cells = self.levels is not None, self.cells is not None
        share = self.label_share is not None
        charged = self.learn_epsilon is not None
        fixed = (
            "must not stand beside --recipe, which fixes it; make another by `voile labels recipe`"
        )
        both = "must go with --mechanism cf or ldp"
        sampled = self.mechanism == "sample"
        return (
            (
                charged and self.mechanism not in ("rr", "ldp"),
                "--learn-epsilon",
                "must go with --mechanism rr or ldp: the cells of cf need public records, and "
                "prior is given its classes",
            ),
            (charged and given, "--learn-epsilon", fixed),
            (charged and learned, "--learn-epsilon", "must not stand beside --learn-from-private"),
            (
                charged and classes and not features,
                "--learn-epsilon",
                "must have something to learn: rr with --classes needs nothing",
            ),
            (prior and self.mechanism != "prior", "--prior", "must go with --mechanism prior"),
            (cells and self.mechanism != "cf", "--cells", "must go with --mechanism cf"),
            (levels and not features, "--levels", both),
            (
                self.records is not None and not sampled,
                "--records",
                "must go with --mechanism sample",
            ),
            (sampled and share, "--label-share", f"{both}: sample gives all of ε to both"),
            (
                share and not features,
                "--label-share",
                f"{both}: rr and prior spend all of ε on the label",
            ),
            (levels and given, "--levels", fixed),
            (cells and given, "--cells", fixed),
            (classes and given, "--classes", fixed),
            (classes and learned, "--classes", "must not stand beside --learn-from-private"),
            (
                classes and features and not charged,
                "--classes",
                "must go with --mechanism rr or prior; for cf and ldp `voile labels recipe` takes "
                "it",
            ),
            (
                (levels or cells) and not learned,
                "--levels and --cells",
                "must go where a recipe is made: give them to `voile labels recipe`",
            ),
        )


def chosen_recipe(
    choice: LabelChoice,
    source: Source,
    *,
    label: str,
    epsilon: float,
    beside: Location | None,
    kept: Recipe | None,
    leave: tuple[str, ...],
    on_error: OnError,
    rng: Generator,
    person: str | None = None,
    edges: tuple[float, ...] = (),
) -> tuple[Recipe, bool]:
    """The recipe of a release, and whether it is new: then it is to be written beside the output.

    A given one, or that which the interrupted job `kept`, or one from the names of the
    classes or the edges of a number's bins, or one learned from the private file, without the
    columns to `leave`: under differential privacy, from one record of each `person` if there are
    any, or as it is. Otherwise a refusal that says what can be done.
    """
    given = kept if choice.recipe is None else choice.recipe
    if given is not None:
        found = _public(recipe_of(given), source, private=choice.learn_from_private)
        if found.label != label:
            raise InvalidInput(f"the recipe is for the label {found.label!r}, got {label!r}")
        return found, given is kept
    if choice.learn_epsilon is not None:
        price = Price(require_epsilon(choice.learn_epsilon), choice.learn_delta)
        return _learned(choice, price, source, label, leave, on_error, rng, person), True
    if edges:
        return binned_recipe(label, edges, missing=bool(choice.classes)), True
    if choice.classes:
        return label_recipe(label, choice.classes), True
    if choice.learn_from_private:
        too = choice.changes_features  # else they pass, or there are none
        gaps = on_error if too else OnError.MASK
        table = table_from(source, label=label, on_error=gaps, drop=leave, features=too)
        drafted = drafted_recipe(
            table,
            rng,
            mechanism=choice.mechanism,
            levels=LEVELS if choice.levels is None else choice.levels,
            cells=choice.cells,
            epsilon=epsilon,
            private=True,
        )
        return drafted, True
    raise InvalidInput(_refusal(choice, beside))


def _learned(
    choice: LabelChoice,
    price: Price,
    source: Source,
    label: str,
    leave: tuple[str, ...],
    on_error: OnError,
    rng: Generator,
    person: str | None,
) -> Recipe:
    """A recipe learned under differential privacy; a person counts once, by their first record."""
    keep = [n for n in source.columns if n != label and n not in leave]
    names = keep if choice.changes_features else []
    rows = one_record_each(source, person, on_error)
    return learn_privately(
        label,
        names,
        [[row.get(name) for row in rows] for name in names],
        [row.get(label) for row in rows],
        price=price,
        rng=rng,
        classes=choice.classes,
    )


def _refusal(choice: LabelChoice, beside: Location | None) -> str:
    lies = beside is not None and beside.exists()
    found = f" (one lies at {beside.name})" if beside is not None and lies else ""
    ways = (
        f"give a --recipe{found}, made from public records by `voile labels recipe PUBLIC.csv`"
        if choice.changes_features
        else "name them with --classes a,b,c (a number's range with --edges a,b), or give a "
        f"--recipe{found}"
    )
    possible = choice.mechanism in ("rr", "ldp")
    charged = "--learn-epsilon learns them under differential privacy; " if possible else ""
    what = "ranges, categories and" if choice.changes_features else "the"
    return (
        f"{what} classes must be public, since the output shows them: {ways}; "
        f"{charged}--learn-from-private takes them from the private file as they are, and the "
        "guarantee is then claimed, not certified"
    )


def _public(recipe: Recipe, source: Source, *, private: bool) -> Recipe:
    """The recipe if it is public, or if a private one was asked for in a word."""
    same = recipe.made_from.is_of(source)
    if (recipe.learned or same) and not private:
        what = "was made from this very file" if same else "was learned from private records"
        raise InvalidInput(
            f"the recipe must be public, since the output shows it, and it {what}; make one from "
            "public records with `voile labels recipe`, or say --learn-from-private (the guarantee "
            "is then claimed, not certified)"
        )
    return replace(recipe, learned=recipe.learned or same)


def recipe_of(given: Any) -> Recipe:
    """A recipe from its file, or as `voile.labels.recipe` returned it."""
    if isinstance(given, MadeRecipe):
        return given.content
    return given if isinstance(given, Recipe) else _recipe_at(location(given))


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
