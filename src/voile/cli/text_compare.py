"""Calibration on the command line: compare rewriters, audit any of them."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from voile.cli.engine import Address, EngineName, Jobs, chosen_engine
from voile.cli.reporting import ChartFolder, ReportFile, repeatable, wanted
from voile.cli.show import AsJson, plain, print_json
from voile.cli.text_compare_show import CAUTION, show_calibration, show_comparison, write_comparison
from voile.errors import InvalidInput

app = typer.Typer(
    no_args_is_help=True,
    help="What an epsilon is worth in practice: compare rewriters, audit any of them.",
    rich_markup_mode="markdown",
)

Column = Annotated[str, typer.Option(help="The column that holds the text.")]
Attacks = Annotated[
    str, typer.Option(help="embedding, tf-idf, overlap, likelihood (where the law is known).")
]
Candidates = Annotated[int, typer.Option(help="How many texts an attacker chooses from.")]
Temperature = Annotated[
    float, typer.Option(help="λ: below 0 candidates far apart, above 0 alike, 0 uniform.")
]
Failure = Annotated[float, typer.Option(help="Probability that any interval of this run is wrong.")]


@app.command()
def compare(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="CSV, JSONL, Parquet or text; .gz allowed.")],
    mechanisms: Annotated[
        str,
        typer.Option(
            help="Comma-separated: tem, em, madlib, vickrey, …, adept, dp-bart, dp-paraphrase, "
            "dp-prompt, dp-mlm, dp-mlm+, dp-st."
        ),
    ],
    epsilon: Annotated[str, typer.Option(help="Comma-separated epsilons, of each one's unit.")],
    column: Column = "text",
    label: Annotated[str | None, typer.Option(help="Column of a class to keep learnable.")] = None,
    attribute: Annotated[str | None, typer.Option(help="Column of a class to hide.")] = None,
    attacks: Attacks = "embedding,tf-idf,overlap",
    trials: Annotated[int, typer.Option(help="Trials for each mechanism and epsilon.")] = 2000,
    candidates: Candidates = 2,
    temperature: Temperature = -10_000.0,
    target_epsilon_emp: Annotated[
        float | None, typer.Option(help="Answer with the most useful one below this ε_emp.")
    ] = None,
    min_f1: Annotated[float | None, typer.Option(help="… and at least this F1.")] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="NAME=ID or folder, e.g. dp-mlm=roberta-base.")
    ] = None,
    public: Annotated[
        Path | None, typer.Option(help="Public texts, one a line, for what is trained here.")
    ] = None,
    as_released: Annotated[
        bool, typer.Option("--as-released", help="Behave as published code does, sound or not.")
    ] = False,
    max_new_tokens: Annotated[int, typer.Option(help="Tokens a prompted rewriter writes.")] = 24,
    utility_rows: Annotated[int, typer.Option(help="Rows on which use is measured.")] = 1500,
    failure_probability: Failure = 0.01,
    seed: Annotated[int, typer.Option(help="Repeatable draws; nothing here is for release.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for JSON, CSV and charts.")] = None,
    judge_url: Annotated[
        str | None, typer.Option(help="OpenAI-compatible endpoint for an LLM judge.")
    ] = None,
    judge_model: Annotated[
        str | None, typer.Option(help="Its model; “packaged” for SmolLM2 in this process.")
    ] = None,
    jobs: Jobs = 1,
    engine: EngineName = "local",
    address: Address = None,
    report: ReportFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Compare mechanisms and epsilons on your texts: distinguishability, use, speed.

    Example: `voile text compare reviews.csv --mechanisms tem,madlib --epsilon 2,5,10 --label stars`
    """
    from rich.console import Console

    from voile.tasks.text_compare import compare as task
    from voile.tasks.text_comparison import recommend
    from voile.tasks.text_rewriters import Workshop, read_lines

    pages = wanted(context, report, charts)
    wanted(context, None, out)  # its charts need the same
    texts, labels = _read(file, column, label)
    attributes = _read(file, column, attribute)[1] if attribute else None
    workshop = Workshop(
        models=_models(model),
        public=read_lines(public) if public else (),
        fidelity="as_released" if as_released else "sound",
        max_new_tokens=max_new_tokens,
    )
    with Console(stderr=True, quiet=as_json).status("starting") as status:
        found = task(
            texts,
            mechanisms=_names(mechanisms),
            epsilons=_numbers(epsilon),
            workshop=workshop,
            labels=labels if label else None,
            attributes=attributes,
            attacks=_names(attacks),
            extra_attacks=_judge(judge_url, judge_model, out),
            trials=trials,
            candidates=candidates,
            temperature=temperature,
            utility_rows=utility_rows,
            failure_probability=failure_probability,
            seed=seed,
            folder=out / "releases" if out else None,
            engine=chosen_engine(engine, jobs, address),
            progress=status.update,
        )
    chosen = answer = None
    if target_epsilon_emp is not None or min_f1 is not None:
        chosen, answer = recommend(found, target=target_epsilon_emp, least_f1=min_f1)
    facts = plain(
        found.to_json()
        | {
            "answer": answer,
            "chosen": chosen and {"mechanism": chosen.mechanism, "epsilon": chosen.epsilon},
            "caution": CAUTION,
        }
    )
    if out:
        write_comparison(found, out)
    if as_json:
        print_json(facts)
    else:
        show_comparison(found)
        if answer:
            typer.echo(f"\nAnswer: {answer}.")
        if out:
            typer.echo(f"Wrote {out}/ (comparison.json, comparison.csv, charts, releases)")
    if pages:
        from voile.report.measured import compare_report

        pages.write(
            lambda how: compare_report(facts, provenance=how),
            private=[file],
            randomness=repeatable(seed),
            quiet=as_json,
        )


@app.command()
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
    attacks: Attacks = "embedding,tf-idf,overlap",
    trials: Annotated[int, typer.Option(help="Trials with --command.")] = 10_000,
    candidates: Candidates = 2,
    temperature: Temperature = -10_000.0,
    failure_probability: Failure = 0.01,
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
    from voile.tasks.text_calibrate import calibrate_command, calibrate_pairs
    from voile.tasks.text_compare import DEFAULT_ATTACKS, attacks_named
    from voile.tasks.text_rewriters import Workshop

    pages = wanted(context, report, charts)
    if (released is None) == (command is None):
        raise InvalidInput("give either --released COLUMN or --command PROGRAM, and not both")
    texts, releases = _read(file, column, released)
    names = _names(attacks)
    strange = [name for name in names if name not in DEFAULT_ATTACKS]
    if strange:
        raise InvalidInput(f"attacks must be among {', '.join(DEFAULT_ATTACKS)}; got {strange[0]}")
    needed = temperature != 0 or "embedding" in names
    encode = Workshop().encoder if needed else None
    if command is not None:
        found = calibrate_command(
            texts,
            shlex.split(command),
            attacks=attacks_named(names, encode),
            encode=encode,
            trials=trials,
            candidates=candidates,
            temperature=temperature,
            delta=delta,
            failure_probability=failure_probability,
            seed=seed,
            copies=jobs,
            engine=chosen_engine(engine, jobs, address),
        )
    else:
        found = calibrate_pairs(
            texts,
            releases,
            attacks=attacks_named(names, encode),
            encode=encode,
            candidates=candidates,
            temperature=temperature,
            delta=delta,
            failure_probability=failure_probability,
            seed=seed,
        )
    findings = [a.finding(claim=float("inf") if claim is None else claim) for a in found.attributed]
    violated = any(f.verdict == "violated" for f in findings)
    rows = [
        {"attack": a.attack, **a.estimate.__dict__, "verdict": str(f.verdict)}
        for a, f in zip(found.attributed, findings, strict=True)
    ]
    facts = plain({"trials": len(found.game), "claim": claim, "attacks": rows, "caution": CAUTION})
    if as_json:
        print_json(facts)
    else:
        show_calibration(found, findings, claim)
    if pages:
        from voile.report.measured import calibrate_report

        pages.write(
            lambda how: calibrate_report(facts, provenance=how),
            private=[file],
            randomness=repeatable(seed),
            quiet=as_json,
        )
    if violated:
        raise typer.Exit(1)


def _judge(url: str | None, model: str | None, out: Path | None) -> list[Any]:
    """A judge behind a URL, or the packaged model in this process; none unless asked for."""
    if url is None and model is None:
        return []
    from voile.attackers.llm_judge import LlmJudge, endpoint, in_process

    kept = None
    if out:
        out.mkdir(parents=True, exist_ok=True)
        kept = out / "judge-replies.jsonl"
    if url is None:
        from voile.rewriting.models import load_model, packaged_model

        language = packaged_model() if model == "packaged" else load_model(str(model))
        return [LlmJudge(in_process(language), kept=kept)]
    if model is None:
        raise InvalidInput("--judge-url needs --judge-model, the name the endpoint knows it by")
    ask = endpoint(url, model=model, key=os.environ.get("VOILE_JUDGE_KEY"))
    return [LlmJudge(ask, kept=kept)]


def _read(file: Path, column: str, other: str | None) -> tuple[list[str], list[str]]:
    from voile.tasks.text_utility import read_texts

    return read_texts(file, column, other)


def _models(given: list[str] | None) -> dict[str, str]:
    pairs = [entry.partition("=") for entry in given or []]
    wrong = [name for name, equals, value in pairs if not equals or not value]
    if wrong:
        raise InvalidInput(f"--model must be NAME=ID or NAME=FOLDER, got {wrong[0]!r}")
    return {name: value for name, _, value in pairs}


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in _names(text)]
    except ValueError:
        raise InvalidInput(f"--epsilon must be numbers separated by commas, got {text!r}") from None
