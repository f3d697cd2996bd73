"""Links: which FPGAs a topology or a platform file joins, and which board each FPGA of such a file is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from floorflow.verify.records import Record

TOPOLOGIES = ("pair", "chain", "ring", "star", "full")


@lru_cache(maxsize=16)
def joined_pairs(topology: str, fpga_count: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs of FPGAs, by number and the lower first, between which there is a link."""
    everyone = ((low, high) for high in range(fpga_count) for low in range(high))
    return tuple(pair for pair in everyone if _are_joined(topology, *pair, fpga_count))


def _are_joined(topology: str, low: int, high: int, fpga_count: int) -> bool:
    if topology == "full":
        return True
    if topology == "star":
        return low == 0
    return high - low == 1 or (topology == "ring" and high - low == fpga_count - 1)


PLATFORM_FILE_SCHEMA = "floorflow-platform/1"


def own_name(text: str) -> str:
    """Return what a board or kind of link is called, of which the file gives the name or the path."""
    return PurePosixPath(text).stem


@dataclass(frozen=True, slots=True)
class Join:
    """A link of the file: two FPGAs by number, the lower first, the file of its kind, and SLRs that the file states."""

    lower: int
    upper: int
    kind: Record
    ends: Mapping[str, str]


def described_by(plan: Record) -> str | None:
    """Return the platform file's place below ``platform/``; None if the plan's FPGAs are a number of equal boards."""
    name = f"platforms/{plan['platform']['name']}.yaml"
    return name if name in plan["platform"]["files"] and name.count("/") == 1 else None


def kinds_of(content: Record) -> list[str]:
    """Return the names of the kinds of link, in order and each once."""
    return list(dict.fromkeys(own_name(item["kind"]) for item in content.get("links", [])))


def joins_of(content: Record, kinds: Mapping[str, Record]) -> list[Join]:
    """Return the links of a file that can be: see `link_objections` for the others."""
    found = []
    for item in content.get("links", []):
        ends = [_number(name) for name in item["between"]]
        kind = kinds.get(own_name(item["kind"]))
        if len(ends) == 2 and kind is not None and None not in ends:
            lower, upper = sorted(number for number in ends if number is not None)
            found.append(Join(lower, upper, kind, item.get("ends", {})))
    return found


def link_objections(content: Record, joins: Sequence[Join]) -> Iterator[tuple[str, str]]:
    """Yield ``(field, message)`` for all that a platform file must not say of its links."""
    count = len(content["fpgas"])
    for number, item in enumerate(content.get("links", [])):
        ends = [_number(name) for name in item["between"]]
        if len(ends) != 2 or len({*ends}) != 2 or not all(n is not None and n < count for n in ends):
            yield f"links[{number}].between", f"{', '.join(item['between'])} are no two of the file's {count} FPGAs"
        for name in sorted({*item.get("ends", {})} - {*item["between"]}):
            yield f"links[{number}].ends", f"{name} is not at this link"
    for (lower, upper), times in Counter((join.lower, join.upper) for join in joins).items():
        if times > 1:
            yield "links", f"fpga{lower} and fpga{upper} are joined {times} times"
    reached = {0}
    for _ in range(count):
        reached |= {n for join in joins if {join.lower, join.upper} & reached for n in (join.lower, join.upper)}
    for number in sorted({*range(count)} - reached):
        yield "links", f"none leads from fpga0 to fpga{number}"


def _number(name: str) -> int | None:
    digits = name.removeprefix("fpga")
    return int(digits) if name.startswith("fpga") and digits.isascii() and digits.isdecimal() else None
