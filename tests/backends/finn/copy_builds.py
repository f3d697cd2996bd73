"""Copy the graph and the kernels of real builds into this folder, without weights and paths.

Use: ``python tests/backends/finn/copy_builds.py BUILDS_FOLDER``. FINN+ builds of TFC w1a1 for PYNQ-Z2 (Vivado 2022.2 or
near) of alhusseingamal/finn-brevitas-pynq-labs, August 2026: each folder holds ``graph_with_fifos.onnx`` and
``kernel_partitions`` as the build left them.
"""

import sys
from pathlib import Path

import onnx

from tests.backends.finn.copy_graphs import BOOKKEEPING

HERE = Path(__file__).parent / "builds"
PATHS = (*BOOKKEEPING, "model", "code_gen_dir_cppsim")


def light(model: onnx.ModelProto) -> onnx.ModelProto:
    """Drop weights, paths and bookkeeping; an input without a tensor is a parameter as well."""
    del model.graph.initializer[:]
    del model.graph.quantization_annotation[:]
    del model.metadata_props[:]
    for node in model.graph.node:
        kept = [attribute for attribute in node.attribute if attribute.name not in PATHS]
        del node.attribute[:]
        node.attribute.extend(kept)
    return model


def main(folder: Path) -> None:
    for build in sorted(path for path in folder.iterdir() if path.is_dir()):
        for path in (build / "graph_with_fifos.onnx", *sorted((build / "kernel_partitions").glob("*.onnx"))):
            target = HERE / build.name / path.relative_to(build)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(light(onnx.load(path)).SerializeToString(deterministic=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
