"""Mistakes planted in a legal plan of the toy back end, each with the finding that it must lead to."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

Plan = dict[str, Any]
Files = dict[str, str | None]
"""Texts by name beside plan.json that a mistake changes; None: the file is removed."""
BUILD = "toykit/build.json"


class Mutant(NamedTuple):
    title: str
    expected: str
    spoil: Callable[[Plan, Files], None]


def entry(plan: Plan, name: str) -> Any:
    return next(e for e in plan["networks"][0]["engines"] if e["name"] == name)


def folded(plan: Plan, name: str) -> Any:
    return plan["phases"][0]["networks"][0]["folding"]["engines"][name]


def channel(plan: Plan, name: str) -> Any:
    return next(c for c in plan["phases"][0]["channels"] if c["name"] == name)


def folding(name: str, **values: object) -> Callable[[Plan, Files], None]:
    return lambda plan, files: folded(plan, name)["attributes"].update(values)


def resource(name: str, resource: str) -> Callable[[Plan, Files], None]:
    return lambda plan, files: folded(plan, name)["resources"].update({resource: 0})


def option(**values: object) -> Callable[[Plan, Files], None]:
    return lambda plan, files: plan["options"]["backend_options"].update(values)


def engine(name: str, **values: object) -> Callable[[Plan, Files], None]:
    return lambda plan, files: entry(plan, name).update(values)


def attribute(name: str, **values: object) -> Callable[[Plan, Files], None]:
    return lambda plan, files: entry(plan, name)["attributes"].update(values)


def stream(name: str, **values: object) -> Callable[[Plan, Files], None]:
    return lambda plan, files: channel(plan, name).update(values)


def build(name: str, **values: object) -> Callable[[Plan, Files], None]:
    """Change what toykit's file has of an engine; without values it is left out."""

    def spoil(plan: Plan, files: Files) -> None:
        rows = json.loads(str(files[BUILD]))
        rows[name] |= values
        files[BUILD] = json.dumps(rows if values else {key: row for key, row in rows.items() if key != name})

    return spoil


def half_as_wide(plan: Plan, files: Files) -> None:
    channel(plan, "plain.0->add.1")["source_width_bits"] //= 2


def costs_nothing(plan: Plan, files: Files) -> None:
    folded(plan, "add")["resources"] = dict.fromkeys(("LUT", "FF", "BRAM18", "URAM", "DSP"), 0)


def one_cycle_less(plan: Plan, files: Files) -> None:
    folded(plan, "smooth")["cycles"] -= 1


def slower_than_said(plan: Plan, files: Files) -> None:
    """A legal folding, but another than that whose cycles and widths are stated."""
    folded(plan, "last")["attributes"]["makers"] //= 2


def unlike_its_tie(plan: Plan, files: Files) -> None:
    folded(plan, "plain")["attributes"]["makers"] //= 2


def another_cell(plan: Plan, files: Files) -> None:
    name = "fpga0/pblocks.xdc"
    files[name] = str(files[name]).replace("toy_7}", "toy_9}")


MUTANTS = (
    Mutant("makers do not divide the outputs", "illegal-folding", folding("smooth", makers=3)),
    Mutant("more lanes than the option allows", "illegal-folding", folding("sharp", takers=48)),
    Mutant("multiplies by a style that there is not", "illegal-folding", folding("last", maths="wood")),
    Mutant("has FINN's attributes too", "illegal-folding", folding("smooth", PE=2)),
    Mutant("lanes are a text", "illegal-folding", folding("add", lanes="4")),
    Mutant("the option allows fabric alone", "illegal-folding", option(maths="fabric")),
    Mutant("the option allows fewer lanes", "illegal-folding", option(most_lanes=8)),
    Mutant("an option is out of its range", "plan-malformed", option(most_lanes=5000)),
    Mutant("an option that toykit does not have", "plan-malformed", option(costs="finn")),
    Mutant("a cycle less", "wrong-cycles", one_cycle_less),
    Mutant("cycles of another folding", "wrong-cycles", slower_than_said),
    Mutant("rows of another image", "wrong-cycles", attribute("window", rows=12)),
    Mutant("tied filters differ", "toykit-tie-broken", unlike_its_tie),
    Mutant("a filter without memory of its weights", "resources-too-few", resource("sharp", "BRAM18")),
    Mutant("multiplies in no DSPs", "resources-too-few", resource("sharp", "DSP")),
    Mutant("line buffers without memory", "resources-too-few", resource("tall", "BRAM18")),
    Mutant("a mixer of nothing", "zero-resources", costs_nothing),
    Mutant("a kind of FINN's", "unknown-kind", engine("add", kind="AddStreams_hls")),
    Mutant("an engine without a size", "engine-malformed", attribute("window", taps=None)),
    Mutant("weights of other bits", "engine-malformed", engine("sharp", weight_bits=3)),
    Mutant("a sum of as many bits", "type-width-mismatch", engine("add", output_bits=8)),
    Mutant("a stream is too narrow", "wrong-stream-width", half_as_wide),
    Mutant(
        "a converter of FINN's", "converter-kind", stream("tall.0->sharp.0", converter="StreamingDataWidthConverter")
    ),
    Mutant("no converter", "converter-missing", stream("tall.0->sharp.0", converter=None, converter_module=None)),
    Mutant(
        "the short branch does not wait", "wrong-fifo-depth", stream("plain.0->add.1", fifo_depth=32, fifo_needed=0)
    ),
    Mutant("a queue in a memory that toykit has not", "wrong-fifo-style", stream("plain.0->add.1", fifo_style="ultra")),
    Mutant("a queue of no memory", "wrong-fifo-style", stream("plain.0->add.1", fifo_style="")),
    Mutant("toykit builds another folding", "toykit-build-differs", build("smooth", makers=1)),
    Mutant("toykit puts it in another slot", "toykit-build-differs", build("last", slot="fpga0.SLR3")),
    Mutant("toykit calls it by another name", "toykit-build-differs", build("last", cell="toy_0")),
    Mutant("toykit does not build an engine", "toykit-build-missing", build("fork")),
    Mutant("toykit's file is not there", "file-missing", lambda plan, files: files.update({BUILD: None})),
    Mutant("toykit's file is no JSON", "file-corrupt", lambda plan, files: files.update({BUILD: "{"})),
    Mutant("constraints of another cell", "cell-unknown", another_cell),
)
