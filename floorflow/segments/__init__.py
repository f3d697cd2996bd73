"""Parts of a network as folding problems of their own, which share options and prices with the whole.

Put a network's groups or modules in a linear order: a *segment* is a contiguous part of it, or any set of engines; a
*space* is one slot or several together. Dynamic programs over segments and spaces ask `SpaceTable` for intervals.

    problems    segments by set of engines or by (first, last), and their folding problems in a space
    table       segment -> answer, each worked out once; what is proven is kept as bounds. Two cost models: in space
                (segment, space) -> whether an interval can be met, and the shortest one; in time a matrix of bounds
    parts       what cuts leave whole (stages, with what is tied to them), and linear orders of it
    cuts        segments side by side in spaces: exact among the contiguous cuts of an order
    hops        which slots the two ends of a stream may have
    relaxation  what no space can take, however long the segment: the proof where segments are no proof for longer ones

    paths       segments one after another in time: the best path by their bounds, and the lazy search for it
    in_time     where a network may be cut in time, what its segments move to memory, and how fast each is

    slot_relaxation  whether engines can lie on slots at an interval, contiguous or not; the shortest that may be
    slot_model       the model that CP-SAT is asked about for it
"""

from floorflow.segments.cuts import CutFound, CutRefused, Cuts
from floorflow.segments.hops import CutHops, Hops, Near
from floorflow.segments.parts import orders_of, parts_of
from floorflow.segments.problems import Segment, Segments, Space
from floorflow.segments.slot_model import Crossings
from floorflow.segments.slot_relaxation import Assigned, Impossible, JointBound, NotKnown, SlotRelaxation, joint_bound
from floorflow.segments.table import ShortestInterval, SpaceTable
