"""Which axis of a tensor is which: channels first, channels last, or with sizes of 1 that come and go.

ONNX's own layers and pools read channels first, whatever the rest of a file does. From them the layout spreads: over
operators that treat all axes alike, through Transposes, and through what only adds or drops sizes of 1. A stream sends
the channels of a pixel together, so that none of these moves anything. A tensor that no layer reaches is as it is.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from floorflow.network.facts import Facts
from floorflow.network.onnx_file import Node
from floorflow.network.shapes import QUANTISERS
from floorflow.network.soundness import STANDARD_DOMAINS

Shape = tuple[int, ...]
Carrier = Callable[["Layout"], "Layout | None"]

CHANNELS_FIRST = (
    *("AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "DepthToSpace", "GlobalAveragePool"),
    *("GlobalMaxPool", "InstanceNormalization", "LRN", "LpPool", "MaxPool", "SpaceToDepth"),
)
"""Operators that ONNX defines channels first; nothing else says which axis holds the channels."""
ELEMENTWISE = (
    *("Abs", "Add", "Cast", "Celu", "Clip", "Div", "Dropout", "Elu", "Erf", "Exp", "Gelu", "HardSigmoid", "HardSwish"),
    *("Identity", "LeakyRelu", "Log", "Max", "Min", "Mish", "Mul", "Neg", "PRelu", "Pow", "Relu", "Selu", "Sigmoid"),
    *("Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Tanh", "ThresholdedRelu", *QUANTISERS),
)
"""Operators that treat all elements alike, and broadcast."""
REDUCING = ("ArgMax", "ArgMin", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum")
ALONG_AXES = ("Concat", "LogSoftmax", "Pad", "Resize", "Slice", "Softmax", "Split", "TopK", "Upsample")
"""Operators whose attributes or constants name axes, or have a value for each."""
RESHAPING = ("Flatten", "Reshape", "Squeeze", "Unsqueeze")
_IMAGE_RANK, _PLANE_RANK = 3, 4
"""Data of lower rank than the first are vectors, whose features lie last in every layout."""


@dataclass(frozen=True)
class Layout:
    """``axes[i]`` is the place of a tensor's axis i among the ``rank`` axes of its channels-first form.

    Places that no axis takes have size 1.
    """

    axes: tuple[int, ...]
    rank: int

    @classmethod
    def plain(cls, rank: int) -> "Layout":
        """Return the layout of a tensor that is in its channels-first form already."""
        return cls(tuple(range(rank)), rank)

    @classmethod
    def last(cls, rank: int) -> "Layout":
        """Return the layout whose channels are last."""
        return cls((0, *range(2, rank), 1), rank)

    @property
    def is_plain(self) -> bool:
        """Whether the tensor is in its channels-first form."""
        return self == Layout.plain(self.rank)

    def turned(self, shape: Shape) -> Shape:
        """Return a shape in channels-first form."""
        sizes = [1] * self.rank
        for place, size in zip(self.axes, shape, strict=True):
            sizes[place] = size
        return tuple(sizes)

    def order(self, shape: Shape) -> tuple[int, ...]:
        """Return the tensor's axes that have more than one element, by their places."""
        return tuple(axis for axis in self.by_place if shape[axis] > 1)

    @property
    def by_place(self) -> tuple[int, ...]:
        """All of the tensor's axes, by their places."""
        return tuple(sorted(range(len(self.axes)), key=lambda axis: self.axes[axis]))

    def transposed(self, order: Shape) -> "Layout":
        """Return the layout behind a Transpose that moves nothing."""
        return Layout(tuple(self.axes[axis] for axis in order), self.rank)

    def without(self, axes: frozenset[int]) -> "Layout":
        """Return the layout where axes of size 1 were dropped."""
        return Layout(tuple(place for axis, place in enumerate(self.axes) if axis not in axes), self.rank)


@dataclass
class _Known:
    """Layouts so far; tensors of one group have one. A tensor's group is found through ``parent``."""

    parent: dict[str, str] = field(default_factory=dict)
    layouts: dict[str, Layout] = field(default_factory=dict)

    def group(self, name: str) -> str:
        while self.parent.setdefault(name, name) != name:
            self.parent[name] = self.parent[self.parent[name]]
            name = self.parent[name]
        return name

    def join(self, names: list[str]) -> None:
        for name in names[1:]:
            self.parent[self.group(name)] = self.group(names[0])

    def get(self, name: str) -> Layout | None:
        return self.layouts.get(self.group(name))

    def put(self, name: str, layout: Layout | None) -> bool:
        """Note a group's layout unless it has one; return whether that is new."""
        if layout is None or self.group(name) in self.layouts:
            return False
        self.layouts[self.group(name)] = layout
        return True


def solve(facts: Facts) -> Mapping[str, Layout]:
    """Return the layout of every data tensor whose shape is known."""
    data = {n: s for n, s in facts.shapes.items() if n not in facts.constants}
    images = {name for name, shape in data.items() if len(shape) >= _IMAGE_RANK}
    nodes = [n for n in facts.source.nodes if n.inputs and not images.isdisjoint((*n.inputs, *n.outputs))]
    known = _Known()
    for node in nodes:
        for alike in _alike(facts, node, images):
            known.join(alike)
    for node in nodes:
        if node.domain in STANDARD_DOMAINS and node.op_type in CHANNELS_FIRST:
            for name in images.intersection((*node.inputs[:1], *node.outputs)):
                known.put(name, Layout.plain(len(data[name])))
    _spread(facts, nodes, known, images)
    for guess in (_by_use, _by_transpose):
        for node in nodes:
            if node.inputs[0] in images and node.outputs[0] in data:
                known.put(*guess(facts, node))
        _spread(facts, nodes, known, images)
    return {name: known.get(name) or Layout.plain(len(shape)) for name, shape in data.items()}


def _alike(facts: Facts, node: Node, images: set[str]) -> Iterator[list[str]]:
    """Yield tensors that have one layout because a node treats all axes alike, or names those it does not."""
    weighted = node.op_type == "MatMul" and node.inputs[1:2] and node.inputs[1] in facts.constants
    if weighted or node.op_type in (*ELEMENTWISE, *ALONG_AXES, *REDUCING):
        names = [name for name in (*node.outputs, *node.inputs) if name in images]
        rank = max((len(facts.shapes[name]) for name in names), default=0)
        yield [name for name in names if len(facts.shapes[name]) == rank]


def _by_use(facts: Facts, node: Node) -> tuple[str, Layout | None]:
    """Return what an image is whose rows and columns are reduced or change size, or whose channels are joined."""
    name = node.inputs[0]
    source, target = facts.shapes[name], facts.shapes[node.outputs[0]]
    used: set[int] = set()
    if len(source) == _PLANE_RANK and node.op_type in REDUCING:
        used = reduced_axes(facts, node) or set()
    elif len(source) == len(target) == _PLANE_RANK and node.op_type in ("Pad", "Resize", "Upsample"):
        used = {axis for axis in range(_PLANE_RANK) if source[axis] != target[axis]}
    elif len(source) == _PLANE_RANK and node.op_type in ("Concat", "Split"):
        used = {1, 2, 3} - {node.integer("axis", 0) % _PLANE_RANK}
    layouts = {frozenset({1, 2}): Layout.last(_PLANE_RANK), frozenset({2, 3}): Layout.plain(_PLANE_RANK)}
    return name, layouts.get(frozenset(used))


def _by_transpose(facts: Facts, node: Node) -> tuple[str, Layout | None]:
    """Return which side of a Transpose between the two layouts has its channels first, where nothing else says it."""
    order = permutation(node, len(facts.shapes[node.inputs[0]])) if node.op_type == "Transpose" else ()
    plain = Layout.plain(_PLANE_RANK)
    if order == Layout.last(_PLANE_RANK).axes:
        return node.inputs[0], plain
    return node.outputs[0], plain if order == (0, 3, 1, 2) else None


def _spread(facts: Facts, nodes: list[Node], known: _Known, images: set[str]) -> None:
    """Carry layouts through Transposes and sizes of 1, from what is known to what is not, until nothing changes.

    A Transpose that is none between the two layouts comes last, so that what cannot be is found there.
    """
    pairs = [
        (node, carrier)
        for node in nodes
        if images.issuperset((node.inputs[0], node.outputs[0]))
        if (carrier := carriers(facts, node))
    ]
    even = [pair for pair in pairs if pair[0].op_type != "Transpose" or _turns(facts, pair[0])]
    odd = [pair for pair in pairs if pair[0].op_type == "Transpose" and not _turns(facts, pair[0])]
    changed = True
    while changed:
        found = [_carry(known, *pair) for pair in even]
        changed = any(found) or any(_carry(known, *pair) for pair in odd)


def _carry(known: _Known, node: Node, carrier: tuple[Carrier, Carrier]) -> bool:
    """Carry a layout through one node; return whether that told anything new."""
    (before, behind), (forward, backward) = (node.inputs[0], node.outputs[0]), carrier
    left, right = known.get(before), known.get(behind)
    if left and not right:
        return known.put(behind, forward(left))
    return right is not None and left is None and known.put(before, backward(right))


def _turns(facts: Facts, node: Node) -> bool:
    """Whether a Transpose only moves the channels, from the first place to the last or back."""
    rank = len(facts.shapes[node.inputs[0]])
    return permutation(node, rank) in (Layout.last(rank).axes, (0, rank - 1, *range(1, rank - 1)))


def carriers(facts: Facts, node: Node) -> tuple[Carrier, Carrier] | None:
    """Return how a node carries the layout of its input to its output and back, None if it does not."""
    source, target = facts.shapes[node.inputs[0]], facts.shapes[node.outputs[0]]
    if node.op_type == "Transpose":
        order = permutation(node, len(source))
        back = tuple(order.index(axis) for axis in range(len(order)))
        return (lambda layout: layout.transposed(order)), (lambda layout: layout.transposed(back))
    if node.op_type in REDUCING and len(target) < len(source):
        reduced = frozenset(reduced_axes(facts, node) or ())
        return (lambda layout: layout.without(reduced)), (lambda _: None)
    paired = _same_axes(facts, node, source, target) if node.op_type in RESHAPING else None
    if paired is None:
        return None
    there = [(a, b) for b, a in paired]
    return (
        lambda layout: _moved(layout, paired, len(target)),
        lambda layout: _moved(layout, there, len(source)),
    )


def _same_axes(facts: Facts, node: Node, source: Shape, target: Shape) -> list[tuple[int, int]] | None:
    """Return the axes that a node keeps, as pairs (before, behind); None if more than sizes of 1 come or go."""
    if not source or not target or source[0] != target[0] or squeezed(source) != squeezed(target):
        return None
    dropped = _named_axes(facts, node, max(len(source), len(target)))
    kept = [axis for axis in range(max(len(source), len(target))) if axis not in dropped]
    if node.op_type == "Squeeze" and dropped and len(kept) == len(target):
        return list(zip(kept, range(len(target)), strict=True))
    if node.op_type == "Unsqueeze" and dropped and len(kept) == len(source):
        return list(zip(range(len(source)), kept, strict=True))
    if source == target:
        return [(axis, axis) for axis in range(len(source))]
    large = [[0, *(axis for axis, size in enumerate(s) if axis and size > 1)] for s in (source, target)]
    return list(zip(*large, strict=True))


def _moved(layout: Layout, paired: list[tuple[int, int]], rank: int) -> Layout | None:
    """Return the layout of the other side; its further sizes of 1 take free places, the channels' the last of them."""
    places = {behind: layout.axes[before] for before, behind in paired}
    free = [place for place in range(1, layout.rank) if place not in places.values()]
    open_axes = [axis for axis in range(rank) if axis not in places]
    if len(open_axes) > len(free):
        return None
    if open_axes and free[0] == 1:
        places[open_axes.pop()] = free.pop(0)
    places.update(zip(open_axes, free, strict=False))
    return Layout(tuple(places[axis] for axis in range(rank)), layout.rank)


def _named_axes(facts: Facts, node: Node, rank: int) -> frozenset[int]:
    axes = node.integers("axes") or constant_integers(facts, node, 1)
    return frozenset(axis % rank for axis in axes) if node.op_type.endswith("queeze") else frozenset()


def permutation(node: Node, rank: int) -> Shape:
    """Return the order of a Transpose, which reverses the axes if it has none."""
    return node.integers("perm") or tuple(reversed(range(rank)))


def reduced_axes(facts: Facts, node: Node) -> set[int] | None:
    """Return the axes that a node reduces, None if they are all or not known."""
    rank = len(facts.shapes[node.inputs[0]])
    if node.op_type.startswith("Arg"):
        return {node.integer("axis", 0) % rank}
    axes = node.integers("axes") or constant_integers(facts, node, 1)
    return {axis % rank for axis in axes} or None


def constant_integers(facts: Facts, node: Node, position: int) -> Shape:
    """Return the integers in a node's constant input, empty if there is none or it is not known."""
    value = facts.value(node.inputs[position]) if len(node.inputs) > position and node.inputs[position] else None
    return tuple(int(item) for item in value.flat) if value is not None else ()


def squeezed(shape: Shape) -> Shape:
    """Return a shape without sizes of 1."""
    return tuple(size for size in shape if size > 1)
