"""The plan's links against those that topology and files give, and what more than one FPGA asks of the boards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from floorflow.verify.hardware.boards import Board, fpga_name, link_name
from floorflow.verify.hardware.topology import TOPOLOGIES, joined_pairs
from floorflow.verify.templates import Record
from floorflow.verify.violations import Findings


def check_links(plan: Record, boards: Mapping[str, Board], findings: Findings) -> None:
    """Judge that the FPGAs are alike, numbered in order, and joined as the plan says and the board allows."""
    fpgas, topology = plan["platform"]["fpgas"], plan["options"]["topology"]
    for number, fpga in enumerate(fpgas):
        where = f"platform.fpgas[{number}]"
        findings.expect("platform-mismatch", where, "name", fpga["name"], fpga_name(number))
        for key in ("board", "part", "device"):
            if fpga[key] != fpgas[0][key]:
                findings.add("platform-mismatch", where, f"{key} is {fpga[key]}, that of {fpgas[0]['name']} another")
    board = boards.get(fpgas[0]["name"])
    if board is None:
        return
    if topology not in TOPOLOGIES:
        findings.add("wrong-link", "options.topology", f"{topology}, expected one of {', '.join(TOPOLOGIES)}")
        return
    _check_count(board, topology, len(fpgas), findings)
    if board.kind is not None:
        findings.expect("wrong-link", "options", "link", plan["options"]["link"], board.kind["name"])
    _check_list(plan["platform"]["links"], _expected(board, topology, len(fpgas)), findings)


def _check_count(board: Board, topology: str, count: int, findings: Findings) -> None:
    where = "platform.fpgas"
    if count > board.raw["max_fpgas"]:
        findings.add("platform-mismatch", where, f"{count} FPGAs, the board allows {board.raw['max_fpgas']}")
    if count > 1 and board.link is None:
        findings.add("platform-mismatch", where, f"{count} FPGAs, the board has no link")
    if topology == "pair" and count > 2:
        findings.add("platform-mismatch", where, f"{count} FPGAs are no pair")
    ends = Counter(number for pair in joined_pairs(topology, count) for number in pair)
    most = None if board.link is None else board.link.get("max_links")
    for number, links in sorted(ends.items()):
        if most is not None and links > most:
            findings.add("wrong-link", where, f"{fpga_name(number)} ends {links} links, the board allows {most}")


def _expected(board: Board, topology: str, fpga_count: int) -> dict[str, Record]:
    """Return the links of equal boards, by name."""
    link = board.link
    if link is None:
        return {}
    return {
        link_name(lower, upper): {
            "kind": link["kind"],
            "source": f"{fpga_name(lower)}.{link['slr']}",
            "target": f"{fpga_name(upper)}.{link['slr']}",
            "gbps": link["gbps"],
            "latency_us": link["latency_us"],
            "assumed": link.get("assumed", False),
        }
        for lower, upper in joined_pairs(topology, fpga_count)
    }


def _check_list(stated: list[Record], expected: dict[str, Record], findings: Findings) -> None:
    for name, count in Counter(link["name"] for link in stated).items():
        if name not in expected or count > 1:
            message = f"is listed {count} times" if name in expected else "joins FPGAs that the topology does not join"
            findings.add("wrong-link", f"platform.links {name}", message)
    for name in sorted({*expected} - {link["name"] for link in stated}):
        findings.add("wrong-link", "platform.links", f"{name} is not listed")
    for link in stated:
        for key, value in expected.get(link["name"], {}).items():
            findings.expect("wrong-link", f"platform.links {link['name']}", key, link[key], value)
