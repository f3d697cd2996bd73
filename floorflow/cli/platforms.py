"""``floorflow platforms``: what there is to plan on, a board of one's own, its doubts and its picture."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from floorflow import api
from floorflow.api import RESOURCE_NAMES, InputError
from floorflow.cli.console import paper, plain, print_json, talk
from floorflow.cli.fitting_table import FittingTable
from floorflow.cli.options import OUTPUT, DebugFlag, JsonFlag
from floorflow.cli.terminal import errors_to_exit_codes

EXAMPLES = """\
Examples, a board of one's own in three commands:

floorflow platforms --new my-kv260 --part xck26-sfvc784-2LV-c

floorflow platforms --check my-kv260.yaml

floorflow platforms my-kv260.yaml --picture my-kv260.png
"""


def platforms(
    name: Annotated[
        str | None, typer.Argument(help="Board, by its name or a part of it, bare part, or YAML file.")
    ] = None,
    new: Annotated[
        str | None, typer.Option("--new", help="Write a board's file of this name, from its --part.", metavar="NAME")
    ] = None,
    part: Annotated[
        str | None, typer.Option("--part", help="Part of the new board, such as xck26-sfvc784-2LV-c.")
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(
            "--check",
            help="Name each fact of a board that is a guess or missing, and what hangs on it.",
            metavar="FILE",
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture", help="Draw the empty board into this .png, .svg or .pdf file.", rich_help_panel=OUTPUT
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File of the new board; NAME.yaml if not given.", rich_help_panel=OUTPUT),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file that is to be written.", rich_help_panel=OUTPUT)
    ] = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """List the known platforms, show, check or draw one, or begin a file of one's own."""
    with errors_to_exit_codes(debug=debug):
        _refuse_mixed(name, new, part, check, picture, out)
        if new is not None:
            _write_new(new, part or "", out, force=force)
        elif check is not None:
            _check(check, as_json=as_json)
        elif picture is not None:
            api.require_picture_file(picture, force=force)
            _say(f"written to {api.platform(name or '').picture().save(picture, force=force)}")
        else:
            _show(name, as_json=as_json)


def _refuse_mixed(
    name: str | None, new: str | None, part: str | None, check: str | None, picture: Path | None, out: Path | None
) -> None:
    """Refuse options that do not belong together."""
    asked = [option for option, value in (("--new", new), ("--check", check), ("--picture", picture)) if value]
    if len(asked) > 1:
        raise InputError(f"{asked[0]} and {asked[1]}: are two commands", hint="give one of them")
    if (new is None) != (part is None):
        raise InputError("--new NAME and --part PART belong together", hint="give both")
    if out is not None and new is None:
        raise InputError("--out: only --new writes a board's file", hint="leave it out")
    if name is not None and (new is not None or check is not None):
        raise InputError(f"{asked[0]}: no other board is named beside it", hint=f"leave {name} out")
    if picture is not None and name is None:
        raise InputError("--picture: of which board?", hint="name it: floorflow platforms NAME --picture out.png")


def _write_new(name: str, part: str, out: Path | None, *, force: bool) -> None:
    """Write the file of a new board, and say what comes next."""
    text, path = api.new_board(name.lower(), part), out or Path(f"{name.lower()}.yaml")
    api.write_file(path, text.encode(), force=force)
    _say(f"written to {path}: state what the die cannot tell")
    ships = api.platforms()
    for known in [each.name for each in ships if each.slots[0]["part"] == part and each.name != name.lower()]:
        _say(f"  note      {known} ships with this part: -p {known}")
    if name.lower() in {platform.name for platform in ships}:
        _say(f"  note      {name.lower()} ships with floorflow: only a file equal to it may have that name")
    else:
        for sentence in api.platform(path).unbuilt:
            _say(f"  build     {sentence}")
    file, png = (shlex.quote(str(each)) for each in (path, path.with_suffix(".png")))
    _say(f"  picture   floorflow platforms {file} --picture {png}")
    _say(f"  next      floorflow platforms --check {file}")


def _check(name: str, *, as_json: bool) -> None:
    """Print what of a board is in doubt."""
    platform = api.platform(name)
    if as_json:
        print_json({"name": platform.name, "doubts": platform.doubts, "unbuilt": platform.unbuilt})
        return
    count = len(platform.doubts)
    told = "1 fact is a guess or missing" if count == 1 else f"{count} facts are guesses or missing"
    table = FittingTable(f"{platform.name}: {told}", names=("fact",), numbers=(), prose=("why", "uncertain"))
    for doubt in platform.doubts:
        table.add_row(escape(doubt["fact"]), escape(doubt["why"]), escape(doubt["uncertain"]))
    console = paper()
    console.print(table)
    for sentence in platform.unbuilt:
        console.print(plain(f"build: {sentence}"), soft_wrap=True)
    console.print(plain(f"next: floorflow plan MODEL.onnx -p {shlex.quote(name)} -o out"), soft_wrap=True)


def _show(name: str | None, *, as_json: bool) -> None:
    """Print all platforms, or one."""
    chosen = [api.platform(name)] if name else api.platforms()
    found = [platform.as_dict() for platform in chosen]
    if as_json:
        print_json(found[0] if name else found)
        return

    console = paper()
    for table in platform_tables(found[0], api.link_kinds()) if name else [platforms_table(found)]:
        console.print(table)
    if not name:
        console.print(f"bare, by part: {', '.join(api.bare_parts())}")


def _say(text: str) -> None:
    talk.print(plain(text))


Entry = Mapping[str, Any]
"""A platform, or a part of one, as ``platforms --json`` prints it."""


def platforms_table(platforms: Iterable[Entry]) -> Table:
    """Return the known platforms, a row each."""
    table = FittingTable("platforms", names=("name", "part"), numbers=("clock MHz", "slots", *RESOURCE_NAMES))
    for platform in platforms:
        slots = platform["slots"]
        silicon = (f"{sum(slot['capacity'][name] for slot in slots):,}" for name in RESOURCE_NAMES)
        table.add_row(platform["name"], platform["part"], f"{platform['clock_mhz']:g}", str(len(slots)), *silicon)
    return table


def platform_tables(platform: Entry, link_kinds: Sequence[str]) -> list[Table | str]:
    """Return the slots of one platform and what shell and infrastructure take; ``link_kinds`` are all that ship."""
    title = f"{platform['name']} ({platform['part']}, {platform['clock_mhz']:g} MHz)"
    slots = FittingTable(title, names=("slot", ""), numbers=RESOURCE_NAMES)
    for slot in platform["slots"]:
        slots.add_row(slot["name"], "silicon", *(f"{slot['capacity'][name]:,}" for name in RESOURCE_NAMES))
        slots.add_row("", "available", *(f"{slot['available'][name]:,}" for name in RESOURCE_NAMES))
    lines: list[Table | str] = [slots]
    for item in platform["infrastructure"]:
        taken = ", ".join(f"{n:,} {name}" for name, n in item["resources"].items() if n)
        lines.append(f"infrastructure {item['name']} in {item['slot']}: {taken}")
    what = {"sll": "SLL wires", "half": "long wires, as between halves of an SLR"}
    lines += [f"{b['lower']} to {b['upper']}: {b['wires']:,} {what[b['kind']]}" for b in platform["slls"]]
    if platform["links"]:
        return [*lines, *map(_one_link, platform["links"])]
    return [*lines, _link_text(platform, link_kinds)]


def _one_link(link: Entry) -> str:
    """Tell a link of a platform that a file describes."""
    ends = f"link {link['name']}: {link['kind']} from {link['source']} to {link['target']}"
    assumed = " (assumed)" if link["assumed"] else ""
    return f"{ends}, {_rate(link)}{assumed}"


def _rate(link: Entry) -> str:
    streams = f", {link['gbps'] / (1 + link['overhead']):.4g} of them for streams" if link["overhead"] else ""
    return f"{link['gbps']:g} Gb/s each way{streams}, {link['latency_us']:g} us"


def _link_text(platform: Entry, link_kinds: Sequence[str]) -> str:
    """Say how several such boards are joined."""
    link = platform["link"]
    if link is None:
        return "links: none, one FPGA only"
    each = "" if link["max_links"] is None else f", at most {link['max_links']} in one FPGA"
    assumed = " (assumed)" if link["assumed"] else ""
    others = ", ".join(kind for kind in link_kinds if kind != link["kind"])
    most = f"up to {platform['max_fpgas']} FPGAs; other kinds for --link: {others}"
    return f"links: {link['kind']} in {link['slr']}, {_rate(link)}{assumed}{each}; {most}"
