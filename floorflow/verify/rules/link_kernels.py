"""Link kernels: which streams each has, the room that one end gives and the other counts on, and each card's lines."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

from floorflow.verify.facts import PhaseFacts, padded
from floorflow.verify.files import Folder, PhaseFolder, shipped_file
from floorflow.verify.hardware.routes import KERNEL_CYCLES, KERNEL_HZ, has_kernels
from floorflow.verify.phase_records import ChannelRecord
from floorflow.verify.plan_records import PlanRecord
from floorflow.verify.records import is_unbuilt
from floorflow.verify.rules.card_links import kernel_faults
from floorflow.verify.rules.emitted import phase_prefix
from floorflow.verify.rules.topology import cables, streams_over_links

NAME, CHARGED = "links-differ", "wrong-link-kernels"
LINK_HZ, WORD_BITS, UNCOUNTED = KERNEL_HZ, 512, 8
MOST_STREAMS = 29
"""Of links: their kernels' clock, bits of a word, and words of a FIFO that no credit is given for; and
streams of a direction, of which a header has 16 bits each beside 48 of its own."""
MODULES = ("pack", "unpack", "fifo", "prbs", "send", "receive", "registers")
_FIFO_IN = re.compile(r"floorflow_link_fifo #\(\.BITS\(\d+\), \.DEPTH\((\d+)\), \.MEMORY\(\"block\"\)\) fifo_in_(\d+)")
_WIDTH = re.compile(r"floorflow_link_(?:un)?pack #\(\.BITS\((\d+)\), \.WORD\(512\)\) (pack|unpack)_(\d+)")
_ROOM = re.compile(r"\.ROOM\(\{([^}]*)\}\)")


@dataclass(frozen=True)
class _Kernel:
    """What the top of a kernel says: bits of each port, words of its FIFOs to receive and of those at the other end."""

    bits: dict[tuple[str, int], int]
    depths: list[int]
    credits: list[int]


def check_link_kernels(folder: Folder, plan: PlanRecord, phase: PhaseFacts) -> None:
    """Judge the files of link kernels where the tool joins no cards, and that there are none elsewhere."""
    files = PhaseFolder(folder, phase.findings, phase_prefix(plan, phase))
    streams = streams_over_links(phase)
    joined = cables(phase, streams)
    unbuilt = is_unbuilt(plan["warnings"])
    own = bool(joined) and all(has_kernels(cable["kind"], phase.fpgas.values()) for cable in joined)
    most = max(Counter((row["source"], row["target"]) for row in streams).values(), default=0)
    if not (unbuilt and own and most <= MOST_STREAMS):
        for fpga in phase.fpgas:
            if files.exists(f"{fpga}/links.cfg"):
                phase.add(NAME, files.path(f"{fpga}/links.cfg"), "there are no link kernels to join")
        return
    for module in MODULES:
        name = f"floorflow_link_{module}.sv"
        text, shipped = files.text(f"links/{name}"), shipped_file("rtl", name)
        if text is not None and shipped is not None and text != shipped.read_text(encoding="utf-8"):
            phase.add("shipped-file-differs", files.path(f"links/{name}"), "floorflow ships another file of this name")
    for fpga in dict.fromkeys(end["card"] for cable in joined for end in cable["ends"]):
        ends = list(_joined(phase, fpga, joined, streams))
        _check_config(files, phase, fpga, [*_of_card(fpga, joined)], ends)
    for cable in joined:
        _check_cable(files, phase, cable, streams)


def check_charged(phase: PhaseFacts) -> None:
    """Judge the kernels that a phase counts: all at the ends of its cables where the tool has no links of its own."""
    of_a_cable = None if phase.back_end is None else phase.back_end.streams_a_cable(phase.where)
    streams = streams_over_links(phase)
    wanted = {
        _name(end): _charged(end, cable, streams)
        for cable in (cables(phase, streams) if of_a_cable is None else [])
        for end in cable["ends"]
        if has_kernels(cable["kind"], phase.fpgas.values())
    }
    stated = {kernel["name"]: kernel for kernel in phase.raw.get("link_kernels", [])}
    where = f"{phase.where}.link_kernels"
    if len(stated) != len(phase.raw.get("link_kernels", [])):
        phase.add(CHARGED, where, "a kernel is listed twice")
    phase.expect(CHARGED, where, "kernels", sorted(stated), sorted(wanted))
    for name in sorted({*stated} & {*wanted}):
        phase.compare(CHARGED, f"{where} {name}", {**stated[name]}, wanted[name])


def _charged(end: dict[str, Any], cable: dict[str, Any], streams: list[dict[str, Any]]) -> dict[str, object]:
    """Return what a kernel at the end of a cable is to be: its slot, its streams, and what it takes."""
    over = [row for row in streams if row["link"] == cable["link"]]
    sends, receives = ([row for row in over if row[side] == end["card"]] for side in ("source", "target"))
    deep = [receive_depth(row, cable) for row in receives]
    flops = 457 + (518 if sends else 0) + sum(1138 + _held(row) - WORD_BITS for row in over)
    luts = (
        600 + (500 if sends else 0) + 592 * len(sends) + sum(60 + ceil(_luts_a_bit(row) * _held(row)) for row in over)
    )
    blocks = sum(16 if words == 512 else 30 * (words // 1024) for words in deep)
    return {
        "slot": end["slot"],
        "sends": [row["channel"] for row in sends],
        "receives": [row["channel"] for row in receives],
        "resources": {"LUT": luts, "FF": flops, "BRAM18": blocks, "URAM": 0, "DSP": 0},
    }


def receive_depth(row: dict[str, Any], cable: dict[str, Any]) -> int:
    """Return how deep the FIFO at the end of a cable is: a header's word and its data's each way, and the clocks."""
    round_trip_us = 2 * (cable["latency_us"] + KERNEL_CYCLES * 1e6 / LINK_HZ)
    words = (row["gbps"] or 0) * 1000 / WORD_BITS * round_trip_us
    depth = 512
    while depth < min(ceil(words) + UNCOUNTED, 16384):
        depth *= 2
    return depth


def _unit(row: dict[str, Any]) -> int:
    """Return the largest power of two that divides a stream's width, at most a word."""
    return next(unit for unit in (512, 256, 128, 64, 32, 16, 8) if padded(row["bits"]) % unit == 0)


def _held(row: dict[str, Any]) -> int:
    return WORD_BITS + padded(row["bits"]) - _unit(row)


def _luts_a_bit(row: dict[str, Any]) -> float:
    """Return LUTs for each bit held: more where words lie at any byte of a link's word."""
    return 1.2 if _unit(row) in (WORD_BITS, padded(row["bits"])) else 3.2


def _check_config(
    files: PhaseFolder, phase: PhaseFacts, fpga: str, of_links: list[str], ends: list[tuple[ChannelRecord, str, str]]
) -> None:
    """Judge that a card's configuration has the lines that it is to have, each once, and no other."""
    text = files.text(f"{fpga}/links.cfg")
    if text is None:
        return
    stated = [line for line in text.splitlines() if "=" in line and not line.startswith("#")]
    if of_links[0] not in stated:
        for told in kernel_faults(phase, fpga, stated, of_links[1:], ends):
            phase.add(NAME, files.path(f"{fpga}/links.cfg"), f"{told:.160}")
        return
    wanted = [*of_links, *(f"sc={come}:{go}" for _, come, go in ends)]
    differing = sorted({*stated} ^ {*wanted}) or [line for line in stated if stated.count(line) > 1]
    if differing:
        phase.add(NAME, files.path(f"{fpga}/links.cfg"), f"missing or not the plan's: {differing[0]:.120}")


def _check_cable(files: PhaseFolder, phase: PhaseFacts, cable: dict[str, Any], streams: list[dict[str, Any]]) -> None:
    """Judge the kernels at both ends of a cable against its streams and against one another."""
    kernels = [_read(files, end) for end in cable["ends"]]
    for source, target in ((0, 1), (1, 0)):
        ends = [cable["ends"][source], cable["ends"][target]]
        over = [row for row in streams if [row["source"], row["target"]] == [end["card"] for end in ends]]
        sends, receives = kernels[source], kernels[target]
        if sends is not None and receives is not None:
            for told in _wrong(cable, over, sends, receives):
                phase.add(NAME, files.path(f"links/{_name(ends[0])}.sv"), told)


def _wrong(cable: dict[str, Any], over: list[dict[str, Any]], sends: _Kernel, receives: _Kernel) -> Iterator[str]:
    """Yield what is wrong with the streams of one direction of a cable."""
    bits = [padded(row["bits"]) for row in over]
    for what, kernel in (("pack", sends), ("unpack", receives)):
        found = [kernel.bits.get((what, at), 0) for at in range(len(bits))]
        if found != bits or sum(one == what for one, _ in kernel.bits) != len(bits):
            yield f"{what} has streams of {found} bits, the plan of {bits}"
    if len(receives.depths) != len(over) or sends.credits != [depth - UNCOUNTED for depth in receives.depths]:
        yield f"counts on room for {sends.credits} words, and the other end has FIFOs of {receives.depths}"
        return
    for row, room in zip(over, sends.credits, strict=True):
        words = (row["gbps"] or 0) * 1000 / WORD_BITS * 2 * cable["latency_us"]
        if room < words:
            yield f"{row['channel']} has credits for {room} words, and {words:.0f} are under way at its rate"


def _read(files: PhaseFolder, end: dict[str, Any]) -> _Kernel | None:
    text = files.text(f"links/{_name(end)}.sv")
    if text is None:
        return None
    bits = {(what, int(at)): int(width) for width, what, at in _WIDTH.findall(text)}
    depths = {int(at): int(depth) for depth, at in _FIFO_IN.findall(text)}
    room = _ROOM.search(text)
    given = [int(one) for one in re.findall(r"16'd(\d+)", room[1])][::-1] if room else []
    sends = sum(what == "pack" for what, _ in bits)
    return _Kernel(bits, [depths[at] for at in sorted(depths)], given if sends else [])


def _name(end: dict[str, Any]) -> str:
    return f"floorflow_link_{end['card']}_{end['cage']}"


def _of_card(fpga: str, joined: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a card's kernels and cages."""
    yield f"nk=part_{fpga}:1:part_0"
    for end in (end for cable in joined for end in cable["ends"] if end["card"] == fpga):
        cage, slr = end["cage"], re.search(r"SLR\d+", end["slot"])
        core = f"aurora_flow_{cage}"
        yield from (f"nk={_name(end)}:1:link_{cage}", f"nk={core}:1:{core}")
        yield from (f"sc=link_{cage}.link_tx:{core}.tx_axis", f"sc={core}.rx_axis:link_{cage}.link_rx")
        yield from (f"slr={unit}:{slr[0] if slr else ''}" for unit in (f"link_{cage}", core))
        yield f"connect=io_clk_qsfp{cage}_refclkb_00:{core}/gt_refclk_{cage}"
        yield f"connect={core}/gt_port:io_gt_qsfp{cage}_00"
        yield f"connect={core}/init_clk:ii_level0_wire/ulp_m_aclk_freerun_ref_00"
        yield f"freqHz={LINK_HZ}:link_{cage}.ap_clk_2,{core}.ap_clk"


def _joined(
    phase: PhaseFacts, fpga: str, joined: list[dict[str, Any]], streams: list[dict[str, Any]]
) -> Iterator[tuple[ChannelRecord, str, str]]:
    """Yield a card's streams over links with both ends: from part to link, from link to part, or past the card."""
    cage_of = {cable["link"]: end["cage"] for cable in joined for end in cable["ends"] if end["card"] == fpga}
    ports: dict[tuple[str, str], str] = {}
    places: dict[tuple[str, str], int] = {}
    for row in streams:
        pair = (row["source"], row["target"])
        places[pair] = places.get(pair, -1) + 1
        for side, letter in (("source", "s"), ("target", "m")):
            if row[side] == fpga:
                ports[letter, row["channel"]] = f"link_{cage_of.get(row['link'])}.{letter}_axis_{places[pair]}"
    entered = left = 0
    for channel in phase.channels:
        name, home = channel["name"], []
        for end in (channel["source"], channel["target"]):
            slot = phase.slot_of_module(phase.module_of.get(end))
            home.append(slot is not None and slot.fpga == fpga)
        come, go = ports.get(("m", name)), ports.get(("s", name))
        if home == [True, False]:
            come, left = f"part_0.m_axis_{left}", left + 1
        if home == [False, True]:
            go, entered = f"part_0.s_axis_{entered}", entered + 1
        if come is not None and go is not None:
            yield channel, come, go
