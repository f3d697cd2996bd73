"""Devices, boards and platforms: what the hardware offers, read from ``platforms/``."""

from floorflow.hardware.areas import StatedPblock, stated_pblock, with_keep_outs
from floorflow.hardware.board import Board, BoardLink, Memory
from floorflow.hardware.catalogue import known_links, known_platforms
from floorflow.hardware.device import Device
from floorflow.hardware.device_file import read_device
from floorflow.hardware.doubts import assumed_facts, doubts_of
from floorflow.hardware.free_region import (
    clear_rectangles,
    confined,
    free_cells,
    free_rectangles,
    free_supply,
    gaps,
    max_pblocks,
)
from floorflow.hardware.geometry import Rect, bounding_box
from floorflow.hardware.links import TOPOLOGIES, Link
from floorflow.hardware.load import described_fpgas, load_platform
from floorflow.hardware.new_board import new_board
from floorflow.hardware.platform import Fpga, Platform, SllBoundary
from floorflow.hardware.ranges import anchor, parse_ranges, ranges, resources_of_sites
from floorflow.hardware.reconfigurable import bitstream_bytes, region_grid
from floorflow.hardware.relocation import anchors, can_relocate
from floorflow.hardware.slot_graph import (
    BoundaryPair,
    Crossing,
    DirectedEdge,
    Edge,
    Route,
    RouteStep,
    SlotGraph,
    boundaries_cost,
    boundary_crossing,
    boundary_pairs,
    link_crossing,
    padded_width_bits,
    stages_at_boundary,
    stream_weight,
    stream_wires,
)
from floorflow.hardware.slots import Infrastructure, Slot
