"""The planned folding is the best of all foldings, found by trying every one; random pipelines are planned legally."""

import random
from itertools import product
from math import ceil, floor
from pathlib import Path
from typing import Any

import pytest

from floorflow import flow
from floorflow.dataflow.model import Dataflow, Option
from floorflow.output import write
from floorflow.request import DEFAULT_CAP, Request
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.technology import technology_of
from floorflow.verify import check
from tests.backends.toy.toolbox import EDGES

TINY = """network tiny
input a rows=4 columns=8 channels=4 bits=8
mix fork a copies=2
lines rows fork.0 taps=3
filter sharp rows outputs=4 weights=8
filter plain fork.1 outputs=4 weights=8
mix add sharp plain
output add
tie sharp plain
"""
WAITS = {"plain.0->add.1": (8 + 1) / (4 * 8)}
"""Window fill that a channel waits for: that of the other branch into the join."""


def engines_of(model: Path, options: Any) -> tuple[Dataflow, Any]:
    from toykit.backend import BACKEND

    technology = technology_of("xc7z020clg400-1")
    return BACKEND.lower(BACKEND.read(model, options), technology, options), BACKEND.costs(technology, options)


def streams_use(dataflow: Dataflow, costs: Any, options: dict[str, Option]) -> Resources | None:
    """Price FIFOs of the least depth and converters; None where one cannot be built."""
    use = Resources()
    for stream in dataflow.streams:
        ends = [
            *([] if stream.from_outside else [options[stream.source].output_widths_bits[stream.source_port]]),
            *([] if stream.to_outside else [options[stream.target].input_widths_bits[stream.target_port]]),
        ]
        if not costs.convertible(ends[0], ends[-1]):
            return None
        words = stream.elements * stream.element_bits / max(ends)
        depth = 2 + ceil(WAITS.get(stream.channel, 0) * words)
        use += costs.fifo_resources(max(ends), depth) + costs.converter_resources(ends[0], ends[-1])
    return use


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("lut", "dsp"), [(0.7, 0.9), (0.06, 0.05), (0.04, 0.03), (0.04, 0.0)])
def test_no_other_folding_is_faster(lut: float, dsp: float, tmp_path: Path) -> None:
    model = tmp_path / "tiny.toy"
    model.write_text(TINY)
    cap = {**DEFAULT_CAP, "LUT": lut, "DSP": dsp or 0.001}
    request = Request(model, "pynq-z1", cap=cap, plots=False, backend="toykit", most_lanes=16)
    planned = flow.plan(request).plan
    dataflow, costs = engines_of(model, request.backend_options)
    (slot,) = planned.platform.fpgas[0].slots
    limit = Resources(*(floor(cap[name] * getattr(slot.available, name) + 1e-9) for name in RESOURCE_NAMES))
    fastest = min(
        max(option.cycles for option in options.values())
        for options in foldings(dataflow, costs)
        if (streams := streams_use(dataflow, costs, options)) and sum_of(options, streams).fits(limit)
    )
    search = planned.networks[0].search
    # The bound also knows that a deeper FIFO may take fewer LUTs, of which this search by hand knows nothing.
    assert search.bound_cycles <= search.interval_cycles == fastest
    assert search.bound_cycles == fastest or lut == 0.06


def foldings(dataflow: Dataflow, costs: Any) -> Any:
    groups = costs.groups(dataflow)
    for rows in product(*(group.rows for group in groups)):
        yield {n: o for group, row in zip(groups, rows, strict=True) for n, o in zip(group.engines, row, strict=True)}


def sum_of(options: dict[str, Option], streams: Resources) -> Resources:
    return sum((option.resources for option in options.values()), streams)


APART = """window lanes=4
smooth makers=16 takers=4 maths=dsp
fork lanes=8
tall lanes=16
sharp makers=16 takers=16 maths=dsp
plain makers=16 takers=8 maths=dsp
add lanes=16
last makers=4 takers=16 maths=dsp
"""
"""A folding whose tied filters, sharp and plain, fit an SLR each, but none together."""


@pytest.mark.usefixtures("installed")
def test_the_joint_bound_knows_that_tied_filters_may_lie_in_different_slots(tmp_path: Path) -> None:
    (tmp_path / "apart.folding").write_text(APART)
    options: dict[str, Any] = {"cap": {**DEFAULT_CAP, "LUT": 0.008}, "effort": "fast", "plots": False}
    options |= {"backend": "toykit", "most_lanes": 256, "max_hops": 3}
    given = flow.plan(Request(EDGES, "alveo-u250", folding=tmp_path / "apart.folding", **options))
    write(tmp_path / "out", given.files, {})
    assert [*check(tmp_path / "out")] == []
    (phase,) = given.plan.phases
    home = {engine: phase.partition.assignment[m.name] for m in phase.modules for engine in m.engines}
    assert home["sharp"] != home["plain"]
    free = flow.plan(Request(EDGES, "alveo-u250", **options))
    bound = free.plan.networks[0].search.joint_bound_cycles
    assert bound is not None
    assert bound <= given.plan.networks[0].search.interval_cycles == 2304


def random_model(rng: random.Random) -> str:
    """Write a pipeline of up to six parts, some of which go two ways and join again."""
    pick = rng.choice
    lines = [
        "network chance",
        f"input a rows={pick((3, 8, 12))} columns={pick((1, 5, 16))} channels={pick((1, 3, 8))} bits={pick((1, 4, 8))}",
    ]
    at = "a"
    for i in range(rng.randint(1, 3)):
        outputs, bits = pick((2, 6, 8)), pick((1, 4, 8))
        if rng.random() < 0.6:
            lines += [f"mix fork{i} {at} copies=2", f"lines rows{i} fork{i}.0 taps={pick((1, 3, 5))}"]
            lines += [f"filter deep{i} rows{i} outputs={outputs} weights={bits}"]
            lines += [f"filter side{i} fork{i}.1 outputs={outputs} weights={pick((2, 8))}"]
            lines += [f"mix join{i} deep{i} side{i}"] + [f"tie deep{i} side{i}"] * rng.randint(0, 1)
            at = f"join{i}"
        else:
            lines += [f"filter one{i} {at} outputs={outputs} weights={bits}"]
            at = f"one{i}"
    return "\n".join([*lines, f"output {at}"])


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 24))])
def test_random_pipelines_have_legal_plans(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    model = tmp_path / "chance.toy"
    model.write_text(random_model(rng))
    board, lut = rng.choice((("pynq-z1", 0.7), ("alveo-u250", 0.003), ("xcku5p", 0.02)))
    more = {"maths": rng.choice(("free", "fabric")), "granularity": rng.choice(("stage", "layer"))}
    cap = {**DEFAULT_CAP, "LUT": lut}
    fpgas = 2 if board == "xcku5p" else 1
    request = Request(model, board, fpgas=fpgas, cap=cap, effort="fast", plots=False, backend="toykit", **more)
    write(tmp_path / "out", flow.plan(request).files, {})
    assert [f"{v.name} {v.where} {v.message}" for v in check(tmp_path / "out")] == []
