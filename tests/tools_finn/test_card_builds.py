"""FINN main's build of each of several cards: FINN+, whose transformations it shares, cuts, folds and makes kernels."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import onnx
import pytest

import floorflow as ff
from floorflow.backends.finn.card_builds import _kernels
from floorflow.backends.finn.step_data import NetworkInPhase, step_data
from floorflow.backends.finn.step_files import _build_yaml
from floorflow.emit.links import link_kernel_files
from floorflow.facts.links import CardKernels
from tests.backends.finn.host.test_host_files import dry
from tests.link_kernels.test_two_cards import ports_of
from tests.tools_finn.oracle import FinnPlus
from tests.tools_finn.test_cards import residual_blocks
from tests.tools_finn.test_estimates import fire_modules, plan, saved
from tests.tools_finn.test_steps import write
from tests.vitis_config import Card, Way, problems

pytestmark = pytest.mark.tools
CAGES: dict[str, dict[str, Way]] = {f"aurora_flow_{cage}": {"rx_axis": "out", "tx_axis": "in"} for cage in range(2)}


def made_by(answer: dict[str, Any], engines: list[str]) -> dict[str, dict[str, Way]]:
    """Return the ports of the kernels that FINN+ made; all engines are in them, and no other."""
    kernels: dict[str, dict[str, Way]] = {}
    held = []
    for kernel in answer["kernels"]:
        nodes = onnx.load(kernel["model"], load_external_data=False).graph.node
        held += [node.doc_string for node in nodes if node.doc_string]
        is_dma = nodes[0].op_type == "IODMA_hls"
        ports: dict[str, Way] = {"m_axi_gmem0": "memory"} if is_dma else {}
        if not is_dma or kernel["inputs"][0] in {t for other in answer["kernels"] for t in other["outputs"]}:
            ports |= {f"s_axis_{at}": "in" for at in range(len(kernel["inputs"]))}
        if not is_dma or "s_axis_0" not in ports:
            ports |= {f"m_axis_{at}": "out" for at in range(len(kernel["outputs"]))}
        kernels[kernel["name"]] = ports
    assert sorted(held) == sorted(engines)
    return kernels


def kernels_of_plus(part: NetworkInPhase) -> CardKernels:
    """Return the kernels of a card's part, by FINN+'s rule where that of FINN main is asked for."""
    lines, ports = _kernels(part)
    return CardKernels(tuple(lines), ports, "")


@pytest.mark.parametrize(
    ("name", "cards", "options"),
    [("cnv_2w2a", 2, {"granularity": "slot"}), pytest.param("part", 2, {}, marks=pytest.mark.slow)],
)
def test_each_configuration_names_the_kernels_that_finn_makes_of_a_card(
    name: str, cards: int, options: dict[str, Any], tmp_path: Path, finn_plus: FinnPlus
) -> None:
    """FINN+ stands in for FINN main, by its own rule of kernels: cut, FIFOs, DMA engines, partitions are of both."""
    graph = fire_modules(tmp_path) if name == "part" else saved(name, tmp_path)
    outcome = plan(graph, "alveo-u250", costs="calibrated", finn="main", fpgas=cards, **options)
    folder = tmp_path / "plan"
    write(outcome, folder)
    assert not ff.check(folder).violations
    said = dry(folder)
    assert "check " + str(folder / "fpga1/fpga1.xclbin") in said
    assert "send PRBS-31 over links for 1 s and count wrong words: link_0 of fpga0 (fpga0-fpga1), link_0 of" in said
    given = outcome.plan.options
    own = given.backend_options.model_copy(update={"finn": "plus"})
    as_plus = outcome.plan.model_copy(update={"options": given.model_copy(update={"backend_options": own})})
    parts = {
        fpga.name: NetworkInPhase(as_plus, as_plus.networks[0], as_plus.phases[0], fpga.name)
        for fpga in as_plus.platform.fpgas
    }
    texts = link_kernel_files(
        outcome.plan, as_plus.phases[0], {fpga: partial(kernels_of_plus, part) for fpga, part in parts.items()}
    )
    links = {path.stem: ports_of(path.read_text()) for path in (folder / "links").glob("floorflow_link_fpga*.sv")}
    for fpga, part in parts.items():
        steps = folder / fpga / "finn"
        data = json.loads((steps / "floorflow_plan.json").read_text())
        data |= step_data(part, data["fpgas"])
        (steps / "floorflow_plan.json").write_text(json.dumps(data))
        # FINN+ makes kernels where a bitstream is asked for.
        build = _build_yaml(data).replace("generate_outputs:", "generate_outputs:\n  - bitfile")
        (steps / "build.yaml").write_text(build)
        answer = finn_plus.build(graph, steps, tmp_path / fpga, "floorflow_constrain")
        kernels = made_by(answer, [engine["id"] for engine in data["engines"]])
        assert problems(texts[f"{fpga}/links.cfg"], Card({**kernels, **links, **CAGES}, {"DDR": 4}, 4, 2)) == []


@pytest.mark.slow
def test_a_stream_that_changes_width_over_a_link_is_told_first(tmp_path: Path) -> None:
    """FINN makes no converter at the end of a graph, so that no card is built by itself."""
    outcome = plan(residual_blocks(tmp_path), "alveo-u250", costs="calibrated", finn="main", fpgas=2, fps=500.0)
    changed = [c for c in outcome.plan.phases[0].channels if c.link is not None and c.converter is not None]
    assert len(changed) == 1
    assert any(f"{changed[0].name} changes width on the way over a link" in told for told in outcome.plan.unbuilt)
    assert not [file for file in outcome.files if file.startswith("fpga0/finn/")]
    assert "nk=part_fpga0:1:part_0" in str(outcome.files["fpga0/links.cfg"])
