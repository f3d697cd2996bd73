"""The notebook in ``examples/`` runs from top to bottom, and shows what it shows in the repository."""

import json
from pathlib import Path
from typing import Any

import pytest

from examples.make_notebook import NOTEBOOK, run
from tests.plans import EXAMPLES


def seen(notebook: dict[str, Any]) -> list[tuple[str, list[tuple[list[str], bool]]]]:
    """Return the texts that each cell of code shows, and which of them come with a picture."""
    return [
        (
            "".join(cell["source"]),
            [
                (out["data"]["text/plain"], "image/png" in out["data"]) if "data" in out else (out["text"], False)
                for out in cell["outputs"]
            ],
        )
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


@pytest.mark.slow
@pytest.mark.plan
def test_its_cells_run_in_order_and_show_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cnv_2w2a.onnx").symlink_to(EXAMPLES / "cnv_2w2a.onnx")
    monkeypatch.chdir(tmp_path)
    kept = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert seen(run(kept)) == seen(kept), "python examples/make_notebook.py makes it anew"
    assert sum(has_picture for _, outputs in seen(kept) for _, has_picture in outputs) == 2
    assert (tmp_path / "out" / "notebook" / "plots" / "floorplan_fpga0.png").exists()
