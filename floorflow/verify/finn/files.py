"""FINN's files against the plan: folding_config.json, floorplan.json with its rules for kernels, and the flow's."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from floorflow.verify.back_end import Files
from floorflow.verify.files import shipped_file
from floorflow.verify.finn.copies import MEANING, Places, check_copies, check_networks
from floorflow.verify.finn.copies import NAME as LINKED_OTHERWISE
from floorflow.verify.finn.engines import BuiltNetwork
from floorflow.verify.finn.host import DATA, check_host
from floorflow.verify.finn.host import MEANING as HOST_MEANING
from floorflow.verify.finn.host import NAME as HOST_DIFFERS
from floorflow.verify.phase_records import PhaseRecord
from floorflow.verify.plan_records import PlanRecord
from floorflow.verify.records import SIDES, Record, is_count, is_unbuilt
from floorflow.verify.rules.steps import setting_faults
from floorflow.verify.violations import Findings

FOLDING_FILE = "folding_config.json"
FLOORPLAN_FILE = "floorplan.json"

NUMBERS = ("slr", "partition_id", "device_id")
"""Keys of an entry of floorplan.json beside ``mem_port``."""

ANY_SLR = -1
"""FINN's number for a node that may lie in any SLR: so it is where nothing is constrained."""

_INSERTED = re.compile(r"(?:StreamingFIFO|StreamingDataWidthConverter|IODMA)(?:_rtl|_hls)?_\d+")
"""Nodes that FINN puts between and around engines."""

MOST_SLICES = 1000
"""More than any stream has; the plan's own number is judged elsewhere."""

FREE_KEYS = ("inFIFODepths", "outFIFODepths", "preferred_impl_style")
"""Attributes that folding_config.json may set beside the folding."""


def check_folding_file(content: Record, built: BuiltNetwork, file: str, findings: Findings) -> None:
    """Check that FINN would fold every engine as the plan says."""
    _check_defaults(content, file, findings)
    for name, entry in _entries(content, file, built.nodes, findings):
        where = f"{file} {name}"
        planned = built.nodes[name].folding
        for key, value in planned.items():
            # In JSON true is not 1, and 1.0 is not 1.
            if key not in entry or type(entry[key]) is not type(value) or entry[key] != value:
                message = f"{key} is {entry.get(key)!r}, the plan says {value!r}"
                findings.add("finn-folding-differs", where, message)
        for key in sorted(set(entry) - set(planned) - set(FREE_KEYS)):
            stated = built.nodes[name].entry["attributes"].get(key)
            if stated is None or stated != entry[key]:
                message = f"{key} is {entry[key]!r}, the plan says {stated!r}"
                findings.add("finn-folding-differs", where, message)


def check_fifo_depths(content: Record, phase: PhaseRecord, built: BuiltNetwork, file: str, findings: Findings) -> None:
    """Check that folding_config.json asks for each planned FIFO at one port of its stream, where it has depths.

    A FIFO stands on the wide side of a converter. At the first engine of a kernel FINN would insert a second one, so a
    stream that changes slots has its depth at the producer alone.
    """
    name_of = {row["id"]: name for name, row in built.rows.items()}
    slot_of = {row["id"]: row["slot"] for row in built.rows.values()}
    if not any("inFIFODepths" in entry for entry in content.values() if isinstance(entry, dict)):
        return
    for channel in phase["channels"]:
        source, target = channel["source"], channel["target"]
        widens = channel["source_width_bits"] < channel["target_width_bits"]
        ends = []
        if source in name_of:
            ends.append((name_of[source], "outFIFODepths", channel["source_port"]))
        if target in name_of and (source not in name_of or slot_of[source] == slot_of[target] or not widens):
            ends.append((name_of[target], "inFIFODepths", channel["target_port"]))
        crosses = source in name_of and target in name_of and slot_of[source] != slot_of[target]
        told = [_depth(content.get(name), key, port) for name, key, port in ends]
        wanted = max(2, channel["fifo_depth"])
        if told and (None in told or (max(filter(None, told)) != wanted and not (crosses and widens))):
            message = f"the ports of {channel['name']} ask for {told}, the plan has a FIFO of {wanted}"
            findings.add("finn-fifo-differs", file, message)


def _depth(entry: object, key: str, port: int) -> int | None:
    depths = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(depths, list) or port >= len(depths) or not is_count(depths[port]) or depths[port] < 1:
        return None
    return int(depths[port])


def _check_defaults(content: Record, where: str, findings: Findings) -> None:
    """Check that FINN finds the entry that it asks for, and that it changes nothing."""
    if not isinstance(content.get("Defaults"), dict):
        findings.add("finn-entry-malformed", where, "there is no object Defaults")
    elif content["Defaults"]:
        findings.add("finn-folding-differs", where, "Defaults sets attributes that the plan does not have")


def _entries(content: Record, where: str, engines: Collection[str], findings: Findings) -> Iterator[tuple[str, Record]]:
    """Yield the engines' entries; report engines without one and entries without an engine."""
    for name in engines:
        entry = content.get(name)
        if entry is None:
            findings.add("finn-node-missing", where, f"{name} has no entry")
        elif not isinstance(entry, dict):
            findings.add("finn-entry-malformed", f"{where} {name}", "is no object")
        else:
            yield name, entry
    for name in sorted({*content} - {*engines, "Defaults"}):
        findings.add("finn-node-unknown", where, f"{name} is no engine of the plan")


def check_floorplan_file(
    content: Record,
    phase: PhaseRecord,
    built: BuiltNetwork,
    names: Mapping[str, str],
    file: str,
    *,
    findings: Findings,
) -> None:
    """Check SLRs and devices of engines, and that every FIFO, converter and DMA engine has an entry, too.

    Without one FINN makes a kernel of its own of such a node, in no SLR. ``names`` is what FINN calls each engine (by
    id) by then.
    """
    places: dict[object, dict[tuple[object, object], str]] = {}
    _check_defaults(content, file, findings)
    inserted = {name: entry for name, entry in content.items() if _INSERTED.fullmatch(name)}
    engines = {name: entry for name, entry in content.items() if name not in inserted}
    rows = {names[row["id"]]: row for row in built.rows.values()}
    for name, entry in [*_entries(engines, file, rows, findings), *inserted.items()]:
        where = f"{file} {name}"
        if not is_place(entry) or (entry["mem_port"] and not name.startswith("IODMA")):
            message = f"expected integers {', '.join(NUMBERS)}, mem_port (empty but of DMA engines) and nothing else"
            findings.add("finn-entry-malformed", where, message)
            continue
        places.setdefault(entry["partition_id"], {}).setdefault((entry["slr"], entry["device_id"]), name)
        row = rows.get(name)
        if row is not None and row["slot"] is not None:
            free = row["style"] == "none" and (row["dies"] > 1 or entry["slr"] == ANY_SLR)
            findings.expect("finn-slr-differs", where, "slr", entry["slr"], ANY_SLR if free else row["slr"])
            findings.expect("finn-slr-differs", where, "device_id", entry["device_id"], row["fpga_number"])
    for number, engine_at in places.items():
        if len(engine_at) > 1:
            message = f"partition {number} holds {', '.join(engine_at.values())} in several SLRs"
            findings.add("finn-kernel-split", file, message)
    _check_inserted(inserted, phase, built, file, findings)


def _check_inserted(inserted: Record, phase: PhaseRecord, built: BuiltNetwork, file: str, findings: Findings) -> None:
    """Check that there are as many entries of each kind as FINN inserts nodes of it, numbered from 0."""
    ids = {row["id"] for row in built.rows.values()}
    channels = [channel for channel in phase["channels"] if {channel["source"], channel["target"]} & ids]
    converting = [channel["converter"] for channel in channels if channel["converter"] is not None]
    outer = sum((channel["source"] in ids) != (channel["target"] in ids) for channel in channels)
    slices = sum(min(channel["slices"], MOST_SLICES) for channel in channels)
    expected = Counter({"StreamingFIFO_rtl": len(channels) + len(converting) + slices, "IODMA_hls": outer})
    expected.update(converting)
    names = {f"{kind}_{number}" for kind, count in expected.items() for number in range(count)}
    for name in sorted(names - {*inserted}):
        findings.add("finn-node-missing", file, f"{name} has no entry")
    for name in sorted({*inserted} - names):
        findings.add("finn-node-unknown", file, f"{name} is none of the nodes that FINN inserts")


HAND_WRITTEN = {
    "vitis": {
        "{card}vitis/relink.sh": "relink.sh",
        "vitis/link.sh": "link.sh",
        "{card}link.sh": "link.sh",
        "vivado/floorflow_report.tcl": "floorflow_report.tcl",
    },
    "zynq": {
        "vivado/floorflow_zynq.tcl": "floorflow_zynq.tcl",
        "vivado/floorflow_report.tcl": "floorflow_report.tcl",
    },
}
"""Shipped files of each way, by their paths in the plan's folder; of several cards each has a folder of its own."""
LINKED_BELOW = 4096
"""v++ refuses streams of so many bits between kernels: unsupported data width for direct connection (FINN #1276)."""
INSERTED = "param=compiler.userPostSysLinkOverlayTcl=@INSERT@"
CONFIG, CROSSINGS_FILE, SLICE_LIBRARY = "vitis/floorflow.cfg", "vitis/crossings.tcl", "floorflow_crossings.tcl"
_Crossed = tuple[str, str, int]
_CROSSED = re.compile(r" +\{(SLR\d+) (SLR\d+) (\d+) \{[^{}]*\}\}")
FLOW_FINDINGS = {
    LINKED_OTHERWISE: MEANING,
    HOST_DIFFERS: HOST_MEANING,
    "flow-file-differs": "a file of the way into Vitis or Vivado is not what the plan gives, or as shipped",
    "slices-at-boundaries-differ": "vitis/crossings.tcl has not the plan's streams between SLRs, or v++ never runs it",
    "kernel-stream-wide": "a stream between two kernels, or of a DMA engine, is wider than v++ links",
}


def check_links(phase: PhaseRecord, context: Mapping[str, Any], findings: Findings) -> None:
    """Judge the widths of streams that leave an SLR of a card with a shell, or lead to its DMA engines."""
    for channel in phase["channels"]:
        ends = [context["engines"].get(channel[side]) for side in SIDES]
        slots = [None if end is None else end["slot"] for end in ends]
        fpgas = {end["fpga"] for end in ends if end is not None}
        if slots[0] == slots[1] or len(fpgas) != 1 or not context["shells"].get(*fpgas):
            continue
        converter = phase["partition"]["assignment"].get(channel["converter_module"] or "")
        # Of a stream that is converted before it leaves, what leaves is as wide as at its target.
        leaves_converted = converter is not None and converter == slots[0]
        width = channel["target_width_bits"] if leaves_converted else channel["source_width_bits"]
        bits = -(-width // 8) * 8
        if bits >= LINKED_BELOW:
            told = f"{bits} bits leave the kernel, v++ links fewer than {LINKED_BELOW}"
            findings.add("kernel-stream-wide", f"phase {phase['name']} channel {channel['name']}", told)


def check_flow_files(
    plan: PlanRecord,
    phase: PhaseRecord,
    folder: Files,
    context: Mapping[str, Any],
    places: Mapping[str, Places],
    *,
    findings: Findings,
) -> None:
    """Judge what is there: the platform, part and memory bank that are told, the hooks, and hand-written files.

    ``places``: floorplan.json of each network, and what its nodes are called there by engine.
    """
    several = len(plan["networks"]) > 1
    apart = plan.get("targets") is None or is_unbuilt(plan["warnings"])
    if len(plan["phases"]) != 1 or (several and plan.get("replicas") is None and apart):
        return
    for fault in _link_faults(plan, phase, folder, context, places) if several else ():
        findings.add(LINKED_OTHERWISE, folder.path(CONFIG), fault)
    cards = [fpga["name"] for fpga in plan["platform"]["fpgas"]]
    for path in ("vitis/relink.sh", CONFIG) if len(cards) > 1 else ():
        if folder.exists(path):
            findings.add("flow-file-differs", folder.path(path), "is one for several cards; each is linked by itself")
    for card in cards:
        prefix = f"{card}/" if len(cards) > 1 else ""
        _check_shipped(prefix, folder, findings)
        if folder.exists(f"{prefix}{CONFIG}"):
            _check_config(phase, folder, context, (card, prefix), findings, is_of_copies=several)
    if folder.exists(CONFIG):
        _check_crossings(plan, phase, folder, context, findings)
    for fault in check_host(plan, phase, folder, context):
        findings.add(HOST_DIFFERS, folder.path(DATA), fault)
    if folder.exists("vivado/zynq_impl.tcl"):
        _check_zynq(folder, context, findings)


def _link_faults(
    plan: PlanRecord, phase: PhaseRecord, folder: Files, context: Mapping[str, Any], places: Mapping[str, Places]
) -> Iterable[str]:
    """Return what is wrong in the configuration by which v++ links copies; or networks, for which nothing else does."""
    there = folder.exists(CONFIG)
    text = folder.text(CONFIG) if there else None
    if plan.get("replicas") is None:
        return ("is missing",) if text is None else check_networks(plan, phase, text, places)
    return check_copies(plan, phase, text or "", context["engines"]) if there else ()


def is_place(entry: object) -> bool:
    """Whether an entry of floorplan.json has the keys and types that FINN reads."""
    if not isinstance(entry, dict) or {*entry} != {*NUMBERS, "mem_port"} or not isinstance(entry["mem_port"], str):
        return False
    return all(is_count(entry[key]) or (key, entry[key]) == ("slr", ANY_SLR) for key in NUMBERS)


def _check_shipped(prefix: str, folder: Files, findings: Findings) -> None:
    """Judge hand-written files, those of a card in its folder."""
    for way, files in HAND_WRITTEN.items():
        for path, name in ((path.format(card=prefix), name) for path, name in files.items()):
            shipped = shipped_file("tcl", name)
            wanted = shipped.read_text(encoding="utf-8") if shipped else None
            if folder.exists(path) and wanted is not None and folder.text(path) != wanted:
                findings.add("flow-file-differs", folder.path(path), f"floorflow ships another {name} for {way}")


_Card = tuple[str, str]
"""An FPGA and what the paths of its own files begin with."""


def _check_config(
    phase: PhaseRecord,
    folder: Files,
    context: Mapping[str, Any],
    card: _Card,
    findings: Findings,
    *,
    is_of_copies: bool,
) -> None:
    path = f"{card[1]}{CONFIG}"
    lines = (folder.text(path) or "").splitlines()
    dies = len({slr for name, (_, slr) in context["slots"].items() if name.startswith(f"{card[0]}.")})
    for fault in setting_faults(lines, dies):
        findings.add("flow-file-differs", folder.path(path), fault)
    told = [line.removeprefix("# platform: ") for line in lines if line.startswith("# platform: ")]
    if len(told) != 1 or told[0] != (context["shells"].get(card[0]) or None):
        findings.add("flow-file-differs", folder.path(path), f"is for the platform {told}, which {card[0]} has not")
    engines = context["engines"]
    leaving = (c["source"] for c in phase["channels"] if c["source"] in engines and c["target"] not in engines)
    fpga = next((engines[name]["fpga"] for name in leaving), None)
    memory = context["memories"].get(fpga) or ""
    for line in () if is_of_copies else lines:
        port = line.partition("m_axi_gmem0:")[2]
        if line.startswith("sp=") and fpga != card[0]:
            findings.add("flow-file-differs", folder.path(path), f"{line}: the output leaves from {fpga}")
        elif line.startswith("sp=") and port != memory:
            findings.add("flow-file-differs", folder.path(path), f"{line}: the plan's bank is {memory or 'none'}")


def _check_crossings(
    plan: PlanRecord, phase: PhaseRecord, folder: Files, context: Mapping[str, Any], findings: Findings
) -> None:
    """Judge that v++ is to insert slices for each stream over SLR boundaries, and none where none are asked."""
    name, asked = "slices-at-boundaries-differ", context["options"].get("crossings") == "vendor"
    config = CONFIG
    lines = (folder.text(config) or "").splitlines()
    section = "".join(line for line in lines if line.startswith("[") or line == INSERTED).rpartition("[")[2]
    if asked != (section == f"advanced]{INSERTED}"):
        findings.add(name, folder.path(config), f"its section [advanced] {'lacks' if asked else 'has'} {INSERTED}")
    if not asked or not folder.exists(CROSSINGS_FILE):
        if asked != folder.exists(CROSSINGS_FILE):
            findings.add(name, folder.path(CROSSINGS_FILE), "is missing" if asked else "is there, and nobody asked")
        return
    text = folder.text(CROSSINGS_FILE) or ""
    shipped = shipped_file("tcl", SLICE_LIBRARY)
    library = f"vivado/{SLICE_LIBRARY}"
    own = folder.text(library) if folder.exists(library) else None
    if shipped is not None and own != shipped.read_text(encoding="utf-8"):
        findings.add(name, folder.path(library), "is not as shipped")
    head, _, rows = text.partition("floorflow::crossings {\n")
    if f"source [file join [file dirname [file normalize [info script]]] .. vivado {SLICE_LIBRARY}]\n" not in head:
        findings.add(name, folder.path(CROSSINGS_FILE), f"does not source {SLICE_LIBRARY}")
    told = [_CROSSED.fullmatch(row) for row in rows.splitlines()[:-1]]
    found: Counter[_Crossed | None] = Counter(None if row is None else (row[1], row[2], int(row[3])) for row in told)
    wanted: Counter[_Crossed | None] = Counter(_crossed(plan, phase, context))
    for crossing in [*(wanted - found), *(found - wanted)]:
        message = f"{crossing} is {found[crossing]} times there, the plan has it {wanted[crossing]} times"
        findings.add(name, folder.path(CROSSINGS_FILE), message)


def _crossed(plan: PlanRecord, phase: PhaseRecord, context: Mapping[str, Any]) -> Iterator[_Crossed]:
    """Yield SLRs and bytes of every stream that leaves an SLR, to or from the host's port of the one card too."""
    slr = {slot["name"]: slot["slr"] for fpga in plan["platform"]["fpgas"] for slot in fpga["slots"]}
    host = plan["platform"]["fpgas"][0]["host_slot"]
    engines, home = context["engines"], phase["partition"]["assignment"]
    for channel in phase["channels"]:
        source, target = (slr.get(engines[channel[end]]["slot"] if channel[end] in engines else host) for end in SIDES)
        widths = channel["source_width_bits"], channel["target_width_bits"]
        leaves_converted = slr.get(home.get(channel["converter_module"] or "", "")) == source
        if source is not None and target is not None and source != target:
            yield source, target, (widths[leaves_converted] + 7) // 8


def _check_zynq(folder: Files, context: Mapping[str, Any], findings: Findings) -> None:
    path = "vivado/zynq_impl.tcl"
    text = " ".join((folder.text(path) or "").replace("\\\n", " ").split())
    if f"floorflow::implement -part {{{context['parts'][0]}}} " not in text:
        findings.add("flow-file-differs", folder.path(path), f"is not for the plan's part {context['parts'][0]}")
    if "-constraints [file join [file dirname $here] fpga0 pblocks.tcl]" not in text:
        findings.add("flow-file-differs", folder.path(path), "does not take the plan's pblocks.tcl")
