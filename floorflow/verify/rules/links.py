"""The plan's links against those of topology or platform file, and what several FPGAs ask of their boards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from floorflow.verify.hardware.boards import Board, fpga_name, link_name
from floorflow.verify.hardware.links import TOPOLOGIES, joined_pairs
from floorflow.verify.records import Record
from floorflow.verify.violations import Findings


def slot_in(fpga: Record, slr: str) -> str:
    """Return the name of an FPGA's slot in an SLR: a slot's name says nothing, its fields do."""
    return next((str(slot["name"]) for slot in fpga["slots"] if slot["slr"] == slr), f"a slot in {slr}")


def check_links(plan: Record, boards: Mapping[str, Board], findings: Findings) -> None:
    """Judge that the FPGAs are numbered in order, and joined as the plan's options or its platform file say."""
    fpgas, topology = plan["platform"]["fpgas"], plan["options"]["topology"]
    for number, fpga in enumerate(fpgas):
        findings.expect("platform-mismatch", f"platform.fpgas[{number}]", "name", fpga["name"], fpga_name(number))
    board = boards.get(fpgas[0]["name"])
    if topology not in TOPOLOGIES:
        findings.add("wrong-link", "options.topology", f"{topology}, expected one of {', '.join(TOPOLOGIES)}")
        return
    if board is None:
        return
    if board.joins is not None:
        _check_described(plan, boards, findings)
        return
    for number, fpga in enumerate(fpgas):
        for key in ("board", "part", "device"):
            if fpga[key] != fpgas[0][key]:
                message = f"{key} is {fpga[key]}, that of {fpgas[0]['name']} another, and no platform file says so"
                findings.add("platform-mismatch", f"platform.fpgas[{number}]", message)
    pairs = joined_pairs(topology, len(fpgas))
    _check_count(board, topology, len(fpgas), findings)
    _check_ends(pairs, fpgas, boards, findings)
    if board.kind is not None:
        findings.expect("wrong-link", "options", "link", plan["options"]["link"], board.kind["name"])
    expected = {} if board.link is None else {pair: _expected(pair, board.link, fpgas, boards) for pair in pairs}
    _check_list(plan["platform"]["links"], {link_name(*pair): link for pair, link in expected.items()}, findings)


def _check_described(plan: Record, boards: Mapping[str, Board], findings: Findings) -> None:
    fpgas = plan["platform"]["fpgas"]
    by_number = {board.number: board for board in boards.values()}
    findings.expect("wrong-link", "options", "link", plan["options"]["link"], None)
    expected: dict[str, Record] = {}
    joins = next(iter(boards.values())).joins or ()
    _check_ends([(join.lower, join.upper) for join in joins], fpgas, boards, findings)
    for join in joins:
        if {join.lower, join.upper} <= {*by_number}:  # else reported already
            link = by_number[join.lower].link_by(join.kind)
            expected[link_name(join.lower, join.upper)] = _expected((join.lower, join.upper), link, fpgas, boards)
    _check_list(plan["platform"]["links"], expected, findings)


def _check_count(board: Board, topology: str, count: int, findings: Findings) -> None:
    where = "platform.fpgas"
    if count > board.raw["max_fpgas"]:
        findings.add("platform-mismatch", where, f"{count} FPGAs, the board allows {board.raw['max_fpgas']}")
    if count > 1 and board.link is None:
        findings.add("platform-mismatch", where, f"{count} FPGAs, the board has no link")
    if topology == "pair" and count > 2:
        findings.add("platform-mismatch", where, f"{count} FPGAs are no pair")


def _check_ends(
    pairs: Iterable[tuple[int, int]], fpgas: list[Record], boards: Mapping[str, Board], findings: Findings
) -> None:
    """Judge that no FPGA ends more links than its board has ports for."""
    ends = Counter(number for pair in pairs for number in pair if number < len(fpgas))
    for number, links in sorted(ends.items()):
        board = boards.get(fpgas[number]["name"])
        most = None if board is None or board.link is None else board.link.get("max_links")
        if most is not None and links > most:
            findings.add(
                "wrong-link", "platform.fpgas", f"{fpga_name(number)} ends {links} links, the board allows {most}"
            )


def _expected(pair: tuple[int, int], link: Record, fpgas: list[Record], boards: Mapping[str, Board]) -> Record:
    """Return the link of two FPGAs, of the figures of ``link``; it ends where links end on either board."""
    ends = []
    for number in pair:
        board = boards.get(fpgas[number]["name"])
        own = board.link if board is not None else None
        ends.append(slot_in(fpgas[number], (own or link)["slr"]))
    figures = {key: link[key] for key in ("kind", "gbps", "latency_us")}
    sure = {"assumed": link.get("assumed", False), "reliable": link.get("reliable", True)}
    return {**figures, **sure, "source": ends[0], "target": ends[1]}


def _check_list(stated: list[Record], expected: dict[str, Record], findings: Findings) -> None:
    for name, count in Counter(link["name"] for link in stated).items():
        if name not in expected or count > 1:
            message = f"is listed {count} times" if name in expected else "joins FPGAs that the topology does not join"
            findings.add("wrong-link", f"platform.links {name}", message)
    for name in sorted({*expected} - {link["name"] for link in stated}):
        findings.add("wrong-link", "platform.links", f"{name} is not listed")
    for link in stated:
        findings.compare("wrong-link", f"platform.links {link['name']}", link, expected.get(link["name"], {}))
