"""host/host.json: cards with their bitstreams and links, where frames go in and come out, and what is planned."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from floorflow.verify.back_end import Files, Row
from floorflow.verify.facts import believed_fps, believed_latency_us
from floorflow.verify.finn.engines import AttributeProblem, bits_of, folded_engine, is_signed
from floorflow.verify.finn.kinds import KINDS
from floorflow.verify.phase_records import ChannelRecord, PhaseRecord
from floorflow.verify.plan_records import PlanRecord

NAME = "host-differs"
MEANING = "host/host.json does not tell the script that runs the cards what the plan says, or the script is another"
SCHEMA, DATA, SCRIPT = "floorflow-host/1", "host/host.json", "host/run.py"
_SHIPPED = Path(__file__).resolve().parents[2] / "backends" / "finn" / "host" / "run.py"


def check_host(plan: PlanRecord, phase: PhaseRecord, folder: Files, context: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the script's files, if they are there."""
    if not folder.exists(DATA):
        return
    if _SHIPPED.is_file() and folder.text(SCRIPT) != _SHIPPED.read_text(encoding="utf-8"):
        yield f"{SCRIPT} is not as shipped"
    told = folder.json(DATA) or {}
    names = [network["name"] for network in plan["networks"]]
    linked, by_card = len(names) > 1 and plan.get("replicas") is None, folder.exists(_LINKING)
    wanted = {
        "schema": SCHEMA,
        "clock_mhz": plan["summary"]["clock_mhz"],
        "zynq": not any(context["shells"].values()),
        "linked": len(plan["platform"]["fpgas"]) > 1,
        "bitstreams": "." if by_card else "vitis/link" if linked else "finn/build/bitfile",
        "cards": list(_cards(plan, phase, context, by_card=by_card)),
        "told": plan["warnings"],
    }
    yield from _apart(told, wanted, "")
    each = [told, *(told.get("beside") or [])]
    if len(each) != (len(names) if linked else 1) or not all(isinstance(own, dict) for own in each):
        yield f"{len(each)} networks are run, of {', '.join(names)}"
        return
    for number, own in enumerate(each):
        rows = [row for row in context["engines"].values() if row["network"] == names[number]]
        yield from _apart(own, _of_network(plan, rows, number if linked else None, context), names[number])
        yield from _frames(phase, own, rows, context)
        yield from _planned(plan, phase, own, number)


def _apart(told: Mapping[str, Any], wanted: Mapping[str, Any], of: str) -> Iterator[str]:
    for key, value in wanted.items():
        if told.get(key) != value:
            yield f"{key} {of} is {told.get(key)!r:.120}, the plan gives {value!r:.120}"


def _of_network(
    plan: PlanRecord, rows: Sequence[Row], number: int | None, context: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what is a network's own; ``number``: its place among several that share the card."""
    name, copies = plan["networks"][number or 0]["name"], plan.get("replicas")
    return {
        "network": name if copies is None else copies["network"],
        "driver": "finn/build/driver" if number is None else f"finn/{name}/build/driver",
        "copies": list(_copies(plan, number, context)),
        "written_weights": [
            row["entry"]["name"] for row in rows if row["folding"]["attributes"].get("runtime_writeable_weights") == 1
        ],
    }


_LINKING = "fpga0/link.sh"
"""There where each card is built by itself, and linked with link kernels of floorflow's own."""


def _cards(
    plan: PlanRecord, phase: PhaseRecord, context: Mapping[str, Any], *, by_card: bool
) -> Iterator[dict[str, Any]]:
    """Yield the cards; FINN+ numbers bitstreams, and a card's link kernels as topology.json does its cages."""
    fpgas, copies = plan["platform"]["fpgas"], plan.get("replicas")
    number = {slot["name"]: place for place, fpga in enumerate(fpgas) for slot in fpga["slots"]}
    over = {
        (number[row["source"]], number[row["target"]])
        for row in phase["partition"]["crossings"]
        if row["kind"] == "link" and {row["source"], row["target"]} <= number.keys()
    }
    others = [
        sorted({*(b for a, b in over if a == own), *(a for a, b in over if b == own)}) for own in range(len(fpgas))
    ]
    plus = context["options"].get("finn") == "plus"
    for place in range(len(fpgas) if copies is None else copies["cards"]):
        own = place if copies is None else 0
        fpga, ends = fpgas[own], [sorted((own, other)) for other in others[own]]
        device = f"-{own}" if plus else ""
        file = f"finn-accel{device}.xclbin" if context["shells"].get(fpga["name"]) else "finn-accel.bit"
        if len(plan["networks"]) > 1 and copies is None:
            file = "a.xclbin"  # as v++ calls it, for link.sh lays it nowhere else
        cables = [_cable(plan, fpgas[low]["name"], fpgas[high]["name"]) for low, high in ends]
        links = {f"aurora_flow_{cage}": cable for cage, cable in enumerate(cables)}
        card = {"name": f"fpga{place}", "board": fpga["board"], "bitstream": file, "links": links}
        if by_card:
            tests = {f"link_{cage}": cable for cage, cable in enumerate(cables)}
            card |= {"bitstream": f"fpga{place}/fpga{place}.xclbin", "tests": tests}
        yield card


def _cable(plan: PlanRecord, low: str, high: str) -> str | None:
    ends = {f"{low}.", f"{high}."}
    links = (
        (link["name"], {f"{link[side].partition('.')[0]}." for side in ("source", "target")})
        for link in plan["platform"]["links"]
    )
    return next((name for name, own in links if own == ends), None)


def _copies(plan: PlanRecord, network: int | None, context: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each copy: the host's input is at the first card, its output at the last, each copy has its own."""
    plus = context["options"].get("finn") == "plus" and any(context["shells"].values())
    idma, odma = ("idma_0", "odma_0") if plus else ("idma0", "odma0")
    copies, fpgas = plan.get("replicas"), [fpga["name"] for fpga in plan["platform"]["fpgas"]]
    if copies is None:
        suffix = "" if network is None else f"_{network}"
        ends = {"input": [fpgas[0], f"{idma}{suffix}"], "output": [fpgas[-1], f"{odma}{suffix}"]}
        yield {"name": plan["networks"][network or 0]["name"], **ends, "suffix": suffix}
        return
    for number in range(copies["copies"]):
        card, place = f"fpga{number // len(copies['placed'])}", number % len(copies["placed"])
        suffix = f"_{place}" if len(plan["networks"]) > 1 else ""
        ends = {"input": [card, f"{idma}{suffix}"], "output": [card, f"{odma}{suffix}"]}
        yield {"name": f"{copies['network']}_{number}", **ends, "suffix": suffix}


def _frames(
    phase: PhaseRecord, told: Mapping[str, Any], own: Sequence[Row], context: Mapping[str, Any]
) -> Iterator[str]:
    """Yield where a frame in memory is another than at the engine that takes or gives it."""
    rows, network = context["engines"], next((row["network"] for row in own), "")
    for way, side, other in (("input", "target", "source"), ("output", "source", "target")):
        ends = [(c, rows.get(_of(c, side))) for c in phase["channels"] if _of(c, other) not in rows]
        outer = [c for c, row in ends if row is not None and row["network"] == network]
        found = told.get(way)
        if len(outer) != 1 or not isinstance(found, dict):
            yield f"{way} is {found!r:.80}, and the network has {len(outer)}"
            continue
        folded = folded_engine(rows[_of(outer[0], side)], context["options"])
        try:
            ports = KINDS[folded.kind].ports(folded)
            port = ports.inputs[outer[0]["target_port"]] if way == "input" else ports.outputs[outer[0]["source_port"]]
        except (AttributeProblem, ArithmeticError, LookupError):
            continue  # reported where the engine itself is judged
        kind = folded.input_type(outer[0]["target_port"]) if way == "input" else folded.output_type
        wanted = {
            "element_bits": port.bits,
            "elements": port.elements,
            "elements_per_word": port.parallel,
            "words": port.elements // port.parallel,
            **({} if kind is None else {"type": kind, **_range(kind)}),
        }
        for key, value in wanted.items():
            if found.get(key) != value:
                yield f"{way}: {key} is {found.get(key)!r:.40}, at {folded.name} it is {value}"


def _of(channel: ChannelRecord, side: str) -> str:
    return channel["source"] if side == "source" else channel["target"]


def _range(kind: str) -> dict[str, int | None]:
    """Return the least and the greatest value of a type of whole numbers, none of another."""
    if kind.startswith("FLOAT"):
        return {"least": None, "most": None}
    bits = bits_of(kind) or 1
    if kind in ("BIPOLAR", "TERNARY"):
        return {"least": -1, "most": 1}
    half = 1 << bits - 1
    return {"least": -half, "most": half - 1} if is_signed(kind) else {"least": 0, "most": 2 * half - 1}


def _planned(plan: PlanRecord, phase: PhaseRecord, told: Mapping[str, Any], number: int) -> Iterator[str]:
    """Yield where rate or latency are not the network's, the rate times the copies."""
    estimates, copies = phase["networks"][number]["estimates"], (plan.get("replicas") or {"copies": 1})["copies"]
    wanted = {"fps": believed_fps(estimates) * copies, "latency_us": believed_latency_us(estimates)}
    found = told.get("planned")
    for key, value in wanted.items():
        own = found.get(key) if isinstance(found, dict) else None
        if not isinstance(own, int | float) or abs(own - value) > 1e-9 * value:
            yield f"planned {key} is {own!r:.40}, the plan says {value}"
