"""What the user asks for: one frozen, self-validating model.

The command line is made from its fields (`cli.options`), `flow.plan` takes it, and plan.json keeps it as `options`. A
field states default, limits, choices and help of an option once; its name, with dashes, is the option's. What only one
back end understands is in that back end's own model, ``backend_options``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SerializeAsAny,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from floorflow import reading
from floorflow.assets import Topology, is_path, link_path, require_platform
from floorflow.errors import InputError, PlatformError
from floorflow.plugins import DEFAULT_BACKEND, BackendOptions, options_in_words, registration
from floorflow.presets import CHANGES, DEFAULT_PRESET, PRESET_FIELDS, Preset
from floorflow.request import choices
from floorflow.request.choices import (
    RESOURCES_ALONE,
    Bargains,
    ConstraintStyle,
    Effort,
    Granularity,
    Objective,
    Reconfigure,
    Reuse,
    TieBreak,
)
from floorflow.request.readers import areas, confidence, copy_count, fixed_pblocks, fpga_count, products, settings
from floorflow.request.spelling import (
    BUDGET,
    EFFORT,
    ENGINES,
    FLOORPLAN,
    FOLDING,
    GOAL,
    OUTPUT,
    PLATFORM,
    Spelling,
    default_options,
    in_words,
    refused,
    spelled,
)
from floorflow.resources import (
    NONE,
    RESOURCE_NAMES,
    Defaults,
    Fractions,
    Resources,
    SomeFractions,
    fractions_over,
    listed,
    scaled_down,
    some_fractions,
)
from floorflow.stats import READ_WEIGHTS, MethodNames, PlaceWeights


def _text_of_path(value: object) -> object:
    return str(value) if isinstance(value, Path) else value


def _of_preset(field: str) -> Defaults:
    """Return what a preset says of a field of fractions, once it is read; an unknown preset is refused itself."""

    def fractions(read: Mapping[str, Any]) -> Mapping[str, float]:
        found: Fractions | SomeFractions = preset_value(read.get("preset", DEFAULT_PRESET), field)
        return found.as_dict()

    return fractions


OwnOptions = Annotated[SerializeAsAny[BackendOptions], WithJsonSchema({"type": "object"})]
START = replace(EFFORT, option="--from")
PathText = Annotated[Path, PlainSerializer(str, return_type=str)]
Cap = Annotated[Fractions, fractions_over(_of_preset("cap"), "--cap")]
Fill = Annotated[SomeFractions, some_fractions(_of_preset("fill"), "--fill")]
Areas = Annotated[tuple[str, ...], BeforeValidator(areas)]
FixedPblocks = Annotated[dict[str, str], BeforeValidator(fixed_pblocks)]
Confidence = Annotated[float | Literal["none"], BeforeValidator(confidence)]
EngineShare = Annotated[
    Fractions, fractions_over(_of_preset("max_engine_share"), "--max-engine-share", may_be_lifted=True)
]
MostProducts = Annotated[int | str, BeforeValidator(products)]
FpgaCount = Annotated[int | Literal["auto"], BeforeValidator(fpga_count)]
CopyCount = Annotated[int | Literal["auto"] | None, BeforeValidator(copy_count)]
FoldMethod = Annotated[str, MethodNames("folding", of_backend=True)]
"""Folding methods that need the problem alone, and those of the back end."""
PartitionMethod = Annotated[str, MethodNames("partition")]
PlaceMethod = Annotated[str, MethodNames("placement")]
Weighing = Annotated[PlaceWeights, READ_WEIGHTS]


class Request(BaseModel):
    """One run of ``plan``. Whatever is not as expected is an `InputError` that names the option.

    ``folding``: a file of the back end whose folding is kept instead of the model's, so it implies ``keep_folding``.
    Options of the back end may be given by their names like all others: ``Request(model, platform, finn="plus")``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: Annotated[PathText, Spelling("Arguments", argument=True)] = Field(
        description="Model file of the back end; FINN's: QONNX, QCDQ, QDQ, QLinear, float ONNX or a dataflow graph."
    )
    platform: Annotated[str, BeforeValidator(_text_of_path), Spelling("Platform", "-p")] = Field(
        description="Board, by its name or a word of it such as u250, or YAML file of one."
    )

    fps: Annotated[float | None, GOAL] = Field(
        None, ge=0.001, le=1e15, description="Frames a second: least resources at this rate, not the highest rate."
    )
    objective: Annotated[Objective | None, GOAL] = Field(
        None, description="What to plan for; throughput if not given, with --fps resources."
    )
    tie_break: Annotated[TieBreak, GOAL] = Field(
        "fullness",
        description="At one interval: the least full design, then the least scarce; or the least scarce at once.",
    )
    reconfigure: Annotated[Reconfigure, GOAL] = Field(
        "none",
        description="Cut the network into parts that the device runs one after another: full loads it as a whole, "
        "partial a region of it.",
    )
    regions: Annotated[int | None, GOAL] = Field(
        None,
        ge=1,
        le=choices.MOST_REGIONS,
        description="Regions that take turns, with --reconfigure partial: one is loaded while another runs; 1 if not "
        "given.",
    )
    area: Annotated[float, GOAL] = Field(
        1.0,
        gt=0,
        le=1,
        description="Share of the LUTs that regions may hold together, or of the caps that the uncut network may fill, "
        "with --reconfigure partial.",
    )
    batch: Annotated[int | None, GOAL] = Field(
        None,
        ge=1,
        le=choices.MOST_BATCH,
        description=f"Frames a run, with --reconfigure; {choices.DEFAULT_BATCH} if not given, "
        "1 with --objective latency.",
    )
    preset: Annotated[Preset, GOAL] = Field(
        DEFAULT_PRESET,
        description="Caps, fills, confidence, engine limits and clock together, each still open to its own option: "
        "room to close timing, what can be built, or all that version 0.1 took.",
    )

    fpgas: Annotated[FpgaCount, PLATFORM] = Field(1, description="Number of FPGAs, or auto: the least that will do.")
    max_fpgas: Annotated[int, PLATFORM] = Field(choices.MOST_FPGAS, ge=1, description="Most FPGAs that auto may take.")
    replicas: Annotated[CopyCount, PLATFORM] = Field(
        None,
        description="Equal copies of the network, each in SLRs of its own, among which the host deals frames; or auto: "
        "as many as give the highest rate, with --fps the fewest that reach it together.",
    )
    link: Annotated[str | None, PLATFORM] = Field(
        None, description="Kind of link, or YAML file of one, instead of the board's own."
    )
    topology: Annotated[Topology, PLATFORM] = Field("chain", description="How FPGAs are joined.")
    host_port: Annotated[str | None, PLATFORM] = Field(
        None, description="Memory channel where the host's streams end, such as DDR[1], instead of the board's first."
    )
    clock_mhz: Annotated[float | None, PLATFORM] = Field(
        None, ge=1, le=1000, description="Clock in MHz, instead of the board's."
    )

    cap: Annotated[Cap, BUDGET] = Field(
        Fractions(**choices.DEFAULT_CAP),
        description=f"Share of a slot the design may use, e.g. LUT=0.75; repeatable ({listed(choices.DEFAULT_CAP)}).",
    )
    fill: Annotated[Fill, BUDGET] = Field(
        SomeFractions(),
        description="How full one pblock may be, e.g. LUT=0.9, whatever its likelihood to fit; repeatable.",
    )
    confidence: Annotated[Confidence, BUDGET] = Field(
        choices.DEFAULT_CONFIDENCE,
        description="How likely each slot and pblock is to hold what lies in it, by the costs' errors, or none: by "
        "caps and fills alone.",
    )

    risk: Annotated[float | None, BUDGET] = Field(
        None,
        gt=0,
        lt=1,
        description="Instead of caps and fills: how likely a slot may turn out too small, by the costs' errors.",
    )

    max_products: Annotated[MostProducts, BUDGET] = Field(
        choices.DEFAULT_MAX_PRODUCTS,
        description="Most products that an engine of high-level synthesis forms at once, "
        "by the bits of its wider operand from which they hold; one number for all widths, or none.",
    )
    max_engine_share: Annotated[EngineShare, BUDGET] = Field(
        Fractions(**choices.DEFAULT_MAX_ENGINE_SHARE),
        description="Share of a slot that one engine may take, e.g. LUT=0.3; repeatable, or none "
        f"({listed({name: choices.DEFAULT_MAX_ENGINE_SHARE[name] for name in choices.LEAST_ENGINE_LIMITS})}).",
    )

    backend: Annotated[str, ENGINES] = Field(DEFAULT_BACKEND, description="Tool whose engines the network becomes.")
    backend_options: Annotated[OwnOptions, Spelling(ENGINES.panel, option="--backend-option")] = Field(
        BackendOptions(),
        description="Option of a back end without one of its own here, NAME=VALUE; repeatable. "
        f"{options_in_words()} (docs/samo-backends.md).",
    )

    fold_method: Annotated[FoldMethod, FOLDING] = Field(
        "exact", description="Folding method; only exact, floorflow's own, folds for latency."
    )
    keep_folding: Annotated[bool, FOLDING] = Field(
        default=False, description="Keep the folding that the model carries, as a FINN dataflow graph may."
    )
    folding: Annotated[PathText | None, FOLDING] = Field(
        None, description="Keep the folding of this file of the back end; FINN's: as ApplyConfig reads."
    )
    epsilon: Annotated[float | None, FOLDING] = Field(
        None,
        ge=0,
        le=choices.MOST_EPSILON,
        description="Most by which cycles of consecutive layers differ, times the lesser.",
    )

    granularity: Annotated[Granularity, FLOORPLAN] = Field("stage", description="What gets one pblock.")
    keep_granularity: Annotated[bool, FLOORPLAN] = Field(default=False, description="Never merge modules to place.")
    reuse: Annotated[Reuse, FLOORPLAN] = Field(
        "no",
        description="Whether modules that are alike become one circuit in windows alike, made once, whose contents "
        "are written after stitching: prefer where that can be, require as many as are alike.",
    )
    constraint_style: Annotated[ConstraintStyle, FLOORPLAN] = Field(
        "auto", description="What the constraint files say: hard or soft pblocks, SLRs alone, or nothing."
    )
    max_hops: Annotated[int | None, FLOORPLAN] = Field(
        None,
        ge=1,
        le=16,
        description="Most SLR boundaries that a stream may cross in an FPGA; if not given one, and more only where no "
        "assignment without exists.",
    )
    allow_cycles: Annotated[bool, FLOORPLAN] = Field(
        default=False,
        description="Streams may go back to earlier FPGAs, too; else every stream ends in the FPGA that it comes from, "
        "or a later one.",
    )
    link_streams: Annotated[int | None, FLOORPLAN] = Field(
        None,
        ge=1,
        le=1024,
        description="Most streams over one link between FPGAs in one direction; if not given any number, with --finn "
        "plus one a cable, of which each cage of a board takes one.",
    )
    keep_out: Annotated[Areas, FLOORPLAN] = Field(
        (),
        description="Area that no pblock may touch, such as CLOCKREGION_X0Y0:CLOCKREGION_X1Y1 or, of one of several "
        "FPGAs, fpga1/SLICE_X0Y0:SLICE_X20Y59; repeatable.",
    )
    fix_pblock: Annotated[FixedPblocks, FLOORPLAN] = Field(
        default_factory=dict,
        description="Pblock of the module that holds an engine, NAME=RANGE, the range as of --keep-out; repeatable.",
    )
    constraints: Annotated[PathText | None, FLOORPLAN] = Field(
        None,
        description="YAML file of wishes for the slots of engines (fix, forbid, together, apart, beside); report.txt "
        "says what each costs.",
    )
    stay_near: Annotated[PathText | None, FLOORPLAN] = Field(
        None,
        description="Earlier plan of the same FPGAs, folder or plan.json: with the folding kept its modules keep their "
        "slots if they can, and as few pblocks as can be leave their places.",
    )
    partition_method: Annotated[PartitionMethod, FLOORPLAN] = Field(
        "auto", description="Partition method; auto takes the best of several."
    )
    place_method: Annotated[PlaceMethod, FLOORPLAN] = Field(
        "auto",
        description="Placement method: auto anneals, greedy places one after another, cpsat is for a few modules.",
    )
    place_weights: Annotated[Weighing, FLOORPLAN] = Field(
        PlaceWeights(),
        description="What wires, streams beyond their reach and wires above capacity cost in placement, e.g. "
        f"wire=1,reach=0; repeatable ({listed(PlaceWeights().as_dict())}).",
    )

    effort: Annotated[Effort, EFFORT] = Field("default", description="How long solvers may work.")
    time_limit: Annotated[float | None, EFFORT] = Field(
        None,
        gt=0,
        exclude=True,
        description="Seconds on the clock after which the best legal plan found so far is written; none: no limit. "
        "A plan that was finished before is the same as without.",
    )
    jobs: Annotated[int, EFFORT] = Field(
        2, ge=1, le=256, exclude=True, description="Processes at most; the plan is the same for any number."
    )
    start_from: Annotated[PathText | None, START] = Field(
        None,
        description="Earlier plan of the same network and FPGAs, folder or plan.json, that the search starts from: its "
        "slots fold anew at the rate asked for, and pblocks stay; other ways are tried where that has no plan, or is "
        "not at the bound.",
    )
    gap: Annotated[float, EFFORT] = Field(
        0.0,
        ge=0,
        le=10,
        description="Share by which the interval may be longer than what is proven to be possible: the search for the "
        "highest rate ends there, e.g. 0.05.",
    )
    cache: Annotated[PathText | None, EFFORT] = Field(
        None,
        exclude=True,
        description="Folder that keeps what was solved, so that the same need not be solved again; the plan is the "
        "same without. It is made if it is not there, and may be removed at any time.",
    )
    bargains: Annotated[Bargains | None, EFFORT] = Field(
        None,
        description="What a little less rate would free: fold for it, plan it for its wire length too, or none; "
        "if not given fold, of large plans and with --effort fast none.",
    )
    seed: Annotated[int, EFFORT] = Field(0, ge=0, le=2**31 - 1, description="Seed of every solver.")
    plots: Annotated[bool, OUTPUT] = Field(default=True, exclude=True, description="Draw no pictures.")

    def __init__(self, /, *leading: object, **options: object) -> None:
        """Take model and platform by place or by name, all else by name."""
        try:
            super().__init__(**dict(zip(("model", "platform"), leading, strict=False)), **options)
        except ValidationError as error:
            raise told(type(self), error) from None

    @model_validator(mode="before")
    @classmethod
    def _a_folding_is_kept(cls, options: dict[str, Any]) -> dict[str, Any]:
        return options if options.get("folding") is None else {**options, "keep_folding": True}

    @model_validator(mode="before")
    @classmethod
    def _the_back_end_has_its_options(cls, options: dict[str, Any]) -> dict[str, Any]:
        name = options.get("backend", DEFAULT_BACKEND)
        if not isinstance(name, str):
            raise InputError(f"--backend {name}: expected the name of a back end")
        model = registration(name).options
        flat = {key: options[key] for key in options if key in model.model_fields and key not in cls.model_fields}
        rest = {key: value for key, value in options.items() if key not in flat}
        own = _backend_options(model, options.get("backend_options", {}), flat)
        preset = options.get("preset", DEFAULT_PRESET)
        return {**rest, "backend_options": _under(own, preset if isinstance(preset, str) else DEFAULT_PRESET)}

    @model_validator(mode="after")
    def _the_preset_stands_behind(self) -> Self:
        """Take from the preset what was not given; it does not count as given afterwards either."""
        for name in PRESET_FIELDS:
            if name not in self.model_fields_set or getattr(self, name) is None:
                object.__setattr__(self, name, preset_value(self.preset, name))
        # A confidence sizes pblocks only where no fill is given: the user's stands before the preset's fill.
        if "confidence" in self.model_fields_set and self.confidence != NONE and "fill" not in self.model_fields_set:
            object.__setattr__(self, "fill", SomeFractions())
        return self

    @model_validator(mode="after")
    def _choices_go_together(self) -> Self:
        if self.objective == "throughput" and self.fps is not None:
            raise InputError(
                f"--objective throughput: --fps {self.fps:g} asks for that rate, not for the highest",
                hint="leave out one of the two; --fps goes with the objectives resources and latency",
            )
        if self.fpgas != "auto" and "max_fpgas" in self.model_fields_set and self.fpgas > self.max_fpgas:
            raise InputError(
                f"--fpgas {self.fpgas}: --max-fpgas allows {self.max_fpgas}",
                hint="ask for fewer or raise --max-fpgas",
            )
        self._methods_go_together()
        self._copies_can_be_planned()
        self._phases_can_be_planned()
        self._areas_can_be_kept()
        return self

    def _areas_can_be_kept(self) -> None:
        """Refuse areas of a design that stays where parts of it take turns."""
        for option, given in (
            ("--keep-out", self.keep_out),
            ("--fix-pblock", self.fix_pblock),
            ("--constraints", self.constraints),
            ("--stay-near", self.stay_near),
            ("--from", self.start_from),
        ):
            if given and self.reconfigure != "none":
                told = f"--reconfigure {self.reconfigure}: {option} is for a design that stays"
                raise InputError(told, hint="leave out one of the two")

    def _copies_can_be_planned(self) -> None:
        """Refuse what names places of one network, or is of no rate, where there are copies of it."""
        if not self.has_copies:
            return
        refused = {
            f"--reconfigure {self.reconfigure}": self.reconfigure != "none",
            "--objective latency": self.objective == "latency",
            "--host-port": self.host_port is not None,
            "--fix-pblock": bool(self.fix_pblock),
            "--constraints": self.constraints is not None,
            "--stay-near": self.stay_near is not None,
            "--from": self.start_from is not None,
            "--link": self.link is not None,
        }
        option = next((option for option, given in refused.items() if given), None)
        if option is not None:
            raise InputError(
                f"--replicas {self.replicas}: {option} is for a network alone", hint="leave out one of the two"
            )

    def _phases_can_be_planned(self) -> None:
        """Refuse what does not go with partitions in time."""
        if self.reconfigure != "partial":
            for option, given in (("--regions", self.regions is not None), ("--area", self.area != 1.0)):
                if given:
                    hint = "give --reconfigure partial"
                    raise InputError(f"{option}: only --reconfigure partial has regions", hint=hint)
        if self.reconfigure == "none":
            if self.batch is not None:
                raise InputError(
                    f"--batch {self.batch}: only --reconfigure runs a batch", hint="give --reconfigure full"
                )
            return
        told = f"--reconfigure {self.reconfigure}"
        if self.reconfigure == "partial" and self.platform.startswith(RESOURCES_ALONE):
            raise InputError(f"{told}: {self.platform} has no geometry for regions", hint="give --reconfigure full")
        if self.fps is not None or self.objective == "resources":
            other = "--objective resources" if self.fps is None else f"--fps {self.fps:g}"
            hint = "leave out one of the two; --objective latency and throughput go with it"
            raise InputError(f"{told}: it plans for the shortest time of a batch, not with {other}", hint=hint)
        if self.fpgas != 1:
            raise InputError(
                f"{told}: one FPGA runs the parts, --fpgas {self.fpgas} asks for others", hint="leave it out"
            )
        if self.objective == "latency" and self.batch not in (None, 1):
            raise InputError(
                f"{told}: --objective latency is of one frame, --batch {self.batch} of more",
                hint="leave out --batch, or ask for --objective throughput",
            )

    def _methods_go_together(self) -> None:
        for field in ("fold_method", "partition_method", "place_method"):
            require_method(field, getattr(self, field), option_of(field), self.backend)
        if self.fold_method != "exact" and (self.objective == "latency" or self.keep_folding):
            other = "--keep-folding leaves nothing to fold" if self.keep_folding else "it does not fold for latency"
            raise InputError(f"--fold-method {self.fold_method}: {other}", hint="leave it out, or one of the two")
        if self.epsilon is not None:
            self._rates_can_be_balanced(self.epsilon)

    def _rates_can_be_balanced(self, epsilon: float) -> None:
        """Refuse balanced rates where the folding is given, or made by what does not know of them."""
        told = f"--epsilon {epsilon:g}"
        if self.keep_folding:
            raise InputError(f"{told}: --keep-folding leaves nothing to balance", hint="leave out one of the two")
        own = registration(self.backend).fold_methods
        if self.fold_method in own:
            others = [name for name in known_methods("fold_method", self.backend) if name not in own]
            hint = f"take one of floorflow's: {in_words(others)}"
            raise InputError(f"{told}: --fold-method {self.fold_method} does not balance rates", hint=hint)

    def changed(self, **options: object) -> Self:
        """Return the same request with other options; another back end has its own, so those of this one are left."""
        asked = {name: getattr(self, name) for name in self.model_fields_set}
        if options.get("backend", self.backend) != self.backend:
            del asked["backend_options"]
        return type(self)(**{**asked, **options})

    @property
    def has_copies(self) -> bool:
        """Whether there may be several copies of the network, each card with its own."""
        return self.replicas not in (None, 1)

    @property
    def goal(self) -> Objective:
        """The objective: what was asked for, else the highest rate, or the least resources at a given rate."""
        return self.objective or ("throughput" if self.fps is None else "resources")

    @property
    def frames(self) -> int:
        """Frames of a batch, with partitions in time."""
        return self.batch or (1 if self.objective == "latency" else choices.DEFAULT_BATCH)

    @property
    def bargains_sought(self) -> Bargains:
        """How bargains are sought: as was asked for, else by folding, unless there is little time."""
        return self.bargains or ("none" if self.effort == "fast" else "fold")

    @property
    def confidence_sought(self) -> float | None:
        """Probability with which a pblock is to hold its module, None where only its fill counts."""
        return None if self.confidence == "none" else self.confidence

    @property
    def confidence_bound(self) -> float | None:
        """Probability below which no slot or pblock of a plan is, None where a risk stands in its place."""
        return None if self.risk is not None else self.confidence_sought

    @property
    def fullest_fill(self) -> dict[str, float]:
        """How full a rectangle may be at all."""
        return self.fill.over(choices.DEFAULT_FILL)

    @property
    def whole_slot_fill(self) -> dict[str, float]:
        """How full a pblock over a slot's whole free region may be: the cap is its limit, and the user's own fill."""
        return self.fill.over(dict.fromkeys(RESOURCE_NAMES, 1.0))

    def hard_fill(self, lut: int) -> dict[str, float]:
        """Return how full a hard pblock of a module of so many LUTs may be where there is room."""
        large = {"LUT": choices.LARGE_LUT_FILL} if lut > choices.LARGE_LUT else {}
        return self.fill.over({**choices.HARD_FILL, **large})

    def fixed_fpgas(self, command: str) -> int:
        """Return the number of FPGAs for a command that cannot seek it."""
        if self.fpgas == "auto":
            raise InputError(
                f"{command} folds for a fixed budget, --fpgas auto has none", hint="give a number of FPGAs"
            )
        return self.fpgas

    def require_files(self, *, model: bool = True) -> None:
        """Refuse a request whose model, folding, board or link is not there, before anything is imported to read it.

        Without ``model`` that is not looked for: it was read before.

        InputError: the first that is missing, or no file.
        """
        if model:
            require_file(self.model)
        if self.folding is not None and not reading.is_folder(self.folding):  # what may be one, the back end says
            require_file(self.folding, "--folding ")
        if self.constraints is not None:
            require_file(self.constraints, "--constraints ")
        if not self.platform.startswith(RESOURCES_ALONE):
            require_platform(self.platform)
        if self.link is not None:
            link_path(self.link)
        for option, text in (("", self.platform), ("--link ", self.link or "")):
            if is_path(text) and not text.startswith(RESOURCES_ALONE):
                reading.require_file(Path(text), "give the path of a YAML file", option, PlatformError)


def preset_value(preset: Preset, field: str) -> Any:
    """Return what a field of the request is under a preset if nobody gives it."""
    changed = CHANGES[preset]
    return changed[field] if field in changed else Request.model_fields[field].default


def _under(own: BackendOptions, preset: str) -> BackendOptions:
    """Return a back end's options with a preset behind them."""
    try:
        return own.under(preset)
    except ValidationError as error:
        raise told(type(own), error) from None


def require_file(path: Path, option: str = "") -> None:
    """Refuse the path of no regular file, before anything slow is imported to read it."""
    reading.require_file(path, "give the path of a file that can be read", option)


def _backend_options(model: type[BackendOptions], given: object, flat: Mapping[str, Any]) -> BackendOptions:
    """Return a back end's options from what was given: themselves, a mapping or a list of NAME=VALUE, and ``flat``.

    ``flat`` changes those that are options already, but contradicts no others.
    """
    if isinstance(given, BackendOptions):
        values = {name: getattr(given, name) for name in given.model_fields_set}
    else:
        values = dict(given) if isinstance(given, Mapping) else settings(given)
    try:
        made, other = model(**{**values, **flat}), model(**{**flat, **values})
    except ValidationError as error:
        raise told(model, error) from None
    if not isinstance(given, BackendOptions):
        for name in flat:
            if getattr(made, name) != getattr(other, name):
                twice = f"{getattr(made, name)} and as {getattr(other, name)}"
                raise InputError(
                    f"{option_of(name, model)}: is given twice, as {twice}", hint="leave out one of the two"
                )
    return made


def known_methods(field: str, backend: str = DEFAULT_BACKEND) -> tuple[str, ...]:
    """Return the methods that ``fold_method``, ``partition_method`` or ``place_method`` may name with a back end."""
    data = next(data for data in Request.model_fields[field].metadata if isinstance(data, MethodNames))
    return tuple(sorted({*data.known, *(registration(backend).fold_methods if data.of_backend else ())}))


def default_methods(backend: str = DEFAULT_BACKEND) -> tuple[str, ...]:
    """Return the folding methods that are compared unless told: ``brute`` ends on small networks alone."""
    known = known_methods("fold_method", backend)
    return tuple(n for n in ("exact", "cpsat", *registration(backend).fold_methods, "rule", "annealing") if n in known)


def require_method(field: str, name: str, option: str, backend: str = DEFAULT_BACKEND) -> None:
    """Refuse the name of a method that is not there."""
    known = known_methods(field, backend)
    if name not in known:
        raise InputError(f"{option} {name}: unknown method, expected {in_words(known)}")


def require_resources(names: Iterable[str], option: str) -> None:
    """Refuse names that are of no resource."""
    for name in names:
        if name not in RESOURCE_NAMES:
            known = ", ".join(RESOURCE_NAMES)
            raise InputError(f"{option}: '{name}' is unknown", hint=f"known are {known}; the scarcity is always there")


def option_of(field: str, model: type[BaseModel] | None = None) -> str:
    """Return the command line's spelling of a field of the request, or of a back end's options."""
    return spelled(field, model or (Request if field in Request.model_fields else default_options()))


def told(model: type[BaseModel], error: ValidationError) -> InputError:
    """Return the first thing that pydantic has against a request or a back end's options, as a user can mend it."""
    known = {*Request.model_fields, *default_options().model_fields} - {"model"}
    return refused(model, error, {name: option_of(name) for name in known})


def limits_of(request: Request, available: Resources, drawable: Resources | None = None) -> Resources:
    """Return cap x available; where ``drawable`` is told, what is free to pblocks, no more than they may hold of it."""
    capped = scaled_down(available, request.cap.as_dict())
    return capped if drawable is None else capped.least(pblock_limit(request, drawable))


def pblock_limit(request: Request, drawable: Resources) -> Resources:
    """Return what the pblocks of a slot may hold together: fill x what is free to them.

    Modules that may not be joined never have a pblock over all that is free there.
    """
    return scaled_down(drawable, request.fullest_fill if request.keep_granularity else request.whole_slot_fill)
