"""How the documentation is built: `make docs`."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "spheremix"
author = "The spheremix developers"
project_copyright = "the spheremix developers"
version = release = installed_version("spheremix")

extensions = [
    "live_report",
    "myst_parser",
    "numpydoc",
    "offline",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "gallery/*.py", "gallery/*.ipynb", "gallery/*.md5"]

# The pages are plain Markdown that also reads well where the repository is browsed.
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": True}
autodoc_typehints = "none"  # numpydoc's sections have them
numpydoc_show_class_members = False  # autodoc lists them
# Names of other packages: nothing is looked up on a network while the pages are built.
nitpick_ignore_regex = [("py:.*", r"(numpy|scipy|sklearn|matplotlib|pandas)\..*")]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": (),
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
}

html_theme = "furo"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_title = "spheremix"
html_show_sourcelink = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def leave_to_others(*event: Any) -> bool:
    """Leave out what classes inherit from scikit-learn and Python, which document it."""
    _, _, _, member, skip, _ = event
    member = getattr(member, "fget", member)  # of a property, its function
    owner = getattr(member, "__objclass__", member)  # of what is built in, its class
    home = str(getattr(owner, "__module__", ""))
    return bool(skip) or home.partition(".")[0] in {"sklearn", "builtins"}


def setup(app: Any) -> None:
    """Connect the above."""
    app.connect("autodoc-skip-member", leave_to_others)
