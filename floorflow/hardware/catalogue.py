"""Platform files by name: what ships with floorflow, and that a user's files do not go by its names."""

from __future__ import annotations

from pathlib import Path

from floorflow.assets import asset_folder, board_path, is_path, link_path, shipped
from floorflow.errors import PlatformError
from floorflow.hardware.reading import read_text

__all__ = ["board_path", "check_name_is_free", "device_path", "known_links", "known_platforms", "link_path"]


def known_platforms() -> tuple[str, ...]:
    """Return the names of the boards that ship with floorflow."""
    return shipped("boards")


def known_links() -> tuple[str, ...]:
    """Return the names of the kinds of link that ship with floorflow."""
    return shipped("links")


def device_path(device: str, board_file: Path) -> Path:
    """Return the file of a board's die: a shipped one, or one beside the board's file."""
    if device in shipped("devices"):
        return asset_folder("platforms") / "devices" / f"{device}.yaml"
    if is_path(device):
        return board_file.parent / device
    known = ", ".join(shipped("devices"))
    raise PlatformError(
        f"{board_file}: device: unknown die '{device}'", hint=f"known: {known}; or a path relative to the board's file"
    )


def check_name_is_free(kind: str, name: str, text: str, path: Path) -> None:
    """Refuse a user's file that calls itself as a shipped one but differs: a plan names files, not contents."""
    shipped_file = asset_folder("platforms") / kind / f"{name}.yaml"
    if shipped_file.is_file() and read_text(shipped_file) != text:
        field = "part" if kind == "devices" else "name"
        raise PlatformError(f"{path}: {field}: '{name}' is a file that ships with floorflow; choose another name")
