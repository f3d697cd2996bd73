"""FINN+ cuts a network's graph into the modules of a stitched plan: their nodes, ports and widths are the plan's."""

import json
from pathlib import Path
from typing import Any

import pytest

from floorflow.facts.stitched import by_implementation, stitched_modules
from tests.tools_finn.oracle import FinnPlus
from tests.tools_finn.test_estimates import plan, saved
from tests.tools_finn.test_steps import write

pytestmark = pytest.mark.tools


@pytest.mark.slow  # test_contents has one case of it in each run
@pytest.mark.parametrize(
    ("platform", "options"), [("xcu250", {"cap": {"LUT": 0.12}}), ("xcku5p", {"fpgas": 3})], ids=["SLRs", "cards"]
)
def test_every_implementation_is_cut_out_and_stitched_by_itself(
    platform: str, options: dict[str, Any], tmp_path: Path, finn_plus: FinnPlus
) -> None:
    graph = saved("cnv_2w2a", tmp_path)
    outcome = plan(graph, platform, flow="stitch", costs="calibrated", **options)
    write(outcome, tmp_path / "plan")
    build = tmp_path / "build"
    assert (
        finn_plus.build(graph, tmp_path / "plan/finn", build, "floorflow_modules")["steps"][-1] == "floorflow_modules"
    )
    phase = outcome.plan.only_phase
    assert any(channel.slices or channel.crossing_slots or channel.link for channel in phase.channels)
    made = by_implementation(stitched_modules(phase).values())
    assert {path.name for path in (build / "modules").iterdir()} == {*made}
    engines = {module.name: module.engines for module in phase.modules}
    for name, (module, *_) in made.items():
        told = json.loads((build / "modules" / name / "ip/made.json").read_text())
        assert told["name"] == f"{name}_core"
        assert told["inputs"] == [port.bits for port in module.ports if port.enters]
        assert told["outputs"] == [port.bits for port in module.ports if not port.enters]
        assert {node["engine"] for node in told["nodes"]} - {""} == {*engines[module.name]}
        own = [c for c in phase.channels if c.fifo_module == module.name]
        converted = [c for c in phase.channels if c.converter_module == module.name]
        depths = sorted(max(2, c.fifo_depth) for c in own) + [2] * len(converted)
        assert sorted(n["depth"] for n in told["nodes"] if n["kind"] == "StreamingFIFO_rtl") == sorted(depths)
        assert sum(n["kind"].startswith("StreamingDataWidth") for n in told["nodes"]) == len(converted)
