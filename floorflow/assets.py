"""Where shipped folders (``platforms/``, ``rtl/``, ``tcl/``) are, platform files by name, how boards may be joined."""

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from floorflow.errors import PlatformError

PlatformFile = Literal["boards", "devices", "links", "platforms"]
"""The folders of ``platforms/``."""
Topology = Literal["pair", "chain", "ring", "star", "mesh", "full"]
"""How several boards may be joined."""

PARTS: Mapping[str, tuple[str, str]] = {
    "xc7z020": ("xc7z020", "xc7z020clg400-1"),
    "xc7z045": ("xc7z045", "xc7z045ffg900-2"),
    "xck26": ("xczu5ev", "xck26-sfvc784-2LV-c"),
    "xcku5p": ("xcku5p", "xcku5p-ffvd900-2-i"),
    "xcu50": ("xcu50", "xcu50-fsvh2104-2-e"),
    "xcu55c": ("xcu55c", "xcu55c-fsvh2892-2L-e"),
    "xcu200": ("xcvu9p", "xcu200-fsgd2104-2-e"),
    "xcu250": ("xcu250", "xcu250-figd2104-2L-e"),
    "xcu280": ("xcu280", "xcu280-fsvh2892-2L-e"),
    "xcvu3p": ("xcvu3p", "xcvu3p-ffvc1517-2-e"),
    "xcvu9p": ("xcvu9p", "xcvu9p-flga2104-2L-e"),
    "xcvu13p": ("xcu250", "xcvu13p-fhga2104-2-e"),
    "xcvu35p": ("xcu50", "xcvu35p-fsvh2104-2-e"),
    "xcvu37p": ("xcu280", "xcvu37p-fsvh2892-2-e"),
    "xcvu47p": ("xcu55c", "xcvu47p-fsvh2892-2-e"),
    "xczu3eg": ("xczu3eg", "xczu3eg-sbva484-1-e"),
    "xczu5ev": ("xczu5ev", "xczu5ev-sfvc784-1-e"),
    "xczu7ev": ("xczu7ev", "xczu7ev-ffvc1156-2-e"),
    "xczu9eg": ("xczu9eg", "xczu9eg-ffvb1156-2-e"),
}
"""Parts that can be planned on bare: the file of each one's die, and package and speed grade unless they are given.

A part that is sold with less than its die holds, such as xczu4ev, is none of them.
"""


def asset_folder(name: str) -> Path:
    """Return the folder ``platforms``, ``tcl`` or ``rtl``, or ``docs``, of which the wheel has the glossary alone.

    FileNotFoundError if neither the wheel nor a source tree holds it (a broken installation).
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "_assets" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"floorflow's folder '{name}' is missing from this installation")


def shipped(kind: PlatformFile) -> tuple[str, ...]:
    """Return the names of the boards, devices or kinds of link that ship with floorflow."""
    return tuple(sorted(path.stem for path in (asset_folder("platforms") / kind).glob("*.yaml")))


def shipped_file(kind: PlatformFile, name: str) -> Path:
    """Return where the file of a shipped board, device or kind of link lies, or would lie."""
    return asset_folder("platforms") / kind / f"{name}.yaml"


def is_path(text: str) -> bool:
    """Whether a platform's or a link's name is meant as the path of a user's own file."""
    return "/" in text or Path(text).suffix in {".yaml", ".yml"}


_FAMILY = re.compile(r"x[acq]([a-z]{1,3}\d|\d[a-z])")
"""How the name of a part begins, of any family: xc7a35t, xcvu13p, xqku040."""


@dataclass(frozen=True, slots=True)
class BarePart:
    """A part without a board: ``name`` as it was asked for, its die's file, and its whole name.

    ``assumed``: nobody named package and speed grade.
    """

    name: str
    device: str
    part: str
    assumed: bool


def bare_part(text: str) -> BarePart | None:
    """Return the part of a name without a board, such as ``xczu7ev`` or ``XCZU7EV-FFVC1156-2-E``; None if it is none.

    >>> bare_part("XCK26-sfvc784-2lv-c").part
    'xck26-sfvc784-2LV-c'
    """
    name = text.lower()
    if name in PARTS:
        return BarePart(name, *PARTS[name], assumed=True)
    family = re.fullmatch(r"(x[a-z]+\d+[a-z]*|xc7z\d{3})(-\w+){2,3}|(xc7z\d{3})[a-z]{3}\d{3,4}-\w+", name)
    known = None if family is None else PARTS.get(family[1] or family[3])
    if known is None:
        return None
    spelt = re.sub(r"-(\d)(l|lv)-", lambda grade: f"-{grade[1]}{grade[2].upper()}-", name)
    return BarePart(name, known[0], spelt, assumed=False)


def require_platform(text: str) -> None:
    """Refuse what is no board, no file and no part, as `board_path` does."""
    if not is_bare(text):
        board_path(text)


def is_bare(text: str) -> bool:
    """Whether a text names a part, not a board or a file."""
    return not matching(text, shipped("boards")) and not is_path(text) and bare_part(text) is not None


def board_path(text: str) -> Path:
    """Return the board file for a name, a whole part of one such as ``u250``, or a path; case does not count.

    PlatformError if the name is unknown (with the nearest names), or fits several boards.
    """
    found = matching(text, shipped("boards"))
    if len(found) == 1:
        return shipped_file("boards", found[0])
    if found:
        message = f"platform '{text}' may be {' or '.join(found)}"
        raise PlatformError(message, hint="give more of the name")
    if is_path(text):
        return _existing(text, "-p")
    raise PlatformError(f"unknown platform '{text}'", hint=_file_meant(text, "-p") or _nearest(text))


def _nearest(text: str) -> str:
    """Name the file or the boards and parts that a text is most like, all of these, and how another one is brought."""
    boards = shipped("boards")
    near = [difflib.get_close_matches(text.lower(), names, n=3, cutoff=0.4) for names in (boards, PARTS)]
    meant = " or ".join(name for each in near for name in each)
    known = f"known boards: {', '.join(boards)}; bare parts: {', '.join(PARTS)}"
    return f"{f'did you mean {meant}? ' if meant else ''}{how_to_bring(text)}. {known}"


def how_to_bring(text: str) -> str:
    """Say how a board or part that does not ship is brought (platforms/README.md)."""
    whole = PARTS.get(text.lower().partition("-")[0])
    if whole is not None:
        return f"a part has its name alone or package and speed grade too, such as {whole[1]}"
    if _FAMILY.match(text.lower()):
        return (
            f"no file of {text} ships: write its die's as platforms/devices/*.yaml are (platforms/README.md, "
            "platforms/convert_devices.py), name it in a board's file of your own (device: DIE.yaml; to begin with: "
            "floorflow platforms --new NAME --part xczu7ev -o NAME.yaml), floorflow platforms --check NAME.yaml, and "
            "give that path"
        )
    return (
        "for a board of your own: floorflow platforms --new NAME --part PART -o NAME.yaml, edit it, floorflow "
        "platforms --check NAME.yaml, and give that path (platforms/README.md)"
    )


def _file_meant(text: str, option: str) -> str:
    """Say which file in the current folder a name stands for that is none of those that ship; nothing if none does."""
    path = Path(text)
    bare = path.with_suffix("") if is_path(text) and path.suffix else path
    if not bare.name:
        return ""
    names = {bare.with_name(bare.name + suffix) for suffix in (".yaml", ".yml")}
    there = sorted(f for name in names for f in _like(name))
    if not there:
        return ""
    told = there[0] if "/" in str(there[0]) else Path(there[0].name)
    return f"there is {'' if '/' in str(told) else './'}{told}; give {option} {told}"


def _like(name: Path) -> list[Path]:
    """Return the file of a name, without regard to case."""
    try:
        return [f for f in name.parent.iterdir() if f.name.lower() == name.name.lower() and f.is_file()]
    except (OSError, ValueError):
        return []


def link_path(text: str) -> Path:
    """Return the file of a kind of link: a shipped one by its name, or a user's by its path.

    PlatformError if the kind is unknown.
    """
    if text.lower() in shipped("links"):
        return shipped_file("links", text.lower())
    if is_path(text):
        return _existing(text, "--link")
    known = ", ".join(shipped("links"))
    near = difflib.get_close_matches(text.lower(), shipped("links"), n=2, cutoff=0.5)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    hint = _file_meant(text, "--link") or f"{meant}known: {known}; or give a link's YAML file"
    raise PlatformError(f"--link {text}: unknown kind of link", hint=hint)


def matching(text: str, names: tuple[str, ...]) -> list[str]:
    """Return the names that a text stands for, without regard to case: the very name, else those it is a part of.

    Parts are whole words between dashes: ``u250`` is one of ``alveo-u250``, ``u25`` (another card) is not.

    >>> matching("U250", ("alveo-u200", "alveo-u250"))
    ['alveo-u250']
    """
    wanted = text.lower()
    if wanted in names:
        return [wanted]
    return [name for name in names if wanted and f"-{wanted}-" in f"-{name}-"]


def _existing(text: str, option: str) -> Path:
    if not os.path.exists(text):  # noqa: PTH110  (a Path's raises where a name is too long or a folder forbidden)
        hint = _file_meant(text, option) or "give the path of a YAML file"
        raise PlatformError(f"{text:.200}: there is no such file", hint=hint)
    return Path(text)
