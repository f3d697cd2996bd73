"""A project folder of hls4ml as people keep it: its layers as they were written, and what HLS and Vivado said of them.

Sources: hls4ml 1.3.0, ``writer/vivado_writer.py`` (``firmware/parameters.h``, ``defines.h``, the project's .cpp) and
``report/vivado_report.py`` (``*_csynth.xml``, ``vivado_synth.rpt``). Files are told by contents.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, log2
from pathlib import Path

import numpy as np

from floorflow.backends.builds import Build, BuildFile, BuiltClock, BuiltNode, Told
from floorflow.backends.hls4ml.costs import Hls4mlCosts
from floorflow.backends.hls4ml.foldings import BY_OPERATOR, WEIGHTED, matrix_of, products
from floorflow.backends.hls4ml.lower import counted
from floorflow.backends.hls4ml.weights import MOST_WEIGHTS, Constants, Weights
from floorflow.backends.reports import Report, Row
from floorflow.backends.vivado.reports import hls_version, part_of, read_vivado, tables, vivado_version
from floorflow.backends.vivado.timing import is_timing_summary, read_summary
from floorflow.dataflow.model import AttributeValue, Engine, Option
from floorflow.errors import InputError
from floorflow.reading import files_below, read_bytes, read_head, read_text
from floorflow.resources import Resources

_HEAD_BYTES = 16384
_MOST_FILES = 2000
"""Files whose start is looked at, the nearest to the top first."""
_SOURCES = (".h", ".cpp", ".yml", ".yaml")
_ENDS = (*_SOURCES, ".rpt", ".xml", ".txt", ".log", "")
_STRUCT = re.compile(
    r"^struct (?P<config>\w+) : nnet::(?P<kind>\w+)_config \{(?P<body>.*?)^\};", re.DOTALL | re.MULTILINE
)
_NUMBER = re.compile(r"static const \w+ (\w+) = (\d+);")
_STRATEGY = re.compile(r"static const unsigned strategy = nnet::(\w+);")
_ALIAS = re.compile(r"typedef (\w+) (\w+);")
_TYPE = re.compile(
    r"typedef (?:nnet::array<)?ap_u?(?:fixed|int)<(?P<bits>\d+)(?:, ?(?P<whole>-?\d+))?[^>;]*>"
    r"(?:, ?(?P<lanes>\d+)\*1>)? (?P<name>\w+);"
)
_CALL = re.compile(r"nnet::(\w+)<(\w+), (?:\w+, )*?(\w+), (\w+)>\([^;]*;(?:\s*//\s*(\S+))?")
_SETTING = re.compile(r"^(Part|ClockPeriod|ProjectName|IOType): *['\"]?([^'\"\n]+)", re.MULTILINE)
_CONFIG = re.compile(r"config\d+")
_XML = {
    "lut": "LUT",
    "ff": "FF",
    "bram": "BRAM_18K",
    "uram": "URAM",
    "dsp": "DSP(?:48E)?",
    "latency": "Worst-caseLatency",
    "interval": "Interval-max",
    "part": "Part",
}


@dataclass(frozen=True)
class WordType:
    """A type of the firmware: bits, those before the point, and values a word (0: a single value)."""

    bits: int = 0
    whole: int = 0
    lanes: int = 0

    @property
    def fraction(self) -> int:
        """Bits behind the point."""
        return self.bits - self.whole


@dataclass(frozen=True)
class Hls4mlLayer:
    """A layer as the project's code calls it; ``engine`` None: of a class that is not priced."""

    name: str
    config: str
    function: str
    engine: Engine | None
    reuse: int
    strategy: str


def recognises(folder: Path) -> bool:
    """Whether a folder holds what hls4ml writes: its configuration or its firmware."""
    sources = (path for path in _shallow(folder) if path.suffix.lower() in _SOURCES)
    return any(_role(path) in {"configuration", "layers"} for path in sources)


def _shallow(folder: Path) -> list[Path]:
    files = (path for path in files_below(folder) if path.suffix.lower() in _ENDS)
    return sorted(files, key=lambda path: (len(path.parts), str(path)))[:_MOST_FILES]


def _role(path: Path) -> str | None:
    """Return what a file is for, by its start."""
    head, suffix = read_head(path, _HEAD_BYTES), path.suffix.lower()
    if suffix in {".yml", ".yaml"}:
        return "configuration" if "HLSConfig:" in head and "Backend:" in head else None
    if suffix in _SOURCES:
        return next((role for role, mark in _MARKS if mark in head), None)
    by_contents = (
        ("csynth", "<AreaEstimates>" in read_head(path, 4 * _HEAD_BYTES) or "HLS Report for" in head),
        ("timing", is_timing_summary(head) or "Timing Summary Report" in head),
        ("synthesis", any(mark in head for mark in _COUNTED)),
    )
    return next((role for role, is_so in by_contents if is_so), None)


_COUNTED = ("Utilization Design Information", "Utilization by Hierarchy", "<RptDoc")
_MARKS = (
    ("layers", "hls-fpga-machine-learning insert layer-config"),
    ("types", "hls-fpga-machine-learning insert layer-precision"),
    ("calls", "hls-fpga-machine-learning insert layers"),
)
"""Comments of hls4ml's templates."""


@dataclass(frozen=True)
class Hls4mlProject:
    """The files of a project by what they are for, read when they are asked for."""

    folder: Path
    roles: Mapping[str, tuple[Path, ...]]

    @classmethod
    def of(cls, folder: Path) -> "Hls4mlProject":
        """Look at the files below a folder.

        Raises InputError if it holds several projects; names them.
        """
        held: dict[str, list[Path]] = {}
        for path in _shallow(folder):
            role = _role(path)
            if role is not None:
                held.setdefault(role, []).append(path)
        projects = sorted({_project_of(path) for path in held.get("layers", [])})
        if len(projects) > 1:
            names = ", ".join(path.relative_to(folder).as_posix() for path in projects)
            raise InputError(f"{folder}: holds {len(projects)} builds: {names}", hint="name one of them")
        return cls(folder, {role: tuple(paths) for role, paths in held.items()})

    def text(self, role: str) -> str:
        """Return the first file of a role; empty if there is none."""
        paths = self.roles.get(role, ())
        return read_text(paths[0], "report", "make it readable", replace=True) if paths else ""

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """What the configuration says at its top level; the rest may hold the whole model."""
        return dict(_SETTING.findall(self.text("configuration")))

    @cached_property
    def types(self) -> Mapping[str, WordType]:
        """Every type that the project names."""
        return {
            found["name"]: WordType(int(found["bits"]), int(found["whole"] or found["bits"]), int(found["lanes"] or 0))
            for found in _TYPE.finditer(self.text("types"))
        }

    @cached_property
    def layers(self) -> tuple[Hls4mlLayer, ...]:
        """The layers in the order of their calls."""
        structs = {match["config"]: match for match in _STRUCT.finditer(self.text("layers"))}
        calls = _CALL.findall(self.text("calls"))
        return tuple(self._layer(call, structs[call[3]]) for call in calls if call[3] in structs)

    def _layer(self, call: tuple[str, str, str, str, str], struct: re.Match[str]) -> Hls4mlLayer:
        function, taken, made, config, comment = call
        sizes = {name: int(value) for name, value in _NUMBER.findall(struct["body"])}
        aliases = {alias: name for name, alias in _ALIAS.findall(struct["body"])}
        words = {key: self.types.get(aliases.get(f"{key}_t", ""), WordType()) for key in ("weight", "accum")}
        words |= {"in": self.types.get(taken, WordType()), "out": self.types.get(made, WordType())}
        strategy = _STRATEGY.search(struct["body"])
        name = comment or config
        held = _attributes(struct["kind"], function, sizes, words)
        told = "" if strategy is None else strategy[1].capitalize()
        is_known = told in {"", "Latency", "Resource"}  # others are built otherwise, and have no price
        engine = self._engine(name, config, held, words) if held is not None and is_known else None
        return Hls4mlLayer(name, config, function, engine, sizes.get("reuse_factor", 1), told)

    def _engine(self, name: str, config: str, held: dict[str, AttributeValue], words: Mapping[str, WordType]) -> Engine:
        """Return a layer as `lower` makes it; its constants are those that the project was written with, if there."""
        kind = str(held.pop("kind"))
        weights, taken, made = (words[key].bits for key in ("weight", "in", "out"))
        engine = Engine(name, kind, name, {**held, "layer": name}, weights, taken, made)
        if kind not in WEIGHTED:
            return engine
        inputs, _ = matrix_of(engine)
        total = words["accum"].bits or taken + weights + ceil(log2(max(inputs, 2)))
        constants = self._constants(config, products(engine), words["weight"])
        return replace(engine, attributes={**engine.attributes, "accum_bits": total, **counted(constants)})

    def _constants(self, config: str, count: int, word: WordType) -> Constants:
        number = config.removeprefix("config")
        folders = (path.parent for path in self.roles.get("layers", ()))
        file = next((f for each in folders if (f := each / "weights" / f"w{number}.txt").is_file()), None)
        if file is None or count > MOST_WEIGHTS:
            return Constants.unknown(count, word.bits, word.fraction)
        values = read_text(file, "report", "make it readable").replace(",", " ").split()
        try:
            known = Weights(np.array(values, dtype=np.float64), scaled=False)
        except ValueError as error:
            hint = "it holds numbers, parted by commas, as hls4ml writes them"
            raise InputError(f"{file}: these are no weights: {error}", hint=hint) from None
        return known.constants(word.bits, word.fraction)

    @cached_property
    def reports(self) -> tuple[Report, ...]:
        """What Vivado counted, the latest state first."""
        read = [
            read_vivado(read_text(path, "report", "make it readable", replace=True), self.name(path))
            for path in self.roles.get("synthesis", ())
        ]
        return tuple(sorted((r for r in read if r is not None), key=lambda r: (-r.rank, -len(r.rows), r.file)))

    def name(self, path: Path) -> str:
        """Return a file's path in the folder."""
        return path.relative_to(self.folder).as_posix()

    @cached_property
    def estimates(self) -> Mapping[str, Mapping[str, int | str]]:
        """What HLS says of each of its reports' functions, by file."""
        return {self.name(path): _csynth(path) for path in self.roles.get("csynth", ())}

    @property
    def top(self) -> str | None:
        """The file of HLS's report of the whole: by the project's name, else the one with the most LUTs."""
        own = self.settings.get("ProjectName", "")
        files = [name for name, told in self.estimates.items() if "lut" in told]
        named = [f for f in files if own and re.fullmatch(rf"{re.escape(own)}(_axi)?_csynth\.\w+", Path(f).name)]
        return max(named or files, key=lambda file: int(self.estimates[file]["lut"]), default=None)


def _project_of(path: Path) -> Path:
    return path.parent.parent if path.parent.name == "firmware" else path.parent


def _attributes(
    config: str, function: str, sizes: Mapping[str, int], words: Mapping[str, WordType]
) -> dict[str, AttributeValue] | None:
    """Return the kind and the sizes of an engine as `lower` has them; None for a class that has no price."""
    if config == "dense" and words["weight"].bits:
        return {"kind": "Dense", "n_in": sizes["n_in"], "n_out": sizes["n_out"], "n_pack": sizes["n_in"]}
    window = re.fullmatch(r"(conv|pooling)([12])d", config)
    if window is not None and ("n_chan" in sizes or "n_filt" in sizes):
        return _window(window[1], window[2], function, sizes)
    lanes = words["out"].lanes or sizes.get("n_in", 0)
    if config != "activ" or not lanes:
        return None
    pixels = sizes.get("n_in", lanes) // lanes
    image = {"n_chan": lanes, "n_filt": lanes, "in_height": pixels, "in_width": 1, "out_height": pixels, "out_width": 1}
    if function == "softmax":
        return {"kind": "Softmax", **image}
    operators = {name.lower(): name for name in (*BY_OPERATOR, "Relu")}
    operator = operators.get(function.replace("_", ""))
    return None if operator is None else {"kind": "Activation", "operator": operator, **image}


def _window(role: str, dimensions: str, function: str, sizes: Mapping[str, int]) -> dict[str, AttributeValue] | None:
    """Return the sizes of what slides a window, or of what takes a whole image; a sequence is one column."""
    channels = sizes.get("n_chan", sizes.get("n_filt", 1))
    height, width = ("height", "width") if dimensions == "2" else ("width", "")
    held: dict[str, AttributeValue] = {"n_chan": channels, "n_filt": sizes.get("n_filt", channels)}
    for side, own in (("height", height), ("width", width)):
        ends = {"in": sizes.get("n_in", 1), "out": sizes.get("n_out", 1)} if side == "height" else {}
        pool = sizes.get(f"pool_{own}", 1)
        for part in ("in", "out", "filt", "stride"):
            held[f"{part}_{side}"] = sizes.get(f"{part}_{own}", pool if part == "filt" else ends.get(part, 1))
    held["pads"] = tuple(sizes.get(f"pad_{side}", 0) for side in ("top", "left", "bottom", "right"))
    if role == "pooling":
        kind = "GlobalPooling" if function.startswith("global") else "Pooling"
        return {"kind": f"{kind}{dimensions}D", "operator": "max_pool", **held}
    kind = "DepthwiseConv" if function.startswith("depthwise") else "Conv"
    return {"kind": f"{kind}{dimensions}D", **held}


def _csynth(path: Path) -> Mapping[str, int | str]:
    """Return HLS's estimates of a function, from its report as XML or as text."""
    text = read_text(path, "report", "make it readable", replace=True)
    if "<AreaEstimates>" in text:
        return _csynth_xml(text)
    return dict(_csynth_text(text))


def _csynth_xml(text: str) -> dict[str, int | str]:
    """Return the first of each figure: that of the whole stands before those of modules, and used before available."""
    before, _, area = text.partition("<AreaEstimates>")
    found: dict[str, int | str] = {}
    for key, tag in _XML.items():
        match = re.search(rf"<{tag}>\s*([^<\s]+)", area if key in {"lut", "ff", "bram", "uram", "dsp"} else before)
        if match is not None and (key == "part" or match[1].isdigit()):
            found[key] = match[1] if key == "part" else int(match[1])
    return found


def _csynth_text(text: str) -> Iterator[tuple[str, int | str]]:
    for table in tables(text):
        headings = table[0].texts
        if headings[:1] == ["Name"] and {"LUT", "FF"} <= set(headings):
            total = next((line.texts for line in table if line.texts[0] == "Total"), None)
            names = {"LUT": "lut", "FF": "ff", "BRAM_18K": "bram", "URAM": "uram", "DSP": "dsp", "DSP48E": "dsp"}
            for heading, cell in zip(headings, total or (), strict=False):
                if heading in names and cell.isdigit():
                    yield names[heading], int(cell)
        if headings and headings[0].startswith("Latency"):
            numbers = next((n for line in table[1:] if len(n := [c for c in line.texts if c.isdigit()]) >= 4), None)
            if numbers is not None:
                yield from (("latency", int(numbers[1])), ("interval", int(numbers[3])))
    target = re.search(r"\* Target device:\s*(\S+)", text)
    if target is not None:
        yield "part", target[1]


def read_project(folder: Path) -> Build:
    """Read a project: layers from its firmware, what was built from Vivado's reports, and what HLS expected.

    Raises InputError if it holds several projects, or a report is malformed.
    """
    project = Hls4mlProject.of(folder)
    report = next(iter(project.reports), None)
    rows = () if report is None else report.rows
    nodes = tuple(_node(project, layer, rows) for layer in project.layers)
    top = project.estimates.get(project.top or "", {})
    return Build(
        None,
        {role: _file(project, paths) for role, paths in sorted(project.roles.items())},
        nodes,
        alone=None if report is None else rows[0].resources,
        unmatched=_unmatched(rows, nodes),
        tool_interval_cycles=_whole_number(top.get("interval")),
        tool_latency_cycles=_whole_number(top.get("latency")),
        clock=_clock(project),
        part=_part(project, top),
        missing=tuple(_missing(project, report)),
        notes=tuple(_notes(project)),
        options=_versions(project),
    )  # fmt: skip


def _unmatched(rows: Iterable[Row], nodes: Iterable[BuiltNode]) -> tuple[Row, ...]:
    """Return the rows right below the top that are no layer's: FIFOs, casts, copies."""
    taken = {node.instance for node in nodes}
    return tuple(row for row in rows if len(row.path) == 2 and row.instance not in taken)


def _whole_number(value: int | str | None) -> int | None:
    return value if isinstance(value, int) else None


def _node(project: Hls4mlProject, layer: Hls4mlLayer, rows: Iterable[Row]) -> BuiltNode:
    """Return a layer with its row in Vivado's hierarchy and HLS's own estimate, both of which have its number."""
    number = _CONFIG.findall(layer.config)[-1:]
    own = [row for row in rows if number and number[0] in _CONFIG.findall(row.path[-1])]
    row = min(own, key=lambda row: len(row.path), default=None)
    told = [t for file, t in project.estimates.items() if number and number[0] in _CONFIG.findall(file) and "lut" in t]
    largest = max(told, key=lambda estimate: int(estimate["lut"]), default=None)
    amounts = None if largest is None else [int(largest.get(key, 0)) for key in ("lut", "ff", "bram", "uram", "dsp")]
    return BuiltNode(
        layer.name,
        layer.engine.kind if layer.engine is not None else layer.function,
        "engine",
        engine=layer.name,
        instance=None if row is None else row.instance,
        built=None if row is None else row.resources,
        tool_estimate=None if amounts is None else Resources(*amounts),
        tool_cycles=None if largest is None else _whole_number(largest.get("interval")),
        folding={"ReuseFactor": layer.reuse, **({"Strategy": layer.strategy} if layer.strategy else {})},
    )


def _file(project: Hls4mlProject, paths: tuple[Path, ...]) -> BuildFile:
    first, *others = paths
    digest = hashlib.sha256(read_bytes(first, "report", "make it readable")).hexdigest()
    return BuildFile(project.name(first), digest, tuple(map(project.name, others)))


def _clock(project: Hls4mlProject) -> BuiltClock:
    period, slack = read_summary(project.text("timing"))
    asked = project.settings.get("ClockPeriod", "")
    held = float(asked) if re.fullmatch(r"\d+(\.\d+)?", asked) else period
    return BuiltClock(round(1000 / held, 6) if held else None, slack)


def _part(project: Hls4mlProject, top: Mapping[str, int | str]) -> str:
    told = project.settings.get("Part") or str(top.get("part", ""))
    heads = (read_head(path, _HEAD_BYTES) for path in project.roles.get("synthesis", ()))
    return (told or next(filter(None, map(part_of, heads)), "")).strip().lower()


def _versions(project: Hls4mlProject) -> dict[str, Told]:
    found: dict[str, Told] = {}
    for role, tool, version in (("csynth", "hls", hls_version), ("synthesis", "vivado", vivado_version)):
        for path in project.roles.get(role, ()):
            told = version(read_head(path, _HEAD_BYTES))
            if told and tool not in found:
                found[tool] = Told(told, project.name(path))
    return found


def _missing(project: Hls4mlProject, report: Report | None) -> Iterator[str]:
    if report is None:
        yield "what was built (vivado_synth.rpt) is not there: resources cannot be compared"
    elif len(report.rows) < 2:
        yield f"{report.file} counts the whole alone: resources of single layers cannot be compared"
    if not project.layers:
        wanted = {"layers": "firmware/parameters.h", "types": "firmware/defines.h", "calls": "the project's .cpp"}
        absent = [file for role, file in wanted.items() if role not in project.roles]
        why = f"{', '.join(absent)} not there" if absent else "no call in the project's .cpp was understood"
        yield f"layers are not known ({why}): nothing is priced"
    unpriced = [layer.name for layer in project.layers if layer.engine is None]
    if unpriced:
        yield f"without a price: {', '.join(unpriced)}"
    if project.top is None:
        yield "no report of HLS (*_csynth.xml, *_csynth.rpt): its interval and latency are not known"
    yield "a project has no graph that floorflow reads: FIFOs and rates are not analysed"


def _notes(project: Hls4mlProject) -> Iterator[str]:
    yield "hls4ml's project: layers are priced by few builds; the built network holds all that its top function does"
    if project.settings.get("IOType") == "io_parallel":
        yield "built with io_parallel: floorflow's prices are of io_stream"


def project_options(folder: Path, costs: Hls4mlCosts) -> dict[str, Option]:
    """Return the prices of the layers at the reuse factors that they were built with."""
    project = Hls4mlProject.of(folder)
    return {
        layer.name: costs.option(layer.engine, (layer.reuse, layer.strategy))
        for layer in project.layers
        if layer.engine is not None
    }
