"""How likely the modules and slots of a plan made by hand are to fit: every kind is off by -20 to +25%, alike."""

import math
from statistics import NormalDist
from typing import Any

from tests.verify.tiny_network import RESOURCES, Network, add, amounts

Entry = dict[str, Any]
Use = dict[str, dict[str, int]]

LOW, HIGH = 0.8, 1.25
FIFO_KIND = "StreamingFIFO_rtl"
TENTH = 1.2816
SOUGHT = 0.9


def module_uses(network: Network, channels: list[Entry]) -> dict[str, Use]:
    """Return what each module needs, by kind."""
    uses: dict[str, Use] = {name: {} for name in network.modules}

    def put(module: str, kind: str, needed: dict[str, int]) -> None:
        uses[module][kind] = add(uses[module].get(kind, amounts()), needed)

    for module, engines in network.modules.items():
        for engine in engines:
            put(module, engine.rpartition("/")[2][:-2], network.folding[engine]["resources"])
    for entry in channels:
        put(entry["fifo_module"], FIFO_KIND, entry["fifo_resources"])
        if entry["converter"]:
            put(entry["converter_module"], entry["converter"], entry["converter_resources"])
    return uses


def bands_of(uses: dict[str, Use]) -> Entry:
    kinds = {kind for use in uses.values() for kind in use}
    return {kind: {name: [LOW, HIGH] for name in RESOURCES} for kind in kinds}


def moments(use: Use, sure: dict[str, int], name: str) -> tuple[float, float]:
    mean = sure[name] + sum(needed[name] for needed in use.values()) * (LOW + HIGH) / 2
    return mean, math.sqrt(sum((needed[name] * (HIGH - LOW) / 2 / TENTH) ** 2 for needed in use.values()))


def likelihood(use: Use, have: dict[str, int], sure: dict[str, int]) -> float:
    """Return the product over the resources, to four digits, rounded down."""
    certain = not any(moments(use, sure, name)[1] for name in RESOURCES)
    return 1.0 if certain else min(0.98, math.floor(chance(use, have, sure) * 10_000) / 10_000)


def chance(use: Use, have: dict[str, int], sure: dict[str, int]) -> float:
    """Return the product over the resources."""
    pairs = {name: moments(use, sure, name) for name in RESOURCES}
    return math.prod(NormalDist(mean, by).cdf(have[name]) for name, (mean, by) in pairs.items() if by)


def fit(use: Use, have: dict[str, int], sure: dict[str, int]) -> Entry:
    pairs = {name: moments(use, sure, name) for name in RESOURCES}
    return {
        "likelihood": likelihood(use, have, sure),
        "low": {name: max(0, math.floor(mean - TENTH * by)) for name, (mean, by) in pairs.items()},
        "high": {name: math.ceil(mean + TENTH * by) for name, (mean, by) in pairs.items()},
    }
