"""`voile text audit` and `voile text tune`: what readers of whole documents learn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voile.cli.engine import Address, EngineName, Jobs, chosen_engine
from voile.cli.reporting import ChartFolder, ReportFile, repeatable, wanted
from voile.cli.show import AsJson, plain, print_json, spinner, table
from voile.cli.text_leakage_show import show_audit, show_tuned


def audit(
    context: typer.Context,
    original: Annotated[Path, typer.Argument(help="The file before, with its originals.")],
    released: Annotated[Path, typer.Argument(help="The file that was, or would be, handed on.")],
    column: Annotated[str, typer.Option(help="The column that holds the text.")] = "text",
    attack: Annotated[str, typer.Option(help="posterior: beliefs about each word.")] = "posterior",
    attacker: Annotated[
        str, typer.Option(help="rnn, lstm or transformer; several with commas.")
    ] = "lstm",
    repeats: Annotated[
        int, typer.Option(help="Splits that each attacker is trained on, one seed each.")
    ] = 1,
    head: Annotated[
        str, typer.Option(help="candidates (cross-entropy) or embedding (the paper's).")
    ] = "candidates",
    epsilon: Annotated[str, typer.Option(help="Leakage that counts as too much.")] = "0.3,0.4,0.5",
    delta: Annotated[float, typer.Option(help="How often it may be exceeded.")] = 0.05,
    sensitive: Annotated[str, typer.Option(help="pii,poii or all.")] = "pii,poii",
    pipeline: Annotated[str | None, typer.Option(help="A spaCy pipeline for names.")] = None,
    documents: Annotated[int, typer.Option(help="Use at most this many documents.")] = 5000,
    candidates: Annotated[int, typer.Option(help="At most this many sensitive words.")] = 2000,
    words: Annotated[int, typer.Option(help="Words of each document that are read.")] = 40,
    epochs: Annotated[int, typer.Option(help="Most rounds of training.")] = 30,
    seed: Annotated[int, typer.Option(help="Repeats the split and the training.")] = 0,
    jobs: Jobs = 1,
    engine: EngineName = "local",
    address: Address = None,
    control: Annotated[
        bool,
        typer.Option(
            "--control", help="Also measure the attacker's own error; takes twice as long."
        ),
    ] = False,
    worst: Annotated[
        bool, typer.Option("--worst", help="Name the pairs of words whose odds moved most.")
    ] = False,
    report: ReportFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Train an attacker on part of the pairs, and measure what it learns from the rest.

    Works for any release that keeps words in their order, also one made by another tool.

    Example: `voile text audit reviews.csv reviews.protected.csv --epsilon 0.5 --delta 0.05`

    Several attackers on several splits, on all cores: `--attacker rnn,lstm --repeats 3 --jobs 0`
    """
    from voile.errors import InvalidInput
    from voile.text._audit import audit_text
    from voile.text.audit_facts import facts_of

    pages = wanted(context, report, charts)
    if attack != "posterior":
        raise InvalidInput(f"attack must be posterior, got {attack}")
    with spinner(not as_json) as say:
        found = audit_text(
            original,
            released,
            column=column,
            epsilons=_numbers(epsilon, "--epsilon"),
            delta=delta,
            attackers=[name.strip() for name in attacker.split(",")],
            repeats=repeats,
            head=head,
            sensitive=sensitive,
            pipeline=pipeline,
            longest=words,
            most_candidates=candidates,
            most_documents=documents,
            epochs=epochs,
            control=control,
            seed=seed,
            engine=chosen_engine(engine, jobs, address),
            progress=say,
        )
    facts = plain(facts_of(found, sensitive=sensitive))
    violated = any(finding["verdict"] == "violated" for finding in facts["findings"])
    if as_json:
        print_json(facts)
    else:
        show_audit(found, delta)
        if worst:
            typer.echo("Odds moved most between (do not hand this on):")
            table(
                ["leakage", "word", "word"],
                [[f"{value:.3g}", one, other] for value, one, other in found.worst],
            )
    if pages:
        from voile.text.audit_reports import audit_report

        pages.write(
            lambda how: audit_report(facts, provenance=how),
            private=[original, released],
            randomness=repeatable(seed),
            quiet=as_json,
        )
    raise typer.Exit(1 if violated else 0)


def tune(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="Text like the one to be protected.")],
    epsilon: Annotated[float, typer.Option(help="Privacy parameter, and the leakage allowed.")],
    data: Annotated[
        str | None,
        typer.Option(help="What this text is: public, held-out or private; asked if not given."),
    ] = None,
    target_delta: Annotated[float, typer.Option(help="How often it may be exceeded.")] = 0.05,
    column: Annotated[str, typer.Option(help="The column that holds the text.")] = "text",
    attacker: Annotated[
        str, typer.Option(help="rnn, lstm, transformer, or markov: exact, nothing is trained.")
    ] = "lstm",
    count: Annotated[
        str, typer.Option(help="Violations over triples, or over documents that hold any.")
    ] = "triples",
    pipeline: Annotated[str | None, typer.Option(help="A spaCy pipeline for names.")] = None,
    documents: Annotated[int, typer.Option(help="Use at most this many documents.")] = 2000,
    candidates: Annotated[int, typer.Option(help="At most this many sensitive words.")] = 1000,
    words: Annotated[int, typer.Option(help="Words of each document that are read.")] = 40,
    epochs: Annotated[int, typer.Option(help="Most rounds of training for each trial.")] = 12,
    rounds: Annotated[int, typer.Option(help="Most trials.")] = 12,
    levels: Annotated[
        str, typer.Option(help="What may move: pii,poii or pii (names alone).")
    ] = "pii,poii",
    privacy_weight: Annotated[float, typer.Option(help="Weight of the violations.")] = 1.0,
    utility_weight: Annotated[float, typer.Option(help="Weight of the utility loss.")] = 1.0,
    trace: Annotated[
        Path | None, typer.Option(help="Keep every round here; an old one is continued.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Repeats draws, splits and training.")] = 0,
    report: ReportFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Choose strengths for names and for words close to names: perturb, attack, adapt.

    Example: `voile text tune public.csv --data public --epsilon 0.5 --target-delta 0.05`
    """
    from voile.text._tune import tune_text

    pages = wanted(context, report, charts)
    data = data or _what_it_is()
    with spinner(not as_json) as say:
        found = tune_text(
            file,
            column=column,
            epsilon=epsilon,
            target_delta=target_delta,
            data=data,
            attacker=attacker,
            counted=count,
            pipeline=pipeline,
            longest=words,
            most_candidates=candidates,
            most_documents=documents,
            epochs=epochs,
            most_rounds=rounds,
            levels=levels,
            privacy_weight=privacy_weight,
            utility_weight=utility_weight,
            trace=trace,
            seed=seed,
            progress=say,
        )
    facts = plain(found.as_facts(target_delta=target_delta))
    if as_json:
        print_json(facts)
    else:
        show_tuned(found, target_delta)
    if pages:
        from voile.text.audit_reports import tune_report

        pages.write(
            lambda how: tune_report(facts, provenance=how),
            private=[] if data == "public" else [file],
            public=[file] if data == "public" else [],
            randomness=repeatable(seed),
            quiet=as_json,
        )


def _what_it_is() -> str:
    """Ask what the text is; adapting on private text spends privacy, so there is no default."""
    import sys

    from voile.errors import InvalidInput

    if not sys.stdin.isatty():
        raise InvalidInput(
            "say what this text is with --data public, held-out or private: strengths chosen on "
            "private text leak something about it"
        )
    answer: str = typer.prompt("Is this text public, held-out or private?")
    return answer.strip().lower()


def _numbers(text: str, option: str) -> list[float]:
    from voile.errors import InvalidInput

    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInput(f"{option} must be numbers separated by commas, got {text!r}") from None
