"""`voile text audit` and `voile text tune`: what readers of whole documents learn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voile.cli.reporting import ChartFolder, ReportFile, repeatable, wanted
from voile.cli.show import AsJson, plain, print_json, spinner, table

if TYPE_CHECKING:
    from voile.tasks.text_posterior import TextPosterior
    from voile.tasks.text_tune import TunedText


def audit(
    context: typer.Context,
    original: Annotated[Path, typer.Argument(help="The file before, with its originals.")],
    released: Annotated[Path, typer.Argument(help="The file that was, or would be, handed on.")],
    column: Annotated[str, typer.Option(help="The column that holds the text.")] = "text",
    attack: Annotated[str, typer.Option(help="posterior: beliefs about each word.")] = "posterior",
    attacker: Annotated[str, typer.Option(help="rnn, lstm or transformer.")] = "lstm",
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
    worst: Annotated[
        bool, typer.Option("--worst", help="Name the pair of words whose odds moved most.")
    ] = False,
    report: ReportFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Train an attacker on part of the pairs, and measure what it learns from the rest.

    Works for any release that keeps words in their places, also one made by another tool.

    Example: `voile text audit reviews.csv reviews.protected.csv --epsilon 0.5 --delta 0.05`
    """
    from voile.errors import InvalidInput
    from voile.tasks.text_facts import facts_of
    from voile.tasks.text_posterior import audit_text

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
            attacker=attacker,
            head=head,
            sensitive=sensitive,
            pipeline=pipeline,
            longest=words,
            most_candidates=candidates,
            most_documents=documents,
            epochs=epochs,
            seed=seed,
            progress=say,
        )
    violated = any(finding.verdict == "violated" for finding in found.audit.findings)
    facts = plain(facts_of(found, sensitive=sensitive))
    if as_json:
        print_json(facts)
    else:
        _show_audit(found, delta)
        if worst:
            typer.echo(f"Odds moved most between: {found.worst[0]} and {found.worst[1]}")
    if pages:
        from voile.report.text import audit_report

        pages.write(
            lambda how: audit_report(facts, provenance=how),
            private=[original, released],
            randomness=repeatable(seed),
            quiet=as_json,
        )
    raise typer.Exit(1 if violated else 0)


def _show_audit(found: TextPosterior, delta: float) -> None:
    leakage = found.audit.leakage
    rows = []
    for k, finding in enumerate(found.audit.findings):
        needed = found.audit.groups_to_certify[k]
        rows.append(
            [
                f"{leakage.epsilons[k]:g}",
                f"{100 * leakage.violation_shares[k]:.3g} %",
                f"{100 * finding.lower:.3g} – {100 * finding.upper:.3g} %",
                str(finding.verdict),
                f"{needed:,}" if needed else "–",
            ]
        )
    table(
        ["leakage over", "share of triples", "interval", f"δ = {delta:g}", "documents for δ"], rows
    )
    typer.echo(
        f"{leakage.triples:,} triples from {leakage.releases:,} releases in "
        f"{found.audit.groups:,} documents; largest leakage seen {leakage.supremum:.3g}."
    )
    typer.echo(f"The {found.attacker} is {found.reliability}.")
    if found.unaligned:
        typer.echo(f"{found.unaligned:,} documents could not be aligned and were left out.")
    typer.echo("This is what one attacker found: open means not broken by this attack.")


def tune(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="Text like the one to be protected.")],
    data: Annotated[str, typer.Option(help="What this text is: public, held-out or private.")],
    epsilon: Annotated[float, typer.Option(help="Privacy parameter, and the leakage allowed.")],
    target_delta: Annotated[float, typer.Option(help="How often it may be exceeded.")] = 0.05,
    column: Annotated[str, typer.Option(help="The column that holds the text.")] = "text",
    attacker: Annotated[str, typer.Option(help="rnn, lstm or transformer.")] = "lstm",
    pipeline: Annotated[str | None, typer.Option(help="A spaCy pipeline for names.")] = None,
    documents: Annotated[int, typer.Option(help="Use at most this many documents.")] = 2000,
    candidates: Annotated[int, typer.Option(help="At most this many sensitive words.")] = 1000,
    words: Annotated[int, typer.Option(help="Words of each document that are read.")] = 40,
    epochs: Annotated[int, typer.Option(help="Most rounds of training for each trial.")] = 12,
    rounds: Annotated[int, typer.Option(help="Most trials.")] = 12,
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
    from voile.tasks.text_tune import tune_text

    pages = wanted(context, report, charts)
    with spinner(not as_json) as say:
        found = tune_text(
            file,
            column=column,
            epsilon=epsilon,
            target_delta=target_delta,
            data=data,
            attacker=attacker,
            pipeline=pipeline,
            longest=words,
            most_candidates=candidates,
            most_documents=documents,
            epochs=epochs,
            most_rounds=rounds,
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
        _show_tuned(found, target_delta)
    if pages:
        from voile.report.text import tune_report

        pages.write(
            lambda how: tune_report(facts, provenance=how),
            private=[] if data == "public" else [file],
            public=[file] if data == "public" else [],
            randomness=repeatable(seed),
            quiet=as_json,
        )


def _show_tuned(found: TunedText, target: float) -> None:
    best = found.chosen.strengths
    table(
        ["round", "pii", "poii", "violations", "utility loss", ""],
        [
            [
                str(number + 1),
                f"{r.strengths[0]:.3g}",
                f"{r.strengths[1]:.3g}",
                f"{100 * r.violation:.3g} %",
                f"{r.utility_loss:.4f}",
                "chosen" if r.strengths == best else "",
            ]
            for number, r in enumerate(found.state.rounds)
        ],
    )
    if not found.meets_target:
        typer.echo(f"No round kept violations below {100 * target:g} %: this is the best found.")
    typer.echo(f"Use: voile text protect FILE {found.protect_options()}")
    if found.caveat:
        typer.echo(found.caveat)


def _numbers(text: str, option: str) -> list[float]:
    from voile.errors import InvalidInput

    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInput(f"{option} must be numbers separated by commas, got {text!r}") from None
