"""What the judge's parts for tools of layers share: hls4ml, fpgaConvNet and f-CNN^x.

Each is a table of kinds and choices with the tool's own arithmetic; what is asked of a part, in which order, and the
files that all of them have stand here. FIFOs lie in memory that the tool chooses: block RAM of 18 Kb, or 64 bits in a
LUT. What cells are called the user tells in ``cells.json``; constraints wait for it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from floorflow.verify.back_end import Files, Row
from floorflow.verify.phase_records import ChannelRecord, PhaseRecord

BRAM_BITS, LUT_BITS = 18432, 64
CELLS_FINDINGS = {
    "cells-file-differs": "cells.json or constraints.json beside it is not of the plan's engines, modules and FPGAs",
}
Told = Mapping[str, Any]
"""Attributes, options, a folding, an entry or a channel as the plan has them."""
Problem = tuple[str, str, str]
"""A finding's name, where and what."""


@dataclass(frozen=True, slots=True)
class Network:
    """A network's part in a phase: its engines by their ids, and the folder of its files in the plan's."""

    plan: Told
    phase: PhaseRecord
    rows: Mapping[str, Row]
    folder: Files
    place: str

    def json(self, name: str) -> tuple[dict[str, Any] | None, str]:
        """Return a file's object, None after reporting why not, and its path for messages."""
        return self.folder.json(f"{self.place}/{name}"), self.folder.path(f"{self.place}/{name}")


class LayeredJudge:
    """A tool's part of the judge, as `floorflow.verify.back_end.Judge` asks for it.

    ``folder`` holds the tool's files, ``title`` is what messages call it; ``kinds`` are those of its engines, and
    ``choices`` the values of its options.
    """

    folder: str
    title: str
    kinds: Collection[str]
    choices: Mapping[str, tuple[str, ...]]
    findings: Mapping[str, str]
    names_are_read = True

    # what each tool answers by its own rules

    def malformed(self, entry: Told) -> str:
        """Return what is wrong with an engine's attributes, or nothing."""
        raise NotImplementedError

    def illegal(self, row: Row, context: Told) -> Iterable[str]:
        """Yield what is wrong with the folding of an engine whose attributes are right."""
        raise NotImplementedError

    def facts(self, row: Row, context: Told) -> Told:
        """Return what follows from the attributes and folding of an engine that is right."""
        raise NotImplementedError

    def network_files(self, network: Network) -> Iterator[Problem]:
        """Yield what is wrong with the files of a network's part in a phase."""
        raise NotImplementedError

    def converter(self, narrow_bits: int, wide_bits: int) -> tuple[str, list[str]]:
        """Return the kind of the converter between two widths, and why it cannot be made."""
        raise NotImplementedError

    # what all answer alike

    def option_objections(self, options: Told) -> Iterator[str]:
        """Yield what is wrong with the tool's own options of a plan."""
        for name, allowed in self.choices.items():
            if options.get(name) not in allowed:
                several = f"{', '.join(allowed[:-1])} or {allowed[-1]}"
                yield f"{name} is {options.get(name)!r:.60}, expected {several}"

    def may_cost_nothing(self, options: Told) -> bool:  # noqa: ARG002
        """Return False: nothing is free."""
        return False

    def engine(self, row: Row, context: Told) -> dict[str, Any] | None:
        """Return what follows from a layer's attributes and folding; None for a kind that is none."""
        if row["entry"]["kind"] not in self.kinds:
            return None
        wrong = self.malformed(row["entry"])
        if wrong:
            return {"objections": [("engine-malformed", wrong)]}
        illegal = [("illegal-folding", message) for message in self.illegal(row, context)]
        return {"objections": illegal, **({} if illegal else self.facts(row, context))}

    def joined(self, source: Row, target: Row, context: Told) -> dict[str, Any]:  # noqa: ARG002
        """Return nothing: what two layers have to agree on is what their ports carry."""
        return {}

    def fifo(self, channel: ChannelRecord, part: str, context: Told) -> Iterator[str]:  # noqa: ARG002
        """Yield what is wrong with a FIFO: a style, or too little room for its words."""
        if channel["fifo_style"]:
            yield f"a FIFO is in {channel['fifo_style']!r:.60}, and {self.title} gives no choice"
        use, bits = channel["fifo_resources"], channel["fifo_depth"] * channel["width_bits"]
        if bits > use["BRAM18"] * BRAM_BITS + use["LUT"] * LUT_BITS:
            yield f"{bits} bits do not fit {use['BRAM18']} BRAM18 and {use['LUT']} LUTs"

    def files(
        self, plan: Told, phase: PhaseRecord, folder: Files, context: Told
    ) -> tuple[list[Problem], dict[str, str]]:
        """Judge the tool's files and the table of cells; what cells are called the user tells."""
        return [*self._cells(phase, folder), *self._of_networks(plan, phase, folder, context)], {}

    def unplaced_files(self, phase: PhaseRecord, folder: Files, clock_mhz: float, context: Told) -> list[Problem]:
        """Judge the tool's files of a part of a network that is placed nowhere."""
        return list(self._of_networks({"summary": {"clock_mhz": clock_mhz}}, phase, folder, context))

    def reads_memory(self, row: Row) -> bool:  # noqa: ARG002
        """Return True: a cell's ports are its FIFOs' and memories', which the plan has no names for."""
        return True

    def _of_networks(self, plan: Told, phase: PhaseRecord, folder: Files, context: Told) -> Iterator[Problem]:
        for run in phase["networks"]:
            place = f"{self.folder}/{run['network']}" if context["several_networks"] else self.folder
            rows = {name: row for name, row in context["engines"].items() if row["network"] == run["network"]}
            yield from self.network_files(Network(plan, phase, rows, folder, place))

    def _cells(self, phase: PhaseRecord, folder: Files) -> Iterator[Problem]:
        name = f"{self.folder}/cells.json"
        content, where = folder.json(name), folder.path(name)
        wanted = {engine: module["name"] for module in phase["modules"] for engine in module["engines"]}
        if content is not None:
            found = {e: row.get("module") if isinstance(row, dict) else None for e, row in content.items()}
            for engine in sorted({*wanted} ^ {*found}):
                yield "cells-file-differs", where, f"{engine} is in one of plan and file only"
            for engine in sorted(e for e in wanted if e in found and found[e] != wanted[e]):
                told = f"{engine} is in module {found[engine]!r:.60}, planned {wanted[engine]}"
                yield "cells-file-differs", where, told
        name = f"{self.folder}/constraints.json"
        texts = folder.json(name)
        if texts is not None and {*texts} != {*phase["floorplan"]}:
            planned = sorted(phase["floorplan"])
            yield "cells-file-differs", folder.path(name), f"is of {sorted(texts)}, planned {planned}"


def is_positive(value: object) -> bool:
    """Whether a value is an integer of 1 or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def wrong_sizes(has: Told, names: Iterable[str]) -> str:
    """Return which attribute is no integer of 1 or more, or nothing."""
    wrong = next((name for name in names if not is_positive(has.get(name))), None)
    return "" if wrong is None else f"{wrong} is {has.get(wrong)!r:.60}, expected an integer of 1 or more"


def wrong_windows(pads: object, axes: Mapping[str, tuple[int, int, int, int]]) -> str:
    """Return what is wrong with padding and windows; by name of each size out: size in, out, kernel and stride."""
    if not isinstance(pads, list) or len(pads) != 4 or not all(isinstance(p, int) and p >= 0 for p in pads):
        return f"pads is {pads!r:.60}, expected top, left, bottom and right"
    for number, (name, (size, made, kernel, stride)) in enumerate(axes.items()):
        windows = (size + pads[number] + pads[number + 2] - kernel) // stride + 1
        if not windows <= made <= windows + 1:  # pools may round up
            return f"{name} is {made}, {windows} windows fit"
    return ""


def first_window(size: tuple[int, int], kernel: tuple[int, int], pads: Sequence[int]) -> Fraction:
    """Return the share of a frame, of rows and columns, with which the first window is whole."""
    rows, columns = (min(max(k - pad, 1), most) for k, pad, most in zip(kernel, pads[:2], size, strict=True))
    return Fraction((rows - 1) * size[1] + columns, size[0] * size[1])


def port(parallel: int, bits: int, elements: int, last_dimension: int) -> dict[str, Any]:
    """Return a stream at an engine; its data type is not stated."""
    sizes = {"parallel": parallel, "element_bits": bits, "elements": elements, "last_dimension": last_dimension}
    return {**sizes, "type": None}
