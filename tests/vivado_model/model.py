"""A strict model of the Vivado commands that constrain placement, run by a real Tcl interpreter.

It refuses what Vivado refuses and also what Vivado only warns about: a constraint that matches nothing, a cell that
moves from one pblock to another, an overlap. It knows nothing of the product's own code.
"""

import tkinter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .arguments import COMMANDS, VivadoError
from .block_designs import BlockDesign
from .checkpoints import Dfx
from .design import Answer, Design, Streams
from .pblocks import check_finished
from .projects import Project
from .sites import load_sites
from .stitching import Stitching

XDC_BUILTINS = ("set", "list", "expr")
"""UG903, About XDC Constraints: the only built-in Tcl commands of an XDC file."""


class VivadoModel:
    """One open design on one device.

    Parameters
    ----------
    device_yaml
        File of ``platforms/devices``.
    cells
        Full hierarchical names; the cells above them exist too.
    existing_pblocks
        The shell's pblocks: name to ranges, in order; a range that starts with ``-`` takes sites away.
    part
        Full part name of the open design; the device's own name if None.
    streams
        Bits of the streams into and out of a cell.
    black_boxes
        Cells that hold nothing: of an IP without a netlist.
    """

    def __init__(
        self,
        device_yaml: Path,
        cells: Iterable[str],
        existing_pblocks: Mapping[str, Sequence[str]] | None = None,
        part: str | None = None,
        streams: Mapping[str, Streams] | None = None,
        black_boxes: Collection[str] = (),
    ) -> None:
        self.output: list[str] = []
        self._device_yaml = device_yaml
        self._tk: Any = tkinter.Tcl().tk
        sites = load_sites(device_yaml)
        self._design = Design(
            sites, cells, existing_pblocks or {}, part or sites.part, self._split_list, streams, black_boxes
        )
        self._tk.eval("rename ::puts ::puts_to_file")
        self._tk.createcommand("::puts", self._puts)
        self._tk.eval(Path(__file__).with_name("vivado_model.tcl").read_text(encoding="utf-8"))
        self._tk.createcommand("::vivado_model::dispatch", self._dispatch)
        for command in sorted(COMMANDS):
            self._tk.call("vivado_model::define", command)

    def add_project(self, path: Path, part: str, **states: Any) -> Project:
        """Let there be a project with a finished synthesis; hooks of its runs are sourced in this very design."""
        self._design.project = Project(path, part, self._hooked, **states)
        return self._design.project

    def add_block_design(self, block: BlockDesign) -> BlockDesign:
        """Let there be the block design that v++ has linked."""
        self._design.block = block
        return block

    def add_checkpoints(self, silent: Sequence[str] = ()) -> Dfx:
        """Let there be no design until a checkpoint is opened; ``silent`` commands run and make nothing."""
        design = self._design
        split = design.words
        design.dfx = Dfx(load_sites(self._device_yaml), design.table, split, silent)
        return design.dfx

    def add_modules(self, ips: Mapping[Path, str], **fault: Any) -> Stitching:
        """Let there be no design until one is synthesised; ``ips`` are folders with packaged IP, and its name."""
        design = self._design
        design.stitching = Stitching(load_sites(self._device_yaml), design.table, design.words, ips, fault)
        return design.stitching

    def _hooked(self, path: Path) -> None:
        failed, message, line = self._tk.splitlist(self._tk.call("vivado_model::run_tcl", str(path)))
        if int(failed):
            raise VivadoError(f"{path.name}:{line}: {message}")

    @property
    def pblocks(self) -> dict[str, dict[str, Any]]:
        """What scripts made: name -> {ranges, cells, properties, parent}; the shell's pblocks are left out."""
        return {
            name: {
                "ranges": list(pblock.ranges),
                "cells": list(pblock.cells),
                "properties": dict(pblock.properties),
                "parent": pblock.parent,
            }
            for name, pblock in self._design.table.items()
            if not pblock.existing
        }

    @property
    def slr_of(self) -> dict[str, str]:
        """The SLR of every cell that a script gave one."""
        return dict(self._design.slr_of)

    def run_xdc(self, path: Path) -> None:
        """Run a constraints file: Vivado's commands and `XDC_BUILTINS`, nothing else."""
        text = path.read_text(encoding="utf-8")
        self._finish(path, self._tk.call("vivado_model::run_xdc", text, tuple(sorted(COMMANDS)), XDC_BUILTINS))

    def run_tcl(self, path: Path, arguments: Sequence[str] = ()) -> None:
        """Source a script with the whole of Tcl; ``arguments`` are what -tclargs brings.

        With ``-unbound`` pblocks may be left without cells.
        """
        self._tk.call("set", "::argv", tuple(arguments))
        self._finish(path, self._tk.call("vivado_model::run_tcl", str(path)), whole="-unbound" not in arguments)

    def _finish(self, path: Path, outcome: Any, *, whole: bool = True) -> None:
        failed, message, line = self._tk.splitlist(outcome)
        if int(failed):
            raise VivadoError(f"{path.name}:{line}: {message}")
        if not whole:
            return
        try:
            check_finished(self._design.table, self._design.slr_of)
        except VivadoError as error:
            raise VivadoError(f"{path.name}: {error}") from error

    def _puts(self, *words: str) -> str:
        if words[0].startswith("file"):
            self._tk.call("::puts_to_file", *words)
        else:
            self.output.append(words[-1])
        return ""

    def _dispatch(self, command: str, *words: str) -> tuple[int, Answer]:
        try:
            return 1, self._design.run(command, words)
        except VivadoError as error:
            return 0, str(error)

    def _split_list(self, text: str) -> Sequence[object]:
        try:
            words: Sequence[object] = self._tk.splitlist(text)
        except tkinter.TclError as error:
            raise ValueError(str(error)) from error
        return words
