"""The documentation site: `make docs` builds it from the pages of this folder, without the network."""

from __future__ import annotations

project = "intentc"
author = "the intentc developers"
extensions = ["myst_parser"]
myst_heading_anchors = 3
exclude_patterns = ["pictures"]
nitpicky = True

html_theme = "furo"
html_title = "intentc"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5fbf", "color-brand-content": "#1f5fbf"},
    "dark_css_variables": {"color-brand-primary": "#85b4f5", "color-brand-content": "#85b4f5"},
    "navigation_with_keys": True,
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
