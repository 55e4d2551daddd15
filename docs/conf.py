"""How the documentation site is built: `make docs`. Warnings are errors, so a dead link fails."""

import sys
from pathlib import Path

from headway import __version__

sys.path.append(str(Path(__file__).parent / "_extensions"))

project = "Headway"
copyright = "the authors of Headway, Apache-2.0"
release = __version__

extensions = [
    "myst_nb",  # Markdown, and notebooks that are run when the site is built
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "hwy_lexer",
    "plain_texts",
    "plugin_tables",
    "source_pages",
]
exclude_patterns = ["_extensions"]
highlight_language = "text"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
default_role = "code"  # docstrings write `name`
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = "Headway"
html_static_path = ["_static"]
html_css_files = ["headway.css"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5a8f", "color-brand-content": "#0b5a8f"},
    "dark_css_variables": {"color-brand-primary": "#6cb8e8", "color-brand-content": "#6cb8e8"},
}
