"""Products of two streams: gates, and squeeze and excite."""

from __future__ import annotations

from floorflow.backends.finn.lower.joins import all_pending, refused_host_step, without_host_steps
from floorflow.backends.finn.lower.rewrite import only_scales
from floorflow.backends.finn.lower.state import Lowering, Output, Wire
from floorflow.dataflow.model import Attributes
from floorflow.network.datatype import BIPOLAR, DataType, integer
from floorflow.network.model import Operation

_QUANTISE = "Put a quantised activation before the product."


def multiply(lowering: Lowering, operation: Operation) -> Wire:
    """Lower a product to ElementwiseMul_hls; scales of its operands are scales of the product and wait behind it.

    One operand may hold a single pixel, which the engine keeps and repeats: the gate of squeeze and excite.
    """
    wires = [without_host_steps(lowering, operation, wire) for wire in lowering.inputs_of(operation)]
    for wire in wires:
        _check(lowering, operation, wire)
    left, right = wires
    shape = max((wire.shape for wire in wires), key=lambda s: s[1:-1])
    if any(not _repeats(wire.shape, shape) for wire in wires):
        raise lowering.refuse(
            operation,
            f"it multiplies {left.shape} by {right.shape} (channels last): one operand may hold a single pixel, with "
            "all channels, or both have one shape",
            "Give both operands the same channels.",
        )
    datatype = product_type(left.datatype, right.datatype)
    attributes: Attributes = {
        "lhs_shape": left.shape,
        "out_shape": shape,
        "rhs_shape": right.shape,
        "lhs_style": "input",
        "rhs_style": "input",
        "lhs_dtype": left.datatype.name,
        "rhs_dtype": right.datatype.name,
        "out_dtype": datatype.name,
    }
    result = lowering.add("ElementwiseMul_hls", operation, attributes, wires, Output(shape, datatype))
    return result.then(*all_pending(wires))


def product_type(left: DataType, right: DataType) -> DataType:
    """Return the type of a product: FINN takes the bits of both (``ElementwiseMul._derive_out_dtype``)."""
    return integer(left.bits + right.bits, signed=left.signed or right.signed)


def _check(lowering: Lowering, operation: Operation, wire: Wire) -> None:
    """Refuse an operand that is no plain integer, but for a scale."""
    if wire.host_only:
        raise refused_host_step(lowering, operation, wire.host_only)
    if wire.xnor or wire.datatype == BIPOLAR:
        reason = "it multiplies values of -1 and 1, which streams carry in one bit that no engine multiplies"
        raise lowering.refuse(operation, reason, "Quantise the operands to at least 2 bits.")
    bent = next((step for step in wire.pending if not only_scales(step)), None)
    if bent:
        reason = f"it multiplies float values behind '{bent.name}' ({bent.type}), and no quantiser follows"
        raise lowering.refuse(operation, reason, _QUANTISE)


def _repeats(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether an operand has the shape of the product, or one pixel of it."""
    return shape == whole or (len(shape) == len(whole) and shape[-1] == whole[-1] and set(shape[:-1]) == {1})
