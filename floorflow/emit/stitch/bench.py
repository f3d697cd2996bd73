"""A test bench of a card for the back end's own stimuli, and the commands that run it on Vivado's netlist."""

from pathlib import Path

from floorflow.emit.stitch.circuit import Card, Stitched
from floorflow.emit.stitch.verilog import PARTS
from floorflow.facts import ChannelEntry
from floorflow.facts.stitched import Port

WORDS, BENCH = "floorflow_words.py", "floorflow_stitch_bench.sv"
SURPLUS_CYCLES = 1000
"""Cycles for words that nobody expects."""

_BENCH = Path(__file__).with_name("testbench.v.in").read_text(encoding="utf-8")
_RUN = Path(__file__).with_name("run.sh.in").read_text(encoding="utf-8")


def bench_files(header: str, stitched: Stitched, card: Card) -> dict[str, str]:
    """Return the files of a card whose edges are all the network's: of streams of links no stimuli are known."""
    channels = {channel.name: channel for channel in stitched.phase.channels}
    if len(stitched.cards) > 1 or not card.edges:
        return {}
    (network,) = stitched.phase.networks
    cycles = network.estimates.latency_us * stitched.plan.options.clock_mhz
    sources, sinks = ([port.name for port in card.edges if port.enters == enters] for enters in (True, False))
    bench = _BENCH.format(
        header=header,
        top=card.top,
        half=f"{500 / stitched.plan.options.clock_mhz:.3f}",
        wires="\n".join(_wires(port) for port in card.edges),
        joined=",\n".join(f"      .{port.name}_{part}({port.name}_{part})" for port in card.edges for part in PARTS),
        ends="\n".join(_end(port, channels[port.channel]) for port in card.edges),
        moved=" + ".join([*(f"{name}_sent" for name in sources), *(f"{name}_got" for name in sinks)]),
        wrong=" + ".join(f"{name}_wrong" for name in sinks) or "0",
        done=" && ".join(f"{name}_done" for name in sinks) or "1'b0",
        got=" + ".join(f"{name}_got" for name in sinks) or "0",
        surplus=SURPLUS_CYCLES,
        most=10_000 + round(4 * cycles),
    )
    arrays = [f"{name.upper()}.npy" for name in (*sources, *sinks)]
    order = {name: number + 2 for number, name in enumerate((*sources, *sinks))}
    run = _RUN.format(
        header=header,
        card=card.name,
        top=card.top,
        bench=BENCH,
        arrays=" ".join(arrays),
        count=1 + len(arrays),
        words="\n".join(_words(port, channels[port.channel], order[port.name]) for port in card.edges),
    )
    return {f"{card.name}/sim/testbench.sv": bench, f"{card.name}/sim/run.sh": run}


def _wires(port: Port) -> str:
    counts = ("sent",) if port.enters else ("got", "wrong")
    lines = [f"  wire [{port.bits - 1}:0] {port.name}_tdata;", f"  wire {port.name}_tvalid, {port.name}_tready;"]
    lines.append(f"  wire [31:0] {', '.join(f'{port.name}_{name}' for name in counts)};")
    return "\n".join(lines + ([] if port.enters else [f"  wire {port.name}_done;"]))


def _end(port: Port, channel: ChannelEntry) -> str:
    kind, counts = ("source", ("sent",)) if port.enters else ("sink", ("got", "wrong", "done"))
    used = "" if port.enters else f", .USED({channel.width_bits})"
    joined = {"clk": "ap_clk", "rst_n": "ap_rst_n"} | {part[1:]: f"{port.name}_{part}" for part in PARTS}
    joined |= {name: f"{port.name}_{name}" for name in counts}
    wires = ", ".join(f".{name}({wire})" for name, wire in joined.items())
    return (
        f'  floorflow_stitch_{kind} #(.BITS({port.bits}){used}, .FILE("{port.name}.hex")) {kind}_{port.name} ({wires});'
    )


def _words(port: Port, channel: ChannelEntry, argument: int) -> str:
    facts = f"{port.name}.hex {channel.width_bits} {channel.words_per_frame}"
    return f'python3 "$here/../../rtl/{WORDS}" "${argument}" {facts}'
