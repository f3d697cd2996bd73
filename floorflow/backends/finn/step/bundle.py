"""The steps as one file that needs nothing of floorflow: what a plan brings along for FINN's own environment."""

import ast
from functools import cache
from pathlib import Path
from threading import Lock

MODULES = (
    "graph",
    "match",
    "kernels",
    "slices",
    "settings",
    "cut",
    "modules",
    "early",
    "kernel_files",
    "filled",
    "bind",
    "cards",
    "steps",
    "vectors",
)
"""The modules in the order in which each needs only earlier ones."""
_OWN = "floorflow.backends.finn.step."
_PARSING = Lock()
"""Python 3.11 counts the depth of what it parses for all threads at once, and fails where two of them parse."""


@cache
def bundled(version: str) -> str:
    """Return floorflow_step.py."""
    imports: set[str] = set()
    with _PARSING:
        bodies = [f"# {name}\n\n{_body(_text(name), imports)}" for name in MODULES]
        docstring = ast.get_docstring(ast.parse(_text("steps"))) or ""
    about = f'"""{docstring}\n\nFrom floorflow {version} (Apache-2.0); do not edit.\n"""'
    head = f"{about}\n\nfrom __future__ import annotations\n"
    return "\n".join([head, *sorted(imports, key=_import_key), "", "", "\n\n\n".join(bodies)]) + "\n"


def _text(name: str) -> str:
    return Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")


def _body(text: str, imports: set[str]) -> str:
    """Return a module without its docstring and imports, which are collected."""
    lines = text.splitlines()
    tree = ast.parse(text)
    taken: set[int] = set()
    for index, node in enumerate(tree.body):
        is_docstring = index == 0 and isinstance(node, ast.Expr)
        if not is_docstring and not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        taken |= set(range(node.lineno - 1, node.end_lineno or node.lineno))
        module = getattr(node, "module", None) or ""
        if not is_docstring and module != "__future__" and not module.startswith(_OWN):
            imports.add(" ".join("\n".join(lines[node.lineno - 1 : node.end_lineno]).split()))
    return "\n".join(line for index, line in enumerate(lines) if index not in taken).strip("\n")


def _import_key(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line
