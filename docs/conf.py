"""How the site is built: sphinx-build -W docs docs/_build."""

import pkgutil
from pathlib import Path

import voile

project = "voile"
author = "The voile authors"
release = voile.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"voile {release}"
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}
default_role = "code"
nitpicky = False
suppress_warnings = ["myst.header"]


ROOMS = {
    "core": "The ideas everything else is built from",
    "metrics": "Distances between secrets",
    "mechanisms": "Mechanisms",
    "optimise": "Mechanisms that are solved for",
    "rewriting": "Neural text rewriters",
    "leakage": "What an attacker learns",
    "attackers": "Attackers",
    "audit": "Audits",
    "adapt": "Adapting",
    "domains": "Text, places and labels",
    "samples": "Made-up data to try things on",
    "jobs": "Releasing whole files",
    "report": "Reports",
    "tasks": "Use cases",
}


def write_api_pages():
    """One page a room, listing every public module of it."""
    folder = Path(__file__).parent / "reference" / "api"
    folder.mkdir(exist_ok=True)
    source = Path(voile.__file__).parent
    for room, title in ROOMS.items():
        found = pkgutil.walk_packages([str(source / room)], prefix=f"voile.{room}.")
        names = [module.name for module in found if not module.ispkg and "._" not in module.name]
        lines = [f"# voile.{room}: {title.lower()}", "", "```{eval-rst}"]
        lines += [f".. automodule:: {name}" for name in sorted(names)]
        page = folder / f"{room}.md"
        text = "\n".join([*lines, "```", ""])
        if names and (not page.exists() or page.read_text(encoding="utf-8") != text):
            page.write_text(text, encoding="utf-8")


write_api_pages()


def as_prose(app, what, name, obj, options, lines):
    """Docstrings say |x|: a bar is a bar, and not the start of a substitution."""
    for number, line in enumerate(lines):
        if ">>>" not in line:
            lines[number] = line.replace("|", r"\|")


def setup(app):
    app.connect("autodoc-process-docstring", as_prose)
