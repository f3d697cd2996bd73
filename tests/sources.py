"""The package's source files, each read and parsed once, for rules that hold of all of them."""

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "floorflow"


@cache
def trees() -> Mapping[str, ast.Module]:
    """Return the syntax tree of each file of the package, by its path below ``floorflow``."""
    return {name: ast.parse(text) for name, text in texts().items()}


@cache
def texts() -> Mapping[str, str]:
    """Return the text of each file of the package, by its path below ``floorflow``."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in paths}
