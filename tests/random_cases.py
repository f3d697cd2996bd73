"""Random whole plans: a network, a platform and options that often force crossings of SLRs and links."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx

from floorflow.request import DEFAULT_CAP, Request
from tests.network.twins import to_channels_last
from tests.random_models import random_chain, random_graph, random_small

PLATFORMS = (("alveo-u250", 1), ("alveo-u250", 1), ("alveo-u250", 2), ("alveo-u250", 2))
PLATFORMS += (("xcku5p", 3), ("zcu104", 1), ("pynq-z1", 1))
LUT_CAPS = {
    "alveo-u250": (0.7, 0.02, 0.01, 0.005),
    "xcku5p": (0.05, 0.02, 0.02, 0.01),
    "zcu104": (0.7, 0.2, 0.05),
    "pynq-z1": (0.7, 0.5, 0.3),
}
"""Shares of a slot that small networks fill, so that they spread over slots, or nearly so."""


def random_request(seed: int, folder: Path) -> Request:
    """Write a random network to ``folder`` and return what to plan with it; equal seeds give equal requests."""
    rng = random.Random(seed)
    board, fpgas = rng.choice(PLATFORMS)
    model = folder / "model.onnx"
    onnx.save((random_chain if seed % 3 == 0 else random_graph)(seed), model)
    return Request(
        model,
        board,
        fpgas=fpgas,
        cap={**DEFAULT_CAP, "LUT": rng.choice(LUT_CAPS[board])},
        granularity=rng.choice(("stage", "block", "layer", "slot")),
        fps=rng.choice((None, None, 1000)),
        objective=rng.choice((None, None, None, "latency", "resources")),
        effort="fast",
        seed=seed,
        plots=False,
    )


BOARDS = (("pynq-z1", 1), ("zcu104", 1), ("alveo-u250", 1), ("alveo-u250", 2), ("xcku5p", 2), ("alveo-u280", 1))
BACKENDS = ("finn", "finn", "finn", "hls4ml", "fpgaconvnet")


@dataclass(frozen=True)
class SmallCase:
    """Small networks of any shape on a board, as a stranger may ask for them."""

    models: tuple[Path, ...]
    board: str
    options: dict[str, Any]

    def __str__(self) -> str:
        told = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in self.options.items())
        return f"{' '.join(model.name for model in self.models)} -p {self.board} {told}"


def small_case(seed: int, folder: Path) -> SmallCase:
    """Write one network or two to ``folder`` and return what to plan with them; equal seeds give equal cases.

    Two in five are said channels last, as QONNX or Keras would.
    """
    rng = random.Random(seed)
    board, fpgas = rng.choice(BOARDS)
    backend = rng.choice(BACKENDS)
    count = 2 if backend == "finn" and rng.random() < 0.25 else 1
    models = tuple(folder / f"small_{seed}_{number}.onnx" for number in range(count))
    twin = rng.choice((None, None, None, "qonnx", "keras"))
    for number, path in enumerate(models):
        model = random_small(seed + 3 * number, square=backend != "finn")
        onnx.save(to_channels_last(model, twin) if twin else model, path)
    options = {
        "fpgas": fpgas,
        "granularity": rng.choice(("stage", "block", "layer", "slot")[: 5 - count]),
        "backend": backend,
    }
    return SmallCase(models, board, options)
