"""`voile text calibrate`: an empirical epsilon for any rewriter."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from voile.cli._attacks import (
    Candidates,
    Column,
    Failure,
    JudgeModel,
    JudgeUrl,
    OriginalsLeave,
    Symmetric,
    Temperature,
    judges,
    names,
)
from voile.cli.engine import Address, EngineName, chosen_engine
from voile.cli.reporting import ChartFolder, ReportFile, repeatable, wanted
from voile.cli.show import AsJson, plain, print_json, spinner
from voile.cli.text_compare_show import caution, show_calibration
from voile.errors import InvalidInput


def calibrate(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="CSV, JSONL, Parquet or text; .gz allowed.")],
    column: Column = "text",
    released: Annotated[
        str | None, typer.Option(help="Column that holds a release of each text.")
    ] = None,
    command: Annotated[
        str | None, typer.Option(help="Program that reads a text a line and writes a release.")
    ] = None,
    claim: Annotated[
        float | None, typer.Option(help="The ε of one text that is claimed, to be refuted or not.")
    ] = None,
    delta: Annotated[float, typer.Option(help="The δ that goes with it.")] = 0.0,
    attacks: Annotated[str, typer.Option(help="embedding, tf-idf, overlap, shape.")] = (
        "embedding,tf-idf,overlap,shape"
    ),
    trials: Annotated[int, typer.Option(help="Trials with --command.")] = 10_000,
    candidates: Candidates = 2,
    temperature: Temperature = -10_000.0,
    failure_probability: Failure = 0.01,
    symmetric: Symmetric = False,
    encoder: Annotated[
        str | None, typer.Option(help="Sentence encoder by hub id or folder, instead of MiniLM.")
    ] = None,
    judge_url: JudgeUrl = None,
    judge_model: JudgeModel = None,
    originals_leave_this_machine: OriginalsLeave = False,
    timeout: Annotated[
        float, typer.Option(help="Seconds that --command may take for 10,000 texts.")
    ] = 3600.0,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for what --command, encoder and judge answered: to go on from."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Repeatable candidate sets.")] = 0,
    jobs: Annotated[
        int, typer.Option(help="Copies of --command that share the trials; they must be unseeded.")
    ] = 1,
    engine: EngineName = "local",
    address: Address = None,
    report: ReportFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Audit releases made elsewhere, or any program that rewrites lines.

    Example: `voile text calibrate pairs.csv --released rewritten --claim 2`
    """
    from voile.text._calibrate import calibrate_command, calibrate_pairs
    from voile.text._utility import read_texts
    from voile.text.attacks import ON_TEXTS, attacks_on_texts, check_attacks
    from voile.text.workshop import Workshop

    pages = wanted(context, report, charts)
    if (released is None) == (command is None):
        raise InvalidInput("give either --released COLUMN or --command PROGRAM, and not both")
    texts, releases = read_texts(file, column, released)
    chosen = names(attacks)
    check_attacks(chosen, ON_TEXTS)
    needed = temperature != 0 or "embedding" in chosen
    models = {"encoder": encoder} if encoder else {}
    workshop = Workshop(models=models, kept=out / "encodings" if out else None)
    encode = workshop.encoder if needed else None
    with spinner(not as_json) as say:
        every = attacks_on_texts(chosen, encode)
        every += judges(
            judge_url,
            judge_model,
            out,
            originals_leave=originals_leave_this_machine,
            progress=say,
        )
        if command is not None:
            found = calibrate_command(
                texts,
                shlex.split(command),
                attacks=every,
                encode=encode,
                trials=trials,
                candidates=candidates,
                temperature=temperature,
                delta=delta,
                failure_probability=failure_probability,
                timeout=timeout,
                seed=seed,
                copies=jobs,
                engine=chosen_engine(engine, jobs, address),
                folder=out / "releases" if out else None,
                progress=say,
            )
        else:
            found = calibrate_pairs(
                texts,
                releases,
                attacks=every,
                encode=encode,
                candidates=candidates,
                temperature=temperature,
                delta=delta,
                failure_probability=failure_probability,
                seed=seed,
                progress=say,
            )
    claimed = float("inf") if claim is None else claim
    findings = [a.finding(claim=claimed, symmetric=symmetric) for a in found.attributed]
    violated = any(f.verdict == "violated" for f in findings)
    rows = [
        {
            "attack": a.attack,
            **a.estimated(symmetric=symmetric).__dict__,
            "verdict": str(f.verdict),
            "note": a.note,
        }
        for a, f in zip(found.attributed, findings, strict=True)
    ]
    facts = plain(
        {
            "trials": len(found.game),
            "claim": claim,
            "symmetric": symmetric,
            "attacks": rows,
            "caution": caution([a.attack for a in found.attributed]),
        }
    )
    if as_json:
        print_json(facts)
    else:
        show_calibration(found, findings, claim, symmetric=symmetric)
    if pages:
        from voile.text.measured_reports import calibrate_report

        pages.write(
            lambda how: calibrate_report(facts, provenance=how),
            private=[file],
            randomness=repeatable(seed),
            quiet=as_json,
        )
    if violated:
        raise typer.Exit(1)
