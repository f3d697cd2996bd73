"""Dies for tests and the ranges that name given sites."""

from functools import cache
from pathlib import Path

import pytest
import yaml

from floorflow.verify.hardware.geometry import Device, Sites

REPOSITORY = Path(__file__).resolve().parents[2]


def device(name: str) -> Device:
    return die_of((REPOSITORY / "platforms" / "devices" / f"{name}.yaml").read_text(encoding="utf-8"))


@cache
def die_of(text: str) -> Device:
    """Return what a device file describes; nobody changes it."""
    return Device(yaml.load(text, Loader=yaml.CSafeLoader))


def ranges_of(sites: Sites) -> list[str]:
    """Ranges that name exactly the sites, LAGUNA excepted: equal neighbouring columns share one."""
    runs = [(kind, x, *run) for (kind, x), mask in sorted(sites.items()) for run in _runs(mask) if kind != "LAGUNA"]
    merged: list[tuple[str, int, int, int, int]] = []
    for kind, x, low, high in sorted(runs, key=lambda run: (run[0], run[2], run[3], run[1])):
        if merged and merged[-1][0] == kind and merged[-1][2:] == (x - 1, low, high):
            merged[-1] = (kind, merged[-1][1], x, low, high)
        else:
            merged.append((kind, x, x, low, high))
    return [f"{kind}_X{left}Y{low}:{kind}_X{right}Y{high}" for kind, left, right, low, high in merged]


def _runs(mask: int) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for y in range(mask.bit_length()):
        if mask >> y & 1:
            runs[-1:] = [(runs[-1][0], y)] if runs and runs[-1][1] == y - 1 else [*runs[-1:], (y, y)]
    return runs


SEEDS = [*range(20), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(20, 200))]
"""Of random families: 20 in every run, the others with -m slow."""
