"""FINN's two files against the plan: folding_config.json, and floorplan.json with FINN's rules for kernels."""

from __future__ import annotations

from collections.abc import Iterator

from floorflow.verify.finn.built import BuiltNetwork
from floorflow.verify.graphs import has_cycle, quotient
from floorflow.verify.templates import Record, is_count
from floorflow.verify.violations import Findings

FOLDING_FILE = "folding_config.json"
FLOORPLAN_FILE = "floorplan.json"

NUMBERS = ("slr", "partition_id", "device_id")
"""Keys of an entry of floorplan.json beside ``mem_port``."""

ANY_SLR = -1
"""FINN's number for a node that may lie in any SLR: so it is where nothing is constrained."""

FREE_KEYS = ("inFIFODepths", "outFIFODepths", "preferred_impl_style")
"""Attributes that folding_config.json may set beside the folding."""


def check_folding_file(content: Record, built: BuiltNetwork, file: str, findings: Findings) -> None:
    """Check that FINN would fold every engine as the plan says."""
    _check_defaults(content, file, findings)
    for name, entry in _entries(content, file, built, findings):
        where = f"{file} {name}"
        planned = built.nodes[name].folding
        for key, value in planned.items():
            if key not in entry or not _equal(entry[key], value):
                message = f"{key} is {entry.get(key)!r}, the plan says {value!r}"
                findings.add("finn-folding-differs", where, message)
        for key in sorted(set(entry) - set(planned) - set(FREE_KEYS)):
            stated = built.nodes[name].entry["attributes"].get(key)
            if stated is None or stated != entry[key]:
                message = f"{key} is {entry[key]!r}, the plan says {stated!r}"
                findings.add("finn-folding-differs", where, message)


def _check_defaults(content: Record, where: str, findings: Findings) -> None:
    """Check that FINN finds the entry that it asks for, and that it changes nothing."""
    if not isinstance(content.get("Defaults"), dict):
        findings.add("finn-entry-malformed", where, "there is no object Defaults")
    elif content["Defaults"]:
        findings.add("finn-folding-differs", where, "Defaults sets attributes that the plan does not have")


def _equal(stated: object, planned: object) -> bool:
    """Whether two values are the same in JSON: true is not 1, 1.0 is not 1."""
    return type(stated) is type(planned) and stated == planned


def _entries(content: Record, where: str, built: BuiltNetwork, findings: Findings) -> Iterator[tuple[str, Record]]:
    """Yield the engines' entries; report engines without one and entries without an engine."""
    for name in built.nodes:
        entry = content.get(name)
        if entry is None:
            findings.add("finn-node-missing", where, f"{name} has no entry")
        elif not isinstance(entry, dict):
            findings.add("finn-entry-malformed", f"{where} {name}", "is no object")
        else:
            yield name, entry
    for name in sorted({*content} - {*built.nodes, "Defaults"}):
        findings.add("finn-node-unknown", where, f"{name} is no engine of the plan")


def check_floorplan_file(
    content: Record, built: BuiltNetwork, first: int, file: str, findings: Findings
) -> dict[str, int]:
    """Check SLRs, devices and partition ids; return the partition id of each engine that has one.

    The network's numbers begin with ``first``: those of its input DMA engines.
    """
    ids: dict[str, int] = {}
    places: dict[int, dict[tuple[object, object], str]] = {}
    _check_defaults(content, file, findings)
    for name, entry in _entries(content, file, built, findings):
        where = f"{file} {name}"
        numbers = all(is_count(entry.get(key)) or (key, entry.get(key)) == ("slr", ANY_SLR) for key in NUMBERS)
        if not numbers or entry.get("mem_port") != "" or len(entry) > len(NUMBERS) + 1:
            message = f"expected integers {', '.join(NUMBERS)}, an empty mem_port and nothing else"
            findings.add("finn-entry-malformed", where, message)
            continue
        ids[name] = entry["partition_id"]
        if first <= ids[name] < first + built.input_count:
            message = f"partition_id {ids[name]} is one of the {built.input_count} that FINN gives to input DMA engines"
            findings.add("finn-partition-reserved", where, message)
        row = built.rows[name]
        if row["slot"] is not None:
            slr = ANY_SLR if row["style"] == "none" else row["slr"]
            findings.expect("finn-slr-differs", where, "slr", entry["slr"], slr)
            findings.expect("finn-slr-differs", where, "device_id", entry["device_id"], row["fpga_number"])
        places.setdefault(ids[name], {}).setdefault((entry["slr"], entry["device_id"]), name)
    for number, engine_at in sorted(places.items()):
        if len(engine_at) > 1:
            message = f"partition {number} holds {', '.join(engine_at.values())} in several SLRs"
            findings.add("finn-partition-split", file, message)
    _check_ids(ids, built, file, findings)
    return ids


def _check_ids(ids: dict[str, int], built: BuiltNetwork, file: str, findings: Findings) -> None:
    groups = {name: str(number) for name, number in ids.items()}
    if has_cycle(quotient(built.successors, groups)):
        message = "partition ids depend on each other in a cycle; FINN would refuse them"
        findings.add("finn-partition-cycle", file, message)
    for name, number in ids.items():
        followers = [follower for follower in built.successors[name] if ids.get(follower) == number]
        if followers and built.nodes[name].choice("runtime_writeable_weights", 0) == 1:
            message = f"its weights are written at run time, yet {followers[0]} follows in partition {number}"
            findings.add("finn-partition-open", f"{file} {name}", message)
