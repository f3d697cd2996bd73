"""Layers on integers (QLinearConv, QLinearMatMul, ConvInteger, MatMulInteger and onnxruntime's own): the plain layer.

The layer reads its weights through a DequantizeLinear and sends its results through a QuantizeLinear, whose scales
and zero points are the integer layer's own inputs. The next rewriting, of QDQ, then sees nothing special.
"""

from collections.abc import Callable, Mapping

from floorflow.network.dialects.rewriting import Rewriting, require_inputs
from floorflow.network.facts import find_constants
from floorflow.network.onnx_file import Node, OnnxFile
from floorflow.network.soundness import STANDARD_DOMAINS

_PLANE = (1, 1)
"""The kernel of a global pool, as far as its rank goes."""
_DOMAINS = (*STANDARD_DOMAINS, "com.microsoft")


def rewrite(source: OnnxFile) -> OnnxFile:
    """Return the file with plain layers between quantisers."""
    own = {node.name for node in source.nodes if node.domain in _DOMAINS and node.op_type in _OPERATORS}
    if not own:
        return source
    require_inputs(source, {name: least for name, (_, least) in _OPERATORS.items()}, _DOMAINS)
    rewriting, constants = Rewriting(source), find_constants(source)
    for node in source.nodes:
        if node.name in own:
            _OPERATORS[node.op_type][0](rewriting, node, constants)
        else:
            rewriting.keep(node)
    return rewriting.finish()


def _qlinear_layer(rewriting: Rewriting, node: Node, constants: frozenset[str]) -> None:
    """Rewrite (a, a scale, a zero, b, b scale, b zero, y scale, y zero[, bias])."""
    op_type = node.op_type.removeprefix("QLinear")
    inputs = [_read(rewriting, node, position, constants) for position in (0, 3)]
    _quantised(rewriting, node, op_type, [*inputs, *node.inputs[8:9]], (6, 7))


def _qgemm(rewriting: Rewriting, node: Node, constants: frozenset[str]) -> None:
    """Rewrite (a, a scale, a zero, b, b scale, b zero, bias, y scale, y zero); without the last two y is a float."""
    inputs = [_read(rewriting, node, position, constants) for position in (0, 3)]
    bias = [name for name in node.inputs[6:7] if name]
    if node.optional(7):
        _quantised(rewriting, node, "Gemm", [*inputs, *bias], (7, 8))
    else:
        rewriting.like(node, "Gemm", [*inputs, *bias], node.outputs[0])


def _qlinear_pool(rewriting: Rewriting, node: Node, _constants: frozenset[str]) -> None:
    """Rewrite (x, x scale, x zero, y scale, y zero)."""
    _quantised(rewriting, node, node.op_type.removeprefix("QLinear"), [node.inputs[0]], (3, 4))


def _qlinear_concat(rewriting: Rewriting, node: Node, _constants: frozenset[str]) -> None:
    """Rewrite (y scale, y zero, then x, x scale, x zero of each part)."""
    _quantised(rewriting, node, "Concat", list(node.inputs[2::3]), (0, 1))


def _integer_layer(rewriting: Rewriting, node: Node, constants: frozenset[str]) -> None:
    """Rewrite (a, b[, a zero, b zero]), whose sums leave as they are; the scale 1 stands for one applied later."""
    op_type, data = node.op_type.removesuffix("Integer"), node.inputs[0]
    one = rewriting.constant(f"{node.outputs[0]} scale", 1.0)
    weights = node.inputs[1]
    if weights in constants:
        scale_and_zero = [one, *filter(None, [node.optional(3)])]
        weights = f"{node.outputs[0]} weights"
        rewriting.add(f"{node.name}_weights", "DequantizeLinear", [node.inputs[1], *scale_and_zero], weights)
    rewriting.like(node, op_type, [data, weights], node.outputs[0])


def _read(rewriting: Rewriting, node: Node, position: int, constants: frozenset[str]) -> str:
    """Return an operand; a constant one passes a DequantizeLinear, which says what its integers are."""
    name, scale, zero = node.inputs[position], node.inputs[position + 1], node.optional(position + 2)
    if name not in constants:
        return name
    made = f"{name} in {node.outputs[0]}"
    inputs = [part for part in (name, scale, zero) if part]
    return rewriting.add(f"{node.name}_{position}", "DequantizeLinear", inputs, made)


def _quantised(rewriting: Rewriting, node: Node, op_type: str, inputs: list[str], result: tuple[int, int]) -> None:
    """Add the plain operator and the quantiser of its result, whose scale and zero point are at ``result``.

    Onnxruntime's own operators may read and write their data channels last.
    """
    made = f"{node.outputs[0]} sums"
    if node.attributes.get("channels_last"):
        order = [0, *range(2, len(node.integers("kernel_shape") or _PLANE) + 2), 1]
        turned = f"{inputs[0]} channels first at {node.name}"
        back = [order.index(axis) for axis in range(len(order))]
        inputs = [rewriting.add(f"{node.name} input", "Transpose", [inputs[0]], turned, perm=back), *inputs[1:]]
        sums = f"{made} channels first"
        rewriting.like(node, op_type, inputs, sums, drop=("channels_last",))
        rewriting.add(f"{node.name} output", "Transpose", [sums], made, perm=order)
    else:
        rewriting.like(node, op_type, inputs, made, drop=("channels_last",))
    scale, zero = (node.optional(position) for position in result)
    parameters = [name for name in (scale, zero) if name]
    rewriting.add(f"{node.name}_quantised", "QuantizeLinear", [made, *parameters], node.outputs[0])


_Rewriter = Callable[[Rewriting, Node, frozenset[str]], None]
_OPERATORS: Mapping[str, tuple[_Rewriter, int]] = {
    "ConvInteger": (_integer_layer, 2),
    "MatMulInteger": (_integer_layer, 2),
    "QGemm": (_qgemm, 5),
    "QLinearAdd": (_qlinear_layer, 2),
    "QLinearAveragePool": (_qlinear_pool, 4),
    "QLinearConcat": (_qlinear_concat, 5),
    "QLinearConv": (_qlinear_layer, 8),
    "QLinearGlobalAveragePool": (_qlinear_pool, 4),
    "QLinearMatMul": (_qlinear_layer, 8),
    "QLinearMul": (_qlinear_layer, 2),
}
"""How an operator is rewritten, and the inputs that no node of it can do without; additions have others in between."""
