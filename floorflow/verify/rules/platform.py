"""The plan's platform and links against the files that lie beside it, and what several FPGAs ask of their boards."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath

from floorflow.verify.facts import stages_of
from floorflow.verify.files import Folder, parsed_yaml, shipped_file
from floorflow.verify.hardware.boards import (
    BOARD_SCHEMA,
    LINK_SCHEMA,
    PER,
    Board,
    BoardProblem,
    Boards,
    fpga_name,
    link_name,
    spelt_out,
)
from floorflow.verify.hardware.geometry import DEVICE_SCHEMA, Device
from floorflow.verify.hardware.routes import (
    PLATFORM_FILE_SCHEMA,
    TOPOLOGIES,
    Join,
    described_by,
    joined_pairs,
    joins_of,
    kinds_of,
    own_name,
)
from floorflow.verify.hardware.routes import link_objections as objections
from floorflow.verify.plan_records import (
    BoundaryRecord,
    FpgaRecord,
    LinkRecord,
    OptionsRecord,
    PlanRecord,
    PlatformRecord,
)
from floorflow.verify.records import RESOURCE_NAMES, Record, amounts, repeated
from floorflow.verify.rules.pblocks import areas_on
from floorflow.verify.rules.routing import wires_between_halves
from floorflow.verify.schema import departures, file_record
from floorflow.verify.violations import Findings


def slot_in(fpga: FpgaRecord, slr: str, half: str = "") -> str:
    """Return the name of an FPGA's slot in an SLR, or a half: a slot's name says nothing, its fields do."""
    found = (slot["name"] for slot in fpga["slots"] if (slot["slr"], slot["half"]) == (slr, half))
    return next(found, f"a slot in {slr} {half}".strip())


def check_links(plan: PlanRecord, boards: Boards, findings: Findings) -> None:
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


def _check_described(plan: PlanRecord, boards: Boards, findings: Findings) -> None:
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


def _check_ends(pairs: Iterable[tuple[int, int]], fpgas: list[FpgaRecord], boards: Boards, findings: Findings) -> None:
    """Judge that no FPGA ends more links than its board has ports for."""
    ends = Counter(number for pair in pairs for number in pair if number < len(fpgas))
    for number, links in sorted(ends.items()):
        board = boards.get(fpgas[number]["name"])
        most = None if board is None or board.link is None else board.link.get("max_links")
        if most is not None and links > most:
            told = f"{fpga_name(number)} ends {links} links, the board allows {most}"
            findings.add("wrong-link", "platform.fpgas", told)


def _expected(pair: tuple[int, int], link: Record, fpgas: list[FpgaRecord], boards: Boards) -> Record:
    """Return the link of two FPGAs, of the figures of ``link``; it ends where links end on either board."""
    ends = []
    for number in pair:
        board = boards.get(fpgas[number]["name"])
        own = board.link if board is not None else None
        slr = (own or link)["slr"]
        half = "" if board is None else board.half_at(slr, board.link_port)
        ends.append(slot_in(fpgas[number], slr, half))
    figures = {key: link[key] for key in ("kind", "gbps", "latency_us")}
    sure = {"assumed": link.get("assumed", False), "reliable": link.get("reliable", True)}
    sure["overhead"] = link.get("overhead", 0.0)
    return {**figures, **sure, "source": ends[0], "target": ends[1]}


def _check_list(stated: list[LinkRecord], expected: dict[str, Record], findings: Findings) -> None:
    for name, count in Counter(link["name"] for link in stated).items():
        if name not in expected or count > 1:
            message = f"is listed {count} times" if name in expected else "joins FPGAs that the topology does not join"
            findings.add("wrong-link", f"platform.links {name}", message)
    for name in sorted({*expected} - {link["name"] for link in stated}):
        findings.add("wrong-link", "platform.links", f"{name} is not listed")
    for link in stated:
        findings.compare("wrong-link", f"platform.links {link['name']}", link, expected.get(link["name"], {}))


SCHEMAS = {
    "board_file": BOARD_SCHEMA,
    "device_file": DEVICE_SCHEMA,
    "link_file": LINK_SCHEMA,
    "platform_file": PLATFORM_FILE_SCHEMA,
}
MAX_REGION_ROWS = 1000
"""CLB rows of a clock region; real ones have 48 to 96."""


def load_boards(folder: Folder, plan: PlanRecord, findings: Findings) -> dict[str, Board]:
    """Return the board of each FPGA whose files can be read; what is wrong with the others is reported."""
    fpgas, topology, kind = plan["platform"]["fpgas"], plan["options"]["topology"], None
    joins: tuple[Join, ...] | None = None
    described, halves = described_by(plan), list[Mapping[str, int]]()
    if described is not None:
        joins = _joins(folder, described, fpgas, findings)
        if joins is None:
            return {}
        content = folder.yaml(f"platform/{described}", findings) or {"fpgas": []}
        halves = [fpga.get("halves", {}) for fpga in content["fpgas"]]
    elif plan["options"]["link"] is not None:
        kind = _well_formed(folder, f"links/{plan['options']['link']}", "link_file", findings)
        if kind is None:
            return {}
    boards: dict[str, Board] = {}
    for number, fpga in enumerate(fpgas):
        board = _well_formed(folder, f"boards/{fpga['board']}", "board_file", findings)
        die = _well_formed(folder, f"devices/{fpga['device']}", "device_file", findings)
        if board is None or die is None:
            continue
        device = _device(folder.text(f"platform/devices/{fpga['device']}.yaml", findings) or "")
        where = f"platform/boards/{fpga['board']}.yaml"
        try:
            copies = tuple(copy["memory"] for copy in (plan.get("replicas") or {"placed": []})["placed"])
            memory = copies[0] if copies else plan["options"]["host_port"]
            if plan.get("targets") is not None and len(fpgas) == 1:
                copies = (memory,) * len(plan["networks"])  # each network has DMA engines of its own
            place = number, len(fpgas), topology, kind, joins, memory
            free = areas_on(fpga["name"], plan["options"].get("keep_out", []))
            boards[fpga["name"]] = _complete(
                Board(
                    board,
                    device,
                    *place,
                    asked_free=free,
                    halves=halves[number] if number < len(halves) else {},
                    copies=copies,
                )
            )
        except (
            BoardProblem,
            LookupError,
            TypeError,
            ValueError,
            ArithmeticError,
            StopIteration,
            MemoryError,
        ) as problem:
            findings.add("platform-malformed", where, f"{type(problem).__name__}: {problem}")
    return boards


def _joins(folder: Folder, file: str, fpgas: list[FpgaRecord], findings: Findings) -> tuple[Join, ...] | None:
    """Return the links of a platform file, after judging that its boards are the plan's; None if it cannot be read."""
    content = _well_formed(folder, file.removesuffix(".yaml"), "platform_file", findings)
    if content is None:
        return None
    where, boards = f"platform/{file}", [own_name(fpga["board"]) for fpga in content["fpgas"]]
    findings.expect("platform-mismatch", where, "name", PurePosixPath(file).stem, content["name"])
    findings.expect("platform-mismatch", where, "boards", [fpga["board"] for fpga in fpgas], boards)
    kinds: dict[str, Record] = {}
    for name in kinds_of(content):
        kind = _well_formed(folder, f"links/{name}", "link_file", findings)
        if kind is not None:
            findings.expect("platform-mismatch", f"platform/links/{name}.yaml", "name", name, kind["name"])
            kinds[name] = kind
    joins = joins_of(content, kinds)
    problems = list(objections(content, joins)) if len(kinds) == len(kinds_of(content)) else []
    for field, message in problems:
        findings.add("platform-malformed", f"{where} {field}", message)
    return None if problems else tuple(joins)


def _complete(board: Board) -> Board:
    """Derive everything that a rule may ask for, so that a malformed file shows here and nowhere else."""
    if board.device.region_rows > MAX_REGION_ROWS:
        raise BoardProblem(f"a clock region of {board.device.region_rows} rows, no die has over {MAX_REGION_ROWS}")
    if "{engine}" not in board.raw["cell_pattern"]:
        raise BoardProblem("cell_pattern has no {engine}")
    for item in spelt_out(board.raw).get("infrastructure", []):
        if item["per"] not in PER:
            raise BoardProblem(f"infrastructure {item['name']} is per {item['per']}, expected {' or '.join(PER)}")
    if bool(board.raw.get("memories")) == (board.raw.get("host_slr") is not None):
        raise BoardProblem("says both host_slr and memories, or neither")
    _check_link(board)
    _ = board.keep_out, board.device.all_sites, list(board.sll_wires()), board.host_port, board.link_port
    names = [slr["name"] for slr in board.device.raw["slrs"]]
    for slr, row in board.halves.items():
        if slr not in names:
            raise BoardProblem(f"halves of {slr}, which the die does not have")
        bottom, top = board.device.slr_rows(names.index(slr))
        if not bottom < row <= top or row % board.device.region_rows:
            raise BoardProblem(f"{slr} is cut at row {row}, where no clock region begins inside it")
    for number in range(len(board.places)):
        board.available(number)
    return board


def _check_link(board: Board) -> None:
    link = board.link
    if link is None:
        if board.kind is not None:
            raise BoardProblem("has no link, so the plan cannot have another kind of link")
        return
    for join in board.links_here:
        stated, own = join.ends.get(fpga_name(board.number)), board.raw.get("link")
        if own is not None and stated is not None:
            raise BoardProblem(f"its links end in {own['slr']}, and the platform's file says so again: {stated}")
        if board.link_by(join.kind, stated)["slr"] != link["slr"]:
            raise BoardProblem(f"its links end in {link['slr']} and {stated}, expected one SLR")
    if link["slr"] not in [slr["name"] for slr in board.device.raw["slrs"]]:
        raise BoardProblem(f"link.slr is {link['slr']}, which the die does not have")
    if link["gbps"] <= 0 or link["latency_us"] < 0 or link.get("overhead", 0) < 0:
        raise BoardProblem("link.gbps must be positive, link.latency_us and link.overhead not negative")


def _well_formed(folder: Folder, name: str, record: str, findings: Findings) -> Record | None:
    """Return a file's content if it has the structure of a record."""
    where = f"platform/{name}.yaml"
    content = folder.yaml(where, findings)
    if content is None:
        return None
    problems = _problems(folder.text(where, findings) or "", record)
    for place, message in problems:
        findings.add("platform-malformed", f"{where} {place}".rstrip(), message)
    return None if problems else content


@lru_cache(maxsize=32)
def _problems(text: str, record: str) -> tuple[tuple[str, str], ...]:
    """Return what is wrong with the structure of a text; many plans are judged with the same few files."""
    content = parsed_yaml(text)[0] or {}
    problems = tuple(departures(spelt_out(content) if record == "board_file" else content, file_record(record)))
    if not problems and content["schema"] != SCHEMAS[record]:
        return (("schema", f"is {content['schema']}, expected {SCHEMAS[record]}"),)
    return problems


@lru_cache(maxsize=8)
def _device(text: str) -> Device:
    """Return the die of a well-formed file, whose tables are made once."""
    return Device(parsed_yaml(text)[0] or {})


def check_files(folder: Folder, plan: PlanRecord, findings: Findings) -> None:
    """Check that the platform's files are listed and that those with a shipped name are the shipped ones."""
    listed, kind = plan["platform"]["files"], plan["options"]["link"]
    needed = [] if kind is None else [f"links/{kind}.yaml"]
    described = described_by(plan)
    if described is not None:
        needed += [described, *(f"links/{link['kind']}.yaml" for link in plan["platform"]["links"])]
    for fpga in plan["platform"]["fpgas"]:
        needed += [f"boards/{fpga['board']}.yaml", f"devices/{fpga['device']}.yaml"]
    for name in sorted({*needed} - {*listed}):
        findings.add("platform-mismatch", "platform.files", f"{name} is not listed")
    _check_needless_files(folder, listed, needed, findings)
    shipped = shipped_file("platforms", "boards")
    if described is not None and shipped and (shipped / PurePosixPath(described).name).is_file():
        told = "floorflow ships a board of this name; call the file otherwise"
        findings.add("platform-mismatch", "platform.name", told)
    for name in sorted(set(listed)):
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            findings.add("platform-mismatch", "platform.files", f"{name} leaves the folder")
            continue
        content = folder.data(f"platform/{name}", findings)
        original = shipped.parent / name if shipped else None
        if content is not None and original and original.is_file() and original.read_bytes() != content:
            findings.add("shipped-file-differs", f"platform/{name}", "floorflow ships another file of this name")


def check_platform(plan: PlanRecord, boards: Boards, findings: Findings) -> None:
    """Check parts, slots, capacities, infrastructure and SLLs."""
    _check_fractions(plan["options"], findings)
    if described_by(plan) is None:
        own, board = plan["platform"]["name"], plan["platform"]["fpgas"][0]["board"]
        findings.expect("platform-mismatch", "platform", "name", own, board)
    if len({board.device.raw["architecture"] for board in boards.values()}) > 1:
        parts = ", ".join(str(board.raw["part"]) for board in boards.values())
        findings.add("platform-mismatch", "platform.fpgas", f"engines are made once, not for both families of {parts}")
    for name, count in repeated(fpga["name"] for fpga in plan["platform"]["fpgas"]):
        findings.add("platform-mismatch", "platform.fpgas", f"{count} FPGAs are called {name}")
    for number, fpga in enumerate(plan["platform"]["fpgas"]):
        if fpga["name"] in boards:
            _check_fpga(fpga, boards[fpga["name"]], f"platform.fpgas[{number}]", findings)
    for slot, count in repeated(slot["name"] for fpga in plan["platform"]["fpgas"] for slot in fpga["slots"]):
        findings.add("platform-mismatch", "platform.fpgas", f"{count} slots are called {slot}")
    _check_infrastructure(plan["platform"], boards, findings)
    _check_slls(plan["platform"], boards, findings)
    check_links(plan, boards, findings)


def _check_fractions(options: OptionsRecord, findings: Findings) -> None:
    stated: dict[str, Mapping[str, float | None]] = {"cap": options["cap"], "fill": options["fill"]}
    for kind, shares in stated.items():
        for name in RESOURCE_NAMES:
            if (share := shares[name]) is not None and not 0 < share <= 1:
                where = f"options.{kind}.{name}"
                findings.add("fraction-out-of-range", where, f"{share} is not in (0, 1]")
    if options["clock_mhz"] <= 0:
        findings.add("platform-mismatch", "options.clock_mhz", f"{options['clock_mhz']} is not positive")


def _check_fpga(fpga: FpgaRecord, board: Board, where: str, findings: Findings) -> None:
    derived = {
        "board": board.raw["name"],
        "part": board.raw["part"],
        "device": PurePosixPath(board.raw["device"]).stem,
        "host_slot": slot_in(fpga, board.host_slr, board.half_at(board.host_slr, board.host_port)),
        "host_port": asdict(board.host_port),
        "host_memory": board.host_memory and board.host_memory["name"],
        "link_port": board.link_port and asdict(board.link_port),
        **{f"power_{name}": (board.raw.get("power") or {}).get(name) for name in ("limit_w", "base_w")},
        # Whether they are FIFOs or AMD's is judged with slices.
        "crossing": {
            **fpga["crossing"],
            "registers": stages_of(board, fifos=fpga["crossing"]["fifos"], slices=fpga["crossing"]["slices"]),
        },
    }
    findings.compare("platform-mismatch", where, fpga, derived)
    findings.expect("platform-mismatch", where, "unstated", fpga["unstated"], board.unstated)
    die = board.device.raw
    known = [die["part"], *(alias.split()[0] for alias in die.get("aliases", []) if alias.split())]
    if not board.raw["part"].startswith(tuple(known)):
        message = f"part {board.raw['part']} begins with none of the die's names {', '.join(known)}"
        findings.add("platform-mismatch", where, message)
    places = [(board.slr_name(place.slr), place.half) for place in board.places]
    if [(slot["slr"], slot["half"]) for slot in fpga["slots"]] != places:
        names = ", ".join(f"{slot['name']} in {slot['slr']} {slot['half']}".strip() for slot in fpga["slots"])
        there = ", ".join(" ".join(place).strip() for place in places)
        findings.add("platform-mismatch", f"{where}.slots", f"slots are {names}; the die has {there}")
    for slot in fpga["slots"]:
        findings.expect("platform-mismatch", f"{where} slot {slot['name']}", "fpga", slot["fpga"], fpga["name"])
        if (slot["slr"], slot["half"]) in places:
            number, place = places.index((slot["slr"], slot["half"])), f"{where} slot {slot['name']}"
            capacity, available = board.capacities[number], board.available(number)
            findings.expect("capacity-mismatch", place, "capacity", amounts(slot["capacity"]), capacity)
            findings.expect("available-mismatch", place, "available", amounts(slot["available"]), available)


def _check_infrastructure(platform: PlatformRecord, boards: Boards, findings: Findings) -> None:
    def key(name: str, slot: str, resources: dict[str, int]) -> tuple[object, ...]:
        return name, slot, *(resources.get(resource, 0) for resource in RESOURCE_NAMES)

    if len(boards) < len({fpga["name"] for fpga in platform["fpgas"]}):
        return  # an unreadable board is reported already
    fpgas = {fpga["name"]: fpga for fpga in platform["fpgas"]}
    expected = Counter(
        key(item["name"], slot_in(fpgas[fpga], *board.home(item)), item["resources"])
        for fpga, board in boards.items()
        for item in board.infrastructure
    )
    stated = Counter(key(item["name"], item["slot"], item["resources"]) for item in platform["infrastructure"])
    for item in expected - stated:
        findings.add("infrastructure-mismatch", "platform.infrastructure", f"the board has {item}")
    for item in stated - expected:
        findings.add("infrastructure-mismatch", "platform.infrastructure", f"the board does not have {item}")


def _check_slls(platform: PlatformRecord, boards: Boards, findings: Findings) -> None:
    fpgas = {fpga["name"]: fpga for fpga in platform["fpgas"]}
    expected: dict[tuple[str, str], tuple[int, str]] = {}
    for fpga, board in boards.items():
        wires = iter(board.sll_wires())
        names = [slot_in(fpgas[fpga], board.slr_name(place.slr), place.half) for place in board.places]
        for (below, above), ends in zip(pairwise(board.places), pairwise(names), strict=True):
            half = below.slr == above.slr
            count = wires_between_halves(board.device, below.area.top) if half else next(wires)
            expected[ends] = count, "half" if half else "sll"
    stated = {(sll["lower"], sll["upper"]): (sll["wires"], sll["kind"]) for sll in platform["boundaries"]}
    _check_boundary_names(platform["boundaries"], findings)
    for lower, upper in sorted({*expected, *stated}):
        where = f"platform.boundaries {lower}-{upper}"
        both = stated.get((lower, upper)), expected.get((lower, upper))
        findings.expect("sll-capacity-mismatch", where, "wires and kind", *both)


def _check_boundary_names(boundaries: list[BoundaryRecord], findings: Findings) -> None:
    """Judge that each boundary is listed once and called as the loads call it."""
    for (lower, upper), count in repeated((row["lower"], row["upper"]) for row in boundaries):
        findings.add("boundary-mismatch", "platform.boundaries", f"{lower}-{upper} is listed {count} times")
    for number, row in enumerate(boundaries):
        expected = f"{row['lower']}-{row['upper']}"
        findings.expect("boundary-mismatch", f"platform.boundaries[{number}]", "name", row["name"], expected)


def _check_needless_files(folder: Folder, listed: list[str], needed: list[str], findings: Findings) -> None:
    """Judge that what was not used is neither listed nor there, and that nothing is listed twice."""
    for name, count in Counter(listed).items():
        if count > 1 or name not in needed:
            told = f"{name} is listed {count} times" if count > 1 else f"no FPGA and no link is made of {name}"
            findings.add("platform-file-needless", "platform.files", told)
    there = {name.removeprefix("platform/") for name in folder.matching(["platform/**/*"])}
    for name in sorted(there - {*listed}):
        findings.add("platform-file-needless", f"platform/{name}", "platform.files does not list it")
