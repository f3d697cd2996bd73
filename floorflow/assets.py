"""Where the shipped ``platforms/`` and ``tcl/`` folders are, platform files by name, and how boards may be joined."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Literal

from floorflow.errors import PlatformError

PlatformFile = Literal["boards", "devices", "links", "platforms"]
"""The folders of ``platforms/``."""
Topology = Literal["pair", "chain", "ring", "star", "full"]
"""How several boards may be joined."""


def asset_folder(name: str) -> Path:
    """Return the folder ``platforms`` or ``tcl``.

    Raises
    ------
    FileNotFoundError
        If neither the wheel nor a source tree holds it (a broken installation).

    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "_assets" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"floorflow's folder '{name}' is missing from this installation")


def shipped(kind: PlatformFile) -> tuple[str, ...]:
    """Return the names of the boards, devices or kinds of link that ship with floorflow."""
    return tuple(sorted(path.stem for path in (asset_folder("platforms") / kind).glob("*.yaml")))


def is_path(text: str) -> bool:
    """Whether a platform's or a link's name is meant as the path of a user's own file."""
    return "/" in text or Path(text).suffix in {".yaml", ".yml"}


def board_path(text: str) -> Path:
    """Return the board file for a name, a whole part of one such as ``u250``, or a path; case does not count.

    Raises
    ------
    PlatformError
        If the name is unknown (with the nearest names), fits several boards, or is the path of no file.

    """
    found = matching(text, shipped("boards"))
    if len(found) == 1:
        return asset_folder("platforms") / "boards" / f"{found[0]}.yaml"
    if found:
        message = f"platform '{text}' may be {' or '.join(found)}"
        raise PlatformError(message, hint="give more of the name")
    if is_path(text):
        return _existing(Path(text))
    near = difflib.get_close_matches(text.lower(), shipped("boards"), n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    known = ", ".join(shipped("boards"))
    raise PlatformError(
        f"unknown platform '{text}'", hint=f"{hint}known: {known}; or give the path of a board's YAML file"
    )


def link_path(text: str) -> Path:
    """Return the file of a kind of link: a shipped one by its name, or a user's by its path.

    Raises
    ------
    PlatformError
        If the kind is unknown, or the path that of no file.

    """
    if text.lower() in shipped("links"):
        return asset_folder("platforms") / "links" / f"{text.lower()}.yaml"
    if is_path(text):
        return _existing(Path(text))
    known = ", ".join(shipped("links"))
    raise PlatformError(f"--link {text}: unknown kind of link", hint=f"known: {known}; or give a link's YAML file")


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


def _existing(path: Path) -> Path:
    if not path.exists() or path.is_dir():
        raise PlatformError(f"{path}: cannot be read: there is no such file", hint="give the path of a YAML file")
    return path
