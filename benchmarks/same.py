"""Whether plans are still the same, byte for byte: plan.json and every file that a tool reads, of each case below.

``python benchmarks/same.py`` prints a line a case and ends with 1 where one differs; ``--store`` keeps today's instead.
A move of code must leave them equal; report, pictures and run.json are for people and may differ.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

STORED = Path(__file__).parent / "data" / "same.json"
PROGRESS = re.compile(r"\d+ s: ")
FOR_PEOPLE = {"report.txt", "report.html", "run.json"}

CNV, TFC, STOCK = "examples/cnv_2w2a.onnx", "examples/tfc_1w1a.onnx", "examples/cnvw2a2_stock.json"
ZOO = "examples/zoo"
CASES = {
    "cnv on u250": f"{CNV} -p u250",
    "cnv at a rate": f"{CNV} -p u250 --fps 3000 --clock-mhz 250",
    "cnv on two xcku5p": f"{CNV} -p xcku5p --fpgas 2",
    "cnv on pynq-z1": f"{CNV} -p pynq-z1 --finn plus --label-select --constraint-style hard",
    "cnv for latency": f"{CNV} -p zcu104 --objective latency",
    "cnv, safe": f"{CNV} -p u280 --preset safe --finn plus --label-select",
    "dataflow graph of FINN": "examples/cnvw1a1.onnx -p pynq-z1",
    "tfc on zcu104": f"{TFC} -p zcu104",
    "tfc in blocks": f"{TFC} -p u50 --granularity block",
    "lenet": f"{ZOO}/lenet.onnx -p zcu104",
    "mobilenet": "examples/mobilenet_v1_w4a4.onnx -p u250",
    "vgg11": f"{ZOO}/vgg11.onnx -p zcu102",
    "three layers, layer by layer": f"{ZOO}/three_layer.onnx -p zcu104 --granularity layer",
    "mpcnn by hls4ml": f"{ZOO}/mpcnn.onnx --backend hls4ml -p u250",
    "mpcnn by fpgaconvnet": f"{ZOO}/mpcnn.onnx --backend fpgaconvnet -p u250",
    "two networks": f"{TFC} {ZOO}/tfc.onnx -p zcu104 --fps tfc_1w1a=100000 --fps tfc=10000",
    "networks at one memory": "examples/several/lenet5.onnx examples/several/cifar10.onnx --backend fcnnx -p zc706"
    " --fps lenet5=500 --fps cifar10=800 --memory-gbs 0.5",
    "one network at a memory": "examples/several/pilotnet.onnx --backend fcnnx -p pynq-z1 --fps 25 --memory-gbs 1",
    "in time, full": f"{CNV} -p pynq-z1 --reconfigure full --batch 256",
    "in time, regions": f"{CNV} -p pynq-z1 --reconfigure partial --area 0.6",
    "in time, on resources": f"{TFC} -p samo:zc706 --reconfigure full",
    "on resources": f"{TFC} -p samo:zc706",
}


def digests(arguments: str) -> dict[str, str]:
    """Return the SHA-256 of each file for tools that a plan writes; of a refusal, its words."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = [sys.executable, "-m", "floorflow", "plan", *arguments.split(), "-o", str(out)]
        fast = () if "samo:" in arguments else ("--effort", "fast", "--no-plots")
        done = subprocess.run([*command, *fast], capture_output=True, text=True, check=False)
        if done.returncode:
            said = done.stderr.replace(str(out), "OUT").splitlines(keepends=True)
            # A slow machine tells of its progress, "5 s: lowering".
            return {"exit": str(done.returncode), "error": "".join(s for s in said if not PROGRESS.match(s))}
        files = sorted(file for file in out.rglob("*") if file.is_file() and file.name not in FOR_PEOPLE)
        return {
            str(file.relative_to(out)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in files
            if file.suffix not in {".png", ".svg", ".pdf", ".html", ".md"}
        }


def main() -> int:
    """Compare, or store, the cases whose names hold the word that is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("word", nargs="?", default="", help="only cases with this word")
    parser.add_argument("--store", action="store_true", help="keep today's files as what later ones are compared with")
    parser.add_argument("-j", type=int, default=2, help="cases at a time")
    options = parser.parse_args()
    stored: dict[str, dict[str, str]] = json.loads(STORED.read_text()) if STORED.exists() else {}
    names = [name for name in CASES if options.word in name]
    differ = 0
    with ThreadPoolExecutor(options.j) as pool:
        for name, found in zip(names, pool.map(lambda name: digests(CASES[name]), names), strict=True):
            before = stored.get(name, {})
            wrong = sorted(file for file in before.keys() | found.keys() if before.get(file) != found.get(file))
            differ += bool(wrong)
            print(f"{name}: {len(found)} files, {', '.join(wrong[:6]) or 'equal'}", flush=True)
            stored[name] = found
    if options.store:
        STORED.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")
        return 0
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
