"""Where the shipped ``platforms/`` and ``tcl/`` folders are: inside the installed wheel or beside the source tree."""

from __future__ import annotations

from pathlib import Path


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
