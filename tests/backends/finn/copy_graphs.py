"""Copy real FINN graphs into this folder, without weights, paths and all that only FINN's tools need.

Use: ``python tests/backends/finn/copy_graphs.py LIVE_FOLDER REAL_BUILD_FOLDER``. ``cycles_estimate``, FINN's own
cycles, stays with every node, so that each graph brings what it is tested against:

* ``cnv_2w2a`` and ``rn18``: made by FINN+ 1.6.1 after step_minimize_bit_width, with the folding of its SetFolding;
* ``mobilenet_v1_w4a4``: made in the same way, with the steps of FINN+'s own ``custom_step_library.mobilenet`` and
  thresholds that stand alone (``tests/tools_finn/finn_plus.py`` converts);
* ``metafi_1_partition`` ... ``metafi_3_fifos``: a real build (public history of eki-project/finn-plus, BSD-3), after
  step_create_dataflow_partition, step_apply_folding_config and step_set_fifo_depths.
"""

import gzip
import sys
from pathlib import Path

import onnx

HERE = Path(__file__).parent / "graphs"
LIVE = {"cnv_2w2a.onnx": "cnv_2w2a", "rn18.onnx": "rn18", "mobilenet_v1_w4a4.onnx": "mobilenet_v1_w4a4"}
BUILD = {
    "1_step_create_dataflow_partition.light.onnx": "metafi_1_partition",
    "2_step_apply_folding_config.light.onnx": "metafi_2_folding",
    "3_step_set_fifo_depths.light.onnx": "metafi_3_fifos",
}
BOOKKEEPING = (
    *("code_gen_dir_ipgen", "gen_top_module", "ip_path", "ip_vlnv", "ipgen_path", "cpp_interface", "hls_style"),
    *("exec_mode", "output_hook", "executable_path"),
)


def copied(model: onnx.ModelProto) -> onnx.ModelProto:
    """Drop bookkeeping and what inference can do without."""
    for node in model.graph.node:
        hardware = [attribute for attribute in node.attribute if attribute.name not in BOOKKEEPING]
        del node.attribute[:]
        node.attribute.extend(hardware)
    del model.graph.quantization_annotation[:]
    del model.metadata_props[:]
    model.doc_string = ""
    return model


def main(live: Path, build: Path) -> None:
    """Write every copy."""
    for folder, files in ((live, LIVE), (build, BUILD)):
        for source, name in files.items():
            if not (folder / source).exists():
                continue
            data = copied(onnx.load(folder / source)).SerializeToString(deterministic=True)
            (HERE / f"{name}.onnx.gz").write_bytes(gzip.compress(data, 9, mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
