"""Streams of a phase: ends, widths, words, converters, links and crossing registers, from the engines' ports."""

from collections import Counter

from floorflow.verify.back_end import Port
from floorflow.verify.facts import PhaseFacts, is_outside
from floorflow.verify.graphs import has_cycle
from floorflow.verify.hardware.routes import links_on
from floorflow.verify.phase_records import ChannelRecord
from floorflow.verify.records import PORTS, RESOURCE_NAMES, SIDES, Amounts, add, amounts, repeated
from floorflow.verify.violations import Findings

FIFO_THAT_EXISTS = 3
"""Least depth for which a FIFO is made; shallower ones are the engines' own registers."""


def check_channels(phase: PhaseFacts) -> None:
    """Judge every channel of a phase."""
    check_streams(phase)
    for channel in phase.channels:
        where = f"{phase.where} channel {channel['name']}"
        _check_converter_module(phase, channel, where)
        _check_registers(phase, channel, where)


def check_streams(phase: PhaseFacts) -> None:
    """Judge of every channel what does not rest on where it lies: name, ends, widths, converter."""
    for name, count in repeated(channel["name"] for channel in phase.channels):
        phase.add("channel-repeated", f"{phase.where} channel {name}", f"stands {count} times")
    _check_connections(phase)
    _check_outside_ports(phase)
    if has_cycle(phase.successors):
        phase.add("cyclic-dataflow", phase.where, "some engines depend on their own output")
    for channel in phase.channels:
        where = f"{phase.where} channel {channel['name']}"
        ends = (f"{channel[side]}.{channel[PORTS[side]]}" for side in SIDES)
        phase.expect("channel-name", where, "name", channel["name"], "->".join(ends))
        _check_stream(channel, ports_of(phase, channel), where, phase.findings)
        _check_converter(phase, channel, where)


def _check_connections(phase: PhaseFacts) -> None:
    used: Counter[tuple[str, str, int]] = Counter()
    for channel in phase.channels:
        _check_ends(phase, channel)
        for side in SIDES:
            used[(channel[side], side, channel[PORTS[side]])] += 1
    expected = {
        (name, end, number)
        for name, engine in phase.folded.items()
        for end, streams in (("target", engine.facts.inputs), ("source", engine.facts.outputs))
        for number in range(len(streams or ()))
    }
    known = {name for name, engine in phase.folded.items() if engine.facts.inputs is not None}
    for name, end, number in sorted(expected | {key for key in used if key[0] in known}):
        count = used[(name, end, number)]
        if count != 1 or (name, end, number) not in expected:
            word = "input" if end == "target" else "output"
            exists = "exists" if (name, end, number) in expected else f"does not exist on a {phase.folded[name].kind}"
            message = f"{word} {number} {exists} and has {count} channels"
            phase.add("port-mismatch", f"{phase.where} engine {name}", message)


def _check_ends(phase: PhaseFacts, channel: ChannelRecord) -> None:
    """Judge that both ends exist, that they are of one network, and that one of them is an engine."""
    where = f"{phase.where} channel {channel['name']}"
    for side in SIDES:
        end = phase.end(channel, side)
        if end is None or (end.kind == "engine" and channel[side] not in phase.folded):
            message = f"{side} {channel[side]} is no engine of this phase and no end outside"
            phase.add("channel-end-unknown", where, message)
    source, target = phase.end(channel, "source"), phase.end(channel, "target")
    if source is None or target is None:
        return
    if source.network != target.network:
        phase.add("channel-astray", where, f"it joins the networks {source.network} and {target.network}")
    if source.kind != "engine" and target.kind != "engine":
        phase.add("channel-astray", where, "neither end is an engine")


def _check_outside_ports(phase: PhaseFacts) -> None:
    """Judge that ends outside have port 0, and that each stream of the host is one channel."""
    for side in SIDES:
        outside = [channel for channel in phase.channels if is_outside(channel[side])]
        for channel in outside:
            if channel[PORTS[side]]:
                message = f"{side}_port is {channel[PORTS[side]]}, streams outside have port 0"
                phase.add("port-mismatch", f"{phase.where} channel {channel['name']}", message)
        hosts = (channel[side] for channel in outside if (end := phase.end(channel, side)) and end.kind == "host")
        for name, count in repeated(hosts):
            phase.add("port-mismatch", phase.where, f"{name} has {count} channels, expected one")


def ports_of(phase: PhaseFacts, channel: ChannelRecord) -> tuple[Port | None, Port | None]:
    """Return the ports at the source and the target; None outside and where unknown."""
    source, target = (phase.folded.get(channel[end]) for end in SIDES)
    outputs = source.facts.outputs if source else None
    inputs = target.facts.inputs if target else None
    return _at(outputs, channel["source_port"]), _at(inputs, channel["target_port"])


def _at(ports: tuple[Port, ...] | None, number: int) -> Port | None:
    return ports[number] if ports is not None and number < len(ports) else None


def _check_stream(
    channel: ChannelRecord, ends: tuple[Port | None, Port | None], where: str, findings: Findings
) -> None:
    source, target = ends
    _check_types(channel, ends, where, findings)
    if is_outside(channel["source"]):
        source = target
    if is_outside(channel["target"]):
        target = source
    if source is None or target is None:
        return
    expect = findings.expect
    expect("wrong-stream-width", where, "source_width_bits", channel["source_width_bits"], source.width_bits)
    expect("wrong-stream-width", where, "target_width_bits", channel["target_width_bits"], target.width_bits)
    wires = max(source.width_bits, target.width_bits)
    expect("wrong-stream-width", where, "width_bits", channel["width_bits"], wires)
    frame_bits = source.elements * source.bits
    if (source.elements, source.bits) != (target.elements, target.bits):
        sides = f"{source.elements} elements of {source.bits} bits against {target.elements} of {target.bits}"
        findings.add("stream-mismatch", where, sides)
    expect("wrong-words", where, "words_per_frame", channel["words_per_frame"], -(-frame_bits // max(wires, 1)))
    uneven = any(port.last_dimension % port.parallel for port in ends if port)
    if source.width_bits != target.width_bits and (uneven or source.last_dimension % target.parallel):
        findings.add("converter-illegal", where, f"words do not divide the dimension {source.last_dimension}")


def _check_types(channel: ChannelRecord, ends: tuple[Port | None, Port | None], where: str, findings: Findings) -> None:
    stated = [port.data_type for port in ends if port]
    if len(stated) == 2 and None not in stated and stated[0] != stated[1]:
        message = f"{channel['source']} emits {stated[0]}, {channel['target']} takes {stated[1]}"
        findings.add("type-mismatch", where, message)


def _check_converter(phase: PhaseFacts, channel: ChannelRecord, where: str) -> None:
    widths = (channel["source_width_bits"], channel["target_width_bits"])
    narrow, wide = min(widths), max(widths)
    if narrow == wide:
        if channel["converter"] is not None:
            phase.add("converter-needless", where, f"both ends are {wide} bits wide")
        if any(amounts(channel["converter_resources"]).values()):
            phase.add("converter-needless", where, "converter_resources without a converter")
        return
    if channel["converter"] is None:
        phase.add("converter-missing", where, f"{widths[0]} bits meet {widths[1]} bits")
        return
    kind = None if phase.back_end is None else phase.back_end.converter(narrow, wide, where)
    if kind is not None:
        phase.expect("converter-kind", where, "converter", channel["converter"], kind)


def _check_converter_module(phase: PhaseFacts, channel: ChannelRecord, where: str) -> None:
    widths = (channel["source_width_bits"], channel["target_width_bits"])
    narrow, wide = min(widths), max(widths)
    if narrow == wide:
        if channel["converter_module"] is not None:
            phase.add("converter-needless", where, f"both ends are {wide} bits wide")
        return
    if channel["converter"] is None:
        return
    holder = phase.module_of.get(channel["source"] if widths[0] == narrow else channel["target"])
    phase.expect("converter-module", where, "converter_module", channel["converter_module"], holder)


def _check_registers(phase: PhaseFacts, channel: ChannelRecord, where: str) -> None:
    """Judge the register stages at SLR boundaries and the names of the links on a channel's route."""
    route = phase.route(channel)
    if route is None:
        if phase.ends(channel):
            phase.add("link-unknown", where, "it runs between FPGAs that no links join")
        return
    links = ",".join(link.entry["name"] for link in links_on(route)) or None
    phase.expect("link-mismatch", where, "link", channel["link"], links)
    name = "wrong-crossing-registers"
    registers, derived = phase.registers(channel), dict[str, Amounts]()
    for slot, price in registers:
        derived[slot] = add(derived.get(slot, amounts({})), price)
    phase.expect(name, where, "crossing_registers", channel["crossing_registers"], len(registers))
    phase.expect(name, where, "crossing_slots", channel["crossing_slots"], [slot for slot, _ in registers])
    for slot in sorted({*derived, *channel["crossing_resources"]}):
        stated = amounts(channel["crossing_resources"].get(slot, {}))
        phase.expect(name, f"{where} slot {slot}", "crossing_resources", stated, derived.get(slot, amounts({})))


def check_costs(phase: PhaseFacts) -> None:
    """Judge that nothing that exists costs nothing, unless the back end's own estimates may, or nobody knows."""
    if phase.back_end is None or phase.back_end.may_cost_nothing(phase.where):
        return
    for name, engine in phase.folded.items():
        if not engine.facts.only_wires and not any(engine.folding["resources"][r] for r in RESOURCE_NAMES):
            phase.add("zero-resources", f"{phase.where} engine {name}", "the engine costs nothing")
    for channel in phase.channels:
        where = f"{phase.where} channel {channel['name']}"
        if channel["converter"] is not None and not any(amounts(channel["converter_resources"]).values()):
            phase.add("zero-resources", where, "the width converter costs nothing")
        if channel["fifo_depth"] >= FIFO_THAT_EXISTS and not any(amounts(channel["fifo_resources"]).values()):
            phase.add("zero-resources", where, "the FIFO costs nothing")
