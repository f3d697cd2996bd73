"""Lay a finished bundle of files on disk: whole or not at all, and never over anything of the user's.

A bundle is built in a hidden folder beside ``out`` (the *workshop*, ``.NAME.floorflow``, held by a lock that dies with
its writer). Where ``out`` does not exist it is renamed to it. Where it does, the two folders are exchanged by one
system call (`renameat2` of Linux, `renamex_np` of macOS); then the folder that stood there first, which a shell may
have as its current one, gets the new files out of sight and is exchanged back. So a signal at any moment, SIGKILL
among them, leaves the whole old or the whole new bundle. Files that no plan wrote are in both folders, as hard links.

Where folders cannot be exchanged (a mount point, a parent that is read-only, a file system that knows neither
exchange nor hard links) the files are moved one by one out of a workshop in ``out``, after a rename that commits to it:
whoever is killed between the first and the last of them leaves a mixture, which the next run completes before all else.
"""

from floorflow.output.bundle import earlier_files
from floorflow.output.exchange import Exchange, swap_folders
from floorflow.output.files import RUN_FILE
from floorflow.output.write import require_free, write

__all__ = ["RUN_FILE", "Exchange", "earlier_files", "require_free", "swap_folders", "write"]
