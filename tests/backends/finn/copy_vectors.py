"""Copy FINN's answers and a real build into this folder's own compact form.

Use: ``python tests/backends/finn/copy_vectors.py VECTORS_FOLDER REAL_BUILD_FOLDER``. One line a row:

* FINN main: ``[op type, attributes, cycles, LUT, BRAM_18K, URAM, DSP by family, input width, output width]``; a
  width is null where FINN refuses to tell it.
* FIFOs of FINN+: ``[depth, width, requested, versal, style, LUT, BRAM_18K, URAM]``.
* Real build, after synthesis: ``[op type, attributes, LUT, FF, BRAM18, DSP]``.
"""

import csv
import gzip
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent / "vectors"
FAMILIES = ("DSP48E1", "DSP48E2", "DSP58")
KINDS = (
    *("AddStreams_hls", "ChannelwiseOp_hls", "ConvolutionInputGenerator_rtl", "DownSampler_hls"),
    *("DuplicateStreams_hls", "FMPadding_Pixel_hls", "FMPadding_hls", "FMPadding_rtl", "GlobalAccPool_hls"),
    *("LabelSelect_hls", "MVAU_hls", "MVAU_rtl", "Pool_hls", "StreamingConcat_hls"),
    *("StreamingDataWidthConverter_hls", "StreamingDataWidthConverter_rtl", "StreamingEltwise_hls"),
    *("StreamingFIFO_rtl", "StreamingMaxPool_hls", "Thresholding_hls", "Thresholding_rtl"),
    *("UpsampleNearestNeighbour_hls", "VVAU_hls", "VVAU_rtl"),
)


def rows(path: Path) -> list[dict]:
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def write(name: str, lines: list[list]) -> None:
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (HERE / name).write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def engine(row: dict) -> list:
    dsp = [row[f"DSP_{family}"] for family in FAMILIES]
    costs = [row[name] for name in ("cycles", "LUT", "BRAM_18K", "URAM")]
    return [row["op_type"], row["attrs"], *costs, dsp, row["in_width"], row["out_width"]]


def real_build(folder: Path) -> list[list]:
    """Join attributes and synthesis results by instance name.

    Windows 13 and 14 were renumbered between the two files, FIFOs too: both are left out.
    """
    import onnx

    with (folder / "estimate_vs_synth.csv").open() as file:
        measured = {row["instance"]: row for row in csv.DictReader(file)}
    swapped = {"ConvolutionInputGenerator_rtl_13", "ConvolutionInputGenerator_rtl_14"}
    found = []
    for node in onnx.load(folder / "3_step_set_fifo_depths.light.onnx").graph.node:
        row = measured.get(node.name)
        if row is None or node.op_type == "StreamingFIFO_rtl" or node.name in swapped:
            continue
        attributes = {
            item.name: plain(onnx.helper.get_attribute_value(item))
            for item in node.attribute
            if not item.name.startswith(("code_gen", "ip", "gen_top", "cycles", "backend"))
        }
        costs = [int(row[name]) for name in ("synth_LUT", "synth_FF", "synth_BRAM18eq", "synth_DSP")]
        found.append([node.op_type, attributes, *costs])
    return found


def plain(value: object) -> object:
    return value.decode() if isinstance(value, bytes) else list(value) if hasattr(value, "__iter__") else value


def main(source: Path, build: Path) -> None:
    HERE.mkdir(exist_ok=True)
    write("main.jsonl.gz", [engine(row) for kind in KINDS for row in rows(source / f"{kind}.jsonl.gz")])
    names = ("depth", "W", "ram_style", "versal", "style", "LUT", "BRAM_18K", "URAM")
    fifos = rows(source / "finnplus_StreamingFIFO_rtl.jsonl.gz")
    write("fifo_plus.jsonl.gz", [[row[name] for name in names] for row in fifos])
    write("metafi.jsonl.gz", real_build(build))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
