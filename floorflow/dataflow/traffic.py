"""What runs from external memory: subgraphs that one engine takes one after another, and their bytes.

Source: Venieris & Bouganis, f-CNN^x (FPL 2018), section III. 1 GB/s is 1,000 bytes a microsecond.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from floorflow.resources import Resources

BYTES_PER_US = 1000.0
"""Of 1 GB/s."""


@dataclass(frozen=True)
class Subgraph:
    """A part of a network that its engine runs in one go: time at full speed, and bytes to and from memory."""

    name: str
    latency_us: float
    traffic_bytes: float

    @property
    def demand_gbs(self) -> float:
        """The bandwidth that it uses at full speed."""
        return self.traffic_bytes / self.latency_us / BYTES_PER_US


@dataclass(frozen=True)
class EnginePoint:
    """One engine for a network: its folding, its subgraphs in order, and what it takes of the device."""

    network: str
    folding: Mapping[str, int]
    subgraphs: tuple[Subgraph, ...]
    resources: Resources

    @cached_property
    def latency_us(self) -> float:
        """One inference with all the bandwidth that it asks for."""
        return sum(subgraph.latency_us for subgraph in self.subgraphs)

    @cached_property
    def traffic_bytes(self) -> float:
        """Bytes of one inference."""
        return sum(subgraph.traffic_bytes for subgraph in self.subgraphs)
