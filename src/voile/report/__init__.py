"""Findings and guarantees as one page that opens offline, and its charts as pictures.

`Report` is what a page says; one function a task builds it from the facts that the task's `--json`
prints, never from records; `write_report` renders any of them, `write_charts` saves the pictures.
"""

from voile.exports import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
