"""topology.json: the cards, the cables and cages that streams take, and the order in which cards start."""

from collections.abc import Mapping
from typing import Any

from floorflow.verify.facts import PhaseFacts, is_outside
from floorflow.verify.files import Folder, PhaseFolder
from floorflow.verify.hardware.boards import Boards
from floorflow.verify.plan_records import PlanRecord
from floorflow.verify.records import SIDES
from floorflow.verify.rules.emitted import phase_prefix

FILE = "topology.json"
SCHEMA = "floorflow-topology/1"
NAME = "wrong-topology"


def check_topology(folder: Folder, plan: PlanRecord, phase: PhaseFacts, boards: Boards) -> None:
    """Judge the file of a phase of several FPGAs, and that there is none of one."""
    files = PhaseFolder(folder, phase.findings, phase_prefix(plan, phase))
    where = files.path(FILE)
    if len(phase.fpgas) == 1:
        if files.exists(FILE):
            phase.add(NAME, where, "there is one FPGA, which talks to no other")
        return
    told = files.json(FILE)
    if told is None:
        return
    streams = streams_over_links(phase)
    wanted = {
        "schema": SCHEMA,
        "phase": phase.name,
        "clock_mhz": phase.clock_mhz,
        "cards": [_card(phase, fpga, boards) for fpga in phase.fpgas],
        "cables": cables(phase, streams),
        "streams": streams,
    }
    for key, value in wanted.items():
        phase.expect(NAME, where, key, told.get(key), value)
    order = told.get("start_order")
    if not isinstance(order, list) or sorted(map(str, order)) != sorted(phase.fpgas):
        phase.add(NAME, where, f"start_order is {order!r:.80}, not each FPGA once")
        return
    pairs = {(stream["source"], stream["target"]) for stream in streams}
    entry = next(iter(phase.fpgas))
    for source, target in sorted(pairs):
        # Where the data come back to a card, that one is loaded last which the host's input enters.
        circle = source in _reached(target, pairs)
        if order.index(source) < order.index(target) and not (circle and source != entry):
            phase.add(NAME, where, f"{source} starts before {target}, which it sends to")


def _reached(card: str, pairs: set[tuple[str, str]]) -> set[str]:
    """Return the cards that a card's data get to."""
    found, last = {card}, set[str]()
    while found != last:
        last = set(found)
        found |= {target for source, target in pairs if source in last}
    return found


def streams_over_links(phase: PhaseFacts) -> list[dict[str, Any]]:
    """Return a row for each link that a stream passes, as the plan's crossings have them."""
    found = []
    for row in phase.raw["partition"]["crossings"]:
        ends = [phase.slots.get(row[side]) for side in SIDES]
        if row["kind"] == "link" and ends[0] is not None and ends[1] is not None:
            link = phase.links.get((min(e.fpga_number for e in ends if e), max(e.fpga_number for e in ends if e)))
            found.append(
                {
                    "channel": row["channel"],
                    "link": None if link is None else link.entry["name"],
                    "source": ends[0].fpga,
                    "target": ends[1].fpga,
                    "bits": row["width_bits"],
                    "gbps": row["gbps"],
                }
            )
    return found


def cables(phase: PhaseFacts, streams: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the links that carry streams, in the order of these; an FPGA counts its cages by the other ends."""
    used = {name for row in streams if (name := row["link"]) is not None}
    taken, found = dict.fromkeys(phase.fpgas, 0), {}
    for _, link in sorted(phase.links.items()):
        if link.entry["name"] in used:
            ends = []
            for slot in (link.lower, link.upper):
                ends.append({"card": slot.fpga, "slot": slot.name, "cage": taken[slot.fpga]})
                taken[slot.fpga] += 1
            raw: Mapping[str, Any] = link.entry
            row = {"link": raw["name"], **{key: raw[key] for key in ("kind", "gbps", "latency_us")}, "ends": ends}
            found[raw["name"]] = row
    return [found[name] for name in dict.fromkeys(row["link"] for row in streams) if name in found]


def _card(phase: PhaseFacts, fpga: str, boards: Boards) -> dict[str, Any]:
    entry, link = phase.fpgas[fpga], boards[fpga].link if fpga in boards else None
    home = dict(zip(SIDES, (next(iter(phase.fpgas)), list(phase.fpgas)[-1]), strict=True))
    outer = [c["name"] for c in phase.channels for side in SIDES if is_outside(c[side]) and home[side] == fpga]
    cages = None if link is None else link.get("max_links")
    return {"name": fpga, "board": entry["board"], "part": entry["part"], "outside": outer, "cages": cages}
