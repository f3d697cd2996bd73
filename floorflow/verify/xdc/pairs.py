"""Rules between pblocks: overlaps, nesting and parents."""

from __future__ import annotations

from collections.abc import Sequence

from floorflow.verify.hardware.geometry import Sites, describe, difference
from floorflow.verify.hardware.pblock_rules import overlapping
from floorflow.verify.xdc.findings import ERROR, NOTE, WARNING, Findings
from floorflow.verify.xdc.floorplan import Floorplan, Held, Pblock

MOST_PAIRS = 1000
"""So many overlaps are looked for; a floorplan with more is wrong as a whole."""


def judge_pairs(floorplan: Floorplan, held: Sequence[Held], findings: Findings) -> None:
    """Judge every two pblocks that share sites."""
    told = 0
    for first, second, both in overlapping(held, floorplan.work.charge):
        if floorplan.is_nested(first.name, second.name) or floorplan.is_nested(second.name, first.name):
            continue
        told += 1
        if told > MOST_PAIRS:
            expected = f"at most {MOST_PAIRS:,} pairs that share sites"
            findings.add("not-evaluated", first.block.shape_place, "all further overlaps of pblocks", expected)
            return
        inner, outer = (first, second) if not difference(first.sites, second.sites) else (second, first)
        if not difference(inner.sites, outer.sites) and _cells_inside(inner.block, outer.block):
            place, found = inner.block.shape_place, f"{inner.name} lies inside {outer.name}, as its cells do"
            expected = f"PARENT {outer.name}"
            findings.add("nested-without-parent", place, found, expected, pblock=inner.name, sites=both)
            continue
        late = max(first, second, key=lambda one: one.block.shape_place.order)
        other = first if late is second else second
        strict = [one for one in (first, second) if _is_strict(floorplan, one.block)]
        found = f"{late.name} and {other.name} share {describe(both)}"
        expected = "sites of its own" + (f", since {strict[0].name} is hard" if strict else "")
        place, severity = late.block.shape_place, ERROR if strict else ""
        findings.add("pblock-overlap", place, found, expected, pblock=late.name, severity=severity, sites=both)


def _is_strict(floorplan: Floorplan, block: Pblock) -> bool:
    """Whether nothing else may lie in a pblock, or the cells that it has nowhere else."""
    holds = block.is_hard and block.has_cells
    return holds or block.is_set("EXCLUDE_PLACEMENT") or floorplan.is_reconfigurable(block)


def _cells_inside(inner: Pblock, outer: Pblock) -> bool:
    """Whether every cell of one pblock is below a cell of the other in the hierarchy."""
    if outer.has_top:
        return True
    above = {cell.text for cell in outer.held}
    return bool(inner.held) and all(
        any(cell.text[:at] in above for at, char in enumerate(cell.text) if char == "/") for cell in inner.held
    )


def judge_parents(floorplan: Floorplan, held: Sequence[Held], findings: Findings) -> None:
    """Judge every PARENT: the child inside it, and no circle; one that no file creates is judged elsewhere."""
    sites = {one.name: one.sites for one in held}
    for one in held:
        block = one.block
        if block.parent is None:
            continue
        name, place = block.parent
        if name == block.name or block.name in floorplan.ancestors(name):
            findings.add("parent-circle", place, f"{block.name} below {name}", "a tree", pblock=block.name)
        elif name not in sites and name in floorplan.shell_slrs:
            _judge_child(one, name, floorplan.shell_slrs[name][1], findings)
        elif name in sites and not floorplan.pblocks[name].unjudged:
            _judge_child(one, name, sites[name], findings)


def _judge_child(child: Held, parent: str, sites: Sites, findings: Findings) -> None:
    """Judge that a child is inside its parent; what it loses by itself is a warning, if it does not say so."""
    block, outside = child.block, difference(child.sites, sites)
    if outside:
        severity = NOTE if not sites else ""
        found, expected = f"{describe(outside)} outside {parent}", f"only sites of {parent}"
    elif child.outside and not block.value("SNAPPING_MODE"):
        outside, severity = child.outside, WARNING
        found, expected = f"{describe(outside)} outside {parent}, which Vivado drops", "SNAPPING_MODE NESTED"
    else:
        return
    place = block.parent[1] if block.parent is not None else block.place
    findings.add("child-outside-parent", place, found, expected, pblock=block.name, severity=severity, sites=outside)
