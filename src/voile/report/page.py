"""A report as one HTML file: opens offline, asks no server for anything, runs only its own script.

The page forbids itself everything else by a content security policy: no address may be loaded,
and only the two scripts whose hashes it names may run. So even a column name made to look like
markup stays text, twice over: it is escaped, and it could not run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from voile.audit.finding import Verdict
from voile.errors import CannotWrite
from voile.files import like_source, write_private
from voile.report.glossary import GLOSSARY
from voile.report.model import Chart, Provenance, Report, Table, Value, finite
from voile.report.pictures import complete, script, still
from voile.report.theme import DARK, FONT, LIGHT, variables

SIGNS = {Verdict.VIOLATED: "✗ Violated.", Verdict.HOLDS: "✓ Holds.", Verdict.OPEN: "? Open."}
_PARTS = {
    "promise": "What is promised",
    "found": "What was found",
    "not-protected": "What is not protected",
    "how": "How it was obtained",
    "glossary": "Glossary",
}


def write_report(report: Report, path: str | Path, *, sources: Sequence[Path | str] = ()) -> Path:
    """Write the report under its name once it is complete.

    Those may read it who may read the sources that it was made from.
    """
    target = Path(path)
    text = render(report)
    part = target.with_name(f".{target.name}.part")
    try:
        write_private(part, text)
        like_source(part, sources)
        os.replace(part, target)
    except OSError as problem:
        raise CannotWrite(f"cannot write {target}: {problem.strerror or problem}") from problem
    return target


def render(report: Report) -> str:
    """The whole page as text."""
    charts = report.all_charts()
    own = (_asset("page.js"),) if charts else ()
    scripts = (*((script(),) if charts else ()), *own)
    body = "".join(_body(report))
    data = _as_data(charts) if charts else ""
    code = "".join(f'<script type="module">{text}</script>' for text in scripts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n{_head(report, scripts)}</head>\n<body>\n'
        f"{body}{data}{code}\n</body>\n</html>\n"
    )


def embedded(report: Report) -> str:
    """The page inside another one, as a notebook shows it: in a frame that may run its script."""
    return (
        f'<iframe srcdoc="{escape(render(report), quote=True)}" sandbox="allow-scripts '
        'allow-downloads" style="width:100%;height:40em;border:1px solid #8884" '
        f'title="{escape(report.title)}"></iframe>'
    )


def _head(report: Report, scripts: Sequence[str]) -> str:
    hashes = " ".join(f"'sha256-{_hash(text)}'" for text in scripts) or "'none'"
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
        f"form-action 'none'; script-src {hashes}"
    )
    style = (
        f":root{{color-scheme:light dark;--font:{FONT};{variables(LIGHT)}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{variables(DARK)}}}}}"
        f"{_asset('page.css')}"
    )
    return (
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<meta name="generator" content="voile {escape(report.provenance.version)}">\n'
        f'<link rel="icon" href="data:,">\n<title>{escape(report.title)}</title>\n'
        f"<style>{style}</style>\n"
    )


def _body(report: Report) -> Iterator[str]:
    yield '<a class="skip" href="#answer">Skip to the answer</a>\n<main>\n'
    yield f"<h1>{escape(report.title)}</h1>\n"
    for text in (*report.at_risk, *report.in_clear):
        yield f'<p class="answer">{escape(text)}</p>\n'
    yield '<p class="answer" id="answer">'
    yield f"{escape(report.answer)}</p>\n{_verdict(report)}{_stamp(report)}"
    yield _contents(report)
    yield from _sections(report, level=2, prefix="")
    for number, part in enumerate(report.parts, start=1):
        yield f'<section class="part" id="part-{number}"><h2>{escape(part.title)}</h2>\n'
        yield f'<p class="answer">{escape(part.answer)}</p>\n{_verdict(part)}'
        yield from _sections(part, level=3, prefix=f"part-{number}-")
        yield _provenance(part.provenance, level=3, identity=f"part-{number}-how")
        yield "</section>\n"
    yield _provenance(report.provenance, level=2, identity="how")
    yield _glossary(report)
    yield (
        f"</main>\n<footer>Made by voile {escape(report.provenance.version)}. This page is one "
        "file: it loads nothing and sends nothing. Charts are drawn by Vega and Vega-Lite "
        "(© University of Washington Interactive Data Lab, BSD-3-Clause).</footer>\n"
    )


def _contents(report: Report) -> str:
    if report.parts:
        links = [(f"part-{k}", part.title) for k, part in enumerate(report.parts, start=1)]
        links += [(key, _PARTS[key]) for key in ("how", "glossary")]
    else:
        links = [(key, report.about if key == "promise" else _PARTS[key]) for key in _PARTS]
    items = "".join(f'<li><a href="#{key}">{escape(text)}</a></li>' for key, text in links)
    return f'<nav aria-label="Contents"><ul>{items}</ul></nav>\n'


def _verdict(report: Report) -> str:
    if report.verdict is None:
        return ""
    return (
        f'<p class="verdict {report.verdict}"><strong>{SIGNS[report.verdict]}</strong> '
        f"{escape(report.because)}</p>\n"
    )


def _stamp(report: Report) -> str:
    return f'<p class="stamp">{report.stamp}</p>\n' if report.stamp else ""


def _sections(report: Report, *, level: int, prefix: str) -> Iterator[str]:
    if report.guarantee:
        lines = "".join(f"<p>{escape(line)}</p>\n" for line in report.guarantee)
        yield _section("promise", lines, level, prefix, report.about)
    if report.tables or report.charts or report.notes:
        found = "".join(f"<p>{escape(note)}</p>\n" for note in report.notes)
        found += "".join(_table(table) for table in report.tables)
        found += "".join(_figure(chart, level + 1) for chart in report.charts)
        yield _section("found", found, level, prefix, _PARTS["found"])
    if report.not_protected:
        items = "".join(f"<li>{escape(item)}</li>\n" for item in report.not_protected)
        yield _section(
            "not-protected", f"<ul>\n{items}</ul>\n", level, prefix, _PARTS["not-protected"]
        )


def _section(key: str, content: str, level: int, prefix: str, title: str) -> str:
    heading = f"<h{level}>{escape(title)}</h{level}>"
    return f'<section id="{prefix}{key}">{heading}\n{content}</section>\n'


def _figure(chart: Chart, level: int) -> str:
    rows = len(chart.data.rows)
    link = "data:text/csv;charset=utf-8," + quote(chart.data.csv())
    return (
        f'<figure id="figure-{chart.name}"><h{level}>{escape(chart.title)}</h{level}>\n'
        f'<div class="vis" id="chart-{chart.name}"><div>{still(chart)}</div></div>\n'
        f"<figcaption>{escape(chart.alt)}</figcaption>\n"
        f"<details><summary>The numbers ({rows:,} {'row' if rows == 1 else 'rows'})</summary>\n"
        f"{_table(chart.data)}"
        f'<p class="download"><a download="{chart.name}.csv" href="{link}">'
        f"Download {chart.name}.csv</a></p></details></figure>\n"
    )


def _table(table: Table) -> str:
    numeric = [
        bool(table.rows) and all(not isinstance(row[k], str) for row in table.rows)
        for k in range(len(table.columns))
    ]
    kinds = [' class="number"' if number else "" for number in numeric]
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>'
        for name, kind in zip(table.columns, kinds, strict=True)
    )
    rows = []
    for row in table.rows:
        first, *rest = (
            f"{kind}>{escape(shown(value))}" for value, kind in zip(row, kinds, strict=True)
        )
        cells = "".join(f"<td{cell}</td>" for cell in rest)
        rows.append(f'<tr><th scope="row"{first}</th>{cells}</tr>')
    name = escape(table.caption)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}"><table>'
        f"<caption>{name}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>\n"
    )


def _provenance(made: Provenance, *, level: int, identity: str) -> str:
    rows = [
        ("Command", f"<code>{escape(made.command)}</code>"),
        ("Version", f"voile {escape(made.version)}"),
        ("Randomness", escape(made.randomness)),
        ("When", f"{escape(made.when)}, in {made.seconds:,.1f} s"),
    ]
    for digest in made.digests:
        kind = (
            "HMAC-SHA-256, under the key that was shown when this was made"
            if digest.keyed
            else "SHA-256"
        )
        rows.append(
            (f"File {escape(digest.name)}", f"<code>{escape(digest.value)}</code> ({kind})")
        )
    items = "".join(f"<dt>{name}</dt><dd>{value}</dd>\n" for name, value in rows)
    return (
        f'<section id="{identity}"><h{level}>{_PARTS["how"]}</h{level}>\n<dl>\n{items}</dl>'
        "</section>\n"
    )


def _glossary(report: Report) -> str:
    terms = dict.fromkeys((*report.terms, "verdict"))
    items = "".join(
        f"<dt>{escape(term)}</dt><dd>{escape(GLOSSARY[term])}</dd>\n"
        for term in sorted(terms, key=str.lower)
    )
    return f'<section id="glossary"><h2>{_PARTS["glossary"]}</h2>\n<dl>\n{items}</dl></section>\n'


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


def _as_data(charts: Sequence[Chart]) -> str:
    specs = [
        {"id": f"chart-{chart.name}", "spec": complete(chart.spec, width="container")}
        for chart in charts
    ]
    text = json.dumps(specs, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c")
    return f'<script type="application/json" id="charts">{text}</script>\n'


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _asset(name: str) -> str:
    return (files("voile.report") / name).read_text(encoding="utf-8").strip()
