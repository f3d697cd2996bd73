"""As much Verilog as the tops and wrappers of stitched modules use: ports, instances with their wires, assignments."""

import re
from dataclasses import dataclass

_MODULE = re.compile(r"\bmodule (\w{1,300}) \(\n([^;]*)\);\n(.*?)^endmodule", re.S | re.M)
_PORT = re.compile(r"\s*(input |output) wire (?:\[(\d{1,6}):0\] )?(\w{1,300})")
_WIRE = re.compile(r"^  wire \[(\d{1,6}):0\] (\w{1,300});$", re.M)
_INSTANCE = re.compile(
    r"^  (\w{1,300})(?: #\(([^\n]*)\))? (\w{1,300}) \(\n((?:      \.\w+\([^()\n]*\),?\n)*)  \);$", re.M
)
_JOINED = re.compile(r"\.(\w{1,300})\(([^()\n]*)\)")
_ASSIGNED = re.compile(r"^  assign (\w{1,300}) = (\w{1,300});$", re.M)
_PLAIN = re.compile(r"^(?:\s*|  wire .*;|  \(\* dont_touch = \"yes\" \*\)|\s*//.*|  assign .*;)$")


@dataclass(frozen=True)
class Instance:
    """An instance: its module, parameters as a text each, and the wire at each port."""

    module: str
    name: str
    parameters: dict[str, str]
    joined: dict[str, str]


@dataclass(frozen=True)
class VerilogModule:
    """A module; ``ports``: direction (``input`` or ``output``) and bits; ``left``: lines that are none of the rest."""

    name: str
    ports: dict[str, tuple[str, int]]
    wires: dict[str, int]
    instances: list[Instance]
    assigned: dict[str, str]
    left: list[str]


def read_verilog(text: str) -> list[VerilogModule]:
    """Return the modules of a file as floorflow writes it."""
    return [_module(*found) for found in _MODULE.findall(text)]


def _module(name: str, head: str, body: str) -> VerilogModule:
    ports = {port: (way.strip(), int(most or 0) + 1) for way, most, port in _PORT.findall(head)}
    instances = [
        Instance(module, cell, dict(_JOINED.findall(parameters)), dict(_JOINED.findall(joined)))
        for module, parameters, cell, joined in _INSTANCE.findall(body)
    ]
    wires = {wire: int(most) + 1 for most, wire in _WIRE.findall(body)}
    rest = _INSTANCE.sub("", body)
    left = [line for line in rest.splitlines() if _PLAIN.fullmatch(line) is None]
    return VerilogModule(name, ports, wires, instances, dict(_ASSIGNED.findall(body)), left)
