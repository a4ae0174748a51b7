"""The pieces of a page, each from a plain value; every text that comes in is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import quote

from voile.audit.finding import Verdict
from voile.report.glossary import GLOSSARY
from voile.report.model import Chart, Provenance, Report, Table, Value, finite
from voile.report.pictures import still

SIGNS = {Verdict.VIOLATED: "✗ Violated.", Verdict.HOLDS: "✓ Holds.", Verdict.OPEN: "? Open."}
MOST_ROWS = 15
"""Rows of a table that a page shows at once; a longer one scrolls in its place."""
HAND_ON = "The owner asked for this; do not hand it on."


def banner(report: Report) -> str:
    """What it is, when it was made, of which file, with what; and the verdict.

    No green tick stands above what is in clear: then the banner says that, and the verdict waits.
    """
    made = report.provenance
    facts = [
        ("Made", made.when),
        ("From", ", ".join(_sources(made))),
        ("Mechanism", made.mechanism),
    ]
    about = _pairs("about", [(name, value) for name, value in facts if value])
    return (
        f'<header class="banner"><div>\n<h1>{escape(report.title)}</h1>\n'
        f"{about}{_chip(report)}\n</div></header>\n"
    )


def _pairs(kind: str, pairs: Sequence[tuple[str, str]]) -> str:
    """Names and values, each pair by itself; nothing where there is none."""
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs
    )
    return f'<dl class="{kind}">{items}</dl>\n' if items else ""


def _sources(made: Provenance, most: int = 3) -> list[str]:
    """The names of the private files, or of the public ones where no file is private."""
    names = [d.name for d in made.digests if d.keyed] or [d.name for d in made.digests]
    names = list(dict.fromkeys(names))
    return names if len(names) <= most else [*names[:most], f"{len(names) - most} more"]


def _chip(report: Report) -> str:
    if report.in_clear:
        return '<p class="chip clear">! Not all is protected</p>'
    if report.verdict is None:
        return ""
    return f'<p class="chip {report.verdict}">{SIGNS[report.verdict].rstrip(".")}</p>'


def opening(report: Report, *, identity: str = "") -> str:
    """What stands in clear, then the answer, the verdict and the figures that sum it up."""
    named = f' id="{identity}"' if identity else ""
    return (
        f"{_notice('at-risk', report.at_risk)}{_notice('in-clear', report.in_clear)}"
        f'<p class="answer"{named}>{escape(report.answer)}</p>\n'
        f"{_verdict(report)}{_stamps(report)}{_pairs('cards', report.cards)}"
    )


def _notice(kind: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    return f'<div class="{kind}" role="note">{_paragraphs(lines)}</div>\n'


def _verdict(report: Report) -> str:
    if report.verdict is None:
        return ""
    return (
        f'<p class="verdict {report.verdict}"><strong>{SIGNS[report.verdict]}</strong> '
        f"{escape(report.because)}</p>\n"
    )


def _stamps(report: Report) -> str:
    held = any(part.sample for part in (report, *report.parts))
    shows = "Shows records: do not hand on" if held else ""
    return "".join(f'<p class="stamp">{text}</p>\n' for text in (report.stamp, shows) if text)


def promise(report: Report) -> str:
    """The guarantee in sentences."""
    return _paragraphs(report.guarantee)


def sample(pairs: Sequence[tuple[str, str]]) -> str:
    """Records before and after, side by side."""
    rows = "".join(
        f'<li><p><span class="side">before</span>{escape(before)}</p>'
        f'<p><span class="side">after</span>{escape(after)}</p></li>\n'
        for before, after in pairs
    )
    return f'<p class="owner">{HAND_ON}</p>\n<ul class="sample">\n{rows}</ul>\n'


def found(report: Report, level: int) -> str:
    """Notes, tables and charts."""
    tables = "".join(table(one) for one in report.tables)
    figures = "".join(_figure(chart, level) for chart in report.charts)
    return _paragraphs(report.notes) + _together("tables", tables) + _together("figures", figures)


def _together(kind: str, content: str) -> str:
    return f'<div class="{kind}">\n{content}</div>\n' if content else ""


def bullets(lines: Iterable[str]) -> str:
    """A list of sentences."""
    return "<ul>\n" + "".join(f"<li>{escape(line)}</li>\n" for line in lines) + "</ul>\n"


def _paragraphs(lines: Iterable[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>\n" for line in lines)


def _figure(chart: Chart, level: int) -> str:
    rows = len(chart.data.rows)
    link = "data:text/csv;charset=utf-8," + quote(chart.data.csv())
    return (
        f'<figure id="figure-{chart.name}"><h{level}>{escape(chart.title)}</h{level}>\n'
        f'<div class="vis" id="chart-{chart.name}"><div>{still(chart)}</div></div>\n'
        f"<figcaption>{escape(chart.alt)}</figcaption>\n"
        f"<details><summary>The numbers ({rows:,} {'row' if rows == 1 else 'rows'})</summary>\n"
        f"{table(chart.data)}"
        f'<p class="download"><a download="{chart.name}.csv" href="{link}">'
        f"Download {chart.name}.csv</a></p></details></figure>\n"
    )


def table(given: Table) -> str:
    """A table in a region that scrolls by itself, by keyboard too."""
    numeric = [
        bool(given.rows) and all(not isinstance(row[k], str) for row in given.rows)
        for k in range(len(given.columns))
    ]
    kinds = [' class="number"' if number else "" for number in numeric]
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>'
        for name, kind in zip(given.columns, kinds, strict=True)
    )
    rows = []
    for row in given.rows:
        first, *rest = (
            f"{kind}>{escape(shown(value))}" for value, kind in zip(row, kinds, strict=True)
        )
        cells = "".join(f"<td{cell}</td>" for cell in rest)
        rows.append(f'<tr><th scope="row"{first}</th>{cells}</tr>')
    name = escape(given.caption)
    tall = " tall" if len(rows) > MOST_ROWS else ""
    return (
        f'<div class="scroll{tall}" tabindex="0" role="region" aria-label="{name}"><table>'
        f"<caption>{name}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>\n"
    )


def provenance(made: Provenance) -> str:
    """Command, version, randomness, time and files."""
    rows = [
        ("Command", f"<code>{escape(made.command)}</code>"),
        ("Version", f"voile {escape(made.version)}"),
        ("Randomness", escape(made.randomness)),
    ]
    if made.when:
        rows.append(("When", f"{escape(made.when)}, in {made.seconds:,.1f} s"))
    for digest in made.digests:
        kind = (
            "HMAC-SHA-256, under the key that was shown when this was made"
            if digest.keyed
            else "SHA-256"
        )
        rows.append(
            (f"File {escape(digest.name)}", f"<code>{escape(digest.value)}</code> ({kind})")
        )
    return _definitions(rows)


def glossary(terms: Iterable[str]) -> str:
    """The words that the page uses, in the order of the alphabet."""
    return _definitions(
        (escape(term), escape(GLOSSARY[term])) for term in sorted(set(terms), key=str.lower)
    )


def _definitions(rows: Iterable[tuple[str, str]]) -> str:
    items = "".join(f"<dt>{name}</dt><dd>{value}</dd>\n" for name, value in rows)
    return f"<dl>\n{items}</dl>\n"


def shown(value: Value) -> str:
    """A value for a reader: four digits of a number, a dash for nothing.

    >>> shown(0.123456), shown(12_345), shown(None)
    ('0.1235', '12,345', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, float):
        if finite(value) is None:
            return "∞" if value > 0 else str(value)
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else value
