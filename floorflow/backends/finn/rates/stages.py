"""How long a word takes through FINN's engines: registers from its reading to the port that writes what comes of it.

The RTL units are counted in their sources (FINN+ 1.6.1, ``finn-rtllib``; file and signal stand beside each). What Vitis
HLS makes of a loop no source tells. RTL simulations of four builds of a small network at 100 MHz (docs/rates.md) leave
4 cycles for an engine; a faster clock may take more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from floorflow.backends.finn.attributes import Reader
from floorflow.dataflow.model import Engine, Option

HLS_STAGES, RTL_STAGES = 4, 2
"""Stages of an HLS engine, and of an RTL engine whose source was not looked at."""


def _thresholding(reader: Reader) -> int:
    """Return one or two stages a bit of the result, and two of the queue behind (thresholding.sv: M, ADat, BDat)."""
    bits = max(1, reader.integer("numSteps", 1).bit_length())
    return bits * (1 + reader.integer("deep_pipeline", 1)) + 2


def _rtl_products(reader: Reader) -> int:
    """Return the stages of DSP blocks and adders, of the queue behind, and of what replays a vector for several folds.

    mvu.sv: PIPELINE_DEPTH; mvu_vvu_axi.sv: OBuf, OReg; replay_buffer.sv: Mem, ODat. With DSP58 it may be fewer.
    """
    simd = reader.integer("SIMD")
    adders = (simd - 1).bit_length() + (simd == 1) + 1
    replayed = reader.has("MH") and reader.integer("MH") > reader.integer("PE")
    return 3 + adders + 2 + (2 if replayed else 0)


def _window(reader: Reader) -> int:
    """Return the write and read of the buffer (swg_template_default.sv), or one shift (swg_template_parallel.sv)."""
    return 1 if reader.integer("parallel_window", 0) else 2


def _label_select(reader: Reader) -> int:
    """Return those of HLS and what comparing PE values one after another adds: 3 cycles for PE = 5 in two builds."""
    return HLS_STAGES + -(-3 * (reader.integer("PE", 1) - 1) // 4)


def _fixed(stages: int) -> Callable[[Reader], int]:
    return lambda _: stages


_STAGES: Mapping[str, Callable[[Reader], int]] = MappingProxyType(
    {
        "Thresholding_rtl": _thresholding,
        "MVAU_rtl": _rtl_products,
        "VVAU_rtl": _rtl_products,
        "ConvolutionInputGenerator_rtl": _window,
        "LabelSelect_hls": _label_select,
        # One register (fmpadding.sv: B), and wires alone (dwc_axi.sv between equal widths).
        "FMPadding_rtl": _fixed(1),
        "Reshape_rtl": _fixed(0),
    }
)


def stages(engine: Engine, option: Option) -> int:
    """Return the pipeline stages of a folded engine."""
    counted = _STAGES.get(engine.kind, _fixed(HLS_STAGES if engine.kind.endswith("_hls") else RTL_STAGES))
    return counted(Reader(engine.kind, {**engine.attributes, **option.folding}))
