"""Options that use cases share: who does the work, what happens to rows and columns."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from voile.errors import InvalidInput
from voile.files.locations import Overwrite
from voile.files.rows import OnError
from voile.ledger._options import KeyFile
from voile.options import Data, Option, Options

if TYPE_CHECKING:  # options are read to print a help, which must load nothing else
    from voile.files.columns_in_clear import Named
    from voile.jobs.engines import Engine


Seed = Annotated[
    int | None, Option("Repeatable draws, for experiments: not for release.", "Running")
]
OutputFile = Annotated[
    str | None, Option("Output, a path or a URL; default FILE.protected.…", "Output", writes=True)
]
GuaranteeFile = Annotated[
    Data, Option("The guarantee file; else FILE.guarantee.json if there is one.", reads="public")
]
EpsilonToldOf = Annotated[
    float | None, Option("Without a guarantee file: that of the release.", "How strong")
]
EachConfidence = Annotated[float, Option("Of each interval by itself.")]
Resamples = Annotated[int, Option("Of the bootstrap.", "Running")]
BootstrapSeed = Annotated[int, Option("Of the bootstrap.", "Running")]


@dataclass(frozen=True)
class Workers(Options):
    """Who does the work: processes of this machine, or a Ray cluster."""

    jobs: Annotated[int, Option("Processes; 0 takes all cores.", "Running")] = 1
    engine: Annotated[
        Literal["local", "ray"],
        Option("local: processes here. ray: a Ray cluster.", "Running"),
    ] = "local"
    address: Annotated[
        str | None,
        Option("Of the Ray cluster: auto or HEAD:PORT; else one is started here.", "Running"),
    ] = None

    def chosen(self) -> Engine:
        """The engine that these options name."""
        from voile.jobs.engines import engine_named

        return engine_named(
            self.engine, jobs=self.jobs or os.cpu_count() or 1, address=self.address
        )


@dataclass(frozen=True)
class Running(Workers):
    """How a file is released: who draws, how bad rows are treated, what may be replaced."""

    on_error: Annotated[
        Literal["fail", "skip", "mask"], Option("A bad row: fail, skip or mask.", "Running")
    ] = "fail"
    batch_rows: Annotated[int, Option("Rows in a part.", "Running")] = 2000
    overwrite: Overwrite = False

    @property
    def policy(self) -> OnError:
        """What happens to a bad row."""
        return OnError(self.on_error)


@dataclass(frozen=True)
class Columns(Options):
    """What happens to the columns that no mechanism changes: each must be named."""

    pass_: Annotated[
        Literal["all"] | tuple[str, ...],
        Option("Other columns to release IN CLEAR: a,b,c or all.", flag="--pass", shown=True),
    ] = ()
    drop: Annotated[tuple[str, ...], Option("Other columns to leave out: a,b,c.", shown=True)] = ()

    @property
    def passing(self) -> Named:
        """The columns to pass, by name or all."""
        return self.pass_


@dataclass(frozen=True)
class LedgerChoice(Options):
    """What a user says about a ledger: where, whose column, how much, and what then."""

    ledger: Annotated[
        str | None,
        Option("Charge persons in this file or postgresql:// URL.", "Budget", secret=True),
    ] = None
    person: Annotated[
        str | None,
        Option("The column that says whose row it is.", "Budget", shown=True),
    ] = None
    budget: Annotated[
        float | None, Option("What all releases about a person may spend; set once.", "Budget")
    ] = None
    over_budget: Annotated[
        Literal["refuse", "mask", "drop"],
        Option("A row beyond its budget: refuse, mask or drop.", "Budget"),
    ] = "refuse"
    ledger_key: KeyFile = None

    def agreed(self) -> bool:
        """Whether a ledger is kept; its options go together."""
        if self.ledger is None:
            if self.person is not None or self.budget is not None:
                raise InvalidInput(
                    "--person and --budget must go with --ledger; make one with `voile ledger init`"
                )
            return False
        if self.person is None:
            raise InvalidInput("--ledger must go with --person, the column that names the person")
        return True
