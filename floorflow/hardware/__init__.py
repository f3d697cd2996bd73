"""Devices, boards and platforms: what the hardware offers, read from ``platforms/``."""

from floorflow.hardware.board import Board, BoardInfrastructure, BoardLink, Shell
from floorflow.hardware.catalogue import known_links, known_platforms
from floorflow.hardware.device import Device, SiteType, Slr
from floorflow.hardware.device_file import read_device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.links import TOPOLOGIES, Link, RouteStep
from floorflow.hardware.max_pblocks import clear_rectangles, max_pblocks, supply_outside_keep_outs
from floorflow.hardware.platform import Fpga, Platform, SllBoundary, load_platform
from floorflow.hardware.ranges import anchor, count_sites, parse_ranges, range_rect, ranges, resources_of_sites
from floorflow.hardware.slots import Infrastructure, Slot

__all__ = [
    "TOPOLOGIES",
    "Board",
    "BoardInfrastructure",
    "BoardLink",
    "Device",
    "Fpga",
    "Infrastructure",
    "Link",
    "Platform",
    "Rect",
    "RouteStep",
    "Shell",
    "SiteType",
    "SllBoundary",
    "Slot",
    "Slr",
    "anchor",
    "clear_rectangles",
    "count_sites",
    "known_links",
    "known_platforms",
    "load_platform",
    "max_pblocks",
    "parse_ranges",
    "range_rect",
    "ranges",
    "read_device",
    "resources_of_sites",
    "supply_outside_keep_outs",
]
