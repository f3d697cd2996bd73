"""Where streams fork and join: duplicates, splits, additions, concatenations and products."""

from dataclasses import replace

from floorflow.backends.finn.kinds.kind import MAX_STREAM_BITS
from floorflow.backends.finn.lower.rewrite import BENDS, only_scales
from floorflow.backends.finn.lower.state import NEEDS_NEWER_FINN, Lowering, Output, Wire
from floorflow.dataflow.model import Attributes, AttributeValue
from floorflow.errors import some
from floorflow.network.datatype import DataType, integer, named, smallest
from floorflow.network.model import Operation
from floorflow.network.obstacles import ObstacleError


def forked(lowering: Lowering, operation: Operation, wire: Wire, readers: int) -> list[Wire]:
    """Return one wire a reader: the wire itself, or the ports of a DuplicateStreams_hls."""
    if readers < 2:
        return [wire] * readers
    attributes = {**wire.attributes, "NumOutputStreams": readers}
    output = Output(wire.shape, wire.datatype, wire.xnor)
    first = lowering.add("DuplicateStreams_hls", operation, attributes, wire, output)
    return [replace(first, port=port, pending=wire.pending) for port in range(readers)]


def add(lowering: Lowering, operation: Operation) -> Wire:
    """Lower an addition of streams to engines that add two; more than two are added in a tree."""
    wires = [without_host_steps(lowering, operation, wire) for wire in lowering.inputs_of(operation)]
    _check_integers(lowering, operation, wires)
    if any(wire.is_one_bit for wire in wires):
        raise lowering.refuse(
            operation,
            "it adds values of -1 and 1, which streams carry in one bit that no engine adds",
            "Quantise the branches to at least 2 bits.",
        )
    while len(wires) > 1:
        pairs = [wires[i : i + 2] for i in range(0, len(wires), 2)]
        wires = [_sum_of_two(lowering, operation, pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return wires[0]


def concat(lowering: Lowering, operation: Operation) -> Wire:
    """Lower a concatenation of channels to StreamingConcat_hls; scales of the parts wait behind it.

    FINN main's engine takes a whole pixel a word and one type; wider ones need the newer engine.
    """
    wires = [without_host_steps(lowering, operation, wire) for wire in lowering.inputs_of(operation)]
    for wire in wires:
        if wire.host_only:
            raise refused_host_step(lowering, operation, wire.host_only)
        if wire.shape[:-1] != wires[0].shape[:-1]:
            raise lowering.refuse(operation, f"its inputs differ in size: {wires[0].shape} and {wire.shape}")
    signs = {wire.is_one_bit for wire in wires}
    if len(signs) > 1:
        raise lowering.refuse(operation, "it joins values of -1 and 1 with others", "Quantise all parts alike.")
    channels = tuple(wire.shape[-1] for wire in wires)
    pending = all_pending(wires)
    attributes: dict[str, AttributeValue] = {"numInputVectors": wires[0].shape[:-1]}
    joint = _common(wires)
    if lowering.newer:
        attributes |= {"ChannelsPerStream": channels, "inputDataTypes": tuple(wire.datatype.name for wire in wires)}
    else:
        wires = _of_one_type(lowering, operation, wires)
        fits = sum(channels) * joint.bits <= MAX_STREAM_BITS
        if not fits:
            lowering.remark(NEEDS_NEWER_FINN, operation)
        attributes |= {"ElemsPerStream" if fits else "ChannelsPerStream": channels, "inputDataType": joint.name}
    output = Output((*wires[0].shape[:-1], sum(channels)), joint, wires[0].xnor)
    return lowering.add("StreamingConcat_hls", operation, attributes, wires, output).then(*pending)


def split(lowering: Lowering, operation: Operation) -> list[Wire]:
    """Lower a split of the channels to StreamingSplit_hls; what waits on its input waits behind each part."""
    wire = without_host_steps(lowering, operation, lowering.input_of(operation))
    if wire.host_only:
        raise refused_host_step(lowering, operation, wire.host_only)
    channels = operation.integers("channels")
    if len(channels) != len(operation.outputs):
        reason = f"of its {len(channels)} parts only {len(operation.outputs)} are read, and no engine drops channels"
        raise lowering.refuse(operation, reason, "Take the part that is not read out of the layer before the split.")
    if sum(channels) != wire.shape[-1]:
        raise lowering.refuse(operation, f"the stream's innermost are {wire.shape[-1]} features, not its channels")
    if len({*channels}) > 1:
        lowering.stops("splits into parts of unequal channels", operation)
    attributes: Attributes = {
        "ChannelsPerStream": channels,
        "inputDataType": wire.datatype.name,
        "numInputVectors": wire.shape[:-1],
    }
    first = lowering.add(
        "StreamingSplit_hls", operation, attributes, wire, Output(wire.shape, wire.datatype, wire.xnor)
    )
    parts = (((*wire.shape[:-1], count), port) for port, count in enumerate(channels))
    return [
        replace(first, shape=shape, last_dimension=shape[-1], port=port, pending=wire.pending) for shape, port in parts
    ]


def without_host_steps(lowering: Lowering, operation: Operation, wire: Wire) -> Wire:
    """Leave what waits on a raw input to the host, for a reader that takes integers."""
    if not wire.pending or not wire.from_host:
        return wire
    names = some(f"'{step.name}'" for step in wire.pending)
    lowering.notes.append(f"{names} before '{operation.name}' stay on the host: no quantiser follows them")
    return replace(wire, pending=())


def refused_host_step(lowering: Lowering, operation: Operation, blocking: Operation) -> ObstacleError:
    """Return the error for an operation behind one that only the host computes."""
    if blocking.type == "function":
        reason = f"no engine computes {blocking.text('operator')}: thresholds take over ReLU, Clip and Selu only"
        return lowering.refuse(blocking, reason, "Use a quantised ReLU in its place.", unsupported=True)
    reason = f"it follows '{blocking.name}' ({blocking.type}), which has no engine"
    return lowering.refuse(operation, reason, f"Leave '{blocking.name}' to the end of the network.", unsupported=True)


def _check_integers(lowering: Lowering, operation: Operation, wires: list[Wire]) -> None:
    """Refuse to add what an engine before would have had to compute."""
    for wire in wires:
        if wire.host_only and wire.host_only.type == "function":
            raise refused_host_step(lowering, operation, wire.host_only)
        blocking = wire.host_only or next((step for step in wire.pending if step.type in BENDS), None)
        if blocking:
            raise lowering.refuse(
                operation,
                f"it adds float values behind '{blocking.name}' ({blocking.type}), and no quantiser follows",
                "Put a quantised activation before the addition.",
            )
    if len({wire.shape for wire in wires}) > 1:
        raise lowering.refuse(operation, f"its inputs differ in shape: {', '.join(str(w.shape) for w in wires)}")


def _sum_of_two(lowering: Lowering, operation: Operation, pair: list[Wire]) -> Wire:
    """Add AddStreams_hls, or ElementwiseAdd_hls; scales and biases of the branches wait behind it."""
    pending = all_pending(pair)
    if lowering.newer:
        return _elementwise_sum(lowering, operation, pair).then(*pending)
    wires = _of_one_type(lowering, operation, pair)
    datatype = wires[0].datatype
    output = Output(wires[0].shape, integer(datatype.bits + 1, signed=datatype.signed))
    return lowering.add("AddStreams_hls", operation, wires[0].attributes, wires, output).then(*pending)


def _elementwise_sum(lowering: Lowering, operation: Operation, pair: list[Wire]) -> Wire:
    """Add ElementwiseAdd_hls, whose operands may differ in type."""
    left, right = (named(wire.datatype.name) for wire in pair)
    output = Output(pair[0].shape, smallest(left.min + right.min, left.max + right.max))
    return _elementwise(lowering, operation, "Add", pair, output)


def _elementwise(lowering: Lowering, operation: Operation, name: str, pair: list[Wire], output: Output) -> Wire:
    attributes: dict[str, AttributeValue] = {"out_shape": output.shape, "out_dtype": output.datatype.name}
    for side, wire in zip(("lhs", "rhs"), pair, strict=True):
        attributes |= {
            f"{side}_shape": wire.shape,
            f"{side}_style": "input",
            f"{side}_dtype": wire.datatype.name,
        }
    return lowering.add(f"Elementwise{name}_hls", operation, attributes, pair, output)


def all_pending(wires: list[Wire]) -> tuple[Operation, ...]:
    """Return what waits on any of the wires, once each."""
    return tuple({step.outputs: step for wire in wires for step in wire.pending}.values())


def _of_one_type(lowering: Lowering, operation: Operation, wires: list[Wire]) -> list[Wire]:
    """Bring streams to one type, as FINN's joining engines need it."""
    common = _common(wires)
    return [_as(lowering, operation, wire, common) for wire in wires]


def _common(wires: list[Wire]) -> DataType:
    """Return the type of all streams, or the smallest that holds the values of each."""
    if len({wire.datatype.name for wire in wires}) == 1:
        return wires[0].datatype
    full = [named(wire.datatype.name) for wire in wires]
    return smallest(min(t.min for t in full), max(t.max for t in full))


def _as(lowering: Lowering, operation: Operation, wire: Wire, datatype: DataType) -> Wire:
    """Widen a stream: accumulators where they are made, others by a ChannelwiseOp_hls that may also scale them."""
    if wire.datatype.name == datatype.name:
        return wire
    widened = lowering.widened(wire, datatype)
    if widened:
        return widened
    parameters = integer(max(datatype.bits - wire.datatype.bits, 2), signed=datatype.signed)
    attributes = {
        **wire.attributes,
        "Func": "mul",
        "paramDataType": parameters.name,
        "outputDataType": datatype.name,
    }
    output = Output(wire.shape, datatype)
    return lowering.add("ChannelwiseOp_hls", operation, attributes, wire, output, weight_bits=parameters.bits)


_QUANTISE = "Put a quantised activation before the product."


def multiply(lowering: Lowering, operation: Operation) -> Wire:
    """Lower a product to ElementwiseMul_hls; scales of its operands are scales of the product and wait behind it.

    One operand may hold a single pixel, which the engine keeps and repeats: the gate of squeeze and excite.
    """
    wires = [without_host_steps(lowering, operation, wire) for wire in lowering.inputs_of(operation)]
    for wire in wires:
        if wire.host_only:
            raise refused_host_step(lowering, operation, wire.host_only)
        if wire.is_one_bit:
            reason = "it multiplies values of -1 and 1, which streams carry in one bit that no engine multiplies"
            raise lowering.refuse(operation, reason, "Quantise the operands to at least 2 bits.")
        bent = next((step for step in wire.pending if not only_scales(step)), None)
        if bent:
            reason = f"it multiplies float values behind '{bent.name}' ({bent.type}), and no quantiser follows"
            raise lowering.refuse(operation, reason, _QUANTISE)
    left, right = wires
    shape = max((wire.shape for wire in wires), key=lambda s: s[1:-1])
    if any(not _repeats(wire.shape, shape) for wire in wires):
        raise lowering.refuse(
            operation,
            f"it multiplies {left.shape} by {right.shape} (channels last): one operand may hold a single pixel, with "
            "all channels, or both have one shape",
            "Give both operands the same channels.",
        )
    output = Output(shape, product_type(left.datatype, right.datatype))
    return _elementwise(lowering, operation, "Mul", wires, output).then(*all_pending(wires))


def product_type(left: DataType, right: DataType) -> DataType:
    """Return the type of a product: FINN takes the bits of both (``ElementwiseMul._derive_out_dtype``)."""
    return integer(left.bits + right.bits, signed=left.signed or right.signed)


def _repeats(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether an operand has the shape of the product, or one pixel of it."""
    return shape == whole or (len(shape) == len(whole) and shape[-1] == whole[-1] and set(shape[:-1]) == {1})
