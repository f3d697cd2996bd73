"""Several networks on one platform: a request of each, and what each is to reach.

They share all options but their models and rates. A network's name is its file's stem, as the plan writes names
(`plain_name`); rates are given by name, ``--fps NAME=RATE``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from floorflow.errors import InputError, some
from floorflow.plugins import registration
from floorflow.request import GOAL, Request, option_of, told

LEAST_SHARE_OF_TARGET = 0.5
"""Of its target that each network gets where that is feasible, unless asked otherwise."""
Fairness = Literal["fps-error", "throughput-error"]
MEMORY_OPTIONS = ("memory_gbs", "fairness", "two_sided")
"""Options of back ends whose engines share the memory in time."""
RATE_OPTIONS: Mapping[str, str] = MappingProxyType({"fps": "--fps", "min_rate": "--min-rate"})
"""Options whose values are rates of networks, by name."""


def plain_name(text: str) -> str:
    """Return a name as networks and phases may have it: whatever else a file's name holds becomes ``_``.

    None begins with a point: files that are called so would be hidden ones.
    """
    return re.sub(r"[^A-Za-z0-9_.\-]", "_", text).lstrip(".") or "network"


def network_name(model: Path) -> str:
    """Return what a model file's network is called: as the file, without folders and ending."""
    name = model.name
    return plain_name(name.removesuffix(".onnx") if name.endswith(".onnx") else model.stem)


def read_rates(value: Any, option: str) -> dict[str, float]:
    """Return rates in frames a second by network, from a mapping or from ``NAME=RATE`` settings.

    InputError if a setting has no name, a rate is no number above 0, or a name comes twice.
    """
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {str(name): _rate(name, rate, option) for name, rate in value.items()}
    rates: dict[str, float] = {}
    for setting in [value] if isinstance(value, str | float | int) else value:
        name, equals, rate = str(setting).rpartition("=")
        if not equals or not name:
            hint = "say of which network, by its file's stem: --fps camera=25"
            raise InputError(f"{option} {setting}: expected NAME=RATE", hint=hint.replace("--fps", option))
        if name in rates:
            raise InputError(f"{option} {setting}: {name} is given twice, before as {rates[name]:g}")
        rates[name] = _rate(name, rate, option)
    return rates


def _rate(name: object, value: object, option: str) -> float:
    try:
        rate = -1.0 if isinstance(value, bool) else float(str(value))
    except ValueError:
        rate = -1.0
    if not 0.001 <= rate <= 1e15:
        raise InputError(f"{option} {name}={value}: expected frames a second, at least 0.001 and at most 1e+15")
    return rate


MinRates = Annotated[dict[str, float], BeforeValidator(lambda value: read_rates(value, "--min-rate"))]


class SeveralOptions(BaseModel):
    """What can be asked for beside a `Request` where several networks share the platform."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_rate: Annotated[MinRates, GOAL] = Field(
        default_factory=dict,
        description="Frames a second that a network must get, NAME=RATE; repeatable. With several networks; if not "
        f"given {LEAST_SHARE_OF_TARGET:.0%} of its --fps, where all can have that.",
    )

    memory_gbs: Annotated[float | None, GOAL] = Field(
        None,
        ge=0.001,
        le=10_000,
        description="GB/s of external memory that networks share in time, with --backend fcnnx; if not given the "
        "board's.",
    )
    fairness: Annotated[Fairness, GOAL] = Field(
        "fps-error",
        description="What networks at one memory are measured by: their --fps, or the most that each reaches alone.",
    )
    two_sided: Annotated[bool, GOAL] = Field(
        default=False, description="More than its --fps is a fault of a network at one memory, as less is."
    )

    def __init__(self, **options: object) -> None:
        try:
            super().__init__(**options)
        except ValidationError as error:
            raise told(type(self), error) from None


@dataclass(frozen=True)
class SeveralRequest:
    """One run of ``plan`` for several networks: a request of each, alike but for ``model`` and ``fps``.

    ``names`` are those of the networks, in the same order.

    InputError if two networks have one name, a rate is of none of them, or an option is for one network only.
    """

    names: tuple[str, ...]
    each: tuple[Request, ...]
    own: SeveralOptions = field(default_factory=SeveralOptions)

    def __post_init__(self) -> None:
        require_distinct([(name, str(request.model)) for name, request in zip(self.names, self.each, strict=True)])
        require_known(self.own.min_rate, self.names, "--min-rate")
        if self.each[0].constraints is not None:
            raise InputError("--constraints: its wishes are for one network", hint="leave it out, or plan one network")
        if self.shares_memory:
            _require_goals_at_memory(self.each[0])
        else:
            _require_goals_of_several(self.each[0])
            refuse_memory_options(self.own.model_fields_set, self.each[0].backend)
        for name, request in zip(self.names, self.each, strict=True):
            least, asked = self.own.min_rate.get(name), request.fps
            if least is not None and asked is not None and least > asked:
                raise InputError(f"--min-rate {name}={least:g}: is more than --fps {name}={asked:g}")

    @property
    def shared(self) -> Request:
        """What all networks are asked for alike, but for model and rate: the request of the first without a rate."""
        return self.each[0].changed(fps=None)

    def like(self, shared: Request) -> Self:
        """Return the same networks and rates with other options for all."""
        each = tuple(shared.changed(model=one.model, fps=one.fps) for one in self.each)
        return replace(self, each=each)

    @property
    def shares_memory(self) -> bool:
        """Whether engines of the back end share the external memory by a schedule."""
        return registration(self.each[0].backend).shares_memory

    @property
    def rates(self) -> dict[str, float]:
        """The target of each network that has one, in frames a second."""
        pairs = zip(self.names, self.each, strict=True)
        return {name: request.fps for name, request in pairs if request.fps is not None}

    def least_fps(self, name: str) -> float | None:
        """Return the rate that a network must get, None if nobody asked for any."""
        return self.own.min_rate.get(name)


def require_distinct(models: Sequence[tuple[str, str]]) -> None:
    """Refuse networks of one name; ``models`` are names and what they are of."""
    for place, (name, file) in enumerate(models):
        before = next((other for known, other in models[:place] if known == name), None)
        if before is not None:
            raise InputError(
                f"{file}: its network would be called {name} as that of {before} is",
                hint="a network is called as its file: give each file another name",
            )


def require_known(rates: Iterable[str], names: Sequence[str], option: str) -> None:
    """Refuse rates of networks that are not there."""
    for name in rates:
        if name not in names:
            raise InputError(f"{option} {name}=...: there is no such network", hint=f"networks are {some(names)}")


def _require_goals_of_several(request: Request) -> None:
    """Refuse options that several networks do not have."""
    refused = {
        "--objective latency": request.objective == "latency",
        "--objective throughput": request.objective == "throughput" and request.fps is not None,
        f"--reconfigure {request.reconfigure}": request.reconfigure != "none",
        "--folding": request.folding is not None,
        "--epsilon": request.epsilon is not None,
        "--gap": request.gap > 0,
        "--from": request.start_from is not None,
        "--granularity slot": request.granularity == "slot",
        "--risk": request.risk is not None,
        f"--fold-method {request.fold_method}": request.fold_method != "exact",
        "--keep-folding": request.keep_folding,
        "--replicas": request.replicas is not None,
    }
    _refuse(refused, "only a plan of one network has it", "leave it out, or plan one network")


def refuse_memory_options(given: Iterable[str], backend: str) -> None:
    """Refuse options of a shared memory where engines of the back end do not share it."""
    for name in given:
        if name in MEMORY_OPTIONS:
            raise InputError(
                f"{option_of(name, SeveralOptions)}: engines of back end {backend} share no memory by a schedule",
                hint="leave it out, or name --backend fcnnx",
            )


def _require_goals_at_memory(request: Request) -> None:
    """Refuse options that networks which share the memory do not have: their rates are what is planned for."""
    refused = {
        f"--objective {request.objective}": request.objective is not None,
        f"--reconfigure {request.reconfigure}": request.reconfigure != "none",
        f"--fpgas {request.fpgas}": request.fpgas != 1,
        "--keep-folding": request.keep_folding,
        "--epsilon": request.epsilon is not None,
        f"--fold-method {request.fold_method}": request.fold_method != "exact",
        "--risk": request.risk is not None,
        "--replicas": request.replicas is not None,
    }
    _refuse(refused, "networks that share the memory of one board do not have it", "leave it out")


def _refuse(options: Mapping[str, bool], why: str, hint: str) -> None:
    """Refuse the first of some options that is given."""
    option = next((option for option, given in options.items() if given), None)
    if option is not None:
        raise InputError(f"{option}: {why}", hint)
