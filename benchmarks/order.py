"""Plan networks over several cards in order and print what passes links, and what the order costs.

    python benchmarks/order.py [FOLDER] [--effort default]

FOLDER holds the models that examples have not (default: ../shared/models). Each is planned and checked in commands of
their own; *out of order* is what the plan says of streams that may go back.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
from pathlib import Path

from joint import MODELS
from links import floorflow

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
CASES = (
    ("resnet50_w1a2.onnx", "alveo-u250", 2),
    ("resnet50_w1a2.light.qonnx.onnx", "alveo-u250", 2),
    ("brevitas_RESNET18_4W4A_ts.light.onnx", "alveo-u250", 2),
    ("densenet121_w4a4.onnx", "alveo-u250", 2),
    ("brevitas_quant_mobilenet_v1_4b.light.onnx", "xcku5p", 2),
    ("resnet50_w1a2.onnx", "xcku5p", 3),
    ("resnet50_w1a2.onnx", "xcku5p", 4),
)
HEADINGS = ("network", "board", "cards", "verdict", "interval", "bound", "streams over links: bits", "crossing cost")
MORE = ("fullest slot", "out of order", "CPU s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=MODELS, help="folder of models")
    parser.add_argument("--effort", default="default")
    chosen = parser.parse_args()
    headings = (*HEADINGS, *MORE)
    print("| " + " | ".join(headings) + " |")
    print("|" + "---|" * len(headings))
    for name, board, cards in CASES:
        model = EXAMPLES / name if (EXAMPLES / name).exists() else chosen.folder / name
        cells = [name.split(".")[0], board, f"{cards}", *row(model, board, cards, chosen.effort)]
        print("| " + " | ".join(cells) + " |", flush=True)


def row(model: Path, board: str, cards: int, effort: str) -> list[str]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/out"
        where = ("-p", board, "--fpgas", f"{cards}", "--effort", effort, "--bargains", "none")
        done = floorflow("plan", str(model), *where, "-o", out, "--no-plots", "--json", "-q")
        seconds = f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before:.0f}"
        if done.returncode:
            return [f"exit {done.returncode}: {' '.join(done.stderr.split())[:200]}", *[""] * 6, seconds]
        verdict = "legal" if floorflow("check", out).returncode == 0 else "ILLEGAL"
        plan = json.loads(done.stdout)
    (phase,), (network,) = plan["phases"], plan["networks"]
    partition = phase["partition"]
    streams = [f"{each['width_bits']}" for each in partition["crossings"] if each["kind"] == "link"]
    other = network["search"]["other_order"]
    return [
        verdict,
        f"{network['search']['interval_cycles']:,}",
        f"{network['search']['bound_cycles']:,}",
        f"{len(streams)}: {' + '.join(streams)}",
        f"{partition['cost']:,}",
        f"{partition['fullness']['objective']:.1%}",
        "at the bound" if other is None else f"{other['cycles']:,}" if other["cycles"] else "none faster",
        seconds,
    ]


if __name__ == "__main__":
    main()
