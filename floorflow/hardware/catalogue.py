"""Platform files by name: what ships with floorflow, and that a user's files do not go by its names."""

from collections.abc import Mapping
from pathlib import Path

from floorflow.assets import PlatformFile, bare_part, board_path, is_bare, is_path, shipped, shipped_file
from floorflow.errors import PlatformError
from floorflow.hardware.new_board import board_text
from floorflow.hardware.reading import read_text
from floorflow.reading import exists, is_file

_NAMED: Mapping[PlatformFile, tuple[str, str]] = {
    "devices": ("die", "board"),
    "boards": ("board", "platform"),
    "links": ("kind of link", "platform"),
}
"""What files of a folder hold, and by which other files they are named."""


def known_platforms() -> tuple[str, ...]:
    """Return the names of the boards that ship with floorflow."""
    return shipped("boards")


def known_links() -> tuple[str, ...]:
    """Return the names of the kinds of link that ship with floorflow."""
    return shipped("links")


def board_source(name_or_path: str) -> tuple[str, Path]:
    """Return a board's text and file: a shipped one, a user's, or one made from the name of a part alone.

    PlatformError as `board_path`, or if the file cannot be read.
    """
    found = bare_part(name_or_path) if is_bare(name_or_path) else None
    if found is not None:
        return board_text(found.name, found), Path(f"{found.name}.yaml")
    path = board_path(name_or_path)
    return read_text(path), path


def file_named_in(file: Path, kind: PlatformFile, text: str, field: str) -> Path:
    """Return the file that a field of a board's or platform's file names: a shipped one, or one beside it.

    In the folder of a plan, where that file lies in ``boards/`` or ``platforms/``, it is the copy in the folder of its
    kind.

    PlatformError if the name is unknown, or the path of a board or link that of no file.
    """
    if text in shipped(kind):
        return shipped_file(kind, text)
    what, owner = _NAMED[kind]
    if not is_path(text):
        hint = f"known: {', '.join(shipped(kind))}; or a path relative to the {owner}'s file"
        raise PlatformError(f"{file}: {field}: unknown {what} '{text}'", hint=_beside(file, text) or hint)
    beside = file.parent / text
    copied = file.parent.parent / kind / f"{beside.stem}.yaml"
    found = copied if file.parent.name == f"{owner}s" and not exists(beside) else beside
    if kind != "devices" and not is_file(found):
        raise PlatformError(f"{file}: {field}: there is no file {beside}", hint="give a path relative to it")
    return found


def _beside(file: Path, name: str) -> str:
    """Say which file beside another a name stands for that is none of those that ship; nothing if none does."""
    found = [f"{name}{suffix}" for suffix in (".yaml", ".yml") if is_file(file.parent / f"{name}{suffix}")]
    return f"there is {file.parent / found[0]}; say {found[0]}" if found else ""


def check_name_is_free(kind: PlatformFile, name: str, text: str, path: Path) -> None:
    """Refuse a user's file that calls itself as a shipped one but differs: a plan names files, not contents."""
    if is_file(shipped_file(kind, name)) and read_text(shipped_file(kind, name)) != text:
        field = "part" if kind == "devices" else "name"
        raise PlatformError(f"{path}: {field}: '{name}' is a file that ships with floorflow; choose another name")
