"""Link kernels of a plan whose tool joins no cards: their sources, how they are packaged, and each card's connections.

A card's part of the network is one kernel, ``part_<fpga>``: yours to package. Its streams from the host and from other
cards are ``s_axis_0``, ... and those to them ``m_axis_0``, ..., as the plan's channels follow one another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from floorflow.emit.link_kernels import MOST_STREAMS, LinkKernel, LinkStream, cost, link_files, receive_words
from floorflow.errors import some
from floorflow.facts import PhaseEntry, Plan
from floorflow.facts.platform import PlatformEntry
from floorflow.facts.topology import LinkedStream, linked_streams
from floorflow.resources import Fractions, Resources

LINK_KIND = "aurora-100g"
MOST_JOINED_BITS = 4088
"""Of a stream between two kernels; v++ refuses 4,096 (FINN issue 1276)."""
LINK_MHZ = 300
"""Clock of a link's kernels: 512 bits carry its 100 Gb/s from 196 MHz on, whatever the network's clock."""


@dataclass(frozen=True)
class LinkEnd:
    """One end of a cable: its card, cage and SLR, and the streams that leave and arrive there."""

    fpga: str
    cage: int
    slot: str
    slr: str
    kernel: LinkKernel

    def port(self, stream: str, *, leaves: bool) -> str:
        """Return the port of a stream, as v++ writes it."""
        side, streams = ("s", self.kernel.sends) if leaves else ("m", self.kernel.receives)
        return f"link_{self.cage}.{side}_axis_{[one.name for one in streams].index(stream)}"


@dataclass(frozen=True)
class Links:
    """The streams over links of a phase, and the kernels at both ends of each cable."""

    platform: PlatformEntry
    phase: PhaseEntry

    @cached_property
    def streams(self) -> list[LinkedStream]:
        """A row for each link that a stream passes."""
        return linked_streams(self.platform, self.phase)

    @cached_property
    def ends(self) -> list[LinkEnd]:
        """The ends of all cables, card by card."""
        slr_of = {slot.name: slot.slr for slot in self.platform.slots}
        cables = {one.cable.link.name: one.cable for one in self.streams}
        found = []
        for name, cable in cables.items():
            over = [one for one in self.streams if one.cable.link.name == name]
            for (fpga, cage), slot in zip(cable.cages.items(), (cable.link.source, cable.link.target), strict=True):
                sends = tuple(_stream(one) for one in over if one.source == fpga)
                receives = tuple(_stream(one) for one in over if one.target == fpga)
                kernel = LinkKernel(f"floorflow_link_{fpga}_{cage}", sends, receives)
                found.append(LinkEnd(fpga, cage, slot, slr_of[slot], kernel))
        order = [fpga.name for fpga in self.platform.fpgas]
        return sorted(found, key=lambda end: (order.index(end.fpga), end.cage))

    def connections(self, fpga: str) -> Iterator[str]:
        """Yield the streams between the kernels of a card; those of the host are joined to DMA engines by another file.

        What arrives for another card goes on over the next link.
        """
        inputs: Counter[bool] = Counter()
        for channel in self.phase.channels:
            stays = [self._card_of(channel.source) == fpga, self._card_of(channel.target) == fpga]
            over = [
                one for one in self.streams if one.stream.channel == channel.name and fpga in (one.source, one.target)
            ]
            comes = [self._end(one, fpga).port(channel.name, leaves=False) for one in over if one.target == fpga]
            goes = [self._end(one, fpga).port(channel.name, leaves=True) for one in over if one.source == fpga]
            if stays == [True, False]:
                comes = [f"part_0.m_axis_{inputs[False]}"]
                inputs[False] += 1
            if stays == [False, True]:
                goes = [f"part_0.s_axis_{inputs[True]}"]
                inputs[True] += 1
            yield from (f"sc={source}:{target}" for source, target in zip(comes, goes, strict=False))

    @property
    def over_aurora(self) -> bool:
        """Whether all links that carry streams are Aurora's, on Alveo cards (whose parts are so called)."""
        kinds = {one.cable.link.kind for one in self.streams}
        return kinds == {LINK_KIND} and all(fpga.part.startswith("xcu") for fpga in self.platform.fpgas)

    @property
    def are_made(self) -> bool:
        """Whether there are link kernels for all of them."""
        return self.over_aurora and max(self._counts.values()) <= MOST_STREAMS

    @property
    def _counts(self) -> Counter[tuple[str, str]]:
        return Counter((one.source, one.target) for one in self.streams)

    def objections(self, cap: Fractions) -> Iterator[str]:
        """Yield what keeps link kernels from being built, if a plan may have some."""
        if self.over_aurora:
            for (source, target), count in self._counts.items():
                if count > MOST_STREAMS:
                    yield f"a link kernel sends at most {MOST_STREAMS} streams, and {source} sends {count} to {target}"
            for one in (one for end in self.ends for one in end.kernel.sends if one.bits > MOST_JOINED_BITS):
                yield f"v++ joins kernels by at most {MOST_JOINED_BITS:,} bits, and {one.name} has {one.bits:,}"
            yield from self._too_large(cap)

    def _too_large(self, cap: Fractions) -> Iterator[str]:
        """Yield the slots that have no room for their link kernels beside what they hold: no partition knows of them.

        They are infrastructure, of which the cap is no share.
        """
        taken: dict[str, Resources] = {}
        for end in self.ends:
            taken[end.slot] = taken.get(end.slot, Resources()) + cost(end.kernel)
        for slot in (slot for slot in self.platform.slots if slot.name in taken):
            left = (slot.available.resources - taken[slot.name]).as_dict()
            held, caps = self.phase.demand(slot.name).as_dict(), cap.as_dict()
            short = [name for name, amount in held.items() if amount > caps[name] * left[name]]
            if short:
                yield (
                    f"link kernels take {told(taken[slot.name])} of {slot.name}, and of what they leave it holds more "
                    f"{some(short)} than allowed: plan with a lower --cap, or cuts at fewer streams (--link-streams)"
                )

    def _end(self, one: LinkedStream, fpga: str) -> LinkEnd:
        return next(e for e in self.ends if (e.fpga, e.cage) == (fpga, one.cable.cages[fpga]))

    def _card_of(self, end: str) -> str | None:
        """Return the card of an engine, None for what is outside."""
        slot = self.phase.slot_of.get(end)
        return None if slot is None else {s.name: s.fpga for s in self.platform.slots}[slot]


def _stream(one: LinkedStream) -> LinkStream:
    bits = -(-one.stream.width_bits // 8) * 8
    words = receive_words(one.stream.gbps or 0.0, one.cable.link.latency_us, LINK_MHZ)
    return LinkStream(one.stream.channel, bits, words)


def link_kernel_files(plan: Plan, phase: PhaseEntry) -> dict[str, str]:
    """Return the files of link kernels; none where the tool joins the cards itself, or there are no such kernels."""
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
            files[f"{fpga.name}/links.cfg"] = _config(links, fpga.name, own)
    return files


def _config(links: Links, fpga: str, ends: Sequence[LinkEnd]) -> str:
    lines = [f"nk=part_{fpga}:1:part_0"]
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
    return _CONFIG.format(
        fpga=fpga,
        told="\n".join(amounts),
        lines="\n".join([*lines, *links.connections(fpga)]),
        clocks="\n".join(f"freqHz={LINK_MHZ}000000:{pins}" for pins in clocks),
    )


def told(resources: Resources) -> str:
    """Return amounts in words."""
    return ", ".join(f"{amount:,} {name}" for name, amount in resources.as_dict().items() if amount)


_CONFIG = """\
# For v++: the links of {fpga}. Kernels: part_{fpga}, the card's part of the network, is yours to package (its ports are
# those below, and s_axis or m_axis of the host's streams); link kernels come of links/package.tcl; aurora_flow is
# pc2/AuroraFlow, made with USE_FRAMING=1 RX_FIFO_SIZE=8192. DMA engines and the host's streams are for a file beside.
{told}
[connectivity]
{lines}

[clock]
{clocks}
"""
_PACKAGE = """\
# Packages the link kernels as Vitis does RTL kernels: vivado -mode batch -source package.tcl
set here [file dirname [file normalize [info script]]]
foreach kernel {{{kernels}}} {{
    create_project -force $kernel [file join $here made $kernel] -part {part}
    add_files -norecurse [glob [file join $here floorflow_link_{{pack,unpack,fifo,prbs,send,receive,registers}}.sv]]
    add_files -norecurse [file join $here $kernel.sv]
    set_property top $kernel [current_fileset]
    set_property XPM_LIBRARIES {{XPM_CDC XPM_FIFO}} [current_project]
    update_compile_order -fileset sources_1
    set folder [file join $here made ip_$kernel]
    ipx::package_project -root_dir $folder -vendor floorflow -library kernels -taxonomy /UserIP -import_files
    set core [ipx::current_core]
    foreach bus [ipx::get_bus_interfaces -of_objects $core] {{
        set name [get_property NAME $bus]
        if {{[string match {{[sm]_axi*}} $name]}} {{
            ipx::associate_bus_interfaces -busif $name -clock ap_clk $core
        }} elseif {{[string match link_* $name]}} {{
            ipx::associate_bus_interfaces -busif $name -clock ap_clk_2 $core
        }}
    }}
    ipx::associate_bus_interfaces -clock ap_clk -reset ap_rst_n $core
    ipx::associate_bus_interfaces -clock ap_clk_2 -reset ap_rst_n_2 $core
    set_property sdx_kernel true $core
    set_property sdx_kernel_type rtl $core
    ipx::update_checksums $core
    ipx::save_core $core
    package_xo -force -xo_path [file join $here $kernel.xo] -kernel_name $kernel -ctrl_protocol ap_ctrl_none \\
        -ip_directory $folder
    close_project
}}
"""
