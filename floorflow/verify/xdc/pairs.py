"""Rules between pblocks: overlaps, nesting and parents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from floorflow.verify.hardware.geometry import Sites, describe, difference, shared
from floorflow.verify.xdc.findings import ERROR, NOTE, Findings
from floorflow.verify.xdc.floorplan import Floorplan, Pblock

MOST_PAIRS = 1000
"""So many overlaps are looked for; a floorplan with more is wrong as a whole."""


@dataclass(frozen=True, slots=True)
class _Extent:
    """The span of a pblock in X and Y of one site type."""

    block: Pblock
    left: int
    bottom: int
    right: int
    top: int


def overlapping(blocks: list[Pblock]) -> Iterator[tuple[Pblock, Pblock, Sites]]:
    """Yield pairs of pblocks that share sites, with those, in the order of their lower edges."""
    kinds = sorted({kind for block in blocks for kind, _ in block.sites})
    seen: set[tuple[str, str]] = set()
    for kind in kinds:
        active: list[_Extent] = []
        for extent in sorted(_extents(blocks, kind), key=lambda one: (one.bottom, one.left, one.block.name)):
            active = [other for other in active if other.top >= extent.bottom]
            for other in active:
                if other.left > extent.right or extent.left > other.right:
                    continue
                pair = other.block.name, extent.block.name
                if pair in seen:
                    continue
                both = shared(other.block.sites, extent.block.sites)
                if both:
                    seen |= {pair, pair[::-1]}
                    yield other.block, extent.block, both
            active.append(extent)


def _extents(blocks: list[Pblock], kind: str) -> Iterator[_Extent]:
    for block in blocks:
        masks = {x: mask for (own, x), mask in block.sites.items() if own == kind}
        if masks:
            every = 0
            for mask in masks.values():
                every |= mask
            bottom = (every & -every).bit_length() - 1
            yield _Extent(block, min(masks), bottom, max(masks), every.bit_length() - 1)


def judge_pairs(floorplan: Floorplan, blocks: list[Pblock], findings: Findings) -> None:
    """Judge every two pblocks that share sites."""
    for number, (first, second, both) in enumerate(overlapping(blocks)):
        if number >= MOST_PAIRS:
            return
        if floorplan.is_nested(first.name, second.name) or floorplan.is_nested(second.name, first.name):
            continue
        inner, outer = (first, second) if not difference(first.sites, second.sites) else (second, first)
        if not difference(inner.sites, outer.sites) and _cells_inside(inner, outer):
            found = f"{inner.name} lies inside {outer.name}, as its cells do"
            expected = f"PARENT {outer.name}"
            findings.add("nested-without-parent", inner.shape_place, found, expected, pblock=inner.name, sites=both)
            continue
        late = max(first, second, key=lambda one: (one.shape_place.file, one.shape_place.line))
        other = first if late is second else second
        strict = [one for one in (first, second) if _is_strict(floorplan, one)]
        found = f"{late.name} and {other.name} share {describe(both)}"
        expected = "sites of its own" + (f", since {strict[0].name} is hard" if strict else "")
        severity = ERROR if strict else ""
        findings.add(
            "pblock-overlap", late.shape_place, found, expected, pblock=late.name, severity=severity, sites=both
        )


def _is_strict(floorplan: Floorplan, block: Pblock) -> bool:
    """Whether nothing else may lie in a pblock, or its cells nowhere else."""
    return block.is_hard or block.is_set("EXCLUDE_PLACEMENT") or floorplan.is_reconfigurable(block)


def _cells_inside(inner: Pblock, outer: Pblock) -> bool:
    """Whether every cell of one pblock is below a cell of the other in the hierarchy."""
    if outer.has_top:
        return True
    above = {cell.text for cell, _ in outer.cells}
    return bool(inner.cells) and all(any(cell.text.startswith(f"{name}/") for name in above) for cell, _ in inner.cells)


def judge_parents(floorplan: Floorplan, blocks: list[Pblock], findings: Findings) -> None:
    """Judge every PARENT: the child inside it, and no circle; one that no file creates is judged elsewhere."""
    for block in blocks:
        if block.parent is None:
            continue
        name, place = block.parent
        parent = floorplan.pblocks.get(name)
        if name == block.name or block.name in floorplan.ancestors(name):
            findings.add("parent-circle", place, f"{block.name} below {name}", "a tree", pblock=block.name)
        elif parent is not None and parent.created is not None and not parent.unjudged:
            outside = difference(block.sites, parent.sites)
            if outside:
                severity = NOTE if not parent.sites else ""
                found = f"{describe(outside)} outside {name}"
                expected = f"only sites of {name}"
                findings.add(
                    "child-outside-parent", place, found, expected, pblock=block.name, severity=severity, sites=outside
                )
