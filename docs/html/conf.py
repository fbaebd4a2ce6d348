# SPDX-License-Identifier: GPL-2.0-only
# How Sphinx builds the documents as HTML. docs/Makefile gathers them in one directory: README.md as
# index.md, the other documents under their own paths, the man pages as man/NAME.SECTION.md, the
# headers under their own paths.
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

project = "auxtrace"
author = "the auxtrace developers"
# docs/Makefile passes -D version and -D release.
extensions = ["myst_parser", "mentions"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

# "--all" is an option, not a dash.
smartquotes = False

html_theme = "alabaster"
html_theme_options = {
    "description": "Intel PT and BTS around an event, on stock Linux kernels",
    "page_width": "1240px",
    "sidebar_width": "260px",
    "body_max_width": "auto",
    # 110 characters of a diagram fit.
    "code_font_size": "0.8em",
    "show_powered_by": False,
}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_copy_source = False
html_show_sourcelink = False
# A block that names no language holds command lines or a synopsis.
highlight_language = "none"
