"""Copy builds to the tests: ``python -m tests.study.audit.copy_builds SOURCE``, as small as they need be.

SOURCE holds ``auto`` and ``custom_4``, FINN+ builds of TFC w1a1 for PYNQ-Z2 by alhusseingamal/finn-brevitas-pynq-labs.
The weights and the paths of the machine that built them are left out: no price depends on them.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import onnx

BUILDS = Path(__file__).parent / "builds"
NAMES = ("auto", "custom_4")
_PATHS = ("code_gen_dir", "ip_path", "ipgen_path", "ip_vlnv", "gen_top_module")


def copy(source: Path, target: Path) -> None:
    """Copy one build."""
    for path in sorted(path for path in source.rglob("*") if path.is_file()):
        copied = target / path.relative_to(source)
        copied.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".onnx":
            onnx.save(without_weights(onnx.load(path)), copied)
        else:
            shutil.copyfile(path, copied)


def without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a graph without weights and paths."""
    graph = model.graph
    del graph.initializer[:]
    del graph.quantization_annotation[:]
    for node in graph.node:
        for attribute in [a for a in node.attribute if a.name.startswith(_PATHS)]:
            node.attribute.remove(attribute)
    return model


if __name__ == "__main__":
    for name in NAMES:
        copy(Path(sys.argv[1]) / name, BUILDS / name)
