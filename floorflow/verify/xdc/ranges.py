"""Every kind of range that resize_pblock takes: sites, clock regions, SLRs, and types not on record."""

import difflib
import re
from dataclasses import dataclass, field

from floorflow.verify.hardware.geometry import Device, Rectangle, Sites
from floorflow.verify.hardware.ranges import (
    clock_region_rectangle,
    exists,
    judge_range,
    parse_range,
    rectangle_of_range,
)

_SLR = re.compile(r"SLR([0-9]{1,3})(?::SLR([0-9]{1,3}))?")
_SINGLE = re.compile(r"[A-Z][A-Z0-9_]*_X[0-9]+Y[0-9]+")
_KIND = re.compile(r"([A-Z][A-Z0-9_]*)_X[0-9]+Y[0-9]+(?::([A-Z][A-Z0-9_]*)_X[0-9]+Y[0-9]+)?")
_LOGIC = re.compile(r"(?:SLICE|CLB|CLE|DSP|RAMB|BRAM|URAM(?!_CAS)|LAG)[A-Z0-9_]*")
"""How types of logic are called, or may be meant: those of a part are all on record, so that others do not exist."""
_HARD = re.compile(
    r"(?:ABUS|AMS|BIAS|BITSLICE|BLI|BSCAN|BUF|CAPTURE|CFGIO|CFG|CMAC|CMT|CONFIG|DCI|DFE|DNA|DPLL|EFUSE|FIFO|FRAME|FSR|FE_"
    r"|GT|HARD|HBM|HDIO|HDLOGIC|HPIO|HRIO|HSADC|HSDAC|IBUF|ICAP|IDELAY|ILKN|ILOGIC|IOB|IOPAD|IPAD|IRI|ISERDES|KEY|LAGUNA"
    r"|MASTER|MMCM|MRMAC|NOC|NPI|ODELAY|OLOGIC|OPAD|OSERDES|PCIE|PHASER|PHY|PLL|PMV|PMCPLL|PPR|PS|RIU|RFADC|RFDAC|STARTUP"
    r"|SYSMON|TIEOFF|URAM_CAS|USR_ACCESS|VCU|VDU|VREF|XADC|XIPHY|XPIO|XPLL)[A-Z0-9_]*"
)
"""How types of IO, clocks, transceivers and other hard blocks are called: ranges of them are taken as they stand."""
_SPELT = {"DSP48E1": "DSP48", "DSP48E2": "DSP48E2", "DSP": "DSP48E2", "URAM": "URAM288", "RAMB": "RAMB36"}


LONGEST = 100
"""So many characters of a range are read: no site's name is so long."""
MOST_KNOWN = 2_000
"""Ranges that are kept once they are read; of large ones more would take all memory."""
_NUMBER = "([0-9]{1,6})"
_CORNERS = re.compile(rf"([A-Z][A-Z0-9_]*)_X{_NUMBER}Y{_NUMBER}:\1_X{_NUMBER}Y{_NUMBER}")


def _upright(text: str) -> str:
    """Return a range with its lower left corner first: UG835 lets any two opposite corners name the rectangle."""
    match = _CORNERS.fullmatch(text)
    if match is None:
        return text
    across, up = sorted((int(match[2]), int(match[4]))), sorted((int(match[3]), int(match[5])))
    return f"{match[1]}_X{across[0]}Y{up[0]}:{match[1]}_X{across[1]}Y{up[1]}"


@dataclass(frozen=True, slots=True)
class RangeFacts:
    """What a range holds: sites, and all sites of the ``area`` that it spans (of SLICEs and regions).

    ``fault`` is a finding's name, what was found and what was expected; ``unjudged`` a type not on record, and
    ``is_hard`` says that it is a hard block's.
    """

    sites: Sites = field(default_factory=dict)
    area: Sites = field(default_factory=dict)
    fault: tuple[str, str, str] | None = None
    unjudged: str = ""
    is_hard: bool = False


@dataclass(frozen=True)
class RangeBook:
    """The ranges of one die, each read once."""

    device: Device
    _known: dict[str, RangeFacts] = field(default_factory=dict)

    def facts(self, text: str) -> RangeFacts:
        """Return what a range holds and what is wrong with it."""
        if text not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[text] = self._read(text if len(text) <= LONGEST else f"{text[:LONGEST]}...")
        return self._known[text]

    def _read(self, text: str) -> RangeFacts:
        text = _upright(text)
        slr = _SLR.fullmatch(text)
        if slr:
            return self._slrs(text, int(slr[1]), int(slr[2] or slr[1]))
        if _SINGLE.fullmatch(text):
            text = f"{text}:{text}"
        kinds = _KIND.fullmatch(text)
        kind = kinds[1] if kinds else ""
        if kinds and kind == "CLOCKREGION":
            return self._clock_regions(text)
        if kinds and kind == kinds[2] and kind not in self.device.raw["site_columns"]:
            return self._unknown(kind)
        return self._sites(text, kind)

    def _unknown(self, kind: str) -> RangeFacts:
        """Tell a type of logic that the part has not; of others the device files do not say where their sites are."""
        own = sorted(self.device.raw["site_columns"])
        near = difflib.get_close_matches(kind, own, n=1, cutoff=0.75)
        if not near and not _LOGIC.fullmatch(kind):
            return RangeFacts(unjudged=kind, is_hard=bool(_HARD.fullmatch(kind)))
        near = [name for name in own if name == _SPELT.get(kind) or name.startswith(kind[:3])] or near
        expected = near[0] if near else f"one of {', '.join(own)}"
        return RangeFacts(fault=("site-type-unknown", f"{kind}, of which the part has no sites", expected))

    def _slrs(self, text: str, first: int, last: int) -> RangeFacts:
        count = len(self.device.raw["slrs"])
        first, last = min(first, last), max(first, last)
        if last >= count:
            return RangeFacts(fault=("slr-unknown", text, f"SLR0 to SLR{count - 1}"))
        bottom, top = self.device.slr_rows(first)[0], self.device.slr_rows(last)[1]
        sites = self.device.sites(Rectangle(0, bottom, self.device.columns - 1, top))
        return RangeFacts(sites, sites)

    def _clock_regions(self, text: str) -> RangeFacts:
        span = parse_range(text)
        if span is None:
            return RangeFacts(fault=("range-malformed", text, "CLOCKREGION_XaYb:CLOCKREGION_XcYd"))
        regions = self.device.raw["clock_regions"]
        right, top = len(regions["columns"]) - 1, regions["rows"] - 1
        if span.right > right or span.top > top:
            expected = f"at most CLOCKREGION_X{right}Y{top}"
            return RangeFacts(fault=("range-outside-device", text, expected))
        sites = self.device.sites(clock_region_rectangle(self.device, span))
        return RangeFacts(sites, sites)

    def _sites(self, text: str, kind: str) -> RangeFacts:
        answer = judge_range(self.device, text)
        fault = None
        if answer.fault is not None:
            fault = answer.fault[0], text, self._expected(answer.fault[0], kind, text)
        area = answer.sites
        if answer.span is not None and kind == "SLICE" and answer.sites:
            area = self.device.sites(rectangle_of_range(self.device, answer.span))
        return RangeFacts(answer.sites, area if kind == "SLICE" else {}, fault)

    def _expected(self, fault: str, kind: str, text: str) -> str:
        if fault == "range-malformed":
            return "TYPE_XaYb:TYPE_XcYd of one type"
        if fault == "range-outside-device":
            masks = [mask for (own, _), mask in self.device.all_sites.items() if own == kind]
            right = len(self.device.raw["site_columns"][kind]) - 1
            return f"at most {kind}_X{right}Y{max(mask.bit_length() for mask in masks) - 1}"
        span = parse_range(text)
        corners = [(span.left, span.bottom), (span.right, span.top)] if span else []
        missing = [f"{kind}_X{x}Y{y}" for x, y in corners if not exists(self.device, kind, x, y)]
        return f"corners that exist; the part has no {' and no '.join(missing)}"
