"""What words stand for once they are evaluated: texts, pblocks, cells as they were asked for, and what is not known."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

PATTERN = re.compile(r"[*?]")


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells by one pattern of ``get_cells``: how it is written, and how it is matched.

    ``how`` is ``name``, ``glob`` (a ``*`` stops at a slash), ``leaf`` (-hierarchical), ``regexp``, ``filter`` (a glob
    over whole names) or ``unknown`` (what only Vivado can select).
    """

    text: str
    how: str

    @property
    def is_exact(self) -> bool:
        """Whether it is the name of one cell."""
        return self.how == "name"

    def takes(self, name: str) -> bool:
        """Whether a cell is among them; never for what only Vivado can select."""
        if self.how == "name":
            return name == self.text
        if self.how == "leaf":
            return bool(_compiled(self.text, "glob").fullmatch(name.rpartition("/")[2]))
        return self.how != "unknown" and bool(_compiled(self.text, self.how).fullmatch(name))


@lru_cache(maxsize=4096)
def _compiled(text: str, how: str) -> re.Pattern[str]:
    if how == "regexp":
        try:
            return re.compile(text)
        except re.error:
            return re.compile("(?!)")
    any_run, any_one = ("[^/]*", "[^/]") if how == "glob" else (".*", ".")
    parts = (any_run if char == "*" else any_one if char == "?" else re.escape(char) for char in text)
    return re.compile("".join(parts))


@dataclass(frozen=True, slots=True)
class Selection:
    """Objects that a command returned: pblocks by name, cells, or others of no concern here.

    ``quiet``: those that do not exist were not to be told.
    """

    kind: str
    pblocks: tuple[str, ...] = ()
    cells: tuple[Cells, ...] = ()
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that only Vivado or the rest of Tcl could give; ``why`` names the command or variable."""

    why: str


Value = str | Selection | Unknown
OTHER = Selection("other")
