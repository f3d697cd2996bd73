"""What there is to plan on: boards by name or by file, how many, and how they are joined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from floorflow.api.pictures import Picture, drawn
from floorflow.assets import PARTS, Topology, link_path, require_platform, shipped
from floorflow.errors import InputError
from floorflow.importing import whole_imports
from floorflow.plugins import DEFAULT_BACKEND

if TYPE_CHECKING:
    from floorflow import hardware
    from floorflow.view.sheet import Sheet

DEFAULTS: Mapping[str, Any] = {"fpgas": 1, "clock_mhz": None, "link": None, "topology": "chain", "host_port": None}
"""What a platform is unless told."""


@dataclass(frozen=True, repr=False)
class Platform:
    """Boards to plan on, as they were asked for: ``options`` are those that differ from the defaults.

    ``loaded``: their slots, wires and links; of ``fpgas="auto"``, of one board.
    """

    platform: str
    options: Mapping[str, Any]
    loaded: hardware.Platform

    def __repr__(self) -> str:
        count = 1 if self.loaded.described else self.options.get("fpgas", 1)
        return f"<floorflow.Platform {'' if count == 1 else f'{count} x '}{self.name}>"

    @property
    def name(self) -> str:
        """The name of the board or platform."""
        return self.loaded.name

    @property
    def slots(self) -> list[dict[str, Any]]:
        """Slots as flat rows: what each has that a design may use."""
        return [
            {"slot": slot.name, "fpga": fpga.name, "slr": slot.slr, "part": fpga.board.part, **slot.available.as_dict()}
            for fpga in self.loaded.fpgas
            for slot in fpga.slots
        ]

    @property
    def doubts(self) -> list[dict[str, str]]:
        """Facts of its boards that are guesses or missing: ``fact``, ``why``, and what that makes ``uncertain``."""
        from floorflow.hardware import doubts_of

        each = {fpga.board.name: doubts_of(fpga.board, fpga.device) for fpga in self.loaded.fpgas}
        return [{"board": board, **asdict(doubt)} for board, doubts in each.items() for doubt in doubts]

    @property
    def unbuilt(self) -> list[str]:
        """What keeps FINN from a design that runs on one of its boards, a sentence each, as `plan` would tell it."""
        with whole_imports():
            from floorflow.backends.backend import backend_named
            from floorflow.request import Request

        backend, options = backend_named(DEFAULT_BACKEND), Request(model="", platform=self.platform).backend_options
        boards = dict.fromkeys(fpga.board.name for fpga in self.loaded.fpgas)
        return [told for board in boards for told in backend.unbuilt([board], 1, options, in_regions=False)]

    def picture(self, fpga: str = "fpga0") -> Picture:
        """Return a picture of an FPGA before anything is planned on it: columns, clock regions, shell and ports."""

        def draw() -> Sheet:
            with whole_imports():
                from floorflow.view.pictures.empty_board import empty_board

            return empty_board(self.loaded, fpga)

        return Picture(f"{self.name} {fpga}", drawn(draw))

    def as_dict(self) -> dict[str, Any]:
        """Return the platform as plain data, as ``floorflow platforms NAME --json`` prints it."""
        platform = self.loaded
        board = platform.fpgas[0].board
        return {
            "name": platform.name,
            "part": " and ".join(dict.fromkeys(fpga.board.part for fpga in platform.fpgas)),
            "clock_mhz": platform.clock_mhz,
            "slots": [
                {"name": s.name, "capacity": s.capacity.as_dict(), "available": s.available.as_dict()}
                for s in platform.slots
            ],
            "infrastructure": [
                {"name": i.name, "slot": i.slot, "resources": i.resources.as_dict()} for i in platform.infrastructure
            ],
            "slls": [
                {"lower": b.lower, "upper": b.upper, "wires": b.wires, "kind": b.kind} for b in platform.boundaries
            ],
            "memories": [] if platform.described else [_memory(memory) for memory in board.memories],
            "max_fpgas": platform.most_fpgas,
            "link": None if platform.described else board.link and _link(board.link),
            "links": [asdict(link) for link in platform.links],
        }


def _link(link: hardware.BoardLink) -> dict[str, Any]:
    names = ("kind", "slr", "gbps", "latency_us", "max_links", "assumed", "reliable", "overhead")
    return {name: getattr(link, name) for name in names}


def _memory(memory: hardware.Memory) -> dict[str, Any]:
    controller = None if memory.controller is None else memory.controller.as_dict()
    return {"name": memory.name, "slr": memory.slr, "controller": controller, "assumed": memory.assumed}


def platform(
    name_or_path: str | Path,
    *,
    fpgas: int | Literal["auto"] = 1,
    clock_mhz: float | None = None,
    link: str | Path | None = None,
    topology: Topology = "chain",
    host_port: str | None = None,
) -> Platform:
    """Return boards to plan on, by the name of a shipped one or a word of it such as ``u250``, a part, or a YAML file.

    A part, such as ``xczu7ev`` or a whole part name, is planned on bare; `Platform.doubts` says what is assumed.

    ``fpgas``: how many, or ``"auto"`` for the fewest that will do. ``clock_mhz``: instead of the board's. ``link``:
    another kind of link between them than the board's own, by its name or a YAML file. ``topology``: ``pair``,
    ``chain``, ``ring``, ``star``, ``mesh`` or ``full``. ``host_port``: the memory channel where the host's streams end.

    Raises
    ------
    InputError
        If a name is unknown, a file is malformed, or so many boards cannot be joined in this way.

    """
    given = {"fpgas": fpgas, "clock_mhz": clock_mhz, "link": None if link is None else str(link), "topology": topology}
    given["host_port"] = host_port
    return loaded(str(name_or_path), {name: value for name, value in given.items() if value != DEFAULTS[name]})


def loaded(platform: str, options: Mapping[str, Any]) -> Platform:
    """Return the platform that a request's fields ask for, having refused what cannot be before anything is read."""
    require_platform(platform)
    link = options.get("link")
    if link is not None:
        link_path(link)
    with whole_imports():
        from floorflow.hardware import load_platform

    # What nobody asked for contradicts no platform file, which says these things itself.
    fpgas = None if options.get("fpgas") == "auto" else options.get("fpgas")
    asked = fpgas, options.get("clock_mhz"), link, options.get("topology")
    held = load_platform(platform, *asked, host_port=options.get("host_port"))
    return Platform(platform, dict(options), held)


def platforms() -> tuple[Platform, ...]:
    """Return the boards that ship with floorflow."""
    return tuple(platform(name) for name in shipped("boards"))


def bare_parts() -> tuple[str, ...]:
    """Return the parts that can be planned on without a board."""
    return tuple(PARTS)


def new_board(name: str, part: str) -> str:
    """Return the text of a board's file, with comments, made from its part, such as ``xck26-sfvc784-2LV-c``.

    Raises
    ------
    InputError
        If the die of the part is not known, or the name is none for a board.

    """
    from floorflow.hardware import new_board

    return new_board(name, part)


def link_kinds() -> tuple[str, ...]:
    """Return the kinds of links that ship with floorflow."""
    return shipped("links")


def platform_options(platform: str | Path | Platform, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request's fields that a platform, and options beside it, ask for.

    Raises InputError if both say the same thing.
    """
    if not isinstance(platform, Platform):
        return {"platform": platform, **options}
    twice = [name for name in options if name in DEFAULTS]
    if twice:
        hint = "say it where the platform is made: floorflow.platform(name, ...)"
        raise InputError(f"{twice[0]}: {options[twice[0]]} is asked for beside a platform that was made already", hint)
    return {"platform": platform.platform, **platform.options, **options}
