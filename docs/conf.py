"""How the site is built: sphinx-build -W docs docs/_build."""

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


def as_prose(app, what, name, obj, options, lines):
    """Docstrings say |x|: a bar is a bar, and not the start of a substitution."""
    for number, line in enumerate(lines):
        if ">>>" not in line:
            lines[number] = line.replace("|", r"\|")


def setup(app):
    app.connect("autodoc-process-docstring", as_prose)
