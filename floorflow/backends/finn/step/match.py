"""Which node of a built graph is which engine of the plan: by kinds, shapes and streams, never by names.

An engine's candidates are the nodes of its kind and shape. A candidate whose streams do not lead to candidates of the
engine's neighbours is struck out, until nothing changes. Ports of forks and sums have no meaning of their own, so they
count only where ``ports`` says that the plan has them from FINN itself, or where it does not matter.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from floorflow.backends.finn.step.graph import BuiltGraph, BuiltNode, BuiltStream, family

SHAPES = (
    *("BatchSize", "Channels", "ChannelsPerStream", "ConvKernelDim", "Dilation", "Dim", "ElemsPerStream", "Func"),
    *("IFMChannels", "IFMDim", "ImgDim", "K", "Kernel", "KernelSize", "Labels", "MH", "MW", "NumChannels"),
    *("NumEmbeddings", "NumOutputStreams", "OFMDim", "OutImgDims", "Padding", "PoolDim", "Stride", "depthwise"),
    *("eltwiseOp", "lhs_shape", "numInputVectors", "numSteps", "out_shape", "rhs_shape"),
)
"""Attributes that a node has from its layer and keeps through the build."""
UNORDERED_OUTPUTS = ("DuplicateStreams", "ReplicateStream")
UNORDERED_INPUTS = ("AddStreams", "ElementwiseAdd", "ElementwiseMul")
"""Kinds of whose ports one is as good as another."""


class Mismatch(ValueError):  # noqa: N818 - what it says is no mistake of the program
    """The built graph is not that of the plan; the text says where they part."""


class Ambiguity(Mismatch):
    """An engine of the plan may be several nodes; the text names both."""


def matched(
    engines: Sequence[Mapping[str, Any]],
    streams: Sequence[Mapping[str, Any]],
    graph: BuiltGraph,
    *,
    ports: bool = True,
    same: Callable[[str, str], bool] | None = None,
    closer: Callable[[str, BuiltNode], bool] | None = None,
) -> dict[str, BuiltNode]:
    """Return the node of each engine of the plan by its id.

    ``engines`` have ``id``, ``kind``, ``attributes``; ``streams`` ``source``, ``source_port``, ``target`` and
    ``target_port``, with ends outside as None. ``same`` tells of two engines whether it does not matter which is which,
    ``closer`` of nodes alike whether one has more that the plan gave the engine.

    Raises
    ------
    Mismatch
        If the graph has other engines or streams.
    Ambiguity
        If several nodes could be an engine.

    """
    found = _Candidates(engines, streams, graph)
    found.strike(exact=False)
    open_ids = found.open()
    if not open_ids:
        return found.chosen()
    loose = dict(found.nodes)
    found.settle()
    chosen = found.chosen()
    if ports and found.ports_agree(chosen):
        return chosen
    if closer is not None:
        found.nodes = loose
        found.narrow(closer)
        open_ids, loose = found.open(), dict(found.nodes)
        found.settle()
        chosen = found.chosen()
    for one in open_ids:
        for node in loose[one]:
            other = next((name for name, taken in chosen.items() if taken is node), one)
            if other != one and not (same and same(one, other)):
                names = f"'{chosen[one].name}' and '{node.name}'"
                raise Ambiguity(f"engine '{one}' may be node {names}: they are alike in kind, shape and streams")
    return chosen


class _Candidates:
    """The nodes that each engine may be."""

    def __init__(
        self, engines: Sequence[Mapping[str, Any]], streams: Sequence[Mapping[str, Any]], graph: BuiltGraph
    ) -> None:
        self.engines = {str(engine["id"]): engine for engine in engines}
        self.streams = streams
        self.leaving: dict[BuiltNode, list[BuiltStream]] = {node: [] for node in graph.engines}
        self.arriving: dict[BuiltNode, list[BuiltStream]] = {node: [] for node in graph.engines}
        for stream in graph.streams:
            if stream.source is not None:
                self.leaving[stream.source].append(stream)
            if stream.target is not None:
                self.arriving[stream.target].append(stream)
        self.nodes: dict[str, list[BuiltNode]] = {}
        for one, engine in self.engines.items():
            self.nodes[one] = [node for node in graph.engines if self._alike(engine, node)]
            self._refuse_none(one, graph.engines)
        if len(self.engines) != len(graph.engines):
            raise Mismatch(self._count(graph))

    def _alike(self, engine: Mapping[str, Any], node: BuiltNode) -> bool:
        return is_of_kind(str(engine["kind"]), node.op_type) and not different(engine["attributes"], node)

    def _refuse_none(self, one: str, nodes: Sequence[BuiltNode]) -> None:
        if self.nodes[one]:
            return
        engine = self.engines[one]
        alike = [node for node in nodes if node.family == family(str(engine["kind"]))]
        what = f"engine '{one}' ({engine['kind']}) has no node of its kind and shape in the built graph"
        if not alike:
            raise Mismatch(what)
        near = min(alike, key=lambda node: len(different(engine["attributes"], node)))
        rest = ", ".join(different(engine["attributes"], near)) or f"it is {near.op_type}"
        raise Mismatch(f"{what}; the nearest is '{near.name}': {rest}")

    def _count(self, graph: BuiltGraph) -> str:
        text = f"the built graph has {len(graph.engines)} engines, the plan {len(self.engines)}"
        fitting = {node for nodes in self.nodes.values() for node in nodes}
        extra = [node.name for node in graph.engines if node not in fitting]
        return text + (f"; '{extra[0]}' is none of the plan's" if extra else "")

    def strike(self, *, exact: bool) -> None:
        """Strike out candidates whose streams lead elsewhere, until nothing changes."""
        changed = True
        while changed:
            changed = False
            for one, nodes in self.nodes.items():
                left = [node for node in nodes if self._supported(one, node, exact)]
                if not left:
                    self._refuse_streams(one, nodes[0])
                changed |= len(left) < len(nodes)
                self.nodes[one] = left
            changed |= self._alone()

    def _alone(self) -> bool:
        """Strike a node that is some engine for certain out of the candidates of all others."""
        taken: dict[BuiltNode, str] = {}
        for one, nodes in self.nodes.items():
            if len(nodes) == 1 and taken.setdefault(nodes[0], one) != one:
                text = f"engines '{taken[nodes[0]]}' and '{one}' are both node '{nodes[0].name}'"
                raise Mismatch(f"{text}: the streams of the built graph are not those of the plan")
        changed = False
        for one, nodes in self.nodes.items():
            left = [node for node in nodes if taken.get(node, one) == one]
            changed |= len(left) < len(nodes)
            self.nodes[one] = left
            if not left:
                self._refuse_streams(one, nodes[0])
        return changed

    def _refuse_streams(self, one: str, node: BuiltNode) -> None:
        raise Mismatch(
            f"engine '{one}' is in other streams than the plan's: the nearest node, '{node.name}', "
            f"is joined with {self._neighbours(node)}"
        )

    def _neighbours(self, node: BuiltNode) -> str:
        others = [s.source for s in self.arriving[node]] + [s.target for s in self.leaving[node]]
        return ", ".join("outside" if other is None else f"'{other.name}'" for other in others) or "nothing"

    def _supported(self, one: str, node: BuiltNode, exact: bool) -> bool:
        kind = family(str(self.engines[one]["kind"]))
        sides = (
            ("source", "target", self.leaving[node], exact or kind not in UNORDERED_OUTPUTS),
            ("target", "source", self.arriving[node], exact or kind not in UNORDERED_INPUTS),
        )
        for mine, other, built, ordered in sides:
            planned = [stream for stream in self.streams if stream[mine] == one]
            if len(planned) != len(built):
                return False
            for stream in planned:
                if not any(self._carries(stream, mine, other, link, ordered) for link in built):
                    return False
        return True

    def _carries(self, stream: Mapping[str, Any], mine: str, other: str, link: BuiltStream, ordered: bool) -> bool:
        """Whether a stream of the built graph may be one of the plan, seen from one of its ends."""
        if ordered and getattr(link, f"{mine}_port") != stream[f"{mine}_port"]:
            return False
        neighbour = getattr(link, other)
        if stream[other] is None or neighbour is None:
            return stream[other] is None and neighbour is None
        return neighbour in self.nodes[str(stream[other])]

    def open(self) -> list[str]:
        """Return the engines that may be several nodes."""
        return [one for one, nodes in self.nodes.items() if len(nodes) > 1]

    def narrow(self, closer: Callable[[str, BuiltNode], bool]) -> None:
        """Of nodes alike keep those that have more of an engine, as long as streams still lead where they must."""
        for one in self.open():
            kept = [node for node in self.nodes[one] if closer(one, node)]
            before = dict(self.nodes)
            try:
                self.nodes[one] = kept or self.nodes[one]
                self.strike(exact=False)
            except Mismatch:
                self.nodes = before

    def settle(self) -> None:
        """Choose among what is left: by ports where these agree, else the first node."""
        before = dict(self.nodes)
        try:
            self.strike(exact=True)
        except Mismatch:
            self.nodes = before
        while self.open():
            one = self.open()[0]
            self.nodes[one] = self.nodes[one][:1]
            self.strike(exact=False)

    def chosen(self) -> dict[str, BuiltNode]:
        """Return the only candidates."""
        return {one: nodes[0] for one, nodes in self.nodes.items()}

    def ports_agree(self, chosen: Mapping[str, BuiltNode]) -> bool:
        """Whether every port of the chosen nodes leads where the plan's leads."""
        return all(self._supported(one, node, exact=True) for one, node in chosen.items())


def is_of_kind(kind: str, op_type: str) -> bool:
    """Whether a node may be an engine of that kind: a generic layer may become either style."""
    return op_type == kind or op_type == family(kind)


def different(attributes: Mapping[str, Any], node: BuiltNode, names: Sequence[str] = SHAPES) -> list[str]:
    """Return in words where both have an attribute and differ in it."""
    found = []
    for name in names:
        if name in attributes and name in node.attributes:
            planned, built = _value(name, attributes[name]), _value(name, node.attributes[name])
            if planned != built:
                found.append(f"{name} is {_short(node.attributes[name])}, planned {_short(attributes[name])}")
    return found


def _value(name: str, value: Any) -> Any:
    """Return an attribute so that what means the same is the same: one number for a list of ones beside it."""
    if not isinstance(value, list | tuple):
        return [value]
    if name.endswith("_shape") or name == "numInputVectors":
        return [item for item in value if item != 1] or [1]
    return list(value)


def _short(value: Any) -> str:
    return f"{value!r:.40}"


def streams_between(
    streams: Sequence[Mapping[str, Any]], nodes: Mapping[str, BuiltNode], graph: BuiltGraph
) -> list[BuiltStream]:
    """Return the built stream of each of the plan: of several between the same two nodes, the one of its ports.

    Raises
    ------
    Mismatch
        If one is missing.

    """
    free = list(graph.streams)
    chosen: dict[int, BuiltStream] = {}
    for exact in (True, False):
        for index, stream in enumerate(streams):
            if index in chosen:
                continue
            fitting = (link for link in free if _joins(link, stream, nodes, exact=exact))
            link = next(fitting, None)
            if link is not None:
                chosen[index] = link
                free.remove(link)
    missing = [str(stream["name"]) for index, stream in enumerate(streams) if index not in chosen]
    if missing:
        raise Mismatch(f"the built graph has no stream {missing[0]}")
    return [chosen[index] for index in range(len(streams))]


def _joins(link: BuiltStream, stream: Mapping[str, Any], nodes: Mapping[str, BuiltNode], *, exact: bool) -> bool:
    for end in ("source", "target"):
        node = None if stream[end] is None else nodes[str(stream[end])]
        if getattr(link, end) is not node:
            return False
        if exact and node is not None and getattr(link, f"{end}_port") != stream[f"{end}_port"]:
            return False
    return True
