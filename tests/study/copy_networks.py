"""Copy what the tests of foldings need of FINN's networks and SetFolding's answers, in this folder's own form.

Use: ``python -m tests.study.copy_networks REFERENCE_FOLDER``. One line a network, for those of ``networks.jsonl.gz``:
``[name, streams, declared, rows]``.

* a stream: ``[source, port, target, port, elements a frame, last dimension, bits of one]``, an end -1 is the host;
* ``declared``: weight bits by engine before FINN shrank them, which is what SetFolding saw, where they differ;
* a row for each folding of ``networks.jsonl.gz``, in its order: ``[board or SetFolding's variant, mvau_wwidth_max (null
  for a folding made by hand), target cycles, whether FINN can build it, LUT and BRAM_18K with width converters]``.
"""

import gzip
import json
import sys
from math import prod
from pathlib import Path

from floorflow.backends.finn.attributes import bits_of
from floorflow.backends.finn.read.ports import output_type

HERE = Path(__file__).parent / "networks.jsonl.gz"


def shape(node: dict) -> tuple[int, ...]:
    """Return the shape of a node's output, channels last."""
    kind, a = node["op_type"].removesuffix("_hls").removesuffix("_rtl"), node["attrs"]
    pixels = a.get("numInputVectors", 1)
    pixels = tuple(pixels) if isinstance(pixels, list) else (pixels,)
    if kind == "MVAU":
        return (*pixels, a["MH"])
    if kind == "VVAU":
        return (*a["Dim"], a["Channels"])
    if kind == "ConvolutionInputGenerator":
        return (*a["OFMDim"], prod(a["ConvKernelDim"]) * a["IFMChannels"])
    if kind == "FMPadding":
        top, left, bottom, right = a["Padding"]
        return (a["ImgDim"][0] + top + bottom, a["ImgDim"][1] + left + right, a["NumChannels"])
    if kind == "Pool":
        return (*a["OutImgDims"], a["Channels"])
    if kind == "StreamingMaxPool":
        return (*(i // k for i, k in zip(a["ImgDim"], a["PoolDim"], strict=True)), a["NumChannels"])
    if kind == "DownSampler":
        side = (a["ImgDim"] - 1) // a["Stride"] + 1
        return (side, side, a["NumChannels"])
    if kind == "LabelSelect":
        return (*pixels, a["K"])
    return (*pixels, a["NumChannels"])


def streams(nodes: list[dict]) -> list[list]:
    """Return the streams; the host's into the first nodes have the shape of what those send on, or of their input."""
    makers = {tensor: (i, port) for i, node in enumerate(nodes) for port, tensor in enumerate(node["outputs"])}
    read, between = set(), []
    for i, node in enumerate(nodes):
        for port, tensor in enumerate(node["inputs"]):
            read.add(tensor)
            source, out = makers.get(tensor, (-1, 0))
            if source < 0:
                between.append([-1, 0, i, port, *entering(node)])
            else:
                between.append([source, out, i, port, *leaving(nodes[source])])
    last = [(tensor, ends) for tensor, ends in makers.items() if tensor not in read]
    return between + [[i, port, -1, 0, *leaving(nodes[i])] for _, (i, port) in last]


def leaving(node: dict) -> tuple[int, int, int]:
    sizes = shape(node)
    return prod(sizes), sizes[-1], output_type(node["op_type"], node["attrs"]).bits


def entering(node: dict) -> tuple[int, int, int]:
    a = node["attrs"]
    channels = next(a[key] for key in ("MW", "NumChannels", "IFMChannels") if key in a)
    pixels = prod(a.get("IFMDim", a.get("ImgDim", prod_of(a.get("numInputVectors", 1)))))
    return pixels * channels, channels, bits_of(a["inputDataType"])


def prod_of(value: int | list[int]) -> list[int]:
    return value if isinstance(value, list) else [value]


def network(folder: Path, name: str) -> list:
    """Return one line."""
    nodes = json.loads((folder / f"models/{name}.layers.json").read_text())["nodes"]
    declared = {}
    for node in nodes:
        before = node.get("pre_min_attrs", {}).get("weightDataType")
        if node["op_type"].startswith("MVAU") and before and before != node["attrs"]["weightDataType"]:
            declared[node["name"]] = bits_of(before)
    by_hand = json.loads((folder / f"models/{name}.baselines.json").read_text())["baselines"]
    rows = [[row["board"], None, None, row["legal"], *converted(row["total_with_dwc"])] for row in by_hand]
    with gzip.open(folder / f"setfolding/{name}.json.gz", "rt") as file:
        for row in json.load(file)["rows"]:
            legal = not row["illegal"] and not row["build_illegal"]
            with_converters = converted(row["with_dwc"]["total"])
            rows.append([row["variant"], row["mvau_wwidth_max"], row["target"], legal, *with_converters])
    return [name, streams(nodes), declared, rows]


def converted(total: dict) -> list[int]:
    return [int(total["LUT"]), int(total["BRAM_18K"])]


def main(folder: Path) -> None:
    """Write the copy."""
    names = sorted(path.name.removesuffix(".layers.json") for path in (folder / "models").glob("*.layers.json"))
    text = "".join(json.dumps(network(folder, name), separators=(",", ":")) + "\n" for name in names)
    HERE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
