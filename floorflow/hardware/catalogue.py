"""Platform files by name: what ships with floorflow, and that a user's files do not go by its names."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from floorflow.assets import PlatformFile, asset_folder, bare_part, board_path, is_bare, is_path, link_path, shipped
from floorflow.errors import PlatformError
from floorflow.hardware.new_board import board_text
from floorflow.hardware.reading import read_text
from floorflow.reading import exists, is_file

__all__ = [
    "board_path",
    "board_source",
    "check_name_is_free",
    "device_path",
    "file_named_in",
    "known_links",
    "known_platforms",
    "link_path",
]


def known_platforms() -> tuple[str, ...]:
    """Return the names of the boards that ship with floorflow."""
    return shipped("boards")


def known_links() -> tuple[str, ...]:
    """Return the names of the kinds of link that ship with floorflow."""
    return shipped("links")


def board_source(name_or_path: str) -> tuple[str, Path]:
    """Return a board's text and file: a shipped one, a user's, or one made from the name of a part alone.

    Raises
    ------
    PlatformError
        As `board_path`, or if the file cannot be read.

    """
    found = bare_part(name_or_path) if is_bare(name_or_path) else None
    if found is not None:
        return board_text(found.name, found), Path(f"{found.name}.yaml")
    path = board_path(name_or_path)
    return read_text(path), path


def device_path(device: str, board_file: Path) -> Path:
    """Return the file of a board's die: a shipped one, one beside the board's file, or the copy in a plan's folder."""
    if device in shipped("devices"):
        return asset_folder("platforms") / "devices" / f"{device}.yaml"
    if is_path(device):
        beside = board_file.parent / device
        copied = board_file.parent.parent / "devices" / f"{beside.stem}.yaml"
        return copied if board_file.parent.name == "boards" and not exists(beside) else beside
    hint = f"known: {', '.join(shipped('devices'))}; or a path relative to the board's file"
    raise PlatformError(f"{board_file}: device: unknown die '{device}'", hint=_beside(board_file, device) or hint)


def _beside(file: Path, name: str) -> str:
    """Say which file beside another a name stands for that is none of those that ship; nothing if none does."""
    found = [f"{name}{suffix}" for suffix in (".yaml", ".yml") if is_file(file.parent / f"{name}{suffix}")]
    return f"there is {file.parent / found[0]}; say {found[0]}" if found else ""


def file_named_in(platform_file: Path, kind: Literal["boards", "links"], text: str, field: str) -> Path:
    """Return the file that a field of a platform file names: a shipped one, or one beside the platform file.

    In the folder of a plan, where that lies in ``platforms/``, it is the copy in ``boards/`` or ``links/``.

    Raises
    ------
    PlatformError
        If the name is unknown, or the path that of no file.

    """
    if text in shipped(kind):
        return asset_folder("platforms") / kind / f"{text}.yaml"
    if not is_path(text):
        hint = f"known: {', '.join(shipped(kind))}; or a path relative to the platform's file"
        what = "board" if kind == "boards" else "kind of link"
        raise PlatformError(
            f"{platform_file}: {field}: unknown {what} '{text}'", hint=_beside(platform_file, text) or hint
        )
    beside = platform_file.parent / text
    copied = platform_file.parent.parent / kind / f"{beside.stem}.yaml"
    found = copied if platform_file.parent.name == "platforms" and not exists(beside) else beside
    if not is_file(found):
        raise PlatformError(f"{platform_file}: {field}: there is no file {beside}", hint="give a path relative to it")
    return found


def check_name_is_free(kind: PlatformFile, name: str, text: str, path: Path) -> None:
    """Refuse a user's file that calls itself as a shipped one but differs: a plan names files, not contents."""
    shipped_file = asset_folder("platforms") / kind / f"{name}.yaml"
    if is_file(shipped_file) and read_text(shipped_file) != text:
        field = "part" if kind == "devices" else "name"
        raise PlatformError(f"{path}: {field}: '{name}' is a file that ships with floorflow; choose another name")
