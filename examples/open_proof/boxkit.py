"""boxkit, a back end whose engines are the SystemVerilog in ``rtl/``: filters and whiteners in a row.

A kit that makes whatever can be synthesised by open tools, so that a plan of floorflow can be placed by them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from floorflow.backends.backend import Backend, Costs
from floorflow.dataflow.model import Dataflow, Engine, Option, Stream
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InputError
from floorflow.facts import Plan
from floorflow.network import Network
from floorflow.network.model import Operation
from floorflow.plugins import BackendOptions, Registration
from floorflow.rates import Actor, moves
from floorflow.resources import Resources
from floorflow.technology import Technology

BOXKIT = Registration("boxkit:BACKEND", BackendOptions)
ROLES = {"filter": "core", "whiten": "front"}


@dataclass(frozen=True)
class Chain:
    """A model file as it was read."""

    content: dict[str, Any]
    network: Network
    sha256: str


class BoxkitCosts(Costs):
    """LUTs and flip-flops of the RTL, rounded up from what pyosys makes for GateMate, which takes the most."""

    name = "by bits"

    def groups(self, dataflow: Dataflow) -> tuple[OptionGroup, ...]:
        return tuple(OptionGroup((e.name,), tuple((row,) for row in self.rows(e))) for e in dataflow.engines)

    def rows(self, engine: Engine) -> list[Option]:
        """Return an option for each number of lanes that divides the frame, up to 8."""
        values, taps = engine.attributes["values"], engine.attributes["taps"]
        return [self.option(engine, n, values // n * taps) for n in (1, 2, 4, 8) if values % n == 0]

    def option(self, engine: Engine, lanes: int, cycles: int) -> Option:
        bits, taps = lanes * engine.input_bits, engine.attributes["taps"]
        use = Resources(lut=30 + 2 * taps * bits + 12 * bits, ff=12 + (taps + 4) * bits)
        if engine.kind == "whiten":
            use = Resources(lut=120 + 4 * bits, ff=40 + 2 * bits)
        return Option({"lanes": lanes}, cycles, use, (bits,), (bits,))

    def fifo_resources(self, width_bits: int, depth_words: int) -> Resources:
        return Resources(lut=45 + width_bits * depth_words * 9 // 4, ff=8 + width_bits * depth_words)

    def converter_resources(self, input_bits: int, output_bits: int) -> Resources:
        return Resources()

    def convertible(self, input_bits: int, output_bits: int) -> bool:
        return input_bits == output_bits

    def converter_kind(self, input_bits: int, output_bits: int) -> str:
        return "none"


class Boxkit(Backend):
    """Chains of engines with as many lanes each."""

    name = "boxkit"
    parallel_attributes = ("lanes",)

    def read(self, path: Path, options: BackendOptions) -> Chain:
        data = path.read_bytes()
        try:
            content = json.loads(data)
            operations = [Operation(name, kind, (), (), {}, content["values"]) for name, kind in content["engines"]]
            _ = [ROLES[operation.type] for operation in operations]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path}: is no chain of engines: {error}", "see examples/open_proof/chain.json"
            ) from error
        return Chain(content, Network(content["name"], (), (), tuple(operations), ()), sha256(data).hexdigest())

    def lower(self, source: Chain, technology: Technology, options: BackendOptions) -> Dataflow:
        values, bits, taps = (source.content[key] for key in ("values", "bits", "taps"))
        engines = tuple(
            Engine(
                name,
                kind,
                name,
                {"values": values, "taps": taps if kind == "filter" else 1},
                0,
                bits,
                bits,
                role=ROLES[kind],
                label=kind,
            )
            for name, kind in source.content["engines"]
        )
        ends = ["host:in0", *(engine.name for engine in engines), "host:out0"]
        streams = tuple(Stream(a, 0, b, 0, values, values, bits) for a, b in pairwise(ends))
        return Dataflow(source.network.name, engines, streams)

    def costs(self, technology: Technology, options: BackendOptions, *, own_kinds: bool = False) -> BoxkitCosts:
        return BoxkitCosts()

    def actor(self, engine: Engine, option: Option, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> Actor:
        taps, each = engine.attributes["taps"], np.ones(inputs[0], dtype=int)
        return Actor(engine.name, each * taps, (moves(each),), (moves(each, taps - 1),))

    def parallelism(self, engine: Engine, option: Option) -> tuple[tuple[str, int, int], ...]:
        return (("lanes", option.folding["lanes"], engine.attributes["values"]),)

    def files(self, plan: Plan, phase: int, /) -> Mapping[str, str]:
        cells = cell_modules(plan, phase)
        return {
            "boxkit/top.sv": top(plan, phase),
            "boxkit/cells.json": json.dumps(cells, indent=2, sort_keys=True) + "\n",
        }


def cell_modules(plan: Plan, phase: int) -> dict[str, str]:
    """Return the module of each cell in top.sv: engines by their own names, a FIFO for each channel."""
    run = plan.phases[phase]
    cells = {engine: module.name for module in run.modules for engine in module.engines}
    return cells | {f"fifo_{n}": channel.fifo_module for n, channel in enumerate(run.channels)}


def top(plan: Plan, phase: int) -> str:
    """Return the SystemVerilog of a phase: an instance for each engine, and a FIFO as planned for each channel."""
    run, engines = plan.phases[phase], plan.engines
    body: list[str] = []
    ports: dict[tuple[str, str], str] = {}
    bits: dict[str, int] = {}
    for n, channel in enumerate(run.channels):
        before = f"a_{n}" if channel.source in engines else "in"
        behind = f"b_{n}" if channel.target in engines else "out"
        ports[channel.source, "out"], ports[channel.target, "in"] = before, behind
        bits |= {before: channel.width_bits, behind: channel.width_bits}
        size = f".BITS({channel.width_bits}), .DEPTH({channel.fifo_depth})"
        body.append(_instance("proof_fifo", size, f"fifo_{n}", before, behind))
    for name, folded in run.engines.items():
        lanes, engine = folded.attributes["lanes"], engines[name]
        size = f".BITS({engine.input_bits * lanes})"
        if engine.kind == "filter":
            size = f".BITS({engine.input_bits}), .LANES({lanes}), .TAPS({engine.attributes['taps']})"
        body.append(_instance(f"proof_{engine.kind}", size, name, ports[name, "in"], ports[name, "out"]))
    high = {wire: width - 1 for wire, width in bits.items()}
    inner = [f"  wire [{high[at]}:0] {at}_data;\n  wire {at}_valid, {at}_ready;\n" for at in high if "_" in at]
    return _TOP.format(high["in"], high["out"], body="".join([*inner, *body]))


def _instance(module: str, size: str, name: str, before: str, behind: str) -> str:
    wires = [f".{port}_{w}({at}_{w})" for port, at in (("in", before), ("out", behind)) for w in _WIRES]
    return f"  {module} #({size}) {name} (\n    .clk(clk), .rst_n(rst_n), {', '.join(wires)});\n"


_WIRES = ("data", "valid", "ready")
_TOP = """\
// A plan of floorflow in SystemVerilog, by boxkit.
module top (
    input wire clk, rst_n,
    input wire [{0}:0] in_data, input wire in_valid, output wire in_ready,
    output wire [{1}:0] out_data, output wire out_valid, input wire out_ready
);
{body}endmodule
"""

BACKEND = Boxkit()
