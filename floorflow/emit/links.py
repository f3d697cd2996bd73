"""Link kernels of a plan whose tool joins no cards: their sources, how they are packaged, and each card's connections.

A card's part of the network is one kernel, ``part_<fpga>``: yours to package. Its streams from the host and from other
cards are ``s_axis_0``, ... and those to them ``m_axis_0``, ..., as the plan's channels follow one another.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from floorflow.emit.link_kernels import link_files
from floorflow.facts import PhaseEntry, Plan
from floorflow.facts.link_kernels import cost
from floorflow.facts.links import CardKernels, LinkEnd, Links, told
from floorflow.technology import LINK_MHZ


def link_kernel_files(
    plan: Plan, phase: PhaseEntry, kernels_of: Mapping[str, Callable[[], CardKernels | None]] = MappingProxyType({})
) -> dict[str, str]:
    """Return the files of link kernels; none where the tool joins the cards itself, or there are no such kernels.

    ``kernels_of``: what tells the kernels of a card's part, if a build makes them.
    """
    links = Links(plan.platform, phase)
    if not plan.unbuilt or not links.are_made:
        return {}
    files = {f"links/{name}": text for name, text in link_files([end.kernel for end in links.ends]).items()}
    files["links/package.tcl"] = _PACKAGE.format(
        part=plan.platform.fpgas[0].part, kernels=" ".join(end.kernel.name for end in links.ends)
    )
    for fpga in plan.platform.fpgas:
        own = [end for end in links.ends if end.fpga == fpga.name]
        if own:
            files[f"{fpga.name}/links.cfg"] = _config(links, fpga.name, own, kernels_of.get(fpga.name, lambda: None)())
    return files


def _config(links: Links, fpga: str, ends: Sequence[LinkEnd], kernels: CardKernels | None) -> str:
    lines = [f"nk=part_{fpga}:1:part_0"] if kernels is None else [*kernels.lines]
    for end in ends:
        at, core = end.cage, f"aurora_flow_{end.cage}"
        lines += [
            f"nk={end.kernel.name}:1:link_{at}",
            f"nk={core}:1:{core}",
            f"sc=link_{at}.link_tx:{core}.tx_axis",
            f"sc={core}.rx_axis:link_{at}.link_rx",
            f"slr=link_{at}:{end.slr}",
            f"slr={core}:{end.slr}",
            f"connect=io_clk_qsfp{at}_refclkb_00:{core}/gt_refclk_{at}",
            f"connect={core}/gt_port:io_gt_qsfp{at}_00",
            f"connect={core}/init_clk:ii_level0_wire/ulp_m_aclk_freerun_ref_00",
        ]
    clocks = [f"link_{end.cage}.ap_clk_2,aurora_flow_{end.cage}.ap_clk" for end in ends]
    amounts = [f"# link_{e.cage}: {told(cost(e.kernel))}, beside AuroraFlow" for e in ends]
    head, rest = (_OF_ONE_PART, "") if kernels is None else (_OF_KERNELS, f"\n{kernels.settings}")
    return (
        head.format(fpga=fpga)
        + _CONFIG.format(
            told="\n".join(amounts),
            lines="\n".join([*lines, *links.connections(fpga, None if kernels is None else kernels.ports)]),
            clocks="\n".join(f"freqHz={LINK_MHZ}000000:{pins}" for pins in clocks),
        )
        + rest
    )


_OF_ONE_PART = """\
# For v++: the links of {fpga}. Kernels: part_{fpga}, the card's part of the network, is yours to package (its ports are
# those below, and s_axis or m_axis of the host's streams); link kernels come of links/package.tcl; aurora_flow is
# pc2/AuroraFlow, made with USE_FRAMING=1 RX_FIFO_SIZE=8192. DMA engines and the host's streams are for a file beside.
"""
_OF_KERNELS = """\
# For v++, all of {fpga}; link.sh beside it hands it over. Kernels: StreamingDataflowPartition_* come of finn/build.py,
# link kernels of links/package.tcl; aurora_flow is pc2/AuroraFlow, made with USE_FRAMING=1 RX_FIFO_SIZE=8192.
"""
_CONFIG = """\
{told}
[connectivity]
{lines}

[clock]
{clocks}
"""
_PACKAGE = Path(__file__).with_name("package.tcl.in").read_text(encoding="utf-8")
