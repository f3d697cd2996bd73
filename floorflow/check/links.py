"""The plan's links against the chain that the board's file gives, and what more than one FPGA asks of the boards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from floorflow.check.boards import Board, fpga_name, link_name
from floorflow.check.shape import Record
from floorflow.check.violations import Findings


def check_chain(platform: Record, boards: Mapping[str, Board], findings: Findings) -> None:
    """Judge that the FPGAs are alike, numbered along the chain, and as many as the board allows."""
    fpgas = platform["fpgas"]
    for number, fpga in enumerate(fpgas):
        where = f"platform.fpgas[{number}]"
        findings.expect("platform-mismatch", where, "name", fpga["name"], fpga_name(number))
        for key in ("board", "part", "device"):
            if fpga[key] != fpgas[0][key]:
                findings.add("platform-mismatch", where, f"{key} is {fpga[key]}, that of {fpgas[0]['name']} another")
    board = boards.get(fpgas[0]["name"])
    if board is None:
        return
    if len(fpgas) > board.raw["max_fpgas"]:
        message = f"{len(fpgas)} FPGAs, the board allows {board.raw['max_fpgas']}"
        findings.add("platform-mismatch", "platform.fpgas", message)
    if len(fpgas) > 1 and board.link is None:
        findings.add("platform-mismatch", "platform.fpgas", f"{len(fpgas)} FPGAs, the board has no link")
    _check_links(platform["links"], _chain(board, len(fpgas)), findings)


def _chain(board: Board, fpga_count: int) -> dict[str, Record]:
    """Return the links of a chain of equal boards, by name."""
    link = board.link
    if link is None:
        return {}
    found: dict[str, Record] = {}
    for lower in range(fpga_count - 1):
        found[link_name(lower)] = {
            "kind": link["kind"],
            "source": f"{fpga_name(lower)}.{link['slr']}",
            "target": f"{fpga_name(lower + 1)}.{link['slr']}",
            "gbps": link["gbps"],
            "latency_us": link["latency_us"],
            "assumed": link.get("assumed", False),
        }
    return found


def _check_links(stated: list[Record], expected: dict[str, Record], findings: Findings) -> None:
    for name, count in Counter(link["name"] for link in stated).items():
        if name not in expected or count > 1:
            message = f"is listed {count} times" if name in expected else "does not join two FPGAs of the chain"
            findings.add("wrong-link", f"platform.links {name}", message)
    for name in sorted({*expected} - {link["name"] for link in stated}):
        findings.add("wrong-link", "platform.links", f"{name} is not listed")
    for link in stated:
        for key, value in expected.get(link["name"], {}).items():
            findings.expect("wrong-link", f"platform.links {link['name']}", key, link[key], value)
