"""How the site is built: sphinx-build -W docs docs/_build."""

import re
import sys
from pathlib import Path
from typing import get_origin

import numpy as np
from docutils import nodes

import voile
from voile.core import arrays

sys.path.insert(0, str(Path(__file__).parent))
from api_pages import write_api_pages

project = "voile"
author = "The voile authors"
copyright = "The voile authors. Apache-2.0"
release = version = voile.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "code"
smartquotes_action = "qe"  # quotes and dots; two hyphens begin an option
nitpicky = False
suppress_warnings = ["myst.header", "ref.python"]  # two rooms may each have a Head
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = f"voile {release}"
html_static_path = ["_static"]
html_css_files = ["voile.css"]
html_copy_source = False
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/version.html",
        "sidebar/scroll-end.html",
    ]
}
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#00578a", "color-brand-content": "#00578a"},
    "dark_css_variables": {"color-brand-primary": "#6cb8e6", "color-brand-content": "#6cb8e6"},
}

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {
    "members": True,
    # scikit-learn adds the requests to every estimator, with links into its own pages
    "exclude-members": "examples, set_fit_request, set_predict_request, set_score_request",
}
autodoc_type_aliases = {
    name: name for name, value in vars(arrays).items() if get_origin(value) is np.ndarray
}
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"

# What is copied is what is typed: neither prompts nor what a command printed.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"


def as_prose(app, what, name, obj, options, lines):
    """Docstrings say |x|: a bar is a bar, and not the start of a substitution."""
    for number, line in enumerate(lines):
        if ">>>" not in line:
            lines[number] = line.replace("|", r"\|")


def with_short_types(app, what, name, obj, options, signature, returns):
    """An alias inside a union is shown as its name, as it is elsewhere."""
    return tuple(
        text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text)
        for text in (signature, returns)
    )


def without_last_gap(app, doctree):
    """The empty line that ends an example for the tests is not shown."""
    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():
            block.rawsource = block.astext().rstrip()
            block.children = [nodes.Text(block.rawsource)]


def setup(app):
    write_api_pages(Path(__file__).parent / "reference" / "api")
    app.connect("doctree-read", without_last_gap)
    app.connect("autodoc-process-docstring", as_prose)
    app.connect("autodoc-process-signature", with_short_types)
