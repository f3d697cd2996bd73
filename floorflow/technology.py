"""What a part's family offers: architecture, DSP block, UltraRAM, link kernels. Told from the part's name."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from floorflow.errors import PlatformError

Architecture = Literal["7series", "ultrascale+", "versal"]
DspBlock = Literal["DSP48E1", "DSP48E2", "DSP58"]


@dataclass(frozen=True, slots=True)
class Technology:
    """Family facts that cost models need.

    ``vivado``: year and release of the tools that will build, such as (2022, 2); None if unknown.
    """

    architecture: Architecture
    dsp_block: DspBlock
    has_uram: bool
    vivado: tuple[int, int] | None = None


_VERSAL = re.compile(r"x[acq]r?v([cemph]\d|80)")
_SEVEN = re.compile(r"x[acq]7(a|k|s|v|vh|vx|z)\d")
_ULTRASCALE = re.compile(r"x[acq](au|k|ku|kur|su|u|ul|ux|vu|zu)\d")
_WITHOUT_URAM = re.compile(r"x[acq]r?(zu[12369][ce]g|au|k24|ku9p|[kv]u\d+-)")
"""UltraScale+ parts without UltraRAM (AMD DS890 and DS891), and all of UltraScale; check has them from docs/plan.md."""

FAMILIES = (
    "7 series (xc7a, xc7k, xc7s, xc7v, xc7z)",
    "UltraScale and UltraScale+ (xcku, xcvu, xcau, xczu, xck, xcu)",
    "Versal (xcvc, xcve, xcvm, xcvp, xcvh, xcv80)",
)


def require_known_family(part: str) -> None:
    """Check that a part's name belongs to a family.

    PlatformError if it does not; the message names the families.
    """
    if not any(family.match(part.lower()) for family in (_SEVEN, _ULTRASCALE, _VERSAL)):
        raise PlatformError(
            f"part '{part}' is of no known family; known are {', '.join(FAMILIES)}",
            hint="give the full name of the part, such as xczu7ev-ffvc1156-2-e",
        )


def technology_of(part: str) -> Technology:
    """Return the family facts of a part such as ``xczu7ev-ffvc1156-2-e``; other names count as UltraScale+."""
    name = part.lower()
    if _VERSAL.match(name):
        return Technology("versal", "DSP58", has_uram=True)
    if _SEVEN.match(name):
        return Technology("7series", "DSP48E1", has_uram=False)
    return Technology("ultrascale+", "DSP48E2", has_uram=_WITHOUT_URAM.match(name) is None)


LINK_KIND = "aurora-100g"
"""The kind of link with kernels of floorflow's own (docs/links.md)."""
LINK_MHZ = 300
"""Clock of a link's kernels: 512 bits carry its 100 Gb/s from 196 MHz on, whatever the network's clock."""
PACKET_WORDS = 63
"""Words of a stream between two headers."""
PIPELINE_CYCLES = 32
"""Of the link's clock, for both ways together: FIFOs from clock to clock, and registers."""
WAIT_CYCLES = 64
"""Of the network's clock: a word that is not full leaves so long after its first bytes came."""


def has_kernels(kind: str, parts: Iterable[str]) -> bool:
    """Whether there are link kernels for a kind of link between cards with these parts: Alveo's are called ``xcu``."""
    return kind == LINK_KIND and all(part.startswith("xcu") for part in parts)


def way_us(latency_us: float) -> float:
    """Return the time of a word from link kernel to link kernel: before it goes the packet that goes before its own.

    As long is a credit's, before which goes the packet that is on its way there.
    """
    return latency_us + (PACKET_WORDS + 1 + PIPELINE_CYCLES / 2) / LINK_MHZ
