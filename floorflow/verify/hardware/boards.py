"""What the name of a part tells of UltraRAM; the tables stand in docs/plan.md."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any

from floorflow.verify.hardware.geometry import Device, Rectangle, Sites, difference, shared, union
from floorflow.verify.hardware.interconnect import Floor, row_step
from floorflow.verify.hardware.ranges import (
    KeepOut,
    SiteRange,
    parse_range,
    rectangle_of_range,
    sites_of,
    within_device,
)
from floorflow.verify.hardware.routes import Join, joined_pairs
from floorflow.verify.records import RESOURCE_NAMES, Record, RectangleRecord

_WITHOUT_URAM = (
    *("xc7", "xcau", "xck24", "xcku0", "xcku115-", "xcku9p", "xcvu0", "xcvu125-", "xcvu160-", "xcvu190-", "xcvu440-"),
    *(f"xczu{number}{kind}" for number in (1, 2, 3, 6, 9) for kind in ("cg", "eg")),
)


def has_uram(part: str) -> bool:
    """Whether a part has UltraRAM."""
    return not commercial(part).startswith(_WITHOUT_URAM)


def commercial(part: str) -> str:
    """Return the commercial part's name: automotive (xa) and defence (xq, xqr) ones have the same dies."""
    return re.sub("^x(a|qr?)", "xc", part.lower())


KNOWN_PREFIXES = ("pfm_top_i/dynamic_region", "level0_i/level1/level1_i/ulp", "level0_i/ulp")
"""Where the shells of Alveo cards hold the user's kernels."""
ONE_STAGE = {"level0_i/level1/level1_i/ulp": "level0_i/ulp"}
"""Prefix of two-stage shells, and of those of one stage, which a card may carry instead: only the user knows."""
IN_PARENT = "{slr}"
"""What stands for the SLR in the name of the pblock that a shell brings for each."""
_OF_ALVEO = ("pblock_dynamic_region", f"pblock_dynamic_{IN_PARENT}")


def parents(prefix: str, own: Iterable[str]) -> tuple[str, ...]:
    """Return how a shell calls the pblocks that it brings: as stated and, of Alveo cards, in either of two ways."""
    return tuple(dict.fromkeys((*own, *(_OF_ALVEO if prefix in KNOWN_PREFIXES else ()))))


def brought(names: Iterable[str], slrs: Sequence[str]) -> frozenset[str]:
    """Return the pblocks that a shell brings on a die with these SLRs."""
    return frozenset(name.replace(IN_PARENT, slr) for name in names for slr in slrs)


@dataclass(frozen=True)
class Shell:
    """A shell: ``reserved`` is where a memory controller is placed if it is in use."""

    name: str
    prefix: str
    brought: frozenset[str]
    static: KeepOut
    reserved: Mapping[str, KeepOut]

    def holds(self, cell: str) -> bool:
        """Whether a cell is named as under this shell."""
        return cell == self.prefix or cell.startswith(f"{self.prefix}/")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a slot lies: an SLR by number, or a half of it."""

    slr: int
    half: str
    area: Rectangle


BOARD_SCHEMA = "floorflow-board/1"

LINK_SCHEMA = "floorflow-link/1"

MAY_BE_NONE, NONE = ("shell", "infrastructure", "host_port"), "none"
"""Fields of a board file that may say so if there is no such thing; without a value they say nothing."""

PER = ("every", "first_and_last", "first", "last")
"""On which FPGAs of a chain a piece of infrastructure stands."""

AT_HOST = "host"
"""SLR of infrastructure that stands where the host's streams end."""


def fpga_name(number: int) -> str:
    """Name of an FPGA by its place in the chain."""
    return f"fpga{number}"


def link_name(lower: int, upper: int) -> str:
    """Name of the link between two FPGAs."""
    return f"{fpga_name(lower)}-{fpga_name(upper)}"


def spelt_out(content: Record) -> Record:
    """Return a board file without those fields that say that there is no such thing, or nothing."""
    return {name: value for name, value in content.items() if name not in MAY_BE_NONE or value not in (None, NONE)}


class BoardProblem(Exception):  # noqa: N818 - a finding about the file, caught where it is read
    """A range of the board's file does not exist on its die."""


@dataclass(frozen=True)
class Board:
    """One FPGA of the platform: the board's file, its die, and its place among ``fpga_count`` FPGAs.

    ``kind`` is the link file whose figures replace those of the board's file, if another kind was asked for.
    ``joins`` are the links of a platform file, if there is one: it says what joins the FPGAs, not ``topology``.
    ``asked_memory`` is the memory channel that the options name for the host's streams.
    """

    raw: Record
    device: Device
    number: int = 0
    fpga_count: int = 1
    topology: str = "chain"
    kind: Record | None = None
    joins: tuple[Join, ...] | None = None
    asked_memory: str | None = None
    asked_free: tuple[str, ...] = ()
    """Ranges that the options keep free on this FPGA."""
    kept_free: tuple[Rectangle, ...] = ()
    """What no pblock of a phase may touch because it is not of the phase's region."""
    halves: Mapping[str, int] = field(default_factory=dict)
    """First row of the upper half of each SLR that the platform's file cuts in two."""
    copies: tuple[str | None, ...] = ()
    """The memory channel of each copy of a network, where there are several."""

    def at(self, memory: str | None) -> "Board":
        """Return the board as one copy has it, whose streams of the host end at a memory channel."""
        return replace(self, asked_memory=memory, copies=())

    @property
    def host_memory(self) -> Record | None:
        """The memory channel of the host's streams: that asked for on the first and last FPGA, else the first."""
        listed: list[Record] = self.raw.get("memories") or []
        asked = self.asked_memory if self._at_an_end else None
        if asked is None:
            return listed[0] if listed else None
        named = [memory for memory in listed if memory["name"] == asked]
        if not named:
            raise BoardProblem(f"has no memory channel {asked}")
        return named[0]

    @property
    def host_slr(self) -> str:
        """SLR in which the host's streams end."""
        return str(self.host_memory["slr"] if self.host_memory else self.raw["host_slr"])

    @property
    def _at_an_end(self) -> bool:
        return self.number in (0, self.fpga_count - 1)

    @property
    def shell(self) -> Record:
        """The shell's entry, empty on bare boards."""
        found: Record = self._stated("shell") or {}
        return found

    @property
    def unstated(self) -> list[str]:
        """Fields of which the file says nothing, not even that there is none."""
        silent = [name for name in MAY_BE_NONE if self.raw.get(name) is None]
        return [name for name in silent if name != "host_port" or not self.raw.get("memories")]

    def _stated(self, name: str) -> Any:
        """Return a field that may be ``none``; None if there is none, or if nothing is said of it."""
        value = self.raw.get(name)
        return None if value == NONE else value

    @property
    def shell_pblocks(self) -> frozenset[str]:
        """Pblocks that the shell brings."""
        pattern = self.shell.get("parent_pblock")
        names = parents(self.hierarchy, [str(pattern)] if pattern else [])
        return brought(names, [str(slr["name"]) for slr in self.device.raw["slrs"]])

    def slr_name(self, slr: int) -> str:
        """Name of an SLR as the board's file uses it."""
        return str(self.device.raw["slrs"][slr]["name"])

    def parent_pblock(self, slr: int) -> str | None:
        """Pblock of the shell that is the parent of those in an SLR."""
        pattern = self.shell.get("parent_pblock")
        return str(pattern).replace("{slr}", self.slr_name(slr)) if pattern else None

    @cached_property
    def static_ranges(self) -> list[SiteRange]:
        """Ranges that the shell keeps."""
        texts = [text for ranges in self.shell.get("static", {}).values() for text in ranges]
        return [self._range(text) for text in texts]

    def _range(self, text: str) -> SiteRange:
        span = parse_range(text)
        if span is None:
            raise BoardProblem(f"{text} is not lower-left:upper-right of one site type")
        regions = self.device.raw["clock_regions"]
        inside = span.right < len(regions["columns"]) and span.top < regions["rows"]
        if not (inside if span.kind == "CLOCKREGION" else within_device(self.device, span)):
            raise BoardProblem(f"{text} leaves the device")
        return span

    @property
    def link(self) -> Record | None:
        """How boards of this kind are joined; with a platform file, how this one is by its first link."""
        found: Record | None = self.raw.get("link")
        if self.links_here:
            first = self.links_here[0]
            return self.link_by(first.kind, first.ends.get(fpga_name(self.number)))
        return found if found is None or self.kind is None else self.link_by(self.kind)

    @property
    def links_here(self) -> list[Join]:
        """Links of the platform file that end at this FPGA."""
        return [join for join in self.joins or () if self.number in (join.lower, join.upper)]

    def link_by(self, kind: Record, slr: str | None = None) -> Record:
        """Return how the board is joined by a kind of link; ``slr`` is where it ends if the board's file is silent."""
        figures = {key: kind[key] for key in ("gbps", "latency_us", "assumed")}
        figures["reliable"], figures["overhead"] = kind.get("reliable", True), kind.get("overhead", 0.0)
        own = self.raw.get("link") or {"slr": slr}
        return {**own, **figures, "kind": kind["name"], "core": kind.get("core")}

    @property
    def host_port(self) -> Rectangle:
        """Where the host's streams enter and leave."""
        stated = self.host_memory.get("port") if self.host_memory else self._stated("host_port")
        return self._port(stated, self.host_slr)

    @property
    def link_port(self) -> Rectangle | None:
        """Where streams over links leave and enter; None if there can be no link."""
        if self.link is None:
            return None
        return self._port(self.link.get("ports", {}).get(self.link["kind"]), self.link["slr"])

    def _port(self, stated: RectangleRecord | None, slr: str) -> Rectangle:
        """Return the stated rectangle, which must lie in its SLR, or else the SLR's last column."""
        names = [entry["name"] for entry in self.device.raw["slrs"]]
        if slr not in names:
            raise BoardProblem(f"a port is in {slr}, which the die does not have")
        bottom, top = self.device.slr_rows(names.index(slr))
        last = self.device.columns - 1
        if stated is None:
            return Rectangle(last, bottom, last, top)
        port = Rectangle.of(stated)
        if not (port.left <= port.right <= last and bottom <= port.bottom <= port.top <= top):
            raise BoardProblem(f"the port {port} is not inside {slr}")
        return port

    @property
    def infrastructure(self) -> list[Record]:
        """Infrastructure that stands on this FPGA: the board's own and a core at the end of each link."""
        standing = {
            "every": True,
            "first_and_last": self._at_an_end,
            "first": self.number == 0,
            "last": self.number == self.fpga_count - 1,
        }
        if self.copies:
            return self._beside_copies
        own = [item for item in self._stated("infrastructure") or [] if standing[item["per"]]]
        placed = [{**item, "slr": self.host_slr} if item["slr"] == AT_HOST else item for item in own]
        return self._host_controller + placed + self._link_cores

    @property
    def _beside_copies(self) -> list[Record]:
        """What stands where the host's streams end, for every copy; a channel's controller and all else once."""
        found: list[Record] = []
        per_copy = {item["name"] for item in self._stated("infrastructure") or [] if item["slr"] == AT_HOST}
        for memory in self.copies:
            found += [item for item in self.at(memory).infrastructure if item["name"] in per_copy or item not in found]
        return found

    @property
    def _host_controller(self) -> list[Record]:
        """The controller of the host's memory channel, where the host's streams end here."""
        memory = self.host_memory
        if memory is None or not memory.get("controller") or not self._at_an_end:
            return []
        return [{"name": f"{memory['name']} controller", "slr": memory["slr"], **memory["controller"]}]

    @property
    def _link_cores(self) -> list[Record]:
        if self.joins is not None:
            return [
                {
                    "name": f"link core {link_name(join.lower, join.upper)}",
                    "slr": self.link_by(join.kind, join.ends.get(fpga_name(self.number)))["slr"],
                    "resources": join.kind["core"],
                }
                for join in self.links_here
                if join.kind.get("core")
            ]
        if self.link is None or not self.link.get("core"):
            return []
        return [
            {"name": f"link core {link_name(*pair)}", "slr": self.link["slr"], "resources": self.link["core"]}
            for pair in joined_pairs(self.topology, self.fpga_count)
            if self.number in pair
        ]

    @cached_property
    def static_areas(self) -> list[Rectangle]:
        """Rectangles of the shell: static ranges without LAGUNA."""
        return [rectangle_of_range(self.device, span) for span in self.static_ranges if span.kind != "LAGUNA"]

    @cached_property
    def areas_beside_laguna(self) -> list[Rectangle]:
        """Rectangles that the shell keeps of clock regions and of Laguna sites."""
        spans = (span for span in self.static_ranges if span.kind in ("CLOCKREGION", "LAGUNA"))
        return [rectangle_of_range(self.device, span) for span in spans]

    @cached_property
    def places(self) -> list[Place]:
        """The slots from the lowest up: each SLR, or its halves."""
        found = []
        for slr in range(len(self.device.raw["slrs"])):
            whole, cut = self.device.slr_rectangle(slr), self.halves.get(self.slr_name(slr))
            if cut is None:
                found.append(Place(slr, "", whole))
                continue
            found.append(Place(slr, "lower", Rectangle(whole.left, whole.bottom, whole.right, cut - 1)))
            found.append(Place(slr, "upper", Rectangle(whole.left, cut, whole.right, whole.top)))
        return found

    def half_at(self, slr: str, port: Rectangle | None) -> str:
        """Return the half of an SLR in which the middle of a port lies; without one the lower."""
        if slr not in self.halves:
            return ""
        return "upper" if port is not None and port.bottom + port.top >= 2 * self.halves[slr] else "lower"

    def home(self, item: Record) -> tuple[str, str]:
        """Return SLR and half of infrastructure: where it is reserved, or at the port of the host or of links."""
        slr, port = item["slr"], None
        if item.get("reserved"):
            port = rectangle_of_range(self.device, self._range(item["reserved"]))
        elif item in self._link_cores:
            port = self.link_port
        elif slr == self.host_slr:
            port = self.host_port
        return slr, self.half_at(slr, port)

    @cached_property
    def floors(self) -> dict[tuple[int, str], Floor]:
        """The free floor of each slot, by SLR and half."""
        return {
            (place.slr, place.half): Floor(self.device, (place.area.bottom, place.area.top), self.keep_outs)
            for place in self.places
        }

    @cached_property
    def keep_outs(self) -> list[Rectangle]:
        """Rectangles that no pblock may touch: static ranges without LAGUNA, reserved ones and those asked for."""
        return [*self.own_keep_outs, *self.asked_areas, *self.kept_free]

    @cached_property
    def own_keep_outs(self) -> list[Rectangle]:
        """Those of them that the board's file states."""
        spans = [self._range(item["reserved"]) for item in self.infrastructure if item.get("reserved")]
        return [*self.static_areas, *(rectangle_of_range(self.device, span) for span in spans)]

    @cached_property
    def asked_areas(self) -> list[Rectangle]:
        """Rectangles of the ranges that the options keep free, with whole steps of rows."""
        step = row_step(self.device)
        areas = [rectangle_of_range(self.device, self._range(text)) for text in self.asked_free]
        return [Rectangle(a.left, a.bottom // step * step, a.right, (a.top // step + 1) * step - 1) for a in areas]

    @cached_property
    def _asked_sites(self) -> Sites:
        """Sites that the options keep free and the board's file does not."""
        asked = reduce(union, map(self.device.sites, self.asked_areas), Sites())
        return difference(asked, union(self.static_sites, self._kept(self.own_keep_outs).sites))

    @cached_property
    def static(self) -> KeepOut:
        """What the shell keeps, as pblocks are judged by it."""
        return self._kept(self.static_areas)

    @cached_property
    def keep_out(self) -> KeepOut:
        """All that no pblock of a plan may touch."""
        return self._kept(self.keep_outs)

    def _kept(self, areas: list[Rectangle]) -> KeepOut:
        return KeepOut(reduce(union, map(self.device.sites, areas), Sites()), areas)

    @cached_property
    def static_sites(self) -> Sites:
        """Sites that the shell takes: of a site range only those of its type, of a clock region all."""
        return sites_of(self.device, self.static_ranges)

    @cached_property
    def capacities(self) -> list[dict[str, int]]:
        """Silicon of each slot."""
        return (
            [self.device.resources(place.area) for place in self.places] if self.halves else self.device.slr_resources
        )

    @cached_property
    def _without_shell(self) -> list[dict[str, int]]:
        """Capacity of each SLR less the shell, or what was measured if that is less."""
        found = []
        for slr, capacity in enumerate(self.device.slr_resources):
            taken = self.device.resources_of(shared(self.static_sites, self.device.slr_sites[slr]))
            measured = self.shell.get("measured_available", {}).get(self.slr_name(slr), {})
            left = {name: capacity[name] - taken[name] for name in RESOURCE_NAMES}
            found.append({name: min(left[name], measured.get(name, left[name])) for name in RESOURCE_NAMES})
        return found

    def _beside_shell(self, place: Place, sites: Sites) -> dict[str, int]:
        """Return the same of a slot: what an SLR lacks beside the shell's sites is missing in each of its halves."""
        if not place.half:
            return self._without_shell[place.slr]
        device, whole = self.device, self.device.slr_sites[place.slr]
        capacity, left = device.slr_resources[place.slr], self._without_shell[place.slr]
        taken, here = (device.resources_of(shared(self.static_sites, each)) for each in (whole, sites))
        own = device.resources_of(sites)
        return {
            name: max(0, own[name] - here[name] - (capacity[name] - taken[name] - left[name]))
            for name in RESOURCE_NAMES
        }

    def available(self, number: int) -> dict[str, int]:
        """Return what the shell leaves of a slot, less the infrastructure in it and what is to be kept free."""
        place = self.places[number]
        sites = self.device.sites(place.area) if place.half else self.device.slr_sites[place.slr]
        own = self.slr_name(place.slr), place.half
        here = [item["resources"] for item in self.infrastructure if self.home(item) == own]
        left = self._beside_shell(place, sites)
        free = self.device.resources_of(shared(self._asked_sites, sites))
        for item in self.infrastructure:
            if place.half and item.get("reserved") and self.home(item) != own:
                area = self.device.sites(rectangle_of_range(self.device, self._range(item["reserved"])))
                here.append(self.device.resources_of(shared(area, sites)))
        return {
            name: max(0, left[name] - sum(item.get(name, 0) for item in here) - free[name]) for name in RESOURCE_NAMES
        }

    def sll_wires(self) -> Iterator[int]:
        """Yield the usable wires of each SLR boundary, bottom to top."""
        sll = self.device.raw.get("sll")
        silicon = sll["wires_per_column"] * len(sll["columns"]) if sll else 0
        stated = self.raw.get("sll_wires")
        for index in range(len(self.device.raw["slrs"]) - 1):
            yield min(silicon, stated[index]) if stated and index < len(stated) else silicon

    @property
    def hierarchy(self) -> str:
        """Cell of the shell that holds the user's kernels; empty without a shell."""
        shell = self.raw.get("shell")
        return str(shell["hierarchy"]) if isinstance(shell, dict) else ""


Boards = Mapping[str, Board]
"""The boards whose files can be read, by the names of FPGAs."""
