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
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from voile.errors import writing
from voile.files import like_source, write_private
from voile.report import blocks
from voile.report.model import UNKNOWN, Chart, Report
from voile.report.pictures import complete, script
from voile.report.theme import DARK, FONT, LIGHT, variables


def write_report(report: Report, path: str | Path, *, sources: Sequence[Path | str] = ()) -> Path:
    """Write the report under its name once it is complete.

    Those may read it who may read the sources that it was made from.
    """
    target = Path(path)
    text = render(report)
    part = target.with_name(f".{target.name}.part")
    with writing(target):
        write_private(part, text)
        like_source(part, sources)
        os.replace(part, target)
    return target


def render(report: Report, *, framed: bool = False) -> str:
    """The whole page as text; a framed one follows its own links, which takes its script."""
    charts = report.all_charts()
    own = (_asset("page.js"),) if charts or framed else ()
    scripts = (*((script(),) if charts else ()), *own)
    body = "".join(_body(report))
    data = _as_data(charts) if charts else ""
    code = "".join(f'<script type="module">{text}</script>' for text in scripts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n{_head(report, scripts)}</head>\n<body>\n'
        f"{body}{data}{code}\n</body>\n</html>\n"
    )


def embedded(report: Report) -> str:
    """The page inside another one, as a notebook shows it: in a frame that may run its script.

    The frame may not reach out of itself, so nobody can ask it how high it is: its height is
    guessed from what it holds, and its corner can be dragged. Its colours are its own; whether
    they are light or dark follows the notebook's theme, which need not be the system's.
    """
    style = (
        f"display:block;width:100%;height:{_height(report)}em;max-height:85vh;resize:vertical;"
        "border:1px solid #8886;border-radius:6px;box-sizing:border-box"
    )
    page = escape(render(report, framed=True), quote=True)
    return (
        f'<style>{_THEMES}</style><iframe class="voile-report" srcdoc="{page}" '
        f'sandbox="allow-scripts allow-downloads" style="{style}" '
        f'title="{escape(report.title)}"></iframe>'
    )


_THEMES = "".join(
    f"{place} iframe.voile-report{{color-scheme:{scheme}}}"
    for place, scheme in (
        ('[data-jp-theme-light="true"]', "light"),
        ('[data-jp-theme-light="false"]', "dark"),
        ("body.vscode-light", "light"),
        ("body.vscode-dark", "dark"),
    )
)
"""How notebooks say that they are light or dark; a frame's media queries follow its own scheme."""


def _height(report: Report) -> int:
    """About how many lines the page takes, within what a notebook's cell should."""
    sentences = (report.answer, report.because, *report.in_clear, *report.guarantee, *report.notes)
    lines = sum(2 + len(text) // 80 for text in (*sentences, *report.not_protected))
    lines += sum(5 + 2 * len(table.rows) for table in report.tables)
    lines += 25 * len(report.all_charts()) + 6 * bool(report.cards) + 20 * len(report.parts)
    return min(64, 18 + lines)


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


@dataclass(frozen=True)
class Section:
    """A heading, what stands under it, and sections inside it; a folded one opens by a click."""

    key: str
    title: str
    content: str
    folded: bool = False
    inner: tuple[Section, ...] = ()


def _body(report: Report) -> Iterator[str]:
    sections = (*_sections(report, level=2), *_parts(report), *_closing(report))
    yield '<a class="skip" href="#answer">Skip to the answer</a>\n'
    yield blocks.banner(report)
    yield f'<div class="page">\n{_contents(sections)}<main>\n'
    yield blocks.opening(report, identity="answer")
    for section in sections:
        yield from _drawn(section, 2)
    yield (
        f"</main>\n</div>\n<footer>Made by voile {escape(report.provenance.version)}. This page is "
        "one file: it loads nothing and sends nothing. Charts are drawn by Vega and Vega-Lite "
        "(© University of Washington Interactive Data Lab, BSD-3-Clause).</footer>\n"
    )


def _sections(report: Report, *, level: int, prefix: str = "") -> Iterator[Section]:
    if report.guarantee:
        yield Section(f"{prefix}promise", report.about, blocks.promise(report))
    if report.sample:
        yield Section(f"{prefix}sample", "Before and after", blocks.sample(report.sample))
    if report.tables or report.charts or report.notes:
        yield Section(f"{prefix}found", "What was found", blocks.found(report, level + 1))
    if report.not_protected:
        items = blocks.bullets(report.not_protected)
        yield Section(f"{prefix}not-protected", "What is not protected", items)


def _parts(report: Report) -> Iterator[Section]:
    for number, part in enumerate(report.parts, start=1):
        prefix = f"part-{number}"
        inner = (
            *_sections(part, level=3, prefix=f"{prefix}-"),
            *_obtained(part, f"{prefix}-how"),
        )
        yield Section(prefix, part.title, blocks.opening(part), inner=inner)


def _closing(report: Report) -> Iterator[Section]:
    yield from _obtained(report, "how")
    tested = any(r.verdict is not None for r in (report, *report.parts))
    terms = (*report.terms, "verdict") if tested else report.terms
    if terms:
        yield Section("glossary", "Glossary", blocks.glossary(terms), folded=True)


def _obtained(report: Report, key: str) -> Iterator[Section]:
    if report.provenance != UNKNOWN:
        made = blocks.provenance(report.provenance)
        yield Section(key, "How it was obtained", made, folded=True)


def _contents(sections: Sequence[Section]) -> str:
    """Links to the sections that are there, and inside a part to its own."""
    answer = Section("answer", "The answer", "")
    return f'<nav aria-label="Contents">{_links((answer, *sections))}</nav>\n'


def _links(sections: Sequence[Section]) -> str:
    items = "".join(
        f'<li><a href="#{s.key}">{escape(s.title)}</a>{_links(s.inner) if s.inner else ""}</li>'
        for s in sections
    )
    return f"<ul>{items}</ul>"


def _drawn(section: Section, level: int) -> Iterator[str]:
    heading = f"<h{level}>{escape(section.title)}</h{level}>"
    kind = ' class="part"' if section.inner else ""
    yield f'<section id="{section.key}"{kind}>'
    if section.folded:
        yield f'<details class="fold"><summary>{heading}</summary>\n{section.content}</details>'
    else:
        yield f"{heading}\n{section.content}"
    for inner in section.inner:
        yield from _drawn(inner, level + 1)
    yield "</section>\n"


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
