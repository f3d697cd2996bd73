"""Totals of a phase: engines and channels to modules, modules and crossing registers to slots, limits, memories."""

from collections import Counter

from floorflow.verify.facts import PhaseFacts
from floorflow.verify.graphs import quotient, rings
from floorflow.verify.phase_records import ChannelRecord, MemoryRecord
from floorflow.verify.records import RESOURCE_NAMES, Amounts, add, amounts, excess, limit_of, repeated
from floorflow.verify.violations import Findings


def check_membership(phase: PhaseFacts) -> None:
    """Check that every engine has a folding and one module, and that only modules over whole slots form a cycle."""
    modules, where = phase.raw["modules"], phase.where
    _check_holders(phase)
    for part in phase.raw["networks"]:
        for name in sorted({*part["folding"]["engines"]} - {*phase.engines_of(part["network"])}):
            phase.add("engine-unknown", where, f"{name} is folded, the network {part['network']} has it not")
    for module in modules:
        if not module["engines"]:
            phase.add("module-empty", where, f"module {module['name']} has no engines")
    for name, count in repeated(module["name"] for module in modules):
        phase.add("module-repeated", where, f"{count} modules are called {name}")
    _check_rings(phase)


def _check_rings(phase: PhaseFacts) -> None:
    """Check that a module feeds itself only through modules that are the only ones of their slots, as slots may."""
    slot_of = phase.raw["partition"]["assignment"]
    held = Counter(slot_of.get(name) for name in phase.modules)
    between = quotient(phase.successors, phase.module_of)
    beside = {name for name in between if held[slot_of.get(name)] > 1}
    for ring in rings({name: [other for other in between[name] if other in beside] for name in beside}):
        message = f"{', '.join(sorted(ring))} depend on each other and are not alone in their slots"
        phase.add("module-cycle", phase.where, message)


def _check_holders(phase: PhaseFacts) -> None:
    holders = Counter(engine for module in phase.raw["modules"] for engine in module["engines"])
    for name in sorted({*holders} - {*phase.folded}):
        phase.add("engine-unknown", phase.where, f"{name} is in a module and has no folding here")
    for name in phase.folded:
        if holders[name] == 0:
            phase.add("engine-missing", phase.where, f"{name} is in no module")
        elif holders[name] > 1:
            phase.add("engine-repeated", phase.where, f"{name} is in modules {holders[name]} times")


def module_totals(phase: PhaseFacts) -> dict[str, Amounts]:
    """Sum up every module's engines, FIFOs and converters, and what is registered at its ports."""
    totals = {name: add(amounts({}), phase.port_registers[name]) for name in phase.modules}
    for engine, module in phase.module_of.items():
        if engine in phase.folded:
            totals[module] = add(totals[module], amounts(phase.folded[engine].folding["resources"]))
    for channel in phase.channels:
        for holder, use in (
            (channel["fifo_module"], channel["fifo_resources"]),
            (channel["converter_module"], channel["converter_resources"]),
        ):
            if holder in totals:
                totals[holder] = add(totals[holder], use)
    return totals


def check_sums(phase: PhaseFacts) -> None:
    """Check the totals of channels and modules."""
    for channel in phase.channels:
        where = f"{phase.where} channel {channel['name']}"
        total = add(amounts(channel["converter_resources"]), amounts(channel["fifo_resources"]))
        phase.expect("wrong-sum", where, "resources", amounts(channel["resources"]), total)
        for key in ("fifo_module", "converter_module"):
            if channel[key] is not None and channel[key] not in phase.modules:
                phase.add("module-unknown", where, f"{key} is {channel[key]}")
    for name, total in module_totals(phase).items():
        where = f"{phase.where} module {name}"
        phase.expect("wrong-sum", where, "resources", amounts(phase.modules[name]["resources"]), total)


def slot_totals(phase: PhaseFacts) -> dict[str, Amounts]:
    """Sum up every slot's modules, its share of the crossing registers, and its register slices."""
    totals = {name: amounts({}) for name in phase.slots}
    for name, total in module_totals(phase).items():
        slot = phase.slot_of_module(name)
        if slot is not None:
            totals[slot.name] = add(totals[slot.name], total)
    for channel in phase.channels:
        for name, price in phase.registers(channel):
            totals[name] = add(totals[name], price)
        for name, held in channel["slice_resources"].items():
            if name in totals:
                totals[name] = add(totals[name], amounts(held))
    return totals


def left_of(phase: PhaseFacts, slot: str) -> Amounts:
    """Return what link kernels leave of what is available in a slot."""
    left = amounts(phase.slots[slot].entry["available"])
    for kernel in phase.raw.get("link_kernels", []):
        if kernel["slot"] == slot:
            left = {name: amount - kernel["resources"][name] for name, amount in left.items()}
    return left


def check_slots(phase: PhaseFacts, cap: dict[str, float]) -> None:
    """Check utilisation and limits of every slot."""
    stated = phase.raw["partition"]["utilisation"]
    for name in sorted(set(stated) - set(phase.slots)):
        phase.add("slot-unknown", f"{phase.where}.partition.utilisation", f"{name} is no slot")
    for name, demand in slot_totals(phase).items():
        where = f"{phase.where} slot {name}"
        available = amounts(phase.slots[name].entry["available"])
        shares = {r: demand[r] / available[r] if available[r] else 0.0 for r in RESOURCE_NAMES}
        for resource in RESOURCE_NAMES:
            share = stated.get(name, {}).get(resource)
            phase.expect("wrong-utilisation", where, f"utilisation of {resource}", share, shares[resource])
        over = excess(demand, limit_of(cap, left_of(phase, name)))
        if over:
            phase.add("cap-exceeded", where, over)


def check_budgets(phase: PhaseFacts, cap: dict[str, float]) -> None:
    """Check that no folding was allowed more than all slots' limits together, and that no bound is negative."""
    limits = amounts({})
    for slot in phase.slots.values():
        limits = add(limits, limit_of(cap, amounts(slot.entry["available"])))
    for network, part in phase.parts.items():
        where, whole = f"{phase.where} network {network}.folding", part["folding"]["whole_budget_bound"]
        over = excess(amounts(part["folding"]["budget"]), limits)
        if over:
            phase.add("wrong-budget", f"{where}.budget", over.replace("needs", "has"))
        if whole is not None and whole < 0:
            phase.add("wrong-budget", where, f"whole_budget_bound is {whole}, no sum is negative")


def check_memories(phase: PhaseFacts) -> None:
    """Check that each is of an engine or a channel of the phase, once, and as the plan has it."""
    channels, seen = {channel["name"]: channel for channel in phase.channels}, set[str]()
    for memory in phase.raw["memories"]:
        name, where = memory["name"], f"{phase.where}.memories {memory['name']}"
        if name in seen:
            phase.add("wrong-memory", where, "is listed twice")
        seen.add(name)
        if memory["kind"] == "fifo" and name in channels:
            _check_fifo(memory, channels[name], where, phase.findings)
        elif memory["kind"] == "weights" and name in phase.folded:
            use = amounts(phase.folded[name].folding["resources"])
            phase.expect("wrong-memory", where, "resources", amounts(memory["resources"]), use)
        else:
            phase.add("wrong-memory", where, f"a {memory['kind']} of that name is not in the phase")
        if memory["style"] in {other["style"] for other in memory["others"]}:
            phase.add("wrong-memory", where, f"{memory['style']} is no other memory")


def _check_fifo(memory: MemoryRecord, channel: ChannelRecord, where: str, findings: Findings) -> None:
    bits = channel["width_bits"] * channel["fifo_depth"]
    findings.expect("wrong-memory", where, "bits", memory["bits"], bits)
    findings.expect("wrong-memory", where, "style", memory["style"], channel["fifo_style"])
    use = amounts(channel["fifo_resources"])
    findings.expect("wrong-memory", where, "resources", amounts(memory["resources"]), use)
