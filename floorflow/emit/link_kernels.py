"""Link kernels: what joins the streams of one card to the user side of an Aurora core, as SystemVerilog.

The modules are shipped (``rtl/``); of each kernel the top is made here, with the ports of its streams. Credits keep a
stream whose reader waits from stopping the others: a word is sent only if the receiver's FIFO has room for it.
"""

from collections.abc import Sequence
from pathlib import Path

from floorflow.assets import asset_folder
from floorflow.facts.link_kernels import (
    BEAT_CYCLES,
    ITEM_BITS,
    SEND_WORDS,
    SPARE_WORDS,
    WORD_BITS,
    LinkKernel,
    LinkStream,
)
from floorflow.technology import PACKET_WORDS

MODULES = ("pack", "unpack", "fifo", "prbs", "send", "receive", "registers")


def link_files(kernels: Sequence[LinkKernel]) -> dict[str, str]:
    """Return the sources of kernels by file names: the shipped modules, and the top of each."""
    folder = asset_folder("rtl")
    names = [f"floorflow_link_{name}.sv" for name in MODULES]
    shipped = {name: (folder / name).read_text(encoding="utf-8") for name in names}
    return shipped | {f"{kernel.name}.sv": top(kernel) for kernel in kernels}


def top(kernel: LinkKernel) -> str:
    """Return the top of a kernel: an RTL kernel of Vitis whose clocks are the network's and the link's."""
    sends, receives = kernel.sends, kernel.receives
    ports = [_axis(f"s_axis_{at}", one.bits, enters=True) for at, one in enumerate(sends)]
    ports += [_axis(f"m_axis_{at}", one.bits, enters=False) for at, one in enumerate(receives)]
    parts = [_sent(at, one) for at, one in enumerate(sends)] + [_received(at, one) for at, one in enumerate(receives)]
    # A vector has a bit at least: where no stream goes a way, nothing ever comes or is taken there.
    parts += [] if sends else ["  assign {packed_data, packed_valid} = 0;\n"]
    parts += [] if receives else ["  assign came_ready = 1;\n  assign used = 0;\n"]
    told = [f"//   s_axis_{at}: {one.name}, {one.bits} bits" for at, one in enumerate(sends)]
    told += [
        f"//   m_axis_{at}: {one.name}, {one.bits} bits, credits in {one.words}" for at, one in enumerate(receives)
    ]
    given = [f"16'd{one.words - SPARE_WORDS}" for one in reversed(sends)] or ["16'd0"]
    return _TOP.format(
        name=kernel.name,
        told="\n".join(told),
        ports="".join(ports),
        word=WORD_BITS,
        keep=WORD_BITS // 8,
        item=ITEM_BITS,
        sends=max(1, len(sends)),
        receives=max(1, len(receives)),
        credits=", ".join(given),
        most=PACKET_WORDS,
        beat=BEAT_CYCLES,
        parts="\n".join(parts),
    )


def _axis(name: str, bits: int, *, enters: bool) -> str:
    """Return the ports of a stream that enters the kernel, or leaves it."""
    there, back = ("input  wire", "output wire") if enters else ("output wire", "input  wire")
    ports = ((there, f"[{bits - 1}:0] {name}_tdata"), (there, f"{name}_tvalid"), (back, f"{name}_tready"))
    return "".join(f"    {way} {port},\n" for way, port in ports)


def _sent(at: int, one: LinkStream) -> str:
    return _SENT.format(at=at, bits=one.bits, word=WORD_BITS, item=ITEM_BITS, depth=SEND_WORDS)


def _received(at: int, one: LinkStream) -> str:
    return _RECEIVED.format(at=at, bits=one.bits, word=WORD_BITS, item=ITEM_BITS, depth=one.words)


_SENT = Path(__file__).with_name("link_sent.sv.in").read_text(encoding="utf-8")
_RECEIVED = Path(__file__).with_name("link_received.sv.in").read_text(encoding="utf-8")
_TOP = Path(__file__).with_name("link_kernel.sv.in").read_text(encoding="utf-8")
