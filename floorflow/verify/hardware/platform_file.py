"""A platform file read again: which board each FPGA is, and which links join them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from floorflow.verify.records import Record

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
    """Return the links of a file that can be: see `objections` for the others."""
    found = []
    for item in content.get("links", []):
        ends = [_number(name) for name in item["between"]]
        kind = kinds.get(own_name(item["kind"]))
        if len(ends) == 2 and kind is not None and None not in ends:
            lower, upper = sorted(number for number in ends if number is not None)
            found.append(Join(lower, upper, kind, item.get("ends", {})))
    return found


def objections(content: Record, joins: Sequence[Join]) -> Iterator[tuple[str, str]]:
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
