"""A stand-in for Vivado: obeys its command line, runs scripts in a real Tcl interpreter, writes what a run writes.

Nothing is checked here (the strict model does that). ``STAND_IN`` names a JSON file: ``fail``: share of runs that go
wrong, each in one of three ways; ``seed``; ``always``: cells that never meet their clock; ``seconds`` of each
placement; ``log``: a folder that gets a file for each process.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import signal
import sys
import time
import tkinter
from pathlib import Path
from typing import Any

SAID = json.loads(Path(os.environ["STAND_IN"]).read_text())
AREA = {"Instance": "top", "Total LUTs": 900, "FFs": 1400, "RAMB36": 2, "RAMB18": 1, "URAM": 0, "DSP Blocks": 3}
ROWS = [("tableheader", AREA), ("tablecell", AREA.values())]
CELLS = ["".join(f'<{tag} contents="{cell}"/>' for cell in cells) for tag, cells in ROWS]
XML = '<?xml version="1.0"?>\n<RptDoc designstate="Routed"><section><table>{}</table></section></RptDoc>\n'.format(
    "".join(f"<tablerow>{row}</tablerow>" for row in CELLS)
)


class Vivado:
    """One process: the open design is its name, a digest of what was read, and its cells."""

    def __init__(self) -> None:
        self.tcl = tkinter.Tcl()
        self.read: list[str] = []
        self.cells: list[str] = []
        self.boxes: list[str] = []
        self.slack, self.pblock = 0.125, ""
        self.random = random.Random(f"{SAID.get('seed', 0)} {os.getpid()} {time.time_ns()}")
        for name in [name for name in dir(self) if name.startswith("do_")]:
            self.tcl.createcommand(name.removeprefix("do_"), getattr(self, name))
        for name in QUIET:
            self.tcl.createcommand(name, lambda *_: "")

    def run(self, script: str, arguments: list[str]) -> int:
        self.tcl.setvar("argv", self.tcl.call("list", *arguments))
        try:
            self.tcl.call("source", script)
        except tkinter.TclError as error:
            self.say(f"{error}\n    while executing")
            return 1
        return 0

    def say(self, text: str) -> None:
        print(text, flush=True)

    def fate(self) -> str:
        return self.random.choice(FAULTS) if self.random.random() < SAID.get("fail", 0) else ""

    def do_create_project(self, *_: str) -> str:
        if self.fate() == "licence":
            self.say("ERROR: [Common 17-345] A valid license was not found for feature 'Synthesis' and/or device.")
            raise tkinter.TclError  # whose message Tcl does not get
        self.read, self.cells, self.boxes, self.slack = [], [], [], 0.125
        return ""

    def do_read_verilog(self, *words: str) -> str:
        for path in self.tcl.splitlist(words[-1]):
            text = re.sub(r"^//.*\n", "", Path(path).read_text(), flags=re.M)
            self.read.append(hashlib.sha256(text.encode()).hexdigest())
            if Path(path).name == "top.v":
                self.boxes = [cell for _, cell in re.findall(r"^\s*(impl_\w+) (\w+) \($", text, re.M)]
        return ""

    def do_resize_pblock(self, *words: str) -> str:
        self.read.append(words[-1])
        return ""

    def do_open_checkpoint(self, path: str) -> str:
        self.read, self.cells = [Path(path).read_text()], [f"core/lut[{n}]" for n in range(3)]
        return ""

    def do_get_cells(self, *words: str) -> str:
        if "-filter" not in words:
            own = not self.boxes and words[-1] == self.pblock  # a module is no cell of its own
            return "" if own else words[-1]
        told = words[words.index("-filter") + 1]
        if "IS_BLACKBOX" in told:
            return " ".join(self.boxes)
        return "" if "BUFG" in told else " ".join(f"{{{cell}}}" for cell in self.cells)

    def do_get_property(self, name: str, *of: str) -> str:
        boxed = str(int(of[0] in self.boxes))
        return {"LOC": "SLICE_X0Y0", "IS_BLACKBOX": boxed, "SLACK": str(self.slack)}[name]

    def do_place_design(self, *_: str) -> str:
        time.sleep(SAID.get("seconds", 0))
        fate = self.fate()
        if fate == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        self.slack = -0.5 if self.pblock in SAID.get("always", ()) else -0.25 if fate == "slack" else 0.125
        return ""

    def do_create_pblock(self, name: str) -> str:
        self.pblock = name.removeprefix("pblock_")
        return ""

    def do_read_checkpoint(self, *words: str) -> str:
        cell = words[words.index("-cell") + 1]
        self.boxes.remove(cell)
        self.cells += [f"{cell}/core/lut[{n}]" for n in range(3)]
        self.read.append(hashlib.sha256(Path(words[-1]).read_bytes()).hexdigest())
        return ""

    def do_write_checkpoint(self, *words: str) -> str:
        Path(words[-1]).write_text("\n".join(self.read))
        return ""

    def do_report_utilization(self, *words: str) -> str:
        Path(words[words.index("-file") + 1]).write_text(XML)
        return ""

    def do_report_timing_summary(self, *words: str) -> str:
        Path(words[-1]).write_text("Timing\n")
        return ""

    def do_write_verilog(self, *words: str) -> str:
        return self.do_report_timing_summary(*words)

    def do_write_bitstream(self, *words: str) -> str:
        return self.do_report_timing_summary(*words)

    def do_report_route_status(self, *_: str) -> str:
        return "# of nets with routing errors.......... :           0 :"

    def do_get_ipdefs(self, *_: str) -> str:
        return "vlnv"

    def do_get_sites(self, *_: str) -> str:
        return "SLICE_X0Y0"

    def do_get_timing_paths(self, *words: str) -> str:
        return "" if "-hold" in words else "path"


FAULTS = ("licence", "killed", "slack")
QUIET = (
    "set_param",
    "set_property",
    "update_ip_catalog",
    "create_ip",
    "generate_target",
    "synth_ip",
    "synth_design",
    "close_project",
    "close_design",
    "create_clock",
    "add_cells_to_pblock",
    "set_input_delay",
    "set_output_delay",
    "opt_design",
    "phys_opt_design",
    "route_design",
    "lock_design",
    "read_xdc",
    "current_project",
    "get_ips",
    "get_pblocks",
    "get_slrs",
)


def main(words: list[str]) -> int:
    if words == ["-version"]:
        print(f"Vivado v{SAID.get('release', '2022.2')} (64-bit)\nSW Build 3671981 on Fri Oct 14 04:59:54 MDT 2022")
        return 0
    options: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        if word == "-tclargs":
            break
        assert word in ("-mode", "-source", "-nolog", "-nojournal"), word
        options[word] = "" if word.startswith("-no") else next(rest)
    assert options["-mode"] == "batch"
    if "log" in SAID:
        (Path(SAID["log"]) / str(time.time_ns())).write_text(options["-source"])
    vivado = Vivado()
    for name in ("get_ports", "get_pblocks"):
        vivado.tcl.createcommand(name, lambda *found: found[-1])
    vivado.tcl.createcommand("current_project", lambda *_: "project")
    return vivado.run(options["-source"], [*rest])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
