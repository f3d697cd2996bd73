"""What a part's family offers: architecture, DSP block, UltraRAM. Told from the part's name, as FINN does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Architecture = Literal["7series", "ultrascale+", "versal"]
DspBlock = Literal["DSP48E1", "DSP48E2", "DSP58"]


@dataclass(frozen=True, slots=True)
class Technology:
    """Family facts that cost models need."""

    architecture: Architecture
    dsp_block: DspBlock
    has_uram: bool


_VERSAL = re.compile(r"xcv[cemph]\d")
_WITHOUT_URAM = re.compile(r"xczu(2|3|6|9|15)(cg|eg|ev)|xcau")
"""UltraScale+ parts without UltraRAM (AMD DS890 and DS891)."""


def technology_of(part: str) -> Technology:
    """Return the family facts of a part such as ``xczu7ev-ffvc1156-2-e`` (FINN's ``get_dsp_block``)."""
    name = part.lower()
    if _VERSAL.match(name):
        return Technology("versal", "DSP58", has_uram=True)
    if name.startswith("xc7"):
        return Technology("7series", "DSP48E1", has_uram=False)
    return Technology("ultrascale+", "DSP48E2", has_uram=_WITHOUT_URAM.match(name) is None)
