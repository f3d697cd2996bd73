"""Platforms of which resources alone are known, ``samo:zedboard``: for networks that are folded, cut, never placed."""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from floorflow.assets import asset_folder
from floorflow.errors import InputError, some
from floorflow.hardware.reading import FileModel, parse
from floorflow.request import RESOURCES_ALONE, Request, limits_of
from floorflow.resources import Resources


@dataclass(frozen=True)
class ResourcePlatform:
    """A device's resources, its clock, what its memory carries and what loading it takes.

    ``board``: one of ours, whose part says which engines can be built.
    """

    name: str
    board: str
    clock_mhz: float
    memory_gbps: float
    load_us: float
    resources: Resources

    def limits(self, request: Request) -> Resources:
        """Return what a design may use: all, unless a cap was asked for."""
        return limits_of(request, self.resources) if "cap" in request.model_fields_set else self.resources


class _Entry(FileModel):
    board: str
    clock_mhz: float = Field(gt=0)
    memory_gbps: float = Field(gt=0)
    ms: float = Field(ge=0)
    resources: dict[Literal["LUT", "FF", "BRAM18", "DSP"], int]


class _File(FileModel):
    file_schema: Literal["floorflow-resources/1"] = Field(alias="schema")
    platforms: dict[str, _Entry]


def resource_platform(name: str) -> ResourcePlatform:
    """Return the platform of a name that begins with ``samo:``.

    InputError if there is none of that name.
    """
    path = asset_folder("platforms") / "samo.yaml"
    known = parse(_File, path.read_text(encoding="utf-8"), str(path)).platforms
    word = name.removeprefix(RESOURCES_ALONE)
    if word not in known:
        raise InputError(f"--platform {name}: unknown", f"known are {some([RESOURCES_ALONE + key for key in known])}")
    entry = known[word]
    resources = Resources.from_dict({str(key): amount for key, amount in entry.resources.items()})
    return ResourcePlatform(name, entry.board, entry.clock_mhz, entry.memory_gbps, entry.ms * 1e3, resources)
