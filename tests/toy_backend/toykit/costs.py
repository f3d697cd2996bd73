"""Legal foldings of the three kinds and what they cost."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from floorflow.backends.backend import Costs
from floorflow.dataflow.fifo import FifoChoice
from floorflow.dataflow.model import Dataflow, Engine, Option
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InfeasibleError
from floorflow.resources import Resources
from toykit.registration import ToyOptions

BANDS = {("Filter", "LUT"): (0.9, 1.3), ("Queue", "LUT"): (0.8, 1.25), ("Reshaper", "LUT"): (0.5, 1.5)}
_SHARED = ("makers", "maths")
"""What tied filters have in common."""


@dataclass(frozen=True)
class ToyCosts(Costs):
    """Prices for a family of parts, whose DSPs multiply once or twice a cycle."""

    options: ToyOptions
    per_dsp: int
    name = "toykit's table"
    fifo_kind = "Queue"
    has_bands = True

    def band(self, kind: str, resource: str) -> tuple[float, float]:
        return BANDS.get((kind, resource), (1.0, 1.0))

    def groups(self, dataflow: Dataflow) -> tuple[OptionGroup, ...]:
        ties = {e.name: (e.name, *e.attributes.get("tied", ())) for e in dataflow.engines}
        first = [e.name for e in dataflow.engines if e.name == min(ties[e.name], key=list(ties).index)]
        return tuple(self._group([dataflow.engine(name) for name in ties[one]]) for one in first)

    def _group(self, engines: list[Engine]) -> OptionGroup:
        rows = tuple(row for row in product(*(self.foldings(e) for e in engines)) if agree(row))
        if not rows:
            names = " and ".join(engine.name for engine in engines)
            raise InfeasibleError(f"{names}: no folding is legal", "raise --backend-option most_lanes=NUMBER")
        return OptionGroup(tuple(engine.name for engine in engines), rows)

    def foldings(self, engine: Engine) -> tuple[Option, ...]:
        """Return every legal folding of an engine."""
        made = {"Filter": self._filters, "LineBuffer": self._buffers, "Mixer": self._mixers}[engine.kind]
        return tuple(made(engine, engine.attributes))

    def _filters(self, engine: Engine, size: Mapping[str, int]) -> Iterator[Option]:
        styles = ("dsp", "fabric") if self.options.maths == "free" else (self.options.maths,)
        pixels = size["rows"] * size["columns"]
        for makers, takers in product(_divisors(size["outputs"]), _divisors(size["channels"])):
            cycles = pixels * (size["outputs"] // makers) * (size["channels"] // takers)
            widths = (takers * engine.input_bits,), (makers * engine.output_bits,)
            for maths in styles if makers * takers <= self.options.most_lanes else ():
                use = self._multipliers(engine, makers * takers, maths) + _weights(engine, makers * takers)
                yield Option({"makers": makers, "takers": takers, "maths": maths}, cycles, use, *widths)

    def _multipliers(self, engine: Engine, lanes: int, maths: str) -> Resources:
        bits = engine.input_bits * engine.weight_bits
        if maths == "fabric":
            return Resources(lut=120 + lanes * (bits + 8), ff=150 + 16 * lanes)
        return Resources(lut=120 + 8 * lanes, ff=150 + 24 * lanes, dsp=-(-lanes // self.per_dsp))

    def _buffers(self, engine: Engine, size: Mapping[str, int]) -> Iterator[Option]:
        taps = size["taps"]
        for lanes in _divisors(size["channels"]):
            words = size["columns"] * size["channels"] // lanes
            width = lanes * engine.input_bits
            use = Resources(lut=80 + taps * width // 2, ff=90 + taps * width, bram18=(taps - 1) * _blocks(width, words))
            yield Option({"lanes": lanes}, (size["rows"] + taps // 2) * words, use, (width,), (taps * width,))

    def _mixers(self, engine: Engine, size: Mapping[str, int]) -> Iterator[Option]:
        for lanes in _divisors(size["channels"]):
            use = Resources(lut=30 + lanes * engine.output_bits * size["streams"], ff=20 + lanes * engine.output_bits)
            taken, made = (lanes * engine.input_bits,), (lanes * engine.output_bits,)
            cycles = size["rows"] * size["columns"] * size["channels"] // lanes
            yield Option({"lanes": lanes}, cycles, use, taken * size["streams"], made * size["copies"])

    def fifo_resources(self, width_bits: int, depth_words: int) -> Resources:
        return self.fifo_choices(width_bits, depth_words)[0].resources

    def fifo_choices(self, width_bits: int, depth_words: int) -> tuple[FifoChoice, ...]:
        cells = FifoChoice("cells", Resources(lut=16 + width_bits * -(-depth_words // 32), ff=16 + width_bits))
        blocks = FifoChoice("blocks", Resources(lut=40, ff=40, bram18=_blocks(width_bits, depth_words)))
        if depth_words <= 32:
            return (cells,)
        return (blocks, cells) if depth_words > 256 else (cells, blocks)

    def converter_resources(self, input_bits: int, output_bits: int) -> Resources:
        wide = 0 if input_bits == output_bits else max(input_bits, output_bits)
        return Resources(lut=wide, ff=2 * wide)

    def convertible(self, input_bits: int, output_bits: int) -> bool:
        return max(input_bits, output_bits) % min(input_bits, output_bits) == 0

    def converter_kind(self, input_bits: int, output_bits: int) -> str:
        return "Reshaper"


def agree(row: tuple[Option, ...]) -> bool:
    """Whether options of tied engines can be together."""
    return len({tuple(option.folding.get(key) for key in _SHARED) for option in row}) == 1


def _weights(engine: Engine, lanes: int) -> Resources:
    words = engine.attributes["channels"] * engine.attributes["outputs"] // lanes
    return Resources(bram18=_blocks(lanes * engine.weight_bits, words))


def _blocks(width_bits: int, words: int) -> int:
    return -(-width_bits // 36) * -(-words // 512)


def _divisors(size: int) -> list[int]:
    return [n for n in range(1, size + 1) if size % n == 0]
