"""vitis/relink.sh links FINN's project with the plan's second configuration, and stops where they do not fit."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import floorflow as ff
from tests import built_kernels
from tests.emit.test_next import faults
from tests.plans import FAST, TFC

SHELL = "xilinx_u250_gen3x16_xdma_4_1_202210_1"
TOOL = """#!/bin/bash
[ "$1" = --version ] && { echo "****** v++ v2022.2 (64-bit)"; exit 0; }
echo "$@" > asked
mkdir -p _x/link/vivado/vpl && touch _x/link/vivado/vpl/.synth.end.rst
echo bits > a.xclbin
"""
LINK = (
    f"#!/bin/bash \nv++ -t hw --platform {SHELL} --link a.xo --kernel_frequency 250 --config config.txt --optimize 2\n"
)


@pytest.fixture(scope="module")
def bound(cnv_on_u250: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_kernels.bound(cnv_on_u250, tmp_path_factory.mktemp("vitis"))


@pytest.fixture
def link(tmp_path: Path) -> Path:
    """FINN's link folder, with a v++ beside it that only writes down what it is asked."""
    folder = tmp_path / "link"
    folder.mkdir()
    (folder / "run_vitis_link.sh").write_text(LINK)
    (tmp_path / "bin").mkdir()
    for name, text in (("v++", TOOL), ("xclbinutil", "#!/bin/bash\necho 'Frequency: 250 MHz'\n")):
        tool = tmp_path / "bin" / name
        tool.write_text(text)
        tool.chmod(0o755)
    return folder


def relink(out: Path, link: Path, *more: str) -> subprocess.CompletedProcess[str]:
    path = f"{link.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", str(out / "vitis" / "relink.sh"), str(link), *more]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PATH": path})


def test_the_second_configuration_holds_hook_and_bank(bound: Path, link: Path) -> None:
    done = relink(bound, link)
    assert done.returncode == 0, done.stderr
    assert f"--config {link / 'floorflow.cfg'} -t hw --platform {SHELL}" in (link / "asked").read_text()
    lines = (link / "floorflow.cfg").read_text().splitlines()
    assert f"prop=run.impl_1.STEPS.OPT_DESIGN.TCL.PRE={bound / 'fpga0' / 'pblocks.tcl'}" in lines
    report, steps = bound / "vivado" / "floorflow_report.tcl", "prop=run.impl_1.STEPS."
    assert f"{steps}POST_ROUTE_PHYS_OPT_DESIGN.IS_ENABLED=true" in lines
    assert [line for line in lines if str(report) in line] == [f"{steps}POST_ROUTE_PHYS_OPT_DESIGN.TCL.POST={report}"]
    assert "sp=odma0.m_axi_gmem0:DDR[0]" in lines
    assert (link / "floorflow_xclbin.info").exists()


def test_slices_are_inserted_behind_the_linker_and_placed_behind_the_floorplan(bound: Path, link: Path) -> None:
    out = link.parent / "out"
    shutil.copytree(bound, out)
    config, crossings = out / "vitis" / "floorflow.cfg", out / "vitis" / "crossings.tcl"
    config.write_text(f"{config.read_text()}[advanced]\nparam=compiler.userPostSysLinkOverlayTcl=@INSERT@\n")
    assert "there is no" in relink(out, link).stderr
    crossings.write_text("# rows\n")
    assert relink(out, link).returncode == 0
    lines = (link / "floorflow.cfg").read_text().splitlines()
    scripts = [link / "floorflow_pre_opt.tcl", link / "floorflow_insert.tcl"]
    assert f"prop=run.impl_1.STEPS.OPT_DESIGN.TCL.PRE={scripts[0]}" in lines
    assert f"param=compiler.userPostSysLinkOverlayTcl={scripts[1]}" in lines
    hook, rows = f"source {{{out / 'fpga0' / 'pblocks.tcl'}}}", f"source {{{crossings}}}"
    assert [path.read_text().splitlines() for path in scripts] == [
        [hook, rows, "floorflow::place_slices"],
        [rows, "floorflow::insert_slices"],
    ]


def test_finns_own_script_and_result_stay(bound: Path, link: Path) -> None:
    (link / "a.xclbin").write_text("before\n")
    assert relink(bound, link).returncode == 0
    assert (link / "run_vitis_link.sh").read_text() == LINK
    assert (link / "a.before.xclbin").read_text() == "before\n"


def test_what_finn_sets_of_ours_is_left_out_of_its_file(bound: Path, link: Path) -> None:
    """Else it would be v++ that decides which of the two holds."""
    (link / "config.txt").write_text(OF_ONE)
    assert relink(bound, link).returncode == 0
    assert f"--config {link / 'floorflow_finn.cfg'} " in (link / "asked").read_text()
    kept = (link / "floorflow_finn.cfg").read_text()
    assert [line for line in OF_ONE.splitlines() if line not in kept.splitlines()] == [
        "prop=run.impl_1.STEPS.PLACE_DESIGN.ARGS.DIRECTIVE=Explore"
    ]
    assert (link / "config.txt").read_text() == OF_ONE


def test_other_constraints_alone_are_implemented_without_a_new_link(bound: Path, link: Path) -> None:
    """After FINN's own link all is new; then only what Vivado reads when it implements may be another."""
    out = shutil.copytree(bound, link.parent / "out")

    def goes_on() -> bool:
        done = relink(out, link)
        assert done.returncode == 0, done.stderr
        return "--from_step vpl.impl" in (link / "asked").read_text()

    (link / "_x/link/vivado/vpl").mkdir(parents=True)
    (link / "_x/link/vivado/vpl/.synth.end.rst").touch()
    assert [goes_on(), goes_on()] == [False, True]
    with (out / "fpga0" / "pblocks.tcl").open("a") as hook:
        hook.write("# another\n")
    assert goes_on()
    config = out / "vitis" / "floorflow.cfg"
    config.write_text(config.read_text().replace("=SSI_SpreadLogic_high", "=SSI_SpreadSLLs"))
    assert [goes_on(), goes_on()] == [False, True]
    (link / "_x/link/vivado/vpl/.synth.end.rst").unlink()
    assert not goes_on()
    (link.parent / "bin/v++").write_text(TOOL.replace("touch ", "false "))
    (link / "_x/link/vivado/vpl/.synth.end.rst").unlink()
    relink(out, link)
    assert not goes_on()


def test_finn_plus_calls_its_script_otherwise(bound: Path, link: Path) -> None:
    (link / "run_vitis_link.sh").rename(link / "run_link.sh")
    assert relink(bound, link).returncode == 0


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("link/run_vitis_link.sh", SHELL, "xilinx_u280", f"links for another platform than {SHELL}"),
        ("link/run_vitis_link.sh", SHELL, f"{SHELL}_old", f"links for another platform than {SHELL}"),
        ("link/run_vitis_link.sh", "v++ ", "/opt/v++ ", "no line that begins with v++"),
        ("bin/v++", "2022.2", "2021.1", "this is Vitis 2021.1, FINN's project is of 2022.2"),
        ("bin/v++", "echo bits > a.xclbin", "", "v++ made no a.xclbin"),
    ],
)
def test_what_does_not_fit_stops_it(file: str, old: str, new: str, told: str, bound: Path, link: Path) -> None:
    path = link.parent / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    done = relink(bound, link)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_an_unbound_plan_is_refused(cnv_on_u250: Path, link: Path) -> None:
    done = relink(cnv_on_u250, link)
    assert (done.returncode, "floorflow bind" in done.stderr) == (2, True)


def test_a_folder_that_is_none_of_finns_is_refused(bound: Path, link: Path) -> None:
    shutil.rmtree(link)
    assert "there is no folder" in relink(bound, link).stderr
    link.mkdir()
    assert "give FINN's link folder" in relink(bound, link).stderr


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a plan of two copies on a card."""
    out = tmp_path_factory.mktemp("copies") / "out"
    ff.plan(TFC, "alveo-u250", replicas=2, **FAST).save(out)
    return out


OF_ONE = """[connectivity]
nk=StreamingDataflowPartition_0:1:idma0
slr=idma0:SLR2
sp=idma0.m_axi_gmem0:DDR[2]
nk=StreamingDataflowPartition_1:1:StreamingDataflowPartition_1
slr=StreamingDataflowPartition_1:SLR2
stream_connect=idma0.m_axis_0:StreamingDataflowPartition_1.s_axis_0
nk=StreamingDataflowPartition_2:1:odma0
stream_connect=StreamingDataflowPartition_1.m_axis_0:odma0.s_axis_0
[vivado]
prop=run.impl_1.STEPS.PLACE_DESIGN.ARGS.DIRECTIVE=Explore
prop=run.impl_1.STEPS.POWER_OPT_DESIGN.IS_ENABLED=true
"""
"""What FINN's VitisLink writes for one copy."""


def test_the_way_of_copies_can_be_gone(copies: Path) -> None:
    told = (copies / "NEXT.md").read_text()
    assert faults(copies, told) == []
    assert "bash vitis/relink.sh LINK_DIR" in told


def test_copies_are_linked_of_the_kernels_of_one(copies: Path, link: Path) -> None:
    (link / "config.txt").write_text(OF_ONE)
    done = relink(copies, link)
    assert done.returncode == 0, done.stderr
    asked, lines = (link / "asked").read_text(), (link / "floorflow.cfg").read_text().splitlines()
    assert f"--config {link / 'floorflow.cfg'} " in asked
    assert "config.txt" not in asked
    assert "nk=StreamingDataflowPartition_1:2:StreamingDataflowPartition_1_0.StreamingDataflowPartition_1_1" in lines
    assert [line for line in lines if "PLACE_DESIGN" in line or "POWER_OPT" in line] == [
        "prop=run.impl_1.STEPS.PLACE_DESIGN.ARGS.DIRECTIVE=SSI_SpreadLogic_high",
        "prop=run.impl_1.STEPS.POWER_OPT_DESIGN.IS_ENABLED=true",
    ]
    assert not any("@" in line or "OPT_DESIGN.TCL.PRE" in line for line in lines)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("nk=StreamingDataflowPartition_2:1:odma0", "nk=StreamingDataflowPartition_3:1:odma0"),
        ("odma0.s_axis_0", "odma0.s_axis_1"),
        ("StreamingDataflowPartition_1.m_axis_0", "StreamingDataflowPartition_1.m_axis_1"),
        ("nk=StreamingDataflowPartition_1:1:StreamingDataflowPartition_1\n", ""),
    ],
)
def test_copies_of_other_kernels_are_refused(copies: Path, link: Path, old: str, new: str) -> None:
    assert old in OF_ONE
    (link / "config.txt").write_text(OF_ONE.replace(old, new))
    done = relink(copies, link)
    assert done.returncode == 2
    assert "joins other kernels than the plan's first copy" in done.stderr
    assert not (link / "asked").exists()


def test_each_of_several_cards_has_a_folder_with_its_own(bound: Path, link: Path) -> None:
    out = link.parent / "out"
    shutil.copytree(bound, out)
    shutil.copytree(out / "fpga0", out / "fpga1")
    shutil.move(out / "vitis", out / "fpga1" / "vitis")
    done = relink(out / "fpga1", link)
    assert done.returncode == 0, done.stderr
    told = (link / "floorflow.cfg").read_text()
    assert f"TCL.PRE={out / 'fpga1' / 'pblocks.tcl'}\n" in told
    assert f"TCL.POST={out / 'vivado' / 'floorflow_report.tcl'}\n" in told
