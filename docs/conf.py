"""How `make docs` makes the site: every page is Markdown that can be read without it, too."""

from __future__ import annotations

import sys
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

import standout

project = "standout"
author = "the standout developers"
copyright = author
release = version = standout.__version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
extensions = [
    "flowcharts",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",  # Args, Returns and Raises in Google's form
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]

# Links to a heading (`focus.md#what-it-does`) work here as they do on GitHub.
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]
myst_links_external_new_tab = False

# Docstrings put code into single backticks.
default_role = "literal"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 80
python_use_unqualified_type_names = True

# Attributes of a class as one list, not as entries of their own.
napoleon_use_ivar = True

html_theme = "furo"
html_title = "standout"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    # The marks' own colours: an outlier's red on paper, its lighter twin on black.
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7fb8e0", "color-brand-content": "#7fb8e0"},
}
pygments_style = "friendly"
pygments_dark_style = "monokai"


def setup(app: Sphinx) -> None:
    """Name what GitHub colours and Pygments does not know."""
    app.add_lexer("csv", TextLexer)
