"""Areas that the options state by ranges: what is kept free, and pblocks that are to lie where they are told to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from floorflow.verify.hardware.geometry import (
    FREE_SITE_TYPES,
    Device,
    Sites,
    describe,
    difference,
    union,
)
from floorflow.verify.hardware.ranges import SiteRange, clock_region_rectangle, parse_range, sites_of_range
from floorflow.verify.phase_facts import PhaseFacts
from floorflow.verify.violations import Findings


def areas_on(fpga: str, areas: Iterable[str]) -> tuple[str, ...]:
    """Return the ranges that concern an FPGA: its own, after its name, and those without one."""
    parted = (area.rpartition("/") for area in areas)
    return tuple(_spelt_out(text) for name, _, text in parted if name in ("", fpga))


def _spelt_out(text: str) -> str:
    """Return a range of one site as one with two corners."""
    return text if ":" in text else f"{text}:{text}"


def check_fixed(phase: PhaseFacts, fpga: str, device: Device, fixed: Mapping[str, str], findings: Findings) -> None:
    """Judge that the pblocks on an FPGA that the options fix hold just the sites that they are told to."""
    held = phase.raw["floorplan"][fpga]["pblocks"]
    for name, area in fixed.items():
        where = f"{phase.where} pblock {name}"
        if name not in phase.modules:
            findings.add("fixed-pblock", where, f"the options fix {area}, and there is no module {name}")
        owner = area.rpartition("/")[0]
        if name not in held or name not in phase.modules:
            if owner == fpga and name in phase.modules:
                findings.add("fixed-pblock", where, f"the options fix {area}, and it is not on {fpga}")
            continue
        span = parse_range(_spelt_out(area.rpartition("/")[2]))
        if span is None or owner not in ("", fpga):
            findings.add("fixed-pblock", where, f"the options fix {area}, which is no range of {fpga}")
            continue
        named = [parse_range(text) for text in held[name]["ranges"]]
        own = _sites_of(device, [one for one in named if one is not None])
        wanted, own = (_of_kind(sites, span.kind) for sites in (_sites_of(device, [span]), own))
        other = union(difference(wanted, own), difference(own, wanted))
        if other:
            findings.add("fixed-pblock", where, f"the options fix {area}; it differs in {describe(other)}")


def _sites_of(device: Device, spans: Iterable[SiteRange]) -> Sites:
    found: Sites = {}
    for span in spans:
        if span.kind == "CLOCKREGION":
            found = union(found, device.sites(clock_region_rectangle(device, span)))
        else:
            found = union(found, sites_of_range(device, span))
    return found


def _of_kind(sites: Sites, kind: str) -> Sites:
    """Return the sites of a type, or all that pblocks hold of a clock region's."""
    every = kind == "CLOCKREGION"
    return {key: mask for key, mask in sites.items() if (key[0] not in FREE_SITE_TYPES if every else key[0] == kind)}
