"""What draws the texts of a job: made in each process from settings that travel there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from voile.core.arrays import frozen
from voile.core.randomness import Generator
from voile.files.columns_in_clear import ColumnsInClear
from voile.files.rows import RowProblem
from voile.jobs import Batch, Planned, Replaced
from voile.ledger import Bill
from voile.ledger.amounts import Bools
from voile.mechanisms._neighbour_table import Version, checked_versions, take_as_checked
from voile.text.building import build_protector
from voile.text.language_prior import LanguagePrior
from voile.text.plan import Plan
from voile.text.promise import counted
from voile.text.released import Refused, ReleasedText
from voile.text.settings import TextSettings
from voile.text.sharing import Look, Sharing, look_at, owners_of, scopes_of
from voile.text.vocabularies import Vocabulary
from voile.text.word_protector import TextProtector

DOCUMENT_COLUMN = "document_epsilon"


@dataclass(frozen=True)
class MakeTextReleaser:
    """Builds a worker's releaser: a protector over the very vocabulary that was read here.

    The vocabulary travels along (10 MB for 50,000 GloVe words, once to a process or node), so that
    no worker reads, checks or filters it again, and none can find another one installed.
    """

    settings: TextSettings
    words: Vocabulary
    clear: ColumnsInClear
    document_column: bool = False
    person: str | None = None
    sharing: Sharing | None = None
    prior: LanguagePrior | None = None
    tables: frozenset[Version] = field(default_factory=checked_versions)

    def __call__(self) -> TextReleaser:
        """One releaser for one process."""
        take_as_checked(self.tables)
        frozen(self.words.embedding.coordinates)  # travelling may have thawed it
        protector = build_protector(self.settings, self.words, self.prior)
        return TextReleaser(
            self.settings.column, protector, self.clear, self.document_column, self.person,
            self.sharing,
        )  # fmt: skip


@dataclass(frozen=True)
class TextReleaser:
    """Releases the text column of a batch; the columns in clear pass as they are."""

    column: str
    protector: TextProtector
    clear: ColumnsInClear
    document_column: bool
    person: str | None = None
    sharing: Sharing | None = None

    def plan(self, batch: Batch) -> Planned:
        """What is to be drawn for each text, and what is wrong with texts that are none."""
        owners, scopes = ((), ()) if self.sharing is None else self._whose(batch)
        known = () if self.sharing is None else self.sharing.known(scopes)
        plans = self.protector.plan(list(batch.column(self.column)), known)
        problems: dict[int, RowProblem] = {
            place: RowProblem(plan.reason)
            for place, plan in enumerate(plans)
            if isinstance(plan, Refused)
        }
        if self.sharing is not None:
            size = len(self.protector.vocabulary.embedding)
            problems = dict(self.sharing.problems(owners, plans, size)) | problems
        problems |= self.clear.strangers(batch.rows)
        texts = _Texts(batch.part, plans, scopes)
        return Planned(texts, lambda: self._bill(plans, problems), problems)

    def look(self, batch: Batch) -> Look:
        """What there is of each person in a batch, before any of it is drawn."""
        planned = self.plan(batch)
        releasable = [
            None if place in planned.problems else plan
            for place, plan in enumerate(planned.secrets.plans)
        ]
        return look_at(releasable, *self._whose(batch), len(self.protector.vocabulary.embedding))

    def _whose(self, batch: Batch) -> tuple[Sequence[str | None], Sequence[str]]:
        """Whose each text is, and in which scope it stands."""
        owners = owners_of(batch, self.person)
        return owners, scopes_of(self.protector.consistent, batch.part, owners)

    def _bill(self, plans: Sequence[Plan | Refused], problems: Mapping[int, RowProblem]) -> Bill:
        """The epsilons of all draws that would be made for each text."""
        return Bill.listed(
            [
                None
                if place in problems or isinstance(plan, Refused)
                else self.protector.costs(self.protector.draws(plan))
                for place, plan in enumerate(plans)
            ]
        )

    def draw(self, planned: Planned, paid: Bools, rng: Generator) -> Replaced:
        """A text for each row that is paid, and counts of words and lengths."""
        texts: _Texts = planned.secrets
        chosen = [place for place, drawn in enumerate(paid) if drawn]
        plans = [texts.plans[place] for place in chosen]
        sharing = self.sharing
        shared = None if sharing is None else sharing.draws([texts.scopes[p] for p in chosen])
        answers = iter(self.protector.draw(plans, rng, shared))
        released = [next(answers) if drawn else None for drawn in paid]
        new = [answer if isinstance(answer, ReleasedText) else None for answer in released]
        columns: dict[str, list[Any]] = {self.column: [t and t.text for t in new]}
        if self.document_column:
            columns[DOCUMENT_COLUMN] = [t and t.epsilon for t in new]
        persons = {} if sharing is None else sharing.persons.get(texts.part, {})
        return Replaced(columns, {**counted([t for t in new if t is not None]), **persons})


@dataclass(frozen=True)
class _Texts:
    """The planned texts of a part, and in which scope each stands, where draws are shared."""

    part: int
    plans: Sequence[Plan | Refused]
    scopes: Sequence[str]
