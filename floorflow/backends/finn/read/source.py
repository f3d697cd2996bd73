"""Read any model file for this backend: a FINN dataflow graph as it is, everything else as a network to be lowered."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from floorflow.backends.finn.lower.lowering import lower
from floorflow.backends.finn.read.dataflow import dataflow_of, network_of
from floorflow.backends.finn.read.file import is_dataflow_graph
from floorflow.backends.finn.read.graph import Graph, read_graph
from floorflow.backends.finn.version import FinnVersion
from floorflow.dataflow.model import Dataflow
from floorflow.errors import InputError
from floorflow.network import EIGHT_BITS, FloatBits, Network, partial_network
from floorflow.network.onnx_file import load
from floorflow.technology import Technology


@dataclass(frozen=True)
class Source:
    """A model that was read, as far as it could be; ``graph`` is None unless the file holds FINN's engines already.

    ``sha256`` is of the file as it was read, which may change.
    """

    network: Network
    graph: Graph | None = None
    sha256: str = ""

    def lower(self, technology: Technology, label_select: bool = False, finn: FinnVersion = "main") -> Dataflow:
        """Return the engines as that FINN makes them.

        Raises
        ------
        InputError
            If something could not be read or has no engine; names all of it, with node, operator and reason.

        """
        if self.graph is not None:
            return dataflow_of(self.graph, technology, finn)
        return lower(self.network, technology, label_select, finn)

    def inspected(
        self, technology: Technology, label_select: bool = False, finn: FinnVersion = "main"
    ) -> tuple[Dataflow, str]:
        """Return the engines and an empty reason, or no engine and every reason why the model cannot be lowered."""
        try:
            return self.lower(technology, label_select, finn), ""
        except InputError as error:
            return Dataflow(self.network.name, (), (), self.network.notes), f"{error}\n{error.hint}".strip()


def read_source(path: str | Path, bits: FloatBits = EIGHT_BITS) -> Source:
    """Read a model file; ``bits`` are for a network without quantisers. Lowering tells what could not be read.

    Raises
    ------
    InputError
        If the file is missing, broken or not understood at all; names file and nodes.

    """
    file = load(Path(path))
    if is_dataflow_graph(file):
        graph = read_graph(file)
        return Source(network_of(graph), graph, file.sha256)
    return Source(partial_network(file, bits), sha256=file.sha256)
