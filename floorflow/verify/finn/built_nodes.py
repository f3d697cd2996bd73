"""Nodes of a build and the streams that join them, as the judge follows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_PASSING = ("StreamingFIFO", "StreamingDataWidthConverter", "IODMA", "TLastMarker", "CheckSum")


class NoBuild(ValueError):  # noqa: N818 - becomes a finding
    """The folder holds no build that can be judged; the text says why."""


@dataclass(frozen=True, eq=False)
class Node:
    """A node of a build: its kernel's number (None: there are none), its name in it, and the tensors that it joins.

    ``ports`` are the inputs of the node that carry data, parameters left out.
    """

    kernel: int | None
    name: str
    kind: str
    attributes: Mapping[str, Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    ports: tuple[int, ...] = ()
    is_transparent: bool = False
    """Whether it is a Reshape of FINN+ that the plan does not have as an engine."""

    def is_a(self, kind: str) -> bool:
        """Whether the node is of a kind, hls or rtl."""
        return self.kind.removesuffix("_hls").removesuffix("_rtl") == kind

    @property
    def passes(self) -> bool:
        """Whether what comes out is what went in."""
        return self.is_transparent or any(self.is_a(kind) for kind in _PASSING)

    @property
    def called(self) -> str:
        """What it is called in messages."""
        return self.name if self.kernel is None else f"{self.name} of kernel {self.kernel}"


@dataclass(frozen=True)
class Way:
    """A stream: node and port at each end, None outside, and what lies between in order."""

    source: Node | None
    source_port: int
    target: Node | None
    target_port: int
    between: tuple[Node, ...]


def ways(nodes: Sequence[Node]) -> list[Way]:
    """Return every stream into an engine, and those from engines to outside."""
    maker = {tensor: (node, port) for node in nodes for port, tensor in enumerate(node.outputs)}
    read = {tensor for node in nodes for tensor in node.inputs}
    found = []
    for node in nodes:
        if not node.passes:
            found += [_way(tensor, maker, node, port) for port, tensor in enumerate(node.inputs)]
    for node in nodes:
        found += [_way(tensor, maker, None, 0) for tensor in node.outputs if tensor not in read]
    return found


def _way(tensor: str, maker: Mapping[str, tuple[Node, int]], target: Node | None, port: int) -> Way:
    between: list[Node] = []
    while True:
        source, source_port = maker.get(tensor, (None, 0))
        if source is None or not source.passes or source in between:
            return Way(source, source_port, target, port, tuple(reversed(between)))
        between.append(source)
        tensor = source.inputs[0] if source.inputs else ""
