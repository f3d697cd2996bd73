"""Matrix units, thresholds and label selection."""

from dataclasses import replace
from math import prod

from floorflow.backends.finn.kinds.thresholding import EQUAL_THRESHOLDS
from floorflow.backends.finn.lower.joins import refused_host_step, without_host_steps
from floorflow.backends.finn.lower.rewrite import has_one_scale
from floorflow.backends.finn.lower.state import (
    THRESHOLD_BITS,
    Lowering,
    Output,
    Wire,
    accumulator,
    activation_value,
    is_rtl,
    rounded_to_bytes,
    stored_weights,
)
from floorflow.backends.finn.lower.windows import Window, padded, spread, window_of, windows
from floorflow.dataflow.model import Attributes, AttributeValue
from floorflow.errors import some
from floorflow.network.datatype import BINARY, BIPOLAR, DataType, smallest
from floorflow.network.model import Operation


def conv(lowering: Lowering, operation: Operation) -> Wire:
    """Lower a convolution: padding, windows, then a matrix unit or, for depthwise ones, a vector unit."""
    wire = _on_integers(lowering, operation, lowering.input_of(operation))
    if _spread_of(operation):
        _check_transposed(lowering, operation)
        wire = spread(lowering, operation, wire)
    window = window_of(lowering, operation, wire)
    if any(window.pads) and wire.is_one_bit:
        raise lowering.refuse(
            operation,
            "it pads with 0, which a BIPOLAR stream cannot carry",
            "Use no padding, or 2-bit activations.",
        )
    channels, out_channels = wire.shape[-1], lowering.network.tensor(operation.outputs[0]).shape[1]
    group = operation.integer("group")
    if group not in (1, channels) or (group > 1 and out_channels != channels):
        raise lowering.refuse(
            operation,
            f"{group} groups of {channels} input and {out_channels} output channels: FINN has engines for one group "
            "and for depthwise layers with one kernel a channel only",
            "Use group = 1, or as many groups as input and output channels.",
        )
    wire = padded(lowering, operation, wire, window)
    # FINN sends a spread image through a window even of one pixel.
    if not window.is_pixel or {*_spread_of(operation)} - {1}:
        wire = windows(lowering, operation, wire, window, depthwise=group > 1)
    if group > 1:
        return _vector_unit(lowering, operation, wire, window)
    return _matrix_unit(lowering, operation, wire, out_channels)


def _spread_of(operation: Operation) -> tuple[int, ...]:
    """Return how far apart a transposed convolution puts the pixels, empty for a plain one."""
    return operation.integers("spread") if "spread" in operation.attributes else ()


def _check_transposed(lowering: Lowering, operation: Operation) -> None:
    """Refuse transposed convolutions that FINN's InferPixelPaddingDeconv leaves, or pads otherwise than ONNX does."""
    if operation.integer("group") != 1:
        reason = f"{operation.integer('group')} groups: FINN has engines for transposed convolutions of one group only"
        raise lowering.refuse(operation, reason, "Use group = 1.")
    if len(operation.integers("kernel")) != 2 or len({*operation.integers("pads")}) > 1:
        reason = (
            f"around the spread image it needs borders of {operation.integers('pads')}, and FINN pads all sides alike"
        )
        raise lowering.refuse(operation, reason, "Use a square kernel with equal pads on all sides.")


def fully_connected(lowering: Lowering, operation: Operation) -> Wire:
    """Lower a fully connected layer to a matrix unit."""
    wire = _on_integers(lowering, operation, lowering.input_of(operation))
    features = lowering.network.tensor(operation.inputs[0]).shape[-1]
    if wire.shape[-1] != features:
        reason = (
            f"it multiplies vectors of {features} along the last axis, but the stream's innermost are {wire.shape[-1]}"
        )
        raise lowering.refuse(operation, reason, "Flatten the data before the layer.")
    return _matrix_unit(lowering, operation, wire, lowering.network.tensor(operation.outputs[0]).shape[-1])


def thresholds(lowering: Lowering, operation: Operation, wire: Wire) -> Wire:
    """Lower a quantiser that no layer has taken over to thresholds of its own."""
    if wire.host_only:
        raise refused_host_step(lowering, operation, wire.host_only)
    return _thresholding(lowering, operation, wire)


def label_select(lowering: Lowering, operation: Operation, wire: Wire, count: int) -> Wire:
    """Add LabelSelect_hls, which sends the labels of the ``count`` largest values."""
    labels = wire.shape[-1]
    datatype = rounded_to_bytes(smallest(0, labels - 1))
    attributes: Attributes = {
        "Labels": labels,
        "K": count,
        "inputDataType": wire.datatype.name,
        "outputDataType": datatype.name,
        "numInputVectors": wire.shape[:-1],
    }
    output = Output((*wire.shape[:-1], count), datatype)
    return lowering.add("LabelSelect_hls", operation, attributes, wire, output)


def _on_integers(lowering: Lowering, operation: Operation, wire: Wire) -> Wire:
    """Leave operations on the raw input to the host; a layer reads integers."""
    wire = without_host_steps(lowering, operation, wire)
    if wire.pending:
        names = some(f"'{step.name}'" for step in wire.pending)
        raise lowering.refuse(operation, f"no quantiser follows {names}", "Put a quantised activation before it.")
    return wire


def _matrix_unit(lowering: Lowering, operation: Operation, wire: Wire, neurons: int) -> Wire:
    """Add an MVAU: every vector of the wire times the weights."""
    attributes: dict[str, AttributeValue] = {
        "MW": wire.shape[-1],
        "MH": neurons,
        "numInputVectors": wire.shape[:-1],
    }
    shape = (*wire.shape[:-1], neurons)
    return _unit(lowering, operation, wire, attributes, unit="MVAU", products=wire.shape[-1], shape=shape)


def _vector_unit(lowering: Lowering, operation: Operation, wire: Wire, window: Window) -> Wire:
    """Add a VVAU: every channel's window times the weights of that channel."""
    taps = prod(window.kernel)
    channels = wire.shape[-1] // taps
    attributes: dict[str, AttributeValue] = {
        "Channels": channels,
        "Kernel": window.kernel,
        "Dim": window.output,
    }
    shape = (1, *window.output, channels)
    return _unit(lowering, operation, wire, attributes, unit="VVAU", products=taps, shape=shape)


def _unit(
    lowering: Lowering,
    operation: Operation,
    wire: Wire,
    dimensions: Attributes,
    *,
    unit: str,
    products: int,
    shape: tuple[int, ...],
) -> Wire:
    """Add a matrix or vector unit of ``products`` products a sum, with the thresholds that follow it.

    Thresholds are fused into the HLS unit, or stand apart; behind the RTL unit, which has none, they do.
    """
    declared = lowering.network.weights(operation).datatype
    xnor = wire.xnor and declared == BIPOLAR
    weights = stored_weights(declared, xnor=xnor)
    summed = accumulator(products, wire.datatype, declared, xnor=xnor)
    rtl = is_rtl(wire.datatype, weights, lowering.technology, depthwise=unit == "VVAU")
    quantiser = lowering.lookahead.thresholds.get(operation.outputs[0])
    fused = None if rtl or lowering.thresholds_apart else quantiser
    activation = _activation(lowering, fused) if fused else None
    attributes: Attributes = {
        **dimensions,
        "inputDataType": wire.datatype.name,
        "weightDataType": weights.name,
        "outputDataType": (activation or summed).name,
        "accDataType": summed.name,
        "noActivation": int(activation is None),
        "ActVal": activation_value(activation) if activation else 0,
        "binaryXnorMode": int(xnor),
    }
    output = Output(shape, activation or summed, fused is not None and fused.outputs[0] in lowering.lookahead.xnor)
    kind = f"{unit}_{'rtl' if rtl else 'hls'}"
    result = lowering.add(kind, operation, attributes, wire, output, weight_bits=weights.bits)
    if quantiser and fused is None:
        return _thresholding(lowering, quantiser, result)
    return replace(result, pending=(operation,)) if operation.integer("bias") and not quantiser else result


def _thresholding(lowering: Lowering, quantiser: Operation, wire: Wire) -> Wire:
    """Add Thresholding_rtl, which also computes whatever float operations wait before it."""
    activation = _activation(lowering, quantiser)
    attributes: Attributes = {
        **wire.attributes,
        "numSteps": activation.steps,
        "weightDataType": wire.datatype.name,
        "outputDataType": activation.name,
        "ActVal": activation_value(activation),
        **({EQUAL_THRESHOLDS: 1} if _are_equal(lowering, quantiser) else {}),
    }
    output = Output(wire.shape, activation, quantiser.outputs[0] in lowering.lookahead.xnor)
    return lowering.add("Thresholding_rtl", quantiser, attributes, wire, output, weight_bits=wire.datatype.bits)


def _are_equal(lowering: Lowering, quantiser: Operation) -> bool:
    """Whether all channels have the same thresholds: one scale before and in the quantiser."""
    return quantiser.inputs[0] in lowering.lookahead.equal and has_one_scale(quantiser)


def _activation(lowering: Lowering, quantiser: Operation) -> DataType:
    """Return the type that a quantiser's thresholds send; -1 and 1 for XNOR units go as BINARY."""
    datatype = lowering.network.tensor(quantiser.outputs[0]).datatype
    if datatype.bits > THRESHOLD_BITS:
        raise lowering.refuse(
            quantiser,
            f"{datatype.bits} bits need {datatype.steps} thresholds; FINN's limit is {THRESHOLD_BITS} bits",
            "Quantise activations to at most 8 bits.",
        )
    return BINARY if quantiser.outputs[0] in lowering.lookahead.xnor else datatype
