"""A project folder of hls4ml is audited: its layers priced as built, what HLS and Vivado said beside them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from floorflow.backends.hls4ml.backend import BACKEND
from floorflow.backends.hls4ml.costs import Hls4mlCosts
from floorflow.backends.hls4ml.options import Hls4mlOptions
from floorflow.backends.hls4ml.project import Hls4mlProject
from floorflow.cli.main import app
from floorflow.resources import Resources
from tests.study import report_samples

# In the shape of what hls4ml 1.3.0 writes; its own files are read in tests/tools_hls4ml/test_projects.py.
DEFINES = """// hls-fpga-machine-learning insert layer-precision
typedef ap_fixed<16,6> input_t;
typedef ap_fixed<24,12> first_result_t;
typedef ap_fixed<26,12> first_accum_t;
typedef ap_fixed<7,1> weight2_t;
typedef ap_ufixed<8,3> layer3_t;
typedef ap_fixed<20,9> result_t;
"""
DENSE = """// {layer}
struct config{number} : nnet::dense_config {{
    static const unsigned n_in = {inputs};
    static const unsigned n_out = {outputs};
    static const unsigned strategy = nnet::resource;
    static const unsigned reuse_factor = {reuse};
    typedef first_accum_t accum_t;
    typedef weight2_t weight_t;
}};

"""
PARAMETERS = (
    "// hls-fpga-machine-learning insert layer-config\n"
    + DENSE.format(layer="first", number=2, inputs=16, outputs=64, reuse=64)
    + "// act\nstruct relu_config3 : nnet::activ_config {\n    static const unsigned n_in = 64;\n};\n\n"
    + DENSE.format(layer="second", number=4, inputs=64, outputs=5, reuse=32)
)
CALLS = """#include "parameters.h"
    // hls-fpga-machine-learning insert layers
    nnet::dense<input_t, first_result_t, config2>(x, layer2_out, w2, b2); // first

    nnet::relu<first_result_t, layer3_t, relu_config3>(layer2_out, layer3_out); // act

    nnet::dense<layer3_t, result_t, config4>(layer3_out, layer4_out, w4, b4); // second
"""
CONFIGURATION = """Backend: Vivado
ClockPeriod: 5
HLSConfig:
  Model:
    Precision: fixed<16,6>
IOType: io_stream
OnnxModel: !!python/object:qonnx.core.modelwrapper.ModelWrapper {}
Part: xc7z020clg400-1
ProjectName: jets
"""
CSYNTH = """<?xml version="1.0" encoding="UTF-8"?>
<profile>
<ReportVersion><Version>2019.2</Version></ReportVersion>
<UserAssignments><Part>xc7z020clg400-1</Part><TargetClockPeriod>5.00</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency>
<Worst-caseLatency>258</Worst-caseLatency><Interval-max>64</Interval-max>
</SummaryOfOverallLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>4</BRAM_18K><DSP48E>{dsp}</DSP48E><FF>900</FF><LUT>{lut}</LUT></Resources>
<AvailableResources><BRAM_18K>280</BRAM_18K><DSP48E>220</DSP48E><FF>1</FF><LUT>53200</LUT></AvailableResources>
</AreaEstimates></profile>
"""
CSYNTH_TEXT = """================================================================
== Vivado HLS Report for 'jets'
================================================================
* Version:        2020.1 (Build 2897737)
* Target device:  xc7z020-clg400-1

+ Latency:
    * Summary:
    +---------+---------+----------+----------+-----+-----+----------+
    |  Latency (cycles) |  Latency (absolute) |  Interval | Pipeline |
    |   min   |   max   |    min   |    max   | min | max |   Type   |
    +---------+---------+----------+----------+-----+-----+----------+
    |      250|      258| 1.2 us   | 1.3 us   |   60|   64| dataflow |
    +---------+---------+----------+----------+-----+-----+----------+

+-----------------+---------+-------+--------+-------+-----+
|       Name      | BRAM_18K| DSP48E|   FF   |  LUT  | URAM|
+-----------------+---------+-------+--------+-------+-----+
|Instance         |        4|     21|     900|   4000|    -|
|Total            |        4|     21|     900|   4000|    0|
+-----------------+---------+-------+--------+-------+-----+
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "jets"
    reports = folder / "jets_prj" / "solution1" / "syn" / "report"
    (folder / "firmware").mkdir(parents=True)
    reports.mkdir(parents=True)
    (folder / "firmware" / "defines.h").write_text(DEFINES)
    (folder / "firmware" / "parameters.h").write_text(PARAMETERS)
    (folder / "firmware" / "jets.cpp").write_text(CALLS)
    (folder / "hls4ml_config.yml").write_text(CONFIGURATION)
    (reports / "jets_csynth.xml").write_text(CSYNTH.format(dsp=21, lut=4000))
    (reports / "dense_resource_ap_fixed_config4_s_csynth.xml").write_text(CSYNTH.format(dsp=9, lut=800))
    use = Resources(15176, 14503, 4, 0, 21)
    (folder / "vivado_synth.rpt").write_text(report_samples.flat_text("jets", use))
    return folder


def found_in(folder: Path, *words: str) -> dict:  # type: ignore[type-arg]
    answer = CliRunner().invoke(app, ["audit", str(folder), "--json", *words])
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)  # type: ignore[no-any-return]


def test_layers_are_priced_at_the_reuse_factors_and_widths_that_they_were_built_with(project: Path) -> None:
    found = found_in(project)
    nodes = {node["name"]: node for node in found["nodes"]}
    assert list(nodes) == ["first", "act", "second"]
    assert nodes["first"]["folding"] == {"ReuseFactor": 64, "Strategy": "Resource"}
    assert nodes["first"]["cycles"]["floorflow"] == 64
    options = BACKEND.built_options(project, Hls4mlCosts(Hls4mlOptions()))
    assert nodes["second"]["predicted"] == options["second"].resources.as_dict()
    assert nodes["second"]["tool_estimate"]["LUT"] == 800, "of HLS, by the number of its configuration"
    assert nodes["act"]["predicted"]["LUT"] > 0


def test_constants_of_a_reuse_factor_of_1_are_the_weights_that_lie_in_the_project(project: Path) -> None:
    parameters = project / "firmware" / "parameters.h"
    parameters.write_text(parameters.read_text().replace("reuse_factor = 64", "reuse_factor = 1"))
    (project / "firmware" / "weights").mkdir()
    luts = {}
    for name, weight in (("zeros", "0.0"), ("halves", "0.5"), ("many", "0.328125")):
        (project / "firmware" / "weights" / "w2.txt").write_text(", ".join([weight] * 16 * 64))
        luts[name] = BACKEND.built_options(project, Hls4mlCosts(Hls4mlOptions()))["first"].resources.lut
    assert luts["zeros"] < luts["halves"] < luts["many"] + 1
    (project / "firmware" / "weights" / "w2.txt").write_text("half, half")
    answer = CliRunner().invoke(app, ["audit", str(project)])
    assert answer.exit_code == 2
    assert "w2.txt" in answer.output


CONVOLUTION = """// seen
struct config2 : nnet::conv{dimensions}d_config {{
    static const unsigned in_width = 20;
    {rows}
    static const unsigned n_chan = 3;
    static const unsigned filt_width = 5;
    static const unsigned n_filt = 8;
    static const unsigned stride_width = 1;
    static const unsigned out_width = 16;
    static const unsigned reuse_factor = 15;
    static const unsigned strategy = nnet::resource;
    typedef first_accum_t accum_t;
    typedef weight2_t weight_t;
}};

"""
ROWS = "static const unsigned in_height = 7;\n    static const unsigned filt_height = 3;"


@pytest.mark.parametrize(("dimensions", "rows", "sizes"), [(1, "", (20, 1, 5, 1)), (2, ROWS, (7, 20, 3, 5))])
def test_convolutions_of_sequences_and_oblong_windows_are_priced(
    project: Path, dimensions: int, rows: str, sizes: tuple[int, ...]
) -> None:
    firmware = project / "firmware"
    layer = CONVOLUTION.format(dimensions=dimensions, rows=rows)
    (firmware / "parameters.h").write_text("// hls-fpga-machine-learning insert layer-config\n" + layer)
    call = f"nnet::conv_{dimensions}d_cl<input_t, first_result_t, config2>(x, y, w2, b2); // seen"
    (firmware / "jets.cpp").write_text(f"// hls-fpga-machine-learning insert layers\n    {call}\n")
    (only,) = Hls4mlProject.of(project).layers
    assert only.engine is not None
    held = only.engine.attributes
    assert tuple(held[f"{part}_{side}"] for part in ("in", "filt") for side in ("height", "width")) == sizes
    assert BACKEND.built_options(project, Hls4mlCosts(Hls4mlOptions()))["seen"].resources.lut > 100


def test_the_whole_is_compared_with_what_vivado_counted(project: Path) -> None:
    found = found_in(project)
    network = found["whole"]["network"]
    assert network["built"] == {"LUT": 15176, "FF": 14503, "BRAM18": 4, "URAM": 0, "DSP": 21}
    assert network["error"]["LUT"] == round(network["predicted"]["LUT"] / 15176 - 1, 4)
    assert found["whole"]["design"]["predicted"] is None, "FINN's shell is not hls4ml's"
    assert (found["rates"]["tool_cycles"], found["latency"]["tool_cycles"]) == (64, 258)
    assert found["target"]["part"] == "xc7z020clg400-1"
    assert found["clock"]["asked_mhz"] == 200
    assert {name: told["told"] for name, told in found["versions"].items()} == {"hls": "2019.2", "vivado": "2022.2"}


def test_reports_and_sources_are_known_by_their_contents(project: Path) -> None:
    before = found_in(project)
    for place, path in enumerate(sorted(p for p in project.rglob("*") if p.suffix in {".rpt", ".h", ".cpp"})):
        path.rename(path.with_name(f"file{place}{path.suffix}"))
    after = found_in(project)
    assert [after[name] for name in ("nodes", "whole", "rates")] == [
        before[name] for name in ("nodes", "whole", "rates")
    ]


def test_rows_of_vivados_hierarchy_are_layers_by_their_number(project: Path) -> None:
    use, top = Resources(700, 60, 0, 0, 5), Resources(15176, 14503, 4, 0, 21)
    cells = [(0, "jets", top), (1, "dense_ap_fixed_config4_U0", use), (2, "mul", use), (1, "relu_config3_U0", use)]
    (project / "vivado_synth.rpt").write_text(report_samples.hierarchy_text(cells))
    nodes = {node["name"]: node for node in found_in(project)["nodes"]}
    assert nodes["second"]["instance"] == "jets/dense_ap_fixed_config4_U0"
    assert nodes["second"]["built"]["LUT"] == 700
    assert nodes["first"]["built"] is None


def test_hlss_report_as_text_tells_the_same(project: Path) -> None:
    for path in project.rglob("*csynth.xml"):
        path.unlink()
    (project / "jets_csynth.rpt").write_text(CSYNTH_TEXT)
    found = found_in(project)
    assert (found["rates"]["tool_cycles"], found["latency"]["tool_cycles"]) == (64, 258)
    assert found["versions"]["hls"]["told"] == "2020.1"


def test_what_is_not_there_is_named_and_the_rest_compared(project: Path) -> None:
    (project / "vivado_synth.rpt").unlink()
    assert any("vivado_synth.rpt" in sentence for sentence in found_in(project)["missing"])
    (project / "firmware" / "defines.h").unlink()
    (project / "firmware" / "parameters.h").unlink()
    (project / "vivado_synth.rpt").write_text(report_samples.flat_text("jets", Resources(5, 6, 0, 0, 1)))
    found = found_in(project, "-p", "pynq-z2")
    assert any("firmware/parameters.h, firmware/defines.h not there" in sentence for sentence in found["missing"])
    assert found["whole"]["network"]["built"]["LUT"] == 5
    assert found["nodes"] == []


def test_an_option_of_finn_says_nothing_to_it(project: Path) -> None:
    assert any(
        "--vivado 2022.2 says nothing to hls4ml" in note for note in found_in(project, "--vivado", "2022.2")["notes"]
    )


def test_several_projects_are_asked_which(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "firmware"
    other.mkdir(parents=True)
    (other / "parameters.h").write_text(PARAMETERS)
    answer = CliRunner().invoke(app, ["audit", str(tmp_path)])
    assert answer.exit_code == 2
    assert "holds 2 builds: jets, other" in " ".join(answer.stderr.split())
