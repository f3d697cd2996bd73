"""Parts of a network as folding problems of their own, which share options and prices with the whole.

Put a network's groups or modules in a linear order: a *segment* is a contiguous part of it, or any set of engines; a
*space* is one slot or several together. Dynamic programs over segments and spaces ask `SegmentTable` for intervals.

    problems    segments by set of engines or by (first, last), and their folding problems in a space
    table       (segment, space) -> whether an interval can be met, and the shortest one; what is proven is kept
"""

from floorflow.segments.problems import Segment, Segments, Space
from floorflow.segments.table import SegmentTable, ShortestInterval

__all__ = ["Segment", "SegmentTable", "Segments", "ShortestInterval", "Space"]
