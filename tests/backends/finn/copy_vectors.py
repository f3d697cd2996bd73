"""Copy FINN's answers, its networks and a real build into this folder's own compact form.

Use: ``python tests/backends/finn/copy_vectors.py REFERENCE_FOLDER REAL_BUILD_FOLDER ASKED_FOLDER``; the last holds what
``ask_finn.py`` answered, ``main.jsonl``, ``dev.jsonl`` and ``plus.jsonl``. One line a row:

* answers: ``[versions that say so, op type, attributes, cycles, LUT, BRAM_18K, URAM, DSP by family, input width, output
  width]``, memory and logic on UltraScale+; a width is null where FINN refuses to tell it.
* networks: ``[name, engines, foldings]``; an engine is ``[name, op type, attributes]``, a folding ``[part, folding,
  largest cycles, total of LUT, BRAM_18K, URAM and DSP, cycles and the four by engine if they were recorded]``.
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
COSTS = ("LUT", "BRAM_18K", "URAM", "DSP")
ELSEWHERE = {"slr", "mem_port", "partition_id", "device_id", "inFIFODepths", "outFIFODepths"}


def rows(path: Path) -> list[dict]:
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def write(name: str, lines: list[list]) -> None:
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (HERE / name).write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def told(row: dict) -> list:
    dsp = [row[f"DSP_{family}"] for family in FAMILIES]
    return [*(row[name] for name in ("cycles", "LUT", "BRAM_18K", "URAM")), dsp, row["in_width"], row["out_width"]]


def answers(vectors: Path, asked: Path) -> list[list]:
    """Merge equal answers of several versions."""
    found: dict[str, list[str]] = {}

    def note(version: str, row: dict, numbers: list) -> None:
        text = json.dumps([row["op_type"], row["attrs"], *numbers], separators=(",", ":"))
        if version not in (versions := found.setdefault(text, [])):
            versions.append(version)

    for path in sorted(vectors.glob("*.jsonl.gz")):
        if not path.name.startswith("finnplus_"):
            version = "dev" if path.name.startswith("dev_") else "main"
            for row in rows(path):
                note(version, row, told(row))
    for version in ("main", "dev", "plus"):
        for line in (asked / f"{version}.jsonl").read_text().splitlines():
            row = json.loads(line)
            note(version, row, row["finn_says"])
    return [[versions, *json.loads(text)] for text, versions in sorted(found.items())]


def network(folder: Path, name: str) -> list:
    """Join the engines of a network with every folding whose cost FINN told."""
    nodes = json.loads((folder / f"models/{name}.layers.json").read_text())["nodes"]
    engines = [
        [node["name"], node["op_type"], {key: value for key, value in node["attrs"].items() if key not in ELSEWHERE}]
        for node in nodes
    ]
    foldings = []
    for row in json.loads((folder / f"models/{name}.baselines.json").read_text())["baselines"]:
        each = [[row["layers"][e[0]]["cycles"], *(int(row["layers"][e[0]][cost]) for cost in COSTS)] for e in engines]
        foldings.append([row["part"], chosen(row), row["max_cycles"], totals(row), each])
    with gzip.open(folder / f"setfolding/{name}.json.gz", "rt") as file:
        sweep = json.load(file)
    foldings += [[sweep["part"], chosen(row), row["max_cycles"], totals(row), None] for row in sweep["rows"]]
    return [name, engines, foldings]


def chosen(row: dict) -> dict:
    return {name: values for name, values in row["folding"].items() if name != "Defaults"}


def totals(row: dict) -> list[int]:
    return [int(row["total"][cost]) for cost in COSTS]


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


def main(reference: Path, build: Path, asked: Path) -> None:
    HERE.mkdir(exist_ok=True)
    write("answers.jsonl.gz", answers(reference / "vectors", asked))
    names = sorted(path.name.removesuffix(".layers.json") for path in (reference / "models").glob("*.layers.json"))
    write("networks.jsonl.gz", [network(reference, name) for name in names])
    fields = ("depth", "W", "ram_style", "versal", "style", "LUT", "BRAM_18K", "URAM")
    fifos = rows(reference / "vectors/finnplus_StreamingFIFO_rtl.jsonl.gz")
    write("fifo_plus.jsonl.gz", [[row[name] for name in fields] for row in fifos])
    write("metafi.jsonl.gz", real_build(build))


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:4]))
