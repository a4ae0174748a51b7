"""What `compare` and `calibrate` have in common: how attacks are chosen, and who judges."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voile.errors import InvalidInput

if TYPE_CHECKING:
    from voile.attackers.attribution import Attribution

Column = Annotated[str, typer.Option(help="The column that holds the text.")]
Candidates = Annotated[int, typer.Option(help="How many texts an attacker chooses from.")]
Temperature = Annotated[
    float, typer.Option(help="λ: below 0 candidates far apart, above 0 alike, 0 uniform.")
]
Failure = Annotated[float, typer.Option(help="Probability that any interval of this run is wrong.")]
Symmetric = Annotated[
    bool,
    typer.Option(
        "--symmetric", help="Estimate from true and false positives instead of right guesses."
    ),
]
JudgeUrl = Annotated[
    str | None,
    typer.Option(help="OpenAI-compatible endpoint for an LLM judge: originals are sent to it."),
]
JudgeModel = Annotated[
    str | None, typer.Option(help="Its model; “packaged” for SmolLM2 in this process.")
]
OriginalsLeave = Annotated[
    bool,
    typer.Option(
        "--originals-leave-this-machine",
        help="Allow a --judge-url elsewhere: original texts go to that host.",
    ),
]


def judges(
    url: str | None,
    model: str | None,
    out: Path | None,
    *,
    originals_leave: bool,
    progress: Callable[[str], None],
) -> list[Attribution]:
    """The judge that was asked for, its key from the environment; none unless asked for."""
    if url is None and model is None:
        return []
    from voile.text.attacks import judge

    if model is None:
        raise InvalidInput("--judge-url needs --judge-model, the name the endpoint knows it by")
    return [
        judge(
            model,
            url=url,
            key=os.environ.get("VOILE_JUDGE_KEY"),
            originals_leave_this_machine=originals_leave,
            kept=out / "judge-replies.jsonl" if out else None,
            progress=progress,
        )
    ]


def names(text: str) -> list[str]:
    """Words separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]
