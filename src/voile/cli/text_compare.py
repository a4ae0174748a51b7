"""`voile text compare`: rewriters side by side on a file."""

from __future__ import annotations

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
from voile.cli.engine import Address, EngineName, Jobs, chosen_engine
from voile.cli.reporting import ChartFolder, ReportFile, repeatable, wanted
from voile.cli.show import AsJson, plain, print_json, spinner
from voile.cli.text_compare_show import caution, show_comparison, write_comparison
from voile.errors import InvalidInput


def compare(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="CSV, JSONL, Parquet or text; .gz allowed.")],
    mechanisms: Annotated[
        str,
        typer.Option(
            help="Comma-separated: tem, em, madlib, vickrey, …, adept, dp-bart, dp-bart-pr, "
            "dp-bart-pr+, dp-paraphrase, dp-prompt, dp-mlm, dp-mlm+, dp-st."
        ),
    ],
    epsilon: Annotated[str, typer.Option(help="Comma-separated epsilons, of each one's unit.")],
    column: Column = "text",
    label: Annotated[str | None, typer.Option(help="Column of a class to keep learnable.")] = None,
    attribute: Annotated[str | None, typer.Option(help="Column of a class to hide.")] = None,
    attacks: Annotated[
        str,
        typer.Option(
            help="embedding, tf-idf, overlap, shape; likelihood where the law is known, internal "
            "where a vector gets the noise."
        ),
    ] = "embedding,tf-idf,overlap,shape",
    trials: Annotated[int, typer.Option(help="Trials for each mechanism and epsilon.")] = 2000,
    candidates: Candidates = 2,
    temperature: Temperature = -10_000.0,
    target_epsilon_emp: Annotated[
        float | None, typer.Option(help="Answer with the most useful one below this ε_emp.")
    ] = None,
    min_f1: Annotated[float | None, typer.Option(help="… and at least this F1.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="NAME=ID or folder, e.g. dp-mlm=roberta-base, encoder=FOLDER."),
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
    symmetric: Symmetric = False,
    seed: Annotated[int, typer.Option(help="Repeatable draws; nothing here is for release.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for JSON, CSV, charts, and what an interrupted run had done."),
    ] = None,
    judge_url: JudgeUrl = None,
    judge_model: JudgeModel = None,
    originals_leave_this_machine: OriginalsLeave = False,
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
    from voile.text._compare import compare as task
    from voile.text._utility import read_texts
    from voile.text.frontier import recommend
    from voile.text.workshop import Workshop, read_lines

    pages = wanted(context, report, charts)
    wanted(context, None, out)  # its charts need the same
    texts, labels = read_texts(file, column, label)
    attributes = read_texts(file, column, attribute)[1] if attribute else None
    workshop = Workshop(
        models=_models(model),
        public=read_lines(public) if public else (),
        fidelity="as_released" if as_released else "sound",
        max_new_tokens=max_new_tokens,
        kept=out / "encodings" if out else None,
    )
    with spinner(not as_json) as say:
        asked = judges(
            judge_url,
            judge_model,
            out,
            originals_leave=originals_leave_this_machine,
            progress=say,
        )
        found = task(
            texts,
            mechanisms=names(mechanisms),
            epsilons=_numbers(epsilon),
            workshop=workshop,
            labels=labels if label else None,
            attributes=attributes,
            attacks=names(attacks),
            extra_attacks=asked,
            trials=trials,
            candidates=candidates,
            temperature=temperature,
            utility_rows=utility_rows,
            failure_probability=failure_probability,
            symmetric=symmetric,
            seed=seed,
            folder=out / "releases" if out else None,
            engine=chosen_engine(engine, jobs, address),
            progress=say,
        )
    chosen = answer = None
    if target_epsilon_emp is not None or min_f1 is not None:
        chosen, answer = recommend(found, target=target_epsilon_emp, least_f1=min_f1)
    facts = plain(
        found.to_json()
        | {
            "answer": answer,
            "chosen": chosen and {"mechanism": chosen.mechanism, "epsilon": chosen.epsilon},
            "caution": caution(found.attacks),
        }
    )
    if out:
        write_comparison(found, out, file)
    if as_json:
        print_json(facts)
    else:
        show_comparison(found)
        if answer:
            typer.echo(f"\nAnswer: {answer}.")
        if out:
            typer.echo(
                f"Wrote {out}/ (comparison.json, comparison.csv, charts; releases and encodings for"
                " another run)"
            )
    if pages:
        from voile.text.measured_reports import compare_report

        pages.write(
            lambda how: compare_report(facts, provenance=how),
            private=[file],
            randomness=repeatable(seed),
            quiet=as_json,
        )


def _models(given: list[str] | None) -> dict[str, str]:
    pairs = [entry.partition("=") for entry in given or []]
    wrong = [name for name, equals, value in pairs if not equals or not value]
    if wrong:
        raise InvalidInput(f"--model must be NAME=ID or NAME=FOLDER, got {wrong[0]!r}")
    return {name: value for name, _, value in pairs}


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in names(text)]
    except ValueError:
        raise InvalidInput(f"--epsilon must be numbers separated by commas, got {text!r}") from None
