"""The commands that belong to no one domain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from voile.cli import labels, ledger, places, text, text_compare, text_leakage
from voile.cli.show import AsJson, bars, table

app = typer.Typer(
    help="Blur text, places and labels under a guarantee you can state, and measure what shows.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


text.app.command()(text_leakage.audit)
text.app.command()(text_leakage.tune)
text.app.command()(text_compare.compare)
text.app.command()(text_compare.calibrate)
app.add_typer(text.app, name="text")
app.add_typer(places.app, name="places")
app.add_typer(labels.app, name="labels")
app.add_typer(ledger.app, name="ledger")


def _version(asked: bool) -> None:
    if asked:
        from voile import __version__

        typer.echo(f"voile {__version__}")
        raise typer.Exit


@app.callback()
def voile(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The frame of all commands."""


@app.command()
def explain(
    epsilon: Annotated[float, typer.Option(help="Privacy parameter, per unit of distance.")],
    distance: Annotated[
        list[float] | None, typer.Option(help="How far apart two secrets are; may be repeated.")
    ] = None,
    candidates: Annotated[
        int, typer.Option(help="How many secrets an attacker chooses from.")
    ] = 100,
    unit: Annotated[str, typer.Option(help="The unit of distance.")] = "km",
    delta: Annotated[float, typer.Option(help="Probability with which the bound may fail.")] = 0.0,
    local: Annotated[
        bool, typer.Option("--local", help="Plain local privacy: any two secrets are 1 apart.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what an epsilon means, in odds and in guesses.

    Example: `voile explain --epsilon 0.8 --distance 1 --candidates 100`
    """
    from voile.tasks.explain import explain as task

    found = task(
        epsilon=epsilon,
        distances=distance or (1.0,),
        candidates=candidates,
        unit=unit,
        delta=delta,
        local=local,
    )
    if as_json:
        keys = ("distance", "odds_factor", "best_guess")
        rows = [dict(zip(keys, row, strict=True)) for row in found.rows]
        answer = {
            "epsilon": epsilon,
            "delta": delta,
            "unit": found.unit,
            "candidates": candidates,
            "explanation": found.sentences,
            "rows": rows,
        }
        typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))
        return
    typer.echo(found.sentences)
    typer.echo("")
    bars(
        title=f"Best guess among {candidates}, by how far apart the candidates are",
        rows=[(f"{d:g} {found.unit}", guess, f"odds ×{odds:.3g}") for d, odds, guess in found.rows],
        baseline=1 / candidates,
    )


@app.command()
def mechanisms(as_json: AsJson = False) -> None:
    """List the mechanisms: what each does, for what, on which ground.

    Example: `voile mechanisms --json`
    """
    from voile.tasks.catalogue import catalogue

    entries = catalogue()
    if as_json:
        typer.echo(json.dumps([entry.__dict__ for entry in entries], indent=2, ensure_ascii=False))
        return
    table(
        ["mechanism", "what it does", "distance", "guarantee"],
        [[e.name, e.law.rstrip("."), e.metric, e.basis] for e in entries],
    )
    typer.echo("certified: computed from the very integers that are drawn; proved: a theorem.")


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder to write into.")] = Path("demo"),
    seed: Annotated[
        int | None, typer.Option(help="Repeatable draws, for experiments: not for release.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Blur made-up trips in a made-up town, certify it, and show what it costs.

    Example: `voile demo --out demo`
    """
    from voile.tasks.demo import demo as task

    result = task(out, seed=seed)
    if as_json:
        typer.echo((result.folder / "summary.json").read_text(encoding="utf-8").rstrip())
        return
    table(
        ["mechanism", "claimed ε/km", "certified ε/km", "mean error km", "claim"],
        [
            [r.mechanism, f"{r.claim:g}", f"{r.certified:.4f}", f"{r.mean_error_km:.3f}", r.verdict]
            for r in result.rows
        ],
    )
    typer.echo(
        f"Released with: {result.chosen}" + ("" if seed is None else " (seeded: not for release)")
    )
    typer.echo(result.sentences)
    typer.echo(f"200,000 draws against the stated law: {_sampler_words(result.sampler_verdict)}.")
    typer.echo(f"Wrote {result.folder}/ (trips.csv, released.csv, town.voile, summary.json)")


def _sampler_words(verdict: str) -> str:
    return "no difference found" if verdict == "open" else f"claim {verdict}"
