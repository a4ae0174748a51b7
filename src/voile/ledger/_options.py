"""The options that every command about a ledger shares."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from voile.options import Option

Where = Annotated[str | Path, Option("The ledger: a file, or a postgresql:// URL.", secret=True)]
KeyFile = Annotated[
    str | None,
    Option("The ledger's key file.", "Budget", environment="VOILE_LEDGER_KEY", secret=True),
]
