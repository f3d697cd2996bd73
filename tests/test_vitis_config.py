"""The reader of v++ configurations takes those of a card between two others, and no planted mistake."""

import pytest

from tests.vitis_config import Card, problems

CARD = Card(
    {
        "idma": {"m_axi_gmem0": "memory", "m_axis_0": "out"},
        "odma": {"m_axi_gmem0": "memory", "s_axis_0": "in"},
        "fork": {"s_axis_0": "in", "m_axis_0": "out", "m_axis_1": "out"},
        "join": {"s_axis_0": "in", "s_axis_1": "in", "m_axis_0": "out"},
        "aurora_flow_0": {"rx_axis": "out", "tx_axis": "in"},
    },
    {"DDR": 4, "HBM": 32},
    4,
    2,
)
LEGAL = """\
platform=xilinx_u250_gen3x16_xdma_4_1_202210_1
[connectivity]
nk=idma:1:idma_0
nk=odma:1:odma_0
nk=fork:1:fork_0
nk=join:1:join_0
nk=aurora_flow_0:1:aurora_flow_0
sc=idma_0.m_axis_0:fork_0.s_axis_0   # comments end a line
sc=fork_0.m_axis_0:join_0.s_axis_0
sc=fork_0.m_axis_1:join_0.s_axis_1
sc=join_0.m_axis_0:aurora_flow_0.tx_axis
sc=aurora_flow_0.rx_axis:odma_0.s_axis_0
sp=idma_0.m_axi_gmem0:DDR[0]
sp=odma_0.m_axi_gmem0:HBM[0:3]
slr=aurora_flow_0:SLR2
connect=io_clk_qsfp1_refclkb_00:aurora_flow_0/gt_refclk_1
connect=aurora_flow_0/gt_port:io_gt_qsfp1_00
connect=aurora_flow_0/init_clk:ii_level0_wire/ulp_m_aclk_freerun_ref_00
[clock]
freqHz=300000000:aurora_flow_0.ap_clk,join_0.ap_clk_2
[vivado]
prop=run.impl_1.STEPS.OPT_DESIGN.TCL.PRE=/plan/fpga0/pblocks.tcl
[advanced]
param=compiler.userPostSysLinkOverlayTcl=/plan/insert.tcl
"""


def test_what_is_legal_is_taken() -> None:
    assert problems(LEGAL, CARD) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[connectivity]", "[connectivty]", "no section [connectivty]"),
        ("[vivado]", "[]", "no section []"),
        ("prop=run", "properties=run", "[vivado] has no properties"),
        ("platform=", "platfrom=", "[] has no platfrom"),
        ("slr=aurora_flow_0:SLR2", "slr aurora_flow_0:SLR2", "expected key=value"),
        ("nk=idma:1:idma_0", "nk=idma:idma_0", "expected kernel:count:units"),
        ("nk=odma:1:odma_0", "nk=odma:2:odma_0", "2 units of odma have 1 names"),
        ("nk=odma:1:odma_0", "nk=odna:1:odma_0", "no kernel odna"),
        ("nk=join:1:join_0", "nk=join:1:fork_0", "compute unit fork_0 is there twice"),
        ("sc=idma_0.m_axis_0:fork_0", "sc=idma_0.m_axis_0:fork_1", "no compute unit fork_1"),
        ("sc=idma_0.m_axis_0", "sc=idma_0.m_axis_1", "idma_0 has no port m_axis_1"),
        ("join_0.s_axis_1", "join_0.s_axis_0", "join_0.s_axis_0 is joined twice"),
        ("sc=fork_0.m_axis_1:join_0.s_axis_1\n", "", "join_0.s_axis_1 is joined to nothing"),
        ("aurora_flow_0.tx_axis", "aurora_flow_0.rx_axis", "aurora_flow_0.rx_axis goes out, not in"),
        ("sc=fork_0.m_axis_0:join_0.s_axis_0", "sc=fork_0:join_0", "expected unit.port:unit.port"),
        ("sp=idma_0.m_axi_gmem0", "sp=odma0.m_axi_gmem0", "no compute unit odma0"),
        ("sp=idma_0.m_axi_gmem0", "sp=idma_0.m_axi_gmem1", "idma_0 has no port m_axi_gmem1"),
        ("sp=idma_0.m_axi_gmem0", "sp=idma_0.m_axis_0", "idma_0.m_axis_0 goes out, not memory"),
        ("DDR[0]", "DDR[4]", "no memory bank DDR[4]"),
        ("HBM[0:3]", "HBM[3:0]", "no memory bank HBM[3:0]"),
        ("DDR[0]", "PLRAM[0]", "no memory bank PLRAM[0]"),
        ("sp=odma_0", "sp=idma_0", "idma_0.m_axi_gmem0 has two banks"),
        ("slr=aurora_flow_0:SLR2", "slr=aurora_flow_0:SLR4", "no SLR4"),
        ("slr=aurora_flow_0:SLR2", "slr=aurora_flow_1:SLR2", "no compute unit aurora_flow_1"),
        ("connect=io", "slr=aurora_flow_0:SLR1\nconnect=io", "aurora_flow_0 is placed twice"),
        ("connect=io_clk_qsfp1", "connect=io_clk_qsfp2", "no cage 2"),
        ("connect=aurora_flow_0/gt_port", "connect=aurora_flow_1/gt_port", "no compute unit aurora_flow_1"),
        ("300000000:", "300MHz:", "expected hertz:unit.pin"),
        (",join_0.ap_clk_2", ",join_1.ap_clk_2", "no compute unit join_1"),
        ("TCL.PRE=/plan/fpga0/pblocks.tcl", "TCL.PRE", "expected a name and a value"),
    ],
)
def test_a_planted_mistake_is_told(old: str, new: str, told: str) -> None:
    assert old in LEGAL
    assert any(told in problem for problem in problems(LEGAL.replace(old, new, 1), CARD))
