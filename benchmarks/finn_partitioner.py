"""Cut networks over FPGAs with FINN+'s own partitioner, and compare with floorflow on the same figures.

    export FLOORFLOW_FINN_PLUS=FOLDER            # an environment with FINN+
    pip install --target CBC --no-deps cbcbox    # CBC for FINN+'s python-mip, where that environment has none
    python benchmarks/finn_partitioner.py PLAN_FOLDER... --cbc CBC [--topology chain|returnchain] [--seconds 100]

A plan's engines are the nodes and its channels the edges of the graph that FINN+'s ``AuroraPartitioner`` gets, with the
resources of the plan: of an engine with the FIFO and converter in front of it. (FINN+ stops where a node has no
estimate of its own.) Rows of each plan: FINN+ with cuts of one stream, its default, and with any cuts; floorflow's
partition of the same engines to the same cards, under FINN+'s limit of 80% of each, fewest streams first and then
fewest bits; and the plan as it is, in which SLRs, caps and likelihoods count as well. Seconds are of one CPU, for the
mapping alone, the model included. FINN+ wants devices evenly full, near 70%; its model bounds the difference of the
fullest one. Its limit of ports is not in force: the sum that it bounds is of the last node alone, which feeds no other.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

RESOURCES = {"LUT": "LUT", "FF": "FF", "DSP": "DSP", "BRAM18": "BRAM_18K"}
"""What FINN+'s partitioner counts, by floorflow's name."""
SHARE = 0.8
"""Of each card's resources that FINN+ allows."""
MANY_BITS = 100_000
"""What a stream costs more than its bits where streams come first."""
BOARDS = {"alveo-u50": "U50", "alveo-u55c": "U55C", "alveo-u200": "U200", "alveo-u250": "U250", "alveo-u280": "U280"}
"""Boards that FINN+'s partitioner knows, by floorflow's name."""
HEADINGS = ("network, cards", "mapping", "direction", "link streams", "link bits", "fullest of each card", "s")


@dataclass(frozen=True)
class Cut:
    """Engines with what each needs, streams as (source, target, bits), and the plan's card of each engine."""

    name: str
    board: str
    cards: int
    needs: Mapping[str, Mapping[str, int]]
    streams: tuple[tuple[str, str, int], ...]
    planned: Mapping[str, int]

    def row(self, mapping: str, card_of: Mapping[str, int], have: Mapping[str, int], seconds: float | None) -> str:
        """Return a line of the table."""
        over = [(card_of[a], card_of[b], bits) for a, b, bits in self.streams if card_of[a] != card_of[b]]
        direction = "goes back" if any(a > b for a, b, _ in over) else "one way"
        over_links = sum(abs(a - b) for a, b, _ in over), sum(bits * abs(a - b) for a, b, bits in over)
        full = []
        for card in range(self.cards):
            use = {r: sum(n[r] for e, n in self.needs.items() if card_of[e] == card) / have[r] for r in have}
            most = max(use, key=lambda r: use[r])
            full.append(f"{100 * use[most]:.0f}% {most}")
        name = f"{self.name}, {self.cards} x {self.board}"
        took = "" if seconds is None else f"{seconds:.1f}"
        return f"| {name} | {mapping} | {direction} | {over_links[0]} | {over_links[1]} | {', '.join(full)} | {took} |"


def cut_of(folder: Path) -> Cut:
    """Read a plan of one phase over several FPGAs."""
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    (phase,) = plan["phases"]
    slot_of = {engine: phase["partition"]["assignment"][m["name"]] for m in phase["modules"] for engine in m["engines"]}
    planned = {engine: int(slot.partition(".")[0].removeprefix("fpga")) for engine, slot in slot_of.items()}
    (network,) = phase["networks"]
    needs = {engine: dict(network["folding"]["engines"][engine]["resources"]) for engine in planned}
    streams = []
    for channel in phase["channels"]:
        source, target = channel["source"], channel["target"]
        owner = target if target in needs else source
        for name, amount in channel["resources"].items():
            needs[owner][name] += amount
        if source in needs and target in needs:
            streams.append((source, target, int(channel["width_bits"])))
    before = {engine: [a for a, b, _ in streams if b == engine] for engine in needs}
    needs = {engine: needs[engine] for engine in TopologicalSorter(before).static_order()}
    model, board = Path(plan["options"]["models"][0]).stem, Path(plan["options"]["platform"]).stem
    if board not in BOARDS:
        raise SystemExit(f"{folder}: FINN+'s partitioner does not know {board}, only {', '.join(BOARDS)}")
    return Cut(model, board, 1 + max(planned.values()), needs, tuple(streams), planned)


def finn_plus(cut: Cut, chosen: argparse.Namespace, *, single: bool) -> dict[str, Any]:
    """Ask FINN+ in its own environment: cards of the nodes, or why there are none, seconds, resources of a card."""
    job = {
        "needs": {e: {RESOURCES[r]: n[r] for r in RESOURCES} for e, n in cut.needs.items()},
        "streams": [stream[:2] for stream in cut.streams],
        "board": BOARDS[cut.board],
        "cards": cut.cards,
        "topology": chosen.topology,
        "seconds": chosen.seconds,
        "single": single,
    }
    python = Path(os.environ["FLOORFLOW_FINN_PLUS"]) / "bin" / "python"
    command = [str(python), __file__, "--worker"]
    # FINN+ sets the locale to the one that Python tells it, which need not exist on the machine; the plain one does.
    found = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    found |= {"PYTHONPATH": str(chosen.cbc.resolve())} if chosen.cbc else {}
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, check=False, env=found)
    if done.returncode:
        raise SystemExit(f"FINN+'s partitioner did not run:\n{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def worker() -> None:
    """Run in FINN+'s environment: a job on standard input, the answer as the last line of standard output."""
    job = json.load(sys.stdin)
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "tools_finn"))
    import finn_plus as _environment  # type: ignore[import-not-found]  # noqa: F401  (stands in for what is not needed)
    from finn.builder import build_dataflow_config as config  # type: ignore[import-not-found]
    from finn.transformation.fpgadataflow.multifpga.aurora import partitioner  # type: ignore[import-not-found]
    from onnx import TensorProto, helper
    from qonnx.core.modelwrapper import ModelWrapper  # type: ignore[import-not-found]

    inputs: dict[str, list[str]] = {name: [] for name in job["needs"]}
    outputs: dict[str, list[str]] = {name: [] for name in job["needs"]}
    for number, (source, target) in enumerate(job["streams"]):
        outputs[source].append(f"t{number}")
        inputs[target].append(f"t{number}")
    ends = {"in": [n for n in inputs if not inputs[n]], "out": [n for n in outputs if not outputs[n]]}
    tensors = {way: [f"{way}{n}" for n, _ in enumerate(names)] for way, names in ends.items()}
    for way, of in (("in", inputs), ("out", outputs)):
        for name, tensor in zip(ends[way], tensors[way], strict=True):
            of[name].append(tensor)
    nodes = [helper.make_node("Engine", inputs[n], outputs[n], name=n, domain="floorflow") for n in job["needs"]]
    stated = {
        way: [helper.make_tensor_value_info(t, TensorProto.FLOAT, [1]) for t in names] for way, names in tensors.items()
    }
    model = ModelWrapper(helper.make_model(helper.make_graph(nodes, "cut", stated["in"], stated["out"])))
    partitioner.get_estimated_model_resources = lambda *_: job["needs"]
    partitioning = config.PartitioningConfiguration(
        num_fpgas=job["cards"], topology=config.MFTopology(job["topology"]), single_stream_network=job["single"]
    )
    settings = config.DataflowBuildConfig(
        output_dir=".",
        synth_clk_period_ns=4.0,
        generate_outputs=[],
        board=job["board"],
        partitioning_configuration=partitioning,
    )
    began = time.process_time()
    try:
        own = partitioner.AuroraPartitioner(settings, model)
        found = own.solve(job["seconds"])
        answer = {"card_of": found, "status": str(own.status), "have": own.device_resources}
    except Exception as error:  # noqa: BLE001  (a refusal of FINN+ is a row of the table)
        traceback.print_exc()
        answer = {"card_of": None, "status": f"{type(error).__name__}: {error}", "have": {}}
    print()
    print(json.dumps(answer | {"seconds": time.process_time() - began}))


def mapped(cut: Cut, have: Mapping[str, int]) -> tuple[Mapping[str, int] | None, float]:
    """Return floorflow's card of each engine under FINN+'s limits, fewest streams first, and the seconds taken."""
    from floorflow.hardware import Crossing
    from floorflow.partition import Edge, ModuleStream, PartitionProblem, PartitionSolution, SlotCapacity, partition
    from floorflow.resources import RESOURCE_NAMES, Resources

    def amounts(of: Mapping[str, int], share: float = 1.0) -> Resources:
        return Resources(
            *(int(share * of[name]) if name in RESOURCES else 10**9 * (share < 1) for name in RESOURCE_NAMES)
        )

    cards = range(cut.cards)
    fed, feeds = {target for _, target, _ in cut.streams}, {source for source, _, _ in cut.streams}
    barred = {engine: frozenset(cards) - {0} for engine in cut.needs if engine not in fed}
    barred |= {engine: frozenset(cards) - {cut.cards - 1} for engine in cut.needs if engine not in feeds}
    problem = PartitionProblem(
        demands={engine: amounts(need) for engine, need in cut.needs.items()},
        streams=tuple(ModuleStream(f"s{n}", a, b, MANY_BITS + bits) for n, (a, b, bits) in enumerate(cut.streams)),
        slots=tuple(SlotCapacity(f"fpga{card}", amounts(have, SHARE)) for card in cards),
        edges=tuple(Edge(card, card + 1, Crossing("link"), f"link{card}") for card in cards[:-1]),
        host_in=0,
        host_out=cut.cards - 1,
        barred=barred,
        fpgas=tuple(cards[:-1]),
        order=tuple(cards),
    )
    began = time.process_time()
    answer = partition(problem)
    seconds = time.process_time() - began
    if not isinstance(answer, PartitionSolution):
        return None, seconds
    return dict(answer.slot_of), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--topology", choices=["chain", "returnchain"], default="chain")
    parser.add_argument("--cbc", type=Path, metavar="FOLDER", help="where cbcbox is installed")
    parser.add_argument("--seconds", type=int, default=100)
    chosen = parser.parse_args()
    print("| " + " | ".join(HEADINGS) + " |")
    print("|---|---|---|--:|--:|---|--:|")
    for folder in chosen.folder:
        cut, have = cut_of(folder), dict[str, int]()
        for mapping, single in (("FINN+, one stream", True), ("FINN+, any cut", False)):
            answer = finn_plus(cut, chosen, single=single)
            have = have or {ours: answer["have"][name] for ours, name in RESOURCES.items() if name in answer["have"]}
            if answer["card_of"] is None:
                print(f"| {cut.name} | {mapping} | {answer['status']} | | | | {answer['seconds']:.1f} |", flush=True)
            else:
                print(cut.row(mapping, answer["card_of"], have, answer["seconds"]), flush=True)
        if have:
            card_of, seconds = mapped(cut, have)
            print(cut.row("floorflow, cards alone", card_of, have, seconds) if card_of else "| none |", flush=True)
            print(cut.row("floorflow, the plan", cut.planned, have, None), flush=True)


if __name__ == "__main__":
    worker() if sys.argv[1:] == ["--worker"] else main()
