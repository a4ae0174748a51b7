"""Findings and guarantees as one page that opens offline, and its charts as pictures.

`Report` is what a page says; one function a task builds it from the facts that the task's `--json`
prints, never from records; `write_report` renders any of them, `write_charts` saves the pictures.
"""

from voile.report.model import Chart, Digest, Provenance, Report, Table, combined
from voile.report.page import render, write_report
from voile.report.pictures import write_charts

__all__ = [
    "Chart",
    "Digest",
    "Provenance",
    "Report",
    "Table",
    "combined",
    "render",
    "write_charts",
    "write_report",
]
