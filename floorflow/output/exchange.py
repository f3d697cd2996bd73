"""Two folders swapped by the system in one step."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

Exchange = Callable[[Path, Path], None]
"""Swaps two folders at once, or raises OSError where that cannot be done."""


def swap_folders(one: Path, other: Path) -> None:
    """Swap two folders of one file system in one step that no signal can divide.

    Raises
    ------
    OSError
        If the system or the file system knows no such step, or one of them cannot be moved.

    """
    import ctypes

    sys.audit("floorflow.exchange", str(one), str(other))
    library = ctypes.CDLL(None, use_errno=True)
    paths, swap = (os.fsencode(one), os.fsencode(other)), 2  # RENAME_EXCHANGE and RENAME_SWAP are both 2
    if hasattr(library, "renameat2"):
        here = -100  # AT_FDCWD
        failed = library.renameat2(here, paths[0], here, paths[1], swap)
    elif hasattr(library, "renamex_np"):
        failed = library.renamex_np(*paths, swap)
    else:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if failed:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
