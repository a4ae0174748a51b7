"""The report of an audit of released text: what its readers learned, and what they are worth."""

from __future__ import annotations

from collections.abc import Iterator

from voile.audit.documents import AttackRun
from voile.audit.finding import Verdict
from voile.report.drawing import percent
from voile.report.model import Chart, Report, Table
from voile.report.words import ONE_ATTACKER, OWN_FIGURES, TESTED
from voile.text.audit_result import TextAudit
from voile.text.charts import exceedance_chart

_SECRETS = {"pii,poii": "names and words close to names", "all": "all words"}


def audit_report(found: TextAudit) -> Report:
    """What a reader of whole documents learns about single words."""
    told = found.finding
    return Report(
        title="Audit of released text",
        about=TESTED,
        answer=_answer(found),
        verdict=found.verdict,
        because=_because(found),
        guarantee=(
            f"The claim that was tested: the odds between a secret and another word, taken by what "
            f"was believed beforehand, move by more than e^(ε·d) in at most {percent(told.delta)} "
            f"of cases, d being how far apart the two words are.",
            f"Secrets were {_SECRETS[found.sensitive]}. {_who(found)}",
        ),
        not_protected=(
            ONE_ATTACKER,
            "Words that were not counted as secrets, the length of documents, and other columns.",
            OWN_FIGURES,
        ),
        notes=tuple(_notes(found)),
        tables=(_tested(found), *_attackers(found), _basis(found)),
        draw=lambda: _charts(found),
        terms=("epsilon", "delta", "odds", "posterior leakage", "case", "attacker", "interval"),
        cards=(
            (f"claimed over ε = {told.epsilon:g}", percent(told.share)),
            ("borne out", percent(told.borne_out)),
            ("interval", f"{percent(told.lower)} to {percent(told.upper)}"),
            ("allowed", percent(told.delta)),
        ),
        for_owner=_worst(found),
    )


def _tested(found: TextAudit) -> Table:
    """A row an epsilon: what was found, and what the interval says of the claim."""
    control = found.lead.control is not None
    several = len(found.attacks) > 1
    columns = ["leakage over ε =", "claimed"]
    columns += ["in the control"] if control else []
    columns += ["borne out"]
    columns += ["at least", "at most", f"at most {100 * found.finding.delta:g} %?"]
    columns += ["found by"] if several else []
    return Table(
        "The claims that were tested: shares of a document's cases, means over documents",
        tuple(columns),
        tuple(
            (
                t.epsilon,
                t.share,
                *((t.control_share,) if control else ()),
                t.borne_out,
                t.lower,
                t.upper,
                t.told,
                *((f"{t.attacker}, seed {t.seed}",) if several else ()),
            )
            for t in found.findings
        ),
    )


def _answer(found: TextAudit) -> str:
    """What was found; of an attacker not shown to have learned, that nothing was."""
    told = found.finding
    if _no_evidence(found):
        return (
            "The attacker was not shown to learn anything from the releases, so whether odds move "
            f"by more than ε = {told.epsilon:g} was not tested."
        )
    return (
        f"An attacker who reads whole documents moves the odds between two words by more than "
        f"ε = {told.epsilon:g} in {percent(told.borne_out)} of a document's cases, as far as "
        f"held-out secrets bear it out, on average over {told.groups:,} {found.counted} "
        f"({percent(told.lower)} to {percent(told.upper)}); {percent(told.delta)} is allowed."
    )


def _no_evidence(found: TextAudit) -> bool:
    broken = found.verdict == Verdict.VIOLATED
    return not broken and found.learned is not None and not found.learned.shown


def _because(found: TextAudit) -> str:
    told = found.finding
    if found.verdict == Verdict.VIOLATED:
        return (
            f"Even the cautious end of the interval, {percent(told.lower)}, is above the "
            f"{percent(told.delta)} allowed. That is what held-out secrets bear out of the "
            f"{percent(told.share)} that the attacker claims."
        )
    if _no_evidence(found):
        return (
            "The attacker was not shown to learn anything from the releases (held-out secrets, "
            "right releases against shuffled ones): the leakage it claims may be its own error, "
            f"and nothing is shown either way. {_settles(found)}"
        )
    return (
        "Nothing was found against the claim. That is not a proof: sampling with "
        f"{'some attackers' if len(found.attacks) > 1 else 'one attacker'} can break a claim, "
        f"never confirm it. {_settles(found)}"
    ).rstrip()


def _settles(found: TextAudit) -> str:
    """What would settle an open verdict: documents, for this attacker or for a better one."""
    told, learned = found.finding, found.lead.audit.learned
    if learned is not None and not found.lead.audit.is_evidence:
        needed = learned.documents_to_show(told.level)
        if needed is None:
            return (
                f"It was trained on {found.trained_on:,} documents: more of them, or another "
                "--attacker, may teach it something."
            )
        return (
            f"If its gain is real, about {needed:,} held-out documents would show it, five times "
            "as many in all."
        )
    if told.upper > told.delta and told.groups_to_certify:
        return (
            f"About {told.groups_to_certify:,} held-out {found.counted}, five times as many in "
            "all, would tell for this attacker."
        )
    if told.upper > told.delta:
        return (
            f"The attacker claims {percent(told.share)}, of which held-out secrets bear out "
            f"{percent(told.borne_out)}{_shows(found)}"
        )
    return ""


def _shows(found: TextAudit) -> str:
    """What would show that what is claimed is so."""
    told = found.finding
    if told.groups_to_show:
        return (
            f": about {told.groups_to_show:,} held-out {found.counted}, five times as many in all, "
            "would show a violation."
        )
    if told.borne_out > told.delta:
        return ": too little more than is allowed to say how many would show it."
    return (
        ", not more than is allowed. Odds of e^(ε·d) take as many secrets to bear out: a smaller "
        "--epsilon shows more."
    )


def _who(found: TextAudit) -> str:
    """Who attacked, and how it was measured."""
    if len(found.attacks) == 1:
        return (
            f"The attacker, a network ({found.attacker}), learned from part of the documents with "
            "their originals, and was measured on others."
        )
    splits = len(found.runs[0].seeds)
    return (
        f"This is what {len(found.attacks)} attackers found, networks ({found.attacker}) that were "
        f"each trained on {'one split' if splits == 1 else f'{splits} splits'} of the documents: "
        "they learned from part of them with their originals, and were measured on others. Each "
        "claim is told by the one that found most; the intervals allow for the choice among all "
        "of them."
    )


def _notes(found: TextAudit) -> Iterator[str]:
    """What the figures rest on, what each attacker is worth, and what was left out."""
    yield (
        f"{found.triples:,} pairs of words at {found.released_words:,} releases in "
        f"{found.groups:,} {found.counted}; the largest leakage claimed is {found.supremum:.3g}."
    )
    if found.counted != "documents":
        whose = "All texts of a person" if found.counted == "persons" else "Copies of a text"
        yield f"{whose} were learned from together or measured together, and count as one."
    for run in found.attacks:
        yield from _worth(run, found)
    if found.made is not None:
        yield (
            f"The draws were {found.made} before they were handed on: the attacker read what was "
            "handed on. Whoever has the draws can make the same of them and learns at least as "
            "much, so a leak found here is one of the draws too; that little is found here says "
            "nothing of them: audit them as they were drawn."
        )
    if found.unaligned or found.unpaired_words:
        yield (
            f"Left out: {found.unaligned:,} of {found.unaligned + found.documents:,} documents "
            f"that could not be aligned, and {found.unpaired_words:,} words without a clear "
            "partner."
        )
    if found.lead.control is not None:
        yield (
            "The control's releases carry nothing: what is claimed there is the attacker's own "
            "error."
        )


def _worth(run: AttackRun, found: TextAudit) -> Iterator[str]:
    """Of the run that leads all, of every other only what speaks against it."""
    which = f"The {run.attacker}" + (f" of seed {run.seed}" if len(found.attacks) > 1 else "")
    leads = run is found.lead
    if leads or not run.reliability.trustworthy:
        yield f"{which} is {run.reliability}."
    if run.audit.learned is not None and (leads or not run.audit.is_evidence):
        yield f"{which} {run.audit.learned}" + (
            "."
            if run.audit.is_evidence
            else ": it was not shown to learn from them, so the leakage it claims is no evidence."
        )


def _attackers(found: TextAudit) -> tuple[Table, ...]:
    """What each attacker found over its splits, if there are several."""
    if len(found.attacks) == 1:
        return ()
    control = any(run.control_mean_share is not None for run in found.runs)
    columns = ("attacker", "leakage over ε =", "mean claimed", "deviation", "highest", "violated")
    rows = tuple(
        (
            run.attacker,
            run.epsilon,
            run.mean_share,
            run.deviation,
            run.highest_share,
            run.violated,
            run.calibrated,
            len(run.seeds),
            *((run.control_mean_share,) if control else ()),
        )
        for run in found.runs
    )
    columns += ("calibrated", "splits", *(("mean claimed in the control",) if control else ()))
    return (Table("All attackers, over their splits", columns, rows),)


def _basis(found: TextAudit) -> Table:
    rows = (
        ("documents", found.documents),
        ("candidate words", found.candidates),
        ("sensitive words", found.sensitive_words),
    )
    return Table("What it rests on", ("what", "count"), rows)


def _charts(found: TextAudit) -> tuple[Chart, ...]:
    if not found.exceedance:
        return ()
    return (exceedance_chart(found.exceedance, found.findings, delta=found.finding.delta),)


def _worst(found: TextAudit) -> tuple[Table, ...]:
    if not found.worst:
        return ()
    caption = "Odds moved most between (do not hand this on):"
    return (Table(caption, ("leakage", "word", "word"), found.worst),)
