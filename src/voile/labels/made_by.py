"""How a released file was made, as its reader says it: its recipe and the release's options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from voile.errors import InvalidInput, require_epsilon
from voile.labels.choice import recipe_of
from voile.labels.law import Law
from voile.labels.mechanisms import MECHANISMS
from voile.labels.protection import Protection
from voile.labels.recipe_file import recipe_text
from voile.labels.recipes import Recipe
from voile.options import Data, Option, Options


@dataclass(frozen=True)
class MadeBy(Options):
    """The mechanism and its recipe, as given to `voile labels protect`."""

    recipe: Annotated[
        Data,
        Option("The recipe that lies beside the release (FILE.recipe.json).", reads="public"),
    ] = None
    mechanism: Annotated[
        str,
        Option("By which it was released: sample, ldp, cf, rr or prior.", shown=True),
    ] = "sample"
    label_share: Annotated[
        float | None, Option("As given to the release, for cf and ldp.", "How strong")
    ] = None
    prior: Annotated[
        tuple[float, ...], Option("As given to the release, for prior.", "How strong")
    ] = ()

    def built(self, epsilon: float) -> tuple[Recipe, Protection]:
        """The recipe, and the law that it gives with these options."""
        require_epsilon(epsilon)
        if self.recipe is None:
            raise InvalidInput(
                "a release is read with its --recipe, the file that lies beside it "
                "(FILE.recipe.json)"
            )
        recipe, name = recipe_of(self.recipe), MECHANISMS.find(self.mechanism).name
        law = Law(recipe_text(recipe), epsilon, name, tuple(self.prior), self.label_share)
        return recipe, law.protection()


BESIDE = MadeBy()
