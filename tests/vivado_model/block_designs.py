"""The block design that v++ links, by UG835 (2022.2): kernels, their stream, clock and reset pins, and what joins them.

Strict: a pin is joined once, an interface net has one master and one slave, and what matches nothing is refused unless
-quiet is said.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from .arguments import Arguments, VivadoError

STREAM = "xilinx.com:interface:axis_rtl:1.0"
SLICE = "xilinx.com:ip:axis_register_slice:1.1"
SETTINGS = {"CONFIG.REG_CONFIG": range(17), "CONFIG.NUM_SLR_CROSSINGS": range(4)}
"""Values of the core's settings: three boundaries are the most that one spans, by its RTL."""


@dataclass
class Cell:
    """A kernel or slice: properties, stream pins with their mode and bytes, and other pins."""

    properties: dict[str, str]
    streams: dict[str, tuple[str, int]]
    pins: tuple[str, ...] = ("ap_clk", "ap_rst_n")


@dataclass
class BlockDesign:
    """Cells by path; ``joined`` are interface nets, ``nets`` others, each with the pins at it.

    ``stubborn`` are settings of a slice that stay as they are, whatever is set.
    """

    cells: dict[str, Cell]
    joined: dict[str, list[str]]
    nets: dict[str, list[str]]
    stubborn: Mapping[str, str] = field(default_factory=dict)

    def knows(self, thing: str) -> bool:
        return thing.startswith("/")

    def run(self, command: str, arguments: Arguments, words: Sequence[str]) -> str | tuple[str, ...]:
        """Run a command; ``words`` is its positional argument as a list."""
        answer: str | tuple[str, ...] = getattr(self, f"_{command}")(arguments, words)
        return answer

    def properties(self, thing: str) -> dict[str, str]:
        if thing in self.cells:
            return {"NAME": thing[1:], **self.cells[thing].properties}
        cell, _, pin = thing.rpartition("/")
        if cell in self.cells and pin in self.cells[cell].streams:
            mode, size = self.cells[cell].streams[pin]
            return {"NAME": pin, "MODE": mode, "VLNV": STREAM, "CONFIG.TDATA_NUM_BYTES": str(size)}
        raise VivadoError(f"get_property: object '{thing}' does not exist")

    def set_settings(self, settings: Sequence[str], thing: str) -> None:
        if thing not in self.cells or self.cells[thing].properties.get("VLNV") != SLICE or len(settings) % 2:
            raise VivadoError(f"set_property: '{settings}' of '{thing}' is not modelled")
        for name, value in zip(settings[::2], settings[1::2], strict=True):
            if name not in SETTINGS or not value.isdecimal() or int(value) not in SETTINGS[name]:
                raise VivadoError(f"[BD 41-737] set_property: {name} of '{thing}' cannot be {value}")
            self.cells[thing].properties[name] = self.stubborn.get(name, value)

    def way(self, pin: str) -> list[str]:
        """Return the cells that a stream passes from a kernel's pin to the next kernel, that one included."""
        found = []
        while True:
            (to,) = (other for pins in self.joined.values() if pin in pins for other in pins if other != pin)
            cell = to.rpartition("/")[0]
            found.append(cell)
            if self.cells[cell].properties.get("VLNV") != SLICE:
                return found
            pin = f"{cell}/M_AXIS"

    def _found(self, arguments: Arguments, found: Sequence[str]) -> tuple[str, ...]:
        if not found and not arguments.quiet:
            raise VivadoError("no object matches (Vivado only warns)")
        return tuple(found)

    def _get_bd_cells(self, arguments: Arguments, words: Sequence[str]) -> tuple[str, ...]:
        if "-of_objects" in arguments.values:
            return self._found(arguments, [arguments.values["-of_objects"].rpartition("/")[0]])
        wanted = [f"/{word.removeprefix('/')}" for word in words] or ["/*"]
        return self._found(arguments, [name for name in self.cells if any(fnmatchcase(name, w) for w in wanted)])

    def _get_bd_pins(self, arguments: Arguments, words: Sequence[str]) -> tuple[str, ...]:
        pins = [f"{name}/{pin}" for name, cell in self.cells.items() for pin in cell.pins]
        return self._found(arguments, [pin for pin in pins if pin in words])

    def _get_bd_intf_pins(self, arguments: Arguments, words: Sequence[str]) -> tuple[str, ...]:
        of = arguments.values.get("-of_objects")
        pins = [f"{name}/{pin}" for name, cell in self.cells.items() for pin in cell.streams]
        if of is None:
            return self._found(arguments, [pin for pin in pins if pin in words])
        return self._found(arguments, self.joined.get(of) or [pin for pin in pins if pin.startswith(f"{of}/")])

    def _of_pin(self, arguments: Arguments, nets: Mapping[str, list[str]]) -> tuple[str, ...]:
        pin = arguments.values["-of_objects"]
        return self._found(arguments, [net for net, pins in nets.items() if pin in pins])

    def _get_bd_nets(self, arguments: Arguments, _: Sequence[str]) -> tuple[str, ...]:
        return self._of_pin(arguments, self.nets)

    def _get_bd_intf_nets(self, arguments: Arguments, _: Sequence[str]) -> tuple[str, ...]:
        return self._of_pin(arguments, self.joined)

    def _create_bd_cell(self, arguments: Arguments, words: Sequence[str]) -> str:
        name = f"/{words[0]}"
        if arguments.values != {"-type": "ip", "-vlnv": SLICE} or name in self.cells:
            raise VivadoError(f"create_bd_cell: '{name}' exists, or is no {SLICE}")
        streams = {"S_AXIS": ("Slave", 0), "M_AXIS": ("Master", 0)}
        self.cells[name] = Cell({"VLNV": SLICE, **dict.fromkeys(SETTINGS, "0")}, streams, ("aclk", "aresetn"))
        return name

    def _delete_bd_objs(self, _: Arguments, words: Sequence[str]) -> str:
        for word in words:
            if self.joined.pop(word, None) is None:
                raise VivadoError(f"delete_bd_objs: there is no interface net '{word}'")
        return ""

    def _connect_bd_net(self, arguments: Arguments, words: Sequence[str]) -> str:
        known, new = words[0], arguments.positionals["pin2"]
        (net,) = (pins for pins in self.nets.values() if known in pins)
        cell, _, pin = new.rpartition("/")
        if pin not in self.cells[cell].pins or any(new in pins for pins in self.nets.values()):
            raise VivadoError(f"connect_bd_net: '{new}' is no pin, or joined already")
        net.append(new)
        return ""

    def _connect_bd_intf_net(self, arguments: Arguments, words: Sequence[str]) -> str:
        ends = [words[0], arguments.positionals["pin2"]]
        modes = [self.properties(pin)["MODE"] for pin in ends]
        if modes != ["Master", "Slave"] or any(pin in pins for pins in self.joined.values() for pin in ends):
            raise VivadoError(f"[BD 41-171] connect_bd_intf_net: {ends} are joined already, or two {modes}")
        self.joined[f"/net_of_{ends[0][1:].replace('/', '_')}"] = ends
        return ""
