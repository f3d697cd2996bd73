"""What a stream FIFO costs: FINN main's and dev's formulas, FINN+'s fit of its `fifo.sv`, and shift registers as built.

The fit was made by FINN+'s authors on out-of-context Vivado runs: tiles exact, LUTs within a few percent. It
counts no flip-flops; here they are one a bit and the address counters. No build of `fifo.sv` was at hand. The FIFOs of
both origins that were measured are `Q_srl.v`: by its structure floorflow's own models price those of shift registers.
"""

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import ceil, log
from typing import Literal

from floorflow.backends.finn.cost.calibrated import coefficients
from floorflow.backends.finn.cost.estimated import Coefficients, rounded
from floorflow.backends.finn.cost.memory import BLOCK_SHAPES, ceil_divide, clog2, finn_weight_bram18, uram_blocks
from floorflow.backends.finn.kinds.kind import CostModel
from floorflow.backends.finn.names import FinnVersion
from floorflow.backends.finn.tool_depths import LARGEST_RTL, LARGEST_VIVADO, split
from floorflow.dataflow.fifo import FifoChoice
from floorflow.resources import Resources, total
from floorflow.technology import Technology

Style = Literal["auto", "srl", "distributed", "block", "ultra"]
STYLES: tuple[Style, ...] = ("auto", "srl", "distributed", "block", "ultra")
CHOSEN_STYLES: tuple[Style, ...] = ("distributed", "block", "ultra")
"""Memories that a FIFO may be asked to be in."""
XPM_CONTROL = (43, 57)
"""LUT and FF of AMD's FIFO beside its memory: 28 to 47 and 53 to 65 in six of 4 to 216 bits (FINN v0.10)."""
SHIFT_REGISTER_WORDS = 33
"""Depth up to which FINN+ builds shift registers, whatever is asked for."""


@dataclass(frozen=True, slots=True)
class FifoEstimate:
    """Memory style of a FIFO and what it costs."""

    style: Style
    lut: int = 0
    bram18: int = 0
    uram: int = 0


@dataclass(frozen=True, slots=True)
class _Spaces:
    """A deep memory as one space of 2**low rows and, if that saves enough, another of 2**high rows (else None)."""

    low: int
    high: int | None

    def high_is_ram(self, width_bits: int) -> bool:
        """Whether the upper space is worth block memory."""
        return self.high is not None and (width_bits << 2 * self.high) >= 1 << 20

    def select_luts(self, width_bits: int) -> int:
        """LUTs that choose between the spaces."""
        return 0 if self.high is None else 18 + 3 * width_bits // 7


def fifo_resources(
    width_bits: int, depth: int, technology: Technology, model: CostModel, finn: FinnVersion = "main"
) -> Resources:
    """Price a FIFO of ``depth`` words (at least 2) of ``width_bits``.

    ``finn``: that FINN's StreamingFIFO_rtl as it is by default. ``estimated``: FINN+'s automatic choice; UltraRAM
    becomes block RAM on parts without it.
    """
    depth = max(depth, 2)
    versal = technology.architecture == "versal"
    if model == "finn" and finn == "plus":
        told = fifo_estimate(width_bits, depth, versal=versal)
        return Resources(lut=told.lut, bram18=told.bram18, uram=told.uram)
    if model == "finn":
        return finn_fifo(width_bits, depth, "auto", vivado=False, finn=finn)
    return own_fifo(width_bits, depth, technology, coefficients(model), finn=finn)


@lru_cache(maxsize=1 << 16)
def fifo_choices(
    width_bits: int, depth: int, technology: Technology, model: CostModel, finn: FinnVersion = "main"
) -> tuple[FifoChoice, ...]:
    """Return the memories of a FIFO that the depth leaves, first the one of `fifo_resources`.

    Up to 33 words there are only shift registers, and main's and dev's own formulas know one FIFO: ``auto``.
    """
    automatic = fifo_resources(width_bits, depth, technology, model, finn)
    if depth <= SHIFT_REGISTER_WORDS or (model == "finn" and finn != "plus"):
        return (FifoChoice("auto", automatic),)
    literal = model == "finn"
    first = fifo_style(width_bits, depth)
    if first == "ultra" and not (technology.has_uram or literal):
        first = "block"
    others = [s for s in CHOSEN_STYLES if s != first and (s != "ultra" or technology.has_uram)]
    prices = [(s, _styled(width_bits, depth, s, technology, model, finn=finn)) for s in others]
    return (FifoChoice(first, automatic), *(FifoChoice(*each) for each in prices))


@lru_cache(maxsize=1 << 16)
def tool_fifo(
    width_bits: int,
    depth: int,
    technology: Technology,
    model: CostModel,
    finn: FinnVersion = "main",
    *,
    at_end: bool = False,
) -> FifoChoice:
    """Return the FIFO that FINN makes of a depth that its own sizing sets.

    FINN+ leaves the memory to `fifo.sv`. Main and dev build shift registers up to 256 words, and beyond AMD's FIFO of a
    power of two of words in block RAM (``ram_style`` auto, which is never UltraRAM); beyond 32,768 words several. At an
    end of the network, ``at_end``, they build shift registers however deep it is (3,072 words of 8 bits took 768 SRL).
    """
    if finn == "plus" or model == "finn":
        return fifo_choices(width_bits, depth, technology, model, finn)[0]
    prices = coefficients(model)
    if at_end and depth > SHIFT_REGISTER_WORDS:
        return FifoChoice("srl", own_fifo(width_bits, depth, technology, prices, "srl", finn="main"))

    def priced(words: int) -> Resources:
        style: Style = "srl" if words <= LARGEST_RTL else "block"
        return own_fifo(width_bits, max(words, 2), technology, prices, style, finn="main")

    pieces = split(depth) if depth > LARGEST_VIVADO else (depth,)
    style = "block" if depth > LARGEST_RTL else "auto" if depth <= SHIFT_REGISTER_WORDS else "srl"
    return FifoChoice(style, total(priced(words) for words in pieces))


def _styled(
    width_bits: int, depth: int, style: Style, technology: Technology, model: CostModel, *, finn: FinnVersion
) -> Resources:
    if model != "finn":
        return own_fifo(width_bits, depth, technology, coefficients(model), style, finn=finn)
    told = fifo_estimate(width_bits, depth, style, versal=technology.architecture == "versal")
    return Resources(lut=told.lut, bram18=told.bram18, uram=told.uram)


def own_fifo(
    width_bits: int,
    depth: int,
    technology: Technology,
    prices: Coefficients,
    requested: Style = "auto",
    *,
    finn: FinnVersion = "plus",
) -> Resources:
    """Price a FIFO by one of floorflow's own models; ``requested`` memory holds where the depth leaves a choice.

    Memories of FINN main and dev are AMD's FIFO, of a power of two in depth, whose control is the same at any width.
    """
    style = fifo_style(width_bits, depth, requested)
    if style == "srl":
        return _shift_registers(width_bits, depth, prices)
    if style == "ultra" and not technology.has_uram:
        style = "block"
    if finn != "plus" and style != "distributed":
        rows, width = 1 << clog2(depth), padded_bits(width_bits)
        if style == "ultra":
            return Resources(*XPM_CONTROL, uram=uram_blocks(width, rows))
        return Resources(*XPM_CONTROL, bram18=_block_plan(rows, width, technology.architecture == "versal")[0])
    estimate = fifo_estimate(width_bits, depth, style, versal=technology.architecture == "versal")
    counters = (4 if estimate.bram18 or estimate.uram else 2) * (clog2(depth + 1) + 1)
    flip_flops = prices.fifo_ff_per_bit * padded_bits(width_bits) + counters
    return rounded(prices.fifo_lut_share * estimate.lut, flip_flops, bram18=estimate.bram18, uram=estimate.uram)


def _shift_registers(width_bits: int, depth: int, prices: Coefficients) -> Resources:
    """Price `Q_srl.v`: a LUT for each 32 words of a bit, one that chooses what leaves, and the counter.

    Two words are two registers and what chooses between them. With shares of 1, LUT and FF of pynq-labs' FIFOs of 2
    words come out exactly, those of 32 words within 2, and the 245 of metafi within 1 and 4% in all.
    """
    counter = clog2(depth + 1) + 1
    if depth <= 2:
        return rounded(prices.fifo_lut_share * (width_bits + 4), prices.fifo_ff_per_bit * 2 * width_bits + 4)
    words = max(1, ceil_divide(depth - 1, 32))
    luts = width_bits * (words + 1) + 4 * counter - 7
    return rounded(prices.fifo_lut_share * luts, prices.fifo_ff_per_bit * width_bits + counter + 3)


def finn_fifo(width_bits: int, depth: int, ram_style: Style, *, vivado: bool, finn: FinnVersion) -> Resources:
    """Return the estimate of FINN main or dev.

    Main: shift registers, two bits a LUT, or with ``vivado`` the memory that is asked for and ``auto`` for nothing.
    Dev compares a flag with a name (73ba5ed): every FIFO counts in block RAM and again in UltraRAM.
    """
    if vivado:
        depth = 1 << clog2(depth)
    address_luts = 2 * ceil(log(depth, 2))
    blocks, ultra = finn_weight_bram18(width_bits, depth), uram_blocks(width_bits, depth)
    if finn == "dev":
        return Resources(lut=address_luts, bram18=blocks, uram=ultra)
    if not vivado or ram_style == "distributed":
        return Resources(lut=address_luts + ceil_divide(depth, 32) * ceil_divide(width_bits, 2))
    return Resources(
        lut=address_luts,
        bram18=blocks if ram_style == "block" else 0,
        uram=ultra if ram_style == "ultra" else 0,
    )


def padded_bits(width_bits: int) -> int:
    """Round a stream's width up to whole bytes, as AXI-Stream wires are."""
    return ceil_divide(width_bits, 8) * 8


def fifo_style(width_bits: int, depth: int, requested: Style = "auto") -> Style:
    """Return the memory style that FINN+ 1.6.1 expects; its cliffs are at 33, 64, 257 and 2028 words."""
    width = padded_bits(width_bits)
    if depth <= SHIFT_REGISTER_WORDS:
        return "srl"
    if requested != "auto":
        return requested
    if depth <= 64 and width < 12:
        return "srl"
    if depth <= 257 or width < 5:
        return "distributed"
    return "block" if depth <= 2028 else "ultra"


def fifo_estimate(width_bits: int, depth: int, requested: Style = "auto", *, versal: bool = False) -> FifoEstimate:
    """FINN+ 1.6.1's estimate (`StreamingFIFO_rtl.node_res_estimation`); less than 2 words cost nothing."""
    width = padded_bits(width_bits)
    style = fifo_style(width, depth, requested)
    if depth < 2:
        return FifoEstimate(style)
    counter = clog2(depth + 1) + 1
    if style == "srl":
        return FifoEstimate(style, lut=_srl_luts(width, depth, counter, versal))
    if style == "distributed":
        rows = 1 << clog2(depth - 1)
        return FifoEstimate(style, lut=_lutram(rows, width) + rows // 128 * (width // 2) + 8 * counter - 15)
    if style == "block":
        return _block(width, depth, versal)
    return _ultra(width, depth, counter, versal)


def _srl_luts(width: int, depth: int, counter: int, versal: bool) -> int:
    registers = max(1, ceil_divide(depth - 1, 32))
    mux = 0
    if versal and registers == 2:
        mux = ceil_divide(width, 2) - 2
    elif versal and registers > 2:
        mux = width * ceil_divide(registers - 1, 3) - 2
    return registers * width + 5 * counter - 7 + mux


def _lutram(rows: int, width: int) -> int:
    return ceil_divide(rows, 32) * ceil_divide(width, 2) * 5 // 4


def _spaces(depth: int, registers: int, least: int) -> _Spaces:
    words = max(depth - registers - 1, 1)
    low = clog2(words)
    if low > least:
        high = clog2(words - (1 << low - 1))
        if high < low - 1:
            return _Spaces(low - 1, max(high, 1))
    return _Spaces(low, None)


def _block(width: int, depth: int, versal: bool) -> FifoEstimate:
    spaces = _spaces(depth, registers=0, least=9)
    tiles, groups = _block_plan(1 << spaces.low, width, versal)
    lut = 54 + spaces.select_luts(width)
    if spaces.high is not None:
        rows = 1 << spaces.high
        if spaces.high_is_ram(width):
            more, more_groups = _block_plan(rows, width, versal)
            tiles, groups = tiles + more, max(groups, more_groups)
        else:
            lut += _lutram(rows, width)
    return FifoEstimate("block", lut=lut + 3 * groups + 2 * tiles // 5, bram18=tiles)


def _ultra(width: int, depth: int, counter: int, versal: bool) -> FifoEstimate:
    spaces = _spaces(depth, registers=16, least=12)
    tiles, groups = _ultra_plan(1 << spaces.low, width, versal)
    lut = 6 * counter + spaces.select_luts(width) + max(1, groups // 4 - 2) * width + (20 if versal else 0)
    low_part = FifoEstimate("ultra", lut=lut, uram=tiles)
    if spaces.high is None:
        return low_part
    rows = 1 << spaces.high
    if not spaces.high_is_ram(width):
        return replace(low_part, lut=lut + _lutram(rows, width) + width)
    ultra, block = _ultra_plan(rows, width, versal)[0], _block_plan(rows, width, versal)[0]
    if spaces.high >= 12 or block >= 7 * ultra:
        return replace(low_part, uram=tiles + ultra)
    return replace(low_part, bram18=block)


def _ultra_plan(rows: int, width: int, versal: bool) -> tuple[int, int]:
    """URAM tiles and groups of rows."""
    shapes = ((9, 32768), (18, 16384), (36, 8192), (72, 4096)) if versal else ((72, 4096),)
    wide, deep = next((shape for shape in shapes if shape[0] >= width), (72, 4096))
    groups = ceil_divide(rows, deep)
    return groups * ceil_divide(width, wide), groups


def _block_plan(rows: int, width: int, versal: bool) -> tuple[int, int]:
    """RAMB18 tiles and groups of rows: one shape on Versal, elsewhere the word is cut into pieces."""
    if versal:
        plans = [(ceil_divide(rows, r) * ceil_divide(width, w), ceil_divide(rows, r)) for w, r in BLOCK_SHAPES[:3]]
        return min(plans)
    widest, widest_rows = BLOCK_SHAPES[0]
    column = ceil_divide(rows, widest_rows)
    columns = max(0, ceil_divide(width - _PLANNED_BITS, widest))
    tiles, groups = _block_pieces(rows, _PLANNED_BITS)[width - columns * widest]
    return tiles + columns * column, max(groups, column) if columns else groups


_PLANNED_BITS = 1024
"""Words up to this width are cut by search; of wider ones whole columns of the widest shape come first, which no
other shape beats in tiles a bit."""


@cache
def _block_pieces(rows: int, widest: int) -> tuple[tuple[int, int], ...]:
    """Tiles and groups for every width up to ``widest``, each from the best plans of narrower words."""
    best = [(0, 0)]
    for wide in range(1, widest + 1):
        least = (1 << 60, 0)
        for piece, deep in BLOCK_SHAPES:
            tiles, groups = best[max(wide - piece, 0)]
            cost = ceil_divide(rows, deep)
            if cost + tiles < least[0]:
                least = (cost + tiles, max(cost, groups))
        best.append(least)
    return tuple(best)
