"""The Verilog around modules that are implemented alone: a wrapper of each, stubs, and the top of each card."""

from collections.abc import Iterator, Sequence

from floorflow.emit.stitch.circuit import Card, Joint, Register, reset_of
from floorflow.facts.stitched import RESET, Port, StitchedModule, core_name

LIBRARY = ("slice", "stage", "landing", "reset")
"""The shipped modules, ``rtl/floorflow_stitch_<name>.v``."""
PARTS = ("tdata", "tvalid", "tready")


def wrapper(header: str, implementation: str, ports: Sequence[Port]) -> str:
    """Return the module that is implemented: the back end's IP with a slice at every port."""
    lines = [f"// {header}", "`default_nettype none", "", *_head(implementation, ports)]
    lines += ["  wire rst_n;", *_instance("reset", "reset", {"clk": "ap_clk", "in_n": "ap_rst_n", "out_n": "rst_n"}, 2)]
    core = {"ap_clk": "ap_clk", "ap_rst_n": "rst_n"}
    for port in ports:
        inner = f"inner_{port.name}"
        lines += _wires(inner, port.bits)
        ends = (port.name, inner) if port.enters else (inner, port.name)
        lines += _instance("slice", f"slice_{port.name}", _between(*ends), port.bits, reset="rst_n")
        core |= {f"{port.name}_{part}": f"{inner}_{part}" for part in PARTS}
    lines += _cell(core_name(implementation), "core", core)
    return "\n".join([*lines, "endmodule", "", "`default_nettype wire"]) + "\n"


def stubs(header: str, modules: Sequence[StitchedModule]) -> str:
    """Return an empty module for each implementation: black boxes, until checkpoints are read."""
    lines = [f"// {header}", "`default_nettype none"]
    for name, ports in {module.implementation: module.ports for module in modules}.items():
        lines += ["", '(* black_box = "yes" *)', *_head(name, ports), "endmodule"]
    return "\n".join([*lines, "", "`default_nettype wire"]) + "\n"


def top(header: str, card: Card) -> str:
    """Return the top of a card: modules, slices, what crosses SLR boundaries, and a reset of each SLR."""
    edges = [f"//   {port.name}: {port.channel}" for port in card.edges]
    lines = [f"// {header}", *edges, "`default_nettype none", "", *_head(card.top, card.edges)]
    reset = {"clk": "ap_clk", "in_n": "ap_rst_n", "out_n": f"{RESET}_n"}
    lines += [f"  wire {RESET}_n;", *_instance("reset", RESET, reset, 4)]
    for slr in card.resets:
        lines.append(f"  wire {reset_of(slr)}_n;")
    for slr, before in card.resets.items():
        came = reset_of(before) if before else RESET
        own = {"clk": "ap_clk", "in_n": f"{came}_n", "out_n": f"{reset_of(slr)}_n"}
        lines += _instance("reset", reset_of(slr), own, 4)
    ends: dict[tuple[str, str], str] = {}
    for joint in card.joints:
        lines += ["", f"  // {joint.channel}", *_joint(joint, card, ends)]
    for module in card.modules:
        joined = {"ap_clk": "ap_clk", "ap_rst_n": f"{card.reset_at(module.slot)}_n"}
        for port in module.ports:
            joined |= {f"{port.name}_{part}": f"{ends[module.cell, port.name]}_{part}" for part in PARTS}
        lines += ["", *_cell(module.implementation, module.cell, joined)]
    return "\n".join([*lines, "endmodule", "", "`default_nettype wire"]) + "\n"


def _joint(joint: Joint, card: Card, ends: dict[tuple[str, str], str]) -> Iterator[str]:
    """Yield a stream's wires and registers, and note the wires at its modules."""
    names = [f"{joint.name}_{number}" for number in range(len(joint.registers) + 1)]
    for name in names:
        yield from _wires(name, joint.bits)
    for register, before, after in zip(joint.registers, names, names[1:], strict=False):
        yield from _register(register, joint, before, after, f"{card.reset_at(register.slot)}_n")
    for cell, port, name in ((joint.source, joint.source_port, names[0]), (joint.target, joint.target_port, names[-1])):
        if cell:
            ends[cell, port.name] = name
            continue
        for part in PARTS:
            # The edge drives what enters, and reads what leaves; TREADY goes the other way.
            pair = (f"{name}_{part}", f"{port.name}_{part}")
            left, right = pair if port.enters != (part == "tready") else pair[::-1]
            yield f"  assign {left} = {right};"


def _register(register: Register, joint: Joint, before: str, after: str, reset: str) -> Iterator[str]:
    if register.kind == "slice":
        yield from _instance("slice", register.cell, _between(before, after), joint.bits, reset=reset)
        return
    kinds = [other.kind for other in joint.registers]
    first = register.kind == "stage" and kinds[: joint.registers.index(register)][-1:] != ["stage"]
    # A word starts over a boundary where both say so; from there on TVALID alone tells that one comes.
    valid = f"{before}_tvalid && {before}_tready" if first else f"{before}_tvalid"
    joined = {"clk": "ap_clk", "in_data": f"{before}_tdata", "in_valid": valid, "in_room": f"{before}_tready"}
    joined |= {"out_data": f"{after}_tdata", "out_valid": f"{after}_tvalid"}
    joined |= {("out_room" if register.kind == "stage" else "out_ready"): f"{after}_tready"}
    if register.kind == "stage":
        yield from _instance("stage", register.cell, joined, joint.bits)
    else:
        more = f", .STAGES({register.stages}), .DEPTH({register.depth})"
        yield from _instance("landing", register.cell, joined | {"rst_n": reset}, joint.bits, more=more)


def _head(name: str, ports: Sequence[Port]) -> Iterator[str]:
    yield f"module {name} ("
    yield "    input  wire ap_clk,"
    yield f"    input  wire ap_rst_n{',' if ports else ''}"
    for place, port in enumerate(ports):
        there, back = ("input  wire", "output wire") if port.enters else ("output wire", "input  wire")
        yield f"    {there} [{port.bits - 1}:0] {port.name}_tdata,"
        yield f"    {there} {port.name}_tvalid,"
        yield f"    {back} {port.name}_tready{',' if place < len(ports) - 1 else ''}"
    yield ");"


def _wires(name: str, bits: int) -> Iterator[str]:
    yield f"  wire [{bits - 1}:0] {name}_tdata;"
    yield f"  wire {name}_tvalid, {name}_tready;"


def _between(before: str, after: str) -> dict[str, str]:
    return {"clk": "ap_clk"} | {
        f"{way}_{end}": f"{name}_t{end}" for way, name in (("in", before), ("out", after)) for end in _ENDS
    }


_ENDS = ("data", "valid", "ready")


def _instance(
    kind: str, cell: str, joined: dict[str, str], size: int, *, reset: str = "", more: str = ""
) -> Iterator[str]:
    """Yield a shipped module; ``size``: its bits, or the registers of a reset."""
    parameter = "STAGES" if kind == "reset" else "BITS"
    joined = {**joined, **({"rst_n": reset} if reset else {})}
    yield from _cell(f"floorflow_stitch_{kind} #(.{parameter}({size}){more})", cell, joined)


def _cell(module: str, cell: str, joined: dict[str, str]) -> Iterator[str]:
    """Yield an instance that Vivado neither flattens nor renames."""
    yield '  (* dont_touch = "yes" *)'
    yield f"  {module} {cell} ("
    yield ",\n".join(f"      .{port}({wire})" for port, wire in joined.items())
    yield "  );"
