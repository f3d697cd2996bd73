"""A phase: what is on the platform at one time, with the folding of each network in it, and where all of it lies."""

from __future__ import annotations

from pydantic import Field

from floorflow.facts.channel import ChannelEntry, LongStreamEntry
from floorflow.facts.constraint import SlotStyle
from floorflow.facts.estimates import EstimatesEntry
from floorflow.facts.floorplan import FloorplanEntry, PblockEntry, pblocks_of
from floorflow.facts.folding import FoldedEntry, FoldingEntry, HostWeightsEntry
from floorflow.facts.link_kernels import LinkKernelEntry
from floorflow.facts.memory import MemoryEntry
from floorflow.facts.module import ImplementationEntry, JoinedEntry, ModuleEntry
from floorflow.facts.partition import ConfidenceEntry, FitEntry, PartitionEntry
from floorflow.facts.values import PlainName, PlanModel
from floorflow.resources import Resources, total


class PhaseNetworkEntry(PlanModel):
    """What runs of a network in a phase, its initiation interval, folding and estimates."""

    network: str
    interval_cycles: int
    folding: FoldingEntry
    estimates: EstimatesEntry
    host_weights: HostWeightsEntry | None = None


class PhaseEntry(PlanModel):
    """What is on the platform at one time; ``bands`` and ``fits`` are empty where the cost model knows no error.

    ``fifo_kind``: what FIFOs are called in ``bands``. ``constraint_styles``: what constraint files say of each slot.
    ``confidence``: null where none is sought, a risk stands in its place, or no error is known.
    ``slices_built``: whether the tool builds register slices from what is emitted.
    ``link_kernels``: floorflow's own, infrastructure; absent where there are none, or a tool has its.
    ``region``: that it is loaded into, once the phase ``loads_after`` has run there; null where the device is loaded as
    a whole, or where it is the first in its region.
    """

    name: PlainName
    region: PlainName | None = None
    loads_after: PlainName | None = None
    networks: list[PhaseNetworkEntry]
    channels: list[ChannelEntry]
    modules: list[ModuleEntry]
    joined: list[JoinedEntry]
    implementations: list[ImplementationEntry]
    memories: list[MemoryEntry]
    partition: PartitionEntry
    floorplan: dict[str, FloorplanEntry]
    constraint_styles: dict[str, SlotStyle]
    fifo_kind: str
    bands: dict[str, dict[str, tuple[float, float]]]
    fits: dict[str, FitEntry]
    confidence: ConfidenceEntry | None
    slices_built: bool
    link_kernels: list[LinkKernelEntry] = Field(default=[])

    def network(self, name: str) -> PhaseNetworkEntry:
        """Return the part of that name."""
        return next(part for part in self.networks if part.network == name)

    @property
    def engines(self) -> dict[str, FoldedEntry]:
        """The folding of every engine, by id."""
        return {name: entry for part in self.networks for name, entry in part.folding.engines.items()}

    @property
    def slot_of(self) -> dict[str, str]:
        """The slot of every engine, by id."""
        return {engine: self.partition.assignment[m.name] for m in self.modules for engine in m.engines}

    def core_of(self, module: str) -> str:
        """Return the id of the engine after which a module is called; the module's name where there is none."""
        own = next(entry for entry in self.modules if entry.name == module)
        return next((engine for engine in own.engines if engine.replace("/", "__") == module), module)

    @property
    def fifo_slot_of(self) -> dict[str, str]:
        """The slot of every channel's FIFO."""
        return {c.name: self.partition.assignment[c.fifo_module] for c in self.channels}

    @property
    def pblocks(self) -> dict[str, PblockEntry]:
        """The pblocks of all FPGAs, by module."""
        return pblocks_of(self.floorplan)

    @property
    def longest(self) -> dict[str, list[LongStreamEntry]]:
        """The longest streams of each FPGA."""
        return {fpga: held.longest for fpga, held in self.floorplan.items()}

    def demand(self, slot: str) -> Resources:
        """Return what a slot holds: modules, crossing registers and slices."""
        modules = [m.resources for m in self.modules if self.partition.assignment[m.name] == slot]
        registers = [c.crossing_resources[slot] for c in self.channels if slot in c.crossing_resources]
        slices = [c.slice_resources[slot] for c in self.channels if slot in c.slice_resources]
        return total(item.resources for item in (*modules, *registers, *slices))

    def beside(self, slot: str) -> Resources:
        """Return what stands in a slot that is no share of its cap: link kernels."""
        return total(kernel.resources.resources for kernel in self.link_kernels if kernel.slot == slot)
