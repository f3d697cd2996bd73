"""The reference for recorded foldings: the exact one, priced alike."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.backends.finn.kinds.kind import CostModel
from floorflow.channels import ChannelCosts, couplings
from floorflow.dataflow.model import Dataflow
from floorflow.folding import FoldingProblem, FoldingSolution, fold_at_interval
from floorflow.resources import ZERO, Resources, scarcity
from floorflow.search.candidate.engine_limits import EngineLimits
from floorflow.search.candidate.solvers import NoProposal, Pricer
from floorflow.technology import Technology
from tests.study.recorded import CHOSEN, Recorded

Counted = Literal["engines", "converters", "streams"]
"""What is priced: engines alone, with width converters, or with converters and FIFOs."""
UNBOUNDED = Resources(*(10**8 - 1,) * 5)
"""More than anything needs, and less than what stands for streams that cannot be joined."""


@dataclass(frozen=True)
class ConvertersOnly(ChannelCosts):
    """A cost table whose FIFOs are free."""

    table: CostTable

    def fifo_resources(self, width_bits: int, depth_words: int) -> Resources:
        return ZERO

    def converter_resources(self, input_bits: int, output_bits: int) -> Resources:
        return self.table.converter_resources(input_bits, output_bits)

    def convertible(self, input_bits: int, output_bits: int) -> bool:
        return self.table.convertible(input_bits, output_bits)

    def converter_kind(self, input_bits: int, output_bits: int) -> str:
        return self.table.converter_kind(input_bits, output_bits)


@dataclass
class Reference:
    """Prices foldings of one network on one part, and knows the least scarce one within each interval."""

    dataflow: Dataflow
    technology: Technology
    silicon: Resources
    model: CostModel = "finn"
    counted: Counted = "engines"
    known: dict[int, FoldingSolution | None] = field(default_factory=dict)

    @cached_property
    def costs(self) -> CostTable:
        return CostTable(self.technology, self.model)

    @cached_property
    def problem(self) -> FoldingProblem:
        groups = self.costs.groups(self.dataflow)
        costs = {"engines": None, "converters": ConvertersOnly(self.costs), "streams": self.costs}[self.counted]
        streams = couplings(self.dataflow, groups, costs) if costs else ()
        return FoldingProblem(groups, UNBOUNDED, self.silicon, streams)

    def least(self, interval_cycles: int) -> FoldingSolution | None:
        """Return the least scarce folding within an interval, None if there is none."""
        if interval_cycles not in self.known:
            answer = fold_at_interval(self.problem, interval_cycles)
            self.known[interval_cycles] = answer if isinstance(answer, FoldingSolution) else None
        return self.known[interval_cycles]

    def scarcity(self, use: Resources) -> float:
        return scarcity(use, self.silicon)

    def priced(self, row: Recorded) -> FoldingSolution | NoProposal:
        """Price a recorded folding by the reference's own costs, streams included if they are counted."""
        sizes = {name: {k: int(v) for k, v in chosen.items() if k in CHOSEN} for name, chosen in row.folding.items()}
        return Pricer("finn", self.dataflow, BACKEND, self.costs, EngineLimits.none(self.dataflow, BACKEND)).priced(
            sizes, self.problem
        )

    def shortest_within(self, most: float) -> int:
        """Return the shortest interval at which the least scarce folding has a scarcity of at most ``most``."""
        intervals = self.problem.intervals()
        low, high = 0, len(intervals) - 1
        while low < high:
            middle = (low + high) // 2
            folding = self.least(intervals[middle])
            low, high = (
                (low, middle) if folding and self.scarcity(folding.resources) <= most + 1e-12 else (middle + 1, high)
            )
        return intervals[low]


def reference_of(
    dataflow: Dataflow, row: Recorded, model: CostModel = "finn", counted: Counted = "engines"
) -> Reference:
    """Return the reference for a row: memories as the row has them."""
    return Reference(row.styled(dataflow) if row.by_hand else dataflow, row.technology, row.silicon, model, counted)


POSSIBLE: Mapping[tuple[str, str, int], tuple[tuple[int, int, int, int], int]] = {
    ("cnv-w1a1", "Pynq-Z1", 32_768): ((21_801, 131, 0, 0), 27_648),
    ("cnv-w2a2", "Pynq-Z1", 115_200): ((17_884, 171, 0, 0), 75_264),
    ("cybsec-w2a2", "Pynq-Z1", 64): ((8_859, 43, 0, 0), 64),
    ("kws-w3a3", "Pynq-Z1", 392): ((31_125, 72, 0, 0), 392),
    ("mobilenetv1-w4a4-fused", "U250", 111_340): ((360_817, 1_121, 0, 106), 111_118),
    ("resnet50-w1a2", "U250", 903_168): ((166_640, 2_254, 0, 5), 401_408),
    ("tfc-w1a1", "Pynq-Z1", 64): ((7_452, 26, 0, 0), 64),
    ("vgg10-radioml-w4a4", "ZCU104", 1_536): ((6_856, 262, 0, 565), 1_536),
}
"""What is possible beside hand foldings, by another program: least LUT, BRAM18, URAM and DSP at the same cycles, and
least cycles at the hand folding's scarcity."""
