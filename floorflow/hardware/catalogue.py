"""Where platform files lie: those that ship with floorflow by their names, users' own by their paths."""

from __future__ import annotations

import difflib
from pathlib import Path

from floorflow.assets import asset_folder
from floorflow.errors import PlatformError
from floorflow.hardware.reading import read_text


def known_platforms() -> tuple[str, ...]:
    """Return the names of the boards that ship with floorflow."""
    return _shipped("boards")


def known_links() -> tuple[str, ...]:
    """Return the names of the kinds of link that ship with floorflow."""
    return _shipped("links")


def _shipped(kind: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (asset_folder("platforms") / kind).glob("*.yaml")))


def _is_path(text: str) -> bool:
    return "/" in text or Path(text).suffix in {".yaml", ".yml"}


def board_path(text: str) -> Path:
    """Return the board file for a name or a path; an unknown name raises PlatformError with the nearest names."""
    if text in known_platforms():
        return asset_folder("platforms") / "boards" / f"{text}.yaml"
    if _is_path(text):
        return Path(text)
    near = difflib.get_close_matches(text.lower(), known_platforms(), n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    known = ", ".join(known_platforms())
    raise PlatformError(
        f"unknown platform '{text}'", hint=f"{hint}known: {known}; or give the path of a board's YAML file"
    )


def link_path(text: str) -> Path:
    """Return the file of a kind of link: a shipped one, or a user's."""
    if text in known_links():
        return asset_folder("platforms") / "links" / f"{text}.yaml"
    if _is_path(text):
        return Path(text)
    known = ", ".join(known_links())
    raise PlatformError(f"--link {text}: unknown kind of link", hint=f"known: {known}; or give a link's YAML file")


def device_path(device: str, board_file: Path) -> Path:
    """Return the file of a board's die: a shipped one, or one beside the board's file."""
    if device in _shipped("devices"):
        return asset_folder("platforms") / "devices" / f"{device}.yaml"
    if _is_path(device):
        return board_file.parent / device
    known = ", ".join(_shipped("devices"))
    raise PlatformError(
        f"{board_file}: device: unknown die '{device}'", hint=f"known: {known}; or a path relative to the board's file"
    )


def check_name_is_free(kind: str, name: str, text: str, path: Path) -> None:
    """Refuse a user's file that calls itself as a shipped one but differs: a plan names files, not contents."""
    shipped = asset_folder("platforms") / kind / f"{name}.yaml"
    if shipped.is_file() and read_text(shipped) != text:
        field = "part" if kind == "devices" else "name"
        raise PlatformError(f"{path}: {field}: '{name}' is a file that ships with floorflow; choose another name")
