"""What FINN's cycles of an engine leave out: starting anew each frame, and the stages from a word in to a word out.

* A window's buffer holds no more than one window's span. The first window of the next frame waits for pixels at the
  pace of the engines before it, while the engine behind finishes its last vector and then stands still. On CNV with
  2 bits that is 13% (docs/cost-model.md).
* An MVAU_hls restarts its pipeline: 6 cycles, in three builds of small networks.

FIFOs are taken as small. ``floorflow.rates`` steps through the patterns themselves and is exact, but slow.

Stages of RTL units are counted in their sources (FINN+ 1.6.1, ``finn-rtllib``; file and signal stand beside each). What
Vitis HLS makes of a loop no source tells. RTL simulations of four builds of a small network at 100 MHz (docs/rates.md)
leave 4 cycles for an engine; a faster clock may take more.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.kinds.kind import Unit
from floorflow.backends.finn.kinds.matrix_vector import MatrixVectorUnit
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.backends.finn.kinds.window import WindowUnit
from floorflow.backends.finn.names import FinnVersion
from floorflow.dataflow.model import Engine, FoldedDataflow, Option

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


HLS_RESTART_CYCLES = 6


@dataclass(frozen=True, slots=True)
class Pace:
    """How an engine moves.

    ``first_window``: the share of a frame that a sliding window needs before its first output, else 0. ``slack``:
    cycles that the engine still works on its last input after it has taken it. ``restart``: cycles lost each frame.
    """

    cycles: int
    first_window: float = 0.0
    slack: float = 0.0
    restart: int = 0


def pace_of(unit: Unit) -> Pace:
    """Return an engine's pace; an MVAU uses a vector for several folds after it has taken it."""
    if isinstance(unit, WindowUnit):
        return Pace(unit.cycles, first_window=unit.first_window_share)
    if isinstance(unit, MatrixVectorUnit):
        slack = unit.cycles / unit.pixels - unit.width / unit.part.simd
        return Pace(unit.cycles, slack=slack, restart=HLS_RESTART_CYCLES if unit.hls else 0)
    return Pace(unit.cycles)


def expected_cycles(paces: Mapping[str, Pace], inputs: Mapping[str, Sequence[str]]) -> int:
    """Return the interval in cycles; ``inputs`` names the engines before each, and engines stand in stream order."""
    since_window: dict[str, int] = {}
    wait: dict[str, float] = {}
    interval = 0.0
    for name, own in paces.items():
        before = max((since_window[other] for other in inputs.get(name, ())), default=0)
        stall = max((wait.get(other, 0.0) for other in inputs.get(name, ())), default=0.0)
        interval = max(interval, own.cycles + own.restart + max(0.0, stall - own.slack))
        since_window[name] = own.cycles if own.first_window else max(own.cycles, before)
        if own.first_window:
            wait[name] = own.first_window * before
    return round(interval)


def expected_interval(folded: FoldedDataflow, finn: FinnVersion = "main") -> int:
    """Return the interval in cycles of a folded network."""
    engines = {engine.name: engine for engine in folded.dataflow.engines}
    inputs: dict[str, list[str]] = {name: [] for name in engines}
    for source, target in folded.dataflow.engine_pairs:
        inputs[target].append(source)
    units = {
        name: kind_of(engine.kind).unit({**engine.attributes, **folded.options[name].folding}, finn)
        for name, engine in engines.items()
    }
    return expected_cycles({name: pace_of(unit) for name, unit in units.items()}, inputs)
