"""FINN's own folding heuristic, SetFolding: each engine by itself, to a target of cycles, blind to resources.

For every folding attribute the divisors are tried in ascending order until the engine is fast enough. The second pass
relaxes everything to what the slowest engine reached; memories stay as the engines have them. Source: FINN's
``set_folding.py``, main 39f0c9a; what dev 73ba5ed and FINN+ 1.6.1 do otherwise is in `Rules`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from types import MappingProxyType

from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.folding.legal_foldings import tied_pairs
from floorflow.backends.finn.kinds.kind import divisors
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.backends.finn.names import FinnVersion, family
from floorflow.dataflow.model import Attributes, Dataflow, Engine

Sizes = dict[str, int]
"""``PE``, ``SIMD`` and ``parallel_window`` of one engine."""

DEFAULT_WEIGHT_BITS = 36
"""FINN's ``mvau_wwidth_max``: one row of a matrix unit's weights is not widened beyond this."""

_PE_OVER: Mapping[str, str] = {
    **dict.fromkeys(
        ("AddStreams", "ChannelwiseOp", "DuplicateStreams", "GlobalAccPool", "Thresholding"), "NumChannels"
    ),
    "LabelSelect": "Labels",
}
"""Kinds that fold by PE alone, and what PE divides."""
_SIMD_OVER = ("DownSampler_hls", "FMPadding_hls", "FMPadding_Pixel_hls")
"""Kinds that fold by SIMD alone, over their channels."""
_LATER_SIMD = (*_SIMD_OVER, "FMPadding_rtl", "UpsampleNearestNeighbour_hls")
"""The same since FINN dev; an upsampler only if it names its sizes as dev does."""
_DEPTHWISE = ("VVAU", "Pool")


@dataclass(frozen=True, slots=True)
class Rules:
    """How one version folds: whether padding of RTL folds too, and whether to reach the target is enough."""

    finn: FinnVersion = "main"
    folds_rtl_padding: bool = False
    target_is_enough: bool = False
    weight_bits_limit: int = DEFAULT_WEIGHT_BITS

    @property
    def simd_kinds(self) -> tuple[str, ...]:
        """Kinds that fold by SIMD alone."""
        return _LATER_SIMD if self.folds_rtl_padding else _SIMD_OVER

    def meets(self, cycles: int, target_cycles: int) -> bool:
        """Whether an engine is fast enough."""
        return cycles <= target_cycles if self.target_is_enough else cycles < target_cycles


def rules_of(finn: FinnVersion, weight_bits_limit: int = DEFAULT_WEIGHT_BITS) -> Rules:
    """Return the rules of a version of FINN."""
    return Rules(finn, finn != "main", finn == "plus", weight_bits_limit)


def set_folding(dataflow: Dataflow, target_cycles: int, rules: Rules = Rules()) -> dict[str, Sizes]:
    """Return SetFolding's answer after both passes: ``PE``, ``SIMD`` and ``parallel_window`` by engine.

    The second pass aims at what the first one reached, if that is above the target. What it may not touch keeps the
    engine's own ``folding``, else FINN's start: all channels at once for RTL padding, 1 elsewhere.
    """
    folding = _Pass(dataflow, target_cycles, rules).run()
    slowest = max(_cycles(engine, folding[engine.name], rules.finn) for engine in dataflow.engines)
    if slowest > target_cycles:
        folding = _Pass(dataflow, slowest, rules).run()
    return folding


@dataclass(frozen=True)
class _Pass:
    """One pass of SetFolding over all engines."""

    dataflow: Dataflow
    target_cycles: int
    rules: Rules

    def run(self) -> dict[str, Sizes]:
        windows = {follower: window for window, follower in tied_pairs(self.dataflow)}
        chosen: dict[str, Sizes] = {}
        for engine in self.dataflow.engines:
            chosen[engine.name] = self._engine(engine)
            if engine.name in windows:
                taps = chosen[engine.name].get("SIMD", 1)
                lanes: Sizes = {"SIMD": chosen[engine.name]["PE"], "parallel_window": int(taps > 1)}
                chosen[windows[engine.name]] = lanes
        return chosen

    def _engine(self, engine: Engine) -> Sizes:
        kind = family(engine.kind)
        whole = Reader(engine.kind, engine.attributes)
        if kind == "MVAU":
            return self._matrix(engine, whole.positive("MW"), whole.positive("MH"))
        if kind in _DEPTHWISE:
            return self._depthwise(engine, whole)
        if kind == "ConvolutionInputGenerator":
            return self._window(engine, whole)
        name, most = self._single(engine, kind, whole)
        return self._optimised(engine, {}, name, most) if most else _start(engine)

    def _single(self, engine: Engine, kind: str, whole: Reader) -> tuple[str, int]:
        """Return the one attribute that the engine folds by and what it divides, 0 if SetFolding leaves it alone."""
        if kind in _PE_OVER:
            return "PE", whole.positive(_PE_OVER[kind])
        if engine.kind in self.rules.simd_kinds and (kind != "UpsampleNearestNeighbour" or whole.has("HI")):
            return "SIMD", whole.positive("NumChannels")
        if self.rules.finn != "main" and kind.startswith("Elementwise"):
            return "PE", whole.sizes("out_shape")[-1]
        return "", 0

    def _matrix(self, engine: Engine, width: int, height: int) -> Sizes:
        """Widen SIMD until it is fast enough or the weights of a row become too wide, then PE."""
        folding: Sizes = {"PE": 1, "SIMD": 1}
        for simd in divisors(width):
            previous, folding = folding, {"PE": 1, "SIMD": simd}
            if self._fast(engine, folding):
                break
            if _weight_bits(engine) * simd > self.rules.weight_bits_limit:
                folding = previous
                break
        return self._optimised(engine, folding, "PE", height)

    def _depthwise(self, engine: Engine, whole: Reader) -> Sizes:
        vector = family(engine.kind) == "VVAU"
        channels = whole.positive("Channels")
        folding = self._optimised(engine, {"SIMD": 1} if vector else {}, "PE", channels)
        slow = _cycles(engine, folding, self.rules.finn) > self.target_cycles
        if vector and folding["PE"] == channels and slow:
            folding = self._optimised(engine, folding, "SIMD", prod(whole.pair("Kernel")))
        return folding

    def _window(self, engine: Engine, whole: Reader) -> Sizes:
        """Fold a window; what a depthwise one gets here is overwritten by the engine behind it."""
        folding: Sizes = {"SIMD": 1, "parallel_window": 0}
        if whole.flag("depthwise"):
            return {**folding, **_start(engine)}
        channels = whole.positive("IFMChannels")
        folding = self._optimised(engine, folding, "SIMD", channels)
        slow = _cycles(engine, folding, self.rules.finn) > self.target_cycles
        if folding["SIMD"] == channels and slow and engine.kind.endswith("_rtl"):
            folding["parallel_window"] = 1
        return folding

    def _optimised(self, engine: Engine, folding: Sizes, name: str, most: int) -> Sizes:
        """Return the first divisor of ``most`` that is fast enough, else all of it."""
        for value in divisors(most):
            folding = {**folding, name: value}
            if self._fast(engine, folding):
                break
        return folding

    def _fast(self, engine: Engine, folding: Sizes) -> bool:
        return self.rules.meets(_cycles(engine, folding, self.rules.finn), self.target_cycles)


def _start(engine: Engine) -> Sizes:
    """Return the folding that an engine has before SetFolding, or has to keep."""
    own = {name: value for name, value in engine.folding.items() if isinstance(value, int)}
    if engine.kind == "FMPadding_rtl":
        return {"SIMD": Reader(engine.kind, engine.attributes).positive("NumChannels"), **own}
    return own


def _weight_bits(engine: Engine) -> int:
    """Return the declared width of a weight, which FINN may have shrunk since."""
    return engine.weight_bits or Reader(engine.kind, engine.attributes).bits("weightDataType")


def _cycles(engine: Engine, folding: Sizes, finn: FinnVersion) -> int:
    return kind_of(engine.kind).unit({**engine.attributes, **folding}, finn).cycles


WIDE_WEIGHTS = 10_000
"""FINN's ``mvau_wwidth_max`` of ``finn-wide``: so large that it binds no more."""
FINN_MAIN = Rules()


def proposed(dataflow: Dataflow, interval_cycles: int, rules: Rules = FINN_MAIN) -> Mapping[str, Attributes]:
    """Return SetFolding's answer to the target that just allows an interval."""
    target = interval_cycles if rules.target_is_enough else interval_cycles + 1
    return set_folding(dataflow, target, rules)


def rules_by_method(finn: FinnVersion) -> Mapping[str, Rules]:
    """Return how each method folds, by its name."""
    return MappingProxyType({"finn": rules_of(finn), "finn-wide": rules_of(finn, WIDE_WEIGHTS)})
