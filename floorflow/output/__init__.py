"""Lay a finished bundle of files on disk: whole or not at all, and never over anything of the user's.

A bundle is built in a hidden folder, the *workshop*: beside ``out`` (``.NAME.floorflow``), or in it where that is
another file system. Where ``out`` does not exist the finished folder is renamed to it. Where it does, only files that
its run.json lists and that nobody edited are moved away, and the new ones are moved in, one by one: nothing else in
``out`` ever leaves its place, however large it is. Signals wait for these moves. SIGKILL does not: plan.json goes first
and comes last, so that what it leaves is never taken for a plan, and whatever reads or writes ``out`` next undoes it.

What is to be undone is known from a *journal*, and that lies in the user's own state folder. No archive can bring it:
of hidden folders and lists that lie in an output folder, or beside it, nothing is believed, and nothing is deleted.
"""

from floorflow.output.listed import RUN_FILE, listed_files, read_run
from floorflow.output.workshop import FolderWarning
from floorflow.output.write import Written, add, recover, require_free, write
from floorflow.output.write_file import require_no_file, write_file
