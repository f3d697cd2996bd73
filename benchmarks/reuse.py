"""How much of a folded network could be made once: shares of topology and of implementations, layer by layer and block.

A plan's engines, foldings and channels are clustered anew, so that what placement merged does not count. Shares are
(instances - different ones) / instances:

* shapes: equal kinds and dimensions, whatever the folding;
* topology: equal foldings as well;
* implementations: equal FIFOs, converters and wires as well, and no weights, thresholds or constants in logic.

    python -m benchmarks.reuse PLAN.json ...

places the modules of plans again, without and with the rule that those alike by topology are to lie in windows that one
circuit fits: which share of modules has such a window of another by the rule of `check`, and what that costs in wires.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from floorflow.backends.backend import backend_named
from floorflow.channels import Channel
from floorflow.channels.implementations import Circuits, likenesses
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option, Stream
from floorflow.dataflow.modules import Module, Naming, Wire, cluster
from floorflow.hardware import Platform, load_platform
from floorflow.network.model import Network, Operation
from floorflow.placement import Pin, PlacedModule, PlacementProblem, PlacementSolution, place
from floorflow.placement import Wire as PlacedWire
from floorflow.placement.alike import unlike_ports
from floorflow.request import Request
from floorflow.resources import Resources
from floorflow.verify.hardware.geometry import Device as Die
from floorflow.verify.hardware.geometry import Rectangle
from floorflow.verify.rules.modules import moves_onto

GRANULARITIES = ("layer", "block")
ROOT = Path(__file__).resolve().parent.parent / "platforms"


@dataclass(frozen=True)
class Shares:
    """How many modules there are, and which share of them another makes."""

    instances: int
    shapes: float
    topology: float
    implementations: float
    in_logic: int
    """Modules that hold constants in logic."""


def convolutions(network: Network) -> tuple[int, int]:
    """Return how many convolutions a network has, and of how many shapes: kernel, strides, pads, sizes, groups."""
    found = [operation for operation in network.operations if operation.type == "conv"]
    return len(found), len({_shape(network, one) for one in found})


def _shape(network: Network, operation: Operation) -> str:
    sizes = [network.tensor(name).shape for name in (*operation.inputs, *operation.outputs)]
    return repr([sorted((name, value) for name, value in operation.attributes.items() if name != "weights"), sizes])


def shares_of(plan_file: Path, granularity: str) -> Shares:
    """Return the shares of a plan of one network and one phase."""
    plan = json.loads(plan_file.read_text(encoding="utf-8"))
    folded, channels = folded_of(plan)
    modules = clustered(folded, channels, granularity)
    backend = backend_named(plan["options"]["backend"])
    in_logic = {e.name: backend.in_logic(e, folded.options[e.name]) for e in folded.dataflow.engines}
    plain = replace(folded, options={name: replace(option, folding={}) for name, option in folded.options.items()})
    shapes = [one.like for one in likenesses(Circuits(modules, plain, channels, in_logic))]
    alike = likenesses(Circuits(modules, folded, channels, in_logic))
    baked = sum(any(in_logic[engine] for engine in module.engines) for module in modules)
    topology, made = [one.like for one in alike], [one.implementation for one in alike]
    return Shares(len(modules), reuse(shapes), reuse(topology), reuse(made), baked)


def reuse(made: list[str]) -> float:
    """Return the share of modules that another makes."""
    return 1 - len({*made}) / len(made)


def clustered(folded: FoldedDataflow, channels: tuple[Channel, ...], granularity: str) -> tuple[Module, ...]:
    """Cluster engines as `floorflow plan` does before anything is merged to be placed."""
    inside = [channel for channel in channels if not (channel.stream.from_outside or channel.stream.to_outside)]
    wires = [Wire(channel.stream.source, channel.stream.target, channel.width_bits) for channel in inside]
    use = {name: option.resources for name, option in folded.options.items()}
    naming = Naming(folded.dataflow, {name: float(need.lut) for name, need in use.items()})
    return cluster(naming, wires, use, granularity)


def folded_of(plan: dict[str, Any]) -> tuple[FoldedDataflow, tuple[Channel, ...]]:
    """Return the engines with their options, and the channels, as far as they are compared."""
    (network,), (phase,) = plan["networks"], plan["phases"]
    folding = phase["networks"][0]["folding"]["engines"]
    engines = tuple(_engine(entry) for entry in network["engines"])
    streams = tuple(_stream(entry) for entry in phase["channels"])
    options = {
        name: Option(_values(entry["attributes"]), entry["cycles"], _resources(entry["resources"]), (), ())
        for name, entry in folding.items()
    }
    channels = tuple(
        Channel(
            stream=stream,
            source_width_bits=entry["source_width_bits"],
            target_width_bits=entry["target_width_bits"],
            converter=entry["converter"],
            fifo_depth_words=entry["fifo_depth"],
            converter_resources=_resources(entry["converter_resources"]),
            fifo_resources=_resources(entry["fifo_resources"]),
            fifo_style=entry["fifo_style"],
        )
        for stream, entry in zip(streams, phase["channels"], strict=True)
    )
    return FoldedDataflow(Dataflow(network["name"], engines, streams), options), channels


def _engine(entry: dict[str, Any]) -> Engine:
    bits = (entry["weight_bits"], entry["input_bits"], entry["output_bits"])
    attributes = _values(entry["attributes"])
    return Engine(entry["name"], entry["kind"], entry["operation"], attributes, *bits, role=entry["role"])


def _stream(entry: dict[str, Any]) -> Stream:
    ends = (entry["source"], entry["source_port"], entry["target"], entry["target_port"])
    return Stream(*ends, entry["words_per_frame"] * entry["width_bits"], 1, 1)


def _values(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in attributes.items()}


def _resources(entry: dict[str, int]) -> Resources:
    return Resources(*(entry[name] for name in ("LUT", "FF", "BRAM18", "URAM", "DSP")))


@dataclass(frozen=True)
class Placed:
    """A floorplan as far as equal modules may share one circuit: shares of modules that another makes."""

    windows: float
    """Of those alike, by topology, whose windows are alike as well."""
    unlike_ports: int
    hpwl: float


def problem_of(plan: dict[str, Any], fpga: str) -> PlacementProblem:
    """Return the placement of a plan's modules on an FPGA, groups of those that are alike by topology."""
    (phase,), options = plan["phases"], plan["options"]
    board = next(one for one in planned_platform_of(plan).fpgas if one.name == fpga)
    pblocks = phase["floorplan"][fpga]["pblocks"]
    modules = tuple(PlacedModule(name, entry["slot"], _resources(entry["demand"])) for name, entry in pblocks.items())
    owner = {engine: module["name"] for module in phase["modules"] for engine in module["engines"]}
    pin, wires = Pin.at_centre(board.host_port), []
    for channel in phase["channels"]:
        ends = [owner.get(channel[end]) for end in ("source", "target")]
        source, target = (name if name in pblocks else pin for name in ends)
        if source != target and not (isinstance(source, Pin) and isinstance(target, Pin)):
            wires.append(PlacedWire(source, target, channel["width_bits"]))
    groups: dict[str, list[str]] = {}
    for module in phase["modules"]:
        if module["name"] in pblocks:
            groups.setdefault(module["like"], []).append(module["name"])
    alike = tuple(tuple(group) for group in groups.values() if len(group) > 1)
    fill = Request("model", options["platform"]).fullest_fill
    return PlacementProblem(board.device, board.slots, modules, tuple(wires), fill, alike=alike)


def planned_platform_of(plan: dict[str, Any]) -> Platform:
    """Return the platform of a plan on equal boards that ship with floorflow."""
    return load_platform(plan["platform"]["fpgas"][0]["board"], len(plan["platform"]["fpgas"]))


def placed_with(problem: PlacementProblem) -> tuple[Placed, Placed, str]:
    """Return how a problem is placed without and with windows alike, judged by what `check` has; and the method."""
    found = []
    for asked in (replace(problem, alike=()), problem):
        answer = place(asked)
        assert isinstance(answer, PlacementSolution), answer
        ports = unlike_ports(problem.alike, answer.regions, problem.wires)
        found.append(Placed(window_share(problem, answer), ports, answer.hpwl))
    return found[0], found[1], answer.stats.method


def window_share(problem: PlacementProblem, answer: PlacementSolution) -> float:
    """Return the share of modules that lie in a window onto which that of a module alike moves."""
    path = next(path for path in sorted((ROOT / "devices").glob("*.yaml")) if path.stem == problem.device.part)
    device, made = Die(yaml.safe_load(path.read_text(encoding="utf-8"))), 0
    for group in problem.alike:
        windows: list[Rectangle] = []
        for name in group:
            area = Rectangle(*answer.regions[name][0].as_tuple())
            if any(moves_onto(device, [known], [area]) for known in windows):
                made += 1
            else:
                windows.append(area)
    return made / len(problem.modules)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plans", nargs="+", type=Path, help="plan.json of one network on shipped boards")
    print("| plan | FPGA | modules | alike | in windows alike: usual | asked for | wires | ports unlike | s |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for path in parser.parse_args().plans:
        plan = json.loads(path.read_text(encoding="utf-8"))
        for fpga in plan["phases"][0]["floorplan"]:
            problem, started = problem_of(plan, fpga), time.process_time()
            if not problem.alike:
                continue
            usual, asked, _ = placed_with(problem)
            alike = sum(len(group) - 1 for group in problem.alike) / len(problem.modules)
            print(
                f"| {path.parent.name} | {fpga} | {len(problem.modules)} | {alike:.1%} | {usual.windows:.1%} | "
                f"{asked.windows:.1%} | {asked.hpwl / usual.hpwl - 1:+.1%} | {usual.unlike_ports} to "
                f"{asked.unlike_ports} | {time.process_time() - started:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
