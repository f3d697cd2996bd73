"""The emitted steps are one file of several modules: what they call their own must not meet."""

from __future__ import annotations

import ast
from collections import Counter

from floorflow.backends.finn.step.bundle import bundled

TREE = ast.parse(bundled("0"))


def test_every_name_is_defined_once() -> None:
    named = [n.name for n in TREE.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    named += [t.id for n in TREE.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)]
    assert [name for name, count in Counter(named).items() if count > 1] == []


def test_nothing_of_floorflow_is_imported() -> None:
    imports = [n.module or "" for n in ast.walk(TREE) if isinstance(n, ast.ImportFrom)]
    assert imports
    assert not [name for name in imports if name.startswith("floorflow")]
