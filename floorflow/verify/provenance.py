"""Where a plan comes from: its options against the plan, its input files, and the operations behind its engines."""

from __future__ import annotations

from floorflow.verify.records import Record
from floorflow.verify.violations import Findings


def check_provenance(plan: Record, findings: Findings) -> None:
    """Judge the options that the plan repeats elsewhere, and that every engine carries out an operation."""
    options, name = plan["options"], "wrong-option"
    findings.expect(name, "options", "seed", options["seed"], plan["seed"])
    if options["fpgas"] != "auto":
        findings.expect(name, "options", "fpgas", options["fpgas"], len(plan["platform"]["fpgas"]))
    for network in plan["networks"]:
        operations = {operation["name"] for operation in network["operations"]}
        for engine in network["engines"]:
            if engine["operation"] not in operations:
                message = f"{engine['operation']} is no operation of the network"
                findings.add("operation-unknown", f"network {network['name']} engine {engine['name']}", message)
