"""A kind of link between FPGAs, read from ``platforms/links/<name>.yaml``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from floorflow.hardware.board import MOST_GBPS, MOST_LATENCY_US, Amounts, EvidenceModel, Name, resources
from floorflow.hardware.reading import FileModel, parse
from floorflow.resources import Resources


@dataclass(frozen=True)
class LinkKind:
    """Gb/s in each direction, microseconds one way, and the logic at each end; ``assumed``: these are guesses."""

    name: str
    gbps: float
    latency_us: float
    core: Resources | None
    assumed: bool


class LinkFileModel(FileModel):
    """A whole link file."""

    file_schema: Literal["floorflow-link/1"] = Field(alias="schema")
    name: Name
    gbps: float = Field(gt=0, le=MOST_GBPS, allow_inf_nan=False)
    latency_us: float = Field(ge=0, le=MOST_LATENCY_US, allow_inf_nan=False)
    core: Amounts | None = None
    assumed: bool
    evidence: list[EvidenceModel]


def read_link(text: str, file: str) -> LinkKind:
    """Return the kind of link that ``text``, the content of ``file``, describes.

    Raises
    ------
    PlatformError
        If a field is missing, unknown or malformed.

    """
    model = parse(LinkFileModel, text, file)
    core = None if model.core is None else resources(model.core)
    return LinkKind(model.name, model.gbps, model.latency_us, core, model.assumed)
