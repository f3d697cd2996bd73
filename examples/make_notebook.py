"""Run plan_cnv.ipynb from top to bottom, and keep what its cells show: ``python examples/make_notebook.py``.

A test runs the same cells and compares; seconds, which differ between equal runs, are kept as dashes.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import pprint
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image

NOTEBOOK = Path(__file__).resolve().parent / "plan_cnv.ipynb"
_SECONDS = re.compile(r"\d+\.\d\d s$", re.MULTILINE)
_WIDEST_PIXELS = 1400
_COLOURS = 64
"""Of a picture that is kept: what is seen beside the text, not what is printed large."""

Cell = dict[str, Any]


def outputs_of(cell: Cell, number: int, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a cell as a notebook does; return what it prints, then what its last line is, if that is an expression."""
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, NOTEBOOK.name, "exec"), names)  # noqa: S102
        if last is not None:
            value = eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)  # noqa: S307
    text = _SECONDS.sub("-.-- s", printed.getvalue())
    told = [{"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}] if text else []
    if value is None:
        return told
    return [
        *told,
        {"data": _shown(value), "execution_count": number, "metadata": {}, "output_type": "execute_result"},
    ]


def _shown(value: Any) -> dict[str, Any]:
    text = pprint.pformat(value, width=116, compact=True) if isinstance(value, Mapping) else repr(value)
    data: dict[str, Any] = {"text/plain": text.splitlines(keepends=True)}
    return data | ({"image/png": _small(value._repr_png_())} if hasattr(value, "_repr_png_") else {})


def _small(png: bytes) -> str:
    """Return a picture in few colours, as notebooks hold it."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.thumbnail((_WIDEST_PIXELS, _WIDEST_PIXELS))
    kept = io.BytesIO()
    picture.quantize(_COLOURS).save(kept, "PNG", optimize=True)
    return base64.b64encode(kept.getvalue()).decode()


def run(content: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with the outputs of its cells, run in order; its model lies in the working folder."""
    names: dict[str, Any] = {}
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    ran = {
        id(cell): cell | {"execution_count": number, "outputs": outputs_of(cell, number, names)}
        for number, cell in enumerate(code, 1)
    }
    return content | {"cells": [ran.get(id(cell), cell) for cell in content["cells"]]}


if __name__ == "__main__":
    work = Path(tempfile.mkdtemp())
    (work / "cnv_2w2a.onnx").symlink_to(NOTEBOOK.with_name("cnv_2w2a.onnx").resolve())
    os.chdir(work)
    made = run(json.loads(NOTEBOOK.read_text(encoding="utf-8")))
    NOTEBOOK.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
