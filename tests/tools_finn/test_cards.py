"""FINN+ itself makes the kernels, links and link configurations of plans over several cards, as far as v++."""

import json
import re
import runpy
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
import pytest

import floorflow as ff
from floorflow.backends.finn.step.bundle import bundled
from tests.tools_finn.oracle import FinnPlus
from tests.tools_finn.test_estimates import fire_modules, plan, saved
from tests.tools_finn.test_steps import Built, assert_is_the_plan, built_phase, write
from tests.vitis_config import Card, Way, problems

pytestmark = pytest.mark.tools
LINKS: dict[str, dict[str, Way]] = {
    "rx_dummy_kernel": {"A": "in"},
    "tx_dummy_kernel": {"A": "out"},
    **{f"aurora_flow_{cage}": {"rx_axis": "out", "tx_axis": "in"} for cage in range(2)},
}
"""Ports of the kernels that FINN+ links beside those of a network."""


BLOCKS = 26
"""Engines of the saved ResNet-18 up to its second residual block."""


def residual_blocks(folder: Path) -> Path:
    """Write the stem of ResNet-18 and its first two residual blocks."""
    model = onnx.load(saved("rn18", folder))
    graph = model.graph
    shapes = {value.name: value for value in graph.value_info}
    kept = [node for node in graph.node if node.domain.startswith("finn")][:BLOCKS]
    read = {name for node in kept for name in node.input}
    constants = [node for node in graph.node if node.op_type == "ConstantOfShape" and node.output[0] in read]
    end = shapes.pop(kept[-1].output[0])
    read |= {node.input[0] for node in constants}
    tensors = [tensor for tensor in graph.initializer if tensor.name in read]
    made = onnx.helper.make_graph([*constants, *kept], "blocks", [*graph.input], [end], tensors)
    made.value_info.extend(shapes.values())
    made.quantization_annotation.extend(graph.quantization_annotation)
    path = folder / "blocks.onnx"
    onnx.save(onnx.helper.make_model(made, opset_imports=model.opset_import), path)
    return path


@dataclass
class Linked:
    """A build over several cards, the folder of its plan, and FINN+'s link configuration of each card."""

    one: Built
    folder: Path
    texts: dict[int, str]

    @property
    def topology(self) -> Any:
        return json.loads((self.folder / "topology.json").read_text())


def linked(graph: Path, cards: int, folder: Path, finn_plus: FinnPlus, **options: Any) -> Linked:
    outcome = plan(graph, "alveo-u250", costs="calibrated", fpgas=cards, **options)
    assert outcome.plan.unbuilt == []
    write(outcome, folder / "plan")
    one = built_phase(outcome.plan, 0, graph, folder / "plan" / "finn", finn_plus, "floorflow_link")
    texts = {int(card): text for card, text in one.cards.items()}
    assert sorted(texts) == list(range(cards))
    return Linked(one, folder / "plan", texts)


def card_of(one: Built, number: int) -> Card:
    """Return a U250 with the kernels that FINN+ made for it."""
    kernels: dict[str, dict[str, Way]] = dict(LINKS)
    for kernel in one.kernels:
        if kernel["device_id"] == number:
            nodes = onnx.load(kernel["model"], load_external_data=False).graph.node
            ports: dict[str, Way] = {"m_axi_gmem0": "memory"} if nodes[0].op_type == "IODMA_hls" else {}
            ports |= {f"s_axis_{at}": "in" for at, name in enumerate(kernel["inputs"]) if name != "global_in"}
            ports |= {f"m_axis_{at}": "out" for at, name in enumerate(kernel["outputs"]) if name != "global_out"}
            kernels[kernel["name"]] = ports
    return Card(kernels, {"DDR": 4}, 4, 2)


def assert_cards_are_the_plans(made: Linked) -> None:
    """Kernels, links, configurations and the host's script of all cards are those of the plan."""
    one, platform = made.one, made.one.plan.platform
    assert_is_the_plan(one)
    # Each kernel holds the engines of one slot of the plan, on its card and in its SLR.
    slot_of = one.plan.phases[0].slot_of
    home = {slot.name: (int(slot.fpga[4:]), int(slot.slr[3:])) for slot in platform.slots}
    kernels = {int(kernel["name"].rpartition("_")[2]): kernel for kernel in one.kernels}
    for (number, _), node in one.nodes.items():
        if node.doc_string in slot_of:
            assert (kernels[number]["device_id"], kernels[number]["slr"]) == home[slot_of[node.doc_string]]
    # Between two cards there is one stream, and its cable is topology.json's.
    maker = {tensor: kernel for kernel in one.kernels for tensor in kernel["outputs"]}
    pairs = [(maker[t]["device_id"], k["device_id"]) for k in one.kernels for t in k["inputs"] if t in maker]
    cuts = Counter(pair for pair in pairs if pair[0] != pair[1])
    told = [(int(row["source"][4:]), int(row["target"][4:])) for row in made.topology["streams"]]
    assert cuts == Counter(dict.fromkeys(told, 1))
    cages = {(end["card"], end["cage"]) for cable in made.topology["cables"] for end in cable["ends"]}
    assert cages == {
        (f"fpga{card}", cage)
        for card, text in made.texts.items()
        for cage in range(2)
        if f"connect=io_clk_qsfp{cage}_refclkb_00:" in text
    }
    for card, text in made.texts.items():
        own = (made.folder / f"fpga{card}" / "vitis" / "floorflow.cfg").read_text()
        assert problems(text, card_of(one, card)) == []
        assert problems(f"{text}\n{own}", card_of(one, card)) == []
        assert ("idma_0" in text, "odma_0" in text) == (card == 0, card == len(made.texts) - 1)
        assert f"TCL.PRE={one.folder / f'fpga{card}' / 'pblocks.tcl'}" in text
        assert host_units(made.folder)[card] == {
            unit for unit in re.findall(r"^nk=\w+:1:(\w+)$", text, re.MULTILINE) if unit.startswith(BY_HOST)
        }


BY_HOST = ("idma", "odma", "aurora_flow")
"""What the names of units begin with that host/run.py reaches by their names."""


def host_units(folder: Path) -> dict[int, set[str]]:
    """Return the units of each card by which host/run.py drives it, which says in a dry run that it loads all cards."""
    host = json.loads((folder / "host" / "host.json").read_text())
    units = {card["name"]: {*card["links"]} for card in host["cards"]}
    for card, unit in (copy[way] for copy in host["copies"] for way in ("input", "output")):
        units[card].add(unit)
    command = [sys.executable, "-I", "-S", str(folder / "host" / "run.py"), "--dry-run"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    places = [said.index(f"load {name} (device") for name in units]
    assert places == sorted(places, reverse=True)
    # Bitstreams are called as FINN+ calls them, and frames are those of its own driver.
    left = [(folder / "build" / name, folder / "finn" / "build" / name) for name in ("bitfile", "driver")]
    assert sorted(path.name for path in left[0][0].iterdir()) == [card["bitstream"] for card in host["cards"]]
    if not left[1][1].exists():
        shutil.copytree(*left[1])
    script = runpy.run_path(str(folder / "host" / "run.py"))
    run = script["Run"](host, json.loads((folder / "topology.json").read_text()), script["_arguments"]([]))
    assert list(run._check_frames(run.networks[0])) == ["frames are those of FINN's driver"]
    return dict(enumerate(units.values()))


CASES = (
    pytest.param("cnv_2w2a", 2, {"granularity": "slot"}, id="CNV on two", marks=pytest.mark.slow),
    pytest.param("part", 3, {}, id="fire modules on three", marks=pytest.mark.slow),
    pytest.param("blocks", 2, {"fps": 500.0}, id="residual blocks on two"),
    pytest.param(
        "blocks", 3, {"fps": 500.0, "cap": {"LUT": 0.03}}, id="residual blocks on three", marks=pytest.mark.slow
    ),
    pytest.param("rn18", 2, {"fps": 400.0}, id="ResNet-18 on two", marks=pytest.mark.slow),
    pytest.param("rn18", 3, {"fps": 400.0, "cap": {"LUT": 0.06}}, id="ResNet-18 on three", marks=pytest.mark.slow),
    pytest.param("mobilenet_v1_w4a4", 2, {"fps": 500.0}, id="MobileNet on two", marks=pytest.mark.slow),
    pytest.param(
        "mobilenet_v1_w4a4", 3, {"fps": 500.0, "cap": {"LUT": 0.06}}, id="MobileNet on three", marks=pytest.mark.slow
    ),
)


@pytest.mark.parametrize(("name", "cards", "options"), CASES)
def test_finn_plus_makes_and_links_the_cards_of_a_plan(
    name: str, cards: int, options: dict[str, Any], tmp_path: Path, finn_plus: FinnPlus
) -> None:
    own = {"part": fire_modules, "blocks": residual_blocks}
    graph = own[name](tmp_path) if name in own else saved(name, tmp_path)
    made = linked(graph, cards, tmp_path, finn_plus, **options)
    assert_cards_are_the_plans(made)
    if name in {"rn18", "mobilenet_v1_w4a4"}:
        assert json.loads((made.folder / "host" / "host.json").read_text())["output"]["type"] == "FLOAT32"
    ff.bind(made.folder, made.one.folder.parent).save(tmp_path / "bound")
    assert not ff.check(tmp_path / "bound", build=made.one.folder.parent).violations


def test_links_that_are_not_the_plans_stop_the_build(tmp_path: Path, finn_plus: FinnPlus) -> None:
    outcome = plan(fire_modules(tmp_path), "alveo-u250", costs="calibrated", fpgas=3)
    write(outcome, tmp_path / "plan")
    told = tmp_path / "plan" / "finn" / "floorflow_plan.json"
    content = json.loads(told.read_text())
    content["card_links"][0]["source"]["cage"] = 1
    told.write_text(json.dumps(content))
    job = {"graph": tmp_path / "part.onnx", "steps": told.parent, "output": tmp_path / "build", "network": False}
    answer = finn_plus.ask(do="build", stop="floorflow_cards", **job)
    assert "FINN+ would join cards by [(0, 0, 1, 0), (1, 1, 2, 0)]" in answer["error"]


def test_ports_go_by_streams_where_finn_plus_counts_neighbours(tmp_path: Path, finn_plus: FinnPlus) -> None:
    """A branch leaves an SLR and comes back, where it is read first; FINN+ takes the kernel that comes first."""
    (tmp_path / "floorflow_step.py").write_text(bundled("0"))
    fork, branch, join = (
        ["fork", ["in"], ["left", "right"]],
        ["branch", ["left"], ["back"]],
        ["join", ["back", "right"], ["out"]],
    )
    told = finn_plus.ask(do="connect", kernels=[fork, branch, join], steps=tmp_path)
    right = {
        "fork.m_axis_0": ["branch.s_axis_0"],
        "fork.m_axis_1": ["join.s_axis_1"],
        "branch.m_axis_0": ["join.s_axis_0"],
    }
    assert told["own"] == right
    assert told["counted"] == {**right, "fork.m_axis_1": ["join.s_axis_0"], "branch.m_axis_0": ["join.s_axis_1"]}
