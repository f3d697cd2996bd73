"""FINN+ itself, from PyPI: it takes floorflow's folding_config.json and tells floorflow's cycles and resources."""

import gzip
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import onnx
import pytest

from floorflow import flow
from floorflow.errors import InputError
from floorflow.record.run import PlanWithFiles
from floorflow.request import Request
from tests.backends.finn.recorded_kernels import part_for_finn_plus
from tests.plans import CNV, TFC
from tests.tools_finn.oracle import FinnPlus, planned

pytestmark = pytest.mark.tools
GRAPHS = Path(__file__).parent.parent / "backends" / "finn" / "graphs"
FOLDING = "finn/folding_config.json"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graphs")


def saved(name: str, folder: Path) -> Path:
    path = folder / f"{name}.onnx"
    path.write_bytes(gzip.decompress((GRAPHS / f"{name}.onnx.gz").read_bytes()))
    return path


def fire_modules(folder: Path, first: int = 6, last: int = 26) -> Path:
    """Write some engines of the SqueezeNet of the recorded kernels: two of its fire modules, or from one to another."""
    path = folder / "part.onnx"
    onnx.save(part_for_finn_plus("squeezenet_u250", first, last), path)
    return path


PLANS: dict[str, PlanWithFiles] = {}
"""Plans of this session by all that they follow from."""


def plan(graph: Path, platform: str, **options: Any) -> PlanWithFiles:
    chosen = {"costs": "finn", "finn": "plus", "effort": "fast", "plots": False} | options
    key = repr((graph.name, sha256(graph.read_bytes()).hexdigest(), platform, sorted(chosen.items())))
    if key not in PLANS:
        PLANS[key] = flow.plan(Request(graph, platform, **chosen))
    return PLANS[key]


def folding_file(outcome: PlanWithFiles, folder: Path) -> Path:
    """Write the folding_config.json of a plan."""
    file, content = folder / "folding_config.json", outcome.files[FOLDING]
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def assert_agreed(outcome: PlanWithFiles, graph: Path, folder: Path, finn_plus: FinnPlus) -> None:
    """Apply the plan's folding file in FINN+ and compare every node."""
    told = finn_plus.numbers(graph, folding_file(outcome, folder), outcome.plan.platform.fpgas[0].part)
    assert told == planned(outcome.plan)
    assert max(numbers[0] for numbers in told.values()) == outcome.plan.networks[0].search.interval_cycles


@pytest.mark.parametrize(
    ("name", "nodes", "platform", "options"),
    [
        ("cnv_2w2a", 21, "pynq-z1", {}),
        pytest.param("cnv_2w2a", 21, "zcu104", {"fps": 1000.0}, marks=pytest.mark.slow),
        pytest.param(
            "cnv_2w2a",
            21,
            "xcku5p",
            {"cap": dict.fromkeys(("LUT", "FF", "BRAM18", "URAM", "DSP"), 0.5)},
            marks=pytest.mark.slow,
        ),
        pytest.param("mobilenet_v1_w4a4", 86, "alveo-u250", {"fps": 200.0}, marks=pytest.mark.slow),
        pytest.param("rn18", 106, "alveo-u250", {}, marks=pytest.mark.slow),
        pytest.param("rn18", 106, "alveo-u250", {"fps": 400.0}, marks=pytest.mark.slow),
        ("part", 20, "alveo-u250", {}),
    ],
)
def test_finn_plus_tells_the_numbers_of_saved_graphs(
    name: str, nodes: int, platform: str, options: dict[str, Any], folder: Path, finn_plus: FinnPlus
) -> None:
    graph = fire_modules(folder) if name == "part" else saved(name, folder)
    outcome = plan(graph, platform, granularity="slot", **options)
    assert len(planned(outcome.plan)) == nodes
    assert_agreed(outcome, graph, folder, finn_plus)


@pytest.mark.parametrize(
    ("network", "image", "platform", "options", "last"),
    [
        (TFC, True, "pynq-z1", {}, "LabelSelect_hls_0"),
        (TFC, False, "alveo-u250", {"fps": 50_000.0}, "ElementwiseAdd_hls_0"),
        pytest.param(CNV, True, "zcu104", {}, "LabelSelect_hls_0", marks=pytest.mark.slow),
    ],
)
def test_finn_plus_tells_the_numbers_of_networks_that_it_converts_live(
    network: Path, image: bool, platform: str, options: dict[str, Any], last: str, folder: Path, finn_plus: FinnPlus
) -> None:
    graph = folder / f"{network.stem}_{image}.onnx"
    names = finn_plus.convert(network, graph, image=image)
    outcome = plan(graph, platform, **options)
    assert names[-1] == last
    assert set(planned(outcome.plan)) == set(names)
    assert_agreed(outcome, graph, folder, finn_plus)


@pytest.mark.parametrize(
    ("name", "platform"),
    [
        ("cnv_2w2a", "zcu104"),
        pytest.param("mobilenet_v1_w4a4", "alveo-u250", marks=pytest.mark.slow),
        pytest.param("rn18", "alveo-u250", marks=pytest.mark.slow),
    ],
)
def test_finn_plus_takes_the_styles_that_floorflow_chooses_itself(
    name: str, platform: str, folder: Path, finn_plus: FinnPlus
) -> None:
    """Resources differ, for floorflow prices what FINN+ leaves out; cycles do not."""
    graph = saved(name, folder)
    outcome = plan(graph, platform, costs="estimated", fps=300.0, granularity="slot")
    file = folding_file(outcome, folder)
    told = finn_plus.numbers(graph, file, outcome.plan.platform.fpgas[0].part)
    assert {name: n[0] for name, n in told.items()} == {name: n[0] for name, n in planned(outcome.plan).items()}
    emitted = json.loads(file.read_text(encoding="utf-8"))
    assert len({entry.get("mem_mode") for entry in emitted.values()}) > 1
    # FINN+ refuses attributes that a node has not, and what `auto` becomes is HLS's choice: each multiplier is stated.
    stated = {name: entry.get("resType") for name, entry in emitted.items() if name.startswith(("MVAU", "VVAU"))}
    assert set(stated.values()) <= {"lut", "dsp"}
    assert stated


STYLES = (
    {"ram_style": "block", "resType": "lut"},
    {"ram_style": "distributed", "resType": "dsp"},
    {"mem_mode": "internal_embedded"},
    {"ram_style": "ultra", "runtime_writeable_weights": 1},
)


def test_finn_plus_tells_the_numbers_of_a_folding_that_the_user_gives(folder: Path, finn_plus: FinnPlus) -> None:
    """The folding of FINN's SetFolding with styles all over, half as parallel."""
    graph, given = saved("cnv_2w2a", folder), folder / "given.json"
    config: dict[str, dict[str, Any]] = {"Defaults": {"ram_style": ["block", ["ConvolutionInputGenerator_rtl"]]}}
    for index, node in enumerate(onnx.load(graph).graph.node):
        if node.op_type == "ConstantOfShape":
            continue
        folding = {a.name: a.i for a in node.attribute if a.name in ("PE", "SIMD")}
        matrix = node.op_type == "MVAU_hls"
        halved = {key: value // 2 if matrix and value % 2 == 0 else value for key, value in folding.items()}
        config[node.name] = halved | (STYLES[index % len(STYLES)] if matrix else {})
    given.write_text(json.dumps(config), encoding="utf-8")
    outcome = plan(graph, "alveo-u250", folding=given, keep_folding=True, granularity="slot")
    assert finn_plus.numbers(graph, given, "xcu250-figd2104-2L-e") == planned(outcome.plan)
    assert_agreed(outcome, graph, folder, finn_plus)


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"MVAU_hls_1": {"PE": 3}}, "attribute PE of MVAU_hls is 3"),
        ({"MVAU_hls_1": {"PE": 128}}, "attribute PE of MVAU_hls is 128"),
        ({"MVAU_hls_1": {"SIMD": 5}}, "attribute SIMD of MVAU_hls is 5"),
        ({"MVAU_hls_1": {"ram_style": "ultra"}}, "runtime_writeable_weights must be 1"),
        ({"MVAU_hls_99": {"PE": 2}}, "no node 'MVAU_hls_99'"),
        ({"Defaults": {"PE": [2, ["all"]]}}, "Defaults: PE"),
    ],
)
def test_what_finn_plus_takes_although_it_cannot_be_built_is_refused(
    entries: dict[str, Any], reason: str, folder: Path, finn_plus: FinnPlus
) -> None:
    graph, given = saved("cnv_2w2a", folder), folder / "wrong.json"
    given.write_text(json.dumps(entries), encoding="utf-8")
    assert finn_plus.numbers(graph, given, "xcu250-figd2104-2L-e")
    with pytest.raises(InputError, match=reason):
        plan(graph, "alveo-u250", folding=given, keep_folding=True)
