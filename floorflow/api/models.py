"""Models that were read: from a file, or from an ONNX model in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, cast

from floorflow.api.options import ReadOptions, with_options
from floorflow.errors import FloorflowError, InputError
from floorflow.importing import whole_imports
from floorflow.plugins import DEFAULT_BACKEND
from floorflow.request import Request

if TYPE_CHECKING:
    import onnx

    from floorflow.backends.backend import Source

AnyModel: TypeAlias = "str | Path | onnx.ModelProto | Source | Model"
"""What can be planned: a file, a model in memory, or one that was read."""

_READING = {DEFAULT_BACKEND: {"weight_bits", "activation_bits"}}
"""Options of a back end that say how a model is read; of one that is not known, all may."""
ANY_BOARD = "alveo-u250"
"""Stands for the platform of a request that only reads."""


@dataclass(frozen=True, repr=False)
class Model:
    """A model that was read, to be planned as often as you like.

    ``path`` names it in plans; of one that was in memory, or that a back end's reader made, no such file need exist.
    ``options`` are those that it was read with: they are part of it, and all plans of it are made with them.
    """

    path: Path
    source: Source
    options: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The network's name."""
        return self.source.network.name

    def __repr__(self) -> str:
        return f"<floorflow.Model {self.name}: {len(self.source.network.operations)} operations>"

    @property
    def operations(self) -> list[dict[str, Any]]:
        """The network's operations as flat rows."""
        return [{"operation": o.name, "type": o.type, "macs": o.macs} for o in self.source.network.operations]


@with_options(ReadOptions)
def read(model: AnyModel, *, name: str | None = None, **options: Unpack[ReadOptions]) -> Model:
    """Read a model: an ONNX file, an ``onnx.ModelProto`` in memory, or what a back end's own reader returned.

    ``weight_bits`` and ``activation_bits`` are for a network without quantisers (8 if not given). Every option that is
    given here holds for all plans of the model; with a back end's own reader they say how it has read. ``name``: what
    plans call a model that was in memory; the name of its graph if not given.

    Raises
    ------
    InputError
        If the file is missing or is no network that can be understood; what stands in the way of planning it is
        told by `plan` and `inspect`.

    """
    given = {option: value for option, value in options.items() if value is not None}
    if isinstance(model, Model):
        if given or name:
            raise InputError("a model that was read cannot be read in another way", hint="read its file again")
        return model
    if isinstance(model, str | Path):
        return Model(Path(model), _source(Path(model), given), given)
    if hasattr(model, "SerializeToString"):
        return _from_memory(cast("onnx.ModelProto", model), name, given)
    if hasattr(model, "network"):
        path = Path(name or model.network.name)
        reading_request(path, given)
        return Model(path, model, given)
    raise InputError(
        f"a model was expected, found {type(model).__name__}",
        hint="give a path, an onnx.ModelProto or what floorflow.read returned",
    )


def reading_request(path: Path, options: Mapping[str, Any]) -> Request:
    """Return a request that only reads, with the options of `read`."""
    return Request(model=path, platform=ANY_BOARD, **options)


def matters_for_reading(backend: str, option: str) -> bool:
    """Whether a model may be another one if it is read with this option of a back end."""
    return backend not in _READING or option in _READING[backend]


def _source(path: Path, options: Mapping[str, Any]) -> Source:
    request = reading_request(path, options)
    request.require_files()
    with whole_imports():
        from floorflow.search.candidate.preparing import read

    return read(request)


def _from_memory(model: onnx.ModelProto, name: str | None, options: Mapping[str, Any]) -> Model:
    """Read a model as the file that `onnx.save` would make of it; its digest is that file's."""
    title = (name or model.graph.name or "model").replace("/", "_")
    with TemporaryDirectory(prefix="floorflow-") as folder:
        path = Path(folder) / f"{title}.onnx"
        path.write_bytes(model.SerializeToString())
        try:
            return Model(Path(path.name), _source(path, options), options)
        except FloorflowError as error:
            # Nobody else has heard of the folder.
            raise type(error)(str(error).replace(str(path), path.name), error.hint, error.refusals) from None
