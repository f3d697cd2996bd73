"""A kind of link between FPGAs, read from ``platforms/links/<name>.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from floorflow.hardware.board import BoardLink
from floorflow.hardware.board_file import MOST_GBPS, MOST_LATENCY_US, Amounts, EvidenceModel, Name, resources
from floorflow.hardware.catalogue import check_name_is_free
from floorflow.hardware.reading import FileModel, parse, read_text
from floorflow.resources import Resources


@dataclass(frozen=True)
class LinkKind:
    """Gb/s in each direction, microseconds one way, and the logic at each end; ``assumed``: these are guesses.

    ``reliable``: nothing that is sent is ever lost.
    """

    name: str
    gbps: float
    latency_us: float
    core: Resources | None
    assumed: bool
    reliable: bool = True

    def in_place_of(self, own: BoardLink) -> BoardLink:
        """Return how a board is joined with this kind of link instead of its own; its ends stay where they are."""
        return replace(
            own,
            kind=self.name,
            gbps=self.gbps,
            latency_us=self.latency_us,
            core=self.core,
            assumed=self.assumed,
            reliable=self.reliable,
        )

    def ending_in(self, slr: str) -> BoardLink:
        """Return how a board that says nothing of links is joined by one that ends in an SLR of it."""
        return BoardLink(
            self.name, self.gbps, self.latency_us, slr, self.core, {}, self.assumed, reliable=self.reliable
        )


class LinkFileModel(FileModel):
    """A whole link file."""

    file_schema: Literal["floorflow-link/1"] = Field(alias="schema")
    name: Name
    gbps: float = Field(gt=0, le=MOST_GBPS, allow_inf_nan=False)
    latency_us: float = Field(ge=0, le=MOST_LATENCY_US, allow_inf_nan=False)
    core: Amounts | None = None
    assumed: bool
    reliable: bool = True
    evidence: list[EvidenceModel]


def read_link(path: Path) -> tuple[LinkKind, str]:
    """Return the kind of link that a file describes, and the file's text.

    Raises
    ------
    PlatformError
        If a field is missing, unknown or malformed, or the file bears the name of one that ships.

    """
    text = read_text(path)
    model = parse(LinkFileModel, text, str(path))
    check_name_is_free("links", model.name, text, path)
    core = None if model.core is None else resources(model.core)
    return LinkKind(model.name, model.gbps, model.latency_us, core, model.assumed, model.reliable), text
