"""What somebody who reads whole documents learns about single words of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from voile.attackers.corpus import Corpus
from voile.attackers.learning import learned_from
from voile.attackers.names import ATTACKERS
from voile.attackers.readers import fit_reader
from voile.attackers.reliability import Reliability, held_out
from voile.audit.documents import AttackRun, measured, shuffled, split
from voile.audit.posterior import PosteriorAudit
from voile.errors import require, require_epsilon
from voile.jobs import Processes, spread
from voile.jobs.settings import Workers
from voile.options import Data, Option, Options, use_case
from voile.progress import about, tell
from voile.text.audit_result import TextAudit, text_audit
from voile.text.given import NamePipeline, TextColumn
from voile.text.languages import pipeline_of
from voile.text.pairs import Reading, made_of_draws, text_pairs
from voile.text.reading import values_of
from voile.text.sequences import corpus, read_words
from voile.text.tiers import sensitive_tiers
from voile.values import several

FAILURE_PROBABILITY = 0.01
"""That some interval of the audit is wrong; shared among all runs and epsilons."""


@dataclass(frozen=True)
class Attackers(Options):
    """Who attacks: which networks, how they are trained, and how often."""

    attacker: Annotated[
        tuple[str, ...],
        Option("rnn, lstm, transformer or minilm; several with commas.", shown=True),
    ] = ("lstm",)
    repeats: Annotated[int, Option("Splits that each attacker is trained on, one seed each.")] = 1
    head: Annotated[
        Literal["candidates", "embedding"],
        Option("candidates (cross-entropy) or embedding (the paper's)."),
    ] = "candidates"
    epochs: Annotated[int, Option("Most rounds of training.")] = 30
    control: Annotated[
        bool, Option("Also measure the attacker's own error; takes twice as long.")
    ] = False

    @property
    def names(self) -> tuple[str, ...]:
        """The attackers, each once."""
        return tuple(found.name for found in ATTACKERS.find_all(self.attacker))

    def trainings(self, *, seed: int) -> list[Training]:
        """Each attacker on each split, and its control where one is wanted."""
        require(self.repeats >= 1, "repeats", ">= 1", self.repeats)
        return [
            Training(name, seed + repeat, blind)
            for name in self.names
            for repeat in range(self.repeats)
            for blind in ((False, True) if self.control else (False,))
        ]


@dataclass(frozen=True)
class Training:
    """One attacker on one split; blind: where releases carry nothing."""

    attacker: str
    seed: int
    blind: bool


ONE_NETWORK, AS_MUCH, HERE = Attackers(), Reading(), Workers()


@use_case("text audit")
def audit(
    original: Annotated[Data, Option("The texts before, with their originals.", reads="private")],
    released: Annotated[
        Data, Option("The texts that were, or would be, handed on.", reads="private")
    ],
    *,
    column: TextColumn = "text",
    attack: Annotated[
        Literal["posterior"], Option("posterior: beliefs about each word.")
    ] = "posterior",
    epsilon: Annotated[
        tuple[float, ...], Option("Leakage that counts as too much.", "How strong")
    ] = (0.3, 0.4, 0.5),
    delta: Annotated[float, Option("How often it may be exceeded.", "How strong")] = 0.05,
    person: Annotated[
        Data, Option("The column that says whose text it is: a person's stay together.", shown=True)
    ] = None,
    sensitive: Annotated[
        Literal["pii,poii", "all"],
        Option("Which words count: names and words close to names, or all.", "Names"),
    ] = "pii,poii",
    pipeline: NamePipeline = None,
    attackers: Attackers = ONE_NETWORK,
    reading: Reading = AS_MUCH,
    seed: Annotated[int, Option("Repeats the split and the training.", "Running")] = 0,
    workers: Workers = HERE,
    worst: Annotated[
        bool, Option("Name the pairs of words whose odds moved most, on your screen.", "Output")
    ] = False,
) -> TextAudit:
    """Train an attacker on part of the pairs, and measure what it learns from the rest.

    Example: `voile text audit reviews.csv reviews.protected.csv --epsilon 0.5 --delta 0.05`

    Several attackers on several splits, on all cores: `--attacker rnn,lstm --repeats 3 --jobs 0`

    Works for any release that keeps words in their order, whoever made it, also where draws were
    remapped or read as a whole before they were handed on. An attacker sees 60 % of the documents
    with their originals, is calibrated on 20 % and measured on 20 %; copies of a text, or all texts
    of a `person`, are in one of the three together and count as one. Each attacker is trained on
    `repeats` such splits, of seeds `seed`, `seed` + 1, … An attacker's odds are not believed: a
    violation is found by what held-out secrets bear out of them. With `control`, one more is
    trained for each where the releases of sensitive words were shuffled over all documents: the
    true leakage is then 0, and what is claimed is the error of such an attacker.
    """
    epsilons = tuple(require_epsilon(value) for value in several(epsilon))
    require(len(epsilons) > 0, "epsilon", "at least one", "none")
    require(0 < delta < 1, "delta", "in (0, 1)", delta)
    trainings = attackers.trainings(seed=seed)
    engine = workers.chosen()
    made = made_of_draws(released)
    both = text_pairs(original, released, column)
    persons = values_of(original, person, "persons", rows=len(both[0]))
    before, after = (texts[: reading.documents] for texts in both)
    tell("reading words and finding names")
    words, language = reading.known(before)
    finds = None if sensitive == "all" else pipeline_of(language, pipeline)
    chosen = sensitive_tiers(words, sensitive=sensitive, pipeline=finds)
    texts = corpus(
        read_words(before, words, tiers=chosen),
        read_words(after, words, beside=before),
        words,
        longest=reading.words,
        most_candidates=reading.candidates,
        persons=None if persons is None else persons[: reading.documents],
    )
    runs = len([training for training in trainings if not training.blind])
    asked = _Asked(
        texts,
        head=attackers.head,
        epochs=attackers.epochs,
        epsilons=epsilons,
        delta=delta,
        failure_probability=FAILURE_PROBABILITY / len(trainings),
        alone=runs == 1 and engine == Processes(1),
    )
    answers = spread(
        _run,
        trainings,
        common=asked,
        engine=engine,
        progress=lambda done: tell("trainings", done=done, total=len(trainings)),
    )
    return text_audit(
        _paired(dict(zip(trainings, answers, strict=True))),
        texts,
        sensitive=sensitive,
        persons=persons is not None,
        made=made,
        written=words.written if worst else (),
    )


@dataclass(frozen=True, eq=False)
class _Asked:
    """What all trainings share; it travels once to a process or node.

    A single run may use all threads of its machine. Several are each done on one, so that the
    figures are the same wherever that was.
    """

    texts: Corpus
    head: str
    epochs: int
    epsilons: tuple[float, ...]
    delta: float
    failure_probability: float
    alone: bool


_Answer = tuple[PosteriorAudit, Reliability]


def _run(asked: _Asked, training: Training) -> _Answer:
    """Train one attacker and measure it on documents it never saw."""
    texts, seed = asked.texts, training.seed
    if training.blind:
        texts = replace(texts, sequences=shuffled(texts.sequences, seed=seed))
    known, validation, test = split(texts.sequences, seed=seed)
    with _threads(None if asked.alone else 1), about(_title(training)):
        attack = fit_reader(
            training.attacker,
            texts,
            known,
            validation,
            head=asked.head,
            epochs=asked.epochs,
            seed=seed,
        )
        audit = measured(
            attack,
            test,
            texts,
            epsilons=asked.epsilons,
            delta=asked.delta,
            failure_probability=asked.failure_probability,
            learned=learned_from(attack, test, seed=seed),
            elsewhere=known,
            seed=seed,
        )
        return audit, held_out(attack, test)


def _title(training: Training) -> str:
    return f"seed {training.seed}" + (", control" if training.blind else "")


def _paired(answers: dict[Training, _Answer]) -> list[AttackRun]:
    """Each attacker's answer with that of its control."""
    runs = []
    for training, (found, trust) in answers.items():
        if not training.blind:
            control = answers.get(replace(training, blind=True))
            shares = None if control is None else control[0].shares
            runs.append(AttackRun(training.attacker, training.seed, found, trust, shares))
    return runs


@contextmanager
def _threads(count: int | None) -> Iterator[None]:
    """So many threads of torch's, whose number may change the last digits; None: as they are."""
    if count is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
