"""The site: `sphinx-build -W -b html docs out/site`. It needs no network, and its pages ask for nothing elsewhere."""

import os
import re
from pathlib import Path
from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

HERE = Path(__file__).parent
ROOT = HERE.parent
OUTSIDE = HERE / "repository"
"""Pages made anew in every build of what lies in other folders; git ignores them."""
PAGES = {
    path: OUTSIDE / (path.relative_to(ROOT).as_posix().lower().replace("/readme", "").replace("/", "-"))
    for path in [
        *(ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "platforms/README.md", "examples/README.md")),
        *sorted(ROOT.glob("examples/*/README.md")),
        *sorted(ROOT.glob("benchmarks/*.md")),
    ]
}

project = "floorflow"
html_title = project
html_theme = "furo"
html_theme_options = {"navigation_with_keys": True}
html_copy_source = False
html_show_copyright = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
extensions = ["myst_parser"]
exclude_patterns = ["images"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # JSON with ... in it is shown without colours
html_math_renderer = "mathml"


def linked(text: str, source: Path, page: Path) -> str:
    """Return a document's text with its links to other files as they are from the place of its page."""

    def to(match: re.Match[str]) -> str:
        target = (source.parent / match[1]).resolve()
        return f"]({os.path.relpath(PAGES.get(target, target), page.parent)}"

    return re.sub(r"\]\((?![a-z]+:)([^)#\s]+)", to, text)


def _read(_app: Sphinx, name: str, text: list[str]) -> None:
    page = HERE / f"{name}.md"
    if page.parent == HERE:
        text[0] = linked(text[0], page, page)


def _inline(self: Any, node: Any) -> None:
    self.body.append(tex2mathml(node.astext()))
    raise SkipNode


def _display(self: Any, node: Any) -> None:
    self.body.append(tex2mathml(node.astext(), as_block=True))
    raise SkipNode


def setup(app: Sphinx) -> None:
    """Lay out the pages of other folders, and have equations written as MathML, which browsers show by themselves."""
    OUTSIDE.mkdir(exist_ok=True)
    for source, page in PAGES.items():
        text = linked(source.read_text(encoding="utf-8"), source, page)
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    app.connect("source-read", _read)
