"""The case of f-CNN^x: layers, tables II to IV and reference designs (data/fcnnx_case.json).

Source: Venieris & Bouganis, FPL 2018, its tables as printed; engine model, reference designs and expected lengths are
of a restatement that fitted them to Table III.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from floorflow.backends.fcnnx.engine import ConvLayer, Pipeline, layers_of
from floorflow.bandwidth.problem import BandwidthProblem, ScheduledNetwork
from floorflow.dataflow.traffic import EnginePoint, Subgraph
from floorflow.network import read
from tests.plans import ROOT

FILES = {
    "LeNet-5": "lenet5",
    "CIFAR-10": "cifar10",
    "PilotNet": "pilotnet",
    "ZFNet": "zfnet",
    "SceneLabelCNN": "scenelabelcnn",
    "VGG16": "vgg16",
}
TABLE_2 = {
    1: ((("LeNet-5", 10, 25, 7), ("CIFAR-10", 16, 25, 2)), 0.5, 2527.5),
    2: ((("LeNet-5", 10, 25, 6), ("CIFAR-10", 16, 25, 2)), 3.8, 539.8),
    3: ((("LeNet-5", 10, 25, 10), ("CIFAR-10", 12, 25, 4), ("CIFAR-10", 12, 25, 4)), 1.5, 2231.5),
    4: ((("LeNet-5", 10, 25, 10), ("CIFAR-10", 12, 25, 4), ("CIFAR-10", 12, 25, 4)), 3.8, 1380.0),
    5: ((("LeNet-5", 10, 25, 124), *((("CIFAR-10", 7, 25, n)) for n in (40, 30, 30))), 1.5, 27830),
    6: ((("LeNet-5", 10, 25, 328), ("CIFAR-10", 12, 25, 100), *([("CIFAR-10", 7, 25, 83)] * 2)), 3.8, 42726),
}
"""Sets of Table II by number: network, N_PE, N_op and repetitions of each; GB/s; the expected period in us.

Engines and repetitions are not printed: with these the restatement's periods come out.
"""
BURST_EFFICIENCY = 0.9


@cache
def case() -> Any:
    """Return the file."""
    return json.loads((Path(__file__).parent / "data" / "fcnnx_case.json").read_text(encoding="utf-8"))


@cache
def layers(network: str) -> tuple[ConvLayer, ...]:
    """Return the layers of a network of Table I, from its ONNX."""
    return layers_of(read(ROOT / "examples" / "several" / f"{FILES[network]}.onnx"))


def reference(key: str) -> tuple[EnginePoint, ...]:
    """Return the reference designs, ``three`` or ``four``, from our own engine model."""
    designs = case()["reference_designs"][key]
    return tuple(Pipeline(d["NPE"], d["Nop"]).point(d["net"], layers(d["net"])) for d in designs)


def row_problem(row: str, repetitions: list[int]) -> BandwidthProblem:
    """Return a row of Table III, as ``three@1.7``, with the reference designs."""
    key, _, gbs = row.partition("@")
    points = zip(reference(key), repetitions, strict=True)
    networks = tuple(ScheduledNetwork(point.network, point.subgraphs, count) for point, count in points)
    return BandwidthProblem(networks, BURST_EFFICIENCY * float(gbs))


def set_problem(number: int) -> BandwidthProblem:
    """Return a set of Table II."""
    designs, gbs, _ = TABLE_2[number]
    networks = tuple(
        ScheduledNetwork(f"{network}_{n}", subgraphs(network, n_pe, n_op), count)
        for n, (network, n_pe, n_op, count) in enumerate(designs)
    )
    return BandwidthProblem(networks, BURST_EFFICIENCY * gbs)


def subgraphs(network: str, n_pe: int, n_op: int) -> tuple[Subgraph, ...]:
    """Return a network's subgraphs on an engine."""
    return Pipeline(n_pe, n_op).subgraphs(layers(network))
