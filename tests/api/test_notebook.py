"""The notebook in ``examples/`` runs from top to bottom, and holds no output that could grow old."""

import ast
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import floorflow as ff
from tests.plans import EXAMPLES

NOTEBOOK = EXAMPLES / "plan_cnv.ipynb"
CELLS = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
CODE = [cell for cell in CELLS if cell["cell_type"] == "code"]


def shown(source: str, names: dict[str, Any]) -> Any:
    """Run a cell as a notebook does: return what its last line is, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, NOTEBOOK.name, "exec"), names)  # noqa: S102
    return eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names) if last else None  # noqa: S307


def test_its_cells_run_in_order_and_show_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cnv_2w2a.onnx").symlink_to(EXAMPLES / "cnv_2w2a.onnx")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ff, "plan", partial(ff.plan, effort="fast"))
    names: dict[str, Any] = {}
    values = [shown("".join(cell["source"]), names) for cell in CODE]
    pictures = [value._repr_png_() for value in values if hasattr(value, "_repr_png_")]
    assert values[-2] is True
    assert [picture[:8] for picture in pictures] == [b"\x89PNG\r\n\x1a\n"] * 2
    printed = capsys.readouterr().out
    for words in (
        "cnv_2w2a on alveo-u250: ",
        "recording ",
        "MVAU_hls_8 ",
        "files; legal: {",
        "engine too slow",
        "--fps ",
    ):
        assert words in printed
    assert (tmp_path / "out" / "notebook" / "plots" / "floorplan_fpga0.png").exists()


def test_no_output_is_stored() -> None:
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in CODE)
