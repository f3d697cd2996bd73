"""Back ends by name, before anything slow is imported: four are built in, others register by entry points.

An entry point of the group ``floorflow.backends`` bears the back end's name and leads to its `Registration`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, ClassVar, Self, get_args

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

from floorflow.errors import InputError, ToolError
from floorflow.importing import whole_imports

GROUP = "floorflow.backends"
DEFAULT_BACKEND = "finn"
"""The back end of a request that names none; the command line has options of their own for its options."""
_OBJECTS = {
    DEFAULT_BACKEND: "floorflow.backends.finn.options:FINN",
    "hls4ml": "floorflow.backends.hls4ml.options:HLS4ML",
    "fpgaconvnet": "floorflow.backends.fpgaconvnet.options:FPGACONVNET",
    "fcnnx": "floorflow.backends.fcnnx.options:FCNNX",
}
_BUILT_IN = {name: EntryPoint(name, value, GROUP) for name, value in _OBJECTS.items()}

_INSTALL = "another is there once the package that brings it is installed (docs/backends.md)"


class BackendOptions(BaseModel):
    """A back end's own options: a field each, with default, limits and description.

    ``presets``: what a preset of the request sets of them, where that is not the default.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({})

    @classmethod
    def usual(cls, preset: str, name: str) -> Any:
        """Return the value of an option that nobody gave."""
        changed = cls.presets.get(preset, {})
        return changed[name] if name in changed else cls.model_fields[name].get_default(call_default_factory=True)

    def under(self, preset: str) -> Self:
        """Return the same with a preset behind what was given, which alone still counts as given."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        whole = type(self)(**{**self.presets.get(preset, {}), **given})
        return self.model_construct({*given}, **{name: getattr(whole, name) for name in type(self).model_fields})

    @property
    def crossing_fifos(self) -> bool:
        """Whether the tool is to build a FIFO for each register stage at an SLR boundary."""
        return False

    @property
    def crossing_slices(self) -> bool:
        """Whether a script of the plan is to insert AMD's register slices at SLR boundaries, of one card's design."""
        return False

    @property
    def stitches(self) -> bool:
        """Whether modules are implemented one by one, each in its pblock, and stitched."""
        return False

    def for_reuse(self) -> Self:
        """Return the same with engines whose constants can be written once they are placed, as far as there are."""
        return self

    @property
    def crossing_advice(self) -> str:
        """Return how registers come to SLR boundaries where the tool builds none."""
        return "insert them: the tool does not"

    def fifos_told(self, *, knows_depths: bool) -> str:  # noqa: ARG002
        """Return whose FIFO depths a plan assumes, and what makes the tool build them; nothing where none is to say."""
        return ""


@dataclass(frozen=True)
class Registration:
    """What a request has to know of a back end, so that a mistake is refused before anything slow is imported.

    ``backend`` is the dotted path, ``package.module:OBJECT``, of its `floorflow.backends.backend.Backend`, and
    ``fold_methods`` are the names of folding methods of its own. ``shares_memory``: its engines work from external
    memory, which those of several networks share in time by a schedule.
    """

    backend: str
    options: type[BackendOptions] = BackendOptions
    fold_methods: tuple[str, ...] = ()
    shares_memory: bool = False


def backend_names() -> tuple[str, ...]:
    """Return the names of all back ends that are installed."""
    return tuple(sorted({*_BUILT_IN, *entry_points(group=GROUP).names}))


def added_names() -> tuple[str, ...]:
    """Return the names of the back ends that are not built in: they may read other files than ONNX."""
    return tuple(name for name in backend_names() if name not in _BUILT_IN)


def registration(name: str) -> Registration:
    """Return what is known of a back end.

    Raises InputError if there is none of that name, or more than one; ToolError if it cannot be imported: it raises
    something, or ends the process.
    """
    found = [_BUILT_IN[name]] if name in _BUILT_IN else list(entry_points(group=GROUP, name=name))
    if not found:
        known = ", ".join(backend_names())
        raise InputError(f"--backend {name}: unknown back end", hint=f"known are {known}; {_INSTALL}")
    if len({entry.value for entry in found}) > 1:
        places = " and ".join(sorted({entry.value for entry in found}))
        raise InputError(f"--backend {name}: registered twice, as {places}", hint="uninstall one of the two")
    made = _loaded(found[0])
    if not isinstance(made, Registration):
        raise InputError(
            f"--backend {name}: {found[0].value} is a {type(made).__name__}",
            hint="expected a floorflow.plugins.Registration (docs/backends.md)",
        )
    return made


def options_in_words() -> str:
    """Return the options of the built-in back ends whose options have no spelling of their own, with their choices."""
    own = {name: registration(name).options.model_fields for name in _OBJECTS if name != DEFAULT_BACKEND}
    return "; ".join(f"{name}: {', '.join(map(_in_words, fields.items()))}" for name, fields in own.items())


def _in_words(field: tuple[str, FieldInfo]) -> str:
    name, info = field
    choices = [choice for choice in get_args(info.annotation) if isinstance(choice, str)]
    return f"{name} ({', '.join(choices)})" if choices else f"{name} (a number)"


def _loaded(entry: EntryPoint) -> Any:
    try:
        with whole_imports():
            return entry.load()
    except (Exception, SystemExit) as error:  # whatever a stranger's package does when it is imported
        told = f"it exits with {error.code}" if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
        raise ToolError(
            f"--backend {entry.name}: {entry.value} cannot be imported: {told}", hint="mend or uninstall the back end"
        ) from error


def backend_object(name: str) -> Any:
    """Import a back end and return it; `floorflow.backends.backend.backend_named` returns it with its type.

    Raises InputError if there is none of that name; ToolError if it cannot be imported.
    """
    return _loaded(EntryPoint(name, registration(name).backend, GROUP))
