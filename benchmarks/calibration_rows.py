"""Copy what real builds used into benchmarks/data/builds.jsonl.gz, the form that calibration.py reads.

    python benchmarks/calibration_rows.py REFERENCE_FOLDER

One line a build, ``{name, network, origin, source, part, told, measured, engines, fifos, shell}``: builds of one
``origin`` were made by the same people with the same tools; ``told`` is what FINN estimated for it, ``measured`` what
synthesis used and what the board did, ``engines`` ``[op type, attributes]`` in the order of the stream, ``fifos``
``[width in bits, depth, memory]`` where they are known, with what all of them used, and ``shell`` what lay outside of
FINN's nodes if that is known. Where every engine was measured alone, an
engine is ``[op type, attributes, LUT, FF, BRAM18, DSP]``, and where every FIFO was, a FIFO ends in its LUT, FF, BRAM18.

FINN+'s builds tell no folding: it is the one of the examples, and the estimate that follows from it is compared with
the estimate that the build recorded. FINN+ has no max pool of its own, so a depthwise window and a pool stand for one.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx

from floorflow.backends.finn.attributes import bits_of
from floorflow.backends.finn.kinds.thresholding import EQUAL_THRESHOLDS

HERE = Path(__file__).parent / "data"
Engine = list[Any]
Attributes = dict[str, Any]
ELSEWHERE = {"slr", "mem_port", "partition_id", "device_id", "inFIFODepths", "outFIFODepths", "M", "dynamic_mode"}
PART = "xczu48dr-ffvg1517-2-e"
"""The part of the board RFSoC2x2."""
THRESHOLDS = {"uniform_thres": 0, "depth_trigger_bram": 0, "depth_trigger_uram": 0}
BUILD_ONLY = ("code_gen", "ip", "gen_top", "cycles", "backend")
DESIGNS = {
    "cnv-w1a1": ("cnv", "bnn-pynq", "cnv-w1a1"),
    "cnv-w1a2": ("cnv", "bnn-pynq", "cnv-w1a2"),
    "cnv-w2a2": ("cnv", "bnn-pynq", "cnv-w2a2"),
    "gtsrb-w1a1": ("cnv", "gtsrb", ""),
    "tfc-w1a1": ("tfc", "bnn-pynq", "tfc-w1a1"),
    "tfc-w1a2": ("tfc", "bnn-pynq", "tfc-w1a2"),
    "tfc-w2a2": ("tfc", "bnn-pynq", "tfc-w2a2"),
    "kws-w3a3": ("kws", "kws", ""),
    "cybsec-w2a2": ("cybsec", "cybsec", ""),
    "vgg10-w4a4": ("vgg10", "vgg10", ""),
    "mobilenetv1-w4a4": ("mobilenet", "mobilenetv1", ""),
}
"""Network (its builds count as one), and the build's ``dut`` and a word of its ``model_path``."""


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def nodes(reference: Path, name: str) -> list[Engine]:
    layers = read(reference / f"finn/models/{name}.layers.json")["nodes"]
    engines = [
        [n["name"], n["op_type"], {k: v for k, v in n["attrs"].items() if k not in ELSEWHERE | {"ActVal"}}]
        for n in layers
    ]
    # The quantiser of images has one scale.
    engines[0][2] |= equal(engines[0][1])
    return engines


def folded(engines: list[Engine], folding: Attributes) -> list[Engine]:
    return [[name, kind, attributes | folding.get(name, {})] for name, kind, attributes in engines]


def with_pools(engines: list[Engine], lanes: tuple[int, ...]) -> Iterator[Engine]:
    """Yield the engines with FINN+'s pair in place of each max pool; ``lanes`` are their channels in parallel."""
    left = iter(lanes)
    for name, kind, unit in engines:
        if kind != "StreamingMaxPool_hls":
            yield [name, kind, unit]
            continue
        image, pool, channels, simd = unit["ImgDim"], unit["PoolDim"], unit["NumChannels"], next(left)
        output = [size // step for size, step in zip(image, pool, strict=True)]
        window = {"ConvKernelDim": pool, "IFMChannels": channels, "IFMDim": image, "OFMDim": output, "SIMD": simd}
        window |= {"Stride": pool, "Dilation": [1, 1], "depthwise": 1, "ram_style": "distributed", "parallel_window": 0}
        types = {"inputDataType": unit["dataType"], "outputDataType": unit["dataType"]}
        yield [name, "ConvolutionInputGenerator_rtl", window | types]
        reduced = {"Channels": channels, "PE": simd, "KernelSize": pool, "Function": "MaxPool", "OutImgDims": output}
        same = {
            "InputDataType": unit["dataType"],
            "OutputDataType": unit["dataType"],
            "AccumBits": 0,
            "BatchSize": 1,
        }
        yield [name, "Pool_hls", reduced | same]


def example(reference: Path, name: str) -> Attributes:
    return read(reference / f"finn_examples/{name}_folding_config.json")


def cnv(reference: Path, name: str) -> list[Engine]:
    folding = "gtsrb__gtsrb" if name.startswith("gtsrb") else f"bnn-pynq__{name}"
    engines = nodes(reference, "cnv-w2a2" if name.endswith("a2") else "cnv-w1a1")
    if name.startswith("gtsrb"):
        engines[-2][2]["MH"], engines[-1][2]["Labels"] = 44, 44
    lanes = (64, 1) if name.endswith("a2") else (2, 2)
    return list(with_pools(folded(engines, example(reference, folding)), lanes))


def tfc(reference: Path, name: str) -> list[Engine]:
    """Return TFC; two-bit activations need two-bit weights in FINN, whatever the network's are."""
    folding = example(reference, f"bnn-pynq__{name}") | {"Thresholding_rtl_0": {"PE": 14}}
    engines = folded(nodes(reference, "tfc-w1a1"), folding)
    if name == "tfc-w1a1":
        return engines
    wide = {"inputDataType": "INT2", "weightDataType": "INT2", "binaryXnorMode": 0}
    for _, kind, unit in engines:
        if kind == "MVAU_hls":
            sums = f"INT{1 + unit['MW'].bit_length()}"
            unit.update(wide, accDataType=sums, outputDataType=sums if unit["noActivation"] else "INT2")
    engines[0][2] |= {"outputDataType": "INT2", "numSteps": 3}
    engines[-1][2] |= {"inputDataType": engines[-2][2]["outputDataType"]}
    return engines


def kws(reference: Path, name: str) -> list[Engine]:
    """Return KWS with the quantiser of its 490 inputs; one set of thresholds serves them all, as one channel would."""
    quantiser = {"PE": 1, "NumChannels": 1, "numSteps": 255, "numInputVectors": [1, 490], "outputDataType": "INT8"}
    types = {"inputDataType": "FLOAT32", "weightDataType": "FLOAT32"}
    engines = folded(nodes(reference, "kws-w3a3"), example(reference, "kws__kws"))
    return [[name, "Thresholding_rtl", quantiser | types | THRESHOLDS], *engines]


def cybsec(reference: Path, name: str) -> list[Engine]:
    folding = read(reference / f"finn/models/{name}.baselines.json")["baselines"][0]["folding"]
    return folded(nodes(reference, name), folding)


def vgg10(reference: Path, _: str) -> list[Engine]:
    folding = read(reference / "finn/models/vgg10-radioml-w4a4.baselines.json")["baselines"][1]["folding"]
    return list(with_pools(folded(nodes(reference, "vgg10-radioml-w4a4"), folding), (32,) * 7))


def mobilenet(reference: Path, _: str) -> list[Engine]:
    """Return MobileNet with its thresholds in engines of their own, folded as for ZCU104 but without UltraRAM."""
    folding, engines = example(reference, "mobilenet-v1__ZCU104"), []
    counts = dict.fromkeys(("MVAU_rtl", "VVAU_hls", "Thresholding_rtl"), 0)
    for node, kind, unit in nodes(reference, "mobilenetv1-w4a4-fused"):
        if kind not in {"MVAU_hls", "MVAU_rtl", "VVAU_hls"}:
            late = node.rsplit("_", 1)[-1] in {"12", "13", "14"}
            memory = {"ram_style": "block" if late else "distributed"} if "ConvKernelDim" in unit else {}
            engines.append([node, kind, unit | folding.get(node, {}) | memory])
            continue
        built_kind = "VVAU_hls" if kind == "VVAU_hls" else "MVAU_rtl"
        own = {"SIMD": 1} | folding[f"{built_kind}_{counts[built_kind]}"] | {"runtime_writeable_weights": 0}
        own["ram_style"] = "auto"
        counts[built_kind] += 1
        engines.append([node, built_kind, unit | own | {"noActivation": 1, "outputDataType": unit["accDataType"]}])
        if not unit["noActivation"]:
            step = folding[f"Thresholding_rtl_{counts['Thresholding_rtl']}"]["PE"]
            counts["Thresholding_rtl"] += 1
            engines.append([node, "Thresholding_rtl", thresholding(unit, step)])
    return engines


def thresholding(unit: Attributes, lanes: int) -> Attributes:
    bits = unit["accDataType"]
    vectors = unit.get("numInputVectors") or [1, *unit["Dim"]]
    channels = unit.get("MH", unit.get("Channels"))
    types = {"inputDataType": bits, "weightDataType": bits, "outputDataType": unit["outputDataType"]}
    return {"PE": lanes, "NumChannels": channels, "numSteps": 15, "numInputVectors": vectors} | types | THRESHOLDS


CHAINS: dict[str, Callable[[Path, str], list[Engine]]] = {
    "cnv": cnv,
    "tfc": tfc,
    "kws": kws,
    "cybsec": cybsec,
    "vgg10": vgg10,
    "mobilenet": mobilenet,
}


def ours(engines: list[Engine]) -> list[Engine]:
    """Return the engines without names; FINN+ spells a constant's addition differently, but prices it as nothing."""
    return [[kind, attributes] for _, kind, attributes in engines]


def finn_plus(reference: Path) -> Iterator[dict[str, Any]]:
    builds = read(reference / "finn/finnplus_ci_metrics.json")
    for name, (network, dut, word) in DESIGNS.items():
        matching = [b for b in builds if b["params"]["params"]["dut"] == dut and b["metrics"]["status"] == "ok"]
        build = next(b for b in reversed(matching) if word in b["params"]["params"]["model_path"])
        metrics = build["metrics"]
        told, used = metrics["estimate"], metrics["synth"]["resources"]
        board = metrics["measurement"]["report_experiment_instrumentation"]
        amounts = told["resources"]
        yield {
            "name": name,
            "network": network,
            "origin": "FINN+",
            "source": f"FINN+ {build['commit'][:8]}, RFSoC2x2, Vivado 2024.2",
            "vivado": [2024, 2],
            "part": PART,
            "told": {key.replace("_18K", "18"): int(amounts[key]) for key in ("LUT", "BRAM_18K", "URAM", "DSP")}
            | {"cycles": told["performance"]["max_cycles"]},
            "measured": {key: int(used[key]) for key in ("LUT", "FF", "URAM", "DSP")}
            | {
                "BRAM18": int(used["BRAM_18K"] + 2 * used["BRAM_36K"]),
                "interval": board["interval_cycles"],
            },
            "fifo_bytes": 1000 * metrics["fifosizing"]["total_fifo_size_kB"],
            "engines": ours(CHAINS[network](reference, name)),
        }


def metafi(reference: Path) -> dict[str, Any]:
    """Return the build whose every instance was measured; names of two windows are swapped between its own files."""
    folder = reference / "finn_build_metafi"
    with (folder / "estimate_vs_synth.csv").open() as file:
        rows = {row["instance"]: row for row in csv.DictReader(file)}
    engines, fifos = [], []
    for node in onnx.load(folder / "3_step_set_fifo_depths.light.onnx").graph.node:
        if "fpgadataflow" not in node.domain:
            continue
        stated = {item.name: plain(onnx.helper.get_attribute_value(item)) for item in node.attribute}
        if node.op_type == "StreamingFIFO_rtl":
            bits = stated["folded_shape"][-1] * bits_of(stated["dataType"])
            fifos.append([bits, stated["depth"], "block" if stated["impl_style"] == "vivado" else "srl"])
            continue
        hardware = {key: value for key, value in stated.items() if not key.startswith(BUILD_ONLY)}
        alone = node.name in rows and not node.name.endswith(("Generator_rtl_13", "Generator_rtl_14"))
        costs = [int(rows[node.name][f"synth_{name}"]) for name in ("LUT", "FF", "BRAM18eq", "DSP")] if alone else []
        attributes = {k: v for k, v in hardware.items() if k not in ELSEWHERE}
        engines.append([node.op_type, attributes | equal(node.op_type), *costs])
    top = read(folder / "post_synth_resources.json")["(top)"]
    told = read(folder / "estimate_layer_resources.json")
    cycles = read(folder / "estimate_network_performance.json")["max_cycles"]
    return {
        "name": "metafi-w3a4",
        "network": "metafi",
        "origin": "metafi",
        "source": "a public build of FINN+, ZCU104, Vivado 2022.2",
        "vivado": [2022, 2],
        "part": "xczu7ev-ffvc1156-2-e",
        "told": {name.replace("_18K", "18"): sum_of(told, name) for name in ("LUT", "BRAM_18K", "URAM", "DSP")}
        | {"cycles": cycles},
        "measured": {name: top[name] for name in ("LUT", "FF", "URAM", "DSP")}
        | {"BRAM18": top["BRAM_18K"] + 2 * top["BRAM_36K"], "interval": None},
        "shell": {"LUT": 8191 + 14, "FF": 11137 + 34, "BRAM18": 2, "DSP": 0},
        "engines": engines,
        "fifos": fifos,
        "fifos_measured": [
            sum(int(row[f"synth_{name}"]) for row in rows.values() if row["op"] == "StreamingFIFO_rtl")
            for name in ("LUT", "FF", "BRAM18eq")
        ],
    }


PYNQ_BUILDS = ("auto", "custom_1", "custom_3", "custom_4")


def pynq_labs(reference: Path) -> Iterator[dict[str, Any]]:
    """Return four builds of TFC whose every node was measured, FIFOs and DMA engines too."""
    for name in PYNQ_BUILDS:
        folder = reference / "builds/tfc_w1a1_pynqz2" / name
        used = read(folder / "post_synth_resources.json")
        engines, fifos = [], []
        for file in sorted((folder / "kernel_partitions").glob("*.onnx")):
            for node in onnx.load(file).graph.node:
                stated = {item.name: plain(onnx.helper.get_attribute_value(item)) for item in node.attribute}
                # A Reshape is nothing but wires, and has no row.
                costs = amounts(used.get(node.name, {}))
                if node.op_type == "StreamingFIFO_rtl":
                    fifos.append(
                        [stated["folded_shape"][-1] * bits_of(stated["dataType"]), stated["depth"], "auto", *costs[:3]]
                    )
                    continue
                kept = {k: v for k, v in stated.items() if k not in ELSEWHERE and not k.startswith(BUILD_ONLY)}
                # Its one threshold serves all channels: `graph_with_fifos.onnx` has it in a tensor of shape 1 x 1.
                engines.append([node.op_type, kept | equal(node.op_type), *costs])
        top = amounts(used["(top)"])
        told = read(folder / "estimate_layer_resources.json")["total"]
        yield {
            "name": f"pynq-{name.replace('_', '')}",
            "network": "tfc",
            "origin": "pynq-labs",
            "source": "public builds of FINN+, PYNQ-Z2, Vivado 2023.2",
            "vivado": [2023, 2],
            "part": "xc7z020clg400-1",
            "told": {key.replace("_18K", "18"): int(told[key]) for key in ("LUT", "BRAM_18K", "URAM", "DSP")}
            | {"cycles": read(folder / "estimate_network_performance.json")["max_cycles"]},
            "measured": dict(zip(("LUT", "FF", "BRAM18", "DSP"), top, strict=True)) | {"URAM": 0, "interval": None},
            "engines": engines,
            "fifos": fifos,
            "shell": outside(top, engines, fifos),
        }


REBUILT = {
    "mlp_w2a1_pynqz2": ("mlp-w2a1", "mlp", "mlp-pynqz2", "FINN v0.10.1", (2022, 2)),
    "cnv_w1a1_pynqz2": ("cnv5-w1a1", "cnv5", "cnv5-pynqz2", "FINN v0.10", (2022, 1)),
}
"""Folder: name, network, origin, FINN and Vivado of builds whose graphs were rebuilt from folding and nodes' rows."""


def rebuilt(reference: Path) -> Iterator[dict[str, Any]]:
    """Return builds of FINN main whose every node was measured; a stitched node's name follows its partition's."""
    for folder, (name, network, origin, tool, vivado) in REBUILT.items():
        place = reference / "builds" / folder
        rows = read(place / "report/post_synth_resources.json")
        used = {row.removeprefix("StreamingDataflowPartition_1_"): cost for row, cost in rows.items()}
        engines, fifos = [], []
        for node in onnx.load(place / "intermediate_models/step_set_fifo_depths.onnx").graph.node:
            stated = {item.name: plain(onnx.helper.get_attribute_value(item)) for item in node.attribute}
            costs = amounts(used[node.name])
            if node.op_type == "StreamingFIFO_rtl":
                bits = stated["folded_shape"][-1] * bits_of(stated["dataType"])
                style = "block" if stated["impl_style"] == "vivado" else "srl"
                fifos.append([bits, stated["depth"], style, *costs[:3]])
                continue
            kept = {k: v for k, v in stated.items() if k not in ELSEWHERE and not k.startswith(BUILD_ONLY)}
            engines.append([node.op_type, kept, *costs])
        for row, cost in used.items():
            if "IODMA" in row:
                # The graph does not name them: what they used belongs to the board.
                engines.append(["IODMA_unknown", {}, *amounts(cost)])
        top = amounts(used["(top)"])
        yield {
            "name": name,
            "network": network,
            "origin": origin,
            "finn": "main",
            "source": f"a public build of {tool}, PYNQ-Z2, Vivado {vivado[0]}.{vivado[1]}",
            "vivado": vivado,
            "part": "xc7z020clg400-1",
            "told": {},
            "measured": dict(zip(("LUT", "FF", "BRAM18", "DSP"), top, strict=True)) | {"URAM": 0, "interval": None},
            "engines": engines,
            "fifos": fifos,
            "shell": outside(top, engines, fifos),
        }


def mlp_sweep(reference: Path) -> Iterator[dict[str, Any]]:
    """Return whole designs of two dense layers, 64-32-10, on another Zynq UltraScale+: totals and foldings are told.

    Cycles tell the layers (64 x 32 and 32 x 10 products), kinds that the first holds its thresholds and the second has
    none; DSP tell that products are as HLS of 2022.x makes them. The shell is taken for ZCU104's.
    """
    with (reference / "builds/zu3eg/mlp_sweep.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["target_fps"] != "1000"]
    shell = metafi(reference)["shell"]
    for index, row in enumerate(rows):
        bits, folding = int(row["sweep"].removeprefix("mlp_int")), json.loads(row["folding_json"])
        types = {"inputDataType": f"INT{bits}", "weightDataType": f"INT{bits}", "numInputVectors": [1]}
        wide = {"accDataType": "INT32", "noActivation": 0, "ActVal": 0, "outputDataType": f"UINT{bits}"}
        last = {"inputDataType": f"UINT{bits}", "outputDataType": f"INT{2 * bits + 5}", "noActivation": 1}
        yield {
            "name": f"mlp-w{bits}a{bits}-{index % 3 + 1}",
            "network": f"mlp-int{bits}",
            "origin": "finn-vs-vitisai",
            "finn": "main",
            "source": "public builds of FINN on xczu3eg, April 2026",
            "vivado": [2022, 2],
            "part": "xczu3eg-sbva484-1-e",
            "told": {},
            "measured": {name: int(row[name.lower()]) for name in ("LUT", "FF", "BRAM18", "DSP")}
            | {"URAM": 0, "interval": None},
            "engines": [
                ["MVAU_hls", {**types, **wide, "MW": 64, "MH": 32, **folding["MVAU_hls_0"]}],
                ["MVAU_rtl", {**types, **last, "MW": 32, "MH": 10, **folding["MVAU_rtl_0"]}],
            ],
            "shell": shell,
            "shell_is_assumed": True,
        }


def outside(top: list[int], engines: list[Engine], fifos: list[list[Any]]) -> dict[str, int]:
    """Return what a design used outside of FINN's nodes: the interface between processor and DMA engines."""
    inside = [*(engine[2:] for engine in engines), *([*fifo[3:], 0] for fifo in fifos)]
    names = ("LUT", "FF", "BRAM18", "DSP")
    return {name: top[i] - sum(each[i] for each in inside) for i, name in enumerate(names)}


def amounts(used: Attributes) -> list[int]:
    """Return LUT, FF, BRAM18 and DSP of a node in a report after synthesis."""
    blocks = used.get("BRAM_18K", 0) + 2 * used.get("BRAM_36K", 0)
    return [int(used.get("LUT", 0)), int(used.get("FF", 0)), int(blocks), int(used.get("DSP", 0))]


def equal(kind: str) -> Attributes:
    """Return the attribute of thresholds that are the same for all channels: synthesis keeps one set a lane."""
    return {EQUAL_THRESHOLDS: 1} if kind == "Thresholding_rtl" else {}


def sum_of(layers: Attributes, name: str) -> int:
    return int(sum(float(costs.get(name, 0)) for layer, costs in layers.items() if layer != "total"))


def plain(value: object) -> Any:
    return value.decode() if isinstance(value, bytes) else list(value) if hasattr(value, "__iter__") else value


def main() -> None:
    reference = Path(sys.argv[1])
    builds = [*finn_plus(reference), metafi(reference), *pynq_labs(reference), *rebuilt(reference)]
    builds.extend(mlp_sweep(reference))
    text = "".join(json.dumps(build, separators=(",", ":")) + "\n" for build in builds)
    (HERE / "builds.jsonl.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    for build in builds:
        print(f"{build['name']}: {len(build['engines'])} engines, measured {build['measured']}")


if __name__ == "__main__":
    main()
