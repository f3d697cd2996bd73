"""Copy what real builds say of their clock into benchmarks/data/clocks.json, the form that clock.py reads.

    python benchmarks/clock_rows.py REFERENCE_FOLDER

A build is ``{name, source, part, asked_ns, reached_ns, several_dies, engines}``: ``reached_ns`` is the period asked for
less the worst slack after routing; engines are ``[op type, attributes, LUT]``, with LUTs as synthesis counted them or,
where it did not engine by engine, as the calibrated costs of version 0.1 say.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.kinds.kind import priced
from floorflow.backends.finn.kinds.registry import known_kind
from floorflow.backends.finn.options import FinnOptions
from floorflow.technology import technology_of

HERE = Path(__file__).parent / "data"
Row = dict[str, Any]
Attributes = dict[str, Any]
NEEDED = {
    "PE", "SIMD", "K", "Labels", "inputDataType", "weightDataType", "outputDataType", "noActivation", "resType",
}  # fmt: skip
"""Attributes that paths depend on."""
PYNQ, ULTRA96, RFSOC = "xc7z020clg400-1", "xczu3eg-sbva484-1-e", "xczu48dr-ffvg1517-2-e"
TFC_WNS = {"auto": 1.163, "custom_1": -1.729, "custom_3": -1.985, "custom_4": 0.241}
"""builds/README.md."""
MOBILENET_MHZ = {"U250": 240, "U280": 180, "U200": 220}
"""user_asks.md: with FINN's floorplanner, 3 ns asked for; Vitis lowered the clock to what was reached."""


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def engine(kind: str, attributes: Attributes, luts: int | None, part: str) -> list[Any]:
    if luts is None:
        unit = known_kind(kind, "main").unit(attributes, "main")
        luts = priced(unit, technology_of(part), "calibrated").lut
    return [kind, {name: value for name, value in sorted(attributes.items()) if name in NEEDED}, luts]


def row(name: str, source: str, part: str, asked: float, reached: float, engines: list[Any], dies: bool = False) -> Row:
    return {
        "name": name,
        "source": source,
        "part": part,
        "asked_ns": asked,
        "reached_ns": round(reached, 3),
        "several_dies": dies,
        "engines": engines,
    }


def tfc(reference: Path) -> Iterator[Row]:
    options, technology = FinnOptions(finn="plus"), technology_of(PYNQ)
    for name, slack in TFC_WNS.items():
        folder = reference / "builds/tfc_w1a1_pynqz2" / name
        source = BACKEND.read(folder / "graph_with_fifos.onnx", options)
        built = read(folder / "post_synth_resources.json")
        luts = {key.removeprefix("StreamingDataflowPartition_1_"): value["LUT"] for key, value in _flat(built)}
        dataflow = BACKEND.lower(source, technology, options)
        hls = [e for e in dataflow.engines if e.kind.endswith("_hls")]
        engines = [engine(e.kind, {**e.attributes, **e.folding}, luts[e.name], PYNQ) for e in hls]
        yield row(f"tfc-{name}", "finn-brevitas-pynq-labs", PYNQ, 10.0, 10.0 - slack, engines)


def _flat(tree: Attributes) -> Iterator[tuple[str, Attributes]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield key.split("/")[-1], value
            yield from _flat(value)


def sweep(reference: Path) -> Iterator[Row]:
    """Yield the MLPs, each folding once: 64 x 32 with fused thresholds and 32 x 10, as their cycles say."""
    seen = set()
    with (reference / "builds/zu3eg/mlp_sweep.csv").open(encoding="utf-8") as file:
        for found in csv.DictReader(file):
            folding, bits = json.loads(found["folding_json"]), int(found["sweep"][-1])
            name = f"{found['sweep']}-{'-'.join(str(v) for f in folding.values() for v in f.values())}"
            if name in seen:
                continue
            seen.add(name)
            types = {"inputDataType": f"INT{bits}", "weightDataType": f"INT{bits}", "outputDataType": f"INT{bits}"}
            first = {"MW": 64, "MH": 32, "accDataType": f"INT{2 * bits + 6}", "noActivation": 0, "resType": "dsp"}
            first |= {"numInputVectors": (1,), "mem_mode": "internal_decoupled", **types, **folding["MVAU_hls_0"]}
            reached = 10.0 - float(found["wns_ns"])
            yield row(name, "finn-vs-vitisai", ULTRA96, 10.0, reached, [engine("MVAU_hls", first, None, ULTRA96)])


def stored() -> dict[str, Row]:
    with gzip.open(HERE / "builds.jsonl.gz", "rt", encoding="utf-8") as file:
        return {build["name"]: build for build in map(json.loads, file)}


def tuples(attributes: Attributes) -> Attributes:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in attributes.items()}


def bnn_pynq(reference: Path) -> Iterator[Row]:
    """Yield BNN-PYNQ's overlays of CNV; its own HLS library, taken to be folded as finn-examples fold them."""
    measured, builds = read(reference / "finn/bnn_pynq_postpr.json"), stored()
    for name in ("cnvW1A1", "cnvW1A2", "cnvW2A2"):
        found = builds[f"cnv-{name[3:].lower()}"]["engines"]
        engines = [engine(kind, tuples(attributes), None, PYNQ) for kind, attributes, *_ in found if kind == "MVAU_hls"]
        yield row(f"BNN-PYNQ-{name}", "BNN-PYNQ", PYNQ, 10.0, 10.0 - measured[name][0]["WNS_ns"], engines)


def alone(reference: Path) -> Iterator[Row]:
    """Yield FINN+'s single matrix units out of context."""
    for build in read(reference / "finn/finnplus_ci_metrics.json"):
        asked, timing = build["params"]["params"], build["metrics"].get("synth(ooc)", {}).get("timing")
        if asked["dut"] == "mvau" and timing:
            attributes = {"PE": 1, "SIMD": 1, "noActivation": 0, "resType": "lut", "outputDataType": asked["act"]}
            attributes |= {"inputDataType": asked["idt"], "weightDataType": asked["wdt"]}
            luts = int(build["metrics"]["synth(ooc)"]["resources"]["LUT"])
            name = f"mvau-{asked['idt']}-{asked['wdt']}"
            period = asked["synth_clk_period_ns"] - timing["WNS"]
            yield row(name, "FINN+ CI", RFSOC, 10.0, period, [engine("MVAU_hls", attributes, luts, RFSOC)])


def mobilenet(reference: Path) -> Iterator[Row]:
    layers = read(reference / "finn/models/mobilenetv1-w4a4-fused.layers.json")["nodes"]
    for base in read(reference / "finn/models/mobilenetv1-w4a4-fused.baselines.json")["baselines"]:
        if base["board"] not in MOBILENET_MHZ:
            continue
        folding = base["folding"]
        engines = [
            engine(n["op_type"], tuples({**n["attrs"], **folding.get(n["name"], {})}), None, base["part"])
            for n in layers
            if n["op_type"].endswith("_hls")
        ]
        reached = 1e3 / MOBILENET_MHZ[base["board"]]
        yield row(f"mobilenet-{base['board']}", "finn-examples", base["part"], 3.0, reached, engines, dies=True)


def main(reference: Path) -> None:
    rows = [*tfc(reference), *sweep(reference), *bnn_pynq(reference), *alone(reference), *mobilenet(reference)]
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in rows)
    (HERE / "clocks.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
